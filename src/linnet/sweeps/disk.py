"""What a store asks of a disk: that written files are really there, and that its refusals are told in words."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from linnet.sweeps.errors import StoreError

FULL = (errno.ENOSPC, errno.EDQUOT)
INTACT = "Finished cells are intact"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what the operating system or SQLite say about the store at `path` into a `StoreError`."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StoreError(f"the disk of {path} is full. {INTACT}: make room and resume.") from error
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write to {path}: {reason}. Choose a folder that can be written to.") from error
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise StoreError(f"the disk of {path} is full. {INTACT}: make room and resume.") from error
        raise StoreError(f"cannot write the ledger of {path}: {error}. {INTACT}.") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"the ledger of {path} is damaged: {error}. Restore it, or start in another folder."
        ) from error


def fingerprint(path: Path) -> tuple[int, str]:
    """Length and hash of a file; length -1 where there is none."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return -1, ""
    return len(content), hashlib.blake2b(content, digest_size=16).hexdigest()


def settle(files: Iterable[Path], root: Path) -> None:
    """Waits until these files, and their names in all folders from `root` down to them, would survive a power cut."""
    files = list(files)
    folders = (folder for file in files for folder in file.parents if folder == root or root in folder.parents)
    for place in [*files, *dict.fromkeys(folders)]:
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replace(path: Path, text: str) -> None:
    """Writes a whole file or nothing: readers see the old one or the new one."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        draft.write_text(text, encoding="utf-8")
        settle([draft], path.parent)
        draft.replace(path)
        settle([path], path.parent)
    finally:
        draft.unlink(missing_ok=True)
