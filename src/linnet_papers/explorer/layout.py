"""What stands on the pages: navigation, controls with their help, pictures with their files, and the script.

Ids of a page begin with its name. Callbacks, assets/*.js and assets/*.css use the same ones:

- PAGE-page, -frozen (the query of a frozen run), -freeze, -reset, -script, -address-error
- PAGE-CONTROL, where its value is; -slider, -play, -tick, -label, -help, -wrong; -control is around all of them
- PAGE-PART-answer, where the service's answer arrives; -error, -csv, -nc, -files; -part is around all of them
- PAGE-view-VIEW, see `view_id`; -title; -view is around it

So neither a control nor a part may be called like another one of its page, or like an ending in the first line.
"""

from __future__ import annotations

from dash import dcc, html
from dash.development.base_component import Component

from linnet_papers.explorer import controls
from linnet_papers.explorer.controls import Control, ControlError, State
from linnet_papers.explorer.home import home
from linnet_papers.explorer.lecture import STEPS, step_link, step_number
from linnet_papers.explorer.page import MAIN, Page, Part, View
from linnet_papers.explorer.service import FROZEN, Service

PLAY_MILLISECONDS = 120  # between two values of a control that plays
# What buttons say that say something else after a click; `callbacks` hands these to the browser.
FREEZE, UNFREEZE = "Freeze this run", "Unfreeze"
PLAY, PAUSE = "Play", "Pause"
PRESENT, STOP_PRESENTING = "Present", "Stop presenting"
CLEAR, UNSEEN = "rgba(0,0,0,0)", {"visible": False}
# A picture before its first answer, in both themes.
EMPTY = {
    "data": [],
    "layout": {"xaxis": UNSEEN, "yaxis": UNSEEN, "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR},
}
MAX_RADIO_CHOICES = 5  # choices that are shown all at once
GRAPH_OPTIONS = {
    "displaylogo": False,
    "responsive": True,
    "displayModeBar": "hover",
    # Plotly's own choice has a button that uploads the numbers to a host of theirs.
    "modeBarButtons": [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
}


def _div(class_name: str, *children: Component, **more: object) -> Component:
    """Return a `div` of this class around its children; `more` are further properties."""
    return html.Div(list(children), className=class_name, **more)


def _button(label: str, ident: str, **more: object) -> Component:
    """Return a button that counts its clicks; `more` are further properties."""
    return html.Button(label, id=ident, type="button", n_clicks=0, **more)


def shell(service: Service) -> Component:
    """Lay out what every page has around it: the navigation and the switches.

    Its ids (url, look, navigation, content, go-PAGE, NAME-switch) are those that `callbacks.register` and
    assets/explorer.js name.
    """
    links = [dcc.Link(page.title, href=f"/{page.name}", id=f"go-{page.name}") for page in service.pages.values()]
    switches = {"controls": "Controls", "present": PRESENT, "theme": "Light or dark"}
    header = [
        dcc.Link("linnet", href="/", className="brand", id="go-home"),
        html.Nav(links, id="navigation", **{"aria-label": "Pages"}),
        _div("switches", *[_button(label, f"{name}-switch") for name, label in switches.items()]),
    ]
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="look"),
            html.A("Skip to the page", href="#content", className="skip"),
            html.Header(header),
            html.Main(id="content", tabIndex="-1"),
        ]
    )


def content(service: Service, path: str | None, search: str | None, fragment: str | None = None) -> Component:
    """Lay out the page of a path in the state of a query string; what is wrong with the address is said on the page.

    The `fragment` of the address (`#step-2`) is a step of the lecture.
    """
    name = (path or "/").strip("/")
    if not name:
        return home(list(service.pages.values()))
    page = service.pages.get(name)
    if page is None:
        return html.Section([html.H1("No such page"), html.P("Choose one of the pages above.")])
    state, frozen, wrong = _read_address(page, search or "")
    return _page(page, state, frozen, wrong, step_number(fragment, page))


