"""The rules of the claims, on numbers that nobody measured."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from linnet.papers.varre import PAPER
from linnet.papers.varre.claims import growth, label_noise, limit, noise, relu
from linnet.reproduction.verification import Trial, Verdict
from linnet.theories.noise import lyapunov_exponents


def test_limits_have_reasons():
    assert all(limit.reason for claim in PAPER.claims for limit in claim.limits.values())
    assert [claim.name for claim in PAPER.claims if not claim.limits] == ["varre-interpolators"]  # whole numbers


def test_nine_statements_in_ten_are_checked():
    checked = [statement for statement in PAPER.statements if statement.checked]
    assert len(PAPER.statements) >= 69 and len(checked) >= 0.9 * len(PAPER.statements)


def test_every_claim_and_figure_is_of_a_statement():
    used = {f"varre-{name}" for statement in PAPER.statements for name in statement.checked}
    assert {claim.name for claim in PAPER.claims} | {figure.name for figure in PAPER.figures} <= used


@pytest.mark.slow
def test_a_flow_that_breaks_down_is_not_passed_over(monkeypatch):
    quick = Trial(quick=True)
    found = list(limit.paths(quick, "regression"))
    broken = dataclasses.replace(found[1], values=np.full_like(found[1].values, np.nan))
    monkeypatch.setattr(limit, "paths", lambda trial, *kinds: iter([found[0], broken, *found[2:]]))
    assert limit.judge_singular_values(limit.measure_singular_values(quick)) == Verdict.REFUTED


def test_a_commutator_of_mean_zero_would_be_believed():
    numbers: dict[str, Any] = {
        "value": 0.49,
        "uncertainty": 0.01,
        "areas": {2: (0.49, 0.01), 3: (1.4, 0.03)},
        "limit": 0.48,
        "printed": 0.0,
    }
    assert noise.judge_commutator(numbers) == Verdict.REFUTED
    assert noise.judge_commutator({**numbers, "limit": 0.7}) == Verdict.OUTSIDE
    centred = {dim: (0.5 * error, error) for dim, (_, error) in numbers["areas"].items()}
    assert noise.judge_commutator({**numbers, "areas": centred}) == Verdict.HOLDS


def as_in_theory(**changes):
    """Rates as the theory has them, with an error of 0.001."""
    dims = (2, 3, 4, 5, 6)
    exponents = {dim: lyapunov_exponents(dim) for dim in dims}
    numbers = {}
    for name, place in (("length", 0), ("outgoing", 0), ("second", 1)):
        numbers[f"{name}_theory"] = {dim: exponents[dim][place] for dim in dims}
        numbers[name] = {dim: (exponents[dim][place], 0.001) for dim in dims}
        numbers[name] |= changes.get(name, {})
    return numbers


def test_the_second_value_decides_on_the_lower_ones():
    assert growth.judge_lower_values(as_in_theory()) == Verdict.CORRECTED
    assert growth.judge_lower_values(as_in_theory(second={6: (-0.02, 0.001)})) == Verdict.HOLDS
    assert growth.judge_lower_values(as_in_theory(second={5: (+0.02, 0.001)})) == Verdict.REFUTED
    assert growth.judge_lower_values(as_in_theory(second={5: (-0.0077, 0.003)})) == Verdict.REFUTED  # not seen to decay


def test_growth_at_two_inputs_would_be_believed():
    assert growth.judge_two_inputs(as_in_theory()) == Verdict.CORRECTED
    assert growth.judge_two_inputs(as_in_theory(length={2: (0.1, 0.001)})) == Verdict.HOLDS
    assert growth.judge_two_inputs(as_in_theory(length={3: (0.0, 0.001)})) == Verdict.REFUTED
    assert growth.judge_scale(as_in_theory()) == Verdict.HOLDS
    assert growth.judge_scale(as_in_theory(outgoing={5: (0.0, 0.001)})) == Verdict.REFUTED


def test_the_difference_of_descent_and_equation_must_be_seen_to_vanish():
    numbers = {
        "gaps": [-0.02, -0.01, -0.005],
        "gap_errors": [0.001, 0.001, 0.001],
        "value": 0.5,
        "wrong": 300.0,
    }
    assert label_noise.judge_equation(numbers) == Verdict.HOLDS
    assert label_noise.judge_equation({**numbers, "gaps": [-0.02, -0.02, -0.02]}) == Verdict.REFUTED
    assert label_noise.judge_equation({**numbers, "gaps": [-0.002, -0.001, -0.0005]}) == Verdict.REFUTED  # not seen
    assert label_noise.judge_equation({**numbers, "value": 6.0}) == Verdict.REFUTED
    assert label_noise.judge_equation({**numbers, "value": math.nan}) == Verdict.REFUTED
    assert label_noise.judge_equation({**numbers, "wrong": 3.0}) == Verdict.REFUTED


def test_students_that_have_not_learned_are_left_out():
    numbers = {"value": 1.0, "seeds": 20, "out": 2}
    assert relu.judge_low_rank(numbers) == Verdict.HOLDS
    assert relu.judge_low_rank({**numbers, "out": 3}) == Verdict.OUTSIDE
    assert relu.judge_low_rank({**numbers, "value": 0.5}) == Verdict.REFUTED


def test_a_rank_of_half_the_draws_is_a_correction():
    for share, verdict in ((0.95, Verdict.HOLDS), (0.5, Verdict.CORRECTED), (0.1, Verdict.REFUTED)):
        assert relu.judge_rank_two({"value": share, "seeds": 20, "out": 0}) == verdict
        assert relu.judge_plateau({"value": share}) == verdict
