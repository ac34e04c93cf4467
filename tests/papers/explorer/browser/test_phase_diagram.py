"""The phase diagram in a browser: a click on a cell trains it, and its curves stand beside the prediction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from explored import Explored, expected
from linnet_papers.explorer.computing import phase_diagram as computing
from linnet_papers.explorer.pages.phase_diagram import PAGE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group(PAGE.name)]


def test_a_click_on_a_cell_trains_it(visit: Callable[..., Explored]) -> None:
    seen = visit(PAGE.name)
    graph = f"#{PAGE.name}-view-test_error"
    seen.tab.wait_for_selector(f"{graph} .heatmaplayer image")
    assert not seen.tab.locator(f"#{PAGE.name}-view-cell_losses").is_visible()
    place = seen.tab.locator(f"{graph} .nsewdrag").first.bounding_box()
    seen.tab.mouse.move(place["x"] + 0.4 * place["width"], place["y"] + 0.4 * place["height"])
    seen.tab.mouse.down()
    seen.tab.mouse.up()
    seen.tab.wait_for_function("() => window.location.search.includes('cell=')")
    state = seen.state
    assert seen.shows(expected(PAGE, state)) == [], seen.error()
    # and by hand: plain descent in NumPy from the same start, on the same matrix, must end at the same loss
    (gamma_variance, gamma_width), d, strength = state["cell"], state["cell_dim"], state["strength"]
    std, width = float(d) ** (gamma_variance / 2), max(1, round(float(d) ** gamma_width))
    task = ln.problems.low_rank_plus_noise(
        d,
        rank=state["rank"],
        spectrum=strength * state["ratio"] ** np.arange(state["rank"]),
        noise_std=state["noise_std"],
        key=state["seed"],
    )
    start = ln.inits.reduced_gaussian(key=state["seed"], in_dim=d, out_dim=d, width=width, stds=std)
    name = f"{PAGE.name}-view-cell_losses"
    trained = next(t for t in seen.drawn([name])[name] if t["name"] == "training loss, trained")
    rate = 1 / (computing.CELL_CAREFUL * max(std**2 * width, strength * d))
    first, second = start.first, start.second
    for _ in range(round(trained["x"][-1] / rate)):
        rest = second @ first - task.cross
        first, second = first - rate * second.T @ rest, second - rate * rest @ first.T
    assert_allclose(trained["y"][-1], ((second @ first - task.cross) ** 2).sum() / d**2, rtol=1e-5)
    assert_allclose(trained["y"][0], ((start.product - task.cross) ** 2).sum() / d**2, rtol=1e-5)
    assert seen.said == []


def test_a_clicked_cell_stands_beside_the_map_and_hovering_tells_its_numbers(visit: Callable[..., Explored]) -> None:
    seen = visit(PAGE.name, "cell=-2,1.5", size=(1280, 800))
    assert seen.shows(expected(PAGE, seen.state)) == [], seen.error()
    boxes = {
        name: seen.tab.locator(f"#{PAGE.name}-view-{name}-view").bounding_box()
        for name in ("test_error", "cell_losses")
    }
    assert abs(boxes["test_error"]["y"] - boxes["cell_losses"]["y"]) < 2
    assert boxes["cell_losses"]["x"] > boxes["test_error"]["x"] + boxes["test_error"]["width"] - 1
    graph = f"#{PAGE.name}-view-test_error"
    place = seen.tab.locator(f"{graph} .nsewdrag").first.bounding_box()
    seen.tab.mouse.move(place["x"] + 0.4 * place["width"], place["y"] + 0.3 * place["height"])
    seen.tab.wait_for_selector(f"{graph} .hoverlayer text")
    shown = " ".join(seen.tab.locator(f"{graph} .hoverlayer text").all_text_contents())
    assert "least test error" in shown and "stable rank" in shown and "steps to it" in shown
    bar = seen.tab.locator(f"{graph} .modebar").bounding_box()
    assert bar["y"] + bar["height"] <= place["y"] + 1, "the toolbar covers the map"
    assert seen.said == []


def test_on_a_phone_the_losses_of_a_clicked_cell_come_before_the_controls(visit: Callable[..., Explored]) -> None:
    seen = visit(PAGE.name, "cell=-2,1.5", size=(390, 800))
    seen.tab.wait_for_selector(f"#{PAGE.name}-view-cell_losses .main-svg .trace")
    places = [f"#{PAGE.name}-view-test_error-view", f"#{PAGE.name}-view-cell_losses-view", ".controls"]
    tops = [seen.tab.locator(place).bounding_box()["y"] for place in places]
    assert tops == sorted(tops) and tops[1] < 800
    assert seen.said == []
