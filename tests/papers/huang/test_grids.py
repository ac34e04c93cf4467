"""The grids of the feature-learning paper: cells against plain NumPy, and the same bits in any blocks."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

import linnet as ln
from linnet.sweeps import Sweep
from linnet.theories.feature_learning import Stages, assumptions
from linnet_papers.huang.grids import convergence, equations, lemmas, neurons, region, scalings
from linnet_papers.huang.training import features
from linnet_papers.huang.training.cells.equations import equations_cells, train_to_share
from linnet_papers.huang.training.cells.inside import LAWS, convergence_cells, law_data, neurons_cells
from linnet_papers.huang.training.cells.scalings import (
    SHARES,
    case_settings,
    lemmas_cells,
    scaling_data,
    scalings_cells,
)
from linnet_papers.huang.training.runs import theory_inputs, theory_of, train_inside, train_section_six
from linnet_papers.reproduction import Trial

QUICK = Trial(quick=True, seed=4)
SMALL: dict[str, Any] = {"dim": 300, "width": 40}


def regrouped(sweep: Sweep, **axes: list[Any]) -> tuple[xr.Dataset, xr.Dataset]:
    """A part of the sweep in its own blocks, and backwards in blocks of one cell."""
    part = sweep.model_copy(update={"axes": axes})
    backwards = {name: values[::-1] for name, values in axes.items()}
    other = ln.sweeps.run(part.model_copy(update={"axes": backwards, "block": 1}))
    return ln.sweeps.run(part), other.reindex(axes)


def descent(X: np.ndarray, y: np.ndarray, start: ln.Weights, rate: float, steps: int) -> dict[str, np.ndarray]:
    """A network of full width in the paper's scaling: losses, alignments, magnitudes and moved weights."""
    n, m = len(y), start.width
    W, v = np.sqrt(m) * start.first, np.sqrt(m) * start.second[0]
    first, seen = W, []
    for _ in range(steps + 1):
        residual = y - X @ (W.T @ v) / m
        seen.append((residual @ residual / (2 * n), (W - first) @ X.T @ y, v, W - first))
        pull = X.T @ residual
        W, v = W + rate / n * np.outer(v, pull), v + rate / n * W @ pull
    names = ("loss", "alignments", "magnitudes", "moved")
    return {name: np.array(column) for name, column in zip(names, zip(*seen, strict=True), strict=True)}


def passed(values: np.ndarray, level: float) -> float:
    """The step, with its fraction, at which an increasing sequence passes a level."""
    i = int(np.argmax(values >= level))
    return i - 1 + (level - values[i - 1]) / (values[i] - values[i - 1])


@pytest.mark.parametrize("case", ["n = 5", "trace = 4000"])
def test_a_cell_of_the_scalings_is_what_a_full_network_does(case):
    points = {"case": np.array([case]), "replicate": np.array([3])}
    fixed = {**scalings.sweep(QUICK).fixed, "seed": 7, "dim": 40}
    cell = {k: v[0] for k, (_, v) in scalings_cells(points, np.zeros(1, int), **fixed).items()}
    p = case_settings(case)
    assert (p["n"], p["trace"]) == {"n = 5": (5, 1000), "trace = 4000": (10, 4000)}[case]
    data = scaling_data([7, 3], p, dim=40)
    assert data.trace == pytest.approx(p["trace"]) and data.signal == pytest.approx(1.0)
    start = ln.inits.signed(key=[7, 3, 1], in_dim=40, width=128, first_std=1e-5, magnitude=3e-4)
    run = descent(data.inputs, data.outputs, start, 0.05 / 128, int(cell["loss_steps"][1]) + 40)
    medians = np.median(np.abs(run["alignments"]), axis=1)
    np.testing.assert_allclose(cell["alignment_steps"], passed(medians, 1.0), rtol=1e-3)
    left = [passed(-run["loss"] / run["loss"][0], -share) for share in SHARES[:2]]
    np.testing.assert_allclose(cell["loss_steps"][:2], left, rtol=1e-3)


def test_the_spectrum_of_the_data_is_all_the_theory_needs():
    run = train_section_six(2, samples=7, dim=50, width=30, steps=3)
    own, other = run.stages, theory_of(xr.Dataset(theory_inputs(run, modes=9)))
    for name in (
        "gamma",
        "phi",
        "rate",
        "trace",
        "signal",
        "limit",
        "width",
        "learning_rate",
        "first_std",
        "magnitude",
    ):
        np.testing.assert_allclose(getattr(other, name), getattr(own, name), rtol=1e-12)
    assert other.samples == own.samples == 7


