"""A row: one measured quantity, the limit it is compared with, the reason for that limit, and what the row decides.

    yield printed("largest $(t_2 - t_1)$ over the bound", ratios, at_most(1, "it is the bound itself"))
    yield corrected("late slope", Estimate(-0.49, 0.02), within(0.1, "the fit over a decade", of=-0.5))
    yield fact("number of networks", 36)

The word in front says what the row decides: whether the statement holds as `printed`, with its correction
(`corrected`), or `both`; whether it could be tried at all (`given`); or what a refutation needs besides a printed row
that is missed (`refutes`). A `fact` and a `summary` decide nothing. The verdict follows from the rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import number as checked_number
from linnet._arguments import of_kind, real_array, representable, shown

FACT, SUMMARY = "fact", "summary"
DIGITS = 3  # of a recorded number, at least
MOST_COUNTED = 1e6  # a whole number below it is shown with all of its digits


class Verdict(StrEnum):
    """What the measurement says of the printed claim.

    **Example:**

        >>> from linnet_papers.reproduction import Verdict
        >>> [verdict.value for verdict in Verdict]
        ['holds', 'holds with the correction', 'refuted', 'outside its assumptions']
    """

    HOLDS = "holds"
    CORRECTED = "holds with the correction"
    REFUTED = "refuted"
    OUTSIDE = "outside its assumptions"


class Estimate(NamedTuple):
    """A mean with its standard error.

    **Example:**

        >>> from linnet_papers.reproduction import Estimate
        >>> f"{Estimate(0.4819, 0.007):+.3f}"
        '+0.482 ± 0.007'
        >>> f"{Estimate.of_mean([1.0, 2.0, 3.0]):.2f}"
        '2.00 ± 0.58'
    """

    value: float
    error: float

    @classmethod
    @representable
    def of_mean(cls, draws: ArrayLike) -> Estimate:
        """The mean of independent draws."""
        each = real_array("draws", draws, ndim=1)
        if each.size < 2:
            raise ValueError(f"`draws` must be at least two, to have a standard error: got {each.size}.")
        return cls(float(each.mean()), float(each.std(ddof=1) / np.sqrt(each.size)))

    @representable
    def minus(self, other: Estimate) -> Estimate:
        """The difference of two that are independent."""
        of_kind("other", other, Estimate, "linnet_papers.reproduction.Estimate")
        return Estimate(self.value - other.value, float(np.hypot(self.error, other.error)))

    @representable
    def errors_above(self, level: float) -> float:
        """How many standard errors the mean lies above the level; below it, a negative number."""
        return (self.value - checked_number("level", level)) / self.error

    def __format__(self, form: str) -> str:
        if np.isnan(self.error):
            return format(self.value, form)
        return f"{format(self.value, form)} ± {format(self.error, form.replace('+', ''))}"


@dataclass(frozen=True)
class Limit:
    """What every value of a row must keep, and why the limit is this number. Made by `below`, `within` and their like.

    **Attributes:**

    - `relation`: below, at most, above, at least or within
    - `number`: the limit; the largest distance of "within"
    - `because`: the reason for this number; one that only restates the limit is none
    - `errors`: by how many standard errors the limit must be passed; of "within", a distance of so many is allowed too
    - `of`: the target of "within", one or as many as there are values

    **Example:**

        >>> from linnet_papers.reproduction import below, within
        >>> str(below(1e-8, "the flow is integrated to a tolerance of 1e-11"))
        'below 1e-08'
        >>> str(within(0.1, "twice the scatter over seeds", of=-0.5, errors=3))
        'within 0.1, or 3 standard errors, of -0.5'
    """

    relation: str
    number: float
    because: str
    errors: float = 0.0
    of: Any = ()

    def __post_init__(self) -> None:
        if not isinstance(self.because, str) or len(self.because.split()) < 2:
            raise ValueError(f"a limit must give its reason in words: got {shown(self.because)} for {self.number:g}.")
        object.__setattr__(self, "number", float(self.number) + 0.0)  # no -0
        of = list(self.of.values()) if isinstance(self.of, Mapping) else np.ravel(self.of)
        object.__setattr__(self, "of", tuple(float(one) for one in of))
        if bool(self.of) != (self.relation == "within"):
            raise ValueError("`of` must be given for `within`, and for no other limit.")

    def __str__(self) -> str:
        if self.relation == "within":
            either = f", or {self.errors:g} standard errors," if self.errors else ""
            several = len(set(self.of)) > 1
            return f"within {self.number:.4g}{either} of {'its target' if several else f'{self.of[0]:.4g}'}"
        by = f" by {self.errors:g} standard errors" if self.errors else ""
        return f"{self.relation} {self.number:.4g}{by}"

    def margins(self, values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """How far each value is on the right side of the limit; below 0 on the wrong one."""
        if self.relation == "within":
            return np.fmax(self.number, self.errors * errors) - abs(values - np.array(self.of))
        side = 1.0 if self.relation in ("above", "at least") else -1.0
        distance = side * (values - self.number)
        return distance - self.errors * errors if self.errors else distance


def below(number: float, because: str, errors: float = 0.0) -> Limit:
    """Require values below a number.

    **Arguments:**

    - `number`: limit that every value must be below
    - `because`: reason for this number
    - `errors`: number of standard errors by which the values must be below it

    **Returns** the `Limit`, which may be shared by several rows.

    **Example:**

        >>> from linnet_papers.reproduction import below, printed
        >>> printed("largest error", [0.01, 0.2], below(0.1, "twice the solver's tolerance")).met
        False
    """
    return Limit("below", number, because, errors)


def at_most(number: float, because: str, errors: float = 0.0) -> Limit:
    """Require values of at most a number.

    **Arguments:**

    - `number`: largest value that is allowed
    - `because`: reason for this number
    - `errors`: number of standard errors by which the values must be below it

    **Returns** the `Limit`.

    **Example:**

        >>> from linnet_papers.reproduction import at_most, printed
        >>> printed("rank", 2, at_most(2, "the teacher has two neurons")).met
        True
    """
    return Limit("at most", number, because, errors)


def above(number: float, because: str, errors: float = 0.0) -> Limit:
    """Require values above a number.

    **Arguments:**

    - `number`: limit that every value must be above
    - `because`: reason for this number
    - `errors`: number of standard errors by which the values must be above it

    **Returns** the `Limit`.

    **Example:**

        >>> from linnet_papers.reproduction import Estimate, above, printed
        >>> limit = above(0, "growth must be seen", errors=3)
        >>> printed("rate", Estimate(0.4, 0.1), limit).met, printed("rate", Estimate(0.2, 0.1), limit).met
        (True, False)
    """
    return Limit("above", number, because, errors)


def at_least(number: float, because: str, errors: float = 0.0) -> Limit:
    """Require values of at least a number.

    **Arguments:**

    - `number`: smallest value that is allowed
    - `because`: reason for this number
    - `errors`: number of standard errors by which the values must be above it

    **Returns** the `Limit`.

    **Example:**

        >>> from linnet_papers.reproduction import at_least, printed
        >>> printed("fraction of runs", 0.95, at_least(0.9, "nine draws in ten")).met
        True
    """
    return Limit("at least", number, because, errors)


def within(number: float, because: str, *, of: Any, errors: float = 0.0) -> Limit:
    """Require values near a target.

    **Arguments:**

    - `number`: largest distance that is allowed
    - `because`: reason for this distance
    - `of`: target, one for all values or one for each, also by label
    - `errors`: number of standard errors that are allowed too, if that is more

    **Returns** the `Limit`.

    **Example:**

        >>> from linnet_papers.reproduction import printed, within
        >>> printed("slope", -0.9, within(0.15, "twice the scatter over seeds", of=-1)).met
        True
    """
    return Limit("within", number, because, errors, of)


@dataclass(frozen=True)
class Row:
    """One row of a claim. Its values are judged one by one; an empty list and NaN meet no limit.

    **Attributes:**

    - `decides`: printed, corrected, both, given, refutes, fact or summary
    - `quantity`: what was measured, in words; of a summary its sentence
    - `values`: the measured numbers
    - `limit`: what they are compared with; None for a fact
    - `errors`: their standard errors, if they have any
    - `labels`: which setting each value belongs to, if that was given
    - `note`: words beside a fact

    **Example:**

        >>> from linnet_papers.reproduction import below, printed
        >>> row = printed("distance", {"d = 2": 0.1, "d = 3": 0.4}, below(0.3, "three standard errors"))
        >>> row.met, row.labels[row.worst]
        (False, 'd = 3')
    """

    decides: str
    quantity: str
    values: tuple[float, ...] = ()
    limit: Limit | None = None
    errors: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    note: str = ""

    @property
    def margins(self) -> np.ndarray:
        """How far each value is on the right side of the limit; below 0 on the wrong one."""
        if self.limit is None or not self.values:
            return np.zeros(len(self.values))
        return self.limit.margins(np.array(self.values, float), np.array(self.errors or 0.0, float))

    @property
    def met(self) -> bool:
        """Whether every value is on the right side of the limit; a fact always is."""
        if self.limit is None:
            return True
        strict = self.limit.relation in ("below", "above")
        margins = self.margins
        return bool(self.values) and bool((margins > 0 if strict else margins >= 0).all())

    @property
    def worst(self) -> int:
        """The place of the value that decides: the one closest to the limit, or farthest beyond it."""
        return int(np.argmin(np.nan_to_num(self.margins, nan=-np.inf)))

    def rounded(self) -> Row:
        """The same row in as few digits as keep every value on its side of the limit, three at least."""
        margins = self.margins
        for digits in range(DIGITS, 17):
            row = replace(self, values=_rounded(self.values, digits), errors=_rounded(self.errors, digits))
            if self.limit is None or (row.met == self.met and _same_side(row.margins, margins)):
                return row
        return self

    def to_json(self) -> dict[str, Any]:
        """The row as JSON has it, without what it leaves open; NaN is null, infinity a word."""
        stored: dict[str, Any] = {"decides": self.decides, "quantity": self.quantity}
        if self.decides != SUMMARY:
            stored["values"] = [_to_json(value) for value in self.values]
        if self.errors:
            stored["errors"] = [_to_json(error) for error in self.errors]
        if self.labels:
            stored["labels"] = list(self.labels)
        if self.limit is not None:
            limit: dict[str, Any] = {"relation": self.limit.relation, "number": _to_json(self.limit.number)}
            limit |= {"errors": self.limit.errors} if self.limit.errors else {}
            limit |= {"of": [_to_json(one) for one in self.limit.of]} if self.limit.of else {}
            stored |= {"limit": limit | {"because": self.limit.because}, "met": self.met}
        return stored | ({"note": self.note} if self.note else {})

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Row:
        """The row that `to_json` wrote."""
        limit = stored.get("limit")
        if limit is not None:
            of = tuple(map(_from_json, limit.get("of", ())))
            number = _from_json(limit["number"])
            limit = Limit(limit["relation"], number, limit["because"], limit.get("errors", 0.0), of)
        values, errors = (tuple(map(_from_json, stored.get(name, ()))) for name in ("values", "errors"))
        labels, note = tuple(stored.get("labels", ())), stored.get("note", "")
        return cls(stored["decides"], stored["quantity"], values, limit, errors, labels, note)


def _row(decides: str, quantity: str, value: object, limit: Limit) -> Row:
    """Return a row with a limit, or raise ValueError if value and limit do not fit together."""
    if not isinstance(limit, Limit):
        raise ValueError(f"the limit of {quantity!r} must be made by below, at_most, above, at_least or within: got "
                         f"{shown(limit)}.")  # fmt: skip
    values, errors, labels = _listed(quantity, value)
    if limit.relation == "within" and len(limit.of) not in (1, len(values)):
        raise ValueError(f"{quantity!r} must have one target `of`, or {len(values)}: got {len(limit.of)}.")
    if limit.errors and values and not errors:
        raise ValueError(f"{quantity!r} is judged by standard errors, so its values must be of type `Estimate`.")
    return Row(decides, quantity, values, limit, errors, labels)


def given(quantity: str, value: object, limit: Limit) -> Row:
    """Row that must be met for the claim to be tried at all: if not, the verdict is "outside its assumptions".

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `limit`: what every value is compared with

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import above, given
        >>> given("runs inside the assumptions", 0, above(0, "there must be one to look at")).met
        False
    """
    return _row("given", quantity, value, limit)


def printed(quantity: str, value: object, limit: Limit) -> Row:
    """Row that must be met for the statement to hold as it is printed.

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `limit`: what every value is compared with

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import below, printed
        >>> printed("largest error", 3e-9, below(1e-8, "the integrator's tolerance is 1e-11")).met
        True
    """
    return _row("printed", quantity, value, limit)


def corrected(quantity: str, value: object, limit: Limit) -> Row:
    """Row that must be met for the statement to hold with its correction.

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `limit`: what every value is compared with

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import corrected, within
        >>> corrected("slope", 0.5, within(0.05, "a fit over one decade", of=0.5)).met
        True
    """
    return _row("corrected", quantity, value, limit)


def both(quantity: str, value: object, limit: Limit) -> Row:
    """Row that must be met for the statement to hold, as it is printed and with its correction.

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `limit`: what every value is compared with

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import above, both
        >>> both("growth", 0.3, above(0, "growth must be seen")).met
        True
    """
    return _row("both", quantity, value, limit)


def refutes(quantity: str, value: object, limit: Limit) -> Row:
    """Row that a refutation needs besides a printed row that is missed; if not met, the verdict is "outside".

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `limit`: what every value is compared with

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import above, refutes
        >>> refutes("size of the effect", 12.0, above(10, "no heavy tail explains ten errors")).met
        True
    """
    return _row("refutes", quantity, value, limit)


def fact(quantity: str, value: object, note: str = "") -> Row:
    """Row that decides nothing: a measured number that helps the reader.

    **Arguments:**

    - `quantity`: what was measured, in words; formulas are TeX between dollars
    - `value`: number, `Estimate`, list or array of them, or mapping from labels to them
    - `note`: words beside it

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import fact
        >>> fact("number of networks", 36).values
        (36.0,)
    """
    values, errors, labels = _listed(quantity, value)
    return Row(FACT, quantity, values, errors=errors, labels=labels, note=note)


def summary(sentence: str) -> Row:
    """Line that sums up what was measured, where one sentence helps more than the rows do.

    **Arguments:**

    - `sentence`: with its numbers filled in from what was measured

    **Returns** the `Row`.

    **Example:**

        >>> from linnet_papers.reproduction import summary
        >>> summary(f"The error falls from {0.839:.3f} to {0.307:.3f}.").quantity
        'The error falls from 0.839 to 0.307.'
    """
    return Row(SUMMARY, sentence)


def verdict(rows: Iterable[Row]) -> Verdict:
    """Return what the rows say of the printed statement.

    **Arguments:**

    - `rows`: all rows of a claim

    **Returns** the `Verdict`.

    **Example:**

        >>> from linnet_papers.reproduction import below, corrected, printed, verdict
        >>> limit = below(0.1, "three standard errors")
        >>> verdict([printed("error as printed", 0.5, limit), corrected("error", 0.01, limit)]).value
        'holds with the correction'
    """
    rows = list(rows)

    def met(*roles: str) -> bool:
        return all(row.met for row in rows if row.decides in roles)

    if not met("given"):
        return Verdict.OUTSIDE
    if met("printed", "both"):
        return Verdict.HOLDS
    if any(row.decides in ("corrected", "both") for row in rows) and met("corrected", "both"):
        return Verdict.CORRECTED
    return Verdict.REFUTED if met("refutes") else Verdict.OUTSIDE


def _listed(quantity: str, value: Any) -> tuple[tuple[float, ...], tuple[float, ...], tuple[str, ...]]:
    """Return values, standard errors and labels of a number, a list of numbers, or a mapping from labels to them."""
    labels = tuple(map(str, value)) if isinstance(value, Mapping) else ()
    if isinstance(value, Mapping):
        listed = list(value.values())
    elif isinstance(value, Estimate):
        listed = [value]
    elif isinstance(value, (list, tuple)):
        listed = list(value)
    else:
        listed = np.ravel(value).tolist()
    wrong = [one for one in listed if not isinstance(one, Estimate) and not _is_number(one)]
    if wrong:
        raise ValueError(f"every value of {quantity!r} must be a number or an `Estimate`: got {shown(wrong[0])}.")
    errors = tuple(float(one.error) for one in listed if isinstance(one, Estimate))
    if errors and len(errors) != len(listed):
        raise ValueError(f"either all values of {quantity!r} must be of type `Estimate`, or none.")
    return tuple(float(getattr(one, "value", one)) for one in listed), errors, labels


def _is_number(value: object) -> bool:
    """Return whether the value is one real number."""
    if isinstance(value, (list, tuple, Mapping)):
        return False
    array = np.asarray(value)
    return array.ndim == 0 and array.dtype.kind in "biuf"


def _rounded(numbers: Iterable[float], digits: int) -> tuple[float, ...]:
    """Return the numbers in so many significant digits; whole numbers, which count something, stay as they are."""
    return tuple(
        number if number % 1 == 0 and abs(number) < MOST_COUNTED else float(f"{number:.{digits}g}")
        for number in numbers
    )


def _same_side(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether each margin has the same sign in both."""
    return bool(np.array_equal(np.sign(np.nan_to_num(first)), np.sign(np.nan_to_num(second))))


def _to_json(number: float) -> float | str | None:
    """Return a number as JSON has it."""
    return number if math.isfinite(number) else None if math.isnan(number) else str(number)


def _from_json(stored: float | str | None) -> float:
    """Return the number that `_to_json` wrote."""
    return math.nan if stored is None else float(stored)
