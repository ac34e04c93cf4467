"""The spectrum of a linear model from samples whose inputs are decomposed already."""

from __future__ import annotations

import numpy as np


def spectrum_from_svd(
    left: np.ndarray, scales: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return eigenvalues, overlaps and noise as `ridge.estimate` does, from an SVD of the n + 1 centered input rows.

    The SVD is of the inputs divided by the root of n: `left` holds its left singular vectors, `scales` its values.
    """
    n, rank = len(left) - 1, len(scales)
    if n <= rank or rank == 0:
        raise ValueError(
            f"`X` must have more samples than directions to show the noise: got {n + 1} samples of {rank} directions."
        )
    explained = (left.T @ outputs).T ** 2 / n  # (output, mode): l_i (beta . u_i)^2
    noise = np.clip((outputs**2).sum(axis=0) - n * explained.sum(axis=1), 0, None) / (n - rank)
    power = explained - noise[:, None] / n
    kept = np.clip(power, 0, None)
    total = kept.sum(axis=1)
    kept *= (np.clip(power.sum(axis=1), 0, None) / np.where(total > 0, total, 1.0))[:, None]
    return scales**2, kept / scales**2, noise
