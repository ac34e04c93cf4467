"""The page *Phase diagram*: lazy and active training over variance and width, by formula, live."""

from __future__ import annotations

from linnet.explorer.computing import phase_diagram as computing
from linnet.explorer.controls import choice, group, log, number, numbers, switch, whole
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import phase_diagram as pictures

MAPS = {
    "": "nothing",
    "published": "published cells, d = 200",
    **{str(dim): f"trained here, d = {dim}" for dim in (50, 200, 1000, 2000)},
}

CONTROLS = (
    *group(
        "Task",
        log("dim", "Dimension d", 200, (20, 1e6), "Inputs and outputs; the plane's axes are exponents of it."),
        whole("rank", "Rank K", 5, (1, 10), "Of the truth A*."),
        log("strength", "Strength a₁", 0.5, (0.01, 3), "Largest singular value of A*, in units of d.", step=0.02),
        number(
            "ratio", "Ratio of strengths", 0.95, (0.3, 1), "Of each singular value to the one before it.", step=0.01
        ),
        number("noise_std", "Noise", 1.0, (0.05, 3), "Standard deviation of the entries of E in A* + E.", step=0.05),
    ),
    *group(
        "Map",
        switch("borders", "Borders", True, "Of the regions, by theory.", computes=False),
        choice("compare", "Compare with", MAPS, "Maps trained network by network, at their own d.", computes=False),
    ),
    *group(
        "Cell",
        whole(
            "cell_dim",
            "Dimension of a trained cell",
            60,
            (20, 120),
            "Click a cell: it is trained at this d.",
            computes=False,
        ),
        whole("seed", "Seed", 0, (0, 999), "Of the trained cell.", computes=False),
        numbers("cell", "Cell", (), (-3, 2.8), "Exponents of variance and width.", most=2, computes=False, hidden=True),
    ),
)

PAGE = Page(
    name="phase-diagram",
    title="Phase diagram",
    card="The least test error over every start, by formula; a click trains that network.",
    introduction=(
        "A network of width w, its entries of variance σ², fits A* + E, a matrix of low rank in noise, and is stopped "
        "at its least test error (the plane of Figure 2 of Tu et al.). The axes are logarithms to the base d. Every "
        "cell is a formula: nothing is trained until you click one.",
    ),
    controls=CONTROLS,
    compute=computing.diagram,
    views=(
        View("error", "a  Least test error", pictures.draw_error, pictures.BORDERS, click={"cell": "xy"}, height=420),
        View("rank", "b  Stable rank at the least test error", pictures.draw_rank, click={"cell": "xy"}, height=420),
        View("steps", "c  Steps to the least test error", pictures.draw_steps, click={"cell": "xy"}, height=420),
    ),
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
