"""Ridge regression with its penalty chosen by leave-one-out, from the one decomposition of the rows."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet.forecasts._rows import Rows

PENALTIES = np.geomspace(1e-6, 1e6, 37)  # per row


def ridge_by_leave_one_out(rows: Rows) -> tuple[float, Float[np.ndarray, "output input"]]:
    r"""Return the penalty per row of least leave-one-out error, and the coefficients of ridge regression at it.

    The residual of a row that is left out is its residual over $1 - h$, with $h$ its leverage.
    """
    left, scales, right = rows.svd
    seen = left.T @ rows.outputs
    variances = scales[:, None] ** 2
    shares = variances / (variances + PENALTIES)  # direction, penalty
    kept = np.maximum(1 - left**2 @ shares, np.finfo(float).eps)
    errors = np.zeros(len(PENALTIES))
    for output, along in zip(rows.outputs.T, seen.T, strict=True):
        residuals = (output[:, None] - left @ (shares * along[:, None])) / kept
        errors += (residuals**2).mean(axis=0)
    best = int(np.argmin(errors))
    filtered = scales / (scales**2 + PENALTIES[best])
    return float(PENALTIES[best]), ((right.T * (filtered / np.sqrt(len(left)))) @ seen).T
