"""One call, watched: what it did, held against the rules."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz import documented, oracles
from fuzz.cases import Case, target, value_of
from fuzz.mutations import INFINITE, MASKED, ODD, SAME, WRONG
from fuzz.surface import is_missing_extra

LIMIT = 20.0  # seconds of the processor: those of the clock depend on what else the machine does
LEFT_OUT = "left out"
PATIENCE = 6  # so many times as long by the clock, for a call that waits and does not compute


class OutOfTimeError(BaseException):
    """Not an Exception: what catches those must not swallow it."""


@dataclass
class Outcome:
    """How a call ended, and which rules it broke, each with what was seen."""

    label: str
    ended: str  # "returned", "refused", or left out for want of a package
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> bool:
        """Whether a package was missing."""
        return self.ended.startswith(LEFT_OUT)


def broken(outcomes: Iterable[Outcome]) -> list[str]:
    """The rules that calls broke, in words."""
    return [
        f"{outcome.label}: {rule} ({oracles.RULES[rule]}): {seen}"
        for outcome in outcomes
        for rule, seen in outcome.broken.items()
    ]


def called(case: Case, *, limit: float = LIMIT) -> Outcome:
    """Makes the call and judges it."""
    example = case.example
    try:
        function = target(example)
        arguments = {name: value_of(argument) for name, argument in example.arguments.items()}
    except ModuleNotFoundError as reason:
        if not is_missing_extra(reason):
            raise
        return _left_out(case, reason)
    arguments |= {name: mutation.value for name, mutation in case.changed.items()}
    before = {name: value.copy() for name, value in arguments.items() if _is_plain(value)}
    result, error, warned = _watched(function, arguments, limit)
    outcome = Outcome(case.label, "returned" if error is None else "refused")
    if isinstance(error, ModuleNotFoundError) and is_missing_extra(error):
        return _left_out(case, error)
    broken = outcome.broken
    if isinstance(error, OutOfTimeError):
        broken["too slow"] = f"not done after {limit:g} s"
        return outcome
    if warned and example.name not in documented.WARNS:
        broken["stray warning"] = warned
    for name, value in before.items():
        if not np.array_equal(value, arguments[name], equal_nan=True):
            broken["argument changed"] = name
    if error is not None:
        complaint = oracles.clear(error, {*example.arguments, *example.names})
        if not case.changed:
            broken["example fails"] = complaint or str(error)
        elif complaint:
            broken["unclear error"] = complaint
        return outcome
    _judge(case, function, arguments, result, broken, limit)
    return outcome


def _left_out(case: Case, reason: ModuleNotFoundError) -> Outcome:
    """The outcome of a call that needs an optional package which is not installed here."""
    return Outcome(case.label, f"{LEFT_OUT} for want of {str(reason.name).split('.')[0]}")


def _judge(
    case: Case, function: Any, arguments: dict[str, Any], result: Any, broken: dict[str, str], limit: float
) -> None:
    """The rules for what a call returned."""
    example, kinds = case.example, {mutation.kind for mutation in case.changed.values()}
    if MASKED in kinds:
        broken["mask ignored"] = "masked entries were taken for numbers"
    for name, mutation in case.changed.items():
        if mutation.kind == INFINITE and name not in example.nan:
            broken["NaN believed"] = f"{name} was {mutation.label}"
        if mutation.kind == WRONG:
            broken["wrong type believed"] = f"{name} was {mutation.label}"
    if other := oracles.foreign(result):
        broken["depends on type"] = f"the result is a {other}"
    may = example.name in documented.NOT_FINITE or not kinds <= {ODD, SAME} or oracles.failed(result)
    if not may and not oracles.finite(result):
        broken["not finite" if case.changed else "example fails"] = f"the result is {_told(result)}"
    if SAME in kinds:
        plain = {name: mutation.same for name, mutation in case.changed.items() if mutation.kind == SAME}
        wanted, error, _ = _watched(function, {**arguments, **plain}, limit)
        if error is not None:
            broken["depends on type"] = f"refused as plain float64: {error}"[:200]
        else:
            gap = oracles.difference(result, wanted)
            if gap > documented.DISTANCE.get(example.name, 1e-9):
                broken["depends on type"] = f"results differ by {gap:.2g}"


def _watched(function: Any, arguments: dict[str, Any], limit: float) -> tuple[Any, BaseException | None, str]:
    """Result, error and first warning of a call that is interrupted after the limit."""
    with warnings.catch_warnings(record=True) as seen, _interrupted(limit):
        warnings.simplefilter("always")
        quiet = io.StringIO()
        result, error = None, None
        try:
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                result = function(**arguments)
        except (Exception, OutOfTimeError) as caught:
            error = caught
    return result, error, f"{seen[0].category.__name__}: {seen[0].message}"[:200] if seen else ""


@contextlib.contextmanager
def _interrupted(limit: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise OutOfTimeError

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, limit), (signal.SIGALRM, signal.ITIMER_REAL, PATIENCE * limit))
    before = [signal.signal(number, ring) for number, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and not isinstance(value, np.ma.MaskedArray)


def _told(result: Any) -> str:
    for part in oracles.numbers(result):
        if not np.isfinite(part).all():
            return f"{part.ravel()[~np.isfinite(part.ravel())][0]} among {part.shape}"
    return "finite"
