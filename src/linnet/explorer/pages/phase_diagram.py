"""The page *Phase diagram*: lazy and active training over variance and width, by formula, live."""

from __future__ import annotations

from linnet.explorer.computing import phase_diagram as computing
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import phase_diagram as pictures
from linnet.reproduction import plane

CONTROLS = (
    Control(
        "dim",
        "Dimension d",
        "Inputs and outputs; the plane's axes are exponents of it.",
        200,
        "log",
        low=20,
        high=1e6,
        step=0.05,
        group="Task",
    ),
    Control("rank", "Rank K", "Of the truth A*.", 5, "whole", low=1, high=10, group="Task"),
    Control(
        "strength",
        "Strength a₁",
        "Largest singular value of A*, in units of d; the noise reaches 2/√d times its own scale.",
        0.5,
        "log",
        low=0.01,
        high=3,
        step=0.02,
        group="Task",
    ),
    Control(
        "ratio",
        "Ratio of strengths",
        "Of each singular value of A* to the one before it.",
        0.95,
        "number",
        low=0.3,
        high=1,
        step=0.01,
        group="Task",
    ),
    Control(
        "noise_std",
        "Noise",
        "Standard deviation of the entries of E in the target A* + E.",
        1.0,
        "number",
        low=0.05,
        high=3,
        step=0.05,
        group="Task",
    ),
    Control(
        "narrow",
        "Narrow networks too",
        "Draws starts for the cells that are not wide: the whole plane, in some seconds.",
        False,
        "switch",
        group="Map",
    ),
    Control("borders", "Borders", "Of the regions, by theory.", True, "switch", computes=False, group="Map"),
    Control(
        "compare",
        "Compare with",
        "Maps that were trained network by network, at their own d and rank 5.",
        "",
        "choice",
        choices=(
            ("", "nothing"),
            ("published", "published cells, d = 200"),
            ("50", "trained here, d = 50"),
            ("200", "trained here, d = 200"),
            ("1000", "trained here, d = 1000"),
            ("2000", "trained here, d = 2000"),
        ),
        computes=False,
        group="Map",
    ),
    Control(
        "cell_dim",
        "Dimension of a trained cell",
        "Click a cell and it is trained at this d, with the same exponents.",
        60,
        "whole",
        low=20,
        high=120,
        computes=False,
        group="Cell",
    ),
    Control("seed", "Seed", "Of the trained cell.", 0, "whole", low=0, high=999, computes=False, group="Cell"),
    Control(
        "cell",
        "Cell",
        "Exponents of variance and width.",
        (),
        "numbers",
        low=-3,
        high=2.8,
        most=2,
        computes=False,
        hidden=True,
    ),
)


def script(state: State) -> str:
    """The diagram, and what was asked for beside it, with public names."""
    text = f"""import numpy as np
import linnet as ln

d = {state["dim"]}
strengths = {state["strength"]!r} * d * {state["ratio"]!r} ** np.arange({state["rank"]})  # singular values of A*
spectrum = ln.theories.mixed.asymptotic_spectrum(strengths, d, {state["noise_std"]!r})
variances = float(d) ** np.linspace(-3, 0, {computing.GRID})
widths = np.maximum(1, np.round(float(d) ** np.linspace(0, 2.8, {computing.GRID})))
diagram = ln.theories.mixed.predicted_diagram(
    spectrum, variances, widths, points={computing.GROUPS}, draws={computing.NARROW_DRAWS * int(state["narrow"])}
)
best_test = diagram.best_test * 2 / d**2  # (width, variance), per entry; claimed where diagram.covered
lazy = np.add.outer(np.linspace(0, 2.8, {computing.GRID}), np.linspace(-3, 0, {computing.GRID})) > 1
best_step = diagram.best_time * {plane.CAREFUL:g} * np.where(lazy, widths[:, None] * variances, strengths[0])
"""
    if len(state["cell"]) == 2:
        text += f"""
# the cell that was clicked, trained
d = {state["cell_dim"]}
variance, width = float(d) ** {state["cell"][0]!r}, max(1, round(float(d) ** {state["cell"][1]!r}))
task = ln.problems.low_rank_plus_noise(
    d,
    rank={state["rank"]},
    spectrum={state["strength"]!r} * {state["ratio"]!r} ** np.arange({state["rank"]}),
    noise_std={state["noise_std"]!r},
    key={state["seed"]},
)
best = ln.theories.mixed.predicted_diagram(task, [variance], [width], key={state["seed"]})
rate = 1 / ({computing.CELL_CAREFUL:g} * max(variance * width, {state["strength"]!r} * d))
steps = int(np.clip(np.ceil(2.5 * best.best_time[0, 0] / rate), {computing.CELL_POINTS}, {computing.CELL_STEPS}))
start = ln.inits.reduced_gaussian(
    key={state["seed"]}, in_dim=d, out_dim=d, width=width, first_std=variance**0.5, second_std=variance**0.5
)
run = ln.gradient_descent(
    task, start, learning_rate=rate, steps=steps, save_every=max(1, steps // {computing.CELL_POINTS}), keep="products"
)
predicted = ln.theories.mixed.predicted_run(task, variance, width, run.times, key={state["seed"]})
test_error, predicted_error = run.test_loss * 2 / d**2, predicted.test_loss * 2 / d**2
"""
    if state["compare"] == "published":
        text += """
# the published cells: the test error of each where it was stopped
published = ln.reproduction.published.phase_diagram_cells()["test_error"]
"""
    elif state["compare"]:
        text += f"""
# the map that was trained here: the least test error of each cell
from linnet.papers.linnet.trained import trained_diagram

trained = trained_diagram({state["compare"]})["best_test"]
"""
    return text


PAGE = Page(
    name="phase-diagram",
    title="Phase diagram",
    introduction=(
        "A network of width w = d^γ(w), its entries of variance σ² = d^γ(σ²), fits A* + E, a matrix of low rank in "
        "noise, and is stopped at its least test error (the plane of Figure 2 of Tu et al.). Every cell is a formula: "
        "nothing is trained until you click one. Grey: the formula is not claimed there.",
    ),
    controls=CONTROLS,
    compute=computing.diagram,
    views=(
        View("error", "a  Least test error", pictures.draw_error, pictures.BORDERS, click={"cell": "xy"}, height=420),
        View("rank", "b  Stable rank at the least test error", pictures.draw_rank, click={"cell": "xy"}, height=420),
        View("steps", "c  Steps to the least test error", pictures.draw_steps, click={"cell": "xy"}, height=420),
    ),
    script=script,
    ahead=("", "cell=-2,1.5"),
    more=(
        Part(
            "cell",
            computing.trained_cell,
            (
                View("cell_about", "The cell, trained", pictures.tell_cell, kind="html", wide=True),
                View("cell_losses", "Its losses", pictures.draw_cell_losses),
                View("cell_modes", "Its modes", pictures.draw_cell_modes),
            ),
            uses=("cell", "cell_dim", "rank", "strength", "ratio", "noise_std", "seed"),
            needs=("cell",),
        ),
        Part(
            "compared",
            computing.compared,
            (
                View("compared_about", "Trained maps", pictures.tell_compared, kind="html", wide=True),
                View("compared", "Trained test error", pictures.draw_compared),
                View("difference", "Formula / trained − 1", pictures.draw_difference),
            ),
            uses=("compare",),
            needs=("compare",),
        ),
    ),
)
