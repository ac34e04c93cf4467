"""The claims with their verdicts, and one answer for each theorem, filtered by paper, verdict and words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from linnet_papers.reproduction.declaration import Claim

ALL = "all"
OWN = "own"  # our own results, which are no numbered paper
VERDICTS = (ALL, "holds", "holds with the correction", "refuted", "outside its assumptions")  # the texts of `Verdict`
MAX_LETTERS = 200  # letters of a search
UNMEASURED = "not in the record: run it"
COMMAND = "linnet verify --quick {name}"
DECLARED = ("paper", "where", "says", "assumes", "tried", "requirement")  # columns that are attributes of a `Claim`
SEARCHED = ("claim", "where", "says", "assumes", "tried", "requirement", "measured")  # columns of a claim
Row = Mapping[str, str | float | int]  # a claim or an answer: its columns by name
TEXT = "text"  # the column that is searched, and that no page shows


def paper_names() -> tuple[str, ...]:
    """Return the names of the papers; they are found without loading the papers, which takes a second."""
    from linnet_papers import ORDER

    others = {entry.name for entry in entry_points(group="linnet.papers")} - set(ORDER)
    return (*ORDER, *sorted(others))


def filtered_claims(paper: str = ALL, verdict: str = ALL, words: str = "") -> xr.Dataset:
    """Return the claims of a paper with a verdict in which the words occur, in the papers' order.

    **Arguments:** `paper`, "all" or one of `paper_names()`; `verdict`, one of `VERDICTS`; `words`, in any case: parts
    of the name, of where it stands ("Theorem 2 of paper 4"), what it says, assumes, was tried on and requires, or of
    what was measured. Claims that have them as a phrase are found where there are any, otherwise those that have each
    of them.

    **Returns** a dataset along `claim` (names): `paper`, `where`, `says`, `assumes`, `tried`, `requirement`, `verdict`,
    `measured`, `command`, the `seconds` it takes (NaN where unknown), and `kept` of `seeds` seeds.

    >>> filtered_claims(paper="watanabe", words="projection").claim.values.tolist()[0]
    'watanabe-projection'
    """
    for name, value, known in (("paper", paper, (ALL, *paper_names())), ("verdict", verdict, VERDICTS)):
        if value not in known:
            raise ValueError(f"`{name}` must be one of {', '.join(known)}: got {value!r}.")
    if not isinstance(words, str) or len(words) > MAX_LETTERS:
        raise ValueError(f"`words` must be at most {MAX_LETTERS} letters to search for.")
    claims = _matching_rows(_all_claims(), paper, words)
    return claims.isel(claim=np.flatnonzero((verdict == ALL) | (claims["verdict"] == verdict)))


def answers(paper: str = ALL, words: str = "") -> xr.Dataset:
    """Return whether each theorem of a paper is true, in a sentence or two; filtered as the claims are.

    **Returns** a dataset along `theorem` (their numbers, of several papers perhaps): `paper`, `answer`, and `claims`,
    the names of the claims that it rests on, separated by spaces.

    >>> answers(paper="tu", words="theorem 2").theorem.values.tolist()[0]
    'Theorem 2, lazy region'
    """
    return _matching_rows(_all_answers(), paper, words)


def place_of(where: str, paper: str) -> str:
    """Return where a statement stands, in the words in which one asks for it: "Theorem 2 of paper 4 (Tu)"."""
    return f"{where} of {paper_label(paper)}" if paper != OWN else where


def paper_label(paper: str) -> str:
    """Return a paper with its number, "paper 4 (Tu)"; `matches` searches for this wording."""
    return f"paper {paper_names().index(paper) + 1} ({paper.capitalize()})" if paper != OWN else "linnet's own"


def searchable_text(text: str) -> str:
    """Return a text to search in: small letters, one space between words, no punctuation but points within numbers."""
    bare = re.sub(r"[(),:;]|\.(?!\d)", " ", text.casefold())
    return f" {' '.join(bare.split())} "


def matches(texts: Sequence[str], words: str) -> list[bool]:
    """Return which of the texts, from `searchable_text`, have the words: as a phrase if any has it, else each of them.

    "Of paper 4" is a phrase of its own (see `paper_label`), and a number is a whole word: "theorem 2" does not ask for
    Theorem 2.1.
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


def _matching_rows(table: xr.Dataset, paper: str, words: str) -> xr.Dataset:
    """Return the rows of a paper whose texts have the words, without the texts."""
    (along,) = table.dims
    fits = np.array(matches(table[TEXT].values.tolist(), words))
    return table.isel({along: np.flatnonzero(fits & ((paper == ALL) | (table["paper"].values == paper)))}).drop_vars(
        TEXT
    )


def _rows_to_dataset(along: str, rows: Sequence[Row]) -> xr.Dataset:
    """Make a dataset of rows, along the one of their columns that has their names."""
    import xarray as xr

    columns = {name: (along, np.array([row[name] for row in rows])) for name in rows[0]}
    return xr.Dataset(columns).set_coords(along)


@cache
def _all_claims() -> xr.Dataset:
    """Return all claims in the papers' order, with the columns of `filtered_claims` and the text that is searched."""
    from linnet_papers.reproduction import registry

    return _rows_to_dataset("claim", list(map(_claim_row, registry.claims().values())))


def _claim_row(claim: Claim) -> Row:
    """Return what is declared, recorded and searched of a claim."""
    from linnet_papers.reproduction import record

    recorded, share = record.last_measured().get(claim.name), record.shares().get(claim.name)
    row: Row = {
        "claim": claim.name,
        **{name: getattr(claim, name) for name in DECLARED},
        "verdict": str(claim.expected),
        "measured": recorded.measured if recorded else UNMEASURED,
        "command": COMMAND.format(name=claim.name),
        "seconds": float(recorded.seconds) if recorded else float("nan"),
        "kept": share.kept if share else 0,
        "seeds": share.seeds if share else 0,
    }
    text = searchable_text(" ".join([place_of(claim.where, claim.paper), *(str(row[part]) for part in SEARCHED)]))
    return {**row, TEXT: text}


@cache
def _all_answers() -> xr.Dataset:
    """Return all answers in the papers' order, with the columns of `answers` and the text that is searched."""
    from linnet_papers.reproduction import registry

    rows = [
        {
            "theorem": one.theorem,
            "paper": name,
            "answer": one.answer,
            "claims": " ".join(f"{name}-{short}" for short in one.claims),
            TEXT: searchable_text(f"{place_of(one.theorem, name)} {one.theorem} {one.answer} {' '.join(one.claims)}"),
        }
        for name, paper in registry.papers().items()
        for one in paper.answers
    ]
    return _rows_to_dataset("theorem", rows)
