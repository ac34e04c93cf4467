"""The claims of Varre et al.: the verdicts a sound linnet gives, and that a wrong formula changes them."""

import dataclasses

import numpy as np
import pytest

from linnet.papers.varre.claims import dynamics as varre_dynamics
from linnet.papers.varre.claims import label_noise as varre_label_noise
from linnet.papers.varre.claims import limit as varre_limit
from linnet.papers.varre.claims import mirror as varre_mirror
from linnet.papers.varre.claims import noise as varre_noise
from linnet.papers.varre.claims import relu as varre_relu
from linnet.reproduction.claim import Trial, Verdict

QUICK = Trial(quick=True)
MODULES = (varre_limit, varre_dynamics, varre_mirror, varre_noise, varre_label_noise, varre_relu)
EVERY = [claim for module in MODULES for claim in module.CLAIMS]


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.name)
def test_verdicts(claim):
    found = claim.measurement(QUICK)
    assert found.verdict == claim.expected, found.measured
    assert any(character.isdigit() for character in found.measured)


def test_a_wrong_limit_is_refuted(monkeypatch):
    import linnet.theories.spectral_bias as theory

    right = theory.final_singular_values
    monkeypatch.setattr(theory, "final_singular_values", lambda values, gamma, dim: right(values, 1.001 * gamma, dim))
    assert varre_limit.measure_singular_values(QUICK).verdict == Verdict.REFUTED


def test_twice_the_part_across_the_predictor_is_refuted(monkeypatch):
    monkeypatch.setattr(varre_limit, "predicted_across", lambda path: 2 * path.across)
    assert varre_limit.measure_alignment(QUICK).verdict == Verdict.REFUTED


def test_a_flow_that_breaks_down_is_not_passed_over(monkeypatch):
    found = list(varre_limit.paths(QUICK, "regression"))
    broken = dataclasses.replace(found[1], values=np.full_like(found[1].values, np.nan))
    monkeypatch.setattr(varre_limit, "paths", lambda trial, *kinds: iter([found[0], broken, *found[2:]]))
    assert varre_limit.measure_singular_values(QUICK).verdict == Verdict.REFUTED


def test_a_wrong_mirror_is_refuted(monkeypatch):
    import linnet.theories.spectral_bias as theory

    monkeypatch.setattr(theory, "mirror", lambda values, gamma: np.arcsinh(values / gamma))
    assert varre_mirror.measure_mirror(QUICK).verdict == Verdict.REFUTED


def test_a_wrong_evolution_is_refuted(monkeypatch):
    import linnet.theories.spectral_bias as theory

    right = theory.singular_values
    monkeypatch.setattr(theory, "singular_values", lambda values, gamma, times: right(values, gamma, 1.0001 * times))
    assert varre_dynamics.measure_evolution(QUICK).verdict == Verdict.REFUTED


def test_a_commutator_of_mean_zero_would_be_believed(monkeypatch):
    right = varre_noise.process

    def centred(trial, dim, **tilted):
        paths = right(trial, dim, **tilted)
        return paths.assign(area=0.5 * paths["area_error"])

    monkeypatch.setattr(varre_noise, "process", centred)
    assert varre_noise.measure_commutator(QUICK).verdict == Verdict.HOLDS


def test_wrong_mean_squares_are_refuted(monkeypatch):
    import linnet.theories.noise as theory

    right = theory.second_moments
    monkeypatch.setattr(theory, "second_moments", lambda times, *a, **k: right(1.05 * np.asarray(times), *a, **k))
    assert varre_noise.measure_moments(QUICK).verdict == Verdict.REFUTED


def test_a_wrong_limit_of_the_mean_commutator_is_an_alarm(monkeypatch):
    import linnet.theories.noise as theory

    monkeypatch.setattr(theory, "commutator_mean_limit", lambda determinant=1.0: 0.7)
    assert varre_noise.measure_commutator(QUICK).verdict != Verdict.REFUTED


def test_a_wrong_drift_of_the_scale_is_refuted(monkeypatch):
    import linnet.theories.noise as theory

    monkeypatch.setattr(theory, "scale_drift", lambda dim: dim - 1)
    assert varre_noise.measure_scale(QUICK).verdict == Verdict.REFUTED


def test_lower_values_that_fall_everywhere_would_be_believed(monkeypatch):
    right = varre_noise.process

    def falling(trial, dim, **tilted):
        paths = right(trial, dim, **tilted)
        return paths.assign(log_value_change=-abs(paths["log_value_change"]))

    monkeypatch.setattr(varre_noise, "process", falling)
    assert varre_noise.measure_lower_values(QUICK).verdict == Verdict.HOLDS
