"""The curvature of the loss in the weights: the largest eigenvalues of its Hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from linnet._arguments import count as whole_number
from linnet._arguments import refuse_infinite, representable
from linnet.inits.weights import Weights, check_weights, product_of
from linnet.problems.problem import Problem, squared_loss
from linnet.reductions.reduction import check_match, reduce, refuse_diverged

MAX_DENSE = 400  # weights, up to which the Hessian is formed


@representable
def sharpness(problem: Problem, weights: Weights, count: int = 1) -> Float[np.ndarray, "*batch eigenvalue"]:
    r"""Return the largest eigenvalues of the Hessian of the training loss with respect to all weights, at any depth.

    Gradient descent with a constant learning rate $\eta$ is stable at a minimum if the largest eigenvalue is below
    $2/\eta$. During a run with a large learning rate it tends to rise to that value (the edge of stability). For a
    learning rate that is safe over a whole run, use `trainers.stable_learning_rate`.

    With $A_l = W_L \cdots W_{l+1}$, $B_l = W_{l-1} \cdots W_1$ and $\delta A = \sum_l A_l\,\delta_l B_l$, the Hessian
    maps $\delta$ to $A_l^T (\delta A\,\Sigma) B_l^T - \delta(A_l)^T R B_l^T - A_l^T R\,\delta(B_l)^T$.

    **Arguments:**

    - `problem`: learning problem with the squared loss
    - `weights`: weights of the network, at any depth; leading axes are networks or times
    - `count`: number of eigenvalues

    **Returns** the eigenvalues, largest first, (..., count). The width of two layers does not affect the cost:
    the Hessian of the reduced network has the same eigenvalues, except that each hidden unit left out adds plus and
    minus the singular values of the residual, which are known.

    **Example:**

        >>> import linnet as ln
        >>> problem = ln.Problem.from_target([[2.0]])
        >>> ln.observables.sharpness(problem, ln.Weights([[1.0]], [[1.0]]), 2).round(6).tolist()
        [1.0, 1.0]
        >>> run = ln.gradient_flow(problem, ln.Weights([[1.0]], [[1.0]]), times=[0.0, 10.0])
        >>> ln.observables.sharpness(problem, run.weights).round(6).tolist()
        [[1.0], [4.0]]
    """
    problem = squared_loss(problem)
    weights = check_weights(weights)
    lead = weights.first.shape[:-2]
    single = weights[(0,) * len(lead)] if lead else weights
    check_match(problem, single, any_depth=True)
    refuse_diverged("weights", weights)
    number = whole_number("count", count, most=sum(layer.size for layer in single.layers))
    found = np.empty((*lead, number))
    for index in np.ndindex(lead):
        found[index] = _largest(problem, weights[index] if lead else weights, number)
    return found


def _largest(problem: Problem, weights: Weights, count: int) -> np.ndarray:
    """Return the largest eigenvalues for one network."""
    refuse_infinite(weights.product)
    others = np.zeros(0)
    if weights.depth == 2:
        reduction = reduce(problem, weights)
        units = weights.width - reduction.weights.width
        problem, weights = reduction.problem, reduction.weights
        if units:  # each unit outside of the span has weights that the residual alone couples: its singular values
            values = np.linalg.svd(problem.residual(weights.product), compute_uv=False)
            others = np.repeat(values, min(units, count))
        missing = count - sum(layer.size for layer in weights.layers) - others.size
        others = np.concatenate([others, np.zeros(max(missing, 0))])  # along inputs that the data never touch
    layers = weights.layers
    size = sum(layer.size for layer in layers)
    matvec = _hessian_product(problem, layers)
    if size <= MAX_DENSE or 2 * count >= size:
        own = np.linalg.eigvalsh(np.stack([matvec(unit) for unit in np.eye(size)]))
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        start = np.random.default_rng(0).standard_normal(size)
        operator = LinearOperator((size, size), matvec=matvec, dtype=float)
        own = eigsh(operator, k=count, which="LA", v0=start, return_eigenvectors=False)
    return np.sort(np.concatenate([own, others]))[::-1][:count]


def _hessian_product(problem: Problem, layers: Sequence[np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Return the Hessian as a function of all weights in one row."""
    depth, sides = len(layers), [layer.shape for layer in layers]
    ends = np.cumsum([layer.size for layer in layers])[:-1]
    below = [np.eye(layers[0].shape[1])]
    for layer in layers[:-1]:
        below.append(layer @ below[-1])
    above = [np.eye(layers[-1].shape[0])]
    for layer in reversed(layers[1:]):
        above.insert(0, above[0] @ layer)
    residual = problem.residual(product_of(layers))

    def curved(product: np.ndarray) -> np.ndarray:
        return product if problem.whitened else product @ problem.cov

    def matvec(entries: np.ndarray) -> np.ndarray:
        moves = [part.reshape(side) for part, side in zip(np.split(entries.ravel(), ends), sides, strict=True)]
        below_moves = [np.zeros_like(below[0])]  # of the products below each layer
        for index in range(depth - 1):
            below_moves.append(moves[index] @ below[index] + layers[index] @ below_moves[-1])
        above_moves = [np.zeros_like(above[-1])]
        for index in range(depth - 1, 0, -1):
            above_moves.insert(0, above[index] @ moves[index] + above_moves[0] @ layers[index])
        turned = curved(moves[-1] @ below[-1] + layers[-1] @ below_moves[-1])
        parts = [
            above[i].T @ turned @ below[i].T
            - above_moves[i].T @ residual @ below[i].T
            - above[i].T @ residual @ below_moves[i].T
            for i in range(depth)
        ]
        return np.concatenate([part.ravel() for part in parts])

    return matvec
