"""The page *Phase diagram*: its maps against the theory called cell by cell, a trained cell, and the trained maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
import linnet_papers.explorer
from linnet_papers.explorer.computing import phase_diagram as computing
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.pages.phase_diagram import CONTROLS, PAGE
from linnet_papers.own.training.trained import trained_diagram

from .pages import assert_script_computes

START = defaults(CONTROLS)
CELL = START | {"cell": (-1.5, 1.5), "cell_dim": 24, "rank": 2}


def part(name, state):
    chosen = next(one for one in PAGE.parts if one.name == name)
    return chosen.compute(**PAGE.arguments(chosen, state))


def test_a_cell_of_the_map_is_the_least_of_a_predicted_run():
    data = part("main", START | {"noise_std": 0.7})
    assert data["min_test_loss"].shape == (computing.GRID, computing.GRID)
    i, j = 22, 12
    variance, width = 200.0 ** float(data["gamma_variance"][j]), round(200.0 ** float(data["gamma_width"][i]))
    spectrum = ln.theories.lazy_active.asymptotic_spectrum(0.5 * 200 * 0.95 ** np.arange(5), 200, 0.7)
    time = float(data["best_time"][i, j])
    run = ln.theories.lazy_active.predicted_run(spectrum, variance, width, time * np.geomspace(0.5, 2, 401))
    assert bool(data["covered"][i, j])
    assert_allclose(data["min_test_loss"][i, j], run.test_loss.min() * 2 / 200**2, rtol=2e-3)
    size = max(variance * width, 0.5 * 200)
    assert_allclose(data["best_step"][i, j], time * 50 * size)
    other = part("main", START | {"noise_std": 1.4})  # more noise, larger errors
    assert float(other["min_test_loss"][i, j]) > 1.2 * float(data["min_test_loss"][i, j])


def test_the_whole_plane_has_error_bars():
    """Narrow cells too, without a switch; more draws agree within these bars."""
    state = START | {"dim": 20, "rank": 1}
    data = part("main", state)
    error, covered = data["uncertainty"].values, data["covered"].values
    assert np.isfinite(error).all() and (error > 0).all()
    assert (covered == (error < computing.LIMIT)).all() and covered.mean() > 0.85
    some = {"variances": 20.0 ** computing.VARIANCES[::6], "widths": computing.widths_of(20, computing.WIDTHS[1::5])}
    spectrum = ln.theories.lazy_active.asymptotic_spectrum([20 * state["strength"]], 20, state["noise_std"])
    finer = ln.theories.lazy_active.predicted_diagram(spectrum, **some, draws=60, key=1)
    off = np.abs(data["min_test_loss"].values[1::5, ::6] * 20**2 / 2 / finer.min_test_loss - 1)
    assert (off < 2 * np.hypot(error[1::5, ::6], finer.uncertainty)).mean() > 0.9
    assert (off > 0.001).any()  # it is another computation


def test_a_clicked_cell_is_trained_beside_its_prediction():
    data = part("cell", CELL)
    task = ln.problems.low_rank_plus_noise(24, rank=2, spectrum=[0.5, 0.475], noise_std=1.0, key=0)
    variance, width = 24.0**-1.5, round(24.0**1.5)
    start = ln.inits.reduced_gaussian(key=0, in_dim=24, out_dim=24, width=width, stds=variance**0.5)
    first, second, rate = start.first.copy(), start.second.copy(), data.attrs["learning_rate"]
    steps = np.round(data["time"].values / rate).astype(int)
    for _ in range(steps[10]):
        rest = task.cross - second @ first
        first, second = first + rate * second.T @ rest, second + rate * rest @ first.T
    error = ((second @ first - task.truth) ** 2).sum() / 24**2
    assert_allclose(data["test_loss"][10], error, rtol=1e-9)
    assert_allclose(data["predicted_min_test_loss"], data["min_test_loss"], rtol=0.1)  # one start at a small dimension
    best = int(np.argmin(data["test_loss"].values))
    assert data.attrs["width"] == width and data["time"].values[-1] > 2 * data["time"].values[best]


@pytest.mark.parametrize("state", [START | {"dim": 60, "rank": 3}, CELL, START | {"dim": 30, "compare": "50"}])
def test_the_script_computes_the_same_numbers(state):
    assert_script_computes(PAGE, state, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("name", "most"), [("published", 1.5), ("50", 1.0), ("200", 0.3)])
def test_trained_maps_are_near_the_formula(name, most):
    data = part("compared", START | {"compare": name})
    off = np.abs(data["difference"].values)
    assert np.nanmedian(off) < most and np.isfinite(off).sum() > 200


def test_the_trained_maps_are_whole():
    sizes = {dim: trained_diagram(dim).sizes["gamma_width"] for dim in (50, 200, 1000, 2000)}
    assert sizes == {50: 35, 200: 35, 1000: 35, 2000: 15}
    assert float(trained_diagram(50)["min_test_loss"].sel(gamma_width=0, gamma_variance=-3)) == 0.66529
    with pytest.raises(ValueError, match="`dim` must be one of 50, 200, 1000, 2000"):
        trained_diagram(60)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [((1.0,), "A cell is two exponents"), ((-1.0, 1.0), "rank 9 does not fit into 8 dimensions")],
)
def test_what_is_no_cell_is_said(cell, sentence):
    with pytest.raises(ValueError, match=sentence):
        part("cell", START | {"cell": cell, "rank": 9, "cell_dim": 8})


def test_every_picture_is_drawn():
    state = CELL | {"compare": "50"}
    for one in PAGE.parts:
        data = one.compute(**PAGE.arguments(one, state))
        for view in one.views:
            if view.kind == "figure":
                drawn = view.draw(data, state)
                results = [trace for trace in drawn["data"] if trace.get("meta") != "guide"]  # hatching has gaps
                assert results and all(np.isfinite(np.array(trace["x"], dtype=float)).all() for trace in results)
    ring = PAGE.first_view.draw(part("main", state), state)["data"][-1]
    assert ring["x"] == [-1.5] and ring["y"] == [1.5]


def test_names_on_the_map_keep_their_color_in_the_dark():
    """The map has the same colors on a dark ground, where the browser makes the ink lighter (assets/explorer.js)."""
    script = (
        (Path(linnet_papers.explorer.__file__).parent / "assets" / "explorer.js").read_text(encoding="utf-8").lower()
    )
    drawn = PAGE.first_view.draw(part("main", START), START)
    colors = [note["font"]["color"].lower() for note in drawn["layout"]["annotations"]]
    assert len(colors) == 3 and not [color for color in colors if f'"{color}":' in script]