def _read_address(page: Page, search: str) -> tuple[State, str | None, str]:
    """Return the state and the query of a frozen run (None for none) of a query string, and what is wrong with it."""
    try:
        given = controls.query_fields(search)
    except ControlError as reason:
        return controls.defaults(page.controls), None, f"{reason} It is left out."
    frozen = given.pop(FROZEN, None)
    state, refused = controls.parse_leniently(page.controls, given)
    wrong = [*map(str, refused), "The rest of the address is kept."] if refused else []
    try:
        controls.parse(page.controls, frozen or "")
    except ControlError as reason:
        frozen = None
        wrong.append(f"The frozen run is left out: {reason}")
    return state, frozen, " ".join(wrong)


def _page(page: Page, state: State, frozen: str | None, wrong: str, step: int) -> Component:
    """Lay out a page; `wrong` is said of its address, `step` is that of the lecture, 0 for none."""
    paragraphs = page.introduction
    heading: list[Component] = [html.H1(page.title)]
    buttons = [html.A("Reset", href=f"/{page.name}", className="button", id=f"{page.name}-reset")]
    if page.can_freeze_run:
        buttons.insert(0, _button(FREEZE if frozen is None else UNFREEZE, f"{page.name}-freeze"))
    if step:
        shown = STEPS[step - 1]
        paragraphs = (shown.says,)
        heading.append(html.P(f"Lecture, {step} of {len(STEPS)}: {shown.title}", className="step"))
        buttons += _neighbor_steps(step)
    beside = [
        html.P(page.first_view.about, className="soft about of-first"),
        *([page.above_controls()] if page.above_controls else []),
        *_controls(page, state),
    ]
    results = [*[_part(page, part, state) for part in page.parts], _script_box(page)]
    return html.Section(
        [
            _div("top", *heading, _div("buttons", *buttons)),
            *[html.P(text, className="introduction") for text in paragraphs],
            html.P(wrong, className="error", role="alert", id=f"{page.name}-address-error"),
            _div(
                "columns",
                _div("controls", *beside, role="group", **{"aria-label": "Controls"}),
                _div("results", *results),
            ),
            dcc.Store(id=f"{page.name}-frozen", data=frozen),
        ],
        className="page",
        id=f"{page.name}-page",
    )


def _neighbor_steps(step: int) -> list[Component]:
    """Return links to the steps before and after one of the lecture; they load a page anew, even if it is this one."""
    before = step_link(step - 1) if step > 1 else "/"
    label, after = ("Next step", step_link(step + 1)) if step < len(STEPS) else ("End", "/")
    return [
        html.A("Previous step", href=before, id="step-previous", className="button"),
        html.A(label, href=after, id="step-next", className="button first"),
    ]


def _controls(page: Page, state: State) -> list[Component]:
    """Lay out the controls under their headings."""
    groups: dict[str, list[Component]] = {}
    for control in page.controls:
        if not control.plays:  # those stand under the pictures, see `_part`
            groups.setdefault(control.group, []).append(_control(page, control, state))
    return [
        html.Fieldset([html.Legend(name), *inside], className="group") if name else _div("group", *inside)
        for name, inside in groups.items()
    ]


def _control(page: Page, control: Control, state: State) -> Component:
    """Lay out a control with its label, its help, and a place for what is wrong with its value.

    `markInvalid` and `describeInputs` of assets/explorer.js find the last two by the classes "error" and "help", both
    right below the class "control".
    """
    ident = f"{page.name}-{control.name}"
    text = control.write(state[control.name])
    if control.hidden:
        return dcc.Input(id=ident, type="hidden", value=text)
    inputs: list[Component]
    if control.kind == "switch":
        on = ["on"] if state[control.name] else []
        inputs = [dcc.Checklist([{"label": control.label, "value": "on"}], on, id=ident, className="switch")]
    elif control.kind == "choice":
        options = [{"label": shown, "value": value} for value, shown in control.choices]
        seen = "label unseen" if control.label == control.group else "label"  # the heading above it says it
        inputs = [
            html.Div(control.label, className=seen, id=f"{ident}-label"),
            dcc.RadioItems(options, text, id=ident, className="choices")
            if len(options) <= MAX_RADIO_CHOICES
            else dcc.Dropdown(options, text, id=ident, clearable=False, className="dropdown"),
        ]
    else:
        inputs = [html.Label(control.label, htmlFor=ident), _box_and_slider(control, ident, text)]
    help = html.Small(control.help, id=f"{ident}-help", className="help")
    wrong = html.P("", className="error", id=f"{ident}-wrong")
    return _div("control", *inputs, help, wrong, id=f"{ident}-control")


