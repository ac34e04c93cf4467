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
            f"{what} would take {_shown(wanted)} GiB, more than half of the {free / GIBIBYTE:.1f} GiB free. {advice}"
        )


def _shown(wanted: int) -> str:
    gibibytes = wanted // GIBIBYTE
    return f"{wanted / GIBIBYTE:.1f}" if gibibytes < 10**6 else f"10^{len(str(gibibytes)) - 1}"
