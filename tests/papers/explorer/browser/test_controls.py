"""Every control of every page, set in a browser as a reader does: pictures and address follow."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from explored import Explored, another, expected
from linnet_papers.explorer import controls
from linnet_papers.explorer.controls import Control, State
from linnet_papers.explorer.page import Page
from linnet_papers.explorer.pages import PAGES
from linnet_papers.explorer.panels.upload import UPLOADS

pytestmark = pytest.mark.browser

# A table with gaps: what to do with them matters only there.
GAPS = b"a,b,y\n" + b"\n".join(b"%d,%s,%d" % (i, b"" if i % 7 == 3 else b"%d" % (i * i % 5), i % 4) for i in range(24))
TOKEN = UPLOADS.add(f"data:text/csv;base64,{base64.b64encode(GAPS).decode()}", "gaps.csv").token

# What to set, where any text would do for the control but not for the page, or where another value costs less to try.
VALUES = {
    ("claims", "words"): "kernel",
    ("claims", "claim"): "tu-thm2-lazy",
    ("your-data", "target"): "alcohol,hue,ash",
    ("your-data", "drop"): "ash",
    ("your-data", "missing"): "mean",
    ("your-data", "table"): "linnerud",
    ("your-data", "folds"): "4",
    ("your-data", "steps"): "500",
}
# Where a control matters, if not at the defaults.
WHERE = {
    ("your-data", "missing"): f"table=uploaded&upload={TOKEN}&missing=drop",
    ("phase-diagram", "cell_dim"): "cell=-2,1.5",
    ("phase-diagram", "seed"): "cell=-2,1.5",
}

_known: dict[tuple[str, str], dict[str, Any]] = {}


def wanted(page: Page, state: State) -> dict[str, Any]:
    key = (page.name, controls.query_string(page.controls, state))
    if key not in _known:
        _known[key] = expected(page, state)
    return _known[key]


def begin(page: Page, one: Control) -> State:
    """A state in which the control is shown: its page's defaults but for what it waits for."""
    state = controls.parse(page.controls, WHERE.get((page.name, one.name), ""))
    if one.when and state[one.when[0]] not in one.when[1:]:
        state[one.when[0]] = one.when[1]
    return state


@pytest.mark.parametrize(
    ("page", "one"),
    [
        pytest.param(p, c, id=f"{p.name}-{c.name}", marks=pytest.mark.xdist_group(p.name))
        for p in PAGES
        for c in p.controls
        if not c.hidden
    ],
)
def test_a_control_changes_what_it_should(page: Page, one: Control, opened: Callable[[Page], Explored]) -> None:
    seen, before = opened(page), begin(page, one)
    if seen.query != controls.query_string(page.controls, before):
        seen.open(controls.query_string(page.controls, before))
    was = wanted(page, before)
    assert seen.shows(was) == [], seen.error()
    value = VALUES.get((page.name, one.name)) or another(one)
    after: State = {**before, one.name: one.read(value)}
    seen.set(one, value)
    now = wanted(page, after)
    assert seen.shows(now) == [], seen.error()
    assert now != was, "the control changes nothing"
    seen.moved_to(controls.query_string(page.controls, after))
    assert seen.error() == ""
    if one.has_slider:  # back towards where it was
        seen.slide(one, "ArrowLeft" if float(str(after[one.name])) > float(str(before[one.name])) else "ArrowRight")
        seen.moved_from(controls.query_string(page.controls, after))
        slid = seen.state
        assert {name for name in slid if slid[name] != after[name]} == {one.name}
        assert seen.shows(wanted(page, slid)) == [], seen.error()
    assert seen.said == []
    if seen.state[one.name] != before[one.name]:
        seen.set(one, one.write(before[one.name]))
        seen.moved_to(controls.query_string(page.controls, before))
