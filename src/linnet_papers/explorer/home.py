"""The first page: what this is, modes that are learned by formula as one looks, a lecture, and the pages as cards."""

from __future__ import annotations

from functools import cache

from dash import dcc, html
from dash.development.base_component import Component

from linnet_papers.explorer.drawing import rounded_list
from linnet_papers.explorer.lecture import STEPS, Step, step_link
from linnet_papers.explorer.loading import import_modules
from linnet_papers.explorer.page import Page

TITLE = "linnet explore"
WHAT = (
    "See how linear networks learn: whenever a slider moves, a network of any width is trained anew, beside "
    "the formula that predicts it. All of it is computed on this machine, and the address of a page holds what was "
    "set on it: a view can be sent as a link."
)
VALUES = (8.0, 4.0, 2.0, 1.0)  # singular values of the target in the moving picture
# Thresholds g of the moving picture's runs, with the words below it.
RUNS = {
    1e-4: "a small start: one mode after the other",
    0.1: "a larger start: the plateaus shorten",
    3.0: "between lazy and active: weak modes below the threshold, strong ones above it",
    100.0: "a large start: all modes at once, lazily",
}
TIMES = 161  # points of a curve
LEARNED = 0.99  # share of the weakest mode at which a run ends


def home(pages: list[Page]) -> Component:
    """Lay out what the address `/` shows."""
    return html.Section(
        [
            html.Div([_introduction(), _moving_picture()], className="opening"),
            html.H2("A lecture in five steps", id="lecture"),
            html.Ol([_step(number, step) for number, step in enumerate(STEPS, 1)], className="steps"),
            html.H2("The pages"),
            html.Div([_card(page) for page in pages], className="cards"),
        ],
        className="page home",
        id="home-page",
    )


def _introduction() -> Component:
    """Lay out what the explorer is, and where the lecture starts."""
    return html.Div(
        [
            html.H1(TITLE),
            html.P(WHAT, className="what"),
            html.P([dcc.Link("Start the lecture", href=step_link(1), className="button first", id="home-start")]),
            html.P(
                [html.B("Present"), ", above, enlarges everything and folds the controls away, for a projector."],
                className="soft",
            ),
        ]
    )


def _moving_picture() -> Component:
    """Lay out where the browser draws the runs (assets/home.js), with a button that stops them."""
    about = "Singular values of a network over time, from starts of four sizes, by formula."
    return html.Figure(
        [
            html.Div(id="moving-picture", role="img", **{"aria-label": about}),
            html.Figcaption(
                [
                    html.Span(id="moving-words", className="soft"),
                    html.Button("Pause", id="moving-pause", type="button", className="small"),
                ]
            ),
            dcc.Store(id="moving-runs", data={"values": VALUES, "runs": moving_runs()}),
        ],
        className="moving view",
    )


@cache
def moving_runs() -> list[dict[str, object]]:
    """Compute the runs of the moving picture: one target, each for as long as its weakest mode needs.

    `animateRuns` of assets/home.js draws them: each has its "words", "threshold" and "end" (a time), and its "modes",
    a list of numbers for each.
    """
    import numpy as np

    import_modules(("linnet.theories", "linnet.theories.lazy_active"))  # not JAX: the first page must not wait for it
    from linnet.theories.lazy_active import mode_values

    drawn: list[dict[str, object]] = []
    for threshold, words in RUNS.items():
        clock = np.geomspace(1e-6, 1e3, 4000)
        weakest = mode_values(VALUES[-1:], threshold, clock)[:, 0]
        end = clock[np.argmax(weakest > LEARNED * VALUES[-1])]
        modes = mode_values(VALUES, threshold, np.linspace(0, end, TIMES)).T
        drawn.append({"words": words, "threshold": threshold, "end": float(f"{end:.3g}"), "modes": rounded_list(modes)})
    return drawn


def _step(number: int, step: Step) -> Component:
    """Lay out a step of the lecture: its link and its words."""
    return html.Li([dcc.Link(step.title, href=step_link(number)), html.P(step.says)])


def _card(page: Page) -> Component:
    """Lay out a page's picture, title and sentence, as one link."""
    thumbnail = html.Img(src=f"/assets/thumbnails/{page.name}.webp", alt="", width=320, height=200)
    words = [html.B(page.title), html.Span(page.card)]
    return dcc.Link([thumbnail, html.Div(words)], href=f"/{page.name}", className="card", id=f"card-{page.name}")
