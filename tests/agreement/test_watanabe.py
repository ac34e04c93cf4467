"""The spiked-covariance theory against networks at full width, integrated by SciPy and trained by small steps."""

import numpy as np
import pytest

import linnet as ln
from linnet.theories.aligned_flow import aligned_flow, growth_direction
from linnet.theories.spiked import TwoPhase
from reference import adapted_basis, flow

D, M, S = 30, 50, 1e-5
TIMES = np.linspace(0.0, 8.0, 33)


def gaussian_start(seed, scale=S, dim=D, width=M):
    return ln.inits.gaussian(key=seed, in_dim=dim, out_dim=1, width=width, stds=(scale / dim**0.5, scale / width**0.5))


def scipy_network(problem, start, times=TIMES):
    """Both layers by SciPy, at full width."""
    return flow(problem.cov, problem.cross, start.layers, times, tolerance=1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_reduced_dynamics_follow_the_network_within_its_scale(seed):
    problem, theory, start = (
        ln.problems.spiked_covariance(D, spike=20, alignment=0.3),
        TwoPhase(20, 0.3),
        gaussian_start(seed),
    )
    first, _ = scipy_network(problem, start)
    u0, r = growth_direction(problem, start)
    components = r @ first @ adapted_basis(problem.cov, problem.truth).T
    assert np.abs(components - theory.reduced(u0, TIMES)).max() < 1e-5
    projected = theory.reduced(components[0], TIMES)  # the control: starting at the projected w2(0) is far worse
    assert np.abs(components - projected).max() > 1e-4


def test_sampled_covariance_has_its_own_aligned_flow():
    problem = ln.problems.spiked_covariance(D, spike=20, alignment=0.3, samples=10_000, key=4)
    start = gaussian_start(2)
    first, _ = scipy_network(problem, start)
    u0, r = growth_direction(problem, start)
    assert np.abs(r @ first - aligned_flow(problem, u0, TIMES)).max() < 1e-5
    basis = adapted_basis(problem.test_cov, problem.truth)
    gap = np.abs(r @ first @ basis.T - TwoPhase(20, 0.3).reduced(u0, TIMES)).max()
    assert 1e-4 < gap < 0.05  # the population's curve is another one, as far as 10 000 samples are from it


@pytest.mark.parametrize(
    "problem",
    [
        ln.problems.many_spikes(D, spikes=[30.0, 8.0, 3.0], alignments=[0.3, 0.4, 0.2]),
        ln.problems.power_law(D, decay=1.0, target_decay=0.5),
        ln.problems.spiked_covariance(D, spike=-0.6, alignment=0.7),
    ],
    ids=["three spikes", "power law", "negative spike"],
)
def test_aligned_flow_of_any_spectrum_follows_the_network(problem):
    start, times = gaussian_start(3), np.linspace(0, 30, 16)
    first, second = scipy_network(problem, start, times)
    u0, r = growth_direction(problem, start)
    w = aligned_flow(problem, u0, times)
    assert np.abs(r @ first - w).max() < 2e-5
    assert np.abs((second @ first)[:, 0] - np.linalg.norm(w, axis=1)[:, None] * w).max() < 2e-5


def test_distance_to_the_aligned_flow_falls_with_the_start():
    problem, scales, gaps = ln.problems.spiked_covariance(D, spike=20, alignment=0.3), [1e-2, 1e-3, 1e-4], []
    for scale in scales:
        start = gaussian_start(0, scale)
        first, _ = scipy_network(problem, start)
        u0, r = growth_direction(problem, start)
        gaps.append(np.abs(r @ first - aligned_flow(problem, u0, TIMES)).max())
    assert np.polyfit(np.log(scales), np.log(gaps), 1)[0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("spike", "alignment"), [(20.0, 0.0), (20.0, 1.0), (0.0, 0.5)])
def test_no_second_phase(spike, alignment):
    problem, start = ln.problems.spiked_covariance(D, spike=spike, alignment=alignment), gaussian_start(1)
    times = np.linspace(0, 20, 21)
    first, _ = scipy_network(problem, start, times)
    _, r = growth_direction(problem, start)
    components = r @ first @ adapted_basis(problem.cov, problem.truth).T
    assert np.abs(components[:, 1]).max() < 10 * S
    assert components[-1, 0] == pytest.approx(1, abs=1e-6)


def test_aligned_starts_are_followed_exactly():
    problem, theory = ln.problems.spiked_covariance(D, spike=20, alignment=0.3), TwoPhase(20, 0.3)
    r = np.random.default_rng(0).standard_normal(M)
    r /= np.linalg.norm(r)
    pair = np.array([0.02, -0.01])
    basis = adapted_basis(problem.cov, problem.truth)
    start = ln.Weights(np.outer(r, pair @ basis), np.linalg.norm(pair) * r[None])
    first, _ = flow(problem.cov, problem.cross, start.layers, TIMES, tolerance=1e-13)
    assert np.abs(r @ first @ basis.T - theory.reduced(pair, TIMES)).max() < 1e-9


def test_small_steps_of_descent_reach_the_reduced_dynamics():
    problem, theory, start = (
        ln.problems.spiked_covariance(D, spike=20, alignment=0.3),
        TwoPhase(20, 0.3),
        gaussian_start(0, 1e-3),
    )
    u0, r = growth_direction(problem, start)
    basis, gaps = adapted_basis(problem.cov, problem.truth), []
    for rate in (4e-3, 2e-3, 1e-3):
        steps = round(6 / rate)
        run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=steps // 6)
        gaps.append(np.abs(r @ run.weights.first @ basis.T - theory.reduced(u0, run.times)).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[0] / gaps[2] == pytest.approx(4, rel=0.25)  # first order in the step, until the start's own O(s) shows
