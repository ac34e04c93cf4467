"""The square loss in the eigenbasis of the inputs, where it is a plain sum of squares.

With $\\Sigma = V \\mathrm{diag}(s^2) V^T$ of rank r (V is d x r) and $G = \\Gamma V \\mathrm{diag}(1/s)$,

$$ L(A) = \\tfrac12 |G - A V \\mathrm{diag}(s)|_F^2 + L_{min}, \\qquad R = -\\partial L/\\partial(AV) = (G - A V s)\\,
s . $$

Computed as the norm of a residual, the loss keeps its digits down to the minimum; the expanded form of the moments
would not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Factor:
    """`scales` s (..., r), `basis` V (..., d, r) or None (identity), `target` G (..., k, r), `floor` L_min (...)."""

    scales: np.ndarray
    basis: np.ndarray | None
    target: np.ndarray
    floor: np.ndarray

    @property
    def rank(self) -> int:
        """The number r of directions in which the inputs vary."""
        return self.scales.shape[-1]


def of_data(inputs: np.ndarray, outputs: np.ndarray) -> Factor:
    """From samples: the thin SVD of X/sqrt(n), never a d x d matrix when n < d."""
    left, scales, right = np.linalg.svd(inputs / np.sqrt(inputs.shape[-2]), full_matrices=False)
    rank = _rank(scales, max(inputs.shape[-2:]) * np.finfo(float).eps)
    return of_svd(left[..., :rank], scales[..., :rank], right[..., :rank, :], outputs)


def of_svd(left: np.ndarray, scales: np.ndarray, right: np.ndarray, outputs: np.ndarray) -> Factor:
    """From samples whose inputs are decomposed, X/sqrt(n) = `left @ diag(scales) @ right`."""
    labels = np.swapaxes(outputs, -1, -2) / np.sqrt(outputs.shape[-2])
    target = labels @ left
    outside = labels - target @ np.swapaxes(left, -1, -2)
    return Factor(scales, np.swapaxes(right, -1, -2), target, 0.5 * (outside**2).sum(axis=(-1, -2)))


def of_moments(cov: np.ndarray, cross: np.ndarray, power: np.ndarray | None) -> Factor:
    """From the moments; refuses a `cross` whose rows leave the range of `cov`."""
    values, vectors = np.linalg.eigh(cov)
    values, vectors = values[..., ::-1], vectors[..., ::-1]
    dim = cov.shape[-1]
    rank = _rank(values, dim * np.finfo(float).eps)
    basis = vectors[..., :rank]
    inside = cross @ basis
    leak = np.linalg.norm(cross - inside @ np.swapaxes(basis, -1, -2), axis=(-1, -2))
    size = np.linalg.norm(cross, axis=(-1, -2))
    if (leak > 1e-7 * size).any():
        share = float(np.max(leak / np.where(size > 0, size, 1)))
        raise ValueError(
            f"`cross` must have its rows in the range of `cov`: a fraction of {share:.2g} of its norm lies outside. "
            "No data have such moments; use `Problem.from_data`, or project `cross` onto the range of `cov`."
        )
    scales = np.sqrt(np.clip(values[..., :rank], 0, None))
    target = np.where(scales[..., None, :] > 0, inside / np.where(scales > 0, scales, 1)[..., None, :], 0.0)
    explained = (target**2).sum(axis=(-1, -2))
    if power is None:
        return Factor(scales, basis, target, np.zeros_like(explained))
    slack = power - explained
    if (slack < -1e-9 * np.maximum(power, explained)).any():
        raise ValueError(
            f"`output_power` must be at least {float(np.max(explained)):.6g}, the power that `cov` and `cross` already "
            f"explain: got {float(np.min(power)):.6g}."
        )
    return Factor(scales, basis, target, 0.5 * np.clip(slack, 0, None))


def _rank(descending: np.ndarray, tolerance: float) -> int:
    """Return how many singular values exceed the tolerance times the largest, the most of any member of a batch."""
    # One rank for a whole batch, the largest: directions of scale zero in the other members do not move, so this is
    # exact.
    top = descending[..., :1]
    return max(1, int((descending > tolerance * top).sum(axis=-1).max()))
