"""How much the scale of the start matters for the least test error: a map over signal to noise, spike and alignment."""

from __future__ import annotations

import numpy as np
from pydantic import PositiveInt

from linnet import style
from linnet_papers.own.predictions import gain_in_the_limit
from linnet_papers.reproduction import Figure, Rows, Settings, fact
from linnet_papers.reproduction.datasets import DataArray, Dataset, labeled


class StartScale(Settings):
    """Inputs and samples of the proportional limit, and the axes of the map."""

    dim: PositiveInt = 100
    samples: PositiveInt = 200
    spikes: tuple[float, ...] = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
    signal_to_noise: tuple[float, ...] = (0.05, 0.2, 1.0, 5.0, 25.0, 100.0)
    alignments: tuple[float, ...] = (0.1, 0.5, 0.8, 0.9, 1.0)


def compute(settings: StartScale, panels: tuple[str, ...]) -> Dataset:
    sizes = settings.dim, settings.samples
    gains = [
        [
            [gain_in_the_limit(spike, A, *sizes, power) for A in settings.alignments]
            for power in settings.signal_to_noise
        ]
        for spike in settings.spikes
    ]
    axes = {
        "spike": (settings.spikes, "spike"),
        "signal_to_noise": (settings.signal_to_noise, "signal to noise of the labels"),
        "alignment": (settings.alignments, "alignment of spike and target"),
    }
    return labeled(
        {
            "gain": (
                tuple(axes),
                np.array(gains),
                "minimum test error of a large initialization over that of a small one",
            )
        },
        {name: (name, list(values), words) for name, (values, words) in axes.items()},
        {"dim": settings.dim, "samples": settings.samples},
    )


def plot(data: Dataset) -> style.Picture:
    gain = data["gain"]
    columns = min(3, data.sizes["spike"])
    rows = -(-data.sizes["spike"] // columns)
    most = 1 + 1.5 * max(float(np.abs(gain - 1).max()), 0.01)  # so that no shade hides the numbers
    with style.applied():
        picture, axes = style.subplots(rows, columns, size=style.column(2, ratio=0.36 * rows), squeeze=False)
        for index, (one, panel) in enumerate(zip(gain, axes.flat, strict=False)):
            shades = panel.imshow(one, origin="lower", aspect="auto", cmap=style.DIVERGING, vmin=2 - most, vmax=most)
            for (row, column), value in np.ndenumerate(one.values):
                panel.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=6)
            panel.grid(False)
            panel.set_title(f"{chr(97 + index)}  Spike {float(one['spike']):g}")
            panel.set_xticks(range(one.sizes["alignment"]), [f"{a:g}" for a in data["alignment"].values])
            panel.set_yticks(range(one.sizes["signal_to_noise"]), [f"{p:g}" for p in data["signal_to_noise"].values])
            if index >= data.sizes["spike"] - columns:
                panel.set_xlabel("alignment A")
            if index % columns == 0:
                panel.set_ylabel("signal to noise")
        for panel in axes.flat[data.sizes["spike"] :]:
            panel.set_visible(False)
        picture.colorbar(shades, ax=list(axes.flat), label="large initialization / small initialization, minimum error")
    return picture


def check(data: Dataset) -> Rows:
    gain = data["gain"]
    best, worst = gain.isel(gain.argmax(...)), gain.isel(gain.argmin(...))
    yield fact("largest factor that a small initialization gains", {_cell_label(best): float(best)})
    yield fact("largest factor that a large initialization gains", {_cell_label(worst): 1 / float(worst)})
    yield fact(
        "fraction of cells in which the scale changes the minimum error by less than 1%", (abs(gain - 1) < 0.01).mean()
    )


def _cell_label(cell: DataArray) -> str:
    """Return where a cell of the map lies: its spike, signal to noise and alignment."""
    names = ("spike", "signal_to_noise", "alignment")
    return ", ".join(f"{name.replace('_', ' ')} {float(cell[name]):g}" for name in names)


FIGURE = Figure(
    name="start-scale",
    title="When the scale of the initialization matters for the minimum test error",
    caption="By how much the minimum test error over time of a large initialization exceeds that of a small one, "
    "for one output "
    "in the proportional limit (d/n = 1/2): above one a small initialization is better. The target lies along "
    "the spike by the "
    "alignment; signal to noise is that of the labels.",
    settings=StartScale,
    quick={"spikes": (2.0, 20.0), "signal_to_noise": (0.2,), "alignments": (0.5, 0.9)},
    compute=compute,
    plot=plot,
    check=check,
)
