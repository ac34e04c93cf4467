"""Compares the figures and claims of a report with the record, name by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from baseline.summary import distance

# A number of a claim below this size is a rounding error or as good as zero: differences are relative to it.
SMALLEST = 1e-5


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
    """Compare verdict and deciding numbers of a claim: each recorded one must be among those of the rows of now.

    Rows have new words and another order since 0.3.0, so that numbers are found by their size.
    """
    if new is None:
        return Difference(name, math.inf, "missing")
    if old["verdict"] != new["verdict"]:
        return Difference(name, math.inf, f"verdict {new['verdict']!r}, was {old['verdict']!r}")
    found = [value for row in new["rows"] for value in row.get("values", ())]
    sizes = [
        (min((number_distance(value, one) for one in found), default=math.inf), row["quantity"], value)
        for row in old["rows"]
        for value in row.get("values", ())
    ]
    size, quantity, value = max(sizes, key=lambda one: one[0], default=(0.0, "", 0.0))
    if math.isinf(size):
        return Difference(name, size, f"missing numbers: {quantity} = {value}")
    return Difference(name, size, f"{quantity} = {value} then" if size else "")


def number_distance(old: Any, new: Any) -> float:
    """Return the relative difference of two numbers, of `SMALLEST` where both are smaller; infinite for other kinds."""
    if old == new:
        return 0.0
    if not all(isinstance(one, (int, float)) and math.isfinite(one) for one in (old, new)):
        return math.inf
    return abs(old - new) / max(abs(old), abs(new), SMALLEST)
