"""A fingerprint of the code that makes a figure: finished work is reused only where it is the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

import linnet
from linnet.reproduction.figure import Figure
from linnet.sweeps import _provenance as provenance

# What draws and stores a figure, beside what computes it and the paper's own folder.
_MAKERS = ("style.py", "reproduction/datafile.py", "reproduction/figure.py", "reproduction/runner.py")


def fingerprint(figure: Figure) -> str:
    """A digest of every source file that has a part in making this figure."""
    digest = hashlib.blake2b(provenance.fingerprint(figure.compute.__module__).encode(), digest_size=6)
    home = Path(linnet.__file__).parent
    for name in _MAKERS:
        digest.update((home / name).read_bytes())
    return digest.hexdigest()
