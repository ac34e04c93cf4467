"""The page *Two phases*: learning under a spiked covariance, first along the correlation, then across it."""

from __future__ import annotations

import numpy as np

from linnet.style import AMBER, BLUE, GRAY, GREEN, ORANGE, PINK, SKY
from linnet_papers.explorer import drawing as draw
from linnet_papers.explorer.computing.two_phases import (
    DIM,
    POPULATION,
    SAMPLED_DIM,
    TRAINED_ON,
    WIDTH,
    few_samples,
    two_phases,
)
from linnet_papers.explorer.controls import State, choice, grouped, log, number, whole
from linnet_papers.explorer.drawing import Figure, Options
from linnet_papers.explorer.page import Data, Page, Part, view

SAMPLES = {one: one if one == POPULATION else f"{int(one):,} samples" for one in TRAINED_ON}

CONTROLS = grouped(
    "Data",
    number(
        "spike", "Spike ρ", 20.0, (0, 100), "Extra variance of the inputs along the spike: Σ = I + ρ μμᵀ.", step=0.5
    ),
    number("alignment", "Alignment A", 0.3, (0, 1), "Cosine of spike μ and target β; at 0 and 1 no second phase."),
    choice(
        "samples",
        "Trained on",
        SAMPLES,
        f"The population's covariance, or that of so many samples of its {DIM} inputs.",
    ),
    "Network",
    log(
        "scale",
        "Start s",
        1e-5,
        (1e-8, 0.1),
        "W₁ has variance s²/d, W₂ has s²/m; a smaller one waits longer.",
        step=0.1,
    ),
    whole("seed", "Seed", 0, (0, 99), "Of the network's start and of the samples."),
    "Test error",
    number("ratio", "Inputs per sample d/n", 2.0, (1.05, 20), "For the test error alone: the paper's γ.", step=0.05),
)
STAR: Options = {"color": ORANGE, "marker": {"symbol": "star"}}  # where the sliders or the target are


@view(
    "The plane of spike and target",
    "Arrows: where the reduced dynamics goes, longer where faster; it rests where the curves cross.",
    height=520,
)
def plane(data: Data, state: State) -> Figure:
    """Draw the field, both nullclines, the trained path and the reduced dynamics, along the spike and across it."""
    times = data.time.values
    seen = "population" if state["samples"] == POPULATION else f"n = {state['samples']}"
    labels = [f"t = {time:.3g}" for time in times]
    moments = {"t₁": data.attrs["first_time"], "t₂": data.attrs["second_time"]}
    places = {
        name: np.array([np.interp(time, times, part) for part in data.reduced.values.T])
        for name, time in moments.items()
        if np.isfinite(time)
    }
    quiet: Options = {"dash": "solid", "hoverinfo": "skip"}
    traces = [
        draw.guide(*_arrow_strokes(data, list(places.values())), color=GRAY, width=1, opacity=0.7, **quiet),
        draw.guide(*_x_and_y(data.nullcline_1.values), "dw₁/dt = 0", color=SKY, **quiet),
        draw.guide(*_x_and_y(data.nullcline_2.values), "dw₂/dt = 0", color=AMBER, **quiet),
        draw.trained_line(*_x_and_y(data.trained.values), f"trained, {seen}", PINK, text=labels),
        draw.predicted_line(*_x_and_y(data.reduced.values), "reduced, (18)-(19)", BLUE, text=labels),
        draw.markers(*_x_and_y(data.target.values[None]), "target β", size=14, **STAR),
    ]
    for name, place in places.items():
        named: Options = {"mode": "markers+text", "text": [f"{name} "], "textposition": "top left"}
        traces.append(draw.markers(*_x_and_y(place[None]), color=BLUE, size=9, hoverinfo="text", **named))
    side: Options = {"range": [-0.1, 1.1], "constrain": "domain"}
    names: Options = {"x": "along the spike, r̂₁ᵀW₁μ", "y": "across it, r̂₁ᵀW₁μ⊥"}
    return draw.figure(traces, **names, xaxis=side, yaxis={"scaleanchor": "x", **side})


@view(
    "Components over time",
    "t₁ plus the bound (20) is the paper's mark for the end; w₂ grows before w₁ has peaked.",
    height=520,
)
def components(data: Data, state: State) -> Figure:
    """Draw both components over time, trained and predicted, with the loss and the times of the phases."""
    time, traces = data.time.values, []
    for k, (name, color) in enumerate((("w₁", BLUE), ("w₂", ORANGE))):
        values = (data.trained_components.values[:, k], data.reduced_components.values[:, k])
        traces += draw.comparison(time, *values, (f"{name} trained", f"{name} by (18)-(19)"), color)
    traces.append(draw.line(time, data.early.values, "w₁ by (17)", color=GREEN, dash="dot"))
    traces.append(draw.line(time, data.loss.values, "loss / its start", color=GRAY, width=1.5))
    lines = [(data.attrs["first_time"], "t₁", "dot"), (data.attrs["second_time"], "t₁ + (20)", "dashdot")]
    return draw.figure(traces, x="time t (canonical)", y="components along v₁, v₂", **draw.vertical_lines(lines))


