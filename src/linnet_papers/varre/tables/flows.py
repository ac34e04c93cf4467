"""The four tables of gradient flows: where they end from orthogonal and from Gaussian starts, with one output, and on
whitened data. A column has an entry for each gamma."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.reproduction.table import Table, trial_sweep
from linnet_papers.varre.settings import FLOW_GRIDS, INPUTS, OUTPUTS, WIDTH
from linnet_papers.varre.training import flows as networks
from linnet_papers.varre.training.path import Path, by_gamma, read

Column = Callable[[list[Path]], str]  # from the flows of one gamma to their entry


def sweep(trial: Trial, *, name: str, kind: str) -> ln.sweeps.Sweep:
    """Return the sweep over the flows of one kind: every gamma on the same data sets, those of one gamma in a block."""
    gammas, replicates = FLOW_GRIDS[kind][trial.quick]
    axes = {"gamma": gammas, "replicate": range(replicates)}
    fixed = {"kind": kind, "seed": trial.seed}
    return trial_sweep(trial, f"varre-{name}", networks.flow_cells, axes, fixed=fixed, together="replicate")


def flow_table(kind: str, *, name: str, title: str, columns: dict[str, Column], gamma: str = "gamma") -> Table:
    """Return the table of one kind of flow; its rows are `Path`s."""
    return Table(
        name=name,
        title=title,
        sweep=partial(sweep, name=name, kind=kind),
        read=partial(read, outputs=1 if kind == "scalar" else OUTPUTS),
        split=lambda paths: by_gamma(paths).values(),
        columns={
            gamma: lambda row: f"{row[0].gamma:g}",
            "flows": lambda row: str(len(row)),
            "final loss": worst_column(lambda path: path.loss[-1], "{:.0e}"),
            **columns,
        },
        note="Errors and losses: the largest of the flows; a range where they differ. Ranks count values above a tenth "
        "of the largest.",
    )


def worst_column(of: Callable[[Path], Any], form: str = "{:.1e}") -> Column:
    """Return the column with the largest value of each gamma."""
    return lambda row: form.format(highest(of(path) for path in row))


def range_column(of: Callable[[Path], Any], form: str = "{:.2g}") -> Column:
    """Return the column with the least and the largest value of each gamma, once if they read the same."""

    def column(row: list[Path]) -> str:
        low, high = (form.format(end(of(path) for path in row)) for end in (lowest, highest))
        return low if low == high else f"{low} to {high}"

    return column


def predicted_final_values(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the final singular values of both layers by Corollary 3.1."""
    return ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)


def limit_error(path: Path) -> float:
    """Return the largest distance of the final singular values of both layers from Corollary 3.1."""
    first, second = predicted_final_values(path)
    measured = np.linalg.svd(path.second[-1], compute_uv=False)
    return highest(np.abs(path.values - first).max(), np.abs(measured - second).max())


def predicted_excess(path: Path) -> float:
    """Return the squared norms of both layers over twice the nuclear norm of the solution, minus 1, by Corollary
    3.1."""
    return float(sum((layer**2).sum() for layer in predicted_final_values(path)) / (2 * path.modes.sum()) - 1)


def predicted_across(path: Path) -> float:
    """Return the part of W1 across the predictor that Corollary 3.1 gives."""
    first = predicted_final_values(path)[0]
    return float(np.sqrt((first[1:] ** 2).sum() / (first**2).sum()))


def predicted_fourth_over_first_value(path: Path) -> float:
    """Return sigma_4/sigma_1 of W1 by Corollary 3.1, at the effective gamma."""
    first = predicted_final_values(path)[0]
    return float(first[OUTPUTS] / first[0])


def evolution_error(path: Path) -> float:
    """Return the largest distance of the predictor's singular values from Theorem C.12 along the flow; for whitened
    data."""
    expected = ln.theories.spectral_bias.singular_values(path.modes, path.gamma, path.times)
    return float(np.abs(np.linalg.svd(path.product, compute_uv=False) - expected).max())


def loss_over_bound(path: Path) -> float:
    """Return, with one output, the loss over its bound of Lemma C.8, where that is largest."""
    bound = ln.theories.spectral_bias.convergence_bound(path.solution[0], path.gamma, path.times)
    return float((path.loss / bound).max())


LIMITS = flow_table(
    "regression",
    name="limits",
    title="Where the flow ends from orthogonal starts: Theorem 3.1, Corollary 3.1",
    columns={
        "predictor to minimum-norm solution": worst_column(lambda path: path.solution_error),
        "singular values to Corollary 3.1": worst_column(limit_error),
        "squared norms / 2 nuclear norms - 1": worst_column(lambda path: path.nuclear_norm_excess),
        "the same by Corollary 3.1": worst_column(predicted_excess),
        "rank of W1": range_column(lambda path: path.rank, "{:.0f}"),
        "turn of singular vectors (sine)": range_column(lambda path: path.largest_turn),
    },
)
ONE_OUTPUT = flow_table(
    "scalar",
    name="one-output",
    title="One output: alignment of the neurons, and the loss under its bound",
    columns={
        "predictor to minimum-norm solution": worst_column(lambda path: path.solution_error),
        "part of W1 across the predictor": range_column(lambda path: path.share_across),
        "the same by Corollary 3.1": range_column(predicted_across),
        "sine of a neuron and the predictor, largest": worst_column(lambda path: path.neuron_sines.max()),
        "loss / bound of Lemma C.8, largest": worst_column(loss_over_bound, "{:.2g}"),
    },
)
WHITENED = flow_table(
    "white",
    name="whitened",
    title="Whitened data: the whole course of the singular values (Theorems C.11, C.12)",
    columns={
        "singular values to Theorem C.12, at all times": worst_column(evolution_error),
        "turn of singular vectors (sine)": worst_column(lambda path: path.largest_turn),
    },
)
GAUSSIAN_STARTS = flow_table(
    "gaussian",
    name="gaussian-starts",
    title="Gaussian starts: which standard deviation gives rank 3",
    gamma="effective gamma",
    columns={  # the fourth singular value decides the rank
        "std of W1(0)": lambda row: f"{np.sqrt(2 * row[0].gamma / WIDTH):g}",
        "rank of W1": range_column(lambda path: path.rank, "{:.0f}"),
        "rank 3": lambda row: f"{sum(path.rank == OUTPUTS for path in row)} of {len(row)}",
        "σ4/σ1": range_column(lambda path: path.values[3] / path.values[0]),
        "the same by Corollary 3.1": range_column(predicted_fourth_over_first_value),
    },
)
