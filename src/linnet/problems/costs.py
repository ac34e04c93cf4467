"""Two costs beyond the square loss, as examples of `Problem.from_cost`: matrix completion, logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import real_array
from linnet._memory import check_fits
from linnet.problems.problem import Problem


def matrix_completion(values: ArrayLike, mask: ArrayLike, *, truth: ArrayLike | None = None) -> Problem:
    r"""Make the problem of completing a matrix from some of its entries.

    The cost is $C(A) = \tfrac12 \sum_{ij} m_{ij} (A_{ij} - y_{ij})^2$, with the observations $y$ and the mask $m$.
    Without missing entries, `Problem.from_target` is faster and has closed forms.

    **Arguments:**

    - `values`: observations, (output, input); entries outside the mask are ignored
    - `mask`: mask of the observed entries, 1 or True if observed, (output, input)
    - `truth`: signal $A^*$, (output, input); the test loss is then $\tfrac12 |A - A^*|_F^2$ over all entries

    **Returns** a `Problem` with this cost.

    **Example:**

        >>> from linnet.problems import matrix_completion
        >>> problem = matrix_completion([[1.0, 9.0], [9.0, 1.0]], [[1, 0], [0, 1]])
        >>> problem.loss([[1.0, 0.0], [0.0, 3.0]])  # the entry that is 3 was observed as 1
        2.0
    """
    seen, given = real_array("mask", mask, ndim=2), real_array("values", values, ndim=2, finite=False)
    if not np.isin(seen, (0, 1)).all():
        raise ValueError(f"`mask` must be a matrix of zeros and ones: got {seen[~np.isin(seen, (0, 1))][0]:g} in it.")
    if not seen.any():
        raise ValueError("`mask` must have at least one observed entry: all are zero.")
    if given.shape != seen.shape:
        raise ValueError(f"`values` and `mask` must have one shape: got {given.shape} and {seen.shape}.")
    observed, weights = real_array("values", np.where(seen, given, 0.0)), seen

    def cost(product: Any) -> Any:
        # constants follow the precision of the product, so that a float32 run stays one
        return 0.5 * (weights.astype(product.dtype) * (product - observed.astype(product.dtype)) ** 2).sum()

    return Problem.from_cost(cost, in_dim=seen.shape[1], out_dim=seen.shape[0], truth=truth)


def logistic(inputs: ArrayLike, labels: ArrayLike, *, truth: ArrayLike | None = None) -> Problem:
    r"""Make a classification problem with the mean logistic loss, for two or more classes.

    Use it with the trainers or with `theories.lazy_active.integrate`; the other formulas of linnet are for the squared
    loss.

    - Two classes, labels -1 and 1: one output, and $C(A) = \frac1n \sum_i \log(1 + e^{-y_i A x_i})$.
    - $k > 2$ classes, labels 0 to k - 1: k outputs, and
      $C(A) = \frac1n \sum_i \big(\log \sum_c e^{A_c x_i} - A_{y_i} x_i\big)$.

    **Arguments:**

    - `inputs`: inputs, (sample, input)
    - `labels`: class labels: -1 and 1, or 0 to k - 1 for k > 2 classes, (sample,)
    - `truth`: signal with which the test loss compares, (output, input)

    **Returns** a `Problem` with this cost.

    **Example:**

        >>> from linnet.problems import logistic
        >>> problem = logistic([[1.0], [-1.0]], [1, -1])
        >>> round(problem.loss([[0.0]]), 4), bool(problem.loss([[5.0]]) < 0.01)  # ln 2 without a decision
        (0.6931, True)
    """
    points = real_array("inputs", inputs, ndim=2)
    classes = real_array("labels", labels)
    if classes.shape != (points.shape[0],):
        raise ValueError(
            f"`labels` must be one per row of `inputs`: got shape {classes.shape} for {points.shape[0]} rows."
        )
    kinds = np.unique(classes)
    if set(kinds.tolist()) <= {-1, 1}:
        signed = (points * classes[:, None]).astype(np.float64)

        def cost(product: Any) -> Any:
            import jax.numpy as jnp

            return jnp.logaddexp(0, -(signed.astype(product.dtype) @ product[0])).mean()

        return Problem.from_cost(cost, in_dim=points.shape[1], out_dim=1, truth=truth)
    total = int(kinds.max()) + 1
    check_fits(
        8 * min(total, 10**300) * len(points), f"labels of {kinds.max():g} classes", "Number the `labels` 0 .. k-1."
    )
    if kinds.min() < 0 or not np.equal(np.mod(classes, 1), 0).all() or total < 3:
        raise ValueError(f"`labels` must be -1 and 1, or whole numbers 0 .. k-1 with k > 2: got {kinds[:8]}.")
    own = np.arange(len(points)), classes.astype(np.int64)

    def multinomial(product: Any) -> Any:
        from jax.scipy.special import logsumexp

        scores = points.astype(product.dtype) @ product.T
        return (logsumexp(scores, axis=1) - scores[own]).mean()

    return Problem.from_cost(multinomial, in_dim=points.shape[1], out_dim=total, truth=truth)
