"""Compares the figures and claims of a report with the record, name by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from baseline.summary import distance

# A number of a claim below this size is a rounding error or as good as zero: differences are relative to it.
SMALLEST = 1e-6


class Difference(NamedTuple):
    """How far a figure or a claim is from the record.

    **Attributes:**

    - `name`: name of the figure or claim
    - `size`: largest relative difference; 0 for the same bits, infinite where something is missing or of another kind
    - `where`: the variable or number that differs most, with both values
    """

    name: str
    size: float
    where: str = ""

    def __str__(self) -> str:
        if self.size == 0:
            return "same bits"
        if math.isinf(self.size):
            return self.where
        same = f"same to 1e-{math.floor(-math.log10(self.size))}" if self.size < 0.1 else f"off by {self.size:.2g}"
        return f"{same} ({self.where})"


def compare_figure(name: str, old: Mapping[str, Any], new: Mapping[str, Any] | None) -> Difference:
    """Compare the summarized variables of a figure, those of the record under the names they have now."""
    if new is None:
        return Difference(name, math.inf, "missing")
    if lost := sorted(old.keys() - new.keys()):
        return Difference(name, math.inf, f"missing: {', '.join(lost)}")
    size, worst = max((distance(old[variable], new[variable]), variable) for variable in old)
    return Difference(name, size, f"different words or shape: {worst}" if math.isinf(size) else worst)


def compare_claim(name: str, old: Mapping[str, Any], new: Mapping[str, Any] | None) -> Difference:
    """Compare verdict and numbers of a claim."""
    if new is None:
        return Difference(name, math.inf, "missing")
    if old["verdict"] != new["verdict"]:
        return Difference(name, math.inf, f"verdict {new['verdict']!r}, was {old['verdict']!r}")
    before, after = dict(flatten(old["numbers"])), dict(flatten(new["numbers"]))
    if lost := sorted(before.keys() - after.keys()):
        return Difference(name, math.inf, f"missing numbers: {', '.join(lost)}")
    sizes = [(number_distance(before[key], after[key]), key) for key in before]
    size, key = max(sizes, default=(0.0, ""))
    return Difference(name, size, f"{key} = {after[key]}, was {before[key]}" if size else "")


def number_distance(old: Any, new: Any) -> float:
    """Return the relative difference of two numbers, of `SMALLEST` where both are smaller; infinite for other kinds."""
    if old == new:
        return 0.0
    if not all(isinstance(one, (int, float)) and math.isfinite(one) for one in (old, new)):
        return math.inf
    return abs(old - new) / max(abs(old), abs(new), SMALLEST)


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number of nested mappings and lists with its path."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from flatten(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from flatten(one, f"{path}[{index}]")
    else:
        yield path, value
