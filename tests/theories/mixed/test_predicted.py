"""The phase diagram by formula, against trained networks and integrated flows that share no code with it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.theories import mixed
from linnet.theories.mixed._narrow_cells import DrawnStart
from linnet.theories.mixed._wide_cells import modes, wide_errors

TASK = ln.problems.low_rank_plus_noise(40, rank=3, key=5)


def trained(problem, variance, width, seed, until):
    """Test and train loss of a network trained by small steps, and its times."""
    std = np.sqrt(variance)
    start = ln.inits.reduced_gaussian(
        key=seed, in_dim=problem.in_dim, out_dim=problem.out_dim, width=width, first_std=std, second_std=std
    )
    rate = 0.02 / max(float(np.linalg.norm(problem.cross, 2)), variance * width)
    run = ln.gradient_descent(problem, start, learning_rate=rate, steps=int(until / rate), keep="losses")
    return run.times, run.test_loss, run.loss


def flow(F, Q, time, J=None, M=None):
    """The network's flow for Q = [W1^T; W2], or its balanced part without the imbalance, by DOP853."""

    def rate(_, state):
        now = state.reshape(Q.shape)
        extra = 0 if M is None else 0.5 * J[:, None] * (now @ M)
        return (F @ now - 0.5 * now @ (now.T @ now) + extra).ravel()

    return solve_ivp(rate, (0, time), Q.ravel(), "DOP853", rtol=1e-10, atol=1e-12).y[:, -1].reshape(Q.shape)


def stacked(spectrum, start, variance):
    """F, J and the start's Q = [W1^T; W2] in the singular basis, from what `DrawnStart` drew."""
    n, k, d = start.S.size, spectrum.outputs, spectrum.inputs
    inputs = np.vstack([start.first, start.spare]) if d > k else start.first
    outputs = np.vstack([start.second, start.spare]) if k > d else start.second
    target = np.zeros((len(outputs), len(inputs)))
    target[np.arange(n), np.arange(n)] = start.S
    F = np.block([[np.zeros((len(inputs),) * 2), target.T], [target, np.zeros((len(outputs),) * 2)]])
    J = np.concatenate([np.ones(len(inputs)), -np.ones(len(outputs))])
    return F, J, np.sqrt(variance) * np.vstack([inputs, outputs]), target


@pytest.mark.parametrize(
    ("shape", "width"), [((18, 18), 12), ((12, 20), 10), ((20, 12), 10), ((16, 16), 2), ((16, 16), 4)]
)
def test_the_closed_form_is_the_balanced_flow_of_the_tilted_start(shape, width):
    draw = np.random.default_rng(1)
    truth = 5 * draw.normal(size=(shape[0], 3)) @ draw.normal(size=(3, shape[1]))
    spectrum = mixed.task_spectrum(ln.Problem.from_target(truth + draw.normal(size=shape), truth=truth))
    start, variance, time = DrawnStart(spectrum, width, 0), 0.03, 0.04
    F, J, Q, target = stacked(spectrum, start, variance)
    tilt = np.exp(variance * start.rates * time / 4)
    end = flow(F, Q * np.where(J[:, None] > 0, tilt, 1 / tilt), time)
    A = end[J < 0] @ end[J > 0].T
    held = np.zeros(target.shape)
    held[np.arange(start.S.size), np.arange(start.S.size)] = start.share
    found = start.errors(np.array([variance]), np.array([[time]]))
    assert_allclose(found.train[0, 0], ((A - target) ** 2).sum(), rtol=1e-7)
    assert_allclose(found.test[0, 0], (A**2).sum() - 2 * (A * held).sum() + spectrum.truth_power, rtol=1e-7)
    assert_allclose(found.power[0, 0] / found.largest[0, 0], (A**2).sum() / np.linalg.norm(A, 2) ** 2, rtol=1e-3)


