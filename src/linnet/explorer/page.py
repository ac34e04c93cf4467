"""What a page of the explorer is: controls, what is computed from them, and the pictures of it.

A page draws; it computes nothing itself. `compute` is a plain function of the controls' values that returns an xarray
dataset, and `draw` turns that dataset into a Plotly figure (a plain dictionary; see `drawing`). The script under
"As Python" is the source of `compute` (see `as_python`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from linnet.explorer import as_python
from linnet.explorer.controls import Control, State, Value
from linnet.explorer.loading import ALL

if TYPE_CHECKING:
    import xarray as xr
    from dash import Dash
    from dash.development.base_component import Component

    from linnet.explorer.drawing import Figure
    from linnet.explorer.service import Service

    Html: TypeAlias = Component | list[Component]  # what a view of kind "html" shows


@dataclass(frozen=True)
class View:
    """One picture, or with `kind="html"` one piece of page, of a dataset.

    - `draw(dataset, state)`: a Plotly figure as a dictionary; for "html" a Dash component, or a list of them
    - `about`: one sentence below it; `height` in pixels; `wide`: takes the page's whole width
    - `click`: controls set by a click on a point, each with what it takes: "x", "y", "xy" (both), "z", "customdata"
    """

    name: str
    title: str
    draw: Callable[[xr.Dataset, State], Figure | Html]
    about: str = ""
    kind: Literal["figure", "html"] = "figure"
    height: int = 360
    wide: bool = False
    click: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """What is computed in one go, and its views. A page has one; more where some of it takes longer than the rest.

    `uses` are the controls that `compute` takes, by default all of the page that compute. With `needs`, it waits until
    these controls are not empty (a clicked cell).
    """

    name: str
    compute: Callable[..., xr.Dataset]
    views: Sequence[View]
    uses: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()

    def waits(self, state: Mapping[str, Value]) -> bool:
        """Whether a control that it needs is still empty."""
        return any(not state[name] for name in self.needs)


@dataclass(frozen=True)
class Page:
    """One page.

    - `name`: in the address, `/name`; `title`; `introduction`: a few sentences, or several paragraphs
    - `card`: one sentence, on the first page
    - `controls`, `compute`, `views`: see above; `more`: further parts, computed after and apart from the first
    - `uses`: the controls that `compute` takes, by default all that compute
    - `own_script(state)`: the text under "As Python" where it is not the source of `compute`
    - `folders`: what computing and drawing it import of linnet, by default all that any page does (see `loading`)
    - `ahead`: queries that are computed after the start before anybody asks: each compiles something of its own
    - `freezes`: a run can be frozen, to be drawn beside the next one
    - `extra()`: Dash components below the views; `beside()`: others above the controls
    - `register(app, service)`: callbacks of its own
    """

    name: str
    title: str
    introduction: str | Sequence[str]
    controls: tuple[Control, ...]
    compute: Callable[..., xr.Dataset]
    views: tuple[View, ...]
    card: str = ""
    uses: tuple[str, ...] | None = None
    more: tuple[Part, ...] = ()
    folders: tuple[str, ...] = ALL
    ahead: tuple[str, ...] = ("",)
    freezes: bool = False
    own_script: Callable[[State], str] | None = None
    extra: Callable[[], Component] | None = None
    beside: Callable[[], Component] | None = None
    register: Callable[[Dash, Service], None] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, the first one first."""
        return (Part("main", self.compute, self.views, self.uses), *self.more)

    def follows(self, part: Part, control: Control) -> bool:
        """Whether a part is asked for again when a control changes. The first one is always: it brings the address.

        What a further part neither computes with nor, perhaps, draws by leaves it as it is.
        """
        return part.name == "main" or part.uses is None or control.name in part.uses or not control.computes

    def arguments(self, part: Part, state: Mapping[str, Value]) -> State:
        """What the part's `compute` takes of a state."""
        names = part.uses if part.uses is not None else tuple(c.name for c in self.controls if c.computes)
        return {name: state[name] for name in names}

    def script(self, state: State) -> str:
        """Python that computes what the page shows."""
        if self.own_script is not None:
            return self.own_script(state)
        shown = [part for part in self.parts if not part.waits(state)]
        names = ["data" if part.name == "main" else part.name for part in shown]
        calls = [(part.compute, self.arguments(part, state)) for part in shown]
        return as_python.script(dict(zip(names, calls, strict=True)))
