"""The closed form of the self-consistent dynamics against integrators that share nothing with it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from linnet.problems import Problem
from linnet.theories import lazy_active
from linnet.theories.lazy_active.closed_form import _Modes, _stepped, self_consistent_layers
from reference import flowing_products

TIMES = np.array([0.0, 0.1, 1.0, 5.0, 30.0, 200.0, 1000.0])


def svd_form(target, start, g, times, rtol=1e-11):
    """Eq. (1) itself, with the square roots taken by an SVD at every evaluation."""
    k, d = target.shape

    def velocity(_, state):
        product = state.reshape(k, d)
        left, values, right = np.linalg.svd(product)
        out, into = np.zeros(k), np.zeros(d)
        out[: values.size] = into[: values.size] = values
        pull = target - product
        return ((left * np.hypot(out, g)) @ left.T @ pull + pull @ (right.T * np.hypot(into, g)) @ right).ravel()

    run = solve_ivp(velocity, (0, times[-1]), start.ravel(), "DOP853", t_eval=times, rtol=rtol, atol=1e-18)
    return run.y.T.reshape(-1, k, d)


def network_flow(target, layers, times):
    return flowing_products(np.eye(target.shape[1]), target, layers, times, tolerance=1e-13)


def matrices(shape, rank=None, seed=0):
    draw = np.random.default_rng(seed)
    target = draw.normal(size=shape)
    if rank is None:
        return target, 0.5 * draw.normal(size=shape)
    return target, 0.5 * draw.normal(size=(shape[0], rank)) @ draw.normal(size=(rank, shape[1]))


@pytest.mark.parametrize("g", [1e-6, 0.3, 20.0])
@pytest.mark.parametrize(("shape", "rank"), [((4, 4), None), ((3, 5), None), ((5, 3), None), ((4, 4), 1), ((3, 5), 2)])
def test_it_solves_equation_one(shape, rank, g):
    target, start = matrices(shape, rank)
    # the integrator crawls at the rate 2g: once to the end is enough
    times = TIMES if g < 20 or (shape, rank) == ((4, 4), None) else TIMES[:-2]
    # a mode that grows from 1e-6 beside one of size 1 carries the integrator's errors a million times enlarged
    expected = svd_form(target, start, g, times, rtol=3e-14 if g < 1e-3 and rank else 1e-11)
    assert_allclose(lazy_active.self_consistent(target, start, g, times), expected, atol=1e-8)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_the_wrong_sign_of_the_imbalance_is_another_dynamics(shape):
    target, start = matrices(shape)
    times = np.array([0.2, 0.6])
    exact = lazy_active.self_consistent(target, start, 0.3, times)
    w1, w2 = self_consistent_layers(start, 0.3)
    assert_allclose(network_flow(target, (w1, w2), times), exact, atol=1e-9)
    ones, twos = np.linalg.norm(w1, axis=1), np.linalg.norm(w2, axis=0)  # exchanged: the imbalance changes sign
    assert np.abs(network_flow(target, (w1 * (twos / ones)[:, None], w2 * (ones / twos)), times) - exact).max() > 1e-2


@pytest.mark.parametrize("rank", [1, 2])
def test_low_rank_starts_against_the_flow_of_the_narrow_network(rank):
    target, start = matrices((4, 5), rank, seed=1)
    times = np.array([0.0, 1.0, 4.0, 8.0, 30.0])
    expected = network_flow(target, self_consistent_layers(start, 1e-6), times)
    assert_allclose(lazy_active.self_consistent(target, start, 1e-6, times), expected, atol=1e-8)


@pytest.mark.parametrize("g", [1e-6, 0.3, 20.0])
@pytest.mark.parametrize("shape", [(4, 4), (2, 5), (5, 2)])
def test_restarting_is_the_same_as_going_on(shape, g):
    target, start = matrices(shape, seed=2)
    whole = lazy_active.self_consistent(target, start, g, [0.7, 2.0])
    half = lazy_active.self_consistent(target, whole[0], g, [1.3])
    assert_allclose(half[0], whole[1], atol=1e-9)


@pytest.mark.parametrize("g", [0.0, 1e-6, 0.3, 20.0, 1e4])
def test_it_starts_at_the_start_and_ends_at_the_target(g):
    target, start = matrices((3, 4), seed=3)
    ends = lazy_active.self_consistent(target, start, g, [0.0, 1e6])
    assert_allclose(ends[0], start, atol=1e-9)
    assert_allclose(ends[1], target, atol=1e-12)


def test_its_own_equation_holds_pointwise():
    target, start = matrices((4, 3), seed=4)
    h, t = 1e-4, 0.5
    before, here, after = lazy_active.self_consistent(target, start, 0.2, [t - h, t, t + h])
    first, second = lazy_active.gram_matrices(here, 0.2)
    pull = target - here
    assert_allclose((after - before) / (2 * h), second @ pull + pull @ first, atol=1e-6)


def test_one_shot_and_stepping_agree():
    target, start = matrices((4, 4), seed=5)
    times = np.array([0.3, 2.0, 11.0])
    stepped = _stepped(_Modes(target, 0.05), self_consistent_layers(start, 0.05), times)
    assert stepped.determined.all()
    assert_allclose(stepped.products, lazy_active.self_consistent(target, start, 0.05, times), atol=1e-13)


class TestBalanced:
    """The threshold 0, where determinants keep their sign and ranks never change."""

    def start(self, sign, size=4, seed=6):
        target, start = matrices((size, size), seed=seed)
        if np.sign(np.linalg.det(target) * np.linalg.det(start)) != sign:
            start[0] *= -1
        return target, start

    @pytest.mark.parametrize("size", [3, 4])
    def test_good_starts_follow_the_balanced_network(self, size):
        target, start = self.start(1, size)
        times = np.array([0.0, 0.5, 3.0, 20.0, 60.0])
        expected = network_flow(target, self_consistent_layers(start, 0.0), times)
        assert_allclose(lazy_active.self_consistent(target, start, 0.0, times), expected, atol=1e-8)

    @pytest.mark.parametrize("seed", range(4))
    def test_starts_of_the_other_sign_say_so(self, seed):
        target, start = self.start(-1, seed=seed)
        slowest = np.linalg.svd(target, compute_uv=False)[-1]
        times = np.array([0.0, 0.5 / slowest, 5 / slowest, 60 / slowest, 1e4 / slowest])
        solution = lazy_active.self_consistent_solution(target, start, 0.0, times)
        assert solution.determined.tolist() == [True, True, True, False, False]
        assert "saddle" in solution.reason
        expected = network_flow(target, self_consistent_layers(start, 0.0), times[:2])
        assert_allclose(solution.products[:2], expected, atol=1e-8)
        assert np.linalg.det(solution.products[1]) * np.linalg.det(start) > 0
        with pytest.raises(lazy_active.UndeterminedError, match="other sign"):
            lazy_active.self_consistent(target, start, 0.0, times)
        quiet = lazy_active.self_consistent(target, start, 0.0, times, throw=False)
        assert np.isnan(quiet[-1]).all() and np.isfinite(quiet[0]).all()

    def test_a_little_imbalance_frees_them(self):
        target, start = self.start(-1)
        end = lazy_active.self_consistent(target, start, 1e-6, [1e5])[0]
        assert_allclose(end, target, atol=1e-9)

    def test_the_rank_of_the_start_is_kept_for_ever(self):
        target, start = matrices((4, 6), rank=1, seed=7)
        values = np.linalg.svd(lazy_active.self_consistent(target, start, 0.0, [1.0, 10.0, 1e6]), compute_uv=False)
        assert values[:, 1].max() < 1e-14
        assert_allclose(values[-1, 0], np.linalg.svd(target, compute_uv=False)[0])

    def test_a_tiny_start_is_resolved_mode_by_mode(self):
        target, start = self.start(1)
        first, second = (
            lazy_active.self_consistent(target, scale * start, 0.0, [12.0, 1e5]) for scale in (1e-20, 1e-30)
        )
        assert np.isfinite(first).all()
        assert_allclose(first[-1], target, atol=1e-12)
        assert_allclose(second[-1], target, atol=1e-12)

    def test_zero_never_moves(self):
        assert not lazy_active.self_consistent(np.eye(2), np.zeros((2, 2)), 0.0, [1.0, 9.0]).any()


class TestIntegrated:
    def test_it_is_the_closed_form_for_a_matrix_problem(self):
        target, start = matrices((3, 4), seed=8)
        times = np.array([0.0, 0.4, 2.0])
        found = lazy_active.integrate(Problem.from_target(target), start, 0.3, times)
        assert_allclose(found, lazy_active.self_consistent(target, start, 0.3, times), atol=1e-7)

    def test_a_cost_is_integrated_by_its_gradient(self):
        target, start = matrices((3, 2), seed=9)
        weights = np.array([[1.0, 2.0], [0.5, 1.0], [3.0, 0.0]])
        problem = Problem.from_cost(lambda A: 0.25 * (weights * (A - target) ** 4).sum(), in_dim=2, out_dim=3)

        def velocity(_, state):
            product = state.reshape(3, 2)
            one, two = lazy_active.gram_matrices(product, 0.4)
            slope = weights * (product - target) ** 3
            return -(two @ slope + slope @ one).ravel()

        times = np.array([0.0, 0.5, 2.0])
        expected = solve_ivp(velocity, (0, 2), start.ravel(), "DOP853", t_eval=times, rtol=1e-11, atol=1e-13).y.T
        assert_allclose(lazy_active.integrate(problem, start, 0.4, times), expected.reshape(-1, 3, 2), atol=1e-7)

    def test_a_covariance_enters_the_residual(self):
        target, start = matrices((2, 3), seed=10)
        cov = np.diag([2.0, 1.0, 0.25])
        problem = Problem.from_moments(cov, target @ cov)
        times = np.array([0.0, 0.3])
        found = lazy_active.integrate(problem, start, 0.3, times)[1]

        def velocity(_, state):
            product = state.reshape(2, 3)
            one, two = lazy_active.gram_matrices(product, 0.3)
            pull = (target - product) @ cov
            return (two @ pull + pull @ one).ravel()

        expected = solve_ivp(velocity, (0, 0.3), start.ravel(), "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        assert_allclose(found, expected.reshape(2, 3), atol=1e-7)
        assert np.abs(found - lazy_active.self_consistent(target, start, 0.3, [0.3])[0]).max() > 1e-2

    def test_wrong_shapes_are_refused(self):
        with pytest.raises(ValueError, match="`initial_product` must be"):
            lazy_active.integrate(Problem.from_target(np.eye(2)), np.zeros((2, 3)), 0.1, [1.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"initial_product": np.zeros((3, 2))}, "must have one shape"),
        ({"threshold": -1.0}, "`threshold` must not be negative"),
        ({"times": [1.0, 0.5]}, "`times` must be strictly increasing"),
        ({"target": [[np.nan, 0.0], [0.0, 1.0]]}, "`target` must be finite"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"target": np.eye(2), "initial_product": np.zeros((2, 2)), "threshold": 0.1, "times": [1.0], **change}
    with pytest.raises(ValueError, match=message):
        lazy_active.self_consistent(**arguments)


def test_scales_far_apart_leave_no_nan_and_no_warning():
    draw = np.random.default_rng(11)
    for _ in range(80):
        shape = tuple(draw.integers(1, 6, 2))
        target = draw.normal(size=shape) * 10 ** draw.uniform(-6, 6)
        rank = int(draw.integers(0, min(shape) + 1))
        start = draw.normal(size=(shape[0], rank)) @ draw.normal(size=(rank, shape[1])) * 10 ** draw.uniform(-12, 4)
        g = draw.choice([1e-300, 1e-12, 1e-6, 1.0, 1e6, 1e12])
        solution = lazy_active.self_consistent_solution(target, start, g, [0.0, 1e-8, 1.0, 1e5, 1e12])
        assert np.isfinite(solution.products[solution.determined]).all()
        size = max(np.abs(target).max(), np.abs(start).max())
        assert_allclose(solution.products[0], start, atol=1e-7 * size)
        if solution.determined.all() and g >= 1e-6:
            assert_allclose(solution.products[-1], target, atol=1e-7 * size)


def test_a_stuck_mode_beside_a_healthy_one_is_noticed_however_aligned():
    target, start = np.diag([2.0, 1.0]), np.diag([0.5, -0.5])
    solution = lazy_active.self_consistent_solution(target, start, 0.0, [5.0, 1e9])
    assert solution.determined.tolist() == [True, False]
    assert_allclose(np.diag(solution.products[0]), lazy_active.balanced_modes([2, 1], [0.5, -0.5], [5.0])[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_target_of_lower_rank_leaves_no_sign_to_get_wrong(seed):
    draw = np.random.default_rng(seed)
    target, start = np.zeros((3, 3)), draw.normal(size=(3, 3))
    target[:2, :2] = draw.normal(size=(2, 2))
    times = np.array([0.5, 5.0, 1e6])
    found = lazy_active.self_consistent(target, start, 0.0, times)
    assert_allclose(found[:2], network_flow(target, self_consistent_layers(start, 0.0), times[:2]), atol=1e-8)
    assert_allclose(found[-1], target, atol=1e-5)  # what has no target decays like 1/t
