"""The phase diagram by formula, against trained networks and integrated flows that share no code with it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories import lazy_active
from linnet.theories.lazy_active._drawn_cells import DrawnStarts
from linnet.theories.lazy_active._drawn_rows import thinly
from linnet.theories.lazy_active._wide_cells import modes, wide_errors

TASK = ln.problems.low_rank_plus_noise(40, rank=3, key=5)


def trained(problem, variance, width, seed, until):
    """Test and train loss of a network trained by small steps, and its times."""
    std = np.sqrt(variance)
    start = ln.inits.reduced_gaussian(key=seed, in_dim=problem.in_dim, out_dim=problem.out_dim, width=width, stds=std)
    rate = 0.02 / max(float(np.linalg.norm(problem.cross, 2)), variance * width)
    run = ln.gradient_descent(problem, start, learning_rate=rate, steps=int(until / rate), keep="losses")
    return run.times, run.test_loss, run.loss


@pytest.mark.parametrize(("variance", "width"), [(1e-4, 4000), (1e-2, 4000), (3e-3, 40), (3e-3, 12)])
def test_runs_against_training(variance, width):
    diagram = lazy_active.predicted_diagram(TASK, [variance], [width])
    tests = [trained(TASK, variance, width, [1, seed], 1.3 * diagram.best_time[0, 0]) for seed in range(4)]
    best = np.array([test.min() for _, test, _ in tests])
    error = np.hypot(best.std(ddof=1) / 2, diagram.uncertainty[0, 0] * best.mean())  # four starts were trained
    assert diagram.covered.all()
    assert abs(diagram.min_test_loss[0, 0] - best.mean()) < 3 * error
    times = tests[0][0]
    some = np.linspace(0, len(times) - 1, 6).astype(int)
    run = lazy_active.predicted_run(TASK, variance, width, times[some])
    assert run.drawn == (width < 80)
    for found, which in ((run.test_loss, 1), (run.loss, 2)):
        curves = np.array([one[which][some] for one in tests])
        error = curves.std(axis=0, ddof=1) * np.sqrt(1 / 4 + 1 / 16)  # four starts here, sixteen there
        assert (np.abs(found - curves.mean(axis=0)) < 0.015 * curves[0, 0] + 3 * error).all()


def test_without_the_starts_own_product_it_would_be_wrong():
    """The control: at sigma^4 w = 0.3 the product of the start is most of the error at first."""
    spectrum, variance, width = lazy_active.task_spectrum(TASK), 1e-2, 3000
    at = wide_errors(spectrum, np.array([variance * width]), np.array([float(width)]), np.array([[0.0, 0.01]]))
    _, test, _ = trained(TASK, variance, width, 2, 0.01)
    assert_allclose(at.test[0, [0, 1]] / 2, test[[0, -1]], rtol=0.03)
    assert (at.own / at.test > 0.1).all()


def test_fast_modes_are_the_modes():
    values, times = np.array([0.0, 0.5, 3.0]), np.array([0.0, 0.2, 2.0])
    for g in (1e-6, 0.3, 40.0):
        s, left = modes(values, np.array(g), times[:, None])
        assert_allclose(s, lazy_active.mode_values(values, g, times), atol=1e-13)
        assert_allclose(left[:, 1:], 1 - s[:, 1:] / values[1:], atol=1e-13)


def test_a_network_wide_enough_forgets_its_draw():
    """Drawn starts of growing width tend to the formula of wide networks; thinning changes little."""
    spectrum = lazy_active.task_spectrum(TASK)
    variance, time = 2e-3, np.array([0.05])
    gaps = []
    for width in (160, 1600):
        g = np.array([variance * width])
        wide = wide_errors(spectrum, g, np.array([float(width)]), time[None]).test[0, 0]
        drawn = DrawnStarts(spectrum, width, list(range(6))).run(variance, time)[0].test.mean()
        gaps.append(abs(drawn / wide - 1))
    assert gaps[0] < 0.05 and gaps[1] < 0.02


@pytest.mark.slow
def test_groups_of_the_bulk_and_no_svd_at_all():
    widths, variances = [1, 3, 30, 300, 30_000], np.geomspace(1e-5, 1e-1, 4)
    full = lazy_active.predicted_diagram(TASK, variances, widths)
    few = lazy_active.predicted_diagram(TASK, variances, widths, points=12)
    assert np.median(np.abs(few.min_test_loss / full.min_test_loss - 1)) < 0.01
    strengths = np.linalg.svd(TASK.truth, compute_uv=False)[:3]
    limit = lazy_active.predicted_diagram(lazy_active.asymptotic_spectrum(strengths, 40, 1.0), variances, widths)
    assert (
        np.median(np.abs(limit.min_test_loss / full.min_test_loss - 1)) < 0.1
    )  # one draw of the noise beside its mean
    huge = lazy_active.asymptotic_spectrum(np.array([1.0, 0.8, 0.5]) * 1e6, 10**6, 1.0)
    far = lazy_active.predicted_diagram(huge, [1e-12, 1e-9, 1e-6], [2, 100, 10**6, 10**10])
    assert np.isfinite(far.min_test_loss).all() and (far.min_test_loss > 0).all()
    assert (far.min_test_loss[0] > far.min_test_loss[2]).all()  # two units cannot learn three signals


def test_shapes_axes_and_datasets():
    diagram = lazy_active.predicted_diagram(TASK, [1e-3, 1e-2], [5, 500, 5])
    assert diagram.min_test_loss.shape == diagram.covered.shape == (3, 2)
    assert (diagram.min_test_loss[0] == diagram.min_test_loss[2]).all()  # one width is one prediction
    assert np.isnan(diagram.scatter[1]).all() and (diagram.scatter[0] > 0).all()
    assert (diagram.covered == (diagram.uncertainty < 0.03)).all()
    assert not lazy_active.predicted_diagram(TASK, [1e-3], [500], limit=1e-6).covered.any()
    data = diagram.to_dataset()
    assert data["min_test_loss"].dims == ("width", "variance") and data["covered"].dtype == bool
    plain = lazy_active.predicted_diagram(TASK, [1e-3, 1e-2], [5, 500], draws=0)
    assert plain.covered.tolist() == [[False, False], [True, True]] and np.isnan(plain.uncertainty[0]).all()
    assert (plain.min_test_loss[1] == diagram.min_test_loss[1]).all()
    again = lazy_active.predicted_diagram(TASK, [1e-3, 1e-2], [5], key=0)
    assert (again.min_test_loss[0] == diagram.min_test_loss[0]).all()
    assert "6 covered" in repr(diagram) or "of 6" in repr(diagram)


def test_a_run_without_a_truth_has_no_test_loss():
    run = lazy_active.predicted_run(ln.Problem.from_target(TASK.cross), 1e-3, 1000, [0.0, 0.1, np.inf])
    assert np.isnan(run.test_loss).all() and run.loss[-1] < 1e-6 * run.loss[0]
    assert run.values.shape == (3, 40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lazy_active.predicted_diagram(TASK, [0.0], [5]), "`variances` must be positive"),
        (lambda: lazy_active.predicted_diagram(TASK, [np.nan], [5]), "`variances` must be finite"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [2.5]), "`widths` must be whole numbers"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [0]), "`widths` must be positive"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [5], draws=-1), "`draws` must be at least 0"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [5], draws=1), "`draws` must be 0 or at least 2"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [5], limit=0.0), "`limit` must be positive"),
        (lambda: lazy_active.predicted_diagram(TASK, [1.0], [5], points=0), "`points` must be at least 1"),
        (lambda: lazy_active.predicted_diagram(np.eye(3), [1.0], [5]), "`problem` must be a linnet Problem"),
        (lambda: lazy_active.predicted_diagram(ln.Problem.from_target(np.eye(3)), [1.0], [5]), "must have a `truth`"),
        (
            lambda: lazy_active.task_spectrum(ln.problems.spiked_covariance(6, spike=3.0, alignment=0.5)),
            "whitened inputs",
        ),
        (lambda: lazy_active.task_spectrum(ln.Problem.from_target(np.ones((2, 3, 3)))), "must be a single one"),
        (lambda: lazy_active.predicted_run(TASK, -1.0, 5, [1.0]), "`variance` must be positive"),
        (lambda: lazy_active.predicted_run(TASK, 1.0, 0, [1.0]), "`width` must be at least 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


ALL_WIDTHS = [1, 2, 3, 4, 5, 6, 24, 47, 90, 10**7]


@pytest.mark.parametrize(
    ("seed", "widths"),
    [(1, [5, 10**7]), *(pytest.param(n, ALL_WIDTHS, marks=pytest.mark.slow) for n in range(3))],
)
def test_the_corners_of_the_plane_are_numbers(seed, widths):
    """Tiny and huge variances, one unit and many, large gaps between the signals: finite, and no worse than nothing."""
    task = ln.problems.low_rank_plus_noise(24, rank=4, key=seed, spectrum=[3.0, 1.0, 0.9, 0.2])
    found = lazy_active.predicted_diagram(task, [1e-12, 1e-3, 1.0, 30.0], widths)
    for array in (found.min_test_loss, found.stable_rank, found.train_at_best, found.uncertainty):
        assert np.isfinite(array).all() and (array > 0).all()
    assert (np.isnan(found.best_time) == np.isnan(found.best_time_uncertainty)).all()
    power = (np.asarray(task.truth) ** 2).sum() / 2
    assert (found.min_test_loss[found.covered] < 1.05 * max(power, 24 * 24)).all()
    assert (found.stable_rank > 0.99).all() and (found.stable_rank <= 24).all()


def test_a_single_unit_on_a_plateau_has_no_best_time():
    """One unit learns one of three signals and stays: every late time is as good, and none is told."""
    found = lazy_active.predicted_diagram(TASK, [1e-4, 1e-2], [1, 400])
    assert np.isnan(found.best_time[0]).all() and np.isfinite(found.best_time[1]).all()
    assert (found.best_time_uncertainty[1] < 0.2).all()


def test_few_variances_are_all_followed():
    """What is interpolated between variances far apart is the mean of four starts, and its error bar is not honest."""
    assert thinly(np.arange(8.0), 3.0).tolist() == [0, 3, 6, 7]
    assert thinly(np.array([0.0, 5.0, 10.0, 10.5, 11.0]), 3.0).tolist() == [0, 1, 2, 4]
    assert thinly(np.zeros(1), 3.0).tolist() == [0]


def test_the_wide_formula_is_left_where_it_would_be_off():
    """No cell beside drawn ones keeps a wide formula whose own error bar is above the limit: there are no islands."""
    found = lazy_active.predicted_diagram(TASK, np.geomspace(1e-5, 1.0, 6), [85, 130, 200], draws=0)
    told = lazy_active.predicted_diagram(TASK, np.geomspace(1e-5, 1.0, 6), [85, 130, 200])
    assert np.nanmax(found.uncertainty) < 0.03 and told.covered.mean() > 0.9


@pytest.mark.parametrize("shape", [(9, 9), (7, 11)])
def test_entries_of_the_truth_beside_the_diagonal_count(shape):
    """The distance to the truth of drawn networks, entry by entry; without these entries it is another one."""
    draw = np.random.default_rng(3)
    left, right = draw.normal(size=(shape[0], 2)), draw.normal(size=(shape[1], 2))
    truth = 3 * left @ right.T
    problem = ln.Problem.from_target(truth + 2 * draw.normal(size=shape), truth=truth)
    spectrum = lazy_active.task_spectrum(problem)
    starts = DrawnStarts(spectrum, 3, [1, 2])
    layers = starts.at(np.arange(2), np.full(2, 0.5))
    u, _, v = np.linalg.svd(np.asarray(problem.cross), full_matrices=False)
    entries, n, K = u.T @ truth @ v.T, spectrum.values.size, spectrum.num_outliers
    inside = ~np.eye(n, dtype=bool)
    inside[:K], inside[:, :K] = False, False
    entries[inside] = 0.0  # those within the bulk are left out
    product = layers.second @ layers.first.swapaxes(1, 2)
    measured = starts.measured(layers)
    exact = measured.power - 2 * (product * entries).sum(axis=(1, 2)) + (truth**2).sum()
    assert_allclose(measured.test, exact, rtol=1e-12)
    starts.mixed, starts.signals = None, np.diag(np.diag(starts.signals))
    assert np.abs(starts.measured(layers).test / exact - 1).max() > 1e-3


def test_few_units_are_followed_until_they_have_turned_to_their_modes():
    """Two units, three signals of close values: the test error rises on the way, and falls again by a seventh."""
    left, right = (np.linalg.qr(np.random.default_rng(i).normal(size=(20, 3)))[0] for i in (1, 2))
    truth = (left * [18.0, 12.0, 11.0]) @ right.T
    problem = ln.Problem.from_target(truth + np.random.default_rng(4).normal(size=(20, 20)), truth=truth)
    plateau = np.linalg.svd(np.asarray(problem.cross))
    best = (plateau[0][:, :2] * plateau[1][:2]) @ plateau[2][:2]
    found = lazy_active.predicted_diagram(problem, [1e-4], [2])
    assert found.min_test_loss[0, 0] < 1.01 * ((best - truth) ** 2).sum() / 2


@pytest.mark.parametrize("width", [4, 30, 300])
def test_half_the_digits_are_enough(width, monkeypatch):
    """Starts are followed in float32 where nothing overflows: a thousandth of the least error bar away at most."""
    spectrum = lazy_active.task_spectrum(TASK)
    variances, starts = np.array([1e-6, 1e-3, 0.3]), DrawnStarts(spectrum, width, [1, 2])
    draws, each = np.repeat([0, 1], 3), np.tile(variances, 2)
    how = draws, each, np.full(6, 0.1), np.full(6, 0.1), np.full(6, 6.0)  # the last are guess, horizon and steps
    assert starts.number_kind(variances) is np.float32
    assert starts.number_kind(np.array([1e-40])) is starts.number_kind(np.array([1e20])) is np.float64
    single = starts.least(*how)
    monkeypatch.setattr(DrawnStarts, "number_kind", lambda self, variances: np.float64)
    double = starts.least(*how)
    assert_allclose(single.test, double.test, rtol=1e-4)
    assert_allclose(single.train, double.train, rtol=1e-3)
    assert_allclose(single.rank, double.rank, rtol=1e-3)
    assert (single.test != double.test).any()  # they are two computations


def test_the_least_error_lies_where_many_times_say():
    """Between nodes, against the same starts at 400 times; from a small start, where long steps are exact."""
    spectrum, variance = lazy_active.task_spectrum(TASK), 1e-7
    starts = DrawnStarts(spectrum, 12, [1, 2, 3])
    found = starts.least(np.arange(3), *(np.full(3, value) for value in (variance, 0.15, 0.05, 7.0)))
    nodes = starts.run(variance, 0.02 * np.arange(1, 16))[0].test.min(axis=1)
    assert (nodes > 1.005 * found.test).any()  # the best node would not do
    for i, clock in enumerate(np.linspace(0.5, 1.5, 400)[None, :] * found.time[:, None]):
        curve = starts.run(variance, clock)[0].test[i]
        assert_allclose(found.test[i], curve.min(), rtol=1e-3)
        assert_allclose(found.time[i], clock[np.argmin(curve)], rtol=0.02)


def test_a_test_error_of_exactly_zero_has_no_scatter():
    """One hidden unit learns this target's strong mode exactly, in every draw."""
    problem = ln.Problem.from_target(np.diag([2.0, 0.5]), truth=np.diag([2.0, 0.0]))
    diagram = ln.theories.lazy_active.predicted_diagram(problem, [0.1, 1.0], [1, 2, 50], draws=2)
    assert np.all(diagram.min_test_loss[0] < 1e-12) and np.isfinite(diagram.uncertainty).all()
    assert np.all(diagram.min_test_loss[1:] > 1e-3)


