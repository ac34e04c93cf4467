"""Files that are there whole or not at all, even after a power cut."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_drafts: set[Path] = set()
DRAFT = ".partial"  # how the name of a file ends while it is being written


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file: readers see the old one or the new one, never a part.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from linnet._files import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", "done")
    ...     print((Path(folder) / "note.txt").read_text(), len(list(Path(folder).iterdir())))
    done 1
    """
    with written_whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, beside `path` and moved there at the end of the block; after an error nothing is left."""
    path = Path(path)
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}{DRAFT}")
    _drafts.add(draft)
    try:
        yield draft
        settle([draft], path.parent)
        draft.replace(path)
        settle([path], path.parent)
    finally:
        draft.unlink(missing_ok=True)
        _drafts.discard(draft)


def abandon() -> None:
    """Removes what is half-written, for a process that ends without coming to the end of its blocks."""
    for draft in list(_drafts):
        draft.unlink(missing_ok=True)


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
