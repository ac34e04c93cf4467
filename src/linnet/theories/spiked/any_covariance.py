"""The directions and the late rate of the two phases, for any covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import real_array, representable, symmetric


@representable
def late_rate(covariance: ArrayLike, target: ArrayLike) -> float:
    r"""Return the rate at which a network with one output approaches its target late in training.

    It holds for a small initialization and any covariance. For one spike, `TwoPhase.late_rate` is explicit.

    $$ \lambda_{min}\big(|\beta|\,\Sigma (I + \beta\beta^T/|\beta|^2)\big) $$

    over the eigenvectors of the covariance on which the target has a part. The predictor q follows
    $\dot q = |q|(I + \hat q\hat q^T)\Sigma(\beta - q)$, and the matrix is that of this equation at $q = \beta$.

    **Arguments:**

    - `covariance`: covariance $\Sigma$, (input, input), positive semi-definite
    - `target`: target $\beta$, (input,) or (1, input)

    **Returns** the rate r: errors fall as $e^{-rt}$ and the loss as $e^{-2rt}$.

    **Valid when** the initialization is small, so that eigenvectors without a part in the target never grow.

    **Reference:** own result, in place of the $\lambda_2$ of Watanabe et al., below (20) and section 5.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spiked import TwoPhase, late_rate
        >>> round(late_rate(np.diag([21.0, 1.0]), [0.3, np.sqrt(0.91)]), 4), round(TwoPhase(20.0, 0.3).lambda2, 4)
        (1.8283, 1.4483)
    """
    sigma, beta = symmetric("covariance", covariance), real_array("target", target, ndim=(1, 2)).ravel()
    if sigma.shape != (beta.size, beta.size):
        raise ValueError(f"`covariance` must be (d, d) for a target of d entries: got {sigma.shape} and {beta.size}.")
    largest, size = np.abs(sigma).max(), np.abs(beta).max()
    if not largest > 0 or not size > 0 or not (sigma @ beta).any():
        raise ValueError("`target` must correlate with the inputs: covariance @ target is zero, so nothing is learned.")
    values, vectors = np.linalg.eigh(sigma / largest)
    if values[0] < -1e-10:
        raise ValueError(
            f"`covariance` must be positive semi-definite: its minimum eigenvalue is {values[0] * largest:.3g}."
        )
    parts = vectors.T @ (beta / size)
    groups = np.concatenate([[0], np.cumsum(np.diff(values) > 1e-10)])  # equal eigenvalues count as one direction
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    overlaps = np.sqrt(np.bincount(groups, weights=parts**2))
    kept = (overlaps > 1e-12 * overlaps.max()) & (means > 1e-14)
    unit = overlaps[kept] / np.linalg.norm(overlaps)
    root = np.sqrt(means[kept])
    matrix = np.diag(means[kept]) + np.outer(root * unit, root * unit)
    return float(np.linalg.eigvalsh(matrix)[0] * largest * np.linalg.norm(beta))
