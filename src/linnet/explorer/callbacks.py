"""What happens when something is set: one callback of a page computes, the browser does the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dash import Input, Output, State

from linnet.explorer.controls import Control
from linnet.explorer.home import TITLE
from linnet.explorer.layout import content, view_id
from linnet.explorer.page import Page, Part
from linnet.explorer.service import Answer, Service

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component


def register(app: Dash, service: Service) -> None:
    """All callbacks of the application."""

    @app.callback(Output("content", "children"), Input("url", "pathname"), State("url", "search"), State("url", "hash"))
    def show(path: str | None, search: str | None, mark: str | None) -> Component:
        return content(service, path, search, mark)

    app.clientside_callback(
        _call("marked", {"": TITLE} | {page.name: page.title for page in service.pages.values()}),
        Output("navigation", "data-at"),
        Input("url", "pathname"),
    )
    app.clientside_callback(
        _call("look"),
        Output("look", "data"),
        Input("theme-switch", "n_clicks"),
        Input("present-switch", "n_clicks"),
        Input("controls-switch", "n_clicks"),
    )
    app.clientside_callback(_call("moving"), Output("moving-picture", "data-drawn"), Input("moving-runs", "data"))
    for page in service.pages.values():
        for part in page.parts:
            _compute(app, service, page, part)
            _show(app, page, part)
            _clicks(app, page, part)
        for control in page.controls:
            _sliding(app, page, control)
            _hiding(app, page, control)
        if page.freezes:
            _freezing(app, page)
        if page.register is not None:
            page.register(app, service)


def _compute(app: Dash, service: Service, page: Page, part: Part) -> None:
    followed = [control.name for control in page.controls if page.follows(part, control)]
    only_read = [control.name for control in page.controls if not page.follows(part, control)]
    names = followed + only_read  # Dash passes inputs first

    @app.callback(
        Output(f"{page.name}-{part.name}-answer", "data"),
        Input(f"{page.name}-frozen", "data"),
        *[Input(f"{page.name}-{name}", "value") for name in followed],
        *[State(f"{page.name}-{name}", "value") for name in only_read],
    )
    def compute(frozen: object, *values: object) -> Answer:
        given = dict(zip(names, values, strict=True))
        return service.answer(page, part, given, frozen if isinstance(frozen, str) else None)


def _show(app: Dash, page: Page, part: Part) -> None:
    """The answer on the page: pictures in the theme's colours, errors, files, and in the first part the address."""
    key = f"{page.name}-{part.name}"
    views = [{"id": view_id(page, view), "kind": view.kind} for view in part.views]
    outputs = [Output(view["id"], "figure" if view["kind"] == "figure" else "children") for view in views]
    outputs += [Output(f"{key}-error", "children"), Output(f"{key}-csv", "href"), Output(f"{key}-nc", "href")]
    outputs += [Output(f"{page.name}-script", "children")] if part.name == "main" else []
    app.clientside_callback(
        _call("show", {"page": page.name, "part": part.name, "views": views}),
        *outputs,
        Input(f"{key}-answer", "data"),
        Input("look", "data"),
        State(f"{page.name}-frozen", "data"),
    )


def _sliding(app: Dash, page: Page, control: Control) -> None:
    """Slider and box show one value; a control that plays moves its slider by itself."""
    if not control.has_slider:
        return
    ident = f"{page.name}-{control.name}"
    low, high, step = control.slider_range
    parts = [part.name for part in page.parts if page.follows(part, control)]
    how: dict[str, object] = {"page": page.name, "parts": parts, "id": ident}
    how |= {"log": control.kind == "log", "whole": control.whole, "low": control.bounds[0], "high": control.bounds[1]}
    app.clientside_callback(
        _call("slide", how),
        Output(ident, "value"),
        Output(f"{ident}-slider", "value"),
        Input(ident, "value"),
        Input(f"{ident}-slider", "value"),
        prevent_initial_call=True,
    )
    if not control.plays:
        return
    app.clientside_callback(
        _call("play"),
        Output(f"{ident}-tick", "disabled"),
        Output(f"{ident}-play", "children"),
        Input(f"{ident}-play", "n_clicks"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        _call("tick", {"low": low, "high": high, "step": step}),
        Output(f"{ident}-slider", "value", allow_duplicate=True),
        Input(f"{ident}-tick", "n_intervals"),
        State(f"{ident}-slider", "value"),
        prevent_initial_call=True,
    )


def _hiding(app: Dash, page: Page, control: Control) -> None:
    """A control that matters only with some values of another is hidden with the others."""
    if control.when is None or control.hidden:
        return
    other, values = control.when
    app.clientside_callback(
        _call("hide", [("on" if value else "off") if isinstance(value, bool) else str(value) for value in values]),
        Output(f"{page.name}-{control.name}-control", "hidden"),
        Input(f"{page.name}-{other}", "value"),
    )


def _clicks(app: Dash, page: Page, part: Part) -> None:
    for view in part.views:
        for name, what in view.click.items():
            app.clientside_callback(
                _call("picked", what),
                Output(f"{page.name}-{name}", "value", allow_duplicate=True),
                Input(view_id(page, view), "clickData"),
                prevent_initial_call=True,
            )


def _freezing(app: Dash, page: Page) -> None:
    app.clientside_callback(
        _call("freeze"),
        Output(f"{page.name}-frozen", "data"),
        Output(f"{page.name}-freeze", "children"),
        Input(f"{page.name}-freeze", "n_clicks"),
        State(f"{page.name}-main-answer", "data"),
        State(f"{page.name}-frozen", "data"),
        prevent_initial_call=True,
    )


def _call(name: str, settings: object = None) -> str:
    """The text of a browser function that calls ours (assets/explorer.js) with settings and the callback's values."""
    return f"function(...values) {{ return window.linnet.{name}({json.dumps(settings)}, ...values); }}"
