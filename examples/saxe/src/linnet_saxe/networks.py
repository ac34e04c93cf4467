"""What is trained: networks whose layers are decoupled into modes, and networks from small random weights."""

from collections.abc import Sequence

import numpy as np

import linnet as ln
from linnet_saxe.settings import INPUTS, OUTPUTS, STRENGTHS, WIDTH


def task(seed: int, strengths: Sequence[float] = STRENGTHS) -> tuple[ln.Problem, np.ndarray, np.ndarray]:
    """Whitened inputs and a target of these singular values in random directions; with its singular vectors."""
    random = np.random.default_rng(seed)
    left = np.linalg.qr(random.standard_normal((OUTPUTS, OUTPUTS)))[0][:, : len(strengths)]
    right = np.linalg.qr(random.standard_normal((INPUTS, INPUTS)))[0][:, : len(strengths)]
    return ln.Problem.from_target((left * np.asarray(strengths)) @ right.T), left, right


def decoupled(left: np.ndarray, right: np.ndarray, first: np.ndarray, second: np.ndarray, seed: int) -> ln.Weights:
    """Layers of the paper's start: mode i has strength `first[i]` in the first layer and `second[i]` in the second."""
    random = np.random.default_rng([seed, 1])
    hidden = np.linalg.qr(random.standard_normal((WIDTH, WIDTH)))[0][:, : len(first)]
    return ln.Weights((hidden * first) @ right.T, (left * second) @ hidden.T)


def random_start(seed: int, std: float) -> ln.Weights:
    """Independent Gaussian weights in both layers."""
    return ln.inits.gaussian(key=seed, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH, stds=std)


def mode_strengths(
    problem: ln.Problem, left: np.ndarray, right: np.ndarray, weights: ln.Weights, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient flow in the target's singular basis: the modes (time, mode), and the rest of that matrix (time,)."""
    run = ln.gradient_flow(problem, weights, times=times)
    inside = np.einsum("ki,tkd,dj->tij", left, run.products, right)
    modes = np.einsum("tii->ti", inside)
    rest = inside - modes[:, :, None] * np.eye(modes.shape[1])
    return modes, np.abs(rest).max(axis=(1, 2))
