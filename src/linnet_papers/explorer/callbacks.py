"""What happens when a control is set: one callback of each part computes, the browser does the rest."""

from __future__ import annotations

from dash import Dash, Input, Output, State
from dash.development.base_component import Component

from linnet_papers.explorer.controls import Control
from linnet_papers.explorer.home import TITLE
from linnet_papers.explorer.layout import FREEZE, PAUSE, PLAY, PRESENT, STOP_PRESENTING, UNFREEZE, content, view_id
from linnet_papers.explorer.page import MAIN, Page, Part, browser_call
from linnet_papers.explorer.service import Answer, Service


def register(app: Dash, service: Service) -> None:
    """Register all callbacks of the application; `layout` lists the ids."""

    @app.callback(Output("content", "children"), Input("url", "pathname"), State("url", "search"), State("url", "hash"))
    def show_page(path: str | None, search: str | None, fragment: str | None) -> Component:
        """Lay out the page of an address; its query is read once: from then on the page writes it."""
        return content(service, path, search, fragment)

    app.clientside_callback(
        browser_call("markCurrentPage", {"": TITLE} | {page.name: page.title for page in service.pages.values()}),
        Output("navigation", "data-at"),
        Input("url", "pathname"),
    )
    app.clientside_callback(
        browser_call("updateLook", {"present": PRESENT, "stop": STOP_PRESENTING}),
        Output("look", "data"),
        Input("theme-switch", "n_clicks"),
        Input("present-switch", "n_clicks"),
        Input("controls-switch", "n_clicks"),
    )
    app.clientside_callback(
        browser_call("animateRuns"), Output("moving-picture", "data-drawn"), Input("moving-runs", "data")
    )
    for page in service.pages.values():
        for part in page.parts:
            _register_compute(app, service, page, part)
            _register_views(app, page, part)
            _register_clicks(app, page, part)
        for control in page.controls:
            if control.has_slider:
                _register_slider(app, page, control)
            if control.plays:
                _register_play(app, page, control)
            if control.when:
                _register_hiding(app, page, control)
        if page.can_freeze_run:
            _register_frozen_run(app, page)
        if page.register is not None:
            page.register(app)


def _register_compute(app: Dash, service: Service, page: Page, part: Part) -> None:
    """Compute and draw a part again when a control that it follows is set."""
    followed = [control.name for control in page.controls if page.part_follows(part, control)]
    only_read = [control.name for control in page.controls if not page.part_follows(part, control)]
    names = followed + only_read  # Dash passes inputs first

    @app.callback(
        Output(f"{page.name}-{part.name}-answer", "data"),
        Input(f"{page.name}-frozen", "data"),
        *[Input(f"{page.name}-{name}", "value") for name in followed],
        *[State(f"{page.name}-{name}", "value") for name in only_read],
    )
    def answer(frozen: object, *values: object) -> Answer:
        """Return the answer to the values of the controls, in the order of `names`, and the query of a frozen run."""
        given = dict(zip(names, values, strict=True))
        return service.answer(page, part, given, frozen if isinstance(frozen, str) else None)


def _register_views(app: Dash, page: Page, part: Part) -> None:
    """Show an answer on the page: pictures in the theme's colors, errors, files; the first part sets the address.

    The outputs are in the order in which `showAnswer` of assets/explorer.js returns them.
    """
    key = f"{page.name}-{part.name}"
    views = [{"id": view_id(page, view), "kind": view.kind} for view in part.views]
    outputs = [Output(view["id"], "figure" if view["kind"] == "figure" else "children") for view in views]
    outputs += [Output(f"{key}-error", "children"), Output(f"{key}-csv", "href"), Output(f"{key}-nc", "href")]
    outputs += [Output(f"{page.name}-script", "children")] if part.name == MAIN else []
    app.clientside_callback(
        browser_call("showAnswer", {"page": page.name, "part": part.name, "views": views}),
        *outputs,
        Input(f"{key}-answer", "data"),
        Input("look", "data"),
        State(f"{page.name}-frozen", "data"),
    )


def _register_slider(app: Dash, page: Page, control: Control) -> None:
    """Keep slider and box at one value, and send no position while the parts that follow it are being computed."""
    ident = f"{page.name}-{control.name}"
    parts = [part.name for part in page.parts if page.part_follows(part, control)]
    low, high = control.bounds
    value = {"log": control.kind == "log", "whole": control.is_whole, "low": low, "high": high}
    app.clientside_callback(
        browser_call("syncSlider", {"page": page.name, "parts": parts, "id": ident, **value}),
        Output(ident, "value"),
        Output(f"{ident}-slider", "value"),
        Input(ident, "value"),
        Input(f"{ident}-slider", "value"),
        prevent_initial_call=True,
    )


def _register_play(app: Dash, page: Page, control: Control) -> None:
    """Let a button start and stop a clock, and every tick of it move the slider by a step."""
    ident = f"{page.name}-{control.name}"
    low, high, step = control.slider_range
    app.clientside_callback(
        browser_call("togglePlay", {"play": PLAY, "pause": PAUSE}),
        Output(f"{ident}-tick", "disabled"),
        Output(f"{ident}-play", "children"),
        Input(f"{ident}-play", "n_clicks"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        browser_call("nextPosition", {"low": low, "high": high, "step": step}),
        Output(f"{ident}-slider", "value", allow_duplicate=True),
        Input(f"{ident}-tick", "n_intervals"),
        State(f"{ident}-slider", "value"),
        prevent_initial_call=True,
    )


def _register_hiding(app: Dash, page: Page, control: Control) -> None:
    """Hide a control that matters only with some values of another while that one has others."""
    other, *values = control.when
    app.clientside_callback(
        browser_call("isHidden", values),
        Output(f"{page.name}-{control.name}-control", "hidden"),
        Input(f"{page.name}-{other}", "value"),
    )


def _register_clicks(app: Dash, page: Page, part: Part) -> None:
    """Set controls by a click in a picture."""
    for view in part.views:
        for name, what in view.click.items():
            app.clientside_callback(
                browser_call("clickedValue", what),
                Output(f"{page.name}-{name}", "value", allow_duplicate=True),
                Input(view_id(page, view), "clickData"),
                prevent_initial_call=True,
            )


def _register_frozen_run(app: Dash, page: Page) -> None:
    """Keep the run that is shown, to be drawn beside the next one, and let it go again."""
    app.clientside_callback(
        browser_call("toggleFrozen", {"freeze": FREEZE, "unfreeze": UNFREEZE}),
        Output(f"{page.name}-frozen", "data"),
        Output(f"{page.name}-freeze", "children"),
        Input(f"{page.name}-freeze", "n_clicks"),
        State(f"{page.name}-{MAIN}-answer", "data"),
        State(f"{page.name}-frozen", "data"),
        prevent_initial_call=True,
    )
