"""Rows: what they judge, how they are rounded and stored, which verdict follows, and what is refused."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from linnet_papers.reproduction import (
    Claim,
    Estimate,
    Range,
    Result,
    Row,
    Trial,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    both,
    corrected,
    fact,
    given,
    printed,
    refutes,
    summary,
    verdict,
    verify,
    within,
)
from linnet_papers.testing import check_rows, flipped

HOLDS, CORRECTED, REFUTED, OUTSIDE = Verdict
WHY = "three words long"
ROLES = {"g": given, "p": printed, "c": corrected, "b": both, "r": refutes}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("p", HOLDS), ("P", REFUTED), ("gp", HOLDS), ("Gp", OUTSIDE), ("Pc", CORRECTED), ("PC", REFUTED), ("pC", HOLDS),
        ("Pb", CORRECTED), ("pB", REFUTED), ("pb", HOLDS), ("Pr", REFUTED), ("PR", OUTSIDE), ("PcB", REFUTED),
        ("pR", HOLDS),
    ],
)  # fmt: skip
def test_the_verdict_follows_from_the_rows(rows: str, expected: Verdict) -> None:
    """A letter for each role; a capital is a row that is missed. What is not judged plays no part."""
    made = [ROLES[one.lower()]("x", one.isupper(), below(0.5, WHY)) for one in rows]
    assert verdict([*made, fact("x", 9), summary("x is 9")]) == expected


@pytest.mark.parametrize(
    ("limit", "good", "bad"),
    [
        (below(1, WHY), 0.999, 1.0),
        (at_most(1, WHY), 1.0, 1.001),
        (above(1, WHY), 1.001, 1.0),
        (at_least(1, WHY), 1.0, 0.999),
        (within(0.5, WHY, of=2), 2.4, 1.4),
        (within(0.1, WHY, of={"a": 1, "b": 2}), {"a": 1.05, "b": 1.95}, {"a": 1.95, "b": 1.05}),
        (below(1, WHY, errors=3), Estimate(0.8, 0.05), Estimate(0.8, 0.07)),
        (above(1, WHY, errors=3), Estimate(1.2, 0.05), Estimate(1.2, 0.07)),
        (within(0.1, WHY, of=1, errors=3), Estimate(0.8, 0.07), Estimate(0.8, 0.05)),
    ],
)
def test_a_limit_is_met_on_one_side_by_every_value(limit: Any, good: Any, bad: Any) -> None:
    row, other = printed("x", good, limit), printed("x", bad, limit)
    assert row.met and not other.met
    assert flipped(row).met is False and flipped(other).met is True
    if len(row.values) == 1:
        mixed = printed("x", {"a": good, "b": bad}, limit)
        assert not mixed.met and mixed.labels[mixed.worst] == "b"
        assert not printed("x", [], limit).met
        lost = Estimate(nan, 0.1) if isinstance(good, Estimate) else nan
        assert not printed("x", [good, lost], limit).met


def test_rows_are_stored_in_few_digits_that_keep_each_value_on_its_side() -> None:
    for limit in (below(1, WHY), at_most(1, WHY), above(1, WHY), within(1, WHY, of=2)):
        for value in (0.99996, [0.5, 1.00004], {"a": 1.0, "b": 0.9999}, inf, nan):
            row = printed("x", value, limit)
            stored = Row.from_json(json.loads(json.dumps(row.rounded().to_json(), allow_nan=False)))
            assert stored.met == row.met and stored.limit == limit and stored.labels == row.labels
            for one, before in zip(stored.values, row.values, strict=True):
                assert printed("x", one, limit).met == printed("x", before, limit).met
    assert printed("x", 0.123456, below(1, WHY)).rounded().values == (0.123,)
    assert fact("networks", 1234).rounded().values == (1234.0,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: below(1, "small"), "must give its reason in words: got 'small' for 1"),
        (lambda: within(1, WHY, of=()), "`of` must be given for `within`"),
        (lambda: printed("x", 1.0, 0.5), "'x' must be made by below, at_most, above, at_least or within: got 0.5"),
        (lambda: printed("x", "much", below(1, WHY)), "every value of 'x' must be a number or an `Estimate`"),
        (lambda: printed("x", [1.0, [2.0, 3.0]], below(1, WHY)), "every value of 'x' must be a number"),
        (lambda: printed("x", [1.0, Estimate(1, 2)], below(1, WHY)), "either all values of 'x' must be of type"),
        (lambda: printed("x", 1.0, below(1, WHY, errors=2)), "'x' is judged by standard errors"),
        (lambda: printed("x", [1.0, 2.0, 3.0], within(1, WHY, of=[1, 2])), "must have one target `of`, or 3: got 2"),
        (lambda: Trial().region(3), "the claim has no region"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        make()


def claim(*rows: Row, **words: Any) -> Claim:
    return Claim(name="toy", where="1", says="So.", tried="once", measure=lambda trial: rows, **words)


SOUND = printed("x", 0.5, below(1, WHY))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (claim(corrected("x", 1, below(2, WHY)), correction="x"), "must yield a row that decides whether it holds"),
        (claim(SOUND, corrected("x", 1, below(2, WHY))), "must have both a `correction` and corrected rows"),
        (claim(SOUND, correction="something else"), "must have both a `correction` and corrected rows"),
        (claim(SOUND, SOUND), "two rows of the claim 'toy' are both 'printed x'"),
        (claim(3), "must yield rows: got 3"),  # type: ignore[arg-type]
    ],
)
def test_rows_from_which_nothing_follows_are_an_error_of_the_claim(one: Claim, words: str) -> None:
    (found,) = verify([one], Trial())
    assert words in found.error and found.verdict == "no verdict" and not found.as_expected


def test_a_region_has_its_corners_and_draws_inside_it() -> None:
    seen: list[dict[str, dict[str, float]]] = []

    def measure(trial: Trial) -> list[Row]:
        seen.append(trial.region(30))
        return [SOUND]

    region = {"spike": Range(0.2, 100, log=True), "alignment": (0.05, 0.95), "dim": Range(3, 9, whole=True)}
    one = Claim(name="toy", where="1", says="So.", tried="once", measure=measure, region=region)
    verify([one], Trial(seed=1))
    verify([one], Trial(seed=2))
    settings = list(seen[0].values())
    assert len(settings) == 38 and {(s["spike"], s["alignment"], s["dim"]) for s in settings[:8]} == {
        (spike, alignment, dim) for spike in (0.2, 100) for alignment in (0.05, 0.95) for dim in (3, 9)
    }
    inside = settings[8:]
    assert all(0.2 <= s["spike"] <= 100 and 0.05 <= s["alignment"] <= 0.95 and s["dim"] in range(3, 10) for s in inside)
    assert 5 < sum(s["spike"] < np.sqrt(20) for s in inside) < 25  # half of them, on a logarithmic scale
    assert "spike 0.2, alignment 0.05, dim 3" in seen[0] and list(seen[1])[8:] != list(seen[0])[8:]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([SOUND, printed("y", 0.5, at_most(9, WHY))], ""),
        ([SOUND, printed("y", 0.5, below(1, WHY))], "two rows judge the same numbers"),
        ([printed("value", 0.5, below(1, WHY))], "say in words what was measured"),
        ([printed("x", 0.5, below(1, "two words"))], "say why below 1"),
        ([SOUND, corrected("y", 0.25, below(1, WHY))], ""),
        ([SOUND, refutes("y", 0.25, below(1, WHY))], ""),
        ([printed("x", 2.5, below(1, WHY))], "is refuted"),
    ],
)
def test_a_row_that_decides_nothing_is_seen(rows: list[Row], words: str) -> None:
    found = Result("toy", "holds", tuple(rows))
    if not words:
        return check_rows(found, "holds")
    with pytest.raises(AssertionError, match=words):
        check_rows(found, "holds")
