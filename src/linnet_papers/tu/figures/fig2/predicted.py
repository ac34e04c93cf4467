"""The diagram by formula beside the trained one: predicted minimum test error, and how far it is from training."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet import style
from linnet.theories import lazy_active
from linnet_papers.reproduction import Rows, at_least, at_most, fact, printed
from linnet_papers.reproduction.datasets import DataArray, Dataset
from linnet_papers.reproduction.drawing import around_zero, cell_map
from linnet_papers.tu import plane
from linnet_papers.tu.training.phase_diagram import REASONS

COVERED = at_least(
    0.95, "all cells are covered at $d = 200$; bars are wider at $d = 40$, where a few cells may be above 3%"
)
LEVELS = 7  # contours over panel a
EARLY = ("completed", "loss stalled")  # reasons for which a run ends before its minimum test error


def predicted_variables(
    problem: ln.Problem, gamma_variance: np.ndarray, gamma_width: np.ndarray, dim: int
) -> dict[str, tuple[tuple[str, str], np.ndarray]]:
    """Return `predicted_test` per entry, its relative `predicted_error`, `covered`: (gamma_width, gamma_variance)."""
    widths = [plane.width_of(dim, power) for power in gamma_width]
    predicted = lazy_active.predicted_diagram(problem, float(dim) ** gamma_variance, widths)
    axes = ("gamma_width", "gamma_variance")
    return {
        "predicted_test": (axes, 2 / dim**2 * predicted.min_test_loss),
        "predicted_error": (axes, predicted.uncertainty),
        "covered": (axes, predicted.covered.astype(float)),
    }


def relative_difference(data: Dataset) -> DataArray:
    """Return predicted over trained minimum test error minus one; NaN where the run ended before its least error.

    That is so where it was out of steps, or where its loss stalled, as on a plateau between two modes.
    """
    trained = data["min_test_loss"].isel(replicate=0)
    early = [REASONS.index(name) for name in EARLY]
    finished = ~data["reason"].isel(replicate=0).isin(early)
    return (data["predicted_test"] / trained - 1).where(finished)


def draw_contours(axis: style.Axes, data: Dataset) -> None:
    """Draw the predicted minimum test error as contour lines."""
    values = data["predicted_test"].transpose("gamma_width", "gamma_variance").values
    if min(values.shape) > 1 and values.max() > values.min():
        axis.contour(
            data["gamma_variance"],
            data["gamma_width"],
            np.log(values),
            levels=LEVELS,
            colors=style.BLACK,
            linewidths=0.6,
            linestyles="dotted",
        )


def hatch_uncovered(axis: style.Axes, data: Dataset) -> None:
    """Hatch the cells whose error bar is above the limit."""
    _hatch_cells(axis, data, data["covered"] == 0, "////")


def _hatch_cells(axis: style.Axes, data: Dataset, cells: DataArray, marks: str) -> None:
    """Draw the hatch `marks` over the chosen cells, each as a whole."""
    from matplotlib.colors import ListedColormap

    chosen = cells.transpose("gamma_width", "gamma_variance").values
    if chosen.any():
        shown = np.ma.masked_array(np.zeros(chosen.shape), ~chosen)
        clear = ListedColormap([(0.0, 0.0, 0.0, 0.0)])
        across, up = data["gamma_variance"], data["gamma_width"]
        axis.pcolor(across, up, shown, shading="nearest", cmap=clear, hatch=marks, edgecolor=style.BLACK, linewidth=0)


def difference_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel h: predicted over trained minus one in percent.

    Dots are where the run ended early, hatches where the error bar is wide.
    """
    values = 100 * relative_difference(data).transpose("gamma_width", "gamma_variance")
    sizes = np.abs(values.values[np.isfinite(values.values)])
    reach = max(float(np.quantile(sizes, 0.98)), 0.1) if sizes.size else 1.0
    exponents = data["gamma_variance"], data["gamma_width"]
    cell_map(axis, *exponents, values.values, bar={"extend": "both", "label": "percent"}, **around_zero(reach))
    hatch_uncovered(axis, data)
    _hatch_cells(axis, data, values.isnull(), "...")
    label_plane(axis, *exponents, "h  Formula / training - 1")


def label_plane(axis: style.Axes, across: DataArray, up: DataArray, title: str) -> None:
    """Name the axes of a map over variances and widths, in symbols but for the large panels a to d."""
    variance, width = ("variance exponent ", "width exponent ") if title[0] in "abcd" else ("", "")
    axis.set(title=title, xlabel=f"{variance}γ(σ²)", ylabel=f"{width}γ(w)")
    axis.set(xlim=across.values[[0, -1]], ylim=up.values[[0, -1]])


def rows(data: Dataset) -> Rows:
    """Yield how much of the plane is covered, and how far the formula is there."""
    covered, dim = data["covered"].values > 0, int(data.attrs["dim"])
    off = relative_difference(data).transpose(*data["covered"].dims).values
    inside = np.abs(off[covered & np.isfinite(off)])
    yield printed("share of the plane that the formula covers", float(covered.mean()), COVERED)
    if inside.size:
        fluctuations = "$1/d$: a start's own fluctuations are about $0.3/d$, in narrow networks more"
        apart = "relative distance of the predicted minimum test error from the trained one"
        yield printed(f"median {apart}", float(np.median(inside)), at_most(1 / dim, fluctuations))
        yield fact(f"upper decile of the {apart}", float(np.quantile(inside, 0.9)))
    yield fact("covered cells that did not end early", inside.size)
