"""A print of the code that makes results: finished work is reused only where it is the same."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import linnet

_PACKAGE = Path(linnet.__file__).parent
# What reads results without making them: a change there leaves finished work valid.
_READERS = ("cli/", "claims/", "experiments/report.py")


@cache
def fingerprint(without: tuple[str, ...] = _READERS) -> str:
    """A digest of the version and of every source file that has a part in making a figure, or of all but those `without`."""
    digest = hashlib.sha256(linnet.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if not name.startswith(without):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
