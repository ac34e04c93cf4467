"""Refusing to keep more than fits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

GIBIBYTE = 2**30
UNKNOWN_BYTES = 8 * GIBIBYTE
UNLIMITED_BYTES = 2**62  # about what groups without a limit say
SMALL_BYTES = 8 * 2**20  # bytes: to read what is free takes a millisecond, as long as to fill these
SYSTEM = Path("/")


def available() -> int:
    """Bytes this process may still take: the least of what the machine has free, its container and `ulimit -v` allow.

    Memory that only holds copies of files counts as free. 8 GiB where the system does not say.
    """
    return max(0, min([*_free_on_machine(), *_free_in_container(), *_free_for_process()], default=UNKNOWN_BYTES))


def check_fits(wanted: int, what: str, advice: str) -> None:
    """Refuses to allocate more than half of what is free; a little always fits."""
    if wanted <= SMALL_BYTES:
        return
    free = available()
    if wanted > free // 2:
        raise ValueError(
            f"{what} would take {_in_gibibytes(wanted)} GiB, more than half of the {free / GIBIBYTE:.1f} GiB free. "
            f"{advice}"
        )


def _free_on_machine() -> Iterator[int]:
    """Yield the bytes that the machine has free; nothing where the system does not say."""
    meminfo = _first_numbers(SYSTEM / "proc/meminfo")
    if "MemAvailable:" in meminfo:
        yield 1024 * meminfo["MemAvailable:"]
        return
    try:
        yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return


def _free_in_container() -> Iterator[int]:
    """What control groups leave, of both versions: schedulers of clusters and containers set these limits."""
    for line in _read_text(SYSTEM / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top, limit, used, files = (
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            if controllers
            else ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
        )
        here = Path(group.strip("/"))
        for level in [here, *here.parents]:  # a parent's limit holds as well
            folder = SYSTEM / top / level
            most = _read_text(folder / limit).strip()
            if most.isdigit() and int(most) < UNLIMITED_BYTES:
                yield (
                    int(most)
                    - int(_read_text(folder / used) or 0)
                    + _first_numbers(folder / "memory.stat").get(files, 0)
                )


def _free_for_process() -> Iterator[int]:
    """Yield what `ulimit -v` leaves to this process; nothing where there is no limit."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY:
        pages = _read_text(SYSTEM / "proc/self/statm").split()
        yield most - (int(pages[0]) * resource.getpagesize() if pages else 0)


def _read_text(file: Path) -> str:
    """Return the text of a file of the system, empty where there is none."""
    try:
        return file.read_text()
    except OSError:
        return ""


def _first_numbers(file: Path) -> dict[str, int]:
    """First words and the whole numbers after them."""
    lines = (line.split() for line in _read_text(file).splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _in_gibibytes(wanted: int) -> str:
    """Return a number of bytes in GiB, as a power of ten where it is absurd."""
    gibibytes = wanted // GIBIBYTE
    return f"{wanted / GIBIBYTE:.1f}" if gibibytes < 10**6 else f"10^{len(str(gibibytes)) - 1}"
