"""The losses of networks that were not trained here."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match


def loss(problem: Problem, weights: Weights) -> float | Float[np.ndarray, " ..."]:
    """The training loss of `weights`, leading axes kept."""
    check_match(problem, weights)
    return problem.loss(weights.product)


def test_loss(problem: Problem, weights: Weights) -> float | Float[np.ndarray, " ..."]:
    """The test loss of `weights` against the problem's truth, leading axes kept."""
    check_match(problem, weights)
    return problem.test_loss(weights.product)


test_loss.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name
