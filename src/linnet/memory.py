"""Refusing to keep more than fits."""

from __future__ import annotations

import os

GIBIBYTE = 2**30


def available() -> int:
    """Bytes of memory free for use on this machine, or 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 * GIBIBYTE


def check_fits(wanted: int, what: str, advice: str) -> None:
    """Refuses to allocate more than half of what is free."""
    free = available()
    if wanted > free // 2:
        raise ValueError(
            f"{what} would take {wanted / GIBIBYTE:.1f} GiB, more than half of the {free / GIBIBYTE:.1f} GiB free. "
            f"{advice}"
        )
