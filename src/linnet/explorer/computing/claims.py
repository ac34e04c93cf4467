"""The claims with their verdicts, filtered by paper, verdict and words."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from linnet.reproduction.declaration import Claim

ALL = "all"
VERDICTS = (ALL, "holds", "holds with the correction", "refuted", "outside its assumptions")
MAX_LETTERS = 200  # letters of a search
UNMEASURED = "not in the record: run it"
COMMAND = "linnet verify --quick {name}"
SEARCHED = ("claim", "where", "says", "assumes", "tried", "requirement", "measured")


def papers() -> tuple[str, ...]:
    """The names of the papers, "all" first; found without loading them, which takes a second."""
    from linnet.papers import ORDER

    return (ALL, *ORDER, *sorted(entry.name for entry in entry_points(group="linnet.papers")))


def chosen(paper: str = ALL, verdict: str = ALL, words: str = "") -> xr.Dataset:
    """The claims of a paper with a verdict in which all of the words occur, in the papers' order.

    **Arguments:** `paper`, one of `papers()`; `verdict`, one of `VERDICTS`; `words`, separated by spaces, in any case:
    parts of the name, of where it stands, what it says, assumes, was tried on and requires, or of what was measured.

    **Returns** a dataset along `claim` (names): `paper`, `where`, `says`, `assumes`, `tried`, `requirement`, `verdict`,
    `measured`, `command`, the `seconds` it takes (NaN where unknown), and `kept` of `seeds` seeds.

    >>> chosen(paper="watanabe", words="projection").claim.values.tolist()[0]
    'watanabe-projection'
    """
    import xarray as xr

    for name, value, known in (("paper", paper, papers()), ("verdict", verdict, VERDICTS)):
        if value not in known:
            raise ValueError(f"`{name}` must be one of {', '.join(known)}: got {value!r}.")
    if not isinstance(words, str) or len(words) > MAX_LETTERS:
        raise ValueError(f"`words` must be at most {MAX_LETTERS} letters to search for.")
    wanted = words.casefold().split()
    rows = [row for row in _rows() if paper in (ALL, row["paper"]) and verdict in (ALL, row["verdict"])]
    texts = ((" ".join(str(row[part]) for part in SEARCHED).casefold(), row) for row in rows)
    kept = [row for text, row in texts if all(word in text for word in wanted)]
    names = [name for name in next(iter(_rows())) if name != "claim"]
    variables: dict[str, Any] = {
        name: ("claim", np.array([row[name] for row in kept], dtype=_kind(name))) for name in names
    }
    return xr.Dataset(variables, {"claim": np.array([row["claim"] for row in kept], dtype=str)})


def counts(claims: xr.Dataset) -> dict[str, dict[str, int]]:
    """How many of these claims have each verdict, for each of their papers."""
    by_paper: dict[str, dict[str, int]] = {}
    for paper, verdict in zip(claims["paper"].values, claims["verdict"].values, strict=True):
        of = by_paper.setdefault(str(paper), {})
        of[str(verdict)] = of.get(str(verdict), 0) + 1
    return by_paper


@cache
def _rows() -> tuple[dict[str, str | float | int], ...]:
    from linnet.reproduction import registry

    return tuple(map(_row, registry.claims().values()))


def _row(claim: Claim) -> dict[str, str | float | int]:
    from linnet.reproduction import record

    recorded, share = record.last_measured().get(claim.name), record.shares().get(claim.name)
    return {
        "claim": claim.name,
        "paper": claim.paper,
        "where": claim.where,
        "says": claim.says,
        "assumes": claim.assumes,
        "tried": claim.tried,
        "requirement": claim.requirement,
        "verdict": str(claim.expected),
        "measured": recorded.measured if recorded else UNMEASURED,
        "command": COMMAND.format(name=claim.name),
        "seconds": recorded.seconds if recorded else float("nan"),
        "kept": share.kept if share else 0,
        "seeds": share.seeds if share else 0,
    }


def _kind(name: str) -> type:
    return {"seconds": float, "kept": int, "seeds": int}.get(name, str)
