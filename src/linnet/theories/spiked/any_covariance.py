"""The directions and the late rate of the two phases, for any covariance."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
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


@representable
def adapted_basis(covariance: ArrayLike, target: ArrayLike) -> Float[np.ndarray, "2 input"]:
    r"""Return the two directions that a small network with one output learns, one in each phase of training.

    Project the first layer on them to see both phases. For one spike, `TwoPhase.basis` has them in the notation of the
    paper.

    $$ v_1 = \Sigma\beta/|\Sigma\beta|, \qquad v_2 \perp v_1 \text{ in the plane of } \Sigma\beta \text{ and } \beta,
    \quad v_1^T\Sigma v_2 \le 0 $$

    If $\Sigma\beta$ and $\beta$ are parallel, there is no such plane. Then $v_2$ is the coordinate axis that is
    farthest from $v_1$, made orthogonal to it.

    **Arguments:**

    - `covariance`: covariance $\Sigma$, (input, input)
    - `target`: target $\beta$, (input,) or (1, input)

    **Returns** $v_1$ and $v_2$ as rows, (2, input).

    **Reference:** Watanabe et al., section 3.2.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spiked import adapted_basis
        >>> adapted_basis(np.diag([4.0, 3.0]), [1.0, 1.0]).round(2).tolist()
        [[0.8, 0.6], [-0.6, 0.8]]
    """
    sigma, beta = symmetric("covariance", covariance), real_array("target", target, ndim=(1, 2)).ravel()
    if sigma.shape != (beta.size, beta.size) or beta.size < 2:
        raise ValueError(
            f"`covariance` must be (d, d) for a target of d >= 2 entries: got {sigma.shape} and {beta.size}."
        )
    # directions alone: in units in which no square overflows or vanishes
    sigma, beta = (array / largest if (largest := np.abs(array).max()) > 0 else array for array in (sigma, beta))
    correlation = sigma @ beta
    if not correlation.any():
        raise ValueError(
            "`target` must correlate with the inputs: covariance @ target is zero, so there is no direction v1."
        )
    correlation = correlation / np.abs(correlation).max()
    v1 = correlation / np.linalg.norm(correlation)
    rest = beta - v1 * (v1 @ beta)
    if np.linalg.norm(rest) <= 1e-12 * np.linalg.norm(beta):
        rest = np.zeros_like(v1)
        rest[np.argmin(np.abs(v1))] = 1.0
        rest -= v1 * (v1 @ rest)
    rest -= v1 * (v1 @ rest)
    v2 = rest / np.linalg.norm(rest)
    return np.stack([v1, -v2 if v1 @ sigma @ v2 > 0 else v2])
