"""Where a claim stands in its paper: the places of the statements that name it, joined and made short."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(Eqs?\.|Theorem|Lemma|Proposition|Corollary|Definition)")
_NUMBER = r"\([A-Z]?\.?\d[\d.]*\)"
_EQUATIONS = re.compile(rf"Eqs?\. ({_NUMBER}(?:(?:-|, ){_NUMBER})*)")
_ITEM = re.compile(r"(.+?)( ?)(\((?:[ivx]+|[a-h])\))")  # Theorem 3.1(i), Lemma 5.2 (i)
_RUN = re.compile(r"\((.*?)(\d+)\)(?:-\(\1(\d+)\))?")  # (9), (C.14)-(C.15)


def joined_places(places: Iterable[str]) -> str:
    """Return the places as one text, each once.

    Theorems and equations come first, parts of one place together, consecutive numbers as a run.

    **Example:**

        >>> from linnet_papers.reproduction.places import joined_places
        >>> joined_places(["Abstract", "Eq. (9)", "Eqs. (10)-(11)", "Theorem 2, lazy", "Theorem 2, active", "Eq. (13)"])
        'Eqs. (9)-(11), (13); Theorem 2, lazy, active; Abstract'
    """
    separators: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for place in places:
        head, separator, inside = _split_place(place)
        separators[head] = separators.get(head) or separator
        parts.setdefault(head, []).extend(inside)
    ordered = sorted(parts, key=lambda head: _NUMBERED.match(head) is None)
    return "; ".join(_place_text(head, separators[head], _runs(dict.fromkeys(parts[head]))) for head in ordered)


def _split_place(place: str) -> tuple[str, str, list[str]]:
    """Return the place, what separates it from its parts, and the part or the equations that are named of it."""
    if equations := _EQUATIONS.fullmatch(place):
        return "Eqs.", " ", equations[1].split(", ")
    head, comma, part = place.partition(", ")
    if comma and not head.startswith("Lemmas "):
        return head, comma, [part]
    if item := _ITEM.fullmatch(place):
        return item[1], item[2], [item[3]]
    return place, "", []


def _runs(parts: Iterable[str]) -> list[str]:
    """Join numbers that follow each other, (9), (10), (11), into one run, (9)-(11)."""
    runs: list[tuple[str, int, int]] = []
    texts: list[str] = []
    for part in parts:
        number = _RUN.fullmatch(part)
        if number is None:
            texts.append(part)
            continue
        series, first, last = number[1], int(number[2]), int(number[3] or number[2])
        if runs and runs[-1][0] == series and runs[-1][2] + 1 == first:
            first = runs.pop()[1]
            texts.pop()
        runs.append((series, first, last))
        texts.append(f"({series}{first})" + (f"-({series}{last})" if last > first else ""))
    return texts


def _place_text(head: str, separator: str, parts: list[str]) -> str:
    """Write a place with its parts, "Eq." where it is one equation."""
    single = head == "Eqs." and len(parts) == 1 and "-" not in parts[0]
    return ("Eq." if single else head) + separator + ", ".join(parts)
