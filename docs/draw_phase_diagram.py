"""Draws docs/images/phase_diagram.png: the phase diagram at d = 200, predicted from one SVD, and trained.

python docs/draw_phase_diagram.py

The trained cells are those of docs/trained_diagrams.md; the prediction is of the same task.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap

import linnet as ln
from linnet import style
from linnet_papers.own.training.trained import trained_diagram
from linnet_papers.tu.plane import RANK

HERE = Path(__file__).parent
DIM = 200
LEVELS = (0.03, 1.2)  # of the errors shown, per entry of the matrix: a zero network has about 1
REGIONS = (
    (-2.1, 1.8, "active", "white"),
    (-1.49, 2.62, "lazy", style.BLACK),
    (-0.5, 2.15, "infinite noise", style.BLACK),
)


def main() -> None:
    cells = trained_diagram(DIM)
    width, variance, trained = (cells[name].values for name in ("gamma_width", "gamma_variance", "min_test_loss"))
    task = ln.problems.low_rank_plus_noise(DIM, rank=RANK, key=[0, 0])
    widths = np.maximum(1, np.round(float(DIM) ** width))
    diagram = ln.theories.lazy_active.predicted_diagram(task, float(DIM) ** variance, widths)
    predicted = 2 / DIM**2 * diagram.min_test_loss
    titles = (
        "Predicted: one SVD, no training",
        f"Trained: {trained.size} networks, of up to {widths.max() / 1e6:.1f} million units",
    )
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2.2, ratio=0.44), sharey=True)
        for axis, error, title in zip(axes, (predicted, trained), titles, strict=True):
            shades = axis.pcolormesh(
                variance, width, error, shading="nearest", cmap=style.SEQUENCE, norm=_logarithmic(), rasterized=True
            )
            lines = ln.theories.lazy_active.phase_boundaries(width, dim=DIM, rank=RANK)
            axis.plot(lines["lazy"], width, color="white", linewidth=1.2)
            axis.plot(lines["infinite-noise"], width, color="white", linewidth=1.2, linestyle="--")
            axis.grid(False)
            axis.set(
                xlim=variance[[0, -1]],
                ylim=width[[0, -1]],
                title=title,
                xlabel=r"variance of the initialization, $\log_d \sigma^2$",
            )
            for x, y, word, color in REGIONS:
                axis.text(x, y, word, color=color, fontsize=9, fontweight="bold", ha="center")
        if not diagram.covered.all():
            wide_bars = np.ma.masked_array(np.zeros(error.shape), diagram.covered)  # above the limit: whole cells
            look = {"cmap": ListedColormap([(0.0, 0.0, 0.0, 0.0)]), "hatch": "////", "linewidth": 0}
            axes[0].pcolor(variance, width, wide_bars, shading="nearest", edgecolor=style.BLACK, **look)
        axes[0].set_ylabel(r"width, $\log_d w$")
        bar = picture.colorbar(shades, ax=axes, label="minimum test error", extend="both", pad=0.01)
        bar.set_ticks([0.03, 0.1, 0.3, 1.0], labels=["0.03", "0.1", "0.3", "1"])
        picture.savefig(HERE / "images" / "phase_diagram.png", dpi=200)


def _logarithmic():
    from matplotlib.colors import LogNorm

    return LogNorm(*LEVELS)


if __name__ == "__main__":
    main()
