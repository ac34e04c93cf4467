"""Tests of claims, for linnet's papers and for those of other packages. Two lines of a package's own tests are enough:

    from linnet_papers.testing import claims_tests
    test_rows, test_mutations = claims_tests(PAPER, MUTATIONS)

`test_rows` looks at every claim, as it was measured last (`linnet verify NAME --quick --record`) or anew: it has the
published verdict, each of its rows decides, and a correction is scanned over its region. `test_mutations` makes each
deliberate error, and sees the verdict of its claim turn.

All functions below `Mutation` return an error that is made by being called with a pytest `MonkeyPatch`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from linnet_papers.reproduction import record
from linnet_papers.reproduction.measurement import Claim, Result, Trial, measure
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.rows import SUMMARY, Row, verdict

if TYPE_CHECKING:
    import pytest

    Error = Callable[[pytest.MonkeyPatch], None]
else:
    Error = Callable

QUICK = Trial(quick=True)
SCALE_FACTOR = 10.0  # over which a correction holds in every scale, beyond the paper's own values
MOST_DRAWS = 200  # of settings inside a region


class Mutation(NamedTuple):
    """An error and the claim whose verdict it turns.

    `quick` ones are made in every run of linnet's tests, the others by `make test-claims`. One that `retrains` changes
    what is trained or recorded: networks that were kept are forgotten before it and after it.
    """

    claim: str
    error: Error
    quick: bool = False
    retrains: bool = False


def wrong(owner: Any, name: str, mistaken: Callable[[Any], Any]) -> Error:
    """Replace an attribute of a module or class by `mistaken` of the right one; of a property, its value."""

    def error(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        if isinstance(right, property):
            patch.setattr(owner, name, property(lambda self: mistaken(right.__get__(self))))
        else:
            patch.setattr(owner, name, mistaken(right))

    return error


def result(owner: Any, name: str, change: Callable[[Any], Any]) -> Error:
    """Change what a function returns."""
    return wrong(owner, name, lambda right: lambda *args, **named: change(right(*args, **named)))


def scaled(owner: Any, name: str, factor: float) -> Error:
    """Multiply what a function returns, or every entry of it."""

    def multiplied(found: Any) -> Any:
        if isinstance(found, dict):
            return {key: factor * value for key, value in found.items()}
        return tuple(factor * part for part in found) if isinstance(found, tuple) else factor * found

    return result(owner, name, multiplied)


def argument(owner: Any, name: str, which: int | str, change: Callable[[Any], Any]) -> Error:
    """Change one argument of a function: by its position, or by its name."""

    def mistaken(right: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            if isinstance(which, str):
                bound = inspect.signature(right).bind(*args, **named)
                bound.arguments[which] = change(bound.arguments[which])
                return right(*bound.args, **bound.kwargs)
            return right(*args[:which], change(args[which]), *args[which + 1 :], **named)

        return called

    return wrong(owner, name, mistaken)


def times(factor: float) -> Callable[[Any], Any]:
    """Return the function that multiplies by a number."""
    return lambda value: factor * value


def always(owner: Any, name: str, **values: Any) -> Error:
    """Call a function with these keyword arguments, whatever it is given for them."""
    return wrong(owner, name, lambda right: lambda *args, **named: right(*args, **named | values))


def claims_tests(paper: Paper, mutations: Mapping[str, Mutation], trial: Trial = QUICK) -> tuple[Any, Any]:
    """Return two test functions for pytest: one of the recorded rows of every claim, one of every mutation."""
    import pytest

    short = [claim.short for claim in paper.claims]

    @pytest.mark.parametrize("name", short)
    def test_rows(name: str) -> None:
        check_record(paper, name)
        check_region(_claim(paper, name), result_of(paper, name).rows)

    @pytest.mark.parametrize("name", mutations)
    def test_mutations(name: str) -> None:
        assert {mutation.claim for mutation in mutations.values()} == set(short), "each claim must have its mutation"
        check_mutation(paper, mutations[name], trial)

    return test_rows, test_mutations


def check_record(paper: Paper, name: str) -> None:
    """Raise AssertionError unless the claim has its verdict in the record, and each row decides.

    One that is not recorded yet is measured.
    """
    check_rows(result_of(paper, name), _claim(paper, name).expected)


def result_of(paper: Paper, name: str) -> Result:
    """Return what was measured of a claim by its record; one that is not recorded yet is measured."""
    claim = _claim(paper, name)
    known = record.read(paper.record).claims.get(claim.name)
    return sound(claim) if known is None else known.result


def check_region(claim: Claim, rows: Sequence[Row]) -> None:
    """Raise AssertionError unless a claim with a correction has a region, or the reason why it needs none, and rows
    that were scanned over exactly this region."""
    if not claim.region:
        reason = len(claim.no_region.split()) > 2
        assert reason or not claim.correction, f"give {claim.name} the `region` of its correction, or say `no_region`"
        return
    assert not claim.no_region, f"{claim.name} has a region, and a reason why it has none"
    for name, ends in claim.region.items():
        assert ends.low < ends.high, f"{name} must have two ends"
        assert all(ends.low <= value <= ends.high for value in ends.paper), (
            f"{name} must reach the paper's {ends.paper}"
        )
        if ends.log:
            enough = SCALE_FACTOR * max(ends.paper, default=1.0) / min(ends.paper, default=1.0) * (1 - 1e-9)
            outside = any(row.limit is not None and row.quantity == ends.ends for row in rows)
            assert ends.high / ends.low >= enough or outside, (
                f"{name} of {claim.name} must span a factor of {enough:g}, or a row must show that it fails outside"
            )
    roles = ("corrected", "both") if claim.correction else ("printed", "both")
    scanned = [row.quantity for row in rows if row.decides in roles and _is_scanned(claim, row)]
    assert scanned, f"no row of {claim.name} has the settings of `trial.region` for its labels"


def _is_scanned(claim: Claim, row: Row) -> bool:
    """Return whether the values of a row belong to the settings that `trial.region` gives for the claim's region."""
    trial = replace(QUICK, ranges=claim.region)
    corners = len(trial.region(0))
    drawn = range(max(0, len(row.labels) - corners), MOST_DRAWS)
    return len(row.labels) >= corners and any(tuple(trial.region(draws)) == row.labels for draws in drawn)


