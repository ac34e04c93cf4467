"""The aligned flow: its own equation, its ends, its exactness for aligned networks of any covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.problems.spectra import power_law, spectrum
from linnet.problems.spiked import spiked_covariance
from linnet.theories.aligned_flow import aligned_flow, growth_direction
from linnet.theories.spiked import TwoPhase
from reference import adapted_basis, flow

TIMES = np.linspace(0.0, 12.0, 25)


def general_problem(seed=0, dim=6):
    random = np.random.default_rng(seed)
    root = random.standard_normal((dim, dim + 3))
    cov = root @ root.T / dim
    return Problem.from_moments(cov, cov @ random.standard_normal(dim))


def trained(problem, first, second, times):
    """The network itself, both layers at full width, by SciPy."""
    first, second = flow(problem.cov, problem.cross, (first, second[None]), times)
    return first, second[:, 0]


def test_residual_of_its_own_equation():
    problem, step = general_problem(), 1e-4
    for t in (0.5, 1.0, 2.0):
        before, w, after = aligned_flow(problem, 0.01, [t - step, t, t + step])
        slope, size = (after - before) / (2 * step), np.linalg.norm(w)
        assert_allclose(slope, size * problem.cross[0] - size**2 * problem.cov @ w, atol=1e-5 * np.abs(slope).max())


def test_start_end_vector_and_restart():
    problem = general_problem()
    run = aligned_flow(problem, 0.01, TIMES)
    assert run.shape == (25, 6)
    direction = problem.cross[0] / np.linalg.norm(problem.cross[0])
    assert_allclose(run[0], 0.01 * direction, rtol=1e-12)
    assert_allclose(aligned_flow(problem, 0.01, [0.0]), run[:1])
    assert_allclose(aligned_flow(problem, 0.01, [TIMES[7]])[0], run[7], rtol=1e-8)
    assert_allclose(aligned_flow(problem, run[1], TIMES[1:] - TIMES[7 - 6])[6], run[7], rtol=1e-8)
    end = aligned_flow(problem, 0.01, [3000.0])[0]
    assert_allclose(np.linalg.norm(end) * end, problem.min_norm_solution()[0], atol=1e-7)


@pytest.mark.parametrize("problem", [general_problem(1), power_law(6, decay=1.0, target_decay=1.0)])
def test_aligned_networks_follow_it_exactly(problem):
    random = np.random.default_rng(2)
    w, r = 0.05 * random.standard_normal(6), random.standard_normal(9)
    r /= np.linalg.norm(r)
    first, second = trained(problem, np.outer(r, w), np.linalg.norm(w) * r, TIMES)
    predicted = aligned_flow(problem, w, TIMES)
    assert_allclose(first, r[:, None] * predicted[:, None, :], atol=1e-9)
    assert_allclose(second, np.linalg.norm(predicted, axis=1)[:, None] * r, atol=1e-9)


def test_unaligned_networks_do_not():
    problem, random = general_problem(1), np.random.default_rng(2)
    W, a = 0.05 * random.standard_normal((9, 6)), 0.05 * random.standard_normal(9)
    u0, r = growth_direction(problem, Weights(W, a[None]))
    first, _ = trained(problem, W, a, TIMES)
    assert np.abs(first - r[:, None] * aligned_flow(problem, u0, TIMES)[:, None, :]).max() > 1e-2


def test_collapses_to_the_two_components_under_one_spike():
    problem, theory = spiked_covariance(9, spike=20.0, alignment=0.3), TwoPhase(20.0, 0.3)
    w = aligned_flow(problem, 1e-5, TIMES)
    basis = adapted_basis(problem.cov, problem.truth)
    assert_allclose(w @ basis.T, theory.reduced(1e-5, TIMES), atol=1e-9)
    assert np.abs(w - w @ basis.T @ basis).max() < 1e-12


def test_several_spikes_leave_the_plane():
    problem = spectrum([20.0, 5.0, 1.0, 1.0], [0.2, 0.3, 0.5, 0.0])
    basis = adapted_basis(problem.cov, problem.truth)
    w = aligned_flow(problem, 1e-5, TIMES)
    assert np.abs(w - w @ basis.T @ basis).max() > 1e-2


def test_growth_direction_is_half_the_sum_of_both_layers():
    problem = general_problem()
    random = np.random.default_rng(0)
    W, a = random.standard_normal((5, 6)), random.standard_normal((1, 5))
    u0, r = growth_direction(problem, Weights(W, a))
    v1 = problem.cross[0] / np.linalg.norm(problem.cross[0])
    assert_allclose(u0 * r, (W @ v1 + a[0]) / 2, atol=1e-14)
    assert_allclose(np.linalg.norm(r), 1.0)


def test_refusals():
    problem = general_problem()
    with pytest.raises(ValueError, match=r"`problem` must be a linnet Problem, made by .* got NoneType"):
        aligned_flow(None, 0.1, [1.0])
    with pytest.raises(ValueError, match=r"`u0`. must have a norm of at least 1e-290"):
        aligned_flow(problem, 1e-300, [1.0])
    with pytest.raises(ValueError, match="`times` must be strictly increasing"):
        aligned_flow(problem, 0.1, [1.0, 0.5])
    with pytest.raises(ValueError, match="`u0` must be positive"):
        aligned_flow(problem, -0.1, [1.0])
    with pytest.raises(ValueError, match="`u0` must be a positive number or a non-zero vector"):
        aligned_flow(problem, np.zeros(6), [1.0])
    with pytest.raises(ValueError, match="`problem` must be a single one with a squared loss and 1 output"):
        aligned_flow(Problem.from_target(np.eye(3)), 0.1, [1.0])
    with pytest.raises(ValueError, match="cross moment is zero"):
        aligned_flow(Problem.from_moments(np.eye(2), np.zeros(2)), 0.1, [1.0])
    with pytest.raises(ValueError, match="`weights` must be one network of 6 inputs"):
        growth_direction(problem, Weights(np.ones((3, 4)), np.ones((1, 3))))
    with pytest.raises(ValueError, match="something to grow from"):
        growth_direction(problem, Weights(np.zeros((3, 6)), np.zeros((1, 3))))


def test_a_stiff_flow_is_the_same_flow():
    problem = spectrum([4000.0, 3.0, 1.0], [0.2, 0.3, 0.5])
    early = np.array([0.004, 0.01, 0.5, 4.0])
    stiff = aligned_flow(problem, 1e-3, [*early, 8.0])  # beyond the switch to the implicit method
    assert_allclose(stiff[:4], aligned_flow(problem, 1e-3, early), atol=1e-8)


@pytest.mark.parametrize("u0", [1e-165, 1e-200, 1e-285])
def test_starts_whose_squares_underflow_grow_all_the_same(u0):
    problem = spectrum([4.0, 3.0, 1.0], [0.2, 0.3, 0.5])
    size = np.linalg.norm(problem.cross)
    late = np.log(1e-5 / u0) / size  # until here the flow is linear
    early, before, end = aligned_flow(problem, u0, [late / 2, late, late + 12])
    assert_allclose(early, u0 * np.exp(size * late / 2) * problem.cross[0] / size, rtol=1e-9)
    assert_allclose(before, 1e-5 * problem.cross[0] / size, rtol=1e-4)
    assert_allclose(end, aligned_flow(problem, before, [12.0])[0], rtol=1e-9)
    assert_allclose(growth_direction(problem, Weights(np.zeros((2, 3)), np.array([[2 * u0, 0.0]])))[0], u0, rtol=1e-14)


@pytest.mark.slow
def test_a_tiny_start_takes_the_implicit_method_too():
    problem = spectrum([4000.0, 3.0, 1.0], [0.2, 0.3, 0.5])
    delay = np.log(1e197) / np.linalg.norm(problem.cross)
    assert_allclose(aligned_flow(problem, 1e-200, [8 + delay]), aligned_flow(problem, 1e-3, [8.0]), atol=1e-8)


def test_two_components_from_a_tiny_start():
    theory = TwoPhase(20.0, 0.3)
    assert_allclose(theory.reduced(1e-200, [0.0, 100.0])[1], theory.fixed_point, atol=1e-9)
    assert_allclose(theory.vector_field([1e-200, 0.0]), [theory.correlation * 1e-200, 0.0], rtol=1e-14)
