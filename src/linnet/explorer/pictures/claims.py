"""The claims as bars, as a list, and one of them with all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet import style
from linnet.explorer.computing import claims as computing
from linnet.explorer.controls import State
from linnet.explorer.drawing import Figure, figure
from linnet.explorer.panels.measuring import PICK, panel

if TYPE_CHECKING:
    import xarray as xr
    from dash.development.base_component import Component

    from linnet.explorer.page import Html

SHOWN = 20  # claims on a sheet of the list
COLOURS = dict(zip(computing.VERDICTS[1:], (style.GREEN, style.SKY, style.ORANGE, style.GREY), strict=True))
DETAILS = {
    "where": "where",
    "assumes": "assumes",
    "tried": "tried on",
    "requirement": "required",
    "measured": "measured",
}


def counts(data: xr.Dataset, state: State) -> Figure:
    """How many claims of each paper have each verdict."""
    by_paper = computing.counts(data)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": verdict,
            "y": [computing.named(paper) for paper in by_paper],
            "customdata": list(by_paper),
            "x": [of.get(verdict, 0) for of in by_paper.values()],
            "marker": {"color": colour},
        }
        for verdict, colour in COLOURS.items()
    ]
    few = max((sum(of.values()) for of in by_paper.values()), default=0) <= 10
    return figure(
        bars,
        x="claims",
        barmode="stack",
        xaxis={"dtick": 1} if few else {},
        yaxis={"type": "category", "autorange": "reversed", "automargin": True},
    )


def one(data: xr.Dataset, state: State) -> Html:
    """The claim that is looked at: its sentence, numbers, record and command, and the button that measures it."""
    from dash import html

    row = _chosen(data, str(state["claim"]))
    if row is None:
        return html.P("No claim has all of this: leave out a word, or choose all papers and verdicts.")
    name, share = str(row["claim"].values), _share(row)
    items: list[Component] = []
    for part, label in DETAILS.items():
        items += [html.Dt(label), html.Dd(_typeset(str(row[part].values)))]
    items += [html.Dt("over seeds"), html.Dd(share), html.Dt("again"), html.Dd(html.Code(str(row["command"].values)))]
    return [
        html.P([html.B(name), " ", _badge(row)], className="claim-name"),
        html.Div(_typeset(str(row["says"].values)), className="sentence"),
        html.Dl(items, className="claim"),
        panel(name),
    ]


def claim_list(data: xr.Dataset, state: State) -> Html:
    """Write a sheet of the list: name, verdict, share over seeds and sentence; a click chooses."""
    from dash import html

    total = data.sizes["claim"]
    sheets = max(1, -(-total // SHOWN))
    sheet = min(int(str(state["sheet"])), sheets)
    rows = []
    for at in range((sheet - 1) * SHOWN, min(sheet * SHOWN, total)):
        row = data.isel(claim=at)
        name = str(row["claim"].values)
        about = [_pick(name, "list"), " ", _badge(row), " ", html.Span(_share(row), className="soft")]
        rows.append(html.Li([html.Div(about), html.Div(_typeset(str(row["says"].values)), className="sentence")]))
    shown = f"{total} of {computing.chosen().sizes['claim']} claims; page {sheet} of {sheets}."
    return [html.P(shown, className="soft", id="claims-shown"), html.Ul(rows, className="claims")]


def answers(data: xr.Dataset, state: State) -> Html:
    """Is it true? One answer for each theorem, folded by paper until one is chosen or searched for."""
    from dash import html

    shown: list[Component] = []
    for paper in dict.fromkeys(data["paper"].values.tolist()):
        own = data.isel(theorem=np.flatnonzero(data["paper"].values == paper))
        items: list[Component] = []
        for at in range(own.sizes["theorem"]):
            one = own.isel(theorem=at)
            theorem, names = str(one["theorem"].values), str(one["claims"].values).split()
            rests = [part for name in names for part in (_pick(name, f"{paper} {theorem}"), " ")]
            items += [
                html.Dt(_typeset(theorem)),
                html.Dd([_typeset(str(one["answer"].values)), html.Div(rests, className="rests")]),
            ]
        title = computing.place(f"{own.sizes['theorem']} answers", paper)
        only = state["paper"] != computing.ALL or bool(state["words"])
        shown.append(html.Details([html.Summary(title), html.Dl(items, className="answers")], open=only))
    return shown or html.P("No theorem has all of these words; the claims below may.", className="soft")


def _pick(name: str, where: str) -> Component:
    """A button that chooses a claim; `where` it stands makes it one of its kind."""
    from dash import html

    ident = {"type": PICK, "claim": name, "where": where}
    return html.Button(name, id=ident, type="button", n_clicks=0, className="pick")


def _typeset(text: str) -> Component:
    """A sentence with its formulas drawn, by the MathJax that Dash brings."""
    from dash import dcc

    from linnet.reproduction.typeset import typeset

    return dcc.Markdown(typeset(text), mathjax=True, className="typeset")


def _chosen(data: xr.Dataset, name: str) -> xr.Dataset | None:
    """The claim of this name, filtered out or not; without a name the first one, if there is any."""
    if not name:
        return data.isel(claim=0) if data.sizes["claim"] else None
    from linnet.reproduction.registry import select_claims

    full_name = select_claims([name])[0].name  # or a sentence that says there is none
    return computing.chosen().sel(claim=full_name)


def _badge(row: xr.Dataset) -> Component:
    from dash import html

    from linnet.reproduction.declaration import Verdict

    verdict = str(row["verdict"].values)
    return html.Span(verdict, className=f"verdict {Verdict(verdict).name.lower()}")


def _share(row: xr.Dataset) -> str:
    seeds = int(row["seeds"])
    return f"in {int(row['kept'])} of {seeds} seeds" if seeds else "not tried over seeds yet"
