"""The tables of Varre et al. that gradient flows fill, and the flows as the claims ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.varre import flows as varre_flows
from linnet.papers.varre.flows import INPUTS, OUTPUTS, WIDTH
from linnet.papers.varre.paths import Path, by_gamma, read
from linnet.reproduction.claim import Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr


def corrected(printed: bool, right: bool) -> Verdict:
    """Holds as printed, holds with the correction, or neither."""
    return Verdict.HOLDS if printed else Verdict.CORRECTED if right else Verdict.REFUTED


def paths(trial: Trial, *kinds: str) -> Iterator[Path]:
    """The flows of these kinds: "regression", "scalar", "white" or "gaussian"."""
    for kind in kinds:
        yield from read(FLOWS[kind].results(trial), outputs=1 if kind == "scalar" else OUTPUTS)


def regression_columns(flows: xr.Dataset) -> Columns:
    """Where the flows end, against Theorem 3.1 and Corollary 3.1."""
    rows = by_gamma(read(flows))
    return {
        **_heads(rows),
        "predictor to minimum-norm solution": _worst(rows, lambda path: path.solution_error),
        "singular values to Corollary 3.1": _worst(rows, lambda path: path.limit_error),
        "squared norms / 2 nuclear norms - 1": _worst(rows, lambda path: path.excess),
        "the same by Corollary 3.1": _worst(rows, _predicted_excess),
        "rank of W1": _ranks(rows),
        "turn of singular vectors (sine)": _between(rows, lambda path: path.turn),
    }


def scalar_columns(flows: xr.Dataset) -> Columns:
    """How far the neurons align with the predictor, and the loss under its bound."""
    rows = by_gamma(read(flows, outputs=1))
    return {
        **_heads(rows),
        "predictor to minimum-norm solution": _worst(rows, lambda path: path.solution_error),
        "part of W1 across the predictor": _between(rows, lambda path: path.across),
        "the same by Corollary 3.1": _between(rows, predicted_across),
        "loss / bound of Lemma C.8, largest": _worst(rows, lambda path: path.bound_share, "{:.2g}"),
    }


def white_columns(flows: xr.Dataset) -> Columns:
    """The whole course of the flows, against Theorems C.11 and C.12."""
    rows = by_gamma(read(flows))
    return {
        **_heads(rows),
        "singular values to Theorem C.12, at all times": _worst(rows, lambda path: path.evolution_error),
        "turn of singular vectors (sine)": _worst(rows, lambda path: path.turn),
    }


def gaussian_columns(flows: xr.Dataset) -> Columns:
    """Rank of the trained first layer: the fourth singular value decides it."""
    rows = by_gamma(read(flows))
    return {
        "std of W1(0)": [f"{np.sqrt(2 * gamma / WIDTH):g}" for gamma in rows],
        **_heads(rows, "effective gamma"),
        "rank of W1": _ranks(rows),
        "rank 3": [f"{sum(path.rank == OUTPUTS for path in row)} of {len(row)}" for row in rows.values()],
        "σ4/σ1": _between(rows, lambda path: path.values[3] / path.values[0]),
        "the same by Corollary 3.1": _between(rows, _predicted_fourth),
    }


def _predicted_excess(path: Path) -> float:
    layers = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)
    return float(sum((layer**2).sum() for layer in layers) / (2 * path.modes.sum()) - 1)


def predicted_across(path: Path) -> float:
    first = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)[0]
    return float(np.sqrt((first[1:] ** 2).sum() / (first**2).sum()))


def _predicted_fourth(path: Path) -> float:
    first = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)[0]
    return float(first[OUTPUTS] / first[0])


def _heads(rows: dict[float, list[Path]], name: str = "gamma") -> Columns:
    losses = [f"{highest(path.loss[-1] for path in row):.0e}" for row in rows.values()]
    return {name: [f"{g:g}" for g in rows], "flows": [str(len(row)) for row in rows.values()], "final loss": losses}


def _worst(rows: dict[float, list[Path]], of: Callable[[Path], float], form: str = "{:.1e}") -> list[str]:
    return [form.format(highest(of(path) for path in row)) for row in rows.values()]


def _between(rows: dict[float, list[Path]], of: Callable[[Path], float]) -> list[str]:
    found = [[of(path) for path in row] for row in rows.values()]
    return [_range([f"{lowest(values):.2g}", f"{highest(values):.2g}"]) for values in found]


def _ranks(rows: dict[float, list[Path]]) -> list[str]:
    return [_range([str(rank) for rank in sorted(path.rank for path in row)]) for row in rows.values()]


def _range(entries: list[str]) -> str:
    """The first and the last of them, once if they are the same."""
    return entries[0] if entries[0] == entries[-1] else f"{entries[0]} to {entries[-1]}"


def _flows(name: str, kind: str, trial: Trial) -> ln.sweeps.Sweep:
    return varre_flows.sweep(name, kind, quick=trial.quick, seed=trial.seed)


def _table(kind: str, name: str, title: str, columns: Callable[[xr.Dataset], Columns]) -> Table:
    return Table(name=name, title=title, sweep=partial(_flows, f"varre-{name}", kind), columns=columns, note=NOTE)


NOTE = (
    "Errors and losses: the largest of the flows; a range where they differ. Ranks count values above a tenth of "
    "the largest."
)
FLOWS = {
    "regression": _table(
        "regression",
        "limits",
        "Where the flow ends from orthogonal starts: Theorem 3.1, Corollary 3.1",
        regression_columns,
    ),
    "scalar": _table(
        "scalar", "one-output", "One output: alignment of the neurons, and the loss under its bound", scalar_columns
    ),
    "white": _table(
        "white",
        "whitened",
        "Whitened data: the whole course of the singular values (Theorems C.11, C.12)",
        white_columns,
    ),
    "gaussian": _table(
        "gaussian", "gaussian-starts", "Gaussian starts: which standard deviation gives rank 3", gaussian_columns
    ),
}

TABLES = list(FLOWS.values())
