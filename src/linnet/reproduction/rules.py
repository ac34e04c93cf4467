"""What a verdict goes by: rules over named numbers, each with its limit and the reason for it.

A rule owns everything that follows from its limit: whether numbers meet it, the line that pages print, and the words
that draw the conclusion. So none of them can drift from the others.

    Below(1e-8, because="a closed form against an integrator of tolerance 1e-12")         # numbers["value"] < 1e-8
    Above(0.95, "slope", because="a power fitted over decades falls short by less than 0.05")
    Within(-1, 0.15, "slope", because="twice its scatter over seeds")                        # |slope + 1| < 0.15
    AllOf(Below(...), Above(...))

A number may be a list or a mapping: then every entry must meet the rule, and the words name the worst one.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from linnet.reproduction.numbers import Estimate, Numbers, entries, filled


class Limit(float):
    """A limit that several rules share, and why it is this number and no other.

    **Arguments:**

    - `value`: the number
    - `reason`: why this one

    **Returns** a number, for all that it is compared with.

    **Example:**

        >>> from linnet.reproduction import Limit
        >>> limit = Limit(0.05, "the printed time neglects u(0)/s, worth up to 3% at this scale")
        >>> 0.03 < limit, limit.reason
        (True, 'the printed time neglects u(0)/s, worth up to 3% at this scale')
    """

    reason: str

    def __new__(cls, value: float, reason: str) -> Limit:
        """A float that knows its reason; it compares and prints as the number."""
        limit = super().__new__(cls, value)
        limit.reason = reason
        return limit

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.reason


class Rule:
    """A condition on the numbers of a measurement.

    **Example:**

        >>> from linnet.reproduction import Above, Below
        >>> rule = Above(0, because="it grows") & Below(1, because="it stays bounded")
        >>> rule.met({"value": 0.5}), rule.met({"value": 2.0})
        (True, False)
    """

    def met(self, numbers: Numbers) -> bool:
        """Whether the numbers meet the rule; NaN never does."""
        raise NotImplementedError

    def leaves(self) -> Iterator[Leaf]:
        """The rules with a limit of their own that this one is made of."""
        raise NotImplementedError

    def __and__(self, other: Rule) -> AllOf:
        return AllOf(self, other)

    def conclusion(self, numbers: Numbers) -> str:
        """What the numbers say by this rule, in words: first what is missed, or all that is met."""
        missed = [leaf for leaf in self.leaves() if not leaf.met(numbers)]
        chosen = list(self.leaves()) if self.met(numbers) or not missed else missed
        return "; ".join(leaf.words(numbers) for leaf in chosen)


class AllOf(Rule):
    """Met where each of the rules is.

    **Arguments:**

    - `rules`: all that must be met

    **Example:**

        >>> from linnet.reproduction import AllOf, Above, Below
        >>> rule = AllOf(Above(0.9, "slope", because="..."), Below(0.1, "error", because="..."))
        >>> rule.met({"slope": 1.0, "error": 0.2})
        False
    """

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    def met(self, numbers: Numbers) -> bool:
        """Whether the numbers meet every rule."""
        return all(rule.met(numbers) for rule in self.rules)

    def leaves(self) -> Iterator[Leaf]:
        """Those of every rule."""
        for rule in self.rules:
            yield from rule.leaves()


@dataclass(frozen=True)
class Leaf(Rule):
    """A rule with one limit.

    **Attributes:**

    - `limit`: the number that is compared with
    - `number`: the name of the measured number
    - `because`: why the limit is this number; a `Limit` brings its own reason
    - `what`: the number in words, for the conclusion
    - `form`: how it is printed, as in a format string
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed; measured numbers in braces
    """

    limit: float
    number: str = "value"
    _: KW_ONLY
    because: str = ""
    what: str = ""
    form: str = ".3g"
    times: str = ""
    then: str = ""
    otherwise: str = ""
    relation: ClassVar[str]

    def __post_init__(self) -> None:
        if isinstance(self.limit, Limit) and not self.because:
            object.__setattr__(self, "because", self.limit.reason)
        if not self.because:
            raise ValueError(f"a rule on `{self.number}` must say why its limit is {self.limit:g}: give `because`.")
        if not self.what:
            object.__setattr__(self, "what", self.number.replace("_", " "))

    def leaves(self) -> Iterator[Leaf]:
        """Itself."""
        yield self

    @property
    def names(self) -> list[str]:
        """The measured numbers that the rule reads."""
        return [name for name in (self.number, self.times) if name]

    @property
    def requirement(self) -> str:
        """What is required, in words: `slope above 0.95`."""
        return f"{self.what} {self.relation} {self._limit_words()}"

    def met(self, numbers: Numbers) -> bool:
        """Whether every entry of the number lies on the right side of the limit."""
        found = entries(numbers[self.number])
        return bool(found) and all(self._margin(value, numbers) for _, value in found)

    def words(self, numbers: Numbers) -> str:
        """The number that decides, which side of the limit it is on, and what that means."""
        found = entries(numbers[self.number])
        met = self.met(numbers)
        label, value = self._worst(found, numbers) if found else ("", math.nan)
        place = f" ({label})" if label and len(found) > 1 else ""
        limit = f"{self.relation} {self._limit_words(numbers)}"
        return self._sentence(f"{_shown(value, self.form)}{place}", limit, met, numbers)

    def _sentence(self, shown: str, limit: str, met: bool, numbers: Numbers) -> str:
        """What was measured, on which side of the limit, and what that means."""
        said, meaning = f"{self.what} {shown}, {'' if met else 'not '}{limit}", self.then if met else self.otherwise
        return f"{said}: {filled(meaning, numbers)}" if meaning else said

    def example(self, *, met: bool) -> dict[str, Any]:
        """Numbers on the asked side of the limit, for the test that looks at every limit of every claim."""
        errors = {"uncertainty": 0.0} if getattr(self, "errors", 0.0) else {}
        return {**self._beside(met), **({self.times: 1.0} if self.times else {}), **errors}

    def _factor(self, numbers: Numbers) -> float:
        return float(numbers[self.times]) if self.times else 1.0

    def _limit_words(self, numbers: Numbers | None = None) -> str:
        if not self.times:
            return _shown(float(self.limit), self.form)
        name = self.times.replace("_", " ")
        words = f"{float(self.limit):g} times {name}"
        return words if numbers is None else f"{_shown(self.limit * self._factor(numbers), self.form)} ({words})"

    def _margin(self, value: Any, numbers: Numbers) -> bool:
        raise NotImplementedError

    def _worst(self, found: Sequence[tuple[str, Any]], numbers: Numbers) -> tuple[str, Any]:
        raise NotImplementedError

    def _beside(self, met: bool) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class _OneSided(Leaf):
    """A limit on one side. With `errors`, the number must be beyond it by that many standard errors: those of an
    `Estimate`, or the measured `uncertainty`."""

    errors: float = field(default=0.0, kw_only=True)
    sign: ClassVar[int]  # +1 where small numbers meet the rule
    beyond: ClassVar[Callable[[float, float], bool]]  # on which side of the limit they do

    def _nearest(self, value: Any, numbers: Numbers) -> float:
        """The end of the number's error bar that is nearer to the limit's other side."""
        if not self.errors:
            return float(_value(value))
        error = value.error if isinstance(value, Estimate) else float(numbers["uncertainty"])
        return float(_value(value)) + self.sign * self.errors * error  # NaN, and so never met, where the error is

    def _worst(self, found: Sequence[tuple[str, Any]], numbers: Numbers) -> tuple[str, Any]:
        unknown = [pair for pair in found if math.isnan(self._nearest(pair[1], numbers))]
        return unknown[0] if unknown else max(found, key=lambda pair: self.sign * self._nearest(pair[1], numbers))

    def _limit_words(self, numbers: Numbers | None = None) -> str:
        by = f" by {self.errors:g} standard errors" if self.errors else ""
        return super()._limit_words(numbers) + by

    def _margin(self, value: Any, numbers: Numbers) -> bool:
        return bool(type(self).beyond(self._nearest(value, numbers), self.limit * self._factor(numbers)))

    def _beside(self, met: bool) -> dict[str, Any]:
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

        >>> from linnet.reproduction import Below
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

        >>> from linnet.reproduction import AtMost
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

        >>> from linnet.reproduction import Above, Estimate
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

        >>> from linnet.reproduction import AtLeast
        >>> AtLeast(0.9, "share", because="nine draws in ten", form=".0%").requirement
        'share at least 90%'
    """

    relation, sign, beyond = "at least", -1, operator.ge


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

        >>> from linnet.reproduction import Within
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
        found = self._pairs(numbers)
        return bool(found) and all(distance <= 1 for *_, distance in found)

    def words(self, numbers: Numbers) -> str:
        """The entry farthest from its target."""
        found = self._pairs(numbers)
        unknown = [row for row in found if math.isnan(row[-1])]
        label, value, target, _ = unknown[0] if unknown else max(found, key=lambda row: row[-1])
        place = f" ({label})" if label and len(found) > 1 else ""
        share = " times that" if self.relative else ""
        either = f" or {self.errors:g} standard errors" if self.errors else ""
        limit = f"within {self._limit_words(numbers)}{share}{either} of {_shown(target, self.form)}"
        return self._sentence(f"{_shown(value, self.form)}{place}", limit, self.met(numbers), numbers)

    def _beside(self, met: bool) -> dict[str, Any]:
        target = 1.0 if isinstance(self.of, str) else float(self.of)
        allowed = float(self.limit) * (abs(target) if self.relative else 1.0)
        numbers = {self.number: target + (0.5 if met else 2.0) * allowed}
        return numbers | ({self.of: target} if isinstance(self.of, str) else {})

    def _pairs(self, numbers: Numbers) -> list[tuple[str, Any, float, float]]:
        """Label, value, target, and the distance over the allowed one."""
        found = entries(numbers[self.number])
        if isinstance(self.of, str):
            targets = entries(numbers[self.of])
            targets = targets * len(found) if len(targets) == 1 else targets
            if len(targets) != len(found):
                raise ValueError(f"`{self.of}` must have as many entries as `{self.number}`: got {len(targets)}.")
        else:
            targets = [("", self.of)] * len(found)
        rows = []
        for (label, value), (_, target) in zip(found, targets, strict=True):
            goal = float(_value(target))
            allowed = float(self.limit) * self._factor(numbers) * (abs(goal) if self.relative else 1.0)
            if self.errors:
                allowed = max(allowed, self.errors * _standard_error(value, numbers))
            distance = abs(float(_value(value)) - goal)
            ratio = distance / allowed if allowed > 0 else (0.0 if distance == 0 else math.inf)
            rows.append((label, value, goal, math.nan if math.isnan(distance) else ratio))
        return rows


