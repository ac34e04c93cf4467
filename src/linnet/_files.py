"""Files that are there whole or not at all, even after a power cut; temporary folders."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DRAFT = ".partial"  # how the name of a file ends while it is being written


def write_whole(path: Path, content: str | bytes, *, settled: bool = True, replace: bool = True) -> None:
    """Writes a file: readers see the old one or the new one, never a part.

    With `settled`, after a power cut too; without, the disk is not waited for. Without `replace` a file that is there
    stays: of several processes that make one, the first does.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from linnet._files import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", "done")
    ...     print((Path(folder) / "note.txt").read_text(), len(list(Path(folder).iterdir())))
    done 1
    """
    with written_whole(path, settled=settled, replace=replace) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_whole(path: Path, *, settled: bool = True, replace: bool = True) -> Iterator[Path]:
    """A path to write to, next to `path` and moved there at the end of the block; after an error nothing is left."""
    path = Path(path)
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}{DRAFT}")
    try:
        try:
            yield draft
        except OSError as reason:  # of a full disk, which names no file
            if reason.filename is None and reason.errno is not None:
                raise OSError(reason.errno, reason.strerror, str(path)) from reason
            raise
        if settled:
            _settle(draft)
        if replace:
            draft.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
        if settled:
            _settle(path.parent)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder, of which nothing is left after an error: a part would stand in the way of the next try."""
    folder.mkdir(parents=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def check_writable(out: Path) -> None:
    """Make the folder `out`, and refuse one that cannot be written to before hours of work, not after."""
    probe = out / f".writable-{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as reason:
        raise ValueError(f"cannot write to the folder {str(out)!r}: {reason.strerror}. Choose another one.") from None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder of this user's alone, removed at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="linnet-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settle(place: Path) -> None:
    """Waits until a file's content, or the names in a folder, would survive a power cut."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
