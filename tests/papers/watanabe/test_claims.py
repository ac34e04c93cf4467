"""What the claims of the spiked-covariance paper measure with, against cases where the answer is known."""

import numpy as np
import pytest
import xarray as xr

import linnet as ln
from linnet.theories.spiked import TwoPhase, generalization_error
from linnet_papers.reproduction import Trial, Verdict, verify
from linnet_papers.watanabe import misprints
from linnet_papers.watanabe.claims import alignment, curves, equations, error
from linnet_papers.watanabe.grids import errors as errors_grid
from linnet_papers.watanabe.grids.phase_times import allowed_from, settling_time
from linnet_papers.watanabe.training.figure_runs import directed_hausdorff
from linnet_papers.watanabe.training.phases import moments, pair_moments
from reference import adapted_basis


@pytest.mark.parametrize(("spike", "alignment_"), [(20.0, 0.3), (0.5, 0.9), (0.0, 0.5), (20.0, 1.0)])
def test_the_basis_of_the_measurements_is_orthonormal_and_adapted(spike, alignment_):
    problem = ln.problems.spiked_covariance(7, spike=spike, alignment=alignment_)
    found = moments(problem)
    np.testing.assert_allclose(found.basis @ found.basis.T, np.eye(7), atol=1e-12)
    np.testing.assert_allclose(found.cross[1:], 0, atol=1e-12)
    np.testing.assert_allclose(found.limit[2:], 0, atol=1e-12)
    assert found.cov[0, 1] <= 1e-12
    if 0 < alignment_ < 1 and spike > 0:
        np.testing.assert_allclose(found.basis[:2], adapted_basis(problem.cov, problem.truth), atol=1e-12)
        assert found.plateau == pytest.approx(
            np.sqrt(TwoPhase(spike, alignment_).correlation / TwoPhase(spike, alignment_).lambda1)
        )


def test_the_numerical_gradient_is_the_gradient():
    random = np.random.default_rng(0)
    first, second, target = random.standard_normal((4, 3)), random.standard_normal(4), random.standard_normal(3)
    root = random.standard_normal((3, 3))
    cov = root @ root.T
    into_first, into_second = equations.numeric_gradient(first, second, cov, target)
    residual = 2 * (second @ first - target) @ cov
    np.testing.assert_allclose(into_first, np.outer(second, residual), atol=1e-10)
    np.testing.assert_allclose(into_second, first @ residual, atol=1e-10)


def test_distance_in_the_plane_is_blind_to_time():
    angles = np.linspace(0, np.pi, 200)
    curve = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    later = np.stack([np.cos(angles**2 / np.pi), np.sin(angles**2 / np.pi)], axis=-1)
    assert np.abs(curve - later).max() > 0.5
    assert directed_hausdorff(curve, later) < 1e-3
    assert directed_hausdorff(curve, 1.1 * later) == pytest.approx(0.1, abs=1e-3)


def test_settling_time_of_an_exponential_is_exact():
    times = np.array([0.0, 1.0, 5.0, 20.0])
    assert settling_time(times, -np.expm1(-times), 3.0) == pytest.approx(3.0, rel=1e-12)


def test_the_hypothesis_of_the_bound_is_met_from_the_last_crossing_on():
    times, limit = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0])
    low, high = 0.5 * np.ones(5), np.array([0.0, 2.0, 0.0, 2.0, 2.0])
    assert allowed_from(times, high, low, limit) == pytest.approx(2.5, abs=1e-3)
    assert np.isnan(allowed_from(times, low, low, limit))
    assert allowed_from(times, high + 2, low, limit) == 0.0
    assert np.isnan(allowed_from(times, high + 2, low + 1, limit))  # w2 above its limit is outside too


def test_where_two_losses_cross():
    times = np.linspace(0, 10, 2001)
    weak, strong = np.exp(-2 * times), 1e-3 * np.exp(-times)
    assert curves.loss_crossing(weak, strong) == pytest.approx(1e-6, rel=0.02)
    assert curves.loss_crossing(weak, 0.5 * weak) == 0


def test_a_conserved_imbalance_bounds_the_second_layer():
    random = np.random.default_rng(1)
    for _ in range(50):
        second, first = random.standard_normal(5) * 10 ** random.uniform(-2, 2), random.standard_normal((5, 3))
        imbalance = np.abs(np.linalg.eigvalsh(np.outer(second, second) - first @ first.T)).max()
        assert second @ second <= alignment.weight_bound(imbalance, np.linalg.norm(second @ first)) * (1 + 1e-12)


def test_the_monotone_form_is_the_law_and_its_factors_rise():
    rho, A = np.linspace(0, 80, 41)[:, None], np.linspace(0, 1, 21)
    for gamma in (1.1, 3.0, 15.0):
        np.testing.assert_allclose(
            error.monotone_form(rho, A, gamma), generalization_error(rho, A, gamma, normalized=True), atol=1e-13
        )
    share = A**2 * (1 + rho) / (1 + rho * A**2)
    assert np.diff(share, axis=0).min() >= -1e-15 and np.diff(share, axis=1).min() >= -1e-15


def test_the_printed_error_has_no_spike_in_it():
    assert misprints.generalization_error(0.5, 2.0) / 6 == pytest.approx(0.0810, abs=5e-5)
    assert generalization_error(20.0, 0.5, 2.0, normalized=True) == pytest.approx(0.0661, abs=5e-5)


@pytest.mark.parametrize(("spoilt", "verdict"), [(False, Verdict.HOLDS), (True, Verdict.REFUTED)])
def test_one_network_without_an_error_turns_the_verdict(spoilt, verdict, monkeypatch):
    axes = {"ratio": [2.0, 6.0], "spike": [0.0, 4.0, 20.0], "alignment": [0.0, 0.5, 1.0], "seed": range(30)}
    ratio, spike, alignment_, seed = np.meshgrid(*axes.values(), indexing="ij")
    measured = generalization_error(spike, alignment_, ratio) * (1 + 1e-3 * np.cos(seed))
    if spoilt:
        measured[1, 1, 2, 0] = np.nan  # xarray would leave it out of the mean, and `dropna` its spike out of the grid
    points = xr.Dataset({"error": (tuple(axes), measured), "dim": 240}, axes)
    monkeypatch.setattr(errors_grid, "errors", lambda trial: points)
    assert verify([error.normalized_error], Trial(quick=True))[0].verdict == verdict


def test_levels_of_a_pair_are_those_of_the_covariance():
    found = pair_moments(5.0, 0.8)
    np.testing.assert_allclose(found.limit[:2], TwoPhase(5.0, 0.8).fixed_point, atol=1e-12)