class Falls(Leaf):
    """Met where each entry of the number is below the one before it, by more than `limit` (often 0).

    **Attributes:**

    - `limit`: how much more than that each entry must fall
    - `number`: the name of the measured number
    - `because`, `what`, `form`: why the limit is this number, the number in words, and how it is printed
    - `times`: the name of another measured number that multiplies the limit
    - `then`, `otherwise`: words that are true where the rule is met, and where it is missed

    **Example:**

        >>> from linnet.reproduction import Falls
        >>> Falls(0, "times", because="the sentence says so").met({"times": [3.0, 2.0, 2.0]})
        False
    """

    relation, sign = "falling by more than", 1

    def met(self, numbers: Numbers) -> bool:
        """Whether every step has the right sign and size."""
        steps = self._steps(numbers)
        return bool(len(steps)) and bool(np.all(steps > self.limit * self._factor(numbers)))

    def words(self, numbers: Numbers) -> str:
        """All entries, and whether they go the right way."""
        shown = ", ".join(_shown(value, self.form) for _, value in entries(numbers[self.number]))
        by = f" by more than {_shown(float(self.limit), self.form)} each" if self.limit else ""
        return self._sentence(shown, f"{self.relation.split()[0]}{by}", self.met(numbers), numbers)

    def _beside(self, met: bool) -> dict[str, Any]:
        step = (abs(self.limit) * 2 or 1.0) * (1 if met else -1) * -self.sign
        return {self.number: [1.0, 1.0 + step, 1.0 + 2 * step]}

    def _steps(self, numbers: Numbers) -> np.ndarray:
        values = np.array([float(_value(value)) for _, value in entries(numbers[self.number])])
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

        >>> from linnet.reproduction import Rises
        >>> Rises(0, "times", because="the sentence says so").met({"times": [1.0, 2.0, 3.0]})
        True
    """

    relation, sign = "rising by more than", -1


def _value(entry: Any) -> Any:
    return entry.value if isinstance(entry, Estimate) else entry


def _standard_error(value: Any, numbers: Numbers) -> float:
    error = value.error if isinstance(value, Estimate) else float(numbers.get("uncertainty", 0.0) or 0.0)
    return 0.0 if math.isnan(error) else error


def _shown(value: Any, form: str) -> str:
    if isinstance(value, (Mapping, str)):
        return str(value)
    return format(value if isinstance(value, Estimate) else float(value), form)
