"""What stands on the pages: navigation, controls with their help, pictures with their files, and the script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc, html

from linnet.explorer import controls as control
from linnet.explorer.controls import Control, ControlError, State
from linnet.explorer.home import home
from linnet.explorer.lecture import STEPS, link, number_of
from linnet.explorer.page import Page, Part, View
from linnet.explorer.service import FROZEN, Service

if TYPE_CHECKING:
    from dash.development.base_component import Component

PLAY_MILLISECONDS = 120  # milliseconds between two values of a control that plays
EMPTY = {  # a picture before its first answer, in both themes
    "data": [],
    "layout": {
        "xaxis": {"visible": False},
        "yaxis": {"visible": False},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    },
}
MAX_RADIO_CHOICES = 5  # choices that are shown all at once
# What is offered over a picture. Plotly's own choice has a button that uploads the numbers to a host of theirs.
TOOLS = ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]


def shell(service: Service) -> Component:
    """What every page has around it."""
    links = [dcc.Link(page.title, href=f"/{page.name}", id=f"go-{page.name}") for page in service.pages.values()]
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="look"),
            html.A("Skip to the page", href="#content", className="skip"),
            html.Header(
                [
                    dcc.Link("linnet", href="/", className="brand", id="go-home"),
                    html.Nav(links, id="navigation", **{"aria-label": "Pages"}),
                    html.Div(
                        [
                            html.Button("Controls", id="controls-switch", type="button", n_clicks=0),
                            html.Button("Present", id="present-switch", type="button", n_clicks=0),
                            html.Button("Light or dark", id="theme-switch", type="button", n_clicks=0),
                        ],
                        className="switches",
                    ),
                ]
            ),
            html.Main(id="content", tabIndex="-1"),
        ]
    )


def content(service: Service, path: str | None, search: str | None, mark: str | None = None) -> Component:
    """The page of a path in the state of a query string; what is wrong with the address is said on the page.

    A `mark` behind it (`#step-2`) is a step of the lecture.
    """
    name = (path or "/").strip("/")
    if not name:
        return home(list(service.pages.values()))
    page = service.pages.get(name)
    if page is None:
        return html.Section([html.H1("No such page"), html.P("Choose one of the pages above.")])
    state, frozen, wrong = control.defaults(page.controls), None, ""
    try:
        given = control.fields(search or "")
        frozen = given.pop(FROZEN, None)
        state, refused = control.parse_leniently(page.controls, given)
        if refused:
            wrong = " ".join([*map(str, refused), "The rest of the address is kept."])
        if frozen is not None:
            control.parse(page.controls, frozen)
    except ControlError as reason:
        frozen, wrong = None, f"{reason} It is left out."
    return _page(page, state, frozen, wrong, number_of(mark, page))


def _page(page: Page, state: State, frozen: str | None, wrong: str, step: int) -> Component:
    paragraphs = [page.introduction] if isinstance(page.introduction, str) else page.introduction
    heading: list[Component] = [html.H1(page.title)]
    buttons = [html.A("Reset", href=f"/{page.name}", className="button", id=f"{page.name}-reset")]
    if page.freezes:
        label = "Freeze this run" if frozen is None else "Unfreeze"
        buttons.insert(0, html.Button(label, id=f"{page.name}-freeze", type="button", n_clicks=0))
    if step:
        shown = STEPS[step - 1]
        paragraphs = [shown.says]
        heading.append(html.P(f"Lecture, {step} of {len(STEPS)}: {shown.title}", className="step"))
        buttons += _ways(step)
    return html.Section(
        [
            html.Div([*heading, html.Div(buttons, className="buttons")], className="top"),
            *[html.P(text, className="introduction") for text in paragraphs],
            html.P(wrong, className="error", role="alert", id=f"{page.name}-address-error"),
            html.Div(
                [
                    html.Div(
                        [
                            html.P(page.first_view.about, className="soft about of-first"),
                            *([page.beside()] if page.beside else []),
                            *_controls(page, state),
                        ],
                        className="controls",
                        role="group",
                        **{"aria-label": "Controls"},
                    ),
                    html.Div(
                        [*[_part(page, part, state) for part in page.parts], _script(page)],
                        className="results",
                    ),
                ],
                className="columns",
            ),
            dcc.Store(id=f"{page.name}-frozen", data=frozen),
        ],
        className="page",
        id=f"{page.name}-page",
    )


def _ways(step: int) -> list[Component]:
    """From a step of the lecture to its neighbours; links that load the page anew, which may be the same one."""
    ends = step == len(STEPS)
    after = html.A("End" if ends else "Next step", href="/" if ends else link(step + 1), id="step-next")
    before = html.A("Previous step", href=link(step - 1) if step > 1 else "/", id="step-previous")
    before.className, after.className = "button", "button first"
    return [before, after]


def _controls(page: Page, state: State) -> list[Component]:
    groups: dict[str, list[Component]] = {}
    for one in page.controls:
        if not one.plays:  # those stand under the pictures, see `_part`
            groups.setdefault(one.group, []).append(_control(page, one, state))
    return [
        html.Fieldset([html.Legend(name), *held], className="group") if name else html.Div(held, className="group")
        for name, held in groups.items()
    ]


def _control(page: Page, one: Control, state: State) -> Component:
    ident = f"{page.name}-{one.name}"
    text = one.write(state[one.name])
    if one.hidden:
        return dcc.Input(id=ident, type="hidden", value=text)
    help = html.Small(one.help, id=f"{ident}-help", className="help")
    held: list[Component]
    if one.kind == "switch":
        box = dcc.Checklist(
            [{"label": one.label, "value": "on"}], ["on"] if state[one.name] else [], id=ident, className="switch"
        )
        held = [box, help]
    elif one.kind == "choice":
        options: list[Any] = [{"label": shown, "value": value} for value, shown in one.choices]
        chosen: Component = (
            dcc.RadioItems(options, text, id=ident, className="choices")
            if len(options) <= MAX_RADIO_CHOICES
            else dcc.Dropdown(options, text, id=ident, clearable=False, className="dropdown")
        )
        said = "label unseen" if one.label == one.group else "label"  # the heading above it says it
        held = [html.Div(one.label, className=said, id=f"{ident}-label"), chosen, help]
    else:
        held = [html.Label(one.label, htmlFor=ident), _inputs(page, one, ident, text), help]
    held.append(html.P("", className="error", id=f"{ident}-wrong"))
    return html.Div(held, className="control", id=f"{ident}-control")


def _inputs(page: Page, one: Control, ident: str, text: str) -> Component:
    box = dcc.Input(
        id=ident,
        type="text",
        value=text,
        debounce=True,
        autoComplete="off",
        inputMode="decimal" if one.kind in control.SINGLE_NUMBERS else "text",
        className="box" if one.kind in control.SINGLE_NUMBERS else "box long",
    )
    if not one.has_slider:
        return html.Div([box], className="inputs")
    low, high, step = one.slider_range
    slider = html.Div(
        [
            html.Label(f"{one.label}, slider", htmlFor=f"{ident}-slider", className="unseen"),
            dcc.Input(
                id=f"{ident}-slider",
                type="range",
                min=low,
                max=high,
                step=step,
                value=one.position(float(text)),
                className="slider",
            ),
        ],
        className="slider-holder",
    )
    held: list[Component] = [slider, box]
    if one.plays:
        held += [
            html.Button("Play", id=f"{ident}-play", type="button", n_clicks=0, className="play"),
            dcc.Interval(id=f"{ident}-tick", interval=PLAY_MILLISECONDS, disabled=True),
        ]
    return html.Div(held, className="inputs")


def view_id(page: Page, view: View) -> str:
    """The id of a view's picture."""
    return f"{page.name}-view-{view.name}"


