"""A link is the whole state: whoever opens it sees the same pictures, with the controls where they were."""

from __future__ import annotations

from collections.abc import Callable
from urllib.request import urlopen

import pytest
import xarray as xr
from numpy.testing import assert_allclose

from explored import Explored, another, expected
from linnet_papers.explorer import controls
from linnet_papers.explorer.controls import State
from linnet_papers.explorer.page import Page
from linnet_papers.explorer.pages import PAGES

pytestmark = pytest.mark.browser
EVERY = pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name, marks=pytest.mark.xdist_group(page.name)) for page in PAGES]
)


def elsewhere(page: Page) -> State:
    """A state in which the sliders of a page that cost nothing to move are not at their defaults."""
    state = controls.defaults(page.controls)
    for one in page.controls:
        if one.kind in ("log", "switch") and not one.when and not one.hidden:
            state[one.name] = one.read(another(one))
    if page.name == "claims":
        state |= {"verdict": "refuted", "words": "rate", "claim": "tu-thm2-lazy"}
    return state


@EVERY
def test_a_link_restores_the_state(page: Page, visit: Callable[..., Explored]) -> None:
    state = elsewhere(page)
    query = controls.query_string(page.controls, state)
    assert query, "the page has nothing to restore"
    seen = visit(page.name, query)
    wanted = expected(page, state)
    assert seen.shows(wanted) == [], seen.error()
    assert seen.query == query
    for one in page.controls:
        shown = seen.tab.locator(f"#{page.name}-{one.name}")
        if one.kind in ("number", "whole", "log", "text", "numbers"):
            assert one.read(shown.input_value()) == state[one.name]
        elif one.kind == "switch":
            assert shown.locator("input").is_checked() == state[one.name]
    seen.tab.reload()
    assert seen.shows(wanted) == [] and seen.query == query
    assert seen.said == []


@EVERY
def test_the_files_hold_the_numbers_of_the_view(page: Page, address: str, tmp_path) -> None:
    state = elsewhere(page)
    query = controls.query_string(page.controls, state)
    for part in page.parts:
        if any(not state[name] for name in part.needs):
            continue
        data = part.compute(**page.arguments(part, state))
        (tmp_path / "data.nc").write_bytes(urlopen(f"{address}/data/{page.name}/{part.name}.nc?{query}").read())
        held = xr.load_dataset(tmp_path / "data.nc", engine="scipy")
        rows = urlopen(f"{address}/data/{page.name}/{part.name}.csv?{query}").read().decode().splitlines()
        assert rows[0].startswith("variable,") and len(rows) == 1 + sum(v.size for v in data.data_vars.values())
        for name, variable in data.items():
            if variable.dtype.kind in "fiub":
                assert_allclose(held[name], variable, rtol=1e-6, atol=1e-12)
