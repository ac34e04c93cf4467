"""A page of the explorer in a browser: how its controls are set, what its pictures show, what they should show."""

from __future__ import annotations

import json
import math
import re
import time
from typing import Any

from linnet_papers.explorer import controls
from linnet_papers.explorer.controls import Control, State
from linnet_papers.explorer.layout import MAX_RADIO_CHOICES, view_id
from linnet_papers.explorer.page import Page

PATIENCE = 180.0  # seconds for a picture, on a slow and busy machine with everything still to be compiled

# What is drawn, as Plotly has it: of each trace what a reader sees.
_DRAWN = """ids => ids.map(id => {
    const graph = document.querySelector("#" + id + " .js-plotly-plot");
    const list = value => value === undefined ? null : Array.from(value, row =>
        row !== null && typeof row === "object" ? Array.from(row) : row);
    if (!graph || !graph.data) { return null; }
    return graph.data.map(trace => ({type: trace.type, name: trace.name || "", x: list(trace.x), y: list(trace.y),
                                     z: list(trace.z)}));
})"""


def expected(page: Page, state: State) -> dict[str, Any]:
    """What every view of a page should show, computed by the page's plain functions without any server."""
    told: dict[str, Any] = {}
    for part in page.parts:
        if any(not state[name] for name in part.needs):
            continue
        data = part.compute(**page.arguments(part, state))
        for view in part.views:
            drawn = view.draw(data, state)
            told[view_id(page, view)] = words(drawn) if view.kind == "html" else [_trace(t) for t in drawn["data"]]
    return told


def words(component: Any) -> list[str]:
    """The text of a component that is seen, word by word."""
    if component is None:
        return []
    if isinstance(component, (str, int, float)):
        return [piece for piece in str(component).split() if piece]
    if isinstance(component, (list, tuple)):
        return [piece for one in component for piece in words(one)]
    if getattr(component, "mathjax", False):  # formulas are drawn: what stands apart from them is read
        return words(re.sub(r"[^\s$]*\$[^$]+\$[^\s$]*|\\", " ", component.children))
    if type(component).__name__ == "Details" and not component.open:
        return words(component.children[0])
    return [] if getattr(component, "hidden", False) else words(getattr(component, "children", None))


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    plain = json.loads(json.dumps({name: trace.get(name) for name in ("x", "y", "z")}, default=lambda a: a.tolist()))
    return {"type": trace.get("type", "scatter"), "name": trace.get("name") or "", **plain}


def same(first: Any, second: Any, tolerance: float = 1e-5) -> bool:
    """Whether two drawings are the same, numbers to a few digits: neighbors of a linear solver differ in the last."""
    if isinstance(first, dict):
        return isinstance(second, dict) and all(same(first[name], second.get(name), tolerance) for name in first)
    if isinstance(first, list):
        if not isinstance(second, list) or len(first) != len(second):
            return False
        return all(same(a, b, tolerance) for a, b in zip(first, second, strict=True))
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return math.isclose(first, second, rel_tol=tolerance, abs_tol=1e-9)
    return first == second


class Explored:
    """One page of the explorer, open in a browser tab."""

    def __init__(self, tab: Any, address: str, page: Page) -> None:
        self.tab, self.address, self.page = tab, address, page
        self.said: list[str] = []
        self.asked: list[str] = []
        tab.set_default_timeout(1000 * PATIENCE)
        tab.on("console", lambda message: self.said.append(message.text) if message.type != "log" else None)
        tab.on("pageerror", lambda error: self.said.append(str(error)))
        tab.on("request", lambda request: self.asked.append(request.url))

    def open(self, query: str = "") -> Explored:
        """Loads the page and waits for its first pictures."""
        self.tab.goto(f"{self.address}/{self.page.name}" + (f"?{query}" if query else ""))
        self.tab.wait_for_selector(f"#{self.page.name}-page")
        return self

    @property
    def query(self) -> str:
        """What stands in the address behind the question mark."""
        return self.tab.evaluate("window.location.search").lstrip("?")

    @property
    def state(self) -> State:
        """The state that the address stands for."""
        return controls.parse(self.page.controls, self.query)

    def error(self) -> str:
        """The sentences that say what is wrong, if anything is."""
        return " ".join(text for text in self.tab.locator(".error").all_inner_texts() if text)

    def drawn(self, names: list[str]) -> dict[str, Any]:
        """What these views show now."""
        kinds = {view_id(self.page, view): view.kind for part in self.page.parts for view in part.views}
        figures = [name for name in names if kinds[name] == "figure"]
        found = dict(zip(figures, self.tab.evaluate(_DRAWN, figures), strict=True))
        for name in set(names) - set(figures):
            found[name] = self.tab.locator(f"#{name}").inner_text().split()
        return found

    def shows(self, wanted: dict[str, Any]) -> list[str]:
        """Waits until every view shows what is wanted; returns the names of those that never do."""
        wrong = list(wanted)
        until = time.monotonic() + PATIENCE
        while wrong and time.monotonic() < until:
            found = self.drawn(wrong)
            wrong = [name for name in wrong if not _agrees(wanted[name], found[name])]
            if wrong:
                self.tab.wait_for_timeout(60)
        return wrong

    def set(self, one: Control, value: str) -> None:
        """Sets a control as a reader does."""
        ident = f"#{self.page.name}-{one.name}"
        if one.kind == "switch":
            self.tab.locator(f"{ident} input").click()
        elif one.kind == "choice":
            label = dict(one.choices)[value]
            if len(one.choices) <= MAX_RADIO_CHOICES:
                self.tab.locator(f"{ident} label", has_text=label).first.click()
            else:
                self.tab.locator(ident).click()
                self.tab.locator(f"{ident}-control").get_by_role("option", name=label, exact=True).click()
        else:
            self.tab.locator(ident).fill(value)
            self.tab.locator(ident).press("Enter")

    def slide(self, one: Control, key: str) -> None:
        """Moves a control's slider by a key."""
        self.tab.locator(f"#{self.page.name}-{one.name}-slider").press(key)

    def moved_from(self, query: str) -> None:
        """Waits until the address is another."""
        self.tab.wait_for_function("old => window.location.search !== old", arg=f"?{query}" if query else "")

    def moved_to(self, query: str) -> None:
        """Waits until the address is this one."""
        self.tab.wait_for_function("now => window.location.search === now", arg=f"?{query}" if query else "")


def _agrees(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, list) and (not wanted or isinstance(wanted[0], str)):
        rest = iter(found or [])
        return all(any(word == other for other in rest) for word in wanted)  # in this order; buttons may stand between
    return same(wanted, found)


def another(one: Control) -> str:
    """A value that is not the default, and allowed."""
    if one.kind == "switch":
        return "off" if one.default else "on"
    if one.kind == "choice":
        return next(value for value, _ in one.choices if value != one.default)
    if one.kind == "numbers":
        values = [float(value) for value in one.default]  # type: ignore[union-attr]
        return one.write(tuple(values[:-1]) if len(values) > 1 else (0.9 * values[0],))
    if one.kind == "text":
        raise ValueError(f"{one.name} takes text: a test must say which")
    low, high = one.bounds
    value = float(one.default)  # type: ignore[arg-type]
    for candidate in (2 * value, value / 2, value + 1, value - 1, low, high):
        if candidate == value or (one.is_whole and candidate != round(candidate)):
            continue
        if low <= candidate <= high:
            return one.write(int(candidate) if one.is_whole else float(candidate))
    raise ValueError(f"{one.name} has no other value")
