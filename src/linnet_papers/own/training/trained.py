"""The phase diagrams that we trained cell by cell, kept as data of the package (docs/trained_diagrams.md)."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from linnet._arguments import count
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.tu import plane


def trained_diagram(dim: int) -> Dataset:
    r"""Return every trained cell of one dimension (50, 200, 1000 or 2000): 35 x 35 networks, 15 x 15 at d = 2000.

    Variables `min_test_loss` (least $|A - A^*|_F^2/d^2$), `stable_rank` then, `best_step`, `log_distance` to the
    self-consistent dynamics and `steps` taken, over the coordinates `gamma_width` and `gamma_variance`, the exponents
    of $w$ and $\sigma^2$ in $d$. The step is $1/(50|A^*|)$, or $1/(50\sigma^2 w)$ above the lazy boundary; runs stop as
    the published ones do, after 750 steps at the latest.

    >>> cells = trained_diagram(50)
    >>> dict(cells.sizes), float(cells["min_test_loss"].min())
    ({'gamma_width': 35, 'gamma_variance': 35}, 0.23151)
    """
    import xarray as xr

    dim = count("dim", dim)
    text = (files("linnet_papers.own") / "data" / "trained_diagrams.csv").read_text(encoding="utf-8").splitlines()
    names = text[0].split(",")
    table = np.array([line.split(",") for line in text[1:]], dtype=float)
    known = np.unique(table[:, 0]).astype(int).tolist()
    if dim not in known:
        raise ValueError(f"`dim` must be one of {', '.join(map(str, known))}, which were trained: got {dim}.")
    rows = table[table[:, 0] == dim]
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1]))]
    widths, variances = np.unique(rows[:, 1]), np.unique(rows[:, 2])
    axes = ("gamma_width", "gamma_variance")
    return xr.Dataset(
        {name: (axes, rows[:, i].reshape(widths.size, variances.size)) for i, name in enumerate(names) if i > 2},
        coords={"gamma_width": widths, "gamma_variance": variances},
        attrs={"dim": dim, "rank": plane.RANK, "c": plane.STEP_C},
    )
