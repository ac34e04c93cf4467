"""The feature-learning claims reach their verdicts; their rules tell numbers apart."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.papers.huang import PAPER
from linnet.papers.huang.claims import equations, experiments, kernel, lemmas, neuron_lemmas, neurons, times
from linnet.reproduction import Claim, Trial, Verdict
from linnet.reproduction.registry import claims

QUICK = Trial(quick=True, seed=4)  # not the seed that settings were chosen with
CHEAP = {"eq3", "eq7", "eq13", "minimum-norm", "lemmaB1-time", "ntk-turning", "lemmaA2", "lemmaA3", "lemmaA4"}


def short(claim: Claim) -> str:
    return claim.name.removeprefix("huang-")


@pytest.mark.parametrize(
    "claim",
    [pytest.param(c, marks=() if short(c) in CHEAP else pytest.mark.slow, id=short(c)) for c in PAPER.claims],
)
def test_verdicts_are_the_expected_ones(claim):
    measurement = claim.measurement(QUICK)
    assert measurement.verdict == claim.expected, measurement.measured
    assert any(character.isdigit() for character in measurement.measured)
    assert measurement.value is not None and np.isfinite(measurement.value)


def test_all_are_registered_in_three_parts_with_limits_that_have_reasons():
    registered = claims()
    for claim in PAPER.claims:
        assert registered[claim.name].paper == "huang"
        assert claim.judge is not None and claim.tell is not None and claim.limits
        assert all(limit.reason for limit in claim.limits.values())


def test_every_statement_is_checked_or_has_a_reason():
    assert len(PAPER.statements) >= 48
    assert sum(bool(statement.checked) for statement in PAPER.statements) >= 0.6 * len(PAPER.statements)


HOLDS, CORRECTED, REFUTED = Verdict.HOLDS, Verdict.CORRECTED, Verdict.REFUTED


@pytest.mark.parametrize(
    ("judge", "numbers", "verdict"),
    [
        (neuron_lemmas.judge_end_of_first_stage, {"worst": {0.3: 9.0, 3.0: 2.0}, "value": 2.0}, HOLDS),
        (neuron_lemmas.judge_end_of_first_stage, {"worst": {0.3: 99.0, 3.0: 2.0}, "value": 2.0}, CORRECTED),
        (neuron_lemmas.judge_end_of_first_stage, {"worst": {0.3: 99.0, 3.0: 20.0}, "value": 20.0}, REFUTED),
        (neuron_lemmas.judge_layer_gap, {"gaps": {0.3: 0.6, 3.0: 0.1}, "value": 0.1}, CORRECTED),
        (neuron_lemmas.judge_layer_gap, {"gaps": {0.3: 0.4, 3.0: 0.1}, "value": 0.1}, HOLDS),
        (neuron_lemmas.judge_layer_gap, {"gaps": {0.3: 0.4, 3.0: 0.6}, "value": 0.6}, REFUTED),
        (neuron_lemmas.judge_layer_gap, {"gaps": {0.3: np.nan, 3.0: np.nan}, "value": np.nan}, REFUTED),
        (neuron_lemmas.judge_kernel_gap, {"each": {0.3: 5.0}, "value": 0.1}, CORRECTED),
        (neuron_lemmas.judge_kernel_gap, {"each": {0.3: 5.0}, "value": 1.5}, REFUTED),
        (neurons.judge_signs, {"kept": {0.3: 0.5, 3.0: 1.0}, "value": 1.0, "off": 1.0}, CORRECTED),
        (neurons.judge_signs, {"kept": {0.3: 0.5, 3.0: 1.0}, "value": 1.0, "off": 6.0}, REFUTED),
        (neurons.judge_falling, {"value": 0.0005}, HOLDS),
        (neurons.judge_falling, {"value": 0.005}, REFUTED),
        (neurons.judge_difference, {"grown": {0.3: 0.0}, "value": 0.0}, HOLDS),
        (neurons.judge_difference, {"grown": {0.3: 0.5}, "value": 0.2}, REFUTED),
        (equations.judge_equation, {"printed": 0.01, "value": 0.2, "section_six": 0.2}, HOLDS),
        (equations.judge_equation, {"printed": np.inf, "value": 0.01, "section_six": 0.2}, REFUTED),
        (kernel.judge_minimum_norm, {"kernel": 0.4, "value": 0.5}, HOLDS),
        (kernel.judge_minimum_norm, {"kernel": 0.0, "value": 0.0}, REFUTED),
        (times.judge_convergence, {"reached": 2, "rows": 3, "highest": 0, "value": 1, "least": 1}, REFUTED),
        (times.judge_convergence, {"reached": 3, "rows": 3, "highest": 0, "value": 1, "least": 0.01}, REFUTED),
        (times.judge_first_time, {"value": np.nan, "printed": {}, "measured": {}}, REFUTED),
        (times.judge_second_time, {"value": 2.0, "bend": np.nan}, REFUTED),
        (lemmas.judge_norms, {"value": 30.0, "least": 5.0}, REFUTED),
        (experiments.judge_dichotomy, {"value": 0.5, "small": 1.0}, REFUTED),
        (experiments.judge_dichotomy, {"value": 0.01, "small": 0.5}, REFUTED),
    ],
)
def test_rules_tell_numbers_apart(judge, numbers, verdict):
    assert judge(numbers) == verdict
