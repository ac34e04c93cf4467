"""The claims of Tu et al. at their quick settings, and controls: with a wrong formula the verdict changes."""

import dataclasses

import numpy as np
import pytest

import linnet as ln
from linnet.papers.tu.claims import alignment as tu_alignment
from linnet.papers.tu.claims import descent as tu_descent
from linnet.papers.tu.claims import gram as tu_gram
from linnet.papers.tu.claims import modes as tu_modes
from linnet.papers.tu.claims import theorem2 as tu_theorem2
from linnet.papers.tu.tables import regions as tu_regions
from linnet.reproduction.claim import Trial, Verdict

QUICK = Trial(quick=True)
ALL = {
    claim.name: claim
    for module in (tu_gram, tu_modes, tu_theorem2, tu_alignment, tu_descent)
    for claim in module.CLAIMS
}


@pytest.mark.parametrize("name", ALL)
def test_the_verdict_is_the_expected_one(name):
    measurement = ALL[name].measure(QUICK)
    assert measurement.verdict == ALL[name].expected, measurement.measured
    assert np.isfinite(measurement.value)


def wrong_gram(product, threshold):
    one, two = right_gram(product, threshold)
    eyes = (np.eye(one.shape[-1]), np.eye(two.shape[-1]))
    return one - threshold * eyes[0], two - threshold * eyes[1]


right_gram = ln.theories.mixed.gram_matrices


def test_a_wrong_gram_matrix_refutes_theorem_one(monkeypatch):
    import linnet.theories.mixed.gram as gram

    monkeypatch.setattr(gram, "gram_matrices", wrong_gram)
    assert ALL["thm1"].measurement(QUICK).verdict == Verdict.REFUTED


def test_a_wrong_speed_is_refuted(monkeypatch):
    monkeypatch.setattr(ln.theories.mixed, "mode_speed", lambda values, threshold: 2 * (np.asarray(values) + threshold))
    assert ALL["mode-speed"].measurement(QUICK).verdict == Verdict.REFUTED


def test_a_wrong_growth_time_is_refuted(monkeypatch):
    right = ln.theories.mixed.crossing_times
    monkeypatch.setattr(ln.theories.mixed, "crossing_times", lambda *a, **k: 2 * right(*a, **k))
    assert ALL["thm2-time"].measurement(QUICK).verdict == Verdict.REFUTED


def test_the_lazy_bound_can_fail(monkeypatch):
    dim, found = tu_regions.diagram(QUICK)
    spoiled = {**found, "lazy": dataclasses.replace(found["lazy"], best_test=found["lazy"].best_test * 0.4)}
    monkeypatch.setattr(tu_regions, "diagram", lambda trial: (dim, spoiled))
    assert ALL["thm2-lazy"].measurement(QUICK).verdict == Verdict.REFUTED


def test_names_and_expectations_are_complete():
    assert len(ALL) == 28
    for claim in ALL.values():
        fields = dataclasses.asdict(claim)
        assert all(fields[name] for name in ("sentence", "assumptions", "setting", "claimed", "number"))