def test_the_scalings_do_not_depend_on_their_blocks(assert_same):
    sweep = scalings.sweep(QUICK)
    sweep = sweep.model_copy(update={"fixed": {**sweep.fixed, "dim": 60}})
    assert_same(*regrouped(sweep, case=["base", "n = 5", "eta = 0.0125"], replicate=[0, 2]))


@pytest.mark.parametrize("setting", ["section 6", "0.3"])
def test_a_cell_of_the_equations_is_what_a_full_network_does(setting):
    cell = {k: v[0] for k, (_, v) in equations_cells({"setting": np.array([setting])}, np.array([5]), **SMALL).items()}
    run = train_section_six(5, **SMALL, steps=120) if setting == "section 6" else train_inside(5, **SMALL, ratio=0.3)
    steps = cell["steps"].astype(int)
    full = descent(run.data.inputs, run.data.outputs, run.start, run.scales["learning_rate"], int(cell["ends"][1]))
    trained = full["alignments"][steps]
    np.testing.assert_allclose(cell["alignments"], trained, atol=1e-8 * np.abs(trained).max())
    np.testing.assert_allclose(cell["loss"], full["loss"][steps], rtol=1e-6)
    begin = int(cell["ends"][0])
    np.testing.assert_allclose(cell["magnitudes"], full["magnitudes"][[0, begin]], rtol=1e-6)
    if setting == "section 6":
        assert full["loss"][begin] <= 0.95 * full["loss"][0] < full["loss"][begin - 1]
    else:
        assert np.median(np.abs(full["alignments"][begin])) == pytest.approx(1.0, rel=0.05)
    assert full["loss"][-1] <= 1e-4 * full["loss"][0]


def test_a_cell_of_the_neurons_is_what_a_full_network_does():
    cell = {
        k: v[0]
        for k, (_, v) in neurons_cells(
            {"ratio": np.array([0.3]), "margin": np.array([10.0])}, np.array([5]), **SMALL
        ).items()
    }
    rate, std, magnitude = (cell[name] for name in ("learning_rate", "first_std", "magnitude"))
    np.testing.assert_allclose(magnitude, 0.3 * std * np.sqrt(np.log(40)), rtol=1e-12)
    data = ln.problems.gaussian_teacher(key=5, dim=300, signal=1.0)
    start = ln.inits.signed(key=[5, 1], in_dim=300, width=40, first_std=std, magnitude=magnitude)
    run = descent(data.inputs, data.outputs, start, rate, 4 * int(cell["first_steps"]))
    rho, v, feature = run["alignments"], run["magnitudes"], data.inputs.T @ data.outputs
    gamma = feature @ feature
    first = passed(np.median(np.abs(rho), axis=1), 1.0)
    np.testing.assert_allclose(cell["first_steps"], first, rtol=1e-3)
    begin, end = int(np.ceil(first)), int(np.argmax(run["loss"] <= 0.04))
    np.testing.assert_allclose(cell["alignments"], np.abs(rho[begin]), rtol=0.02, atol=0.01)
    # every step of the full network against the saved states of the cell: a little more may be seen
    second = slice(begin, end + 1)
    gap = (np.abs(rho[second] - np.sqrt(gamma) * v[second]) / np.abs(rho[second])).max(axis=0)
    calm = gap < 0.1
    np.testing.assert_allclose(cell["gap"][calm], gap[calm], rtol=0.2, atol=2e-3)
    assert calm.mean() > 0.8
    across = run["moved"] - rho[..., None] * feature / gamma
    lengths = (np.linalg.norm(across, axis=2)[second] / np.abs(rho[second])).max(axis=0) * np.sqrt(10 * 300)
    np.testing.assert_allclose(cell["across"][calm], lengths[calm], rtol=0.1)
    signs = np.sign(v[0])
    kept = (np.sign(v) == signs).all(axis=0) & (np.sign(rho[1:]) == signs).all(axis=0)
    np.testing.assert_array_equal(cell["kept"], kept)
    assert 0.5 < kept.mean() < 1
    kernel = ((v[end] @ v[end]) * data.inputs @ data.inputs.T) / 40
    assert (
        np.linalg.norm(kernel, 2) > 0
    )  # the constants with the mean and the smallest neuron are ordered as they must be
    assert cell["kernel_mean"] < cell["kernel_none"] < cell["kernel_smallest"]


