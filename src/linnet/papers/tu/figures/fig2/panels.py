"""How Figure 2 is drawn: maps over the plane of variance and width, their spread, and the distance against d."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet import style
from linnet.papers.tu.figures.fig2 import predicted
from linnet.papers.tu.figures.fig2.checks import distance_quartiles
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.drawing import cell_map

# Of each panel: variable, title
MAPS = {
    "a": ("best_test", "Smallest test error"),
    "b": ("stable_rank", "Stable rank at that time"),
    "c": ("best_step", "Iterations until then"),
    "d": ("log_distance", "ln distance to eq. (1)"),
}
SHORT = {
    "best_test": "test error",
    "stable_rank": "stable rank",
    "best_step": "iterations",
    "log_distance": "ln distance",
}


def plot(data: Dataset) -> style.Picture:
    panels = [letter for letter in str(data.attrs["panels"]).split(",") if letter] or list(MAPS)
    drawings: list[Any] = []
    for letter in panels:
        if letter in MAPS:
            drawings.append(lambda axis, letter=letter: _trained_panel(axis, data, letter))
        elif letter == "e":
            for number, name in enumerate(SHORT, start=1):
                drawings.append(lambda axis, name=name, number=number: _spread_panel(axis, data, name, number))
        elif letter == "g":
            drawings.append(lambda axis: _predicted_error_panel(axis, data))
        elif letter == "h":
            drawings.append(lambda axis: predicted.difference_panel(axis, data))
        else:
            drawings.append(lambda axis: _dimensions_panel(axis, data))
    columns = min(len(drawings), 2)
    rows = -(-len(drawings) // columns)
    with style.applied():
        picture, axes = style.subplots(
            rows, columns, size=style.column(1.7 if columns > 1 else 1.0, ratio=0.8 * rows / columns), squeeze=False
        )
        for axis, draw in zip(axes.flat, drawings, strict=False):
            draw(axis)
        for axis in axes.flat[len(drawings) :]:
            axis.set_axis_off()
        handles, labels = axes.flat[0].get_legend_handles_labels()
        if len(handles) == 4:
            picture.legend(handles, labels, loc="outside lower center", ncols=2, facecolor="#B0B0B0", framealpha=1)
    return picture


def _trained_panel(axis: style.Axes, data: Dataset, letter: str) -> None:
    """Draw one of the panels a to d: the median over the runs of each cell."""
    name, title = MAPS[letter]
    narrowest = float(data["width_rank"])
    values = data[name].median("replicate")
    colours = _error_colours(data) if letter == "a" else {}
    _plane_map(axis, data, values, f"{letter}  {title}", "gamma_variance", "gamma_width", narrowest, **colours)
    if letter == "a":
        predicted.draw_contours(axis, data)


def _predicted_error_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel g: the least test error by formula, in the colours of panel a."""
    narrowest, title = float(data["width_rank"]), "g  Smallest test error, predicted"
    values = data["predicted_test"]
    _plane_map(axis, data, values, title, "gamma_variance", "gamma_width", narrowest, **_error_colours(data))
    predicted.hatch_uncovered(axis, data)


def _error_colours(data: Dataset) -> dict[str, float]:
    """Return one scale of colours for the trained and the predicted test error."""
    both = [data[name].values for name in ("best_test", "predicted_test") if name in data]
    return {"vmin": float(min(map(np.nanmin, both))), "vmax": float(max(map(np.nanmax, both)))}


def _spread_panel(axis: style.Axes, data: Dataset, name: str, number: int) -> None:
    """Draw one of the maps of panel e: the interquartile range over tasks and starts."""
    dim = int(data["dim"].values[-1])
    values = data[f"side_{name}"].sel(dim=dim)
    spread = values.quantile(0.75, "side_replicate") - values.quantile(0.25, "side_replicate")
    narrowest = float(data["side_width_rank"].sel(dim=dim))
    title = f"e{number}  Spread: {SHORT[name]}"
    _plane_map(axis, data, spread, title, "side_gamma_variance", "side_gamma_width", narrowest)


def _plane_map(
    axis: style.Axes, data: Dataset, values: Any, title: str, across: str, up: str, narrowest: float, **colours: Any
) -> None:
    """Draw a map over the plane, with its colour bar and the borders of the regions."""
    from matplotlib.patheffects import withStroke

    cell_map(axis, data[across], data[up], values.transpose(up, across).values, cmap=style.SEQUENCE, **colours)
    axis.plot(data["border_lazy"], data["border_width"], color="black", linewidth=1.1, label="lazy / active: σ²w = d")
    axis.plot(data["border_noise"], data["border_width"], color="red", linewidth=1.1, label="infinite noise: σ⁴w = 1")
    stroke = [withStroke(linewidth=2.2, foreground="#333333")]
    outlined: Any = {"color": "white", "linewidth": 1.1, "path_effects": stroke}
    axis.axhline(float(data["width_dim"]), linestyle="--", label="w = d", **outlined)
    axis.axhline(narrowest, linestyle=":", label="w = K", **outlined)
    predicted.label_plane(axis, data[across], data[up], title)


def _dimensions_panel(axis: style.Axes, data: Dataset) -> None:
    """Draw panel f: the distance to eq. (1) against the dimension, by region."""
    medians, low, high = distance_quartiles(data)
    colours = {"active": style.ACTIVE, "lazy": style.LAZY}
    for region, colour in ((name, colours[name]) for name in medians):
        axis.plot(data["dim"], medians[region], color=colour, marker="o", **style.ALONE)
        axis.fill_between(data["dim"], low[region], high[region], color=colour, alpha=0.3, linewidth=1.0)
        first = (float(data["dim"][0]), float(medians[region][0]))
        axis.annotate(f"{region} region", first, (5, 5), textcoords="offset points", color=colour)
    axis.set(
        title="f  Median distance (shaded: quartiles)",
        xlabel="dimension d",
        ylabel="ln mean squared distance",
        xscale="log",
    )
    axis.set_xticks(data["dim"].values, [str(int(d)) for d in data["dim"].values])
    axis.minorticks_off()