def check_rows(found: Result, expected: str) -> None:
    """Raise AssertionError unless rows have the expected verdict, each of them decides, and none does so twice."""
    assert found.verdict == expected, f"{found.name} is {found.verdict}"
    limited = [row for row in found.rows if row.limit is not None]
    for row in limited:
        assert row.limit is not None and len(row.limit.because.split()) > 2, f"say why {row.limit} for {row.quantity}"
        assert row.quantity not in ("", "value"), "say in words what was measured"
        assert flipped(row).met != row.met
        assert not replace(row, values=(), errors=(), labels=()).met, f"nothing meets the limit of {row.quantity}"
        missing = replace(row, values=(*row.values[:-1], nan))
        assert not missing.met, f"NaN meets the limit of {row.quantity}"
        sound = _state_it_decides(found.rows, row)
        turned = [flipped(one) if one == _row_of(sound, row) else one for one in sound]
        assert verdict(sound) != verdict(turned), f"{row.decides} {row.quantity} decides nothing"
    same = [
        (row.decides, row.values, row.limit and (row.limit.relation, row.limit.number))
        for row in limited
        if any(value % 1 for value in row.values)  # whole numbers are the same by chance: 1 of 1, 0 of them
    ]
    twice = [entry for entry in same if same.count(entry) > 1]
    assert not twice, f"two rows judge the same numbers, so one of them decides nothing: {twice[0]}"


def _row_of(rows: Sequence[Row], row: Row) -> Row:
    """Return the row with the same role and quantity."""
    return next(one for one in rows if (one.decides, one.quantity) == (row.decides, row.quantity))