def test_errors_are_those_of_the_theory_on_every_neuron():
    """From the kept states as from the whole run: the errors of eq. (10) with the mean, and as printed."""
    sweep = inspect.unwrap(equations.cells)(QUICK)
    sweep = sweep.model_copy(update={"fixed": SMALL, "seeds": 1, "axes": {"setting": ["section 6"]}})
    run = equations.read(ln.sweeps.run(sweep).expand_dims(seed=[0]))["section 6"][0]
    step = run.stages.learning_rate / 10
    for printed, name in ((False, "(10) corrected"), (True, "(10) printed")):
        expected = equations.errors(run, name)
        a, b, worst = run.alignments[run.begin].copy(), run.at_first.copy(), 0.0
        kept = dict(zip(run.steps[run.begin :].tolist(), run.alignments[run.begin :], strict=True))
        for number in range(int(run.steps[run.begin]), int(run.steps[-1]) + 1):
            if number in kept:
                worst = max(worst, float(np.linalg.norm(a - kept[number]) / np.linalg.norm(kept[number])))
            force = 1 - run.stages.phi / run.stages.gamma**2 * (a * b if printed else (a * b).mean())
            a, b = a + step * run.stages.gamma * b * force, b + step * a * force
        np.testing.assert_allclose(expected["second"], worst, rtol=1e-9)


def test_grids_of_networks_do_not_depend_on_their_blocks(assert_same):
    sweep = neurons.sweep(QUICK).model_copy(update={"fixed": SMALL, "seeds": 2})
    assert_same(*regrouped(sweep, ratio=[0.03, 10.0], margin=[10.0]))
    sweep = inspect.unwrap(region.cells)(QUICK).model_copy(update={"fixed": SMALL, "seeds": 2})
    assert_same(*regrouped(sweep, signal=[1.0, 0.1], margin=[1.0]))
    sweep = inspect.unwrap(equations.cells)(QUICK).model_copy(update={"fixed": SMALL, "seeds": 2})
    assert_same(*regrouped(sweep, setting=["section 6", "1"]))
    sweep = inspect.unwrap(convergence.cells)(QUICK).model_copy(update={"fixed": SMALL, "seeds": 2})
    assert_same(*regrouped(sweep, law=["normal", "sloped"], smaller=[1.0]))


def test_a_loss_that_comes_back_above_its_goal_is_seen(monkeypatch):
    right = features.feature_history

    def back_at_the_end(*arguments: Any, **named: Any) -> Any:
        history = right(*arguments, **named)
        return replace(history, loss=np.append(history.loss[:-1], 0.5))

    points = {"law": np.array(["normal"]), "smaller": np.array([1.0])}
    assert convergence_cells(points, np.array([5]), **SMALL)["highest_after"][1][0] <= 0.04
    monkeypatch.setattr(features, "feature_history", back_at_the_end)
    assert convergence_cells(points, np.array([5]), **SMALL)["highest_after"][1][0] == 0.5


def test_laws_of_the_data_have_unit_signal_and_satisfy_the_assumption():
    from linnet_papers.huang import misprints
    from linnet_papers.huang.training.runs import scales_inside

    for law in LAWS:
        data = law_data(3, law, dim=2000)
        assert data.signal == pytest.approx(1.0)
        scales = scales_inside(data, width=512, ratio=0.03)
        assert misprints.assumption(data, epsilon=0.01, **scales).holds
        assert not assumptions.assumption(data, epsilon=0.01, **scales).holds  # (7) is what it lacks


def test_draws_of_the_lemmas_are_those_of_the_data():
    points = {"n": np.array([5, 8]), "noise": np.array([0.8, 1e-7])}
    found = lemmas_cells(points, np.array([11, 12]), dim=30, draws=3)
    for cell, (n, noise, seed) in enumerate([(5, 0.8, 11), (8, 1e-7, 12)]):
        data = ln.problems.gaussian_teacher(key=[seed, 2], samples=n, dim=30, signal=1.0, noise_variance=n * noise)
        form, gamma = found["form"][1][cell, 2], found["gamma"][1][cell, 2]
        signal, feature = data.inputs @ data.teacher, data.inputs.T @ data.outputs
        np.testing.assert_allclose(form, signal @ signal / (n * data.signal**2), rtol=1e-12)
        np.testing.assert_allclose(gamma, feature @ feature / (data.trace * n * data.signal**2), rtol=1e-12)


