"""The page *Depth*: deeper networks wait longer and learn their modes more sharply one after the other."""

from __future__ import annotations

from linnet.explorer.computing import depth as computing
from linnet.explorer.controls import group, log, number, numbers, whole
from linnet.explorer.page import Page, Part, View
from linnet.explorer.pictures import depth as pictures

CONTROLS = (
    *group(
        "Network",
        whole("depth", "Depth L", 3, (2, 6), "Number of layers, the last one included."),
        log("coupling", "Start c = √w σ", 0.7, (0.5, 2), "Below 1, deeper networks start smaller: cᴸ.", step=0.02),
        log("width", "Width w", 10**6, (1000, 1e12), "Of every hidden layer; it costs nothing.", step=0.1),
        whole("seed", "Seed", 0, (0, 99), "Of the start."),
    ),
    *group(
        "Target",
        numbers("values", "Singular values S", (4.0, 2.0, 1.0), (0.3, 10), "One to three.", most=computing.SIDE),
    ),
    *group(
        "Map",
        log("dim", "Dimension d", 100, (20, 10_000), "Inputs and outputs of the task of the map."),
        whole("rank", "Rank K", 3, (1, 8), "Of the truth A*; its largest singular value is d/2."),
        number("noise_std", "Noise", 1.0, (0.1, 3), "Standard deviation of the entries of E in A* + E.", step=0.05),
    ),
)

PAGE = Page(
    name="depth",
    title="Depth",
    card="Two to six layers: longer plateaus, and modes further apart in time.",
    introduction=(
        "A linear network of L layers, wide and with a Gaussian start. Each singular value S of the target follows an "
        "equation of its own; only S/cᴸ decides whether it is learned lazily (like an exponential) or actively (a "
        "plateau, then a jump). The deeper the network, the further apart in time the modes. Broad: trained; dashed: "
        "predicted without training."
    ),
    controls=CONTROLS,
    compute=computing.deep_modes,
    uses=("depth", "coupling", "width", "values", "seed"),
    views=(
        View("modes", "Modes over time", pictures.modes, height=420),
        View("about", "The network", pictures.summary, kind="html"),
    ),
    more=(
        Part(
            "order",
            computing.mode_order,
            (
                View(
                    "order",
                    "The order of learning by depth",
                    pictures.order,
                    "When the first and the last mode are half learned, by formula.",
                    height=380,
                ),
            ),
            uses=("coupling", "values"),
        ),
        Part(
            "map",
            computing.depth_diagram,
            (
                View(
                    "map",
                    "The phase diagram by formula",
                    pictures.diagram,
                    "White: a mode S of the truth is lazy above (σ²w)ᴸ = S². Hatched: the error bar is above 3%.",
                    height=420,
                ),
            ),
            uses=("depth", "dim", "rank", "noise_std"),
        ),
    ),
    ahead=("", *(f"depth={depth}" for depth in computing.DEPTHS if depth != 3)),
    freezes=True,
)
