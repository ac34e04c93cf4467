"""The claims with their verdicts, and one answer for each theorem, filtered by paper, verdict and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from linnet.reproduction.declaration import Claim

ALL = "all"
OWN = "linnet"  # our own results, which are no numbered paper
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
    """The claims of a paper with a verdict in which the words occur, in the papers' order.

    **Arguments:** `paper`, one of `papers()`; `verdict`, one of `VERDICTS`; `words`, in any case: parts of the name, of
    where it stands ("Theorem 2 of paper 4"), what it says, assumes, was tried on and requires, or of what was measured.
    Claims that have them as a phrase are found where there are any, otherwise those that have each of them.

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
    fitting = found([str(row["text"]) for row in _rows()], words)
    kept = [
        row
        for row, fits in zip(_rows(), fitting, strict=True)
        if fits and paper in (ALL, row["paper"]) and verdict in (ALL, row["verdict"])
    ]
    names = [name for name in next(iter(_rows())) if name not in ("claim", "text")]
    variables: dict[str, Any] = {
        name: ("claim", np.array([row[name] for row in kept], dtype=_kind(name))) for name in names
    }
    return xr.Dataset(variables, {"claim": np.array([row["claim"] for row in kept], dtype=str)})


def answers(paper: str = ALL, words: str = "") -> xr.Dataset:
    """Whether each theorem of a paper is true, in a sentence or two; filtered as the claims are.

    **Returns** a dataset along `theorem` (their numbers, of several papers perhaps): `paper`, `answer`, and `claims`,
    the names of the claims that it rests on, separated by spaces.

    >>> answers(paper="tu", words="theorem 2").theorem.values.tolist()[0]
    'Theorem 2, lazy region'
    """
    import xarray as xr

    from linnet.reproduction import registry

    held = [(name, one) for name, of in registry.papers().items() for one in of.answers]
    texts = [
        plain(f"{place(one.theorem, name)} {one.theorem} {one.answer} {' '.join(one.claims)}") for name, one in held
    ]
    kept = [pair for pair, fits in zip(held, found(texts, words), strict=True) if fits and paper in (ALL, pair[0])]
    columns = {
        "paper": [name for name, _ in kept],
        "answer": [one.answer for _, one in kept],
        "claims": [" ".join(f"{name}-{short}" for short in one.claims) for name, one in kept],
    }
    variables = {name: ("theorem", np.array(values, dtype=str)) for name, values in columns.items()}
    return xr.Dataset(variables, {"theorem": np.array([one.theorem for _, one in kept], dtype=str)})


def place(where: str, paper: str) -> str:
    """Where a statement stands, in the words in which one asks for it: "Theorem 2 of paper 4 (Tu)"."""
    return f"{where} of {named(paper)}" if paper != OWN else where


def named(paper: str) -> str:
    """A paper with its number: "paper 4 (Tu)"."""
    return f"paper {papers().index(paper)} ({paper.capitalize()})" if paper != OWN else "linnet's own"


def plain(text: str) -> str:
    """A text to search in: small letters, one space between words, no punctuation but points within numbers."""
    bare = re.sub(r"[(),:;]|\.(?!\d)", " ", text.casefold())
    return f" {' '.join(bare.split())} "


def found(texts: Sequence[str], words: str) -> list[bool]:
    """Which of the texts, each from `plain`, have the words: as a phrase, if any has it, otherwise each of them.

    "Of paper 4" is a phrase of its own, and a number is a whole word: "theorem 2" does not ask for Theorem 2.1.
    """
    of_paper = re.findall(r" paper \d+ ", plain(words))
    wanted = re.sub(r" (?:(?:of|in) )?paper \d+ ", " ", plain(words))
    named = [all(paper in text for paper in of_paper) for text in texts]
    for phrase in (wanted, wanted.strip()):
        has = [fits and phrase in text for fits, text in zip(named, texts, strict=True)]
        if any(has):
            return has
    parts = [f" {word} " if word.isdigit() else word for word in wanted.split()]
    return [fits and all(part in text for part in parts) for fits, text in zip(named, texts, strict=True)]


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
    row: dict[str, str | float | int] = {
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
    text = plain(" ".join([place(claim.where, claim.paper), *(str(row[part]) for part in SEARCHED)]))
    return row | {"text": text}


def _kind(name: str) -> type:
    return {"seconds": float, "kept": int, "seeds": int}.get(name, str)
