"""Claims of the spiked-covariance paper at their quick setting, and controls: a wrong theory changes the verdict."""

import dataclasses

import numpy as np
import pytest

from linnet.papers.watanabe.claims import early as watanabe_early
from linnet.papers.watanabe.claims import error as watanabe_error
from linnet.papers.watanabe.claims import phases as watanabe_phases
from linnet.papers.watanabe.claims import proofs as watanabe_proofs
from linnet.papers.watanabe.networks import trained
from linnet.reproduction.claim import Trial, Verdict
from linnet.theories import ridge, spiked

CLAIMS = {
    claim.name: claim
    for module in (watanabe_early, watanabe_phases, watanabe_proofs, watanabe_error)
    for claim in module.CLAIMS
}
QUICK = Trial(quick=True)


@pytest.mark.parametrize("name", CLAIMS)
def test_verdict_is_the_expected_one(name):
    measurement = CLAIMS[name].measure(QUICK)
    assert measurement.verdict == CLAIMS[name].expected, measurement.measured
    assert measurement.value is not None and np.isfinite(measurement.value)


def test_reduced_dynamics_with_the_wrong_sign_of_nu_is_refuted(monkeypatch):
    right = vars(spiked.TwoPhase)["nu"].fget
    monkeypatch.setattr(spiked.TwoPhase, "nu", property(lambda self: -right(self)))
    trained.cache_clear()
    assert CLAIMS["eq18"].measurement(QUICK).verdict == Verdict.REFUTED
    trained.cache_clear()


def test_the_printed_error_formula_is_refuted(monkeypatch):
    def wrong(spike, alignment, ratio, *, variance=1.0, normalized=False):
        kappa = ratio - 1
        return (1 - 1 / ratio) * (1 - alignment**2 * (1 - (1 + kappa) / (1 + kappa / ratio) ** 2))

    monkeypatch.setattr(spiked, "generalization_error", wrong)
    assert CLAIMS["eq27"].measurement(QUICK).verdict == Verdict.REFUTED


def test_the_error_formula_with_half_the_spike_is_refuted(monkeypatch):
    right = spiked.generalization_error
    monkeypatch.setattr(spiked, "generalization_error", lambda spike, *a, **k: right(np.asarray(spike) / 2, *a, **k))
    assert CLAIMS["eq27"].measurement(QUICK).verdict == Verdict.REFUTED


def test_a_bound_cut_by_a_third_is_refuted(monkeypatch):
    cells = watanabe_phases.table(QUICK)
    cut = [dataclasses.replace(cell, later_bound=2 / 3 * cell.later_bound) for cell in cells]
    monkeypatch.setattr(watanabe_phases, "table", lambda trial: cut)
    assert CLAIMS["eq20"].measurement(QUICK).verdict == Verdict.REFUTED


def test_the_assumption_of_the_bound_is_judged_on_the_networks(monkeypatch):
    cells = watanabe_phases.table(QUICK)
    kept = [dataclasses.replace(cell, above_from_early=True) for cell in cells]
    monkeypatch.setattr(watanabe_phases, "table", lambda trial: kept)
    assert CLAIMS["eq20-assumption"].measurement(QUICK).verdict == Verdict.HOLDS


def test_a_risk_off_by_a_tenth_is_refuted(monkeypatch):
    right = ridge.risk
    monkeypatch.setattr(ridge, "risk", lambda *a, **k: 1.1 * right(*a, **k))
    assert CLAIMS["eq23"].measurement(QUICK).verdict == Verdict.REFUTED


def test_an_early_time_off_by_a_tenth_is_refuted(monkeypatch):
    cells = watanabe_phases.table(QUICK)
    for change in ({"early_time": 1.1}, {"own_early_time": 0.98}):
        moved = [dataclasses.replace(c, **{name: by * getattr(c, name) for name, by in change.items()}) for c in cells]
        monkeypatch.setattr(watanabe_phases, "table", lambda trial, moved=moved: moved)
        assert CLAIMS["t1"].measurement(QUICK).verdict == Verdict.REFUTED
