"""The part of the page *Claims* that measures one: a button, how far it is, the outcome, and a way to cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from linnet.explorer.computing.measuring import CANCELLED, DONE, UNDER_WAY, Measuring, Progress
from linnet.explorer.loading import load
from linnet.explorer.page import browser_call
from linnet.explorer.service import failure

if TYPE_CHECKING:
    from dash import Dash
    from dash.development.base_component import Component

    from linnet.explorer.service import Service

    Shown: TypeAlias = Component | list[Component | str]

PICK = "claims-pick"
MEASURING = Measuring()  # of this server: one claim at a time, whoever asks
TICK_MILLISECONDS = 500  # milliseconds between two looks


def panel(name: str) -> Component:
    """Lay out the buttons of a claim, and where its progress is shown."""
    from dash import dcc, html

    return html.Div(
        [
            html.Button("Measure it now", id="claims-run", type="button", n_clicks=0),
            html.Button("Cancel", id="claims-cancel", type="button", n_clicks=0, hidden=True),
            dcc.Store(id="claims-measured", data=name),
            dcc.Interval(id="claims-tick", interval=TICK_MILLISECONDS, disabled=True),
            html.Div(id="claims-progress", role="status"),
        ],
        className="measuring",
    )


def register(app: Dash, service: Service) -> None:
    """Register the callbacks: a click in the list, and the measuring."""
    from dash import ALL, Input, Output, State, ctx

    app.clientside_callback(
        browser_call("chooseClaim"),
        Output("claims-claim", "value", allow_duplicate=True),
        Input({"type": PICK, "claim": ALL, "where": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output("claims-progress", "children"),
        Output("claims-tick", "disabled"),
        Output("claims-run", "disabled"),
        Output("claims-cancel", "hidden"),
        Input("claims-run", "n_clicks"),
        Input("claims-cancel", "n_clicks"),
        Input("claims-tick", "n_intervals"),
        State("claims-measured", "data"),
    )
    def measure(run: int, cancel: int, tick: int, name: str) -> tuple[Shown, bool, bool, bool]:
        return panel_state(str(ctx.triggered_id or "") if run or cancel else "", name)


def panel_state(pressed: str, name: str) -> tuple[Shown, bool, bool, bool]:
    """Return what the panel shows after a button was pressed, and whether clock, button and cancel are off."""
    from dash import html

    try:
        load()
        if pressed == "claims-cancel":
            MEASURING.cancel()
        progress = MEASURING.start(name) if pressed == "claims-run" else MEASURING.progress(name)
    except Exception as reason:
        return html.P(failure(reason)["error"], className="error", role="alert"), True, False, True
    going = progress is not None and progress.state == UNDER_WAY
    return _progress_shown(progress), not going, going, not going


def _progress_shown(progress: Progress | None) -> Shown:
    """Show a measurement: a bar while it is under way, then its outcome or its failure."""
    from dash import html

    if progress is None:
        return []
    if progress.state == UNDER_WAY:
        bar = html.Progress(value=f"{progress.share:.3f}", max="1", **{"aria-label": "share of the usual time"})
        return [bar, f" {progress.seconds:.0f} s; it is measured at quick settings, in a process of its own."]
    if progress.state != DONE:
        return html.P(
            f"{progress.claim}: {progress.reason}", className="soft" if progress.state == CANCELLED else "error"
        )
    out = progress.outcome
    right = "as expected" if out["as_expected"] else f"NOT as expected ({out['expected']})"
    return html.P(
        [html.B(f"{out['verdict']}, {right}"), f", in {progress.seconds:.1f} s. Measured: {out['measured']}"],
        id="claims-outcome",
    )
