"""The tables that gradient flows fill: where they end, and how far the theory is from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.varre.networks import flows as networks
from linnet.papers.varre.networks.path import Path, by_gamma, read
from linnet.papers.varre.settings import (
    GAMMAS,
    INPUTS,
    OUTPUTS,
    QUICK_GAMMAS,
    QUICK_REPLICATES,
    REPLICATES,
    WIDTH,
)
from linnet.reproduction import Trial
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr


def sweep(name: str, kind: str, trial: Trial) -> ln.sweeps.Sweep:
    """The flows of one kind: every gamma on the same data sets, those of one gamma in a block."""
    gammas, replicates = (QUICK_GAMMAS, QUICK_REPLICATES) if trial.quick else (GAMMAS, REPLICATES)
    axes = {"gamma": list(gammas[kind]), "replicate": list(range(replicates[kind]))}
    return ln.sweeps.Sweep(
        name=name,
        function=networks.cells,
        axes=axes,
        seed=trial.seed,
        fixed={"kind": kind, "seed": trial.seed},
        block=replicates[kind],
        apart=["gamma"],
    )


def paths(trial: Trial, *kinds: str) -> Iterator[Path]:
    """The flows of these kinds: "regression", "scalar", "white" or "gaussian"."""
    for kind in kinds:
        yield from read(FLOWS[kind].results(trial), outputs=1 if kind == "scalar" else OUTPUTS)


def limit_error(path: Path) -> float:
    """Largest distance of the final singular values of both layers from Corollary 3.1."""
    first, second = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)
    measured = np.linalg.svd(path.second[-1], compute_uv=False)
    return highest(float(np.abs(path.values - first).max()), float(np.abs(measured - second).max()))


def evolution_error(path: Path) -> float:
    """Largest distance of the predictor's singular values from Theorem C.12 along the flow; for whitened data."""
    expected = ln.theories.spectral_bias.singular_values(path.modes, path.gamma, path.times)
    return float(np.abs(np.linalg.svd(path.product, compute_uv=False) - expected).max())


def bound_share(path: Path) -> float:
    """With one output, the loss over its bound of Lemma C.8, where that is largest."""
    bound = ln.theories.spectral_bias.convergence_bound(path.solution[0], path.gamma, path.times)
    return float((path.loss / bound).max())


def predicted_across(path: Path) -> float:
    """The part of W1 across the predictor that Corollary 3.1 gives."""
    first = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)[0]
    return float(np.sqrt((first[1:] ** 2).sum() / (first**2).sum()))


def regression_columns(flows: xr.Dataset) -> Columns:
    """Where the flows end, against Theorem 3.1 and Corollary 3.1."""
    rows = by_gamma(read(flows))
    return {
        **_heads(rows),
        "predictor to minimum-norm solution": _worst(rows, lambda path: path.solution_error),
        "singular values to Corollary 3.1": _worst(rows, limit_error),
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
        "sine of a neuron and the predictor, largest": _worst(rows, lambda path: float(path.neuron_sines.max())),
        "loss / bound of Lemma C.8, largest": _worst(rows, bound_share, "{:.2g}"),
    }


def white_columns(flows: xr.Dataset) -> Columns:
    """The whole course of the flows, against Theorems C.11 and C.12."""
    rows = by_gamma(read(flows))
    return {
        **_heads(rows),
        "singular values to Theorem C.12, at all times": _worst(rows, evolution_error),
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


def _table(kind: str, name: str, title: str, columns: Callable[[xr.Dataset], Columns]) -> Table:
    note = (
        "Errors and losses: the largest of the flows; a range where they differ. Ranks count values above a tenth of "
        "the largest."
    )
    return Table(name=name, title=title, sweep=partial(sweep, f"varre-{name}", kind), columns=columns, note=note)


LIMITS = _table(
    "regression",
    "limits",
    "Where the flow ends from orthogonal starts: Theorem 3.1, Corollary 3.1",
    regression_columns,
)
ONE_OUTPUT = _table(
    "scalar", "one-output", "One output: alignment of the neurons, and the loss under its bound", scalar_columns
)
WHITENED = _table(
    "white", "whitened", "Whitened data: the whole course of the singular values (Theorems C.11, C.12)", white_columns
)
GAUSSIAN_STARTS = _table(
    "gaussian", "gaussian-starts", "Gaussian starts: which standard deviation gives rank 3", gaussian_columns
)
FLOWS = {"regression": LIMITS, "scalar": ONE_OUTPUT, "white": WHITENED, "gaussian": GAUSSIAN_STARTS}
