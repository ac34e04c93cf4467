"""A slider dragged across: one request at a time for each part, and the picture of where it was let go."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linnet_papers.explorer
from explored import PATIENCE, Explored, expected

pytestmark = pytest.mark.browser
SCRIPT = Path(linnet_papers.explorer.__file__).parent / "assets" / "explorer.js"
LOST = "PATIENCE = 3000;"  # milliseconds after which the page asks again


def never_lost(seen: Explored) -> Explored:
    """The page again, for which no answer is lost: on a slow machine it would ask while another request waits."""
    text = SCRIPT.read_text(encoding="utf-8")
    assert LOST in text
    patient = text.replace(LOST, "PATIENCE = 3e9;")
    seen.tab.route("**/assets/explorer.js*", lambda route: route.fulfill(body=patient, content_type="text/javascript"))
    return seen.open()


@pytest.mark.parametrize(("name", "slider"), [("spectral-bias", "gamma"), ("two-phases", "alignment")])
def test_a_dragged_slider_ends_where_it_is_let_go(name: str, slider: str, visit: Callable[..., Explored]) -> None:
    seen = never_lost(visit(name))
    assert seen.shows(expected(seen.page, seen.state)) == [], seen.error()
    waiting, most, sent = 0, 0, 0

    def begins(request: Any) -> None:
        nonlocal waiting, most, sent
        if "_dash-update-component" in request.url:
            waiting, sent = waiting + 1, sent + 1
            most = max(most, waiting)

    def ends(request: Any) -> None:
        nonlocal waiting
        waiting -= "_dash-update-component" in request.url

    seen.tab.on("request", begins)
    seen.tab.on("requestfinished", ends)
    seen.tab.on("requestfailed", ends)
    box = seen.tab.locator(f"#{name}-{slider}-slider").bounding_box()
    middle = box["y"] + box["height"] / 2
    seen.tab.mouse.move(box["x"] + 0.2 * box["width"], middle)
    seen.tab.mouse.down()
    for part in range(61):
        seen.tab.mouse.move(box["x"] + (0.2 + 0.6 * part / 60) * box["width"], middle)
    seen.tab.mouse.up()
    one = next(control for control in seen.page.controls if control.name == slider)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:  # the address follows the last answer
        held = one.read(seen.tab.input_value(f"#{name}-{slider}"))
        at = float(seen.tab.input_value(f"#{name}-{slider}-slider"))
        there = 10**at if one.kind == "log" else at
        if seen.state[slider] == held == pytest.approx(there, rel=1e-3):
            break
        seen.tab.wait_for_timeout(200)
    assert seen.state[slider] == held == pytest.approx(there, rel=1e-3)
    assert seen.state[slider] != one.default
    assert seen.shows(expected(seen.page, seen.state)) == [], seen.error()
    assert 1 <= most <= len(seen.page.parts) and sent >= len(seen.page.parts)
    assert seen.said == []
