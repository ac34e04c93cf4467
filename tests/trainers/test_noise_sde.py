"""The noise process: Euler's own moments, orders of convergence, scales and commutators, against NumPy and exact
results.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid

import linnet as ln
from linnet.theories import noise_process
from linnet.trainers.sde import decreasing, noise_sde, step_sizes
from reference import descent


def identity_start(d):
    return ln.Weights(np.eye(d), np.zeros((1, d)))


def within(sample, expected, errors=4.5):
    """Whether the mean of independent paths agrees with `expected` to so many standard errors."""
    return abs(sample.mean() - expected) < errors * sample.std(ddof=1) / np.sqrt(sample.size)


def test_paths_are_eulers_at_full_width():
    # same increments, every weight of the wide network, plain NumPy; one Gaussian start with W2 != 0
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((7, 2)), rng.standard_normal((2, 7))
    times = [0.0, 0.1, 0.3]
    sizes, ends = step_sizes(times, 0.02)
    increments = np.sqrt(sizes)[:, None, None, None] * rng.standard_normal((sizes.size, 3, 2, 2))
    run = noise_sde(
        None, ln.Weights(first, second), times=times, step=0.02, key=0, paths=3, noise_std=0.7, increments=increments
    )
    for path in range(3):
        a, b = first.copy(), second.copy()
        for index, d_b in enumerate(0.7 * increments[:, path]):
            a, b = a + b.T @ d_b, b + d_b @ a.T
            if index + 1 == ends[1]:
                assert_allclose(run.weights.first[1, path], a, rtol=1e-10, atol=1e-12)
        assert_allclose(run.weights.first[-1, path], a, rtol=1e-10, atol=1e-12)
        assert_allclose(run.weights.second[-1, path], b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d", [2, 3])
def test_second_moments(d):
    times, step = np.array([0.0, 0.5, 1.0]), 0.02
    run = noise_sde(None, identity_start(d), times=times, step=step, key=1, paths=40_000)
    sizes, ends = step_sizes(times, step)
    euler_first, euler_second = noise_process.euler_second_moments(d, 0.0, sizes, in_dim=d)
    for i in (1, 2):
        first_square = (run.reduced.first[i] ** 2).sum(axis=(-1, -2))
        second_square = (run.reduced.second[i] ** 2).sum(axis=(-1, -2))
        assert within(first_square, euler_first[ends[i]])
        assert within(second_square, euler_second[ends[i]])
        # control: a growth rate of d (for sqrt(d)) is many standard errors away
        assert not within(first_square, d * np.cosh(d * times[i]), errors=10)


def test_strong_order_one_half_and_no_better():
    # one Brownian path at steps h, 2h, 4h; the finest run stands for the exact one
    rng = np.random.default_rng(2)
    paths, finest, end = 400, 2048, 1.0
    fine = np.sqrt(end / finest) * rng.standard_normal((finest, paths, 1, 2))
    ends = {}
    for steps in (2048, 128, 32, 8):
        grouped = fine.reshape(steps, finest // steps, paths, 1, 2).sum(axis=1)
        run = noise_sde(
            None, identity_start(2), times=[0.0, end], step=end / steps, key=0, paths=paths, increments=grouped
        )
        ends[steps] = run.reduced.first[-1]
    errors = [np.sqrt(np.mean((ends[n] - ends[2048]) ** 2)) for n in (8, 32, 128)]
    order = np.log(errors[0] / errors[2]) / np.log(16)
    assert 0.35 < order < 0.7


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_log_scale_drifts_by_d_minus_2(d):
    start = ln.Weights(np.eye(d), np.full((1, d), 0.7))
    times = np.linspace(0, 0.5, 126)
    run = noise_sde(None, start, times=times, step=0.004, key=3, paths=2000)
    square = (run.reduced.first[:, :, 0] ** 2).sum(axis=-1)  # of the first neuron's incoming weights
    q = run.reduced.second[:, :, 0, 0] ** 2 / square
    clock = trapezoid(q, times, axis=0)
    grown = np.log(square[-1] / square[0])
    martingale = grown - (d - 2) * clock
    bias = 0.02  # of Euler's scheme and of the clock, at this step
    error = martingale.std() / np.sqrt(martingale.size)
    assert abs(martingale.mean()) < 4.5 * error + bias
    assert abs((grown - d * clock).mean()) > 4.5 * error + bias  # control: Ito's correction left out


def test_commutator_does_not_vanish_in_mean_for_two_inputs():
    run = noise_sde(None, identity_start(2), times=[0.0, 2.0], step=0.01, key=4, paths=20_000)
    first, second = run.reduced.first[-1], run.reduced.second[-1, :, 0]
    area = np.abs(first[:, 0, 0] * second[:, 1] - first[:, 1, 0] * second[:, 0])
    assert within(area, noise_process.commutator_mean_limit(), errors=4.5)
    assert not within(area, 0.0, errors=10)  # what Proposition 4.1(c) says


def test_no_noise_is_descent():
    rng = np.random.default_rng(5)
    x, truth = rng.standard_normal((4, 3)), rng.standard_normal((1, 3))
    problem = ln.Problem.from_data(x, x @ truth.T)
    first, second = 0.5 * rng.standard_normal((6, 3)), 0.5 * rng.standard_normal((1, 6))
    run = noise_sde(problem, ln.Weights(first, second), times=[0.0, 2.0], step=0.01, key=0, paths=2, noise_std=0.0)
    *_, (first, second) = descent((first, second), problem.cov, problem.cross, 0.01, 200)
    assert_allclose(run.weights.first[-1, 1], first, atol=1e-10)
    assert_allclose(run.loss[-1], problem.loss(second @ first), rtol=1e-9)


def test_noise_has_the_shape_of_the_data():
    # one Euler step from W2 = 0: dW2 = delta dB Sigma^(1/2) W1^T, of covariance delta^2 h Sigma for W1 = I
    x = np.random.default_rng(6).standard_normal((5, 2)) * [3.0, 0.5]
    problem = ln.Problem.from_data(x, np.zeros((5, 1)))
    run = noise_sde(problem, identity_start(2), times=[0.0, 0.01], step=0.01, key=6, paths=20_000, noise_std=0.3)
    moved = run.weights.second[-1, :, 0]
    assert_allclose(moved.T @ moved / 20_000, 0.3**2 * 0.01 * problem.cov, rtol=0.05, atol=1e-5)


def test_step_sizes_land_on_the_times():
    times = [0.5, 0.7, 2.0]
    for step, largest in ((0.3, 0.3), (decreasing(0.1), 0.1)):
        sizes, ends = step_sizes(times, step)
        assert_allclose(np.cumsum(sizes)[ends - 1], times, rtol=1e-12)
        assert sizes.max() <= largest * (1 + 1e-9)
        assert (sizes > 0).all()
    sizes, _ = step_sizes([4.0], decreasing(0.1))
    assert_allclose(sizes[:-1], 0.1 / np.sqrt(np.arange(1, sizes.size)))


def test_the_schedule_and_the_key_decide_the_run():
    runs = [
        noise_sde(None, identity_start(2), times=[0.0, 0.5, 1.0], step=decreasing(0.05), key=k, paths=2).reduced.first
        for k in (7, 7, 8)
    ]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()


def test_a_path_lost_before_the_first_kept_time_is_told():
    # one kept time: nothing finite of the path is left, and it must not pass for completed
    options = {"times": [1.0], "step": 0.25, "key": 0, "paths": 2, "increments": np.full((4, 2, 1, 2), 1e200)}
    options["increments"][:, 1] = 0.1
    with np.errstate(all="ignore"):
        run = noise_sde(None, identity_start(2), throw=False, **options)
        with pytest.raises(ln.DivergedError, match="1 of 2 paths diverged"):
            noise_sde(None, identity_start(2), **options)
    assert run.status.reason.tolist() == ["diverged", "completed"]
    assert_allclose(run.reduced.first[0, 0], identity_start(2).first, atol=1e-12)


def test_divergence_is_raised_or_told():
    # the drift is cubic: far from the solution no fixed step is stable
    problem = ln.Problem.from_target(np.full((1, 2), 0.1))
    start = ln.Weights(np.eye(2), np.zeros((1, 2)))
    options = {"times": [0.0, 200.0, 400.0], "step": 0.35, "key": 1, "paths": 20, "noise_std": 0.99}
    with pytest.raises(ln.DivergedError, match="of 20 paths diverged"):
        noise_sde(problem, start, **options)
    run = noise_sde(problem, start, throw=False, **options)
    assert (run.status.reason == "diverged").any()
    assert np.isfinite(run.reduced.first).all()


def test_refusals():
    start = identity_start(2)
    with pytest.raises(ValueError, match="`noise_std` must not be negative"):
        noise_sde(None, start, times=[1.0], step=0.1, key=0, noise_std=-1.0)
    with pytest.raises(ValueError, match=r"`step` must be at most 0\.354"):
        noise_sde(None, start, times=[1.0], step=0.5, key=0)
    with pytest.raises(ValueError, match="for the drift to be stable"):
        noise_sde(ln.Problem.from_target([[5.0, 0.0]]), start, times=[1.0], step=0.3, key=0, noise_std=0.1)
    with pytest.raises(ValueError, match="must be one network"):
        noise_sde(None, ln.Weights(np.ones((2, 3, 2)), np.ones((2, 1, 3))), times=[1.0], step=0.1, key=0)
    problem = ln.Problem.from_cost(lambda a: a.sum(), in_dim=2, out_dim=1)
    with pytest.raises(ValueError, match="general cost"):
        noise_sde(problem, start, times=[1.0], step=0.1, key=0)
    with pytest.raises(ValueError, match="`problem` must be a linnet Problem, or None for no drift: got Weights"):
        noise_sde(start, start, times=[1.0], step=0.1, key=0)
    with pytest.raises(ValueError, match="must reach the last time"):
        noise_sde(None, start, times=[1.0], step=1e-9, key=0)
    with pytest.raises(ValueError, match="`increments` must be"):
        noise_sde(None, start, times=[1.0], step=0.1, key=0, increments=np.zeros((3, 1, 1, 2)))


def test_the_test_loss_is_that_of_the_products():
    random = np.random.default_rng(0)
    problem = ln.Problem.from_data(
        random.standard_normal((7, 4)), random.standard_normal((7, 3)), truth=np.ones((3, 4))
    )
    start = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=20, stds=0.3)
    run = ln.noise_sde(problem, start, times=[0.05, 0.1], step=0.01, key=0, paths=2, noise_std=0.1)
    assert np.allclose(run.test_loss, problem.test_loss(run.products), rtol=1e-12)
