"""The record of earlier measurements: how often each claim kept its verdict over seeds, and what was measured last.

Both are files of the package, written by the command itself; a claim that is in neither (one of another package, or a
new one) has simply no record.

    linnet verify --quick --json src/linnet/reproduction/data/verdicts.json
    linnet verify --quick --seeds 20 --json src/linnet/reproduction/data/stability.json
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

from linnet.reproduction.numbers import Numbers

SHARES, VERDICTS = "stability.json", "verdicts.json"


@dataclass(frozen=True)
class Share:
    """How often a claim kept its verdict: `kept` of `seeds` seeds."""

    kept: int
    seeds: int

    def __str__(self) -> str:
        return f"{self.kept} of {self.seeds} seeds"


@dataclass(frozen=True)
class Recorded:
    """What was measured of a claim at quick settings: the verdict, the sentence, the numbers, the seconds, and by which
    limits it was judged then (`requirement`)."""

    verdict: str
    measured: str
    seconds: float
    numbers: Numbers = field(default_factory=dict)
    requirement: str = ""


@cache
def shares() -> dict[str, Share]:
    """Return the record over seeds by claim, from `linnet verify --quick --seeds N --json`.

    >>> from linnet.reproduction.record import shares
    >>> share = shares()["watanabe-eq6"]
    >>> share.kept <= share.seeds
    True
    """
    return {row["name"]: Share(row["verdicts"].get(row["expected"], 0), row["seeds"]) for row in _read(SHARES)}


@cache
def last_measured() -> dict[str, Recorded]:
    """Return the last measurement by claim, from `linnet verify --quick --json`.

    >>> from linnet.reproduction.record import last_measured
    >>> last_measured()["watanabe-eq6"].verdict
    'holds'
    """
    rows = (row for row in _read(VERDICTS) if row["verdict"] is not None)
    parts = [part.name for part in fields(Recorded)]
    return {row["name"]: Recorded(**{part: row[part] for part in parts}) for row in rows}


def _read(name: str) -> list[dict[str, Any]]:
    """Read one of the package's own records."""
    return json.loads((files("linnet.reproduction") / "data" / name).read_text(encoding="utf-8"))
