"""A print of the code that makes figures: finished work is reused only where it is the same."""

from __future__ import annotations

from linnet.sweeps import provenance

# What reads results without making them: a change there leaves finished work valid.
_READERS = ("cli/", "claims/", "experiments/report.py")


def fingerprint() -> str:
    """A digest of the version and of every source file that has a part in making a figure."""
    return provenance.package(_READERS)
