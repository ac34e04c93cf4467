"""The record: one JSON file for each paper, beside its statements, with what was measured of its claims last.

`linnet verify NAME --quick --record` writes it, and every page is rendered from it. For each claim it has the rows at
quick settings with the verdict, the seconds and the date, how often each verdict came out over several seeds, and
under "full" the same at full settings. "all" is the date of the last run that measured every claim of the paper: what
was measured later has a later date of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnet._files import write_whole
from linnet_papers.reproduction.measurement import Result

if TYPE_CHECKING:
    from linnet_papers.reproduction.paper import Paper

FILE = "record.json"


@dataclass(frozen=True)
class Recorded:
    """What was measured last of one claim: at quick settings on a day, and at full settings on another one."""

    result: Result
    date: str = ""
    full: Result | None = None
    full_date: str = ""


@dataclass(frozen=True)
class Record:
    """What was measured last of a paper's claims, by name; `all` is the day of the last run of all of them."""

    claims: Mapping[str, Recorded] = field(default_factory=dict)
    all: str = ""


@cache
def read(path: Path | None) -> Record:
    """Return the record in a file; an empty one if there is none."""
    if path is None or not path.exists():
        return Record()
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Record({name: _recorded(name, one) for name, one in stored["claims"].items()}, stored.get("all", ""))


def of(papers: Iterable[Paper]) -> dict[str, Recorded]:
    """Return what was measured last of the claims of papers, by name."""
    return {name: one for paper in papers for name, one in read(paper.record).claims.items()}


def merge(paper: Paper, results: Mapping[str, Result], *, quick: bool, today: str = "") -> Path:
    """Put results in the place of those of the same claims, forget claims that are gone, and return the file.

    Results that broke down are not recorded, nor is a part of a run as if it were all.
    """
    if paper.record is None:
        raise ValueError(f"the paper {paper.name!r} has no file of statements, beside which its record would lie.")
    known, today = read(paper.record), today or date.today().isoformat()
    claims = {claim.name: known.claims.get(claim.name) for claim in paper.claims}
    new = {name: result for name, result in results.items() if name in claims and not result.error}
    for name, result in new.items():
        old = claims[name]
        if not quick:
            claims[name] = replace(old or Recorded(Result(name, result.expected)), full=result, full_date=today)
            continue
        if not result.verdicts and old is not None and _same_judgement(old.result, result):
            result = replace(result, verdicts=old.result.verdicts)  # over seeds, they are measured less often
        claims[name] = replace(old or Recorded(result), result=result, date=today)
    complete = quick and len(new) == len(paper.claims)
    stored = {name: _to_json(one) for name, one in claims.items() if one is not None}
    lines = ",\n".join(f"{json.dumps(name)}: {_text(one)}" for name, one in stored.items())
    text = f'{{"all": {json.dumps(today if complete else known.all)},\n"claims": {{\n{lines}\n}}}}\n'
    write_whole(paper.record, text)
    read.cache_clear()
    return paper.record


def _same_judgement(old: Result, new: Result) -> bool:
    """Return whether both were judged by the same limits, with the same verdict to publish."""

    def limits(result: Result) -> set[tuple[str, str]]:
        return {(row.limit.relation, f"{row.limit.number:.6g}") for row in result.rows if row.limit is not None}

    return old.expected == new.expected and limits(old) == limits(new)


def _to_json(one: Recorded) -> dict[str, Any]:
    """Return an entry of the file: numbers in as few digits as keep them on their side of the limit."""
    stored = {"date": one.date} | _result_to_json(one.result)
    if one.full is not None:
        stored["full"] = {"date": one.full_date} | _result_to_json(one.full)
    return stored


def _result_to_json(result: Result) -> dict[str, Any]:
    """Return a result without its name, in few digits."""
    stored = replace(result, rows=tuple(row.rounded() for row in result.rows)).to_json()
    return {name: value for name, value in stored.items() if name != "name"}


def _text(stored: Mapping[str, Any]) -> str:
    """Return an entry as JSON, with a line for each row."""
    parts = []
    for name, value in stored.items():
        if name == "rows":
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in value)
            parts.append(f' "rows": [\n  {rows}]')
        else:
            text = _text(value) if name == "full" else json.dumps(value, ensure_ascii=False, allow_nan=False)
            parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "}"


def _recorded(name: str, stored: Mapping[str, Any]) -> Recorded:
    """Return the entry of one claim."""
    full = stored.get("full")
    return Recorded(
        Result.from_json({"name": name} | dict(stored)),
        stored["date"],
        None if full is None else Result.from_json({"name": name} | full),
        "" if full is None else full["date"],
    )
