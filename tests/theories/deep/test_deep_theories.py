"""Theories of deep networks: against mpmath, the two-layer theory, their own equations and full networks."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.theories import deep, lazy_active
from reference import descend

VALUES = np.array([4.0, 2.0, 1.0, 0.5, 0.0])


@pytest.mark.parametrize("depth", [2, 3, 4, 7])
def test_times_of_balanced_modes_to_thirteen_digits(depth):
    """The integral of ds/(L s^(2 - 2/L) (S - s)) by quadrature in forty digits."""
    with mpmath.workdps(40):
        power = 2 - mpmath.mpf(2) / depth
        for top, reached in ((2.0, 1.9), (1.0, 0.3)):
            exact = mpmath.quad(lambda s, top=top: 1 / (depth * s**power * (top - s)), [0.01, 0.1, reached])
            assert_allclose(deep.balanced_times([top], 0.01, reached, depth)[0], float(exact), rtol=2e-13)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_balanced_modes_solve_their_equation(depth):
    times = np.linspace(0.0, 12.0, 25)
    found = deep.balanced_modes(VALUES, 0.05, depth, times)
    assert_allclose(found[0], 0.05)
    for mode, top in enumerate(VALUES):
        solved = solve_ivp(
            lambda t, s, top=top: depth * s ** (2 - 2 / depth) * (top - s),
            (0, 12),
            [0.05],
            "DOP853",
            t_eval=times,
            rtol=1e-12,
            atol=1e-14,
        )
        assert_allclose(found[:, mode], solved.y[0], atol=1e-10)
    restart = deep.balanced_modes(VALUES, found[10], depth, times[10:] - times[10])
    assert_allclose(restart, found[10:], atol=1e-11)
    assert_allclose(deep.balanced_modes(VALUES[:4], 0.05, depth, [1e4])[0], VALUES[:4], rtol=1e-12)
    # at depth 2 it is Saxe's logistic; the control: one depth is not another
    if depth == 2:
        logistic = VALUES[0] / (1 + (VALUES[0] / 0.05 - 1) * np.exp(-2 * VALUES[0] * times))
        assert_allclose(found[:, 0], logistic, rtol=1e-12)
    assert np.abs(deep.balanced_modes(VALUES, 0.05, depth + 1, times) - found).max() > 0.1


@pytest.mark.parametrize("depth", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_balanced_modes_are_those_of_networks(depth):
    target = np.diag([2.0, 1.0])
    start = ln.inits.balanced(0.05 * np.eye(2), depth=depth)
    run = ln.gradient_flow(ln.Problem.from_target(target), start, times=[0.5, 1.0, 3.0])
    modes = deep.balanced_modes([2.0, 1.0], 0.05, depth, run.times)
    assert_allclose(np.diagonal(run.products, axis1=1, axis2=2), modes, atol=1e-9)


def test_two_layers_come_back():
    times = np.linspace(0, 5, 6)
    assert_allclose(deep.gaussian_modes(VALUES, 0.5, 2, times), lazy_active.mode_values(VALUES, 0.25, times), atol=1e-7)
    assert_allclose(
        deep.orthogonal_modes(VALUES, 0.5, 2, times), lazy_active.mode_values(VALUES, 0.25, times), atol=1e-7
    )


@pytest.mark.parametrize("depth", [3, 4])
def test_modes_are_those_of_wide_networks(depth):
    """Decoupling like w^-1/2: a hundred times the width, a tenth of the distance."""
    target, times = np.diag(VALUES), np.arange(0, 6) * 0.4
    modes = deep.gaussian_modes(VALUES, 0.7, depth, times)
    apart = []
    for width in (10**4, 10**6):
        starts = ln.inits.reduced_gaussian(
            in_dim=5, out_dim=5, width=width, depth=depth, stds=0.7 * width**-0.5, key=0, order=4, batch=4
        )
        # two sizes of steps, extrapolated: the flow to a few 1e-4
        coarse, fine = (descend(starts.layers, target, 0.4 / n, 5 * n, every=n) for n in (40, 80))
        products = 2 * fine - coarse
        apart.append(np.abs(np.diagonal(products, axis1=-2, axis2=-1) - modes[:, None]).max(axis=(0, 2)).mean())
    assert apart[1] < 0.25 * apart[0] < 0.05


def test_longer_words_change_nothing_and_short_ones_do():
    times = np.linspace(0, 4, 5)
    chosen = deep.gaussian_modes(VALUES, 0.5, 3, times)
    assert np.abs(deep.gaussian_modes(VALUES, 0.5, 3, times, order=9) - chosen).max() < 1e-4
    assert np.abs(deep.gaussian_modes(VALUES, 0.5, 3, times, order=1) - chosen).max() > 1e-3


def test_lazy_and_scale_laws():
    times = np.linspace(0, 0.05, 5)
    lazy = -1e-3 * np.expm1(-3 * 2.0**4 * times)  # the initial kernel is L c^(2L - 2)
    assert_allclose(deep.gaussian_modes([1e-3], 2.0, 3, times)[:, 0], lazy, atol=2e-6)
    # S -> 8 S, c -> 2 c, t -> t/16 at depth 3
    one = deep.gaussian_modes([1.0], 0.5, 3, [0.0, 1.0, 2.0], order=5)
    other = deep.gaussian_modes([8.0], 1.0, 3, [0.0, 1 / 16, 2 / 16], order=5)
    assert_allclose(other, 8 * one, rtol=1e-6, atol=1e-8)
    assert deep.threshold(0.5, 3) == 0.125


def test_the_diagram_is_that_of_its_modes():
    task = ln.problems.low_rank_plus_noise(24, rank=2, key=0)
    told = deep.deep_diagram(task, [1e-7, 1e-5], [10**5], depth=3)
    assert told.covered.all()
    spectrum = lazy_active.task_spectrum(task)
    times = told.best_time[0, 1] * np.array([0.7, 0.85, 1.0, 1.15, 1.3])
    s = deep.gaussian_modes(spectrum.values, np.sqrt(1e-5 * 1e5), 3, times, rtol=1e-3)
    errors = (s**2 - 2 * spectrum.overlaps * s).sum(axis=1) + spectrum.truth_power
    assert_allclose(told.min_test_loss[0, 1], errors.min() / 2, rtol=5e-3)
    assert not deep.deep_diagram(task, [1e-5], [50], depth=3).covered.any()  # narrow cells are not claimed


@pytest.mark.parametrize(
    ("depth", "coupling"),
    [
        (2, 0.5),
        (3, 0.5),
        (4, 0.3),
        pytest.param(4, 1.5, marks=pytest.mark.slow),
        pytest.param(5, 0.4, marks=pytest.mark.slow),
    ],
)
def test_the_least_error_is_found_however_sudden_it_is(depth, coupling):
    """At depth 4 and small scale the second mode passes its best value within a hundredth of the time before."""
    task = ln.problems.low_rank_plus_noise(30, rank=2, key=1009)
    told = deep.deep_diagram(task, [coupling**2 / 1e6], [10**6], depth=depth)
    spectrum = lazy_active.task_spectrum(task)
    times = told.best_time[0, 0] * np.linspace(0.97, 1.03, 400)
    s = deep.gaussian_modes(spectrum.values, coupling, depth, times, order=5)
    errors = (s**2 - 2 * spectrum.overlaps * s).sum(axis=1) + spectrum.truth_power
    assert_allclose(told.min_test_loss[0, 0], errors.min() / 2, rtol=5e-4)
    assert 0 < errors.argmin() < 399


@pytest.mark.parametrize("depth", [3, *(pytest.param(depth, marks=pytest.mark.slow) for depth in (4, 5, 6))])
def test_the_error_is_that_of_networks_at_full_width(depth):
    """Plain descent of every weight, narrow and wide: within twice the error that is told, and not far below it."""
    rng, apart = np.random.default_rng(0), []
    task = ln.problems.low_rank_plus_noise(8, rank=1, key=3)
    for width in (130, 400):
        told = deep.deep_diagram(task, [0.64 / width], [width], depth=depth)
        sizes = [8, *[width] * (depth - 1), 8]
        for _ in range(2):
            layers = [0.8 * width**-0.5 * rng.standard_normal((b, a)) for a, b in pairwise(sizes)]
            products = descend(layers, task.cross, 2.5 * told.best_time[0, 0] / 200, 200)
            least = 0.5 * ((products - task.truth) ** 2).sum(axis=(-1, -2)).min()
            apart.append(abs(told.min_test_loss[0, 0] / least - 1) / told.uncertainty[0, 0])
    assert 0.1 < max(apart) < 2


def test_the_plane_at_depth_three():
    task = ln.problems.low_rank_plus_noise(24, rank=2, key=0)
    plane = lazy_active.predicted_diagram(task, [1e-6], [50, 10**5], depth=3)
    assert plane.covered.tolist() == [[False], [True]]
    assert_allclose(plane.min_test_loss[1], deep.deep_diagram(task, [1e-6], [10**5], depth=3).min_test_loss[0])


def test_refusals():
    with pytest.raises(ValueError, match="`values` must not be negative"):
        deep.gaussian_modes([-1.0], 0.5, 3, [1.0])
    with pytest.raises(ValueError, match="one for each of the 3 layers: got 2"):
        deep.orthogonal_modes([1.0], [0.5, 0.5], 3, [1.0])
    with pytest.raises(ValueError, match="never gets there"):
        deep.balanced_times([1.0], 0.1, 1.0, 3)
    with pytest.raises(ValueError, match="must have a `truth`"):
        deep.deep_diagram(ln.Problem.from_target(np.eye(3)), [1e-3], [100], depth=3)


def test_cells_that_cannot_be_computed_are_refused():
    for values, coupling in (([1e300], 0.3), ([1.0], 1e100), ([1.0], 5e7)):
        with pytest.raises(ValueError, match="`coupling`"):
            deep.gaussian_modes(values, coupling, 3, [0.0, 1.0])
    task = ln.problems.low_rank_plus_noise(10, rank=1, key=0)
    with pytest.raises(ValueError, match="`variances`"):
        deep.deep_diagram(task, [1e308], [10], depth=3)
    nothing = ln.Problem.from_target(np.zeros((3, 3)), truth=np.eye(3))
    with pytest.raises(ValueError, match="`problem` must have a target that is not zero"):
        deep.deep_diagram(nothing, [1e-4], [10], depth=3)


@pytest.mark.parametrize("depth", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_modes_may_begin_at_values_of_their_own(depth):
    """One input and one output: the network itself, orthogonal exactly, Gaussian up to its width."""
    problem, times = ln.Problem.from_target([[2.0]]), np.array([0.0, 0.5, 1.0, 3.0])
    start = ln.inits.orthogonal_layers(key=1, in_dim=1, out_dim=1, width=6, scales=0.8, depth=depth)
    exact = ln.gradient_flow(problem, start, times=times).products[:, 0]
    initial = float(start.product[0, 0])
    assert_allclose(deep.orthogonal_modes([2.0], 0.8, depth, times, initial_values=initial), exact, atol=1e-8)
    assert np.abs(deep.orthogonal_modes([2.0], 0.8, depth, times) - exact).max() > 0.02  # which neglects it
    many = 24
    wide = ln.inits.reduced_gaussian(
        key=4, in_dim=1, out_dim=1, width=2000, stds=0.8 / 2000**0.5, depth=depth, order=4, batch=many
    )
    exact = ln.gradient_flow(problem, wide, times=times).products[:, :, 0, 0]
    begun, from_zero = (
        np.abs(deep.gaussian_modes(np.full(many, 2.0), 0.8, depth, times, initial_values=values) - exact).mean()
        for values in (wide.product[:, 0, 0], 0.0)
    )
    assert begun < 0.02 and begun < from_zero / 1.5
    with pytest.raises(ValueError, match="`initial_values` must be at most the product of the layers' sizes"):
        deep.orthogonal_modes([2.0], 0.5, depth, times, initial_values=1.0)


@pytest.mark.parametrize("depth", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_balanced_products_are_those_of_networks_with_any_covariance(depth):
    random = np.random.default_rng(depth)
    problem = ln.Problem.from_data(random.normal(size=(9, 4)) * [2.0, 1.0, 1.0, 0.5], random.normal(size=(9, 3)))
    start = ln.inits.balanced(0.3 * random.normal(size=(3, 4)), depth=depth)
    run = ln.gradient_flow(problem, start, times=[0.0, 0.5, 2.0])
    assert_allclose(deep.balanced_products(problem, start.product, depth, run.times), run.products, atol=1e-8)
