"""What a paper is here: its citation, and its figures, tables and claims, listed one by one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from linnet._arguments import count, shown
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.measurement import Claim
from linnet_papers.reproduction.record import FILE
from linnet_papers.reproduction.table import Table

Part = TypeVar("Part", Figure, Table, Claim)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One thing the paper says, and where it is checked.

    **Attributes:**

    - `where`: its number (`Eq. (27)`, `Lemma 5.2`)
    - `text`: what it says
    - `checked`: short names of claims, figures and tables
    - `reason`: why it is not checked, where nothing checks it
    - `mutation`: the deliberate error that makes it false and turns one of these claims (tests/papers/NAME)
    - `checkable`: False for what is neither true nor false by measurement: a definition, an outlook

    **Example:**

        >>> from linnet_papers.reproduction import Statement
        >>> Statement(where="Eq. (27)", text="the test error", checked=["eq27"]).checked
        ['eq27']
    """

    where: str
    text: str
    checked: Sequence[str] = ()
    reason: str = ""
    mutation: str = ""
    checkable: bool = True

    def __post_init__(self) -> None:
        if bool(self.checked) == bool(self.reason):
            raise ValueError(f"the statement {self.where!r} must have either `checked` or a `reason` why it is not.")
        if self.mutation and not self.checked:
            raise ValueError(f"the statement {self.where!r} is not checked: no `mutation` can turn a claim it names.")
        if self.checked and not self.checkable:
            raise ValueError(f"the statement {self.where!r} is checked: `checkable` must not be false.")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One line that answers "is it true?" of a theorem that several claims share.

    **Attributes:**

    - `theorem`: its number (`Theorem 2`)
    - `answer`: in a sentence or two
    - `claims`: short names of the claims that it rests on

    **Example:**

        >>> from linnet_papers.reproduction import Answer
        >>> Answer(theorem="Theorem 2", answer="Half of it.", claims=["thm2-lazy", "thm2-active"]).theorem
        'Theorem 2'
    """

    theorem: str
    answer: str
    claims: Sequence[str]

    def __post_init__(self) -> None:
        if not (self.theorem and self.answer and self.claims):
            raise ValueError(f"the answer to {self.theorem!r} must have `theorem`, `answer` and `claims`.")


def read_answers(path: Path) -> list[Answer]:
    """The answers of a paper, from the optional tables `answers` of the file that lists its statements."""
    try:
        return [Answer(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("answers", ())]
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as reason:
        raise ValueError(f"{path.name} must give `theorem`, `answer` and `claims` of each answer: {reason}") from None


def read_statements(path: Path) -> list[Statement]:
    """The statements of a paper, from a TOML file with one inline table for each in its list `statements`."""
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))["statements"]
        return [Statement(**entry) for entry in listed]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as reason:
        raise ValueError(
            f"{path.name} must list `statements` with `where`, `text`, `checked` and `mutation`, or `reason`: {reason}"
        ) from None


def _parts_of_module(entry: object, wanted: type) -> Iterator[Any]:
    """What a module defines of that kind, in its order; anything else is itself."""
    if isinstance(entry, ModuleType):
        yield from (value for value in vars(entry).values() if isinstance(value, wanted))
    else:
        yield entry


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and all that linnet makes of it. Parts have short names; here they get the paper's name in front.

    **Attributes:**

    - `name`: the short name on the command line, in lower case
    - `title`, `authors`, `year`, `link`: cite the paper; the year is None where unknown
    - `subject`: in a few words
    - `figures`, `tables`, `claims`: its parts, or the modules that define them, in order
    - `statements`: what the paper says, one by one; or the path of the TOML file that lists it
    - `answers`: what is true of theorems that several claims share; read from the same file
    - `record`: the file with what was measured last; beside that of the statements
    - `problems`: what is wrong with single statements, claims or answers; the rest of the paper works

    **Example:**

        >>> from linnet_papers.reproduction import Paper
        >>> Paper(name="mine", title="A title", authors="Somebody", year=2026).name
        'mine'
    """

    name: str
    title: str
    authors: str
    year: int | None = None
    link: str = ""
    subject: str = ""
    figures: Sequence[Any] = ()
    tables: Sequence[Any] = ()
    claims: Sequence[Any] = ()
    statements: Any = ()
    answers: Sequence[Answer] = ()
    record: Path | None = None
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for text in ("name", "title", "authors", "link", "subject"):
            if not isinstance(getattr(self, text), str):
                raise ValueError(f"`{text}` of a paper must be text: got {shown(getattr(self, text))}.")
        if not re.fullmatch(r"[a-z][a-z0-9]*", self.name):
            raise ValueError(
                f"`name` of a paper must be lower-case letters and digits, a letter first: got {self.name!r}."
            )
        if self.year is not None:
            object.__setattr__(self, "year", count("year", self.year, most=9999))
        if isinstance(self.statements, Path):
            object.__setattr__(self, "record", self.record or self.statements.with_name(FILE))
            object.__setattr__(self, "answers", read_answers(self.statements))
            object.__setattr__(self, "statements", read_statements(self.statements))
        for part, wanted in (("figures", Figure), ("tables", Table), ("claims", Claim), ("statements", Statement)):
            given = getattr(self, part)
            if isinstance(given, (list, tuple)):
                given = [one for entry in given for one in _parts_of_module(entry, wanted)]
                object.__setattr__(self, part, given)
            if not isinstance(given, (list, tuple)) or not all(isinstance(one, wanted) for one in given):
                raise ValueError(f"`{part}` of a paper must be a list of {wanted.__name__}s: got {shown(given)}.")
        object.__setattr__(self, "figures", self._with_paper_name(self.figures, "figures"))
        object.__setattr__(self, "tables", self._with_paper_name(self.tables, "tables"))
        object.__setattr__(
            self, "claims", self._with_paper_name([self._with_places(claim) for claim in self.claims], "claims")
        )
        self._drop_wrong_names()

    def _drop_wrong_names(self) -> None:
        """Leave statements that name what is not there unchecked, drop such answers, and keep what is wrong."""
        known, problems = set(self.names), list(self.problems)
        statements, answers = [], []
        for statement in self.statements:
            missing = [name for name in statement.checked if f"{self.name}-{name}" not in known]
            if missing:
                named = f"{statement.where} of {self.name} is said to be checked by {missing[0]!r}"
                wrong = f"{named}, which is not there (`claims=` of the paper lists the modules that are read)"
                problems.append(wrong)
                statement = replace(statement, checked=(), mutation="", reason=f"an error: {wrong}")
            statements.append(statement)
        for answer in self.answers:
            missing = [name for name in answer.claims if f"{self.name}-{name}" not in known]
            if missing:
                problems.append(f"{answer.theorem} of {self.name} is answered by {missing[0]!r}, which is not there")
            else:
                answers.append(answer)
        object.__setattr__(self, "statements", statements)
        object.__setattr__(self, "answers", answers)
        object.__setattr__(self, "problems", tuple(problems))

    @property
    def names(self) -> list[str]:
        """The full names of its figures, tables and claims; a figure and a table may share one."""
        names = [figure.name for figure in self.figures] + [table.name for table in self.tables]
        return list(dict.fromkeys(names + [claim.name for claim in self.claims]))

    def _with_places(self, claim: Claim) -> Claim:
        """Return the claim with the places of the statements that name it; where none does, it says its own."""
        places = dict.fromkeys(statement.where for statement in self.statements if claim.name in statement.checked)
        if places and claim.where:
            raise ValueError(
                f"the claim {claim.name!r} of {self.name} must not have a `where`, got {claim.where!r}: "
                f"the statements that name it say where it stands, {'; '.join(places)!r}."
            )
        if not (places or claim.where):
            wrong = f"the claim {claim.name!r} of {self.name} stands nowhere: name it in a statement, under `checked`, "
            object.__setattr__(self, "problems", (*self.problems, f"{wrong}or give it a `where`"))
            return replace(claim, where="nowhere in the statements")
        return replace(claim, where="; ".join(places)) if places else claim

    def _with_paper_name(self, parts: Sequence[Part], kind: str) -> tuple[Part, ...]:
        """Put the paper's name before those of its parts; refuse two of one name."""
        names = [part.name for part in parts]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two {kind} of the paper {self.name!r} are named {', '.join(twice)}.")
        return tuple(replace(part, name=f"{self.name}-{part.name}", paper=self.name) for part in parts)
