"""One look for every figure: sizes, colors and line styles, color-blind safe and legible in print at column width.

    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.4))
        axes[0].plot(t, trained, color=style.FIRST_LAYER, label="training", **style.TRAINING)
        axes[0].plot(t, predicted, color=style.FIRST_LAYER, label="theory", **style.THEORY)

Trained networks are drawn solid or as marks, predictions dashed or as a line through marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from linnet import _arguments as arguments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
else:
    Axes = Picture = Any  # the types of what is drawn, for annotations alone: matplotlib is loaded where one draws

COLUMN = 3.4  # inches: one column of a two-column page

# Okabe and Ito's palette, its yellow replaced by a wine red that is seen on white.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, WINE, GRAY, BLACK = "#56B4E9", "#E69F00", "#882255", "#6E6E6E", "#1A1A1A"
RED = "#C1121F"  # of what a caption calls red
colors = [BLUE, ORANGE, GREEN, PINK, AMBER, SKY, WINE, BLACK]

# The same thing has the same color in every figure.
FIRST_LAYER, SECOND_LAYER, PRODUCT = BLUE, ORANGE, GREEN
LOSS, TEST_LOSS = BLACK, PINK
SIGNAL, NOISE = BLUE, AMBER  # the spike or the signal's modes, and what is orthogonal to it
LAZY, ACTIVE = AMBER, BLUE
KERNEL, ALIGNMENT = "#2E86AB", WINE  # a darker sky: thin lines need a contrast of 3
GUIDE = GRAY  # thresholds, predicted moments, reference slopes

SEQUENCE = "viridis"  # maps of one quantity
FAMILY, PALEST = "plasma", 0.64  # families of curves in an order: the palest has a contrast of 3 with white
DIVERGING = "RdBu_r"  # maps of a signed quantity

THEORY: dict[str, Any] = {"linestyle": (0, (4, 1.6)), "linewidth": 1.4, "zorder": 3}  # over solid training
CURVE: dict[str, Any] = {"linestyle": "-", "linewidth": 1.3, "zorder": 2}  # theory under marks of training
TRAINING: dict[str, Any] = {"linestyle": "-", "linewidth": 2.2, "alpha": 0.45, "zorder": 2}  # under dashed theory
ALONE: dict[str, Any] = {"linestyle": "-", "linewidth": 1.7, "alpha": 0.95, "zorder": 2}  # training without theory
MARKS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.6, "markeredgewidth": 0.9, "zorder": 3}
GUIDELINE: dict[str, Any] = {"linestyle": (0, (1, 1.5)), "linewidth": 1.0, "color": GUIDE, "zorder": 1}

_RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "figure.facecolor": "white",
    "figure.figsize": (COLUMN, 0.72 * COLUMN),
    "figure.max_open_warning": 0,
    "figure.titlesize": 9,
    "font.size": 8,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "image.cmap": SEQUENCE,
    "legend.borderaxespad": 0.4,
    "legend.fontsize": 7,
    "legend.framealpha": 0.85,
    "legend.handlelength": 2.2,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.6,
    "savefig.dpi": 220,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # text stays text: it can be searched and is small
    "svg.hashsalt": "linnet",  # the same picture is the same file
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


@contextmanager
def applied() -> Iterator[None]:
    """Draw everything inside the block in linnet's style; matplotlib's settings return after it.

    `ln.draw` applies it already.

    **Returns** a context manager.

    **Example:**

        >>> from linnet import style
        >>> with style.applied():
        ...     picture, axes = style.subplots(1, 2)
        >>> axes.shape
        (2,)
    """
    import matplotlib as mpl
    from cycler import cycler

    with mpl.rc_context():
        mpl.rcdefaults()  # so that a `matplotlibrc` of the user or of the current folder changes no figure
        mpl.rcParams.update(_RC | {"axes.prop_cycle": cycler(color=colors)})
        yield


def column(width: float = 1.0, *, ratio: float = 0.72) -> tuple[float, float]:
    """Return the size in inches of a picture with the width of a number of columns.

    Give the result to `subplots` as `size`.

    **Arguments:**

    - `width`: number of columns; 2 is the width of a page
    - `ratio`: height over width

    **Returns** width and height.

    **Example:**

        >>> from linnet import style
        >>> style.column(2)[0] == 2 * style.column(1)[0]
        True
    """
    size = COLUMN * arguments.positive("width", width), COLUMN * float(width) * arguments.positive("ratio", ratio)
    if max(size) > 1000:
        raise ValueError(f"`width` and `ratio` must make a picture of at most 1000 inches: got {max(size):.3g}.")
    return size


def subplots(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, **options: Any
) -> tuple[Picture, Any]:
    """Make a figure and its axes as `plt.subplots` does, without keeping the figure open in pyplot.

    Use it inside `applied()`.

    **Arguments:**

    - `rows`: number of rows of panels
    - `columns`: number of columns of panels
    - `size`: width and height in inches, see `column`
    - `options`: options of `plt.subplots`

    **Returns** the picture and its axes.

    **Example:**

        >>> from linnet import style
        >>> with style.applied():
        ...     picture, axis = style.subplots(size=style.column(1))
        >>> float(picture.get_size_inches()[0]) == style.column(1)[0]
        True
    """
    from matplotlib.figure import Figure

    rows, columns = arguments.count("rows", rows, most=100), arguments.count("columns", columns, most=100)
    if size is not None:
        inches = arguments.real_array("size", size, ndim=1)
        if inches.size != 2:
            raise ValueError(f"`size` must be width and height in inches: got {arguments.shown(size)}.")
        size = arguments.positive("size", inches[0]), arguments.positive("size", inches[1])
        if max(size) > 1000:
            raise ValueError(f"`size` must be at most 1000 inches: got {max(size):.3g}.")
    picture = Figure(figsize=size or column(2 if columns > 1 else 1, ratio=0.72 * rows / columns))
    return picture, picture.subplots(rows, columns, **options)


def subscript(index: int) -> str:
    """Write an index as small digits below the line, for labels such as σ₁.

    Longer subscripts need matplotlib's mathematics.

    **Arguments:**

    - `index`: a whole number

    **Returns** the digits.

    **Example:**

        >>> from linnet import style
        >>> "σ" + style.subscript(12)
        'σ₁₂'
    """
    return str(arguments.count("index", index, least=0)).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def shades(count: int) -> list[str]:
    """Return colors for curves that have an order, such as modes or scales: dark first, all readable on paper.

    For unordered curves, use the named colors of `linnet.style`.

    **Arguments:**

    - `count`: number of colors

    **Returns** as hexadecimal strings.

    **Example:**

        >>> from linnet import style
        >>> len(style.shades(4)), style.shades(4)[0].startswith("#")
        (4, True)
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    number = arguments.count("count", count, least=0, most=10_000)
    return [to_hex(colormaps[FAMILY](PALEST * i / max(number - 1, 1))) for i in range(number)]
