"""Phase diagrams: the plane of variance and width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from linnet import style
from linnet.draw.over_time import _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_UNCERTAINTY = 0.05  # above it a cell is hatched
MARK_SIZE = 26  # points squared, of a trained cell


class Plane(Protocol):
    """What is drawn: a `PhaseDiagram`."""

    @property
    def variances(self) -> np.ndarray: ...
    @property
    def widths(self) -> np.ndarray: ...
    @property
    def min_test_loss(self) -> np.ndarray: ...
    @property
    def uncertainty(self) -> np.ndarray: ...
    @property
    def largest_value(self) -> float: ...
    @property
    def depth(self) -> int: ...


def phase_diagram(diagram: Plane, trained: Plane | None = None, *, ax: Axes | None = None) -> Axes:
    r"""Draw the minimum test loss of every cell, with the threshold between active and lazy initializations.

    Cells whose uncertainty is above 5% are hatched. The dotted line is $\sigma^2 w = S_1^{2/L}$, where the threshold
    equals the largest singular value of the target: initializations to its right are lazy for every mode.

    **Arguments:**

    - `diagram`: result of `ln.phase_diagram`
    - `trained`: trained cells, drawn as circles in the same colors
    - `ax`: axes to draw on; new ones by default

    **Returns** the axes.

    **Example:**

        >>> import linnet as ln
        >>> task = ln.problems.low_rank_plus_noise(20, rank=1, key=0)
        >>> ax = ln.draw.phase_diagram(ln.phase_diagram(task, [1e-4, 1e-3, 1e-2], [100, 1000]))
        >>> ax.get_xscale(), ax.get_ylabel()
        ('log', 'width')
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LogNorm
    from matplotlib.patheffects import withStroke

    for name, one in (("diagram", diagram), ("trained", trained)):
        if not hasattr(one, "min_test_loss") and (one is not None or name == "diagram"):
            raise ValueError(f"`{name}` must be a phase diagram, made by `ln.phase_diagram`: got {type(one).__name__}.")
    shown = [diagram.min_test_loss, *([] if trained is None else [trained.min_test_loss])]
    values = np.concatenate([np.ravel(one) for one in shown])
    norm = LogNorm(float(np.nanmin(values)), float(np.nanmax(values)) * (1 + 1e-9))
    across, up = cell_edges(diagram.variances), cell_edges(diagram.widths)
    with style.applied():
        axis = _axes(ax)
        cells = axis.pcolormesh(across, up, diagram.min_test_loss, norm=norm, cmap=style.SEQUENCE)
        unsure = [
            [(across[x + i], up[y + j]) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            for y, x in np.argwhere(diagram.uncertainty > MAX_UNCERTAINTY)
        ]
        if unsure:
            hatched = PolyCollection(unsure, hatch="////", facecolor="none", edgecolor="white", linewidth=0)
            axis.add_collection(hatched)
        axis.set(
            xscale="log",
            yscale="log",
            xlim=across[[0, -1]],
            ylim=up[[0, -1]],
            xlabel="initial variance",
            ylabel="width",
            title="minimum test loss",
        )
        line = diagram.largest_value ** (2 / diagram.depth) / up
        seen = {"color": style.BLACK, "linewidth": 1.3, "path_effects": [withStroke(linewidth=3, foreground="white")]}
        axis.plot(line, up, label="threshold of the strongest mode", **(style.GUIDELINE | seen))
        if trained is not None:
            x, y = np.meshgrid(trained.variances, trained.widths)
            axis.scatter(
                x,
                y,
                MARK_SIZE,
                trained.min_test_loss,
                norm=norm,
                cmap=style.SEQUENCE,
                edgecolors="white",
                label="trained",
            )
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)
        axis.grid(visible=False)
        axis.figure.colorbar(cells, ax=axis)
    return axis


def cell_edges(middles: np.ndarray) -> np.ndarray:
    """Return the edges of cells on a logarithmic axis: half-way between their middles there."""
    logs = np.log(middles)
    steps = np.diff(logs) / 2 if logs.size > 1 else np.array([np.log(2) / 2])
    return np.asarray(
        np.exp(np.concatenate([[logs[0] - steps[0]], logs[:-1] + steps[: logs.size - 1], [logs[-1] + steps[-1]]]))
    )
