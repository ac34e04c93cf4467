"""Which step sizes are stable."""

from __future__ import annotations

import numpy as np

from linnet._arguments import representable
from linnet.inits.weights import Weights, check_weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, refuse_diverged


@representable
def stable_learning_rate(problem: Problem, weights: Weights) -> float | None:
    r"""Return a learning rate at which gradient descent is stable at its beginning and at its end.

    It is safe rather than large. `forecasts.largest_stable_rate` finds the boundary by training.

    Descent is stable if the learning rate is below 2 over the largest curvature. This curvature is at most
    $\lambda_{max}(\Sigma)(|W_1|^2 + |W_2|^2)$ plus the norm of the residual. At the end the layers satisfy
    $|W_i|^2 \le (m + \sqrt{m^2 + 4a^2})/2$, where $m$ is the norm of the conserved imbalance and $a$ the norm of the
    solution. The function computes this bound at the beginning
    and at the end, and returns 1 over the larger one, which is half of the limit. For deeper networks both curvatures
    are bounded by the norms of the layers, at the end by $|W_l|^2 + |A_*|^{2/L}$.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights, at any depth

    **Returns** a step size, half of the limit; None for a general cost.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import stable_learning_rate
        >>> start = ln.inits.balanced([[1e-3]])
        >>> round(float(stable_learning_rate(ln.Problem.from_target([[2.0]]), start)), 3)  # the curvature ends at 2 x 2
        0.25
    """
    check_match(problem, weights, any_depth=True)
    refuse_diverged("weights", weights)
    if problem.cost is not None:
        return None
    norms = np.array([_spectral_norm(layer) for layer in check_weights(weights).layers])
    f = problem.factor
    top = float((f.scales**2).max())
    solution = _spectral_norm(problem.min_norm_solution())
    target = _spectral_norm(f.target * f.scales[..., None, :])
    if weights.depth > 2:
        start = _curvature_bound(norms, top, target + top * float(np.prod(norms)))
        end = _curvature_bound(np.hypot(norms, solution ** (1 / weights.depth)), top, 0.0)
    else:
        first, second = (float(norm) ** 2 for norm in norms)
        bound = max(first, second)  # of the imbalance, without forming a hidden x hidden matrix
        start = top * (first + second) + (target + float(np.sqrt(first * second)) * top)
        end = top * float(bound + np.hypot(bound, 2 * solution))
    if not max(start, end) > 0:
        raise ValueError("`problem` or `weights` must not be zero: nothing moves, and every step size is stable.")
    return 1.0 / max(start, end)


def _spectral_norm(matrices: np.ndarray) -> float:
    """Return the largest singular value of a matrix, or of all matrices of a batch."""
    return float(np.linalg.norm(matrices, ord=2, axis=(-2, -1)).max())


def _curvature_bound(norms: np.ndarray, top: float, residual: float) -> float:
    """Return a bound on the curvature of the loss from the layers' norms: the kernel's part, and the residual's."""
    kernel = sum(float(np.prod(np.delete(norms, at))) ** 2 for at in range(norms.size))
    pairs = sum(float(np.prod(np.delete(norms, [i, j]))) for i in range(norms.size) for j in range(i))
    return top * kernel + residual * pairs
