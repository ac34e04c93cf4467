"""The lecture in a browser: from step to step, with what a step asks for, on a laptop and on a projector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from explored import PATIENCE, Explored
from linnet_papers.explorer.lecture import STEPS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("home")]
DRAWN = ".js-plotly-plot .main-svg .trace, .js-plotly-plot .heatmaplayer image"


@pytest.fixture
def tab(windows: Callable[[tuple[int, int], str], Any], address: str) -> Any:
    opened = windows((1280, 800), "light").new_page()
    opened.set_default_timeout(1000 * PATIENCE)
    opened.goto(address)
    opened.wait_for_selector("#moving-picture .mode")
    yield opened
    opened.close()


def test_the_steps_follow_each_other(tab: Any) -> None:
    tab.click("#home-start")
    for number, step in enumerate(STEPS, 1):
        tab.get_by_text(f"Lecture, {number} of 5: {step.title}", exact=True).wait_for()
        assert tab.locator(".introduction").all_inner_texts() == [step.says]
        tab.wait_for_selector(DRAWN)
        path = tab.evaluate("location.pathname + location.search").replace("%2C", ",")
        assert path == step.address and tab.evaluate("location.hash") == f"#step-{number}"
        first = tab.locator(f"#{step.page.name}-view-{step.page.first_view.name}").bounding_box()
        assert first["y"] + first["height"] <= 800
        tab.click("#step-next")
    tab.wait_for_selector("#moving-picture .mode")
    tab.locator(".steps a").nth(1).click()
    tab.click("#step-previous")
    tab.get_by_text(f"Lecture, 1 of 5: {STEPS[0].title}", exact=True).wait_for()


def test_the_first_step_can_be_done_as_it_says(tab: Any) -> None:
    tab.click("#home-start")
    tab.wait_for_selector("#train-view-modes .main-svg .trace")
    tab.click("#train-freeze")
    tab.get_by_role("button", name="Unfreeze").wait_for()
    for which in ("first", "second"):
        tab.locator(f"#train-{which}_std").fill("0.04")
        tab.locator(f"#train-{which}_std").press("Enter")
    given = "new URLSearchParams(location.search)"  # 0.04 is the default: it leaves the address
    tab.wait_for_function(f"() => {given}.has('frozen') && !{given}.has('first_std') && !{given}.has('second_std')")
    tab.wait_for_selector("#train-view-modes .legend text[data-unformatted='frozen run']")
    assert tab.evaluate("location.hash") == "#step-1"  # it is still the lecture


def test_notes_in_a_picture_grow_for_a_projector_and_bands_have_no_edge(visit: Callable[..., Explored]) -> None:
    seen = visit("your-data", "table=linnerud", size=(1920, 1080))
    edges = """() => [...document.querySelectorAll("#your-data-view-curves .js-plotly-plot")].flatMap(
        graph => graph.data.filter(trace => trace.line && trace.line.width === 0)).length"""
    seen.tab.wait_for_selector("#your-data-view-curves .main-svg .trace")
    before = seen.tab.evaluate(edges)
    seen.tab.click("#present-switch")
    seen.tab.wait_for_function("() => document.documentElement.dataset.present === 'on'")
    seen.tab.wait_for_function(
        "() => document.querySelector('#your-data-view-curves .js-plotly-plot').layout.template.layout.font.size === 20"
    )
    assert before > 0 and seen.tab.evaluate(edges) == before
    seen.tab.click("#go-phase-diagram")
    note = "#phase-diagram-view-test_error .annotation-text"
    seen.tab.wait_for_selector(note)
    size = seen.tab.locator(note).first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert size >= 20
    assert seen.said == []
