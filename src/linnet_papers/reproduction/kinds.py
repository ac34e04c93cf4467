"""What kind of number each name of a measurement must be: refused at once, before a verdict is drawn from another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linnet._arguments import shown
from linnet_papers.reproduction.numbers import Estimate, Numbers, entries, fill_template
from linnet_papers.reproduction.rules import Falls, Leaf, Within

if TYPE_CHECKING:
    from linnet_papers.reproduction.declaration import Claim


def check_kinds(claim: Claim, templates: Iterable[str], numbers: object) -> None:
    """Raise ValueError unless the numbers are what the rules of the claim and its sentences (`templates`) take.

    One number is asked for `value`, which decides, for `uncertainty` and for a factor of a limit; a list or a mapping
    of numbers, none of them a list again, for the others; a list or a mapping where a rule asks for an order.
    """
    name = claim.name
    if not isinstance(numbers, Mapping):
        raise ValueError(f"the claim {name!r} must measure numbers by name, as a mapping: got {shown(numbers)}.")
    for number in claim.names:
        if number not in numbers:
            raise ValueError(
                f"the claim {name!r} reads {number!r}, which its measurement does not return: got {', '.join(numbers)}."
            )
    leaves = [leaf for _, leaf in claim.limits()]
    _check_single_numbers(name, leaves, numbers)
    for leaf in leaves:
        _check_rule(name, leaf, numbers)
    for text in templates:  # all of them, also those that this verdict does not print
        try:
            fill_template(text, numbers)
        except (TypeError, ValueError) as reason:
            raise ValueError(f"the claim {name!r} cannot print {text!r} with what it measured: {reason}") from reason


def _check_single_numbers(name: str, leaves: list[Leaf], numbers: Numbers) -> None:
    """Refuse lists and mappings where one number is asked."""
    if "value" in numbers and not _is_number(numbers["value"]):
        raise ValueError(
            f"the claim {name!r} must measure one number as 'value', which decides: got {shown(numbers['value'])}. "
            "Return the entry that decides, and all of them under another name, which the rule reads."
        )
    factors = [leaf.times for leaf in leaves if leaf.times]
    for number in [*factors, "uncertainty"]:
        if number in numbers and (not _is_number(numbers[number]) or isinstance(numbers[number], Estimate)):
            raise ValueError(f"the claim {name!r} must measure one number as {number!r}: got {shown(numbers[number])}.")


def _check_rule(name: str, leaf: Leaf, numbers: Numbers) -> None:
    """Refuse what the rule cannot compare with its limit, entry by entry."""
    for number in leaf.names:
        for label, entry in entries(numbers[number]):
            if not _is_number(entry):
                place = f" ({label})" if label else ""
                raise ValueError(
                    f"the claim {name!r} compares {number!r} with a limit, so every entry must be a number: got "
                    f"{shown(entry)}{place}."
                )
    plain = [entry for _, entry in entries(numbers[leaf.number]) if not isinstance(entry, Estimate)]
    if getattr(leaf, "errors", 0.0) and plain and "uncertainty" not in numbers:
        raise ValueError(
            f"the claim {name!r} judges {leaf.number!r} by standard errors, which it must measure: return an "
            "`Estimate`, or 'uncertainty' beside 'value'."
        )
    if isinstance(leaf, Falls) and not isinstance(numbers[leaf.number], (Mapping, list, tuple, np.ndarray)):
        raise ValueError(
            f"the claim {name!r} asks for the order of {leaf.number!r}, which must be a list or a mapping: got "
            f"{shown(numbers[leaf.number])}."
        )
    if isinstance(leaf, Within) and isinstance(leaf.of, str):
        targets, measured = len(entries(numbers[leaf.of])), len(entries(numbers[leaf.number]))
        if targets not in (1, measured):
            raise ValueError(
                f"the claim {name!r} must measure one {leaf.of!r}, or as many as {leaf.number!r} ({measured}): got "
                f"{targets}."
            )


def _is_number(value: object) -> bool:
    """Return whether the value is one number, with its standard error or without."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return isinstance(value, (Estimate, int, float, np.integer, np.floating, np.bool_))
