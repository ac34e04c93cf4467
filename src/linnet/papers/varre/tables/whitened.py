"""The table of flows on whitened data: the whole course of their singular values."""

from __future__ import annotations

from linnet.papers.varre.tables.flows import Rows, evolution_error, table, worst
from linnet.reproduction.table import Columns


def columns(rows: Rows) -> Columns:
    """Return the whole course of the flows, against Theorems C.11 and C.12."""
    return {
        "singular values to Theorem C.12, at all times": worst(rows, evolution_error),
        "turn of singular vectors (sine)": worst(rows, lambda path: path.turn),
    }


TABLE = table(
    "white",
    name="whitened",
    title="Whitened data: the whole course of the singular values (Theorems C.11, C.12)",
    columns=columns,
)
