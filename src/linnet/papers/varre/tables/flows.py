"""What the four tables of gradient flows share: their sweep, and columns with an entry for each gamma."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import linnet as ln
from linnet.papers.varre.networks import flows as networks
from linnet.papers.varre.networks.path import Path, by_gamma, read
from linnet.papers.varre.settings import FLOW_GRIDS, INPUTS, OUTPUTS
from linnet.reproduction import Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.table import Columns, Table, trial_sweep

Rows = dict[float, list[Path]]  # the flows of each gamma


def sweep(trial: Trial, *, name: str, kind: str) -> ln.sweeps.Sweep:
    """Return the flows of one kind: every gamma on the same data sets, those of one gamma in a block."""
    gammas, replicates = FLOW_GRIDS[kind][trial.quick]
    axes, fixed = {"gamma": gammas, "replicate": range(replicates)}, {"kind": kind, "seed": trial.seed}
    return trial_sweep(trial, f"varre-{name}", networks.flow_cells, axes, fixed=fixed, together="replicate")


def table(kind: str, *, name: str, title: str, columns: Callable[[Rows], Columns], gamma: str = "gamma") -> Table:
    """Return the table of one kind of flow; its rows are `Path`s, its columns have one entry for each gamma."""
    paths = partial(read, outputs=1 if kind == "scalar" else OUTPUTS)

    def of_results(results: Dataset) -> Columns:
        rows = by_gamma(paths(results))
        losses = worst(rows, lambda path: float(path.loss[-1]), "{:.0e}")
        heads = {gamma: [f"{one:g}" for one in rows], "flows": [str(len(row)) for row in rows.values()]}
        return {**heads, "final loss": losses, **columns(rows)}

    return Table(
        name=name,
        title=title,
        sweep=partial(sweep, name=name, kind=kind),
        read=paths,
        columns=of_results,
        note="Errors and losses: the largest of the flows; a range where they differ. Ranks count values above a tenth "
        "of the largest.",
    )


def worst(rows: Rows, of: Callable[[Path], float], form: str = "{:.1e}") -> list[str]:
    """Return the largest of each gamma."""
    return [form.format(highest(of(path) for path in row)) for row in rows.values()]


def between(rows: Rows, of: Callable[[Path], float], form: str = "{:.2g}") -> list[str]:
    """Return the least and the largest of each gamma, once if they read the same."""
    ends = [[form.format(end([of(path) for path in row])) for end in (lowest, highest)] for row in rows.values()]
    return [low if low == high else f"{low} to {high}" for low, high in ends]


def final_values(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular values of both layers by Corollary 3.1."""
    return ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)


def limit_error(path: Path) -> float:
    """Return the largest distance of the final singular values of both layers from Corollary 3.1."""
    first, second = final_values(path)
    measured = np.linalg.svd(path.second[-1], compute_uv=False)
    return highest(float(np.abs(path.values - first).max()), float(np.abs(measured - second).max()))


def evolution_error(path: Path) -> float:
    """Return the largest distance of the predictor's singular values from Theorem C.12 along the flow; for whitened
    data."""
    expected = ln.theories.spectral_bias.singular_values(path.modes, path.gamma, path.times)
    return float(np.abs(np.linalg.svd(path.product, compute_uv=False) - expected).max())


def bound_share(path: Path) -> float:
    """With one output, the loss over its bound of Lemma C.8, where that is largest."""
    bound = ln.theories.spectral_bias.convergence_bound(path.solution[0], path.gamma, path.times)
    return float((path.loss / bound).max())
