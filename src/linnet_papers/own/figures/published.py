"""The published cells of the phase diagram against the formula."""

from __future__ import annotations

import numpy as np
from pydantic import PositiveInt

from linnet import style
from linnet_papers.own.predictions import published_and_predicted
from linnet_papers.own.settings import PUBLISHED_MEDIAN, PUBLISHED_WORST
from linnet_papers.reproduction import Figure, Rows, Settings, fact, printed
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.drawing import around_zero, cell_map


class Published(Settings):
    """How many tasks of our own are averaged: the published one is not known."""

    tasks: PositiveInt = 12


def compute(settings: Published, panels: tuple[str, ...]) -> Dataset:
    data = published_and_predicted(settings.tasks, settings.seed)
    names = {
        "test_error": "published test error per entry",
        "train_error": "published train error per entry",
        "last_step": "step at which the published run was stopped",
        "predicted": "predicted test error per entry at that step",
        "predicted_train": "predicted train error per entry at that step",
    }
    for name, text in names.items():
        data[name].attrs["long_name"] = text
    return data


def plot(data: Dataset) -> style.Picture:
    mean, spread = data["predicted"].mean("task"), data["predicted"].std("task")
    error = 100 * (mean / data["test_error"] - 1)
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.4))
        variances = data["gamma_variance"]
        shown = data["gamma_width"].values[:: max(1, data.sizes["gamma_width"] // 5)]
        for color, power in zip(style.shades(len(shown)), shown, strict=True):
            line, band, marks = (values.sel(gamma_width=power) for values in (mean, spread, data["test_error"]))
            axes[0].plot(variances, line, color=color, **style.CURVE)
            axes[0].fill_between(variances, line - band, line + band, color=color, alpha=0.2, linewidth=0)
            axes[0].plot(variances, marks, color=color, label=f"γ(w) = {power:.2f}", **style.MARKS)
        axes[0].set(title="a  Marks: published networks. Lines: formula", yscale="log")
        axes[0].set(xlabel="variance exponent γ(σ²)", ylabel="test error where stopped")
        axes[0].legend()
        values = error.transpose("gamma_width", "gamma_variance")
        colors = around_zero(float(np.abs(error).max()))
        cell_map(axes[1], variances, data["gamma_width"], values, **colors)
        axes[1].set(xlabel="variance exponent γ(σ²)", ylabel="width exponent γ(w)")
        axes[1].set_title("b  Formula / published - 1, percent")
    return picture


def check(data: Dataset) -> Rows:
    mean = data["predicted"].mean("task")
    tasks = data.sizes["task"]
    error = abs(mean / data["test_error"] - 1).values
    train = abs(data["predicted_train"].mean("task") / data["train_error"] - 1).values
    spread = float((data["predicted"].std("task", ddof=1) / mean).median()) if tasks > 1 else np.nan
    yield printed("median relative error of the test error of the published cells", np.median(error), PUBLISHED_MEDIAN)
    yield printed("largest relative error of a cell", error.max(), PUBLISHED_WORST)
    yield fact("median relative difference from one task to another", spread)
    yield fact("median relative error of the train error", np.median(train))
    yield fact("largest relative error of the train error", train.max())


FIGURE = Figure(
    name="published",
    title="Published cells of the phase diagram against the formula",
    caption="Test error of 300 networks published by Tu, Aranguri and Jacot (2024), where each was stopped, "
    "and what the spectral flow predicts there without training. Lines and bands: mean and spread over tasks of the "
    "same kind, as theirs is not known.",
    settings=Published,
    quick={"tasks": 4},
    compute=compute,
    plot=plot,
    check=check,
)
