"""The page *Claims*: every verdict with its sentence, its numbers and its record; any of them measured on demand."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from linnet import style
from linnet_papers.explorer import as_python
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing import claims as computing
from linnet_papers.explorer.controls import State, choice, text, whole
from linnet_papers.explorer.drawing import Figure
from linnet_papers.explorer.page import Data, Html, Page, Part, view
from linnet_papers.explorer.panels.measuring import PICK, measuring_panel, register

Row = dict[str, Any]  # a claim or an answer: the variables of `computing` by name

SHEET_CLAIMS = 20  # claims on a sheet of the list
PAPERS = {computing.ALL: computing.ALL} | {name: computing.paper_label(name) for name in computing.paper_names()}
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
    lines = ["from linnet_papers.explorer.computing.claims import filtered_claims", "", f"data = {call}"]
    lines.append('print(data["verdict"].to_series().value_counts())')
    if state["claim"]:
        lines[1:1] = ["from linnet_papers.reproduction import Trial, claims"]
        name = _full_name(state["claim"])
        lines += [f"measured = claims()[{name!r}].measurement(Trial(quick=True))", "print(measured)"]
    return "\n".join([*lines, ""])


COLORS = dict(zip(computing.VERDICTS[1:], (style.GREEN, style.SKY, style.ORANGE, style.GRAY), strict=True))
# What is told of a claim: variables of the dataset, and what they are called.
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
    papers, verdicts = data["paper"].values.tolist(), data["verdict"].values.tolist()
    listed, counts = Counter(papers), Counter(zip(papers, verdicts, strict=True))
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": verdict,
            "y": [computing.paper_label(paper) for paper in listed],
            "customdata": list(listed),
            "x": [counts[paper, verdict] for paper in listed],
            "marker": {"color": color},
        }
        for verdict, color in COLORS.items()
    ]
    few = max(listed.values(), default=0) <= 10
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
    row = _selected_claim(data, str(state["claim"]))
    if row is None:
        return html.P("No claim has all of this: leave out a word, or choose all papers and verdicts.")
    items: list[Component] = []
    for part, label in DETAILS.items():
        items += [html.Dt(label), html.Dd(_typeset(row[part]))]
    items += [html.Dt("over seeds"), html.Dd(_seed_share(row)), html.Dt("again"), html.Dd(html.Code(row["command"]))]
    return [
        html.P([html.B(row["claim"]), " ", _verdict_badge(row)], className="claim-name"),
        html.Div(_typeset(row["says"]), className="sentence"),
        html.Dl(items, className="claim"),
        measuring_panel(row["claim"]),
    ]


@view("The list of claims", kind="html", wide=True)
def claim_list(data: Data, state: State) -> Html:
    """Show a sheet of the list: name, verdict, share over seeds and sentence; a click chooses."""
    total = data.sizes["claim"]
    sheets = max(1, -(-total // SHEET_CLAIMS))
    sheet = min(int(state["sheet"]), sheets)
    items = []
    for row in _rows(data.isel(claim=slice((sheet - 1) * SHEET_CLAIMS, sheet * SHEET_CLAIMS))):
        share = html.Span(_seed_share(row), className="soft")
        about = html.Div([_pick_button(row["claim"], "list"), " ", _verdict_badge(row), " ", share])
        items.append(html.Li([about, html.Div(_typeset(row["says"]), className="sentence")]))
    shown = f"{total} of {computing.filtered_claims().sizes['claim']} claims; page {sheet} of {sheets}."
    return [html.P(shown, className="soft", id="claims-shown"), html.Ul(items, className="claims")]


@view("Is it true? One answer for each theorem", kind="html", wide=True)
def answers(data: Data, state: State) -> Html:
    """Show one answer for each theorem, folded by paper until one is chosen or searched for."""
    by_paper: dict[str, list[Component]] = {}
    for row in _rows(data):
        paper, theorem = row["paper"], row["theorem"]
        rests = [part for name in row["claims"].split() for part in (_pick_button(name, f"{paper} {theorem}"), " ")]
        answer = html.Dd([_typeset(row["answer"]), html.Div(rests, className="rests")])
        by_paper.setdefault(paper, []).extend([html.Dt(_typeset(theorem)), answer])
    only = state["paper"] != computing.ALL or bool(state["words"])
    shown = []
    for paper, items in by_paper.items():
        title = computing.place_of(f"{len(items) // 2} answers", paper)
        shown.append(html.Details([html.Summary(title), html.Dl(items, className="answers")], open=only))
    return shown or html.P("No theorem has all of these words; the claims below may.", className="soft")


def _rows(data: Data) -> list[Row]:
    """Return the rows of a table, a dataset along one dimension."""
    columns = {str(name): values.values.tolist() for name, values in data.variables.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _pick_button(name: str, where: str) -> Component:
    """Return a button that chooses a claim, by a callback of `panels.measuring`; `where` makes its id unique."""
    ident = {"type": PICK, "claim": name, "where": where}
    return html.Button(name, id=ident, type="button", n_clicks=0, className="pick")


def _typeset(text: str) -> Component:
    """Return a sentence with its formulas drawn, by the MathJax that Dash brings."""
    from linnet_papers.reproduction.typeset import typeset

    return dcc.Markdown(typeset(text), mathjax=True, className="typeset")


def _selected_claim(data: Data, name: str) -> Row | None:
    """Return the claim of this name, filtered out or not; without a name the first one, if there is any."""
    if name:
        data = computing.filtered_claims().sel(claim=[_full_name(name)])
    return next(iter(_rows(data)), None)


def _full_name(name: str) -> str:
    """Return the name of the first claim whose name begins so; a ValueError of one sentence says that there is none."""
    from linnet_papers.reproduction.registry import select_claims

    return select_claims([name])[0].name


def _verdict_badge(row: Row) -> Component:
    """Return the verdict of a claim in its color, which assets/claims.css has for each name of `Verdict`."""
    from linnet_papers.reproduction.declaration import Verdict

    return html.Span(row["verdict"], className=f"verdict {Verdict(row['verdict']).name.lower()}")


def _seed_share(row: Row) -> str:
    """Return in how many seeds a claim had its verdict."""
    return f"in {row['kept']} of {row['seeds']} seeds" if row["seeds"] else "not tried over seeds yet"


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
