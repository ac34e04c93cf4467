"""The first page in a browser, and what is for a projector: it moves, it stops, it leads on, it is large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explored import PATIENCE, Explored
from linnet_papers.explorer.lecture import STEPS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("home")]
POINTS = "document.querySelector('#moving-picture .mode').getAttribute('points').length"


@pytest.fixture
def tab(windows: Callable[[tuple[int, int], str], Any], address: str) -> Iterator[Any]:
    opened = windows((1280, 800), "light").new_page()
    opened.set_default_timeout(1000 * PATIENCE)
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type != "log" else None)
    opened.goto(address)
    opened.wait_for_selector("#moving-picture .mode")
    yield opened
    assert said == []
    opened.evaluate("window.localStorage.clear()")
    opened.close()


def test_the_first_page_moves_and_stops_when_asked(tab: Any) -> None:
    assert tab.title() == "linnet explore"
    before = tab.evaluate(POINTS)
    tab.wait_for_function(f"before => {POINTS} > before", arg=before)
    tab.click("#moving-pause")
    held = tab.evaluate(POINTS)
    tab.wait_for_timeout(300)
    assert tab.evaluate(POINTS) == held and tab.locator("#moving-pause").inner_text() == "Play"
    sizes = tab.evaluate("[...document.querySelectorAll('.card img')].map(one => one.naturalWidth)")
    assert len(sizes) == 8 and min(sizes) > 0
    assert tab.locator(".steps").bounding_box()["y"] < 800


def test_a_step_opens_its_page_in_its_state(tab: Any) -> None:
    tab.locator(".steps a").nth(3).click()
    tab.wait_for_selector("#phase-diagram-view-cell_losses .main-svg .trace")
    assert tab.evaluate("location.pathname + location.search").replace("%2C", ",") == STEPS[3].address
    tab.click("#go-home")
    tab.wait_for_selector("#moving-picture .mode")
    assert tab.evaluate("location.pathname + location.search") == "/"


def test_who_wants_no_motion_sees_whole_curves(browser: Any, address: str) -> None:
    window = browser.new_context(reduced_motion="reduce")
    still = window.new_page()
    still.goto(address)
    still.wait_for_selector("#moving-picture .mode")
    last = "document.querySelector('#moving-picture .mode').getAttribute('points').split(' ').length"
    assert still.evaluate(last) == 161 and still.locator("#moving-pause").inner_text() == "Play"
    window.close()


def test_a_projector_gets_large_letters_and_folded_controls(visit: Callable[..., Explored]) -> None:
    seen = visit("train", size=(1920, 1080))
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg .trace")
    tick = "parseFloat(getComputedStyle(document.querySelector('.xtick text')).fontSize)"
    small = seen.tab.evaluate(tick)
    seen.tab.click("#present-switch")
    seen.tab.wait_for_function(f"() => {tick} >= 1.5 * {small}")
    assert seen.tab.locator(".controls").is_hidden()
    for ident in ("train-view-modes", "train-view-losses", "train-cursor-play", "train-freeze"):
        box = seen.tab.locator(f"#{ident}").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 1080 and box["x"] + box["width"] <= 1920, ident
    seen.tab.click("#controls-switch")
    seen.tab.wait_for_selector("#train-width", state="visible")
    seen.tab.click("#present-switch")
    seen.tab.wait_for_function(f"() => {tick} === {small}")
    seen.tab.wait_for_selector("#controls-switch", state="hidden")
    seen.tab.wait_for_selector(".controls", state="visible")
    assert seen.said == []
