"""The feature-learning claims reach their verdicts, and a wrong theory changes them."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.papers.huang.claims import equations as huang_equations
from linnet.papers.huang.claims import kernel as huang_kernel
from linnet.papers.huang.claims import lemmas as huang_lemmas
from linnet.papers.huang.claims import stages as huang_stages
from linnet.papers.huang.claims import times as huang_times
from linnet.papers.huang.runs import section_six
from linnet.reproduction.claim import Trial, Verdict
from linnet.reproduction.registry import claims
from linnet.theories.feature_learning import Stages

QUICK = Trial(quick=True, seed=4)  # not the seed that settings were chosen with
OWN = [c for module in (huang_equations, huang_kernel, huang_lemmas, huang_stages, huang_times) for c in module.CLAIMS]


@pytest.mark.parametrize("claim", OWN, ids=lambda claim: claim.name)
def test_verdicts_are_the_expected_ones(claim):
    measurement = claim.measurement(QUICK)
    assert measurement.verdict == claim.expected, measurement.measured
    assert any(character.isdigit() for character in measurement.measured)
    assert measurement.value is not None and np.isfinite(measurement.value)


def test_a_run_that_stops_before_what_is_measured_is_an_error():
    short = section_six(4, dim=300, width=40, steps=3)
    with pytest.raises(RuntimeError, match="never falls to 1e-06 of its start: the run is too short"):
        short.reached(1e-6)


def test_all_are_registered_under_their_paper():
    registered = claims()
    assert all(registered[f"huang-{claim.name}"].paper == "huang" for claim in OWN)


def test_a_plane_without_the_mean_is_no_correction(monkeypatch):
    right = Stages.plane
    monkeypatch.setattr(Stages, "plane", lambda self, *a, **k: right(self, *a, **{**k, "printed": True}))
    assert huang_equations.measure_plane(QUICK).verdict == Verdict.REFUTED


def test_a_linear_stage_with_the_wrong_rate_is_refuted(monkeypatch):
    right = Stages.linear
    monkeypatch.setattr(Stages, "linear", lambda self, steps, c, v, printed=False: right(self, steps, 1.2 * c, v))
    assert huang_equations.measure_linear(QUICK).verdict == Verdict.REFUTED