def test_the_imbalance_is_what_joins_the_two_regimes():
    """As wide as its inputs, large variance: 1% off with the start's imbalance, ten times as much without it."""
    spectrum = mixed.task_spectrum(TASK)
    start, variance = DrawnStart(spectrum, 40, 3), 0.4
    F, J, Q, target = stacked(spectrum, start, variance)
    M = np.diag(variance * start.rates)
    held = np.zeros(target.shape)
    held[np.arange(40), np.arange(40)] = start.share
    for time in (0.02, 0.04):
        end, plain = flow(F, Q, time, J, M), flow(F, Q, time)
        tests = []
        for state in (end, plain):
            A = state[J < 0] @ state[J > 0].T
            tests.append((A**2).sum() - 2 * (A * held).sum() + spectrum.truth_power)
        found = start.errors(np.array([variance]), np.array([[time]])).test[0, 0]
        assert abs(found / tests[0] - 1) < 0.02
        assert abs(tests[1] / tests[0] - 1) > 5 * abs(found / tests[0] - 1)


@pytest.mark.parametrize(("variance", "width"), [(1e-4, 4000), (1e-2, 4000), (3e-3, 40), (3e-3, 12)])
def test_runs_against_training(variance, width):
    diagram = mixed.predicted_diagram(TASK, [variance], [width], draws=4)
    tests = [trained(TASK, variance, width, [1, seed], 1.3 * diagram.best_time[0, 0]) for seed in range(4)]
    best = np.array([test.min() for _, test, _ in tests])
    error = best.std(ddof=1) / 2 + np.nan_to_num(diagram.spread[0, 0]) * best.mean() / 2  # four starts on either side
    assert diagram.covered.all()
    assert abs(diagram.best_test[0, 0] - best.mean()) < 0.01 * best.mean() + 3 * error
    times = tests[0][0]
    some = np.linspace(0, len(times) - 1, 6).astype(int)
    run = mixed.predicted_run(TASK, variance, width, times[some], draws=4)
    assert run.drawn == (width < 80)
    for found, which in ((run.test_loss, 1), (run.loss, 2)):
        curves = np.array([one[which][some] for one in tests])
        error = curves.std(axis=0, ddof=1) * np.sqrt(2 / 4)  # four starts on either side
        assert (np.abs(found - curves.mean(axis=0)) < 0.015 * curves[0, 0] + 3 * error).all()


def test_without_the_starts_own_product_it_would_be_wrong():
    """The control: at sigma^4 w = 0.3 the product of the start is most of the error at first."""
    spectrum, variance, width = mixed.task_spectrum(TASK), 1e-2, 3000
    at = wide_errors(spectrum, np.array([variance * width]), np.array([float(width)]), np.array([[0.0, 0.01]]))
    _, test, _ = trained(TASK, variance, width, 2, 0.01)
    assert_allclose(at.test[0, [0, 1]] / 2, test[[0, -1]], rtol=0.03)
    assert (at.own / at.test > 0.1).all()


def test_fast_modes_are_the_modes():
    values, times = np.array([0.0, 0.5, 3.0]), np.array([0.0, 0.2, 2.0])
    for g in (1e-6, 0.3, 40.0):
        s, left = modes(values, np.array(g), times[:, None])
        assert_allclose(s, mixed.mode_values(values, g, times), atol=1e-13)
        assert_allclose(left[:, 1:], 1 - s[:, 1:] / values[1:], atol=1e-13)


def test_a_network_wide_enough_forgets_its_draw():
    """Drawn starts of growing width tend to the formula of wide networks; thinning changes little."""
    spectrum = mixed.task_spectrum(TASK)
    variance, time = 2e-3, np.array([[0.05]])
    gaps = []
    for width in (160, 1600):
        g = np.array([variance * width])
        wide = wide_errors(spectrum, g, np.array([float(width)]), time).test[0, 0]
        drawn = np.mean([DrawnStart(spectrum, width, k).errors(g / width, time).test[0, 0] for k in range(6)])
        gaps.append(abs(drawn / wide - 1))
    assert gaps[0] < 0.05 and gaps[1] < 0.02


def test_groups_of_the_bulk_and_no_svd_at_all():
    widths, variances = [1, 3, 30, 300, 30_000], np.geomspace(1e-5, 1e-1, 4)
    full = mixed.predicted_diagram(TASK, variances, widths)
    few = mixed.predicted_diagram(TASK, variances, widths, points=12)
    assert np.median(np.abs(few.best_test / full.best_test - 1)) < 0.01
    strengths = np.linalg.svd(TASK.truth, compute_uv=False)[:3]
    limit = mixed.predicted_diagram(mixed.asymptotic_spectrum(strengths, 40, 1.0), variances, widths)
    assert np.median(np.abs(limit.best_test / full.best_test - 1)) < 0.1  # one draw of the noise beside its mean
    huge = mixed.asymptotic_spectrum(np.array([1.0, 0.8, 0.5]) * 1e6, 10**6, 1.0)
    far = mixed.predicted_diagram(huge, [1e-12, 1e-9, 1e-6], [2, 100, 10**6, 10**10])
    assert np.isfinite(far.best_test).all() and (far.best_test > 0).all()
    assert (far.best_test[0] > far.best_test[2]).all()  # two units cannot learn three signals


