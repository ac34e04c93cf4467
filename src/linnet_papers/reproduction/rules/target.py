"""The rule that a number is near a target."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linnet_papers.reproduction.numbers import Estimate, Numbers, entries
from linnet_papers.reproduction.rules.rule import Leaf, formatted, hardest, value_of


@dataclass(frozen=True)
class Within(Leaf):
    """Met where the number is near a target: `Within(0.15, "slope", of=-1)` asks for a distance of at most 0.15.

    **Attributes:**

    - `limit`: the largest distance
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed
    - `of`: the target, a number or the name of a measured one (entry by entry, where both are lists or mappings)
    - `errors`: a distance of that many standard errors is allowed too, of an `Estimate` or the measured `uncertainty`
    - `relative`: whether the distance is a share of the target

    **Example:**

        >>> from linnet_papers.reproduction import Within
        >>> rule = Within(0.15, "slope", of=-1, because="twice the scatter over seeds")
        >>> rule.met({"slope": -0.9}), rule.conclusion({"slope": -0.5})
        (True, 'slope -0.5, not within 0.15 of -1')
    """

    of: float | str = field(default=0.0, kw_only=True)
    errors: float = field(default=0.0, kw_only=True)
    relative: bool = field(default=False, kw_only=True)
    relation: ClassVar[str] = "within"

    @property
    def names(self) -> list[str]:
        """The measured numbers that the rule reads."""
        return [*super().names, *([self.of] if isinstance(self.of, str) else [])]

    @property
    def requirement(self) -> str:
        """What is required, in words."""
        either = f", or {self.errors:g} standard errors," if self.errors else ""
        share = " times the target" if self.relative else ""
        target = self.of.replace("_", " ") if isinstance(self.of, str) else f"{self.of:g}"
        return f"{self.what} within {self._limit_words()}{share}{either} of {target}"

    def met(self, numbers: Numbers) -> bool:
        """Whether every entry lies within the distance of its target."""
        pairs = self._distances(numbers)
        return bool(pairs) and all(distance <= 1 for *_, distance in pairs)

    def words(self, numbers: Numbers) -> str:
        """The entry farthest from its target."""
        label, value, target = self._farthest(numbers)
        place = f" ({label})" if label and len(entries(numbers[self.number])) > 1 else ""
        share = " times that" if self.relative else ""
        either = f" or {self.errors:g} standard errors" if self.errors else ""
        limit = f"within {self._limit_words(numbers)}{share}{either} of {formatted(target, self.form)}"
        return self._sentence(f"{formatted(value, self.form)}{place}", limit, self.met(numbers), numbers)

    def _deciding(self, numbers: Numbers) -> tuple[str, Any]:
        """Return the entry farthest from its target."""
        return self._farthest(numbers)[:2]

    def _farthest(self, numbers: Numbers) -> tuple[str, Any, float]:
        """Return label, value and target of the entry farthest from its target; NaN where there is none."""
        rows = self._distances(numbers) or [("", math.nan, math.nan, math.nan)]
        return hardest(rows, lambda row: row[-1])[:3]

    def _example_number(self, met: bool) -> dict[str, Any]:
        """Return a number at half the allowed distance from the target, or at twice it."""
        target = 1.0 if isinstance(self.of, str) else float(self.of)
        allowed = float(self.limit) * (abs(target) if self.relative else 1.0)
        numbers = {self.number: target + (0.5 if met else 2.0) * allowed}
        return numbers | ({self.of: target} if isinstance(self.of, str) else {})

    def _distances(self, numbers: Numbers) -> list[tuple[str, Any, float, float]]:
        """Return label, value, target, and the distance over the allowed one."""
        measured = entries(numbers[self.number])
        if isinstance(self.of, str):
            targets = entries(numbers[self.of])
            targets = targets * len(measured) if len(targets) == 1 else targets
            if len(targets) != len(measured):
                raise ValueError(f"`{self.of}` must have as many entries as `{self.number}`: got {len(targets)}.")
        else:
            targets = [("", self.of)] * len(measured)
        rows = []
        for (label, value), (_, target) in zip(measured, targets, strict=True):
            goal = float(value_of(target))
            allowed = float(self.limit) * self._limit_factor(numbers) * (abs(goal) if self.relative else 1.0)
            if self.errors:
                allowed = max(allowed, self.errors * _standard_error(value, numbers))
            distance = abs(float(value_of(value)) - goal)
            ratio = distance / allowed if allowed > 0 else (0.0 if distance == 0 else math.inf)
            rows.append((label, value, goal, math.nan if math.isnan(distance) else ratio))
        return rows


def _standard_error(value: object, numbers: Numbers) -> float:
    """Return the standard error of a value, 0 where it has none."""
    error = value.error if isinstance(value, Estimate) else float(numbers.get("uncertainty", 0.0) or 0.0)
    return 0.0 if math.isnan(error) else error
