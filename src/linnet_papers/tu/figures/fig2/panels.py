"""How Figure 2 is drawn: maps over the plane of variance and width, their spread, and the distance against d."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from linnet import style
from linnet_papers.reproduction.datasets import DataArray, Dataset
from linnet_papers.reproduction.drawing import cell_map
from linnet_papers.tu.figures.fig2 import predicted
from linnet_papers.tu.figures.fig2.checks import distance_quartiles

# Of each panel: variable, title, and in short
MAPS = {
    "a": ("min_test_loss", "Smallest test error", "test error"),
    "b": ("stable_rank", "Stable rank at that time", "stable rank"),
    "c": ("best_step", "Iterations until then", "iterations"),
    "d": ("log_distance", "ln distance to eq. (1)", "ln distance"),
}


def plot(data: Dataset) -> style.Picture:
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or list(MAPS)
    drawings = [drawing for letter in panels for drawing in _drawings(letter)]
    columns = min(len(drawings), 2)
    rows = -(-len(drawings) // columns)
    with style.applied():
        picture, axes = style.subplots(
            rows, columns, size=style.column(1.7 if columns > 1 else 1.0, ratio=0.8 * rows / columns), squeeze=False
        )
        for axis, draw in zip(axes.flat, drawings, strict=False):
            draw(axis, data)
        for axis in axes.flat[len(drawings) :]:
            axis.set_axis_off()
        handles, labels = axes.flat[0].get_legend_handles_labels()
        if len(handles) == 4:
            picture.legend(handles, labels, loc="outside lower center", ncols=2, facecolor="#B0B0B0", framealpha=1)
    return picture


def _drawings(letter: str) -> list[Callable[[style.Axes, Dataset], None]]:
    """Return what draws the axes of a panel: four for e, one for each of the others."""
    if letter in MAPS:
        return [partial(_trained_panel, letter=letter)]
    if letter == "e":
        return [partial(_spread_panel, number=number) for number in range(4)]
    return [{"f": _dimensions_panel, "g": _predicted_error_panel, "h": predicted.difference_panel}[letter]]


def _trained_panel(axis: style.Axes, data: Dataset, letter: str) -> None:
    """Draw one of the panels a to d: the median over the runs of each cell."""
    name, title, _ = MAPS[letter]
    colors = _error_colors(data) if letter == "a" else {}
    _plane_map(axis, data, data[name].median("replicate"), f"{letter}  {title}", **colors)
    if letter == "a":
        predicted.draw_contours(axis, data)


def _predicted_error_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel g: the least test error by formula, in the colors of panel a."""
    _plane_map(axis, data, data["predicted_test"], "g  Smallest test error, predicted", **_error_colors(data))
    predicted.hatch_uncovered(axis, data)


def _error_colors(data: Dataset) -> dict[str, Any]:
    """Return one scale of colors for the trained and the predicted test error."""
    both = [data[name].values for name in ("min_test_loss", "predicted_test") if name in data]
    return {"vmin": float(min(map(np.nanmin, both))), "vmax": float(max(map(np.nanmax, both)))}


def _spread_panel(axis: style.Axes, data: Dataset, number: int) -> None:
    """Draw one of the maps of panel e: the interquartile range over tasks and starts, at the largest dimension."""
    name, _, short = list(MAPS.values())[number]
    sides = data.isel(dim=-1)
    low, high = sides[f"side_{name}"].quantile([0.25, 0.75], "side_replicate")
    _plane_map(axis, sides, high - low, f"e{number + 1}  Spread: {short}", "side_")


def _plane_map(axis: style.Axes, data: Dataset, values: DataArray, title: str, before: str = "", **colors: Any) -> None:
    """Draw a map over the plane, with its color bar and the borders of the regions; `before` the names of its axes."""
    from matplotlib.patheffects import withStroke

    across, up = data[f"{before}gamma_variance"], data[f"{before}gamma_width"]
    cell_map(axis, across, up, values.transpose(up.name, across.name).values, cmap=style.SEQUENCE, **colors)
    axis.plot(data["border_lazy"], data["border_width"], color="black", linewidth=1.1, label="lazy / active: σ²w = d")
    axis.plot(data["border_noise"], data["border_width"], color="red", linewidth=1.1, label="infinite noise: σ⁴w = 1")
    stroke = [withStroke(linewidth=2.2, foreground="#333333")]
    outlined: Any = {"color": "white", "linewidth": 1.1, "path_effects": stroke}
    axis.axhline(float(data["width_dim"]), linestyle="--", label="w = d", **outlined)
    axis.axhline(float(data[f"{before}width_rank"]), linestyle=":", label="w = K", **outlined)
    predicted.label_plane(axis, across, up, title)


def _dimensions_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel f: the distance to eq. (1) against the dimension, by region."""
    dims, colors = data["dim"].values, {"active": style.ACTIVE, "lazy": style.LAZY}
    for region, (low, medians, high) in distance_quartiles(data).items():
        axis.plot(dims, medians, color=colors[region], marker="o", **style.ALONE)
        axis.fill_between(dims, low, high, color=colors[region], alpha=0.3, linewidth=1.0)
        first = (dims[0], medians[0])
        axis.annotate(f"{region} region", first, (5, 5), textcoords="offset points", color=colors[region])
    axis.set(title="f  Median distance (shaded: quartiles)", xlabel="dimension d", xscale="log")
    axis.set_ylabel("ln mean squared distance")
    axis.set_xticks(dims, [str(int(d)) for d in dims])
    axis.minorticks_off()
