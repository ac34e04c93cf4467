"""Rules with a limit on one side: below, at most, above, at least."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from linnet_papers.reproduction.numbers import Estimate, Numbers, entries
from linnet_papers.reproduction.rules.rule import Leaf, formatted, hardest, value_of


@dataclass(frozen=True)
class _OneSided(Leaf):
    """A limit on one side. With `errors`, the number must be beyond it by that many standard errors: those of an
    `Estimate`, or the measured `uncertainty`."""

    errors: float = field(default=0.0, kw_only=True)
    sign: ClassVar[int]  # +1 where small numbers meet the rule
    beyond: ClassVar[Callable[[float, float], bool]]  # on which side of the limit they do

    def met(self, numbers: Numbers) -> bool:
        """Whether every entry of the number lies on the right side of the limit, its error bar included."""
        measured = [self._pessimistic(value, numbers) for _, value in entries(numbers[self.number])]
        limit = self.limit * self._limit_factor(numbers)
        return bool(measured) and all(type(self).beyond(value, limit) for value in measured)

    def words(self, numbers: Numbers) -> str:
        """The entry that is hardest for the rule, which side of the limit it is on, and what that means."""
        label, value = self._deciding(numbers)
        place = f" ({label})" if label and len(entries(numbers[self.number])) > 1 else ""
        limit = f"{self.relation} {self._limit_words(numbers)}"
        return self._sentence(f"{formatted(value, self.form)}{place}", limit, self.met(numbers), numbers)

    def _deciding(self, numbers: Numbers) -> tuple[str, Any]:
        """Return the entry that is hardest for the rule, its error bar included; NaN where there is none."""
        measured = entries(numbers[self.number])
        if not measured:
            return "", math.nan
        return hardest(measured, lambda pair: self.sign * self._pessimistic(pair[1], numbers))

    def _pessimistic(self, value: object, numbers: Numbers) -> float:
        """Return the number, or the end of its error bar at which the rule is harder to meet."""
        if not self.errors:
            return float(value_of(value))
        error = value.error if isinstance(value, Estimate) else float(numbers["uncertainty"])
        return float(value_of(value)) + self.sign * self.errors * error  # NaN, and so never met, where the error is

    def _limit_words(self, numbers: Numbers | None = None) -> str:
        """Write the limit, and by how many standard errors it must be passed."""
        by = f" by {self.errors:g} standard errors" if self.errors else ""
        return super()._limit_words(numbers) + by

    def _example_number(self, met: bool) -> dict[str, Any]:
        """Return a number half the limit away from it, on either side."""
        step = self.sign * (0.5 * abs(self.limit) or 0.5)
        return {self.number: float(self.limit) - step if met else float(self.limit) + step}


class Below(_OneSided):
    """Met where the number is below its limit; with `errors=3`, by three standard errors.

    **Attributes:**

    - `limit`: the number that it must be below
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed
    - `errors`: by how many standard errors the number must be beyond the limit

    **Example:**

        >>> from linnet_papers.reproduction import Below
        >>> rule = Below(0.05, "error", because="the printed time neglects 3%", form=".0%")
        >>> rule.met({"error": 0.03}), rule.conclusion({"error": 0.03}), rule.conclusion({"error": 0.07})
        (True, 'error 3%, below 5%', 'error 7%, not below 5%')
    """

    relation, sign, beyond = "below", 1, operator.lt


class AtMost(_OneSided):
    """Met where the number is its limit or below.

    **Attributes:**

    - `limit`: the largest number that meets it
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed
    - `errors`: by how many standard errors the number must be beyond the limit

    **Example:**

        >>> from linnet_papers.reproduction import AtMost
        >>> AtMost(2, "rank", because="the teacher has two neurons").conclusion({"rank": 2})
        'rank 2, at most 2'
    """

    relation, sign, beyond = "at most", 1, operator.le


class Above(_OneSided):
    """Met where the number is above its limit; with `errors=3`, by three standard errors.

    **Attributes:**

    - `limit`: the number that it must be above
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed
    - `errors`: by how many standard errors the number must be beyond the limit

    **Example:**

        >>> from linnet_papers.reproduction import Above, Estimate
        >>> rule = Above(0, "rate", errors=3, because="growth must be seen")
        >>> rule.met({"rate": Estimate(0.4, 0.1)}), rule.met({"rate": Estimate(0.2, 0.1)})
        (True, False)
    """

    relation, sign, beyond = "above", -1, operator.gt


class AtLeast(_OneSided):
    """Met where the number is its limit or above.

    **Attributes:**

    - `limit`: the least number that meets it
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed
    - `errors`: by how many standard errors the number must be beyond the limit

    **Example:**

        >>> from linnet_papers.reproduction import AtLeast
        >>> AtLeast(0.9, "share", because="nine draws in ten", form=".0%").requirement
        'share at least 90%'
    """

    relation, sign, beyond = "at least", -1, operator.ge
