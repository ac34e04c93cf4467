"""The part of the page *Claims* that measures one: a button, how far it is, the outcome, and a way to cancel."""

from __future__ import annotations

from typing import TypeAlias

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html
from dash.development.base_component import Component

from linnet_papers.explorer.computing.measuring import CANCELED, DONE, UNDER_WAY, ClaimRunner, Progress
from linnet_papers.explorer.loading import import_modules
from linnet_papers.explorer.page import browser_call
from linnet_papers.explorer.service import failure_answer

Shown: TypeAlias = "Component | list[Component | str]"  # what the panel shows of a measurement

# The type in the ids of buttons that choose a claim: a dictionary with "claim", which `chooseClaim` of
# assets/explorer.js reads, and "where".
PICK = "claims-pick"
CLAIM_RUNNER = ClaimRunner()  # of this server: one claim at a time, whoever asks
TICK_MILLISECONDS = 500  # between two looks at how far it is


def measuring_panel(name: str) -> Component:
    """Lay out the buttons of a claim, and where its progress is shown; `register` names the same ids."""
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


def register(app: Dash) -> None:
    """Register the callbacks: a click in the list, and the buttons of the panel."""
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
        """Follow a click or a tick; a panel that was just laid out has no clicks, and only shows its claim."""
        return press_button(str(ctx.triggered_id or "") if run or cancel else "", name)


def press_button(pressed: str, name: str) -> tuple[Shown, bool, bool, bool]:
    """Start or cancel a claim's measurement, or only look at it, by the id of the button that was `pressed`.

    **Returns** what the panel shows, and whether clock and start button are disabled and the cancel button is hidden:
    the outputs in `register`, in their order.
    """
    try:
        import_modules()
        if pressed == "claims-cancel":
            CLAIM_RUNNER.cancel()
        progress = CLAIM_RUNNER.start(name) if pressed == "claims-run" else CLAIM_RUNNER.progress(name)
    except Exception as reason:
        return html.P(failure_answer(reason)["error"], className="error", role="alert"), True, False, True
    going = progress is not None and progress.state == UNDER_WAY
    return _progress_components(progress), not going, going, not going


def _progress_components(progress: Progress | None) -> Shown:
    """Show a measurement: a bar while it is under way, then its outcome or its failure."""
    if progress is None:
        return []
    if progress.state == UNDER_WAY:
        bar = html.Progress(value=f"{progress.share:.3f}", max="1", **{"aria-label": "share of the usual time"})
        return [bar, f" {progress.seconds:.0f} s; it is measured at quick settings, in a process of its own."]
    if progress.state != DONE:
        return html.P(
            f"{progress.claim}: {progress.reason}", className="soft" if progress.state == CANCELED else "error"
        )
    out = progress.outcome
    right = "as expected" if out["as_expected"] else f"NOT as expected ({out['expected']})"
    return html.P(
        [html.B(f"{out['verdict']}, {right}"), f", in {progress.seconds:.1f} s. Measured: {out['measured']}"],
        id="claims-outcome",
    )
