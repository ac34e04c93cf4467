"""The record of earlier measurements: how often each claim kept its verdict over seeds, and what was measured last.

Both are files of the package; a claim that is in neither (one of another package, or a new one) has simply no record.
What was measured anew goes into them row by row:

    linnet verify NAME --quick --json rows.json             (with --seeds 20: how often it kept its verdict)
    linnet docs --record rows.json
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from linnet._files import write_whole
from linnet_papers.reproduction.numbers import Numbers

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

    >>> from linnet_papers.reproduction.record import shares
    >>> share = shares()["watanabe-eq6"]
    >>> share.kept <= share.seeds
    True
    """
    return {row["name"]: Share(row["verdicts"].get(row["expected"], 0), row["seeds"]) for row in _read(SHARES)}


@cache
def last_measured() -> dict[str, Recorded]:
    """Return the last measurement by claim, from `linnet verify --quick --json`.

    >>> from linnet_papers.reproduction.record import last_measured
    >>> last_measured()["watanabe-eq6"].verdict
    'holds'
    """
    rows = (row for row in _read(VERDICTS) if row["verdict"] is not None)
    parts = [part.name for part in fields(Recorded)]
    return {row["name"]: Recorded(**{part: row[part] for part in parts}) for row in rows}


def merge(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Put the rows of `linnet verify --quick --json` in the place of those of the same claims; return the file's name.

    `names` are all claims there are, in the order of the file: rows of others go. Rows over seeds go into the one
    record, those of a single measurement into the other.
    """
    wrong = [row for row in rows if not {"name", "expected"} <= row.keys() or row["name"] not in names]
    kinds = {"seeds" in row for row in rows}
    if wrong or len(kinds) != 1:
        raise ValueError(
            "the rows to record must be those that `linnet verify --quick --json` writes, of known claims."
        )
    file = SHARES if kinds.pop() else VERDICTS
    known = {row["name"]: row for row in (*_read(file), *rows)}
    kept = [json.dumps(known[name], indent=1, allow_nan=False) for name in names if name in known]
    write_whole(_path(file), "[\n{}\n]\n".format(",\n".join(kept)))
    shares.cache_clear()
    last_measured.cache_clear()
    return file


def _read(name: str) -> list[dict[str, Any]]:
    """Read one of the package's own records."""
    return json.loads(_path(name).read_text(encoding="utf-8"))


def _path(name: str) -> Path:
    """Return where a record lies in the installed package."""
    return Path(str(files("linnet_papers.reproduction") / "data" / name))
