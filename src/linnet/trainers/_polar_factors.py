"""The polar factor U V^T of a matrix U S V^T: by its singular values, or by the iterations of Muon."""

from __future__ import annotations

import jax.numpy as jnp

from linnet.trainers._states import Array

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of Muon's odd polynomial, applied to all singular values at once
NEAR_CUTOFF = 100.0  # factor on either side of the cutoff within which rounding may decide


def polar_factor(matrix: Array) -> tuple[Array, Array]:
    """Return U V^T over the singular values above `cutoff` of the largest, and all of them over the largest.

    The factor is discontinuous where a singular value vanishes. A matrix of low rank has some at the size of rounding:
    these must not be turned into ones.
    """
    left, values, right = jnp.linalg.svd(matrix, full_matrices=False)
    largest = values[..., :1]
    relative = values / jnp.where(largest > 0, largest, 1.0)
    kept = (relative > cutoff(matrix)).astype(matrix.dtype)
    return (left * kept) @ right, relative


def near_cutoff(relative: Array) -> Array:
    """Return whether any of some singular values, over the largest, is near the cutoff."""
    least = cutoff(relative)
    return jnp.any((relative > least / NEAR_CUTOFF) & (relative < least * NEAR_CUTOFF))


def cutoff(array: Array) -> Array:
    """Return the fraction of the largest singular value below which others count as zero."""
    return jnp.sqrt(jnp.finfo(array.dtype).eps).astype(array.dtype)


def newton_schulz(matrix: Array, steps: int, eps: float) -> Array:
    """Return about U V^T: all singular values are brought between 0.7 and 1.2, unless they are far below the norm.

    Each iteration maps them by the odd polynomial a s + b s^3 + c s^5, written with the smaller Gram matrix.
    """
    a, b, c = COEFFICIENTS
    X = matrix / jnp.maximum(jnp.linalg.norm(matrix), eps)
    tall = X.shape[-2] > X.shape[-1]
    X = X.T if tall else X
    for _ in range(steps):
        gram = X @ X.T
        X = a * X + (b * gram + c * gram @ gram) @ X
    return X.T if tall else X