def test_the_frequencies_are_those_of_the_law_where_the_dimension_is_large():
    rows = lemmas.rows(QUICK)
    for case, draws in rows["draws"].items():
        form, law = rows["form"][case], rows["form_law"][case]
        assert abs(form - law) < 4 * lemmas.share_error(law, draws)
        gamma, law = rows["gamma"][case], rows["gamma_law"][case]
        assert abs(gamma - law) < 4 * lemmas.share_error(law, draws) + 0.05  # gamma is not tr |y|^2 at d = 400


def test_the_lemmas_do_not_depend_on_their_blocks(assert_same):
    sweep = inspect.unwrap(lemmas.cells)(QUICK).model_copy(update={"fixed": {"dim": 30, "draws": 4}})
    assert_same(*regrouped(sweep, n=[10, 40], noise=[8.0, 1e-7]))


def test_a_run_that_stops_before_what_is_measured_is_an_error():
    short = train_section_six(4, dim=300, width=40, steps=3, magnitude=1e-9, first_std=1e-9)
    with pytest.raises(RuntimeError, match="never falls to 1e-06 of its start: the run is too short"):
        short.first_state_at_share(1e-6)
    with pytest.raises(RuntimeError, match="never reaches 1: the run is too short"):
        short.first_time()


def test_a_history_is_linear_between_the_saved_states():
    run = train_inside(2, **SMALL)
    h = run.history
    middle, fourth = (h.times[3] + h.times[4]) / 2, h.times[4]
    np.testing.assert_allclose(run.history_at(middle).alignments, (h.alignments[3] + h.alignments[4]) / 2, rtol=1e-12)
    np.testing.assert_allclose(run.history_at(np.array([middle, fourth])).kernels[1], h.kernels[4], rtol=1e-12)
    np.testing.assert_allclose(run.outputs[5], run.data.inputs @ run.trajectory.products[5, 0], atol=1e-12)
    assert np.median(np.abs(run.history_at(run.first_time()).alignments)) == pytest.approx(1.0, rel=1e-3)


def test_a_slow_network_is_trained_on_and_one_that_cannot_is_named():
    """Seed 1004 of the full table had one that had not come to 1e-4 of its loss when it was read."""
    usual, longer = (train_to_share(share, "0.3", 5, **SMALL) for share in (0.5, 1e-12))
    assert longer.loss_share.min() <= 1e-12 < usual.loss_share.min() and longer.steps[-1] > 1.5 * usual.steps[-1]
    with pytest.raises(RuntimeError, match="the network of section 6 with seed 5 has only lost its loss down to"):
        train_to_share(-1.0, "section 6", 5, **SMALL)


def test_data_without_a_second_stage_are_not_asked_for_its_time():
    """Seed 1018 draws a data set whose alignments end below the 1 of t1: no time leads from there to there."""
    scales: dict[str, Any] = {"width": 100, "learning_rate": 0.1, "first_std": 1e-6, "magnitude": 1e-4}
    outputs = {0: 2.0, 1: 0.1}
    short = Stages(np.eye(3), np.full(3, outputs[1]), **scales)
    with pytest.raises(ValueError, match="`initial_alignment` must be below"):
        short.second_time(0.01)
    networks = xr.Dataset(
        {
            "values": ("mode", np.ones(3)),
            "coefficients": (("case", "replicate", "mode"), [[np.full(3, size) for size in outputs.values()]]),
            "alignment_steps": (("case", "replicate"), [[0.0, 0.0]]),
            "loss_steps": (("case", "replicate", "share"), [[[100.0], [100.0]]]),
            **scales,
        },
        {"case": ["base"], "replicate": list(outputs), "share": [0.01]},
    )
    rows = scalings.read(networks)
    assert rows["staged"].values.tolist() == [[True, False]] and np.isnan(rows["second"].values[0, 1])
    expected = Stages(np.eye(3), np.full(3, outputs[0]), **scales).second_time(0.01) / 0.1 / 100 - 1
    assert scalings.second_time_errors(rows) == {"base": pytest.approx(abs(expected))}