@view(
    "Test error on few samples",
    "Marks: least-norm fits of samples, where small starts end; bars: one standard error.",
    height=440,
)
def test_error(data: Data, state: State) -> Figure:
    """Draw the test error over the inputs per sample: the formula, and minimum-norm solutions of sampled data."""
    drawn = data.error_drawn.values
    spread = drawn.std(axis=1, ddof=1) / np.sqrt(drawn.shape[1])
    bars = {"type": "data", "array": draw.rounded_list(spread), "thickness": 1.5}
    traces = [
        draw.guide(data.ratio, data.error_without_spike, "without a spike"),
        draw.predicted_line(data.ratio, data.error, "eq. (27)", BLUE),
        draw.markers(data.drawn_ratio, drawn.mean(axis=1), f"least norm, d = {SAMPLED_DIM}", color=PINK, error_y=bars),
        draw.markers([state["ratio"]], [data.attrs["error_here"]], "d/n of the slider", size=13, **STAR),
    ]
    names: Options = {"x": "inputs per sample d/n", "y": "test error / signal power"}
    return draw.figure(traces, **names, log_x=True, xaxis=_ticks_at(1, 2, 3, 5, 10, 20), yaxis={"rangemode": "tozero"})


@view(
    "Test error over spike and alignment",
    "Divided by the power of the signal; a click sets spike and alignment.",
    height=440,
    click={"spike": "x", "alignment": "y"},
)
def test_error_map(data: Data, state: State) -> Figure:
    """Draw the test error over spike and alignment at the slider's inputs per sample."""
    hover = "ρ = %{x:.3g}, A = %{y:.3g}<br>error %{z:.4g}"
    star: Options = {"marker": {"symbol": "star", "line": {"width": 1}}, "hoverinfo": "skip"}
    traces = [
        draw.heatmap(data.spike, data.alignment, data.error_map, bar="error", hover=hover, zmin=0),
        draw.markers([state["spike"]], [state["alignment"]], size=14, color=ORANGE, **star),
    ]
    axes: Options = {"xaxis": {"range": [-1, 2], **_ticks_at(0.1, 1, 10, 100)}, "yaxis": {"range": [0, 1]}}
    return draw.figure(traces, x=f"spike ρ, at d/n = {state['ratio']:g}", y="alignment A", log_x=True, **axes)


def _x_and_y(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (point, 2) as their x and their y."""
    return points[:, 0], points[:, 1]


def _ticks_at(*values: float) -> Options:
    """Return the ticks of an axis at these values, written in full."""
    return {"tickvals": list(values), "ticktext": [str(value) for value in values]}


def _arrow_strokes(data: Data, named: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return arrows as one line with gaps, its x and its y: the field's directions, longer where it is faster.

    Points that are `named` have room for their names, to the left above them.
    """
    length, barb = 0.055, 0.35  # of the longest arrow, and of its head as a share of it
    grid = np.stack(np.meshgrid(data.along.values, data.across.values), axis=-1).reshape(-1, 2)
    field = data.field.values.reshape(-1, 2)
    speed = np.linalg.norm(field, axis=1)
    free = [np.linalg.norm(grid - point - [-0.06, 0.05], axis=1) > 0.065 for point in named]
    shown = np.logical_and.reduce([speed > 0, *free])
    fastest, grid, field, speed = speed.max(), grid[shown], field[shown], speed[shown]
    ahead = field / speed[:, None] * (length * (0.4 + 0.6 * (speed / fastest) ** 0.5))[:, None]
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    tip, gap = grid + ahead, np.full_like(grid, np.nan)
    back = tip - barb * ahead
    strokes = [grid, tip, gap, back + 0.6 * barb * aside, tip, back - 0.6 * barb * aside, gap]
    return _x_and_y(np.stack(strokes, axis=1).reshape(-1, 2))


PAGE = Page(
    name="two-phases",
    title="Two phases",
    card="One strong direction of the inputs: learning turns a corner. After paper 1.",
    introduction=(
        "One output, and inputs with one strong direction, the spike. From a small start the network first grows along "
        "v₁, the correlation of inputs and output, up to time t₁; then it turns and goes along v₂ to the target. "
        f"A network of {DIM} inputs and {WIDTH} hidden units is trained as the sliders move; the field is the one of "
        "the two equations (18)-(19) that it obeys. After Watanabe, Karakida and Teramae.",
    ),
    controls=CONTROLS,
    parts=(Part("main", two_phases, (plane, components)), Part("error", few_samples, (test_error, test_error_map))),
    can_freeze_run=True,
)
