"""Figure 2: the phase diagram of variance and width, and two error maps beside it."""

from linnet_papers.reproduction.figure import Figure
from linnet_papers.tu.figures.fig2.checks import check
from linnet_papers.tu.figures.fig2.compute import TuFig2, compute
from linnet_papers.tu.figures.fig2.panels import plot

FIGURE = Figure(
    name="fig2",
    title="The phase diagram of variance and width",
    caption=(
        "Gradient descent over variances σ² = d^γ(σ²) and widths w = d^γ(w): smallest test error (a), stable rank then "
        "(b), iterations to it (c), and the log of the largest mean squared distance to the self-consistent dynamics, "
        "eq. (1), over the run (d). Small, and beyond the paper: the spread (interquartile range) of all four over "
        "tasks and starts (e), the distance against the dimension (f), and the diagram by formula, untrained: its "
        "smallest test error, the mean over starts (g, in the colors of a, and dotted contours in a), and how far "
        "it is from that of the one network trained, dots where its run ended before its smallest test error (h); "
        "hatched where the error bar is above 3%. "
        "d = 200, rank 5, 35 x 35 cells, c = 50 (quick: d = 40, 13 x 13). Runs "
        "stop as in the authors' public loop: after 750 steps, or when the test error rose two "
        "steps running, the train error is below 1e-3, or it changes by less than 2e-4 after having fallen by 1e-2: so "
        "ends the odd cell near (-0.53, 0.16), two units wide, at step 53, before a mode grows (750 steps: 0.55). "
        "Both layers move at once, as in eq. (2); --set update=sequential is the public loop, whose second layer sees "
        "the new first one. The prediction is descent on the narrow network whose flow is eq. (1), at the same step."
    ),
    settings=TuFig2,
    quick={"dim": 40, "grid": 13, "side_dims": (20, 40), "side_grid": 7, "side_seeds": 3, "dtype": "float64"},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b", "c", "d", "e", "f", "g", "h"),
)