def _part(page: Page, part: Part, state: State) -> Component:
    key = f"{page.name}-{part.name}"
    what = f"Data of “{part.views[0].title}”:" if len(page.parts) > 1 else "Data:"
    files = [
        html.Span(what, className="soft"),
        html.A("CSV", href="", id=f"{key}-csv", className="button", download=""),
        html.A("netCDF", href="", id=f"{key}-nc", className="button", download=""),
    ]
    views = [_view(page, view) for view in part.views]
    plays = [_control(page, one, state) for one in page.controls if one.plays and part.name == "main"]
    if plays:
        pictures = sum(view.kind == "figure" for view in part.views)
        views.insert(pictures, html.Div(plays, className="view wide playing"))
    return html.Div(
        [
            html.P("", className="error", role="alert", id=f"{key}-error"),
            html.Div(views, className="views"),
            html.Div(files, className="files", id=f"{key}-files"),
            dcc.Store(id=f"{key}-answer"),
        ],
        className="part empty" if part.waits(state) else "part",
        id=f"{key}-part",
    )


def _view(page: Page, view: View) -> Component:
    ident = view_id(page, view)
    if view.kind == "html":
        body: list[Component] = [html.H2(view.title), html.Div(id=ident, className="shown")]
    else:
        graph = dcc.Graph(
            id=ident,
            figure=EMPTY,
            config={"displaylogo": False, "responsive": True, "displayModeBar": "hover", "modeBarButtons": [TOOLS]},
            style={"height": f"{view.height}px"},
            className="graph",
        )
        save = [
            html.Button(
                kind.upper(),
                type="button",
                className="small",
                **{"data-save": kind, "data-view": ident, "aria-label": f"{view.title}: picture as {kind.upper()}"},
            )
            for kind in ("svg", "png")
        ]
        body = [
            html.Div([html.H2(view.title, id=f"{ident}-title"), html.Span(save, className="save")], className="head"),
            html.Div(graph, role="img", **{"aria-labelledby": f"{ident}-title"}),
        ]
    if view.about:
        body.append(html.P(view.about, className="soft about"))
    return html.Div(body, className="view wide" if view.wide else "view", id=f"{ident}-view")


def _script(page: Page) -> Component:
    ident = f"{page.name}-script"
    return html.Details(
        [
            html.Summary("As Python"),
            dcc.Clipboard(target_id=ident, title="Copy", className="copy"),
            html.Pre(id=ident, className="script", tabIndex="0"),
        ],
        className="as-python",
    )