def _box_and_slider(control: Control, ident: str, text: str) -> Component:
    """Lay out where a value is typed, its slider if it has one, and the button that plays it."""
    mode, look = ("decimal", "box") if control.kind in controls.SINGLE_NUMBERS else ("text", "box long")
    typed = {"type": "text", "debounce": True, "autoComplete": "off", "inputMode": mode}
    box = dcc.Input(id=ident, value=text, className=look, **typed)
    if not control.has_slider:
        return _div("inputs", box)
    low, high, step = control.slider_range
    place = {"min": low, "max": high, "step": step, "value": control.slider_position(float(text))}
    slider = _div(
        "slider-holder",
        html.Label(f"{control.label}, slider", htmlFor=f"{ident}-slider", className="unseen"),
        dcc.Input(id=f"{ident}-slider", type="range", className="slider", **place),
    )
    play = [
        _button(PLAY, f"{ident}-play", className="play"),
        dcc.Interval(id=f"{ident}-tick", interval=PLAY_MILLISECONDS, disabled=True),
    ]
    return _div("inputs", slider, box, *(play if control.plays else []))


def view_id(page: Page, view: View) -> str:
    """Return the id of a view's picture; style sheets of assets/ name some of them."""
    return f"{page.name}-view-{view.name}"


def _part(page: Page, part: Part, state: State) -> Component:
    """Lay out the views of a part, its files, and where its answers arrive; `callbacks` names the same ids.

    `showAnswer` of assets/explorer.js removes the class "empty" when the part has something to show, and adds "seen".
    """
    key = f"{page.name}-{part.name}"
    what = f"Data of “{part.views[0].title}”:" if len(page.parts) > 1 else "Data:"
    views = [_view(page, view) for view in part.views]
    if playing := [_control(page, control, state) for control in page.controls if control.plays and part.name == MAIN]:
        pictures = sum(view.kind == "figure" for view in part.views)
        views.insert(pictures, _div("view wide playing", *playing))
    return _div(
        "part empty" if part.waits(state) else "part",
        html.P("", className="error", role="alert", id=f"{key}-error"),
        _div("views", *views),
        _div(
            "files",
            html.Span(what, className="soft"),
            html.A("CSV", href="", id=f"{key}-csv", className="button", download=""),
            html.A("netCDF", href="", id=f"{key}-nc", className="button", download=""),
            id=f"{key}-files",
        ),
        dcc.Store(id=f"{key}-answer"),
        id=f"{key}-part",
    )


def _view(page: Page, view: View) -> Component:
    """Lay out a picture or a piece of page with its title and its sentence."""
    ident = view_id(page, view)
    if view.kind == "html":
        body: list[Component] = [html.H2(view.title), html.Div(id=ident, className="shown")]
    else:
        size = {"height": f"{view.height}px"}
        graph = dcc.Graph(id=ident, figure=EMPTY, config=GRAPH_OPTIONS, style=size, className="graph")
        title = html.H2(view.title, id=f"{ident}-title")
        save = html.Span([_save_button(view, ident, kind) for kind in ("svg", "png")], className="save")
        body = [
            _div("head", title, save),
            html.Div(graph, role="img", **{"aria-labelledby": f"{ident}-title"}),
        ]
    if view.about:
        body.append(html.P(view.about, className="soft about"))
    return _div("view wide" if view.wide else "view", *body, id=f"{ident}-view")


def _save_button(view: View, ident: str, kind: str) -> Component:
    """Return a button that saves a picture; the browser knows it by its data (assets/explorer.js)."""
    data = {"data-save": kind, "data-view": ident, "aria-label": f"{view.title}: picture as {kind.upper()}"}
    return html.Button(kind.upper(), type="button", className="small", **data)


def _script_box(page: Page) -> Component:
    """Lay out where the script is shown and copied."""
    ident = f"{page.name}-script"
    return html.Details(
        [
            html.Summary("As Python"),
            dcc.Clipboard(target_id=ident, title="Copy", className="copy"),
            html.Pre(id=ident, className="script", tabIndex="0"),
        ],
        className="as-python",
    )
