"""The grids of Tu et al.: cells against plain NumPy, cells that know nothing of their neighbors, and controls."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from drawn import drawn_gaussian
from linnet.theories import lazy_active
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.tu.grids import active_region
from linnet_papers.tu.grids import border as tu_border
from linnet_papers.tu.grids import regions as tu_regions
from linnet_papers.tu.grids import timeline as tu_timeline
from linnet_papers.tu.grids import widths as tu_widths
from linnet_papers.tu.training import descents, phase_diagram, widths
from reference import descend, flow

QUICK = Trial(quick=True)

pytestmark = pytest.mark.slow  # it trains grids of networks


# The active region


def active_cells(seeds: list[int]) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    points = {"dim": np.full(len(seeds), 6), "spectrum": np.full(len(seeds), "(1, 1/2)")}
    fixed = {"gammas": [-1.85, 2.25], "spectra": {"(1, 1/2)": [1.0, 0.5]}, "spans": {"(1, 1/2)": 4.0}}
    return descents.active_cells(points, np.array(seeds), **fixed)


def test_a_curve_of_the_active_region_is_that_of_plain_descent() -> None:
    found = active_cells([11, 12])
    times, curve = found["times"][1][1], found["test_error"][1][1]
    task = ln.problems.low_rank_plus_noise(6, rank=2, key=[12, 0], spectrum=[1.0, 0.5])
    truth, std = np.asarray(task.truth), 6 ** (-1.85 / 2)
    weights = ln.inits.reduced_gaussian(key=[12, 1], in_dim=6, out_dim=6, width=56, stds=std)
    steps = int(np.ceil(4 * np.log(6) * 15))
    products = descend(weights.layers, task.cross, 1 / 90, steps)
    errors = [((product - truth) ** 2).sum() / ((task.cross - truth) ** 2).sum() for product in products]
    np.testing.assert_allclose(times[-1], steps / 90)
    np.testing.assert_allclose(curve, np.interp(times, np.arange(steps + 1) / 90, errors), rtol=1e-10)
    assert curve.min() < 0.8 * curve[0]


def test_a_curve_does_not_depend_on_its_neighbors() -> None:
    np.testing.assert_array_equal(active_cells([11, 12])["test_error"][1][1], active_cells([12, 9])["test_error"][1][0])


def test_a_time_beyond_the_curves_is_not_read_off_them(monkeypatch: pytest.MonkeyPatch) -> None:
    right = lazy_active.stopping_time
    monkeypatch.setattr(lazy_active, "stopping_time", lambda *a, **k: 2 * right(*a, **k))
    with pytest.raises(RuntimeError, match="is not reached at d = 30"):
        active_region.errors(QUICK)


# The boundary of the lazy region


def test_the_preference_is_that_of_plain_descent() -> None:
    levels = [0.05, 3.0]
    points = {"dim": np.full(2, 6), "target": np.array(["low rank", "full rank"])}
    found = descents.border_cells(points, np.array([3, 4]), levels=levels, steps=150)
    for cell, (name, seed) in enumerate([("low rank", 3), ("full rank", 4)]):
        target = descents.target_of(name, 6, seed)
        left, values, right = np.linalg.svd(target)
        np.testing.assert_allclose(found["threshold"][1][cell], np.array(levels) * values[0])
        for i, level in enumerate(levels):
            std = float(np.sqrt(level * values[0] / 6**3))
            weights = ln.inits.reduced_gaussian(key=[seed, 1, i], in_dim=6, out_dim=6, width=216, stds=std)
            products = descend(weights.layers, target, 0.05 / (max(level, 1) * values[0]), 150)
            losses = np.array([((target - product) ** 2).sum() for product in products])
            half = products[int(np.argmax(losses <= losses[0] / 2))]
            progress = [left[:, m] @ half @ right[m] / values[m] for m in range(6)]
            np.testing.assert_allclose(found["preference"][1][cell, i], progress[0] / np.median(progress), rtol=1e-9)


def test_full_rank_targets_are_noise_and_low_rank_ones_are_not() -> None:
    low, full = (np.linalg.svd(descents.target_of(name, 60, 1), compute_uv=False) for name in tu_border.TARGETS)
    assert abs(low[0] - 61) < 4 and low[1] < 2.2 * 60**0.5
    assert full[0] < 2.2 * 60**0.5


def test_a_crossing_is_found_between_two_thresholds_and_nowhere_else() -> None:
    thresholds, powers = np.array([1.0, 10.0, 100.0]), np.array([2.0, 1.0, 0.5])
    middle = tu_border.lazy_threshold(thresholds, tu_border.PREFERRED**powers)
    np.testing.assert_allclose(middle, 10.0)
    np.testing.assert_allclose(
        tu_border.lazy_threshold(thresholds, tu_border.PREFERRED ** np.array([2.0, 1.5, 0.5])), 10**1.5
    )
    with pytest.raises(RuntimeError, match="every threshold is lazy"):
        tu_border.lazy_threshold(thresholds, np.ones(3))
    with pytest.raises(RuntimeError, match="no threshold is lazy"):
        tu_border.lazy_threshold(thresholds, np.full(3, 2.0))


# Cells of the phase diagram


def region_cells(cases: list[str], replicates: list[int], seeds: list[int]) -> dict[str, np.ndarray]:
    points = {"dim": np.full(len(seeds), 6), "case": np.array(cases), "replicate": np.array(replicates)}
    return phase_diagram.case_cells(
        points, np.array(seeds), cases={"lazy a": [-1.0, 2.2], "wide b": [-2.0, 1.5]}, rank=2, seed=5
    )


@pytest.mark.parametrize(("case", "variance", "width"), [("lazy a", -1.0, 52), ("wide b", -2.0, 15)])
def test_a_cell_of_the_diagram_is_plain_descent(case: str, variance: float, width: int) -> None:
    found = region_cells([case] * 2, [0, 1], [21, 22])
    task = ln.problems.low_rank_plus_noise(6, rank=2, noise_std=1.0, key=[5, 1])
    truth, std = np.asarray(task.truth), 6 ** (variance / 2)
    weights = drawn_gaussian(22, in_dim=6, out_dim=6, width=width, std=std)
    size = std**2 * width if case == "lazy a" else np.linalg.norm(truth, 2)
    products = descend(weights.layers, task.cross, 1 / (50 * size), int(found["taken"][1]))
    tests = np.array([((product - truth) ** 2).mean() for product in products])
    np.testing.assert_allclose(found["min_test_loss"][1], tests.min(), rtol=1e-9)
    assert found["best_step"][1] == tests.argmin() > 5
    np.testing.assert_allclose(found["last_train"][1], ((task.cross - products[-1]) ** 2).mean(), rtol=1e-9)
    np.testing.assert_allclose(found["signal"][1], (truth**2).mean())
    np.testing.assert_allclose(found["noise"][1], ((task.cross - truth) ** 2).mean())


def test_a_cell_of_the_diagram_does_not_depend_on_its_neighbors() -> None:
    one = region_cells(["wide b"] * 3, [0, 1, 2], [21, 22, 23])
    two = region_cells(["wide b"] * 3, [2, 1, 1], [31, 22, 33])
    assert all(one[name][1] == two[name][1] for name in one)


def test_tasks_are_common_to_the_cases() -> None:
    networks = tu_regions.cells(QUICK)
    assert (networks["signal"].std("case") < 1e-12).all() and (networks["signal"].std("replicate") > 1e-3).all()
    assert (networks["min_test_loss"].std("case") > 1e-3).all()


def test_blocks_of_several_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="`dim` must be one for all cells of a block"):
        descents.active_cells(
            {"dim": np.array([6, 8]), "spectrum": np.full(2, "(1)")},
            np.arange(2),
            gammas=(-1.85, 2.25),
            spectra={"(1)": [1.0]},
            spans={"(1)": 3.0},
        )


# Growing widths


def test_a_flow_is_that_of_scipy() -> None:
    found = widths.width_cells({"ratio": np.array([4.0, 64.0])}, np.array([8, 9]), dim=4, seed=2)
    problem, threshold = widths.task_and_threshold(4, 2)
    std = float(np.sqrt(threshold / 256))
    weights = ln.inits.reduced_gaussian(key=9, in_dim=4, out_dim=4, width=256, stds=std)
    times = found["times"][1][1]
    np.testing.assert_allclose(times[-1] * np.linalg.norm(problem.cross, 2), 20.0)
    first, second = flow(np.eye(4), problem.cross, weights.layers, times)
    one, two = found["first"][1][1], found["second"][1][1]
    np.testing.assert_allclose(two @ one, second @ first, atol=1e-7)
    np.testing.assert_allclose(one.transpose(0, 2, 1) @ one, first.transpose(0, 2, 1) @ first, atol=1e-7)
    np.testing.assert_allclose(two @ two.transpose(0, 2, 1), second @ second.transpose(0, 2, 1), atol=1e-7)


def test_a_flow_does_not_depend_on_its_neighbors() -> None:
    one = widths.width_cells({"ratio": np.array([4.0, 64.0])}, np.array([8, 9]), dim=4, seed=2)
    two = widths.width_cells({"ratio": np.array([64.0, 16.0])}, np.array([9, 7]), dim=4, seed=2)
    assert all((one[name][1][1] == two[name][1][0]).all() for name in ("first", "second"))


def test_flows_are_read_against_the_target_they_were_trained_on() -> None:
    runs = tu_widths.flows(QUICK)
    assert np.linalg.norm(runs.weights[-1].product - runs.problem.cross, axis=(-2, -1)).max() < 0.1 * runs.threshold
    imbalance = runs.weights.imbalance
    assert runs.weights.first.shape == (25, 7, 3, 24, 12)
    assert np.abs(imbalance - imbalance[0]).max() < 1e-9 * np.abs(imbalance[0]).max()


# The stages of the active region


def test_what_is_kept_of_a_run_is_that_of_plain_descent() -> None:
    fixed = {"places": {"here": [-1.85, 2.25]}, "spectra": {"(1, 1/2)": [1.0, 0.5]}, "steps": 120}
    points = {"place": np.full(2, "here"), "dim": np.full(2, 8), "spectrum": np.full(2, "(1, 1/2)")}
    found = descents.timeline_cells(points, np.array([5, 6]), **fixed)
    task = ln.problems.low_rank_plus_noise(8, rank=2, key=[6, 0], spectrum=[1.0, 0.5])
    std = 8 ** (-1.85 / 2)
    weights = ln.inits.reduced_gaussian(key=[6, 1], in_dim=8, out_dim=8, width=108, stds=std)
    left0, _, right0 = np.linalg.svd(np.asarray(task.truth))
    seen = [step for step in descents.SEEN if step <= 120]
    products = descend(weights.layers, task.cross, 1 / 320, 120)
    for state, step in enumerate(seen):
        left, values, right = np.linalg.svd(products[step])
        cosines = [(left0[:, k] @ left[:, k], right0[k] @ right[k]) for k in range(2)]
        np.testing.assert_allclose(found["singular_values"][1][1, state], values[:3], rtol=1e-9)
        np.testing.assert_allclose(found["rest"][1][1, state], np.sqrt((values[2:] ** 2).sum()), rtol=1e-9)
        np.testing.assert_allclose(found["defect"][1][1, state], 8 - sum((u + v) ** 2 for u, v in cosines), atol=1e-8)
    np.testing.assert_allclose(found["times"][1][1], np.array(seen) / 320)
    np.testing.assert_allclose(found["goals"][1][1], np.linalg.svd(task.cross, compute_uv=False)[:3])


def test_a_crossing_of_a_level_is_found_between_states() -> None:
    times = np.array([0.0, 1.0, 2.0, 3.0])
    assert tu_timeline.last_rise_time(times, np.array([0.0, 1.0, 3.0, 4.0]), 2.0) == pytest.approx(1.5)
    assert tu_timeline.last_rise_time(times, np.array([2.5, 1.0, 3.0, 4.0]), 2.0) == pytest.approx(1.5)  # the last one
    with pytest.raises(RuntimeError, match="is not reached"):
        tu_timeline.last_rise_time(times, times, 5.0)


def test_stages_follow_each_other() -> None:
    stages = tu_timeline.stages(QUICK, *tu_timeline.SPECTRA)
    assert stages["stage"].values.tolist() == ["t1", "T1", "T2", "T3", "T5"]
    assert (stages.reached.diff("stage") >= 0).all() and (stages.left < 0.01).all()
