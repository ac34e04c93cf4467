"""Rules on the order of a list of numbers: each below, or above, the one before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet_papers.reproduction.numbers import Numbers, entries
from linnet_papers.reproduction.rules.rule import Leaf, formatted, value_of


class Falls(Leaf):
    """Met where each entry of the number is below the one before it, by more than `limit` (often 0).

    **Attributes:**

    - `limit`: how much more than that each entry must fall
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed

    **Example:**

        >>> from linnet_papers.reproduction import Falls
        >>> Falls(0, "times", because="the sentence says so").met({"times": [3.0, 2.0, 2.0]})
        False
    """

    relation, sign = "falling by more than", 1

    def met(self, numbers: Numbers) -> bool:
        """Whether every step has the right sign and size."""
        steps = self._signed_steps(numbers)
        return bool(len(steps)) and bool(np.all(steps > self.limit * self._limit_factor(numbers)))

    def words(self, numbers: Numbers) -> str:
        """All entries, and whether they go the right way."""
        shown = ", ".join(formatted(value, self.form) for _, value in entries(numbers[self.number]))
        by = f" by more than {formatted(float(self.limit), self.form)} each" if self.limit else ""
        return self._sentence(shown, f"{self.relation.split()[0]}{by}", self.met(numbers), numbers)

    def _deciding(self, numbers: Numbers) -> tuple[str, Any]:
        """Return the step that goes least into the right direction, without a label."""
        steps = self._signed_steps(numbers)
        return "", -self.sign * float(steps.min()) if len(steps) else np.nan

    def _example_number(self, met: bool) -> dict[str, Any]:
        """Return three numbers in the right order, or in the wrong one."""
        step = (abs(self.limit) * 2 or 1.0) * (1 if met else -1) * -self.sign
        return {self.number: [1.0, 1.0 + step, 1.0 + 2 * step]}

    def _signed_steps(self, numbers: Numbers) -> np.ndarray:
        """Return the differences between neighbors, positive where they go the right way."""
        values = np.array([float(value_of(value)) for _, value in entries(numbers[self.number])])
        return -self.sign * np.diff(values)


class Rises(Falls):
    """Met where each entry of the number is above the one before it, by more than `limit` (often 0).

    **Attributes:**

    - `limit`: how much more than that each entry must rise
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed

    **Example:**

        >>> from linnet_papers.reproduction import Rises
        >>> Rises(0, "times", because="the sentence says so").met({"times": [1.0, 2.0, 3.0]})
        True
    """

    relation, sign = "rising by more than", -1
