"""Moments of data, also given ones: checked, symmetric, and read-only."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet._arguments import real_array, symmetric


def moment_of(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """E[left right^T] of samples, refused where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        moment = np.swapaxes(left, -1, -2) @ right / right.shape[-2]
    if not np.isfinite(moment).all():
        raise ValueError(
            "the `problem` has samples too large for their moments to be numbers: the largest entries are "
            f"{np.abs(left).max():.3g} and {np.abs(right).max():.3g}. Give `X` and `Y` in larger units."
        )
    return _read_only(moment)


def checked_truth(truth: Any, out_dim: int, in_dim: int) -> np.ndarray | None:
    """The product that a test loss measures against, ([batch,] output, input), or None."""
    if truth is None:
        return None
    array = real_array("truth", truth, ndim=(1, 2, 3))
    array = array[None, :] if array.ndim == 1 else array
    if array.shape[-2:] != (out_dim, in_dim):
        raise ValueError(f"`truth` must be ({out_dim}, {in_dim}), output x input: got shape {np.shape(truth)}.")
    return array


def covariance(name: str, value: Any, dim: int) -> np.ndarray | None:
    """A covariance, ([batch,] dim, dim): symmetric, exactly so where it was to rounding, and positive semi-definite."""
    if value is None:
        return None
    cov = real_array(name, value, ndim=(2, 3))
    if cov.shape[-2:] != (dim, dim):
        raise ValueError(f"`{name}` must be ({dim}, {dim}) to match {dim} inputs: got shape {np.shape(value)}.")
    unit = np.abs(cov).max() or 1.0  # the covariance may be zero
    cov = symmetric(name, cov, ndim=(2, 3))
    try:
        # much faster than eigenvalues, which only the message needs
        np.linalg.cholesky(cov / unit + (1e-10 * dim + np.finfo(float).tiny) * np.eye(dim))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(cov).min())
        raise ValueError(f"`{name}` must be positive semi-definite: its minimum eigenvalue is {least:.3g}.") from None
    return cov


def _read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array
