"""linnet's own claims where nothing new is trained: the figure, and numbers nobody measured."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.own.claims import diagram
from linnet_papers.own.figures import published
from linnet_papers.own.grids import cells, dimensions
from linnet_papers.own.training import flows
from linnet_papers.own.training import plane as plane_networks
from linnet_papers.own.training.deep import descent_products
from linnet_papers.reproduction import Trial, Verdict, verify

QUICK = Trial(quick=True)


@pytest.fixture(scope="module")
def plane():
    """A few cells of the quick plane, from one unit to wide, of two tasks."""
    sweep = cells.networks.__wrapped__(QUICK)  # type: ignore[attr-defined]
    fixed = sweep.fixed | {"cells": 4, "sides": [10, 14], "starts": [12, 6, 4]}
    axes = {"task": [0, 1], "cell": [0, 1, 2, 3], "start": list(range(12))}
    return ln.sweeps.run(sweep.model_copy(update={"axes": axes, "fixed": fixed, "block": 12}))


def test_trained_networks_are_where_the_formula_says(plane):
    both = cells.read(plane)
    assert both.covered.all() and both.within("min_test_loss", bars=3).all() and both.ended.all()
    assert (np.abs(both.off["stable_rank"]) < 0.2).all()
    assert plane["min_test_loss"].notnull().sum("start").values.tolist() == [[12, 6, 4, 4]] * 2


def test_tasks_take_turns():
    tasks = [plane_networks.task(number, 5, (40, 60)) for number in range(6)]
    assert [np.linalg.matrix_rank(np.asarray(one.truth)) for one in tasks] == [1, 3, 6, 2, 10, 4]
    assert [one.in_dim == one.out_dim for one in tasks] == [False, True] * 3
    places = plane_networks.chosen_cells(0, 5, 30, 8)
    assert [one.width for one in places] == sorted(one.width for one in places)


def test_the_flow_of_a_network_is_that_of_the_trainer():
    """RK4 against `gradient_flow`: the minimum test loss over many times, and where it is."""
    problem = ln.problems.low_rank_plus_noise(8, rank=2, key=0)
    starts = [ln.inits.gaussian(in_dim=8, out_dim=8, width=5, stds=0.2, key=i) for i in range(2)]
    layers = (np.stack([getattr(one, name) for one in starts]) for name in ("first", "second"))
    target, truth = np.asarray(problem.cross), np.asarray(problem.truth)
    found = flows.least_errors(*layers, target, truth, np.full(2, 2 * np.linalg.norm(target, 2)), 1.0)
    times = np.linspace(0, 2 * found.time.max(), 3000)
    runs = [ln.gradient_flow(problem, one, times=times) for one in starts]
    assert_allclose(found.test / 2, [run.test_loss.min() for run in runs], rtol=3e-4)
    assert_allclose(found.time, [times[np.argmin(run.test_loss)] for run in runs], rtol=0.02)


def test_the_error_falls_with_the_dimension(monkeypatch):
    """On numbers nobody trained: errors that fall like 1/d, and errors that do not fall."""
    dims = [10, 20, 40, 80]
    for power, verdict in ((-1, Verdict.HOLDS), (0, Verdict.REFUTED)):
        made = {dim: np.full((6, 2), 0.01 * float(dim) ** power) for dim in dims}
        monkeypatch.setattr(dimensions, "errors", lambda trial, made=made: made)
        (found,) = verify([diagram.error_over_dimensions], QUICK)
        assert found.verdict == verdict


def test_published_cells():
    data = published.compute(published.Published(tasks=2), ())
    assert data["predicted"].dims == ("task", "gamma_variance", "gamma_width")
    median, largest, *_ = published.check(data)
    assert median.met and largest.met, largest
    assert published.plot(data) is not None
    late = data.assign(predicted=1.2 * data["predicted"])  # the mistake: errors a fifth too large
    assert not next(published.check(late)).met


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_border_of_a_mode_follows_from_scaling(depth):
    """Layers times a, target times a^L and time over a^(2L - 2): the same run, so the exponent 2/L is no finding."""
    random, factor = np.random.default_rng(depth), 1.7
    layers = [random.normal(size=(3, 3)) / 3 for _ in range(depth)]
    target = random.normal(size=(3, 3))
    run = descent_products(layers, target, 0.01, 200, every=20)
    rate = 0.01 / factor ** (2 * depth - 2)
    scaled = descent_products([factor * layer for layer in layers], factor**depth * target, rate, 200, every=20)
    assert_allclose(scaled, factor**depth * run, rtol=1e-10)