def test_shapes_axes_and_datasets():
    diagram = mixed.predicted_diagram(TASK, [1e-3, 1e-2], [5, 500, 5])
    assert diagram.best_test.shape == diagram.covered.shape == (3, 2)
    assert (diagram.best_test[0] == diagram.best_test[2]).all()  # one width is one prediction
    assert np.isnan(diagram.spread[1]).all() and (diagram.spread[0] > 0).all()
    data = diagram.to_dataset()
    assert data["best_test"].dims == ("width", "variance") and data["covered"].dtype == bool
    plain = mixed.predicted_diagram(TASK, [1e-3, 1e-2], [5, 500], draws=0)
    assert plain.covered.tolist() == [[False, False], [True, True]]
    assert (plain.best_test[1] == diagram.best_test[1]).all()
    again = mixed.predicted_diagram(TASK, [1e-3, 1e-2], [5], key=0)
    assert (again.best_test[0] == diagram.best_test[0]).all()
    assert "6 covered" in repr(diagram) or "of 6" in repr(diagram)


def test_a_run_without_a_truth_has_no_test_loss():
    run = mixed.predicted_run(ln.Problem.from_target(TASK.cross), 1e-3, 1000, [0.0, 0.1, np.inf])
    assert np.isnan(run.test_loss).all() and run.loss[-1] < 1e-6 * run.loss[0]
    assert run.values.shape == (3, 40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mixed.predicted_diagram(TASK, [0.0], [5]), "`variances` must be positive"),
        (lambda: mixed.predicted_diagram(TASK, [np.nan], [5]), "`variances` must be finite"),
        (lambda: mixed.predicted_diagram(TASK, [1.0], [2.5]), "`widths` must be whole numbers"),
        (lambda: mixed.predicted_diagram(TASK, [1.0], [0]), "`widths` must be positive"),
        (lambda: mixed.predicted_diagram(TASK, [1.0], [5], draws=-1), "`draws` must be at least 0"),
        (lambda: mixed.predicted_diagram(TASK, [1.0], [5], points=0), "`points` must be at least 1"),
        (lambda: mixed.predicted_diagram(np.eye(3), [1.0], [5]), "`problem` must be a Problem or a Spectrum"),
        (lambda: mixed.predicted_diagram(ln.Problem.from_target(np.eye(3)), [1.0], [5]), "must have a `truth`"),
        (lambda: mixed.task_spectrum(ln.problems.spiked_covariance(6, spike=3.0, alignment=0.5)), "whitened inputs"),
        (lambda: mixed.task_spectrum(ln.Problem.from_target(np.ones((2, 3, 3)))), "must be a single one"),
        (lambda: mixed.predicted_run(TASK, -1.0, 5, [1.0]), "`variance` must be positive"),
        (lambda: mixed.predicted_run(TASK, 1.0, 0, [1.0]), "`width` must be at least 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("seed", range(3))
def test_the_corners_of_the_plane_are_numbers(seed):
    """Tiny and huge variances, one unit and many, large gaps between the signals: finite, and no worse than nothing."""
    task = ln.problems.low_rank_plus_noise(24, rank=4, key=seed, spectrum=[3.0, 1.0, 0.9, 0.2])
    found = mixed.predicted_diagram(task, [1e-12, 1e-3, 1.0, 30.0], [1, 2, 3, 4, 5, 6, 24, 47, 90, 10**7])
    for array in (found.best_test, found.best_time, found.stable_rank, found.train_at_best):
        assert np.isfinite(array).all() and (array > 0).all()
    power = (np.asarray(task.truth) ** 2).sum() / 2
    assert (found.best_test[found.covered] < 1.05 * max(power, 24 * 24)).all()
    assert (found.stable_rank > 0.99).all() and (found.stable_rank <= 24).all()