@pytest.mark.parametrize("unit", [1e-140, 1e-100, 1e100, 1e140])
def test_a_diagram_is_the_same_in_any_units(unit):
    """At 1e-100, narrow cells were once up to 2% off; at 1e100 they raised an error."""
    task = ln.problems.low_rank_plus_noise(12, rank=2, key=1)
    scaled = ln.Problem.from_target(task.cross * unit, truth=task.truth * unit)
    plain = ln.phase_diagram(task, [1e-3, 1e-2], [5, 16])
    found = ln.phase_diagram(scaled, np.array([1e-3, 1e-2]) * unit, [5, 16])
    assert_allclose(found.min_test_loss / unit / unit, plain.min_test_loss, rtol=1e-6)
    assert_allclose(found.best_time * unit, plain.best_time, rtol=1e-5)
    assert_allclose(found.uncertainty, plain.uncertainty, rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-140, 1e-100, 1e100, 1e140])
def test_a_run_is_the_same_in_any_units(unit):
    """The stable rank of narrow networks was once 0 at 1e-100, and that of others at 1e100."""
    task, times = ln.problems.low_rank_plus_noise(12, rank=2, key=1), np.linspace(0, 0.5, 4)
    scaled = ln.Problem.from_target(task.cross * unit, truth=task.truth * unit)
    for width in (5, 500):
        plain = lazy_active.predicted_run(task, 1e-2, width, times)
        found = lazy_active.predicted_run(scaled, 1e-2 * unit, width, times / unit)
        assert_allclose(found.test_loss / unit / unit, plain.test_loss, rtol=1e-9)
        assert_allclose(found.stable_rank, plain.stable_rank, rtol=1e-6)
        assert_allclose(found.values / unit, plain.values, rtol=1e-9, atol=1e-9)
