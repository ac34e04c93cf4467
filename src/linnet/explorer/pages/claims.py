"""The page *Claims*: every verdict with its sentence, its numbers and its record; any of them measured on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet import style
from linnet.explorer import as_python
from linnet.explorer import drawing as draw
from linnet.explorer.computing import claims as computing
from linnet.explorer.controls import State, choice, text, whole
from linnet.explorer.drawing import Figure
from linnet.explorer.page import Data, Html, Page, Part, view
from linnet.explorer.panels.measuring import PICK, panel, register

if TYPE_CHECKING:
    from dash.development.base_component import Component

SHEET_CLAIMS = 20  # claims on a sheet of the list
PAPERS = {name: name if name == computing.ALL else computing.paper_title(name) for name in computing.paper_choices()}
CONTROLS = (
    choice("paper", "Paper", PAPERS, "Claims of one paper, or of all."),
    choice("verdict", "Verdict", computing.VERDICTS, "What the measurement says."),
    text(
        "words",
        "Words",
        "As a phrase (Theorem 2 of paper 4), or else each of them: in the number, the sentence, what was measured.",
    ),
    whole("sheet", "Page of the list", 1, (1, 20), f"A page has {SHEET_CLAIMS} claims."),
    text("claim", "Claim", "The one to look at; a click in the list sets it. The first one if empty."),
)


def script(state: State) -> str:
    """Write Python that finds the same claims, and measures the one that is looked at."""
    call = as_python.call_text("filtered_claims", {name: state[name] for name in ("paper", "verdict", "words")})
    lines = ["from linnet.explorer.computing.claims import filtered_claims", "", f"data = {call}"]
    lines.append('print(data["verdict"].to_series().value_counts())')
    if state["claim"]:
        lines[1:1] = ["from linnet.reproduction import Trial, claims"]
        lines += [f"measured = claims()[{state['claim']!r}].measurement(Trial(quick=True))", "print(measured)"]
    return "\n".join([*lines, ""])


COLOURS = dict(zip(computing.VERDICTS[1:], (style.GREEN, style.SKY, style.ORANGE, style.GREY), strict=True))
DETAILS = {
    "where": "where",
    "assumes": "assumes",
    "tried": "tried on",
    "requirement": "required",
    "measured": "measured",
}


@view(
    "Verdicts of each paper",
    "Of the claims that are listed below; a click on a paper chooses it.",
    height=260,
    wide=True,
    click={"paper": "customdata"},
)
def verdict_counts(data: Data, state: State) -> Figure:
    """Draw how many claims of each paper have each verdict."""
    by_paper = computing.verdict_counts(data)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": verdict,
            "y": [computing.paper_title(paper) for paper in by_paper],
            "customdata": list(by_paper),
            "x": [of.get(verdict, 0) for of in by_paper.values()],
            "marker": {"color": colour},
        }
        for verdict, colour in COLOURS.items()
    ]
    few = max((sum(of.values()) for of in by_paper.values()), default=0) <= 10
    return draw.figure(
        bars,
        x="claims",
        barmode="stack",
        xaxis={"dtick": 1} if few else {},
        yaxis={"type": "category", "autorange": "reversed", "automargin": True},
    )


@view("The claim", kind="html", wide=True)
def claim(data: Data, state: State) -> Html:
    """Show the claim that is looked at: its sentence, numbers, record and command, and the button that measures it."""
    from dash import html

    row = _selected_claim(data, str(state["claim"]))
    if row is None:
        return html.P("No claim has all of this: leave out a word, or choose all papers and verdicts.")
    name, share = str(row["claim"].values), _seed_share(row)
    items: list[Component] = []
    for part, label in DETAILS.items():
        items += [html.Dt(label), html.Dd(_typeset(str(row[part].values)))]
    items += [html.Dt("over seeds"), html.Dd(share), html.Dt("again"), html.Dd(html.Code(str(row["command"].values)))]
    return [
        html.P([html.B(name), " ", _verdict_badge(row)], className="claim-name"),
        html.Div(_typeset(str(row["says"].values)), className="sentence"),
        html.Dl(items, className="claim"),
        panel(name),
    ]


@view("The list of claims", kind="html", wide=True)
def claim_list(data: Data, state: State) -> Html:
    """Show a sheet of the list: name, verdict, share over seeds and sentence; a click chooses."""
    from dash import html

    total = data.sizes["claim"]
    sheets = max(1, -(-total // SHEET_CLAIMS))
    sheet = min(int(str(state["sheet"])), sheets)
    rows = []
    for at in range((sheet - 1) * SHEET_CLAIMS, min(sheet * SHEET_CLAIMS, total)):
        row = data.isel(claim=at)
        name = str(row["claim"].values)
        about = [
            _pick_button(name, "list"),
            " ",
            _verdict_badge(row),
            " ",
            html.Span(_seed_share(row), className="soft"),
        ]
        rows.append(html.Li([html.Div(about), html.Div(_typeset(str(row["says"].values)), className="sentence")]))
    shown = f"{total} of {computing.filtered_claims().sizes['claim']} claims; page {sheet} of {sheets}."
    return [html.P(shown, className="soft", id="claims-shown"), html.Ul(rows, className="claims")]


@view("Is it true? One answer for each theorem", kind="html", wide=True)
def answers(data: Data, state: State) -> Html:
    """Show one answer for each theorem, folded by paper until one is chosen or searched for."""
    from dash import html

    shown: list[Component] = []
    for paper in dict.fromkeys(data["paper"].values.tolist()):
        own = data.isel(theorem=np.flatnonzero(data["paper"].values == paper))
        items: list[Component] = []
        for at in range(own.sizes["theorem"]):
            one = own.isel(theorem=at)
            theorem, names = str(one["theorem"].values), str(one["claims"].values).split()
            rests = [part for name in names for part in (_pick_button(name, f"{paper} {theorem}"), " ")]
            items += [
                html.Dt(_typeset(theorem)),
                html.Dd([_typeset(str(one["answer"].values)), html.Div(rests, className="rests")]),
            ]
        title = computing.place_of(f"{own.sizes['theorem']} answers", paper)
        only = state["paper"] != computing.ALL or bool(state["words"])
        shown.append(html.Details([html.Summary(title), html.Dl(items, className="answers")], open=only))
    return shown or html.P("No theorem has all of these words; the claims below may.", className="soft")


def _pick_button(name: str, where: str) -> Component:
    """Return a button that chooses a claim; `where` it stands makes its id unique."""
    from dash import html

    ident = {"type": PICK, "claim": name, "where": where}
    return html.Button(name, id=ident, type="button", n_clicks=0, className="pick")


def _typeset(text: str) -> Component:
    """Return a sentence with its formulas drawn, by the MathJax that Dash brings."""
    from dash import dcc

    from linnet.reproduction.typeset import typeset

    return dcc.Markdown(typeset(text), mathjax=True, className="typeset")


def _selected_claim(data: Data, name: str) -> Data | None:
    """Return the claim of this name, filtered out or not; without a name the first one, if there is any."""
    if not name:
        return data.isel(claim=0) if data.sizes["claim"] else None
    from linnet.reproduction.registry import select_claims

    full_name = select_claims([name])[0].name  # or a sentence that says there is none
    return computing.filtered_claims().sel(claim=full_name)


def _verdict_badge(row: Data) -> Component:
    """Return the verdict of a claim in its colour."""
    from dash import html

    from linnet.reproduction.declaration import Verdict

    verdict = str(row["verdict"].values)
    return html.Span(verdict, className=f"verdict {Verdict(verdict).name.lower()}")


def _seed_share(row: Data) -> str:
    """Return in how many seeds a claim had its verdict."""
    seeds = int(row["seeds"])
    return f"in {int(row['kept'])} of {seeds} seeds" if seeds else "not tried over seeds yet"


PAGE = Page(
    name="claims",
    title="Claims",
    card="Is it true? Every theorem of four papers, measured; any of them again, here.",
    introduction=(
        "What the papers say in words and formulas, measured on trained networks: what holds, what holds with a "
        "correction, what is refuted, and what was tried outside its assumptions.",
        "The verdicts shown were measured before; any claim can be measured again, here or by its command.",
    ),
    controls=CONTROLS,
    parts=(
        Part("main", computing.filtered_claims, (verdict_counts, claim, claim_list)),
        Part("answers", computing.answers, (answers,)),
    ),
    own_script=script,
    register=register,
)
