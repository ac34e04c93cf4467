"""The page of errata: its four kinds, a command that exists for every entry, and every verdict that is not "holds"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet_papers.reproduction import Verdict, claims, figures, papers, tables

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
KINDS = ["False results", "Holds in part", "Proof gaps", "Misprints", "Possibly scan damage"]
NAMES = re.compile(rf"(?<![\w-])(?:{'|'.join(papers())})-[\w.-]*\w")
WITHOUT = re.compile(r"\((?:Derived|Read off)\.\)")  # nothing to run
KNOWN = {**claims(), **figures(), **tables()}


def entries(page: str) -> list[tuple[str, str]]:
    """Kind and text of every entry: the items of the lists, and what stands under a heading of its own."""
    found, kind = [], ""
    for block in re.split(r"\n(?=- |\*\*|## )|\n\n", page):
        if heading := re.match(r"\*\*([^*]+?)[.:]?\*\*", block):
            kind = heading[1]
        elif block.startswith("## "):
            kind = ""
        if block.startswith("- ") and kind in KINDS:
            found.append((kind, block))
    return found


ENTRIES = entries(PAGE)


def test_the_kinds_are_all_there() -> None:
    assert {kind for kind, _ in ENTRIES} == set(KINDS) and len(ENTRIES) > 80


@pytest.mark.parametrize(("kind", "text"), ENTRIES, ids=[text[2:50] for _, text in ENTRIES])
def test_each_entry_can_be_repeated_and_is_of_its_kind(kind: str, text: str) -> None:
    named = [name for name in NAMES.findall(text) if name in KNOWN]
    assert named or WITHOUT.search(text), "name the command that repeats it"
    verdicts = {claim.expected for name in named if (claim := claims().get(name))}
    if kind == "False results":
        assert Verdict.REFUTED in verdicts and Verdict.CORRECTED not in verdicts


def test_commands_are_complete() -> None:
    commands = [command.split() for command in re.findall(r"`linnet ([^`]+)`", PAGE)]
    assert len(commands) > 60
    for word, *rest in commands:
        kinds = {"verify": claims(), "run": {**figures(), **tables()}}
        names = [name for name in rest if NAMES.fullmatch(name)]
        assert (names or rest == ["NAME"]) and set(names) <= set(kinds[word]), rest
    assert set(re.findall(rf"`({NAMES.pattern})`", PAGE)) <= set(KNOWN)


def test_every_verdict_other_than_holds_is_on_the_page() -> None:
    named = set(NAMES.findall(PAGE))
    missing = [name for name, claim in claims().items() if claim.expected != Verdict.HOLDS and name not in named]
    assert not missing, f"name {missing} in entries of docs/errata.md: their verdicts are not 'holds'"


def test_an_entry_without_a_command_is_seen() -> None:
    """The control."""
    ((kind, text),) = entries("**False results**\n\n- *Eq. (1).* It is wrong.\n")
    with pytest.raises(AssertionError, match="name the command"):
        test_each_entry_can_be_repeated_and_is_of_its_kind(kind, text)
    with pytest.raises(AssertionError):
        test_each_entry_can_be_repeated_and_is_of_its_kind("False results", "- `huang-step`")
