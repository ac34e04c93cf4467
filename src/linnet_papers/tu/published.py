"""Numbers that authors printed themselves, kept in the `data` folders of their papers to be compared with.

A file begins with comment lines (`#`) that say whose numbers they are, then a line of names, then the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linnet_papers.tu import plane

if TYPE_CHECKING:
    import xarray as xr


def phase_diagram_cells() -> xr.Dataset:
    r"""The published cells of the lazy/active phase diagram: what 300 trained networks had reached when they stopped.

    Variables `last_step` (the step at which the run was stopped), `train_error` and `test_error` there, each
    $\frac{1}{d^2}|A - \cdot|_F^2$, over the coordinates `gamma_variance` and `gamma_width` (exponents of $\sigma^2$
    and $w$ in $d$). The attribute `origin` says whose numbers they are; `dim` and `rank` are those of the task, `c`
    the number that sets the step, $1/(c|A^*|)$ in the active region and $1/(c\sigma^2 w)$ in the lazy one.

    **Reference:** Tu et al. 2024, Figure 2.

    >>> from linnet_papers.tu.published import phase_diagram_cells
    >>> cells = phase_diagram_cells()
    >>> dict(cells.sizes), int(cells["last_step"][0, 0])
    ({'gamma_variance': 30, 'gamma_width': 10}, 304)
    """
    import xarray as xr

    text = _data_file("phase_diagram_cells.csv").read_text(encoding="utf-8").splitlines()
    origin = " ".join(line.removeprefix("#").strip() for line in text if line.startswith("#"))
    names, *lines = (line.split(",") for line in text if not line.startswith("#"))
    table = np.array(lines, dtype=float)
    variances, widths = np.unique(table[:, 0]), np.unique(table[:, 1])
    order = np.lexsort((table[:, 1], table[:, 0]))
    grid = table[order].reshape(variances.size, widths.size, len(names))
    cells = xr.Dataset(
        {name: (("gamma_variance", "gamma_width"), grid[..., i]) for i, name in enumerate(names) if i > 1},
        coords={"gamma_variance": variances, "gamma_width": widths},
        attrs={"origin": origin, "dim": 200, "rank": plane.RANK, "c": plane.STEP_C},
    )
    return cells.assign(last_step=cells["last_step"].astype(int))


def _data_file(name: str) -> Path:
    """Return the path of a file in the folder `data`."""
    return Path(__file__).with_name("data") / name