def flipped(row: Row) -> Row:
    """Return the row on the other side of its limit: its last value is moved there, or all of them are moved back."""
    assert row.limit is not None
    limit = row.limit
    far = 10 * (abs(limit.number) + limit.errors * max(row.errors, default=0.0) + 1)
    bad, good = (-far, far) if limit.relation in ("above", "at least") else (far, -far)
    if limit.relation == "within":
        targets = limit.of if len(limit.of) == len(row.values) else limit.of * len(row.values)
        return replace(row, values=(*row.values[:-1], targets[-1] + far) if row.met else targets)
    return replace(row, values=(*row.values[:-1], bad) if row.met else (good,) * len(row.values))


def _state_it_decides(rows: Sequence[Row], row: Row) -> list[Row]:
    """Return the rows in a state in which this one alone stands between two verdicts, and is met."""
    if row.decides in ("given", "printed", "both"):
        met, missed = {"given", "printed", "both"}, set()
    elif row.decides == "corrected":
        met, missed = {"given", "corrected", "both"}, {"printed"}
    else:
        met, missed = {"given", "refutes"}, {"printed", "corrected", "both"}
    state = []
    for one in rows:
        turn = one.limit is not None and ((one.decides in met and not one.met) or (one.decides in missed and one.met))
        state.append(flipped(one) if turn else one)
    return state


def check_mutation(paper: Paper, mutation: Mutation, trial: Trial = QUICK) -> None:
    """Raise AssertionError unless the claim has its verdict without the error, and another one with it."""
    import pytest

    claim = _claim(paper, mutation.claim)
    right = sound(claim, trial)
    assert right.verdict == claim.expected, (
        f"before any mistake is made, {claim.name} is {right.verdict!s} at seed {trial.seed}, not {claim.expected!s}:"
        f" {_missed(right)}; look at more seeds: `linnet verify {claim.name} --quick --seeds 20`"
    )
    known = record.read(paper.record).claims.get(claim.name)
    if known is not None:
        again = f"`linnet verify {claim.name} --quick --record`"
        assert _names(right) == _names(known.result), f"the rows of this run are not the recorded ones: {again}"
    assert not any(isnan(value) for row in right.rows if row.limit for value in row.values), right
    with forgotten(claim) if mutation.retrains else nullcontext(), pytest.MonkeyPatch.context() as patch:
        mutation.error(patch)
        turned = measure(claim, trial)
    assert not turned.error, turned.error
    assert turned.verdict != claim.expected, [(row.quantity, row.values, str(row.limit)) for row in turned.rows]


def _missed(result: Result) -> list[tuple[str, tuple[float, ...], str]]:
    """Return the rows that miss their limits: quantity, values and limit."""
    return [(row.quantity, row.values, str(row.limit)) for row in result.rows if row.limit and not row.met]


_SOUND: dict[tuple[str, Trial], Result] = {}  # what was measured without an error


def sound(claim: Claim, trial: Trial = QUICK) -> Result:
    """Return what is measured without an error; once in a process."""
    key = claim.name, trial
    if key not in _SOUND:
        _SOUND[key] = measure(claim, trial)
    return _SOUND[key]


@contextmanager
def forgotten(claim: Claim) -> Iterator[None]:
    """Clear what the claims of a package keep for each other, before the block and after it."""
    _forget(claim)
    yield
    _forget(claim)


def _forget(claim: Claim) -> None:
    """Clear the caches of all modules of the claim's package."""
    package = claim.measure.__module__.split(".")
    home = ".".join(package[:2]) if package[0] == "linnet_papers" else package[0]
    modules = [module for name, module in list(sys.modules.items()) if f"{name}.".startswith(f"{home}.")]
    for kept in {value for module in modules for value in vars(module).values() if hasattr(value, "cache_clear")}:
        kept.cache_clear()


def _names(found: Result) -> list[tuple[str, str]]:
    """Return role and quantity of each row."""
    return [(row.decides, row.quantity) for row in found.rows if row.decides != SUMMARY]


def _claim(paper: Paper, short: str) -> Claim:
    """Return the claim of a paper by its short name."""
    return next(claim for claim in paper.claims if claim.short == short)
