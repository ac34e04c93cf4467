"""The table of flows with one output: alignment of the neurons, and the loss under its bound."""

from __future__ import annotations

import numpy as np

from linnet.papers.varre.networks.path import Path
from linnet.papers.varre.tables.flows import Rows, between, bound_share, final_values, table, worst
from linnet.reproduction.table import Columns


def columns(rows: Rows) -> Columns:
    """Return how far the neurons align with the predictor, and the loss under its bound."""
    return {
        "predictor to minimum-norm solution": worst(rows, lambda path: path.solution_error),
        "part of W1 across the predictor": between(rows, lambda path: path.across),
        "the same by Corollary 3.1": between(rows, predicted_across),
        "sine of a neuron and the predictor, largest": worst(rows, lambda path: float(path.neuron_sines.max())),
        "loss / bound of Lemma C.8, largest": worst(rows, bound_share, "{:.2g}"),
    }


def predicted_across(path: Path) -> float:
    """Return the part of W1 across the predictor that Corollary 3.1 gives."""
    first = final_values(path)[0]
    return float(np.sqrt((first[1:] ** 2).sum() / (first**2).sum()))


TABLE = table(
    "scalar",
    name="one-output",
    title="One output: alignment of the neurons, and the loss under its bound",
    columns=columns,
)
