"""What the two layers have to do with each other: imbalance and alignment."""

from __future__ import annotations

import functools

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import real_array, representable
from linnet.inits.weights import Weights, check_two_layers
from linnet.trajectories.trajectory import Trajectory, check_trajectory


@representable
def imbalance(weights: Weights) -> Float[np.ndarray, "*batch hidden hidden"]:
    """The imbalance of the layers, conserved by gradient flow.

    $$ M = W_1 W_1^T - W_2^T W_2 $$

    **Arguments:**

    - `weights`: of the network

    **Returns** $M$, (..., hidden, hidden).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import imbalance
        >>> imbalance(ln.Weights([[2.0]], [[1.0]])).tolist()
        [[3.0]]
    """
    return check_two_layers(weights).imbalance


def imbalance_drift(trajectory: Trajectory) -> Float[np.ndarray, "time ..."]:
    """How far a run has moved the imbalance, which gradient flow conserves.

    $$ |M(t) - M(0)|_F / (|W_1|_F^2 + |W_2|_F^2)(t) $$

    Deeper networks conserve one matrix for each hidden layer; the norms are then over all of them. Measured in reduced
    coordinates, where it is the same number.

    **Arguments:**

    - `trajectory`: a run that kept its weights

    **Returns** the drift at every saved state, (time, ...); zero for the flow, of the order of the step for descent.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import imbalance_drift
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.1]])
        >>> drifts = []
        >>> for rate, steps in ((0.1, 40), (0.05, 80)):
        ...     drifts.append(imbalance_drift(ln.gradient_descent(problem, start, learning_rate=rate, steps=steps))[-1])
        >>> bool(0.4 < drifts[1] / drifts[0] < 0.6)  # half the step, half the drift
        True
    """
    check_trajectory(trajectory)
    states = trajectory.reduced
    pairs = zip(states.imbalances, trajectory.reduction.weights.imbalances, strict=True)
    moved = functools.reduce(np.hypot, [np.linalg.norm(now - then, axis=(-2, -1)) for now, then in pairs])
    size = np.asarray(sum((layer**2).sum(axis=(-2, -1)) for layer in states.layers))
    return moved / np.where(size > 0, size, 1.0)


@representable
def mode_alignment(weights: Weights, left: ArrayLike, right: ArrayLike) -> Float[np.ndarray, "*batch mode"]:
    r"""How aligned the layers are in each mode, between -1 and 1.

    $$ \frac{u_i^T W_2 W_1 v_i}{|W_2^T u_i|\,|W_1 v_i|} $$

    **Arguments:**

    - `weights`: of the network
    - `left`: $u_i$, (output, mode)
    - `right`: $v_i$, (input, mode)

    **Returns** (..., mode); zero where a layer does not reach the mode.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import mode_alignment
        >>> weights = ln.Weights([[1.0], [1.0]], [[1.0, 0.0]])
        >>> mode_alignment(weights, [[1.0]], [[1.0]]).round(4).tolist()
        [0.7071]
    """
    weights = check_two_layers(weights)
    U, V = real_array("left", left, ndim=(1, 2)), real_array("right", right, ndim=(1, 2))
    U, V = (vectors[:, None] if vectors.ndim == 1 else vectors for vectors in (U, V))
    if U.shape[0] != weights.out_dim or V.shape[0] != weights.in_dim or U.shape[1] != V.shape[1]:
        raise ValueError(
            f"`left` must be ({weights.out_dim}, mode) and `right` ({weights.in_dim}, mode): got {U.shape} and "
            f"{V.shape}."
        )
    back, forth = (_unit_columns(part) for part in (np.swapaxes(weights.second, -1, -2) @ U, weights.first @ V))
    norms = np.linalg.norm(back, axis=-2) * np.linalg.norm(forth, axis=-2)
    return np.divide((back * forth).sum(axis=-2), norms, out=np.zeros_like(norms), where=norms > 0)


def _unit_columns(vectors: np.ndarray) -> np.ndarray:
    """Each column over its largest entry, so that no square overflows or vanishes."""
    largest = np.abs(vectors).max(axis=-2, keepdims=True)
    return np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
