"""The losses of networks that were not trained here."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import representable
from linnet.inits.weights import Weights, check_weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match


@representable
def loss(problem: Problem, weights: Weights) -> float | Float[np.ndarray, " ..."]:
    """Return the training loss of a network.

    Use it for weights that linnet did not train. The losses of a run are `run.loss`.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: weights of the network; leading axes are kept

    **Returns** $L(W_L \\cdots W_1)$, a number or (...).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import loss
        >>> loss(ln.Problem.from_target([[3.0]]), ln.Weights([[1.0]], [[1.0]]))
        2.0
    """
    check_match(problem, weights, any_depth=True)
    return problem.loss(_finite_product(weights))


@representable
def test_loss(problem: Problem, weights: Weights) -> float | Float[np.ndarray, " ..."]:
    r"""Return the test loss of a network, the distance to the ground truth of the problem.

    It needs `problem.truth`. For data without a known signal, use held-out samples (`Problem.with_validation`).

    **Arguments:**

    - `problem`: learning problem with a `truth`
    - `weights`: weights of the network; leading axes are kept

    **Returns** $\tfrac12 \mathrm{tr}\,(A - A^*)\Sigma_{test}(A - A^*)^T$, a number or (...).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import test_loss
        >>> test_loss(ln.Problem.from_target([[3.0]], truth=[[2.0]]), ln.Weights([[1.0]], [[1.0]]))
        0.5
    """
    check_match(problem, weights, any_depth=True)
    if problem.truth is None:
        raise ValueError("`problem` must have a `truth` for a test loss: give it when the problem is made.")
    return problem.test_loss(_finite_product(weights))


def _finite_product(weights: Weights) -> np.ndarray:
    """Return the product of the weights, refused where it is not finite."""
    product = check_weights(weights).product
    if not np.isfinite(product).all():
        raise ValueError("`weights` must have a finite product: its entries are NaN or beyond the range of float64.")
    return product


test_loss.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name
