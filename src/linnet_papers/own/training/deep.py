"""Deep networks trained layer by layer in NumPy, as they are given: the measuring side of the claims on depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import linnet as ln
from linnet._randomness import Key


def wide_layers(
    dim: int, width: int, depth: int, coupling: float, *, key: Key, order: int, batch: int | None = None
) -> Sequence[np.ndarray]:
    """Return the reduced layers of a wide Gaussian start, as many outputs as inputs; the coupling is sqrt(w) sigma."""
    stds = coupling * width**-0.5
    sizes = {"in_dim": dim, "out_dim": dim, "width": width, "depth": depth}
    return ln.inits.reduced_gaussian(**sizes, stds=stds, key=key, order=order, batch=batch).layers


def least_test_loss(task: ln.Problem, layers: Sequence[np.ndarray], until: float, steps: int) -> float:
    """Return the minimum test loss of descent from these layers in so many steps until a time."""
    products = descent_products(layers, task.cross, until / steps, steps)
    return float(0.5 * ((products - task.truth) ** 2).sum(axis=(-1, -2)).min())


def descent_products(
    layers: Sequence[np.ndarray],
    target: np.ndarray,
    rate: float,
    steps: int,
    *,
    every: int = 1,
    weighted: Callable[[np.ndarray], np.ndarray] | None = None,
    keep: Callable[[list[np.ndarray]], np.ndarray] | None = None,
) -> np.ndarray:
    """Train two layers or more by gradient descent and return their product every so many steps, (time, ..., k, d).

    Layers move by the error target - A of their product A, that of whitened inputs; for another loss by what `weighted`
    returns of the error. With `keep`, what this function returns of the layers is kept in place of their product.
    """
    weights = [np.array(layer) for layer in layers]
    kept = []
    for step in range(steps + 1):
        # from the last layer on: the network has no more outputs than inputs
        above = [weights[-1]]
        for layer in weights[-2::-1]:
            above.append(above[-1] @ layer)
        product = above.pop()
        if step % every == 0:
            kept.append(product if keep is None else keep(weights))
        error = target - product
        pull = rate * (error if weighted is None else weighted(error))
        for layer in weights[:-1]:
            push = above.pop().mT @ pull
            pull = pull @ layer.mT
            layer += push
        weights[-1] += pull
    return np.stack(kept)
