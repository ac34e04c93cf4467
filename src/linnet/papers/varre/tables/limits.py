"""The table of Theorem 3.1 and Corollary 3.1: where flows end from orthogonal starts."""

from __future__ import annotations

from linnet.papers.varre.networks.path import Path
from linnet.papers.varre.tables.flows import Rows, between, final_values, limit_error, table, worst
from linnet.reproduction.table import Columns


def columns(rows: Rows) -> Columns:
    """Return where the flows end, against Theorem 3.1 and Corollary 3.1."""
    return {
        "predictor to minimum-norm solution": worst(rows, lambda path: path.solution_error),
        "singular values to Corollary 3.1": worst(rows, limit_error),
        "squared norms / 2 nuclear norms - 1": worst(rows, lambda path: path.excess),
        "the same by Corollary 3.1": worst(rows, predicted_excess),
        "rank of W1": between(rows, lambda path: path.rank, "{:.0f}"),
        "turn of singular vectors (sine)": between(rows, lambda path: path.turn),
    }


def predicted_excess(path: Path) -> float:
    """Squared norms of both layers over twice the nuclear norm of the solution, minus 1, by Corollary 3.1."""
    return float(sum((layer**2).sum() for layer in final_values(path)) / (2 * path.modes.sum()) - 1)


TABLE = table(
    "regression",
    name="limits",
    title="Where the flow ends from orthogonal starts: Theorem 3.1, Corollary 3.1",
    columns=columns,
)
