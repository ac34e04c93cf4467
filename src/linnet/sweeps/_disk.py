"""Disk access of a store: reading files, and errors of the disk as clear messages."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linnet.sweeps.errors import StoreError

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
CELLS_INTACT = "Finished cells are intact"


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Raise what the operating system or SQLite say about the store at `path` as a `StoreError`."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StoreError(f"the disk of {path} is full. {CELLS_INTACT}: make room and resume.") from error
        if isinstance(error, IsADirectoryError) and (place := error.filename2 or error.filename):
            raise StoreError(f"{place} is a folder where a file of the store belongs. Remove it.") from error
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write to {path}: {reason}. Choose a folder that can be written to.") from error
    except sqlite3.OperationalError as error:
        if "full" in str(error):
            raise StoreError(f"the disk of {path} is full. {CELLS_INTACT}: make room and resume.") from error
        raise StoreError(f"cannot write the ledger of {path}: {error}. {CELLS_INTACT}.") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # SQLite's own message may quote what is damaged
        raise StoreError(
            f"the ledger of {path} is damaged: {error}. Restore it, or start in another folder."
        ) from error


def why_not_writable(file: Path) -> str:
    """Why the system refuses to open a file for writing; empty if it does not."""
    try:
        os.close(os.open(file, os.O_RDWR))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def file_fingerprint(path: Path) -> tuple[int, str]:
    """Length and hash of a file; length -1 where there is none."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return -1, ""
    return len(content), hashlib.blake2b(content, digest_size=16).hexdigest()
