"""What a page of the explorer is: controls, what is computed from them, and the views of it.

A page is one file of `pages`. What it computes stands in `computing`: plain functions whose arguments have the names of
controls, and which return xarray datasets. Their source is also the script under "As Python" (see `as_python`). A view
turns such a dataset into a Plotly figure (a plain dictionary; see `drawing`) or into components of Dash.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dash import Dash
from dash.development.base_component import Component

from linnet_papers.explorer import as_python
from linnet_papers.explorer.controls import Control, State, Value
from linnet_papers.explorer.drawing import Figure
from linnet_papers.explorer.loading import ALL

if TYPE_CHECKING:
    import xarray as xr

# Names for annotations: xarray is not loaded for them.
Data: TypeAlias = "xr.Dataset"
Html: TypeAlias = "Component | list[Component]"  # what a view of kind "html" shows
Draw: TypeAlias = "Callable[[xr.Dataset, State], Figure | Html]"

MAIN = "main"  # the name of a page's first part; assets/explorer.js knows it too


@dataclass(frozen=True)
class View:
    """One picture, or with `kind="html"` one piece of page, of a dataset.

    - `draw(dataset, state)`: a Plotly figure as a dictionary; for "html" a Dash component, or a list of them
    - `about`: one sentence below it; `height` in pixels; `wide`: takes the page's whole width
    - `click`: controls set by a click on a point, each with what it takes: "x", "y", "xy" (both, for a control of kind
      "numbers"), "customdata" (`clickedValue` of assets/explorer.js reads it)
    """

    name: str
    title: str
    draw: Draw
    about: str = ""
    kind: Literal["figure", "html"] = "figure"
    height: int = 360
    wide: bool = False
    click: Mapping[str, str] = field(default_factory=dict)


def view(title: str, about: str = "", **more: Any) -> Callable[[Draw], View]:
    """Decorate a function that draws: it becomes a `View` with the function's name; `more` are fields of `View`.

    The name is part of the picture's id (see `layout.view_id`), by which assets/*.css order pictures and
    website/draw_links.py finds them.
    """
    return lambda draw: View(draw.__name__, title, draw, about, **more)


@dataclass(frozen=True)
class Part:
    """What is computed in one go, and its views. A page has one; more where some of it takes longer than the rest.

    `compute` takes the controls that its arguments name, or all of the page if it takes `**state`. With `needs`, the
    part waits until these controls are not empty (a clicked cell). The first part of a page is called `MAIN`; names of
    parts are in ids and in the addresses of files (see `layout`), and name the results in `Page.script`, as variables
    of Python. The views of another part may read of the state only those controls that it follows
    (`Page.part_follows`).
    """

    name: str
    compute: Callable[..., xr.Dataset]
    views: Sequence[View]
    needs: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Return whether `compute` takes the control of this name."""
        parameters = inspect.signature(self.compute).parameters
        return name in parameters or any(one.kind == one.VAR_KEYWORD for one in parameters.values())

    def missing(self, state: Mapping[str, Value]) -> list[str]:
        """Return the names of the controls that it needs and that are still empty."""
        return [name for name in self.needs if not state[name]]

    def waits(self, state: Mapping[str, Value]) -> bool:
        """Return whether a control that it needs is still empty."""
        return bool(self.missing(state))


@dataclass(frozen=True)
class Page:
    """A page of the explorer: its controls, the parts that are computed from them, and its words.

    - `name`: in the address, `/name`, in ids, and in assets/thumbnails; `title`; `introduction`: its paragraphs
    - `card`: one sentence, on the first page
    - `controls`; `parts`: what is computed from them and drawn, each part apart from the others
    - `own_script(state)`: the text under "As Python" where it is not the source of the parts
    - `modules`: those of linnet that computing and drawing it import, by default all that any page does (see `loading`)
    - `prefetch_queries`: states that are computed after the start before anybody asks: each compiles something of its
      own
    - `can_freeze_run`: a run can be frozen, to be drawn beside the next one
    - `above_controls()`: a Dash component that stands above the controls
    - `register(app)`: registers callbacks of its own
    """

    name: str
    title: str
    introduction: tuple[str, ...]
    controls: tuple[Control, ...]
    parts: tuple[Part, ...]
    card: str = ""
    modules: tuple[str, ...] = ALL
    prefetch_queries: tuple[str, ...] = ("",)
    can_freeze_run: bool = False
    own_script: Callable[[State], str] | None = None
    above_controls: Callable[[], Component] | None = None
    register: Callable[[Dash], None] | None = None

    @property
    def first_view(self) -> View:
        """The view that is seen first."""
        return self.parts[0].views[0]

    def part_follows(self, part: Part, control: Control) -> bool:
        """Return whether a part is asked for again when a control changes.

        The first part always is: it brings the address. Another one is by what it computes with, and by what no part
        computes with: that is for drawing alone.
        """
        if part.name == MAIN or part.takes(control.name):
            return True
        return not any(other.takes(control.name) for other in self.parts)

    def arguments(self, part: Part, state: Mapping[str, Value]) -> State:
        """Return what the part's `compute` takes of a state, in the order of `controls`.

        The values must be hashable: `Service.data` keeps datasets by them, `script` writes them out.
        """
        return {control.name: state[control.name] for control in self.controls if part.takes(control.name)}

    def script(self, state: State) -> str:
        """Write Python that computes what the page shows."""
        if self.own_script is not None:
            return self.own_script(state)
        shown = {"data" if part.name == MAIN else part.name: part for part in self.parts if not part.waits(state)}
        return as_python.script({name: (part.compute, self.arguments(part, state)) for name, part in shown.items()})


def browser_call(name: str, settings: object = None) -> str:
    """Return JavaScript for a callback in the browser: it calls a function of assets/*.js.

    That function gets the `settings`, then the values of the callback's inputs and states, and returns those of its
    outputs, all in the order of the callback.
    """
    return f"function(...values) {{ return window.linnet.{name}({json.dumps(settings)}, ...values); }}"
