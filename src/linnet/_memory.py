"""Refusing to keep more than fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

GIBIBYTE = 2**30
SMALL_BYTES = 8 * 2**20  # bytes: to read what is free takes a millisecond, as long as to fill these
SYSTEM = Path("/")


def available() -> int:
    """Return the bytes this process may still take: the minimum of what the machine has free and its container allows.

    Memory that only holds copies of files counts as free.
    """
    import psutil

    return max(0, min([psutil.virtual_memory().available, *_free_in_container()]))


def check_fits(wanted: int, what: str, advice: str) -> None:
    """Refuse to allocate more than half of the free memory; a small array always fits."""
    if wanted <= SMALL_BYTES:
        return
    free = available()
    if wanted > free // 2:
        raise ValueError(
            f"{what} would take {_in_gibibytes(wanted)} GiB, more than half of the {free / GIBIBYTE:.1f} GiB free. "
            f"{advice}"
        )


def _free_in_container() -> Iterator[int]:
    """Yield what each control group (version 2) of this process leaves; a parent's limit holds as well."""
    try:
        group = Path((SYSTEM / "proc/self/cgroup").read_text().rpartition("0::/")[2].strip())
    except OSError:  # not on Linux
        return
    for level in [group, *group.parents]:
        folder = SYSTEM / "sys/fs/cgroup" / level
        try:
            limit, used = ((folder / f"memory.{name}").read_text() for name in ("max", "current"))
            files = re.search(r"^inactive_file (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
        except OSError:
            continue
        if limit.strip() != "max":
            yield int(limit) - int(used) + (int(files[1]) if files else 0)


def _in_gibibytes(wanted: int) -> str:
    """Return a number of bytes in GiB, as a power of ten where it is absurd."""
    gibibytes = wanted // GIBIBYTE
    return f"{wanted / GIBIBYTE:.1f}" if gibibytes < 10**6 else f"10^{len(str(gibibytes)) - 1}"
