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
Row = dict[str, str | float | int]  # a claim or an answer: its columns, and under "text" what is searched
SEARCHED = ("claim", "where", "says", "assumes", "tried", "requirement", "measured")


def paper_choices() -> tuple[str, ...]:
    """Return "all" and the names of the papers; they are found without loading the papers, which takes a second."""
    from linnet.papers import ORDER

    return (ALL, *ORDER, *sorted(entry.name for entry in entry_points(group="linnet.papers")))


def filtered_claims(paper: str = ALL, verdict: str = ALL, words: str = "") -> xr.Dataset:
    """Return the claims of a paper with a verdict in which the words occur, in the papers' order.

    **Arguments:** `paper`, one of `paper_choices()`; `verdict`, one of `VERDICTS`; `words`, in any case: parts of the
    name, of where it stands ("Theorem 2 of paper 4"), what it says, assumes, was tried on and requires, or of what was
    measured. Claims that have them as a phrase are found where there are any, otherwise those that have each of them.

    **Returns** a dataset along `claim` (names): `paper`, `where`, `says`, `assumes`, `tried`, `requirement`, `verdict`,
    `measured`, `command`, the `seconds` it takes (NaN where unknown), and `kept` of `seeds` seeds.

    >>> filtered_claims(paper="watanabe", words="projection").claim.values.tolist()[0]
    'watanabe-projection'
    """
    for name, value, known in (("paper", paper, paper_choices()), ("verdict", verdict, VERDICTS)):
        if value not in known:
            raise ValueError(f"`{name}` must be one of {', '.join(known)}: got {value!r}.")
    if not isinstance(words, str) or len(words) > MAX_LETTERS:
        raise ValueError(f"`words` must be at most {MAX_LETTERS} letters to search for.")
    kept = _matching_rows(_claim_rows(), paper, words)
    return _rows_to_dataset("claim", [row for row in kept if verdict in (ALL, row["verdict"])], _claim_rows()[0])


def answers(paper: str = ALL, words: str = "") -> xr.Dataset:
    """Return whether each theorem of a paper is true, in a sentence or two; filtered as the claims are.

    **Returns** a dataset along `theorem` (their numbers, of several papers perhaps): `paper`, `answer`, and `claims`,
    the names of the claims that it rests on, separated by spaces.

    >>> answers(paper="tu", words="theorem 2").theorem.values.tolist()[0]
    'Theorem 2, lazy region'
    """
    rows = _answer_rows()
    return _rows_to_dataset("theorem", _matching_rows(rows, paper, words), rows[0])


def place_of(where: str, paper: str) -> str:
    """Return where a statement stands, in the words in which one asks for it: "Theorem 2 of paper 4 (Tu)"."""
    return f"{where} of {paper_title(paper)}" if paper != OWN else where


def paper_title(paper: str) -> str:
    """Return a paper with its number: "paper 4 (Tu)"."""
    return f"paper {paper_choices().index(paper)} ({paper.capitalize()})" if paper != OWN else "linnet's own"


def searchable_text(text: str) -> str:
    """Return a text to search in: small letters, one space between words, no punctuation but points within numbers."""
    bare = re.sub(r"[(),:;]|\.(?!\d)", " ", text.casefold())
    return f" {' '.join(bare.split())} "


def matches(texts: Sequence[str], words: str) -> list[bool]:
    """Return which of the texts, from `searchable_text`, have the words: as a phrase if any has it, else each of them.

    "Of paper 4" is a phrase of its own, and a number is a whole word: "theorem 2" does not ask for Theorem 2.1.
    """
    of_paper = re.findall(r" paper \d+ ", searchable_text(words))
    wanted = re.sub(r" (?:(?:of|in) )?paper \d+ ", " ", searchable_text(words))
    named = [all(paper in text for paper in of_paper) for text in texts]
    for phrase in (wanted, wanted.strip()):
        has = [fits and phrase in text for fits, text in zip(named, texts, strict=True)]
        if any(has):
            return has
    parts = [f" {word} " if word.isdigit() else word for word in wanted.split()]
    return [fits and all(part in text for part in parts) for fits, text in zip(named, texts, strict=True)]


def verdict_counts(claims: xr.Dataset) -> dict[str, dict[str, int]]:
    """Count how many of these claims have each verdict, for each of their papers."""
    by_paper: dict[str, dict[str, int]] = {}
    for paper, verdict in zip(claims["paper"].values, claims["verdict"].values, strict=True):
        of = by_paper.setdefault(str(paper), {})
        of[str(verdict)] = of.get(str(verdict), 0) + 1
    return by_paper


def _matching_rows(rows: Sequence[Row], paper: str, words: str) -> list[Row]:
    """Return the rows of a paper whose texts have the words."""
    fitting = matches([str(row["text"]) for row in rows], words)
    return [row for row, fits in zip(rows, fitting, strict=True) if fits and paper in (ALL, row["paper"])]


def _rows_to_dataset(along: str, rows: Sequence[Row], columns: Row) -> xr.Dataset:
    """Make a dataset of all columns but "text", along one of them; `columns` is a row that shows their types."""
    import xarray as xr

    arrays: dict[str, Any] = {
        name: (along, np.array([row[name] for row in rows], dtype=type(kind)))
        for name, kind in columns.items()
        if name != "text"
    }
    return xr.Dataset(arrays).set_coords(along)


@cache
def _claim_rows() -> tuple[Row, ...]:
    """Return the rows of all claims, in the papers' order."""
    from linnet.reproduction import registry

    return tuple(map(_claim_row, registry.claims().values()))


def _claim_row(claim: Claim) -> Row:
    """Return what is declared, recorded and searched of a claim."""
    from linnet.reproduction import record

    recorded, share = record.last_measured().get(claim.name), record.shares().get(claim.name)
    row: Row = {
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
        "seconds": float(recorded.seconds) if recorded else float("nan"),
        "kept": share.kept if share else 0,
        "seeds": share.seeds if share else 0,
    }
    text = searchable_text(" ".join([place_of(claim.where, claim.paper), *(str(row[part]) for part in SEARCHED)]))
    return row | {"text": text}


@cache
def _answer_rows() -> tuple[Row, ...]:
    """Return the rows of all answers, in the papers' order."""
    from linnet.reproduction import registry

    return tuple(
        {
            "theorem": one.theorem,
            "paper": name,
            "answer": one.answer,
            "claims": " ".join(f"{name}-{short}" for short in one.claims),
            "text": searchable_text(f"{place_of(one.theorem, name)} {one.theorem} {one.answer} {' '.join(one.claims)}"),
        }
        for name, of in registry.papers().items()
        for one in of.answers
    )
