"""The table of Gaussian starts: which standard deviation gives rank 3."""

from __future__ import annotations

import numpy as np

from linnet.papers.varre.networks.path import Path
from linnet.papers.varre.settings import OUTPUTS, WIDTH
from linnet.papers.varre.tables.flows import Rows, between, final_values, table
from linnet.reproduction.table import Columns


def columns(rows: Rows) -> Columns:
    """Rank of the trained first layer: the fourth singular value decides it; gamma is the effective one."""
    return {
        "std of W1(0)": [f"{np.sqrt(2 * gamma / WIDTH):g}" for gamma in rows],
        "rank of W1": between(rows, lambda path: path.rank, "{:.0f}"),
        "rank 3": [f"{sum(path.rank == OUTPUTS for path in row)} of {len(row)}" for row in rows.values()],
        "σ4/σ1": between(rows, lambda path: path.values[3] / path.values[0]),
        "the same by Corollary 3.1": between(rows, predicted_fourth),
    }


def predicted_fourth(path: Path) -> float:
    """sigma_4/sigma_1 of W1 by Corollary 3.1, at the effective gamma."""
    first = final_values(path)[0]
    return float(first[OUTPUTS] / first[0])


TABLE = table(
    "gaussian",
    name="gaussian-starts",
    title="Gaussian starts: which standard deviation gives rank 3",
    columns=columns,
    gamma="effective gamma",
)
