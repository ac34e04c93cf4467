"""Draws docs/images/trained_diagrams.png from docs/data/trained_diagrams.csv: how borders sharpen with the dimension.

python docs/draw_trained_diagrams.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import linnet as ln
from linnet import style

HERE = Path(__file__).parent
RANK = 5


def main() -> None:
    rows = np.genfromtxt(HERE / "data" / "trained_diagrams.csv", delimiter=",", names=True)
    dims = np.unique(rows["dim"]).astype(int)
    with style.applied():
        picture, axes = style.subplots(1, len(dims), size=style.column(2.0, ratio=0.36), squeeze=False)
        for axis, dim in zip(axes.flat, dims, strict=True):
            chosen = rows[rows["dim"] == dim]
            width, variance = np.unique(chosen["gamma_width"]), np.unique(chosen["gamma_variance"])
            error = chosen["best_test"].reshape(width.size, variance.size)
            shades = axis.pcolormesh(
                variance, width, error, shading="nearest", cmap=style.SEQUENCE, vmin=0, vmax=1, rasterized=True
            )
            lines = ln.theories.mixed.borders(width, dim=int(dim), rank=RANK)
            axis.plot(lines["lazy"], width, color="black", linewidth=1.1)
            axis.plot(lines["infinite-noise"], width, color="red", linewidth=1.1)
            axis.axhline(1.0, color="white", linestyle="--", linewidth=1.1)
            axis.grid(False)
            axis.set(xlim=variance[[0, -1]], ylim=width[[0, -1]], title=f"d = {dim}", xlabel="variance exponent γ(σ²)")
        axes.flat[0].set_ylabel("width exponent γ(w)")
        picture.colorbar(shades, ax=axes, label="least test error", extend="max")
        picture.savefig(HERE / "images" / "trained_diagrams.png", dpi=110)


if __name__ == "__main__":
    main()
