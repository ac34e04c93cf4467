"""The four grids of gradient flows: the regression, one output, whitened data, and Gaussian initializations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.fits import highest
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.varre.settings import FLOW_GRIDS, INPUTS, OUTPUTS
from linnet_papers.varre.training import flows as networks
from linnet_papers.varre.training.path import Path, read


def _cells(name: str, kind: str) -> Callable[[Trial], Dataset]:
    """Return the function that trains flows of one kind: every gamma on the same data sets, those of one gamma in a
    block."""

    @trained
    def cells(trial: Trial) -> ln.sweeps.Sweep:
        gammas, replicates = FLOW_GRIDS[kind][trial.quick]
        axes = {"gamma": gammas, "replicate": range(replicates)}
        fixed = {"kind": kind, "seed": trial.seed}
        return trial_sweep(trial, f"varre-{name}", networks.flow_cells, axes, fixed=fixed, together="replicate")

    return cells


regression_cells = _cells("limits", "regression")
one_output_cells = _cells("one-output", "scalar")
whitened_cells = _cells("whitened", "white")
gaussian_cells = _cells("gaussian-starts", "gaussian")


def regression(trial: Trial) -> list[Path]:
    """Return the flows from orthogonal layers in the regression of the paper."""
    return read(regression_cells(trial), outputs=OUTPUTS)


def one_output(trial: Trial) -> list[Path]:
    """Return the flows from orthogonal layers with one output."""
    return read(one_output_cells(trial), outputs=1)


def whitened(trial: Trial) -> list[Path]:
    """Return the flows from orthogonal layers on whitened data."""
    return read(whitened_cells(trial), outputs=OUTPUTS)


def gaussian(trial: Trial) -> list[Path]:
    """Return the flows from a Gaussian first layer in the regression of the paper."""
    return read(gaussian_cells(trial), outputs=OUTPUTS)


def limit_error(path: Path) -> float:
    """Return the largest distance of the final singular values of both layers from Corollary 3.1."""
    first, second = ln.theories.spectral_bias.final_singular_values(path.modes, path.gamma, INPUTS)
    measured = np.linalg.svd(path.second[-1], compute_uv=False)
    return highest(np.abs(path.values - first).max(), np.abs(measured - second).max())


def evolution_error(path: Path) -> float:
    """Return the largest distance of the predictor's singular values from Theorem C.12 along the flow; for whitened
    data."""
    expected = ln.theories.spectral_bias.singular_values(path.modes, path.gamma, path.times)
    return float(np.abs(np.linalg.svd(path.product, compute_uv=False) - expected).max())


def loss_over_bound(path: Path) -> float:
    """Return, with one output, the loss over its bound of Lemma C.8, where that is largest."""
    bound = ln.theories.spectral_bias.convergence_bound(path.solution[0], path.gamma, path.times)
    return float((path.loss / bound).max())
