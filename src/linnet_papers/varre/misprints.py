"""Formulas of Varre et al. as printed, where they differ from ours; `docs/errata.md` says what is wrong with each."""

from __future__ import annotations

import numpy as np


def mirror(values: np.ndarray, gamma: float) -> np.ndarray:
    """Gradient of tr(D asinh(D/gamma)/2 - sqrt(D^2 + gamma^2)), the potential of Theorem 3.2(a): the 1/2 is missing on
    the second term."""
    return 0.5 * np.arcsinh(values / gamma) - 0.5 * values / np.hypot(values, gamma)


def predictor(alpha: np.ndarray) -> np.ndarray:
    """Lemma 3.3: beta = (1 - alpha alpha^T)^-1 alpha, without the factor 2 gamma of Lemma C.2 (output, input)."""
    return np.linalg.solve(np.eye(alpha.shape[0]) - alpha @ alpha.T, alpha)


def discrete_step(
    first: np.ndarray, second: np.ndarray, residual: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Appendix C.1: the second layer moves by W^T a, where W^T R belongs."""
    return first + rate * second.T @ residual, second + rate * second @ first


def commutator_mean(start: float, time: float) -> float:
    """Proposition 4.1(c): the mean size of [z_i, a] is that of the start times e^-t; true of its signed mean alone."""
    return start * float(np.exp(-time))


def scale_constant(dim: int, power: float) -> float:
    """Return the constant c_0 of the proof of Proposition 4.1(b), said to be positive from d = 5 on for every power <
    1."""
    root = np.sqrt(dim)
    return float(root + (power - 1) * (root + 1) ** 2 / (2 * root))


def power_drift(dim: int, power: float, first_square: float, second_square: float) -> tuple[float, float]:
    """Return the drift of (|w|^2 + sqrt(d) a^2)^power by (D.3), with d for the n of its radicals, and its lower bound
    with c_0."""
    root, size = np.sqrt(dim), first_square + np.sqrt(dim) * second_square
    share = first_square * second_square / size**2
    drift = power * size**power * (root + 2 * (power - 1) * (root + 1) ** 2 * share)
    return float(drift), float(power * size**power * scale_constant(dim, power))
