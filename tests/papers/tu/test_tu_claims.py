"""The claims of Tu et al.: their verdicts at the quick settings, and rules that judge numbers nobody measured."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from linnet.papers.tu import PAPER, misprints
from linnet.papers.tu.claims import descent, gram, phase_diagram, stages
from linnet.reproduction import Trial, Verdict
from linnet.theories import mixed

QUICK = Trial(quick=True)
ALL = {claim.name.removeprefix("tu-"): claim for claim in PAPER.claims}
FAST = (
    "tools",
    "lemma-a4",
    "lemma-c5",
    "lemma-c6",
    "lemma-b3",
    "eq2",
    "balanced-step",
    "lemma-f1",
    "start",
    "start-values",
    "lazy",
)


def check(name: str) -> None:
    measurement = ALL[name].measurement(QUICK)
    assert measurement.verdict == ALL[name].expected, measurement.measured
    assert measurement.value is not None and np.isfinite(measurement.value)
    assert not re.search(r"\bnan\b", measurement.measured)  # a determinant may be spoken of


@pytest.mark.parametrize("name", FAST)
def test_the_verdict_is_the_expected_one(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if name not in FAST])
def test_the_verdict_of_trained_networks_is_the_expected_one(name: str) -> None:
    check(name)


def test_claims_are_complete() -> None:
    assert len(ALL) == 42
    for claim in ALL.values():
        fields = dataclasses.asdict(claim)
        assert all(fields[name] for name in ("sentence", "assumptions", "setting", "claimed", "number"))
        assert claim.judge is not None and claim.tell is not None
        assert all(limit.reason for limit in claim.limits.values())


def test_every_claim_covers_a_statement_and_nine_tenths_are_covered() -> None:
    named = {name for statement in PAPER.statements for name in statement.checked}
    assert set(ALL) <= named
    assert len(PAPER.statements) >= 72
    assert sum(bool(statement.checked) for statement in PAPER.statements) >= 0.9 * len(PAPER.statements)


def test_rules_judge_numbers_by_themselves() -> None:
    assert gram.judge_weak({"value": 1.0}) == Verdict.HOLDS and gram.judge_weak({"value": 1.2}) == Verdict.REFUTED
    assert gram.judge_weak({"value": np.nan}) == Verdict.REFUTED
    assert descent.judge_bounded({"value": np.nan}) == Verdict.REFUTED
    assert phase_diagram.judge_published({"value": 0.029}) == Verdict.HOLDS
    assert phase_diagram.judge_published({"value": 0.031}) == Verdict.REFUTED
    spectra = {"(1)": {"end": [0.9, 0.3]}, "(1, 1/2)": {"end": [1.0, 0.4]}}
    assert phase_diagram.judge_active({"spectra": spectra, "value": 0.4, "least": 0.1}) == Verdict.HOLDS
    assert phase_diagram.judge_active({"spectra": spectra, "value": 0.9, "least": 0.1}) == Verdict.OUTSIDE
    assert phase_diagram.judge_active({"spectra": spectra, "value": 0.9, "least": 0.6}) == Verdict.REFUTED
    growth = {"value": 1.0, "own": 2.0}
    assert stages.judge_growth(growth) == Verdict.HOLDS
    assert stages.judge_growth({"value": 0.45, "own": 1.01}) == Verdict.CORRECTED
    assert stages.judge_growth({"value": 0.45, "own": 1.5}) == Verdict.REFUTED


def test_printed_forms_are_other_numbers() -> None:
    spectrum, gammas = [2.0, 1.0], (-1.75, 2.5)  # Delta = 1/4: printed max(1, 1/2) = 1
    unit = np.log(100) / 100
    printed = misprints.stage_lengths(spectrum, *gammas, dim=100)
    np.testing.assert_allclose(sum(printed.values()), (0.25 + 2 * 3 + 0.5) * unit)  # c(a) = 1/3
    assert sum(printed.values()) != pytest.approx(mixed.stopping_time(spectrum, *gammas, dim=100))
    with pytest.raises(ValueError, match="two different values"):
        misprints.spectrum_constant([1.0, 1.0])
    assert misprints.descent_bound(0.1, 1) == 0 and misprints.final_alignment(2.0) == 4
