"""Draws docs/images/trained_diagrams.png from the trained cells: how borders sharpen with the dimension.

python docs/draw_trained_diagrams.py
"""

from __future__ import annotations

from pathlib import Path

import linnet as ln
from linnet import style
from linnet_papers.own.training.trained import trained_diagram
from linnet_papers.tu.plane import RANK

HERE = Path(__file__).parent


def main() -> None:
    dims = (50, 200, 1000, 2000)
    with style.applied():
        picture, axes = style.subplots(1, len(dims), size=style.column(2.0, ratio=0.36), squeeze=False)
        for axis, dim in zip(axes.flat, dims, strict=True):
            cells = trained_diagram(dim)
            width, variance, error = (cells[name].values for name in ("gamma_width", "gamma_variance", "min_test_loss"))
            shades = axis.pcolormesh(
                variance, width, error, shading="nearest", cmap=style.SEQUENCE, vmin=0, vmax=1, rasterized=True
            )
            lines = ln.theories.lazy_active.phase_boundaries(width, dim=dim, rank=RANK)
            axis.plot(lines["lazy"], width, color="black", linewidth=1.1)
            axis.plot(lines["infinite-noise"], width, color="red", linewidth=1.1)
            axis.axhline(1.0, color="white", linestyle="--", linewidth=1.1)
            axis.grid(False)
            axis.set(xlim=variance[[0, -1]], ylim=width[[0, -1]], title=f"d = {dim}", xlabel="variance exponent γ(σ²)")
        axes.flat[0].set_ylabel("width exponent γ(w)")
        picture.colorbar(shades, ax=axes, label="minimum test error", extend="max")
        picture.savefig(HERE / "images" / "trained_diagrams.png", dpi=110)


if __name__ == "__main__":
    main()
