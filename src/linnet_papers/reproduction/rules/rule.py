"""What every rule of a claim is: a condition on named numbers, with its limit and the reason for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from linnet_papers.reproduction.numbers import Estimate, Numbers, fill_template

Row = TypeVar("Row")


class Limit(float):
    """A limit that several rules share, and why it is this number and no other.

    **Arguments:**

    - `value`: the number
    - `reason`: why this one

    **Returns** a number, for all that it is compared with.

    **Example:**

        >>> from linnet_papers.reproduction import Limit
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

        >>> from linnet_papers.reproduction import Above, Below
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
        return "; ".join(leaf.words(numbers) for leaf in missed or self.leaves())


class AllOf(Rule):
    """Met where each of the rules is.

    **Arguments:**

    - `rules`: all that must be met

    **Example:**

        >>> from linnet_papers.reproduction import AllOf, Above, Below
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

    **Example:**

        >>> from linnet_papers.reproduction.rules import Below, Leaf
        >>> rule = Below(0.1, because="twice the solver's tolerance")
        >>> isinstance(rule, Leaf), float(rule.limit)
        (True, 0.1)
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

    def words(self, numbers: Numbers) -> str:
        """The number that decides, which side of the limit it is on, and what that means."""
        raise NotImplementedError

    def _deciding(self, numbers: Numbers) -> tuple[str, Any]:
        """Return label and value of the entry that decides whether the numbers meet the rule."""
        raise NotImplementedError

    def _sentence(self, shown: str, limit: str, met: bool, numbers: Numbers) -> str:
        """What was measured, on which side of the limit, and what that means."""
        said, meaning = f"{self.what} {shown}, {'' if met else 'not '}{limit}", self.then if met else self.otherwise
        return f"{said}: {fill_template(meaning, numbers)}" if meaning else said

    def example(self, *, met: bool) -> dict[str, Any]:
        """Numbers on the asked side of the limit, for the test that looks at every limit of every claim."""
        errors = {"uncertainty": 0.0} if getattr(self, "errors", 0.0) else {}
        return {**self._example_number(met), **({self.times: 1.0} if self.times else {}), **errors}

    def _limit_factor(self, numbers: Numbers) -> float:
        """Return the measured number that multiplies the limit, 1 where there is none."""
        return float(numbers[self.times]) if self.times else 1.0

    def _limit_words(self, numbers: Numbers | None = None) -> str:
        """Write the limit; with `numbers`, times the measured number that multiplies it."""
        if not self.times:
            return formatted(float(self.limit), self.form)
        name = self.times.replace("_", " ")
        words = f"{float(self.limit):g} times {name}"
        return (
            words if numbers is None else f"{formatted(self.limit * self._limit_factor(numbers), self.form)} ({words})"
        )

    def _example_number(self, met: bool) -> dict[str, Any]:
        """Return a number that meets the rule, or one that does not."""
        raise NotImplementedError


def hardest(rows: Sequence[Row], difficulty: Callable[[Row], float]) -> Row:
    """Return the row that is hardest for a rule, one whose difficulty is NaN before all others."""
    return max(rows, key=lambda row: (math.isnan(difficulty(row)), difficulty(row)))


def value_of(entry: object) -> Any:
    """Return the mean of an `Estimate`, and any other number as it is."""
    return entry.value if isinstance(entry, Estimate) else entry


def formatted(value: Any, form: str) -> str:
    """Return the number in the form that the rule prints it in; text and mappings as they are."""
    if isinstance(value, (Mapping, str)):
        return str(value)
    return format(value if isinstance(value, Estimate) else float(value), form)
