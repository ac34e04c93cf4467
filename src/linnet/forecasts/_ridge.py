"""Ridge regression with its penalty chosen by leave-one-out, from one SVD for all penalties."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

PENALTIES = np.geomspace(1e-6, 1e6, 37)  # per row


def leave_one_out(
    X: Float[np.ndarray, "sample input"], Y: Float[np.ndarray, "sample output"]
) -> tuple[float, Float[np.ndarray, "output input"]]:
    r"""The penalty per row of least leave-one-out error, and the coefficients at it.

    The residual of a row that is left out is its residual over $1 - h$, with $h$ its leverage.
    """
    rows = len(X)
    left, singular, right = np.linalg.svd(X, full_matrices=False)
    keep = singular > (singular[0] if singular.size else 0.0) * max(X.shape) * np.finfo(float).eps
    left, singular, right = left[:, keep], singular[keep], right[keep]
    seen = left.T @ Y
    shares = singular[:, None] ** 2 / (singular[:, None] ** 2 + rows * PENALTIES)  # direction, penalty
    leverages = left**2 @ shares
    errors = []
    for share, leverage in zip(shares.T, leverages.T, strict=True):
        residual = (Y - left @ (share[:, None] * seen)) / np.maximum(1 - leverage, np.finfo(float).eps)[:, None]
        errors.append(float((residual**2).mean()))
    best = int(np.argmin(errors))
    coefficients = (right.T * (shares[:, best] / singular)) @ seen
    return float(PENALTIES[best]), coefficients.T
