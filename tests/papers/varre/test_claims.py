"""The claims of Varre et al.: the verdicts a sound linnet gives, and verdicts on numbers that nobody measured."""

import dataclasses
import math

import numpy as np
import pytest

from linnet.papers.varre import PAPER
from linnet.papers.varre.claims import label_noise, limit, noise, relu
from linnet.reproduction.claim import Trial, Verdict

QUICK = Trial(quick=True)


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.name)
def test_verdicts(claim):
    found = claim.measurement(QUICK)
    assert found.verdict == claim.expected, found.measured
    assert any(character.isdigit() for character in found.measured)
    assert all(limit.reason for limit in claim.limits.values())


def test_every_claim_names_the_limits_it_is_judged_by():
    assert [claim.name for claim in PAPER.claims if not claim.limits and claim.name != "varre-interpolators"] == []


def test_a_flow_that_breaks_down_is_not_passed_over(monkeypatch):
    found = list(limit.paths(QUICK, "regression"))
    broken = dataclasses.replace(found[1], values=np.full_like(found[1].values, np.nan))
    monkeypatch.setattr(limit, "paths", lambda trial, *kinds: iter([found[0], broken, *found[2:]]))
    assert limit.judge_singular_values(limit.measure_singular_values(QUICK)) == Verdict.REFUTED


def test_a_commutator_of_mean_zero_would_be_believed():
    numbers = noise.measure_commutator(QUICK)
    centred = {dim: (0.5 * error, error) for dim, (_, error) in numbers["areas"].items()}
    assert noise.judge_commutator({**numbers, "areas": centred}) == Verdict.HOLDS
    assert noise.judge_commutator({**numbers, "limit": 0.7}) == Verdict.OUTSIDE


def test_lower_values_that_fall_everywhere_would_be_believed():
    numbers = noise.measure_lower_values(QUICK)
    falling = {dim: (-abs(rate) - 0.01, error) for dim, (rate, error) in numbers["second"].items()}
    assert noise.judge_lower_values({**numbers, "second": falling}) == Verdict.HOLDS
    rising = {dim: (abs(rate), error) for dim, (rate, error) in numbers["second"].items()}
    assert noise.judge_lower_values({**numbers, "second": rising}) == Verdict.REFUTED


def test_a_difference_that_does_not_vanish_with_the_rate_refutes_the_equation():
    numbers = label_noise.measure_equation(QUICK)
    shifted = {"gaps": [gap - 0.02 for gap in numbers["gaps"]], "value": numbers["value"] - 0.02 / numbers["error"]}
    assert label_noise.judge_equation({**numbers, **shifted}) == Verdict.REFUTED
    unseen = {"gaps": [0.1 * gap for gap in numbers["gaps"]]}  # a test that cannot see a difference shows nothing
    assert label_noise.judge_equation({**numbers, **unseen}) == Verdict.REFUTED
    assert label_noise.judge_equation({**numbers, "value": math.nan}) == Verdict.REFUTED


def test_students_that_have_not_learned_are_left_out():
    numbers = relu.measure_low_rank(QUICK)
    assert relu.judge_low_rank({**numbers, "out": 2}) == Verdict.HOLDS
    assert relu.judge_low_rank({**numbers, "out": 3}) == Verdict.OUTSIDE
