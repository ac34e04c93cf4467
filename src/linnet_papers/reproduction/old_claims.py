"""Claims that still have rules and named numbers: each is turned into rows. Goes when the last paper is ported."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linnet_papers.reproduction import measurement
from linnet_papers.reproduction.declaration import Claim as OldClaim
from linnet_papers.reproduction.kinds import check_kinds
from linnet_papers.reproduction.numbers import Numbers, entries, fill_template
from linnet_papers.reproduction.rows import Estimate, Limit, Row, _row, summary
from linnet_papers.reproduction.rules import Leaf, Within
from linnet_papers.reproduction.rules.trend import Falls
from linnet_papers.reproduction.typeset import typeset

_ROLES = {"given": "given", "holds": "printed", "corrected": "corrected", "refuted": "refutes"}


def claim_from_rules(name: str, measure: Callable[[measurement.Trial], Numbers], **declared: Any) -> measurement.Claim:
    """Return a claim whose rows are made of the rules of an old one and of what its function returns."""
    old = OldClaim(name=name, measure=measure, **declared)

    @functools.wraps(measure)
    def measured(trial: measurement.Trial) -> list[Row]:
        numbers = measure(trial)
        check_kinds(old, old._templates, numbers)
        return rows_from_numbers(old, numbers)

    measured.old = old  # type: ignore[attr-defined]
    words: Any = {part: _tex(getattr(old, part)) for part in ("says", "assumes", "tried", "correction")}
    words |= {part: getattr(old, part) for part in ("name", "where", "expected", "paper")}
    return measurement.Claim(measure=measured, **words)


def _tex(text: str) -> str:
    """Return a text with its formulas as TeX; measured numbers in braces become three dots."""
    return typeset(re.sub(r"\{\w+[^{}]*\}", "...", text), escape=False)


def rows_from_numbers(old: OldClaim, numbers: Numbers) -> list[Row]:
    """Return one row for each limit, and a sentence with the rest."""
    rows: list[Row] = []
    for role, leaf in old.limits():
        row = _row_of_rule(_ROLES[role], leaf, numbers)
        while any((one.decides, one.quantity) == (row.decides, row.quantity) for one in rows):
            row = Row(row.decides, f"{row.quantity} ({leaf.relation})", *list(vars(row).values())[2:])
        rows.append(row)
    rows = [_with_tex(row) for row in rows]
    said = [f"{fill_template(old.reads, numbers)}."]
    if "{" in old.correction:
        said.append(f"Right is: {fill_template(old.correction, numbers)}.")
    return [*rows, *(summary(typeset(one, escape=False)) for one in said)]


def _with_tex(row: Row) -> Row:
    """Return a row with its formulas as TeX."""
    assert row.limit is not None
    return replace(row, quantity=_tex(row.quantity), limit=replace(row.limit, because=_tex(row.limit.because)))


def _row_of_rule(decides: str, leaf: Leaf, numbers: Numbers) -> Row:
    """Return the row of one limit."""
    measured: list[Any] = entries(numbers[leaf.number])
    if not isinstance(numbers[leaf.number], dict) or len(measured) < 1:
        measured = [("", value) for _, value in measured]
    factor = leaf._limit_factor(numbers)
    errors = float(getattr(leaf, "errors", 0.0))
    if isinstance(leaf, Falls):
        steps = np.diff([float(getattr(value, "value", value)) for _, value in measured])
        relation = "below" if leaf.sign > 0 else "above"
        limit = Limit(relation, -leaf.sign * float(leaf.limit) * factor, leaf.because)
        return _row(decides, f"change of {leaf.what} from one to the next", steps, limit)
    if errors and "uncertainty" in numbers:
        error = float(numbers["uncertainty"])
        measured = [(label, v if isinstance(v, Estimate) else Estimate(float(v), error)) for label, v in measured]
    number, quantity = float(leaf.limit) * factor, leaf.what
    of: tuple[float, ...] = ()
    if isinstance(leaf, Within):
        targets = entries(numbers[leaf.of]) if isinstance(leaf.of, str) else [("", leaf.of)]
        of = tuple(float(getattr(target, "value", target)) for _, target in targets)
        if leaf.relative and len(of) == 1:
            number *= abs(of[0])
        elif leaf.relative:
            quantity, number = f"{quantity}, over its target", number
            measured = [
                (label, Estimate(v.value / goal, v.error / abs(goal)) if isinstance(v, Estimate) else float(v) / goal)
                for (label, v), goal in zip(measured, of, strict=True)
            ]
            of = (1.0,)
    labels = [label for label, _ in measured]
    values = [value for _, value in measured]
    value = dict(zip(labels, values, strict=True)) if all(labels) and len(set(labels)) == len(labels) else values
    return _row(decides, quantity, value, Limit(leaf.relation, number, leaf.because, errors, of))
