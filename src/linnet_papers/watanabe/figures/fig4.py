"""Figure 4 of Watanabe et al.: the normalized test error over spike and alignment, by eq. (27) as corrected."""

from __future__ import annotations

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, Settings, at_most, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled

ROUNDING = at_most(1e-12, "a formula of about ten operations on numbers near 1, in float64, a thousand times over")


class MapSettings(Settings):
    """The paper's ratio; the largest spike is ours. The map has a value at every point of a grid."""

    ratio: PositiveFloat = 3.0
    largest_spike: PositiveFloat = 50.0
    spikes: PositiveInt = 201
    alignments: PositiveInt = 101


def compute(settings: MapSettings, panels: tuple[str, ...]) -> Dataset:
    """Return the theory itself: the paper's figure is one of the formula, not of networks.

    `panels` is not used: the figure has none.
    """
    spike = np.linspace(0, settings.largest_spike, settings.spikes)
    alignment = np.linspace(0, 1, settings.alignments)
    error = ln.theories.spiked.generalization_error
    grid = (spike[:, None], alignment[None, :], settings.ratio)
    both = ("spike", "alignment")
    return labeled(
        {
            "error": (both, error(*grid, normalized=True), "test error / signal power"),
            "plain_error": (both, error(*grid), "test error"),
        },
        {
            "spike": ("spike", spike, "spike ρ"),
            "alignment": ("alignment", alignment, "alignment A of spike and target"),
        },
        {"ratio": settings.ratio},
    )


def plot(ds: Dataset) -> style.Picture:
    """Return a map with a few contour lines."""
    from matplotlib.patheffects import withStroke

    with style.applied():
        picture, axis = style.subplots(size=style.column(1.25, ratio=0.72))
        axis.grid(False)
        mesh = axis.pcolormesh(
            ds.alignment, ds.spike, ds.error, cmap=style.SEQUENCE, shading="gouraud", rasterized=True
        )
        lines = axis.contour(
            ds.alignment, ds.spike, ds.error, levels=[0.05, 0.1, 0.2, 0.4, 0.6], colors="white", linewidths=0.7
        )
        outline = [withStroke(linewidth=1.6, foreground="#222222")]  # white is read on the map's bright end too
        row = ds.error.isel(spike=int(0.6 * ds.sizes["spike"]))  # labels stand where the lines cross this spike
        at = [
            (float(np.interp(-level, -row.values, ds.alignment.values)), float(row.spike))
            for level in lines.levels
            if row.values.min() < level < row.values.max()
        ]
        for label in axis.clabel(lines, fontsize=6.5, fmt="%g", manual=at):
            label.set_path_effects(outline)
        picture.colorbar(mesh, ax=axis, label="test error / signal power")
        axis.set(xlabel="alignment A of spike and target", ylabel="spike ρ")
        axis.set_title(f"Normalized error by eq. (27), d/n = {ds.attrs['ratio']:g}")
    return picture


def check(ds: Dataset) -> Rows:
    """Monotone in both, flat where the target is orthogonal to the spike; and where the plain error is not."""
    rises = {along: float(ds.error.diff(along).max()) for along in ("spike", "alignment")}
    yield printed("largest rise of the normalized error from a point to the next, by what grows", rises, ROUNDING)
    flat = float(ds.error.sel(alignment=0).max() - ds.error.sel(alignment=0).min())
    yield printed("variation of the error where target and spike are orthogonal", flat, ROUNDING)
    peaks = ds.spike.values[ds.plain_error.isel(alignment=slice(1, None)).values.argmax(0)]
    ends = {"smallest": peaks.min(), "largest": peaks.max(), "$d/n - 2$": ds.attrs["ratio"] - 2}
    yield fact("spike up to which the error rises if it is not divided, over all $A > 0$", ends)


FIGURE = Figure(
    name="fig4",
    title="Normalized test error over spike and alignment",
    caption=(
        "Test error of the minimum-norm solution divided by the signal's power, by eq. (27) with the spike in its "
        "bracket (our copy has kappa there): a formula, nothing is trained. It is (1 - 1/g)[1 - A^2 (1 + rho)/(1 + rho "
        "A^2) (1 - (1 + rho/g)^-2)], every factor of which is monotone: both a large spike and a good alignment are "
        "needed for a small error; at A = 0 the spike has no effect. d/n = 3 is the paper's; the range, rho up to 50, "
        "is ours, as our copy of the text gives none."
    ),
    settings=MapSettings,
    quick={"spikes": 51, "alignments": 41},
    compute=compute,
    plot=plot,
    check=check,
)
