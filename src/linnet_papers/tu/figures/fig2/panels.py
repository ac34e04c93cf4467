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

# Of each panel: variable, title, and what its color bar measures
MAPS = {
    "a": ("min_test_loss", "Smallest test error of training", "test error"),
    "b": ("stable_rank", "Stable rank at that iteration", "stable rank"),
    "c": ("best_step", "Iterations until the smallest test error", "iterations"),
    "d": ("log_distance", "Distance to the self-consistent dynamics", "ln distance"),
}


def plot(data: Dataset) -> style.Picture:
    """Draw the trained maps large, two beside each other, and everything else small below them."""
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or list(MAPS)
    large, small = (
        [draw for letter in panels if (letter in MAPS) is main for draw in _drawings(letter)] for main in (True, False)
    )
    if not large:
        large, small = small, []
    beside = min(len(large), 2)
    mosaic = _rows_of(len(large), beside, each=4 // beside, first=0) + _rows_of(len(small), 4, each=1, first=len(large))
    heights = [2.0] * -(-len(large) // beside) + [1.1] * -(-len(small) // 4)
    with style.applied():
        picture, _ = style.subplots(size=style.column(2.4, ratio=0.2 * sum(heights)))
        picture.clear()
        axes = list(picture.subplot_mosaic(mosaic, height_ratios=heights).values())
        for axis, draw in zip(axes, [*large, *small], strict=True):
            draw(axis, data)
        handles, labels = axes[0].get_legend_handles_labels()
        if len(handles) == 4:
            picture.legend(handles, labels, loc="outside upper center", ncols=4, facecolor="#B0B0B0", framealpha=1)
    return picture


def _rows_of(count: int, columns: int, *, each: int, first: int) -> list[list[Any]]:
    """Return the rows of a mosaic that hold panels from number `first` on, each some columns wide; a dot is empty."""
    rows = -(-count // columns)
    names = [*map(str, range(first, first + count)), *["."] * (rows * columns - count)]
    return [[name for name in names[row * columns :][:columns] for _ in range(each)] for row in range(rows)]


def _drawings(letter: str) -> list[Callable[[style.Axes, Dataset], None]]:
    """Return what draws the axes of a panel: four for e, one for each of the others."""
    if letter in MAPS:
        return [partial(_trained_panel, letter=letter)]
    if letter == "e":
        return [partial(_spread_panel, number=number) for number in range(4)]
    return [{"f": _dimensions_panel, "g": _predicted_error_panel, "h": predicted.difference_panel}[letter]]


def _trained_panel(axis: style.Axes, data: Dataset, letter: str) -> None:
    """Draw one of the panels a to d: the median over the runs of each cell."""
    name, title, unit = MAPS[letter]
    colors = _error_colors(data) if letter == "a" else {}
    _plane_map(axis, data, data[name].median("replicate"), f"{letter}  {title}", bar={"label": unit}, **colors)
    if letter == "a":
        predicted.draw_contours(axis, data)


def _predicted_error_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel g: the minimum test error by formula, in the colors of panel a."""
    _plane_map(axis, data, data["predicted_test"], "g  Test error, formula", **_error_colors(data))
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
    _plane_map(axis, sides, high - low, f"e{number + 1}  Spread of {short}", "side_")


def _plane_map(axis: style.Axes, data: Dataset, values: DataArray, title: str, before: str = "", **colors: Any) -> None:
    """Draw a map over the plane, with its color bar and the borders of the regions; `before` the names of its axes."""
    across, up = data[f"{before}gamma_variance"], data[f"{before}gamma_width"]
    cell_map(axis, across, up, values.transpose(up.name, across.name).values, cmap=style.SEQUENCE, **colors)
    _border(axis, data["border_lazy"], data["border_width"], "black", "white", "lazy / active: σ²w = d")
    _border(axis, data["border_noise"], data["border_width"], style.NOISE, "black", "infinite noise: σ⁴w = 1")
    ends = across.values[[0, -1]]
    for name, dashes, label in (("width_dim", "--", "w = d"), (f"{before}width_rank", ":", "w = K")):
        _border(axis, ends, [float(data[name])] * 2, "white", "#333333", label, linestyle=dashes)
    predicted.label_plane(axis, across, up, title)


def _border(axis: style.Axes, across: Any, up: Any, color: str, outline: str, label: str, **look: Any) -> None:
    """Draw a border over a map, outlined so that it is seen on every color."""
    from matplotlib.patheffects import withStroke

    stroke = [withStroke(linewidth=2.6, foreground=outline)]
    axis.plot(across, up, color=color, linewidth=1.3, label=label, path_effects=stroke, **look)


def _dimensions_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel f: the distance to eq. (1) against the dimension, by region."""
    dims, colors = data["dim"].values, {"active": style.ACTIVE, "lazy": style.LAZY}
    for region, (low, medians, high) in distance_quartiles(data).items():
        axis.plot(dims, medians, color=colors[region], marker="o", **style.ALONE)
        axis.fill_between(dims, low, high, color=colors[region], alpha=0.3, linewidth=1.0)
        first = (dims[0], medians[0])
        axis.annotate(f"{region} region", first, (5, 5), textcoords="offset points", color=colors[region])
    axis.set(title="f  Distance, quartiles", xlabel="dimension d", xscale="log", ylabel="ln distance")
    axis.set_xticks(dims, [str(int(d)) for d in dims])
    axis.minorticks_off()
