"""The feature-learning claims reach their verdicts; their rules tell numbers apart."""

from __future__ import annotations

import numpy as np
import pytest

from linnet_papers.huang.paper import PAPER
from linnet_papers.reproduction import Claim, Estimate, Trial, Verdict

QUICK = Trial(quick=True, seed=4)  # not the seed that settings were chosen with
CHEAP = {
    "eq3",
    "eq7",
    "eq13",
    "eq13-weights",
    "minimum-norm",
    "ntk-turning",
    "lemmaA2",
    "lemmaA3",
    "lemmaA4",
    "final-loss",
}


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


def test_every_statement_is_checked_or_has_a_reason():
    assert len(PAPER.statements) >= 48
    assert sum(bool(statement.checked) for statement in PAPER.statements) >= 0.6 * len(PAPER.statements)


HOLDS, CORRECTED, REFUTED = Verdict.HOLDS, Verdict.CORRECTED, Verdict.REFUTED
LEARNED = {"reached": 3, "rows": 3, "highest": 0, "last": 0, "falls": 1}


@pytest.mark.parametrize(
    ("name", "numbers", "verdict"),
    [
        ("lemma5.2", {"worst": {0.3: 9.0, 3.0: 2.0}, "value": 2.0}, HOLDS),
        ("lemma5.2", {"worst": {0.3: 99.0, 3.0: 2.0}, "value": 2.0}, CORRECTED),
        ("lemma5.2", {"worst": {0.3: 99.0, 3.0: 20.0}, "value": 20.0}, REFUTED),
        ("lemma5.3-layers", {"gaps": {0.3: 0.6, 3.0: 0.1}, "value": 0.1}, CORRECTED),
        ("lemma5.3-layers", {"gaps": {0.3: 0.4, 3.0: 0.1}, "value": 0.1}, HOLDS),
        ("lemma5.3-layers", {"gaps": {0.3: 0.4, 3.0: 0.6}, "value": 0.6}, REFUTED),
        ("lemma5.3-layers", {"gaps": {0.3: np.nan, 3.0: np.nan}, "value": np.nan}, REFUTED),
        ("lemma5.3-kernel", {"each": {0.3: 5.0}, "value": 0.1}, CORRECTED),
        ("lemma5.3-kernel", {"each": {0.3: 5.0}, "value": 0.3}, REFUTED),
        ("signs", {"kept": {0.3: 0.5, 3.0: 1.0}, "value": 1.0, "off": 1.0}, CORRECTED),
        ("signs", {"kept": {0.3: 0.5, 3.0: 1.0}, "value": 1.0, "off": 6.0}, REFUTED),
        ("rising", {"falling": {"0.3": 0, "3": 0}, "value": 0}, HOLDS),
        ("rising", {"falling": {"0.3": 2, "3": 0}, "value": 0}, CORRECTED),
        ("rising", {"falling": {"0.3": 2, "3": 1}, "value": 1}, REFUTED),
        ("difference", {"grown": {0.3: 0.0}, "value": 0.0}, HOLDS),
        ("difference", {"grown": {0.3: 0.5}, "value": 0.2}, REFUTED),
        ("eq10", {"printed": 0.01, "value": 0.2, "section_six": 0.2, "neuron": 0.2}, HOLDS),
        ("eq10", {"printed": np.inf, "value": 0.01, "section_six": 0.2, "neuron": 0.01}, REFUTED),
        ("eq10", {"printed": np.inf, "value": 0.01, "section_six": 0.01, "neuron": 0.2}, REFUTED),
        ("minimum-norm", {"kernel": 0.4, "value": 0.5}, HOLDS),
        ("minimum-norm", {"kernel": 0.0, "value": 0.0}, REFUTED),
        ("theorem4.1", LEARNED | {"reached": 2, "value": 1, "least": 1, "corrected": [1]}, REFUTED),
        ("theorem4.1", LEARNED | {"value": 1, "least": 1, "corrected": [1]}, HOLDS),
        ("theorem4.1", LEARNED | {"value": 1, "least": 0.01, "corrected": [1]}, CORRECTED),
        ("theorem4.1", LEARNED | {"value": 1, "least": 0.01, "corrected": [1, 0.01]}, REFUTED),
        ("step", {"printed": {"quiet": 1, "noisy": 0.1}, "mended": {"quiet": 1, "noisy": 1}}, CORRECTED),
        ("step", {"printed": {"quiet": 1, "noisy": 0.1}, "mended": {"quiet": 1, "noisy": 0.9}}, REFUTED),
        ("t1", {"value": np.nan, "printed": {"m": 1.0}, "measured": {"m": 1.0}}, REFUTED),
        ("t1", {"value": 0.1, "printed": {"m": 1.0}, "measured": {"m": Estimate(1.1, 0.04)}}, HOLDS),
        ("t1", {"value": 0.1, "printed": {"m": 1.0}, "measured": {"m": Estimate(1.1, 0.01)}}, CORRECTED),
        (
            "t2",
            {"value": 2.0, "bend": np.nan, "exponents": {"m": 1.0}, "stated": {"m": 1.0}, "off": {"m": 0.0}},
            REFUTED,
        ),
        (
            "t2",
            {"value": 2.0, "bend": 0.0, "exponents": {"m": 0.8}, "stated": {"m": 1.0}, "off": {"m": 0.05}},
            CORRECTED,
        ),
        ("lemmaA2", {"value": 30.0, "least": 5.0}, REFUTED),
        ("dichotomy", {"value": 0.5, "small": 1.0}, REFUTED),
        ("dichotomy", {"value": 0.01, "small": 0.5}, REFUTED),
    ],
)
def test_rules_tell_numbers_apart(name, numbers, verdict):
    (claim,) = [claim for claim in PAPER.claims if short(claim) == name]
    assert claim.verdict(numbers) == verdict
