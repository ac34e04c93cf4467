"""The self-consistent dynamics taken in steps, as a program would: the schemes that a step size tells apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from linnet.arguments import count, non_negative, positive, real_array
from linnet.inits.structured import balanced
from linnet.precision import computing
from linnet.problems.problem import Problem

SCHEMES = ("euler", "network")


def self_consistent_descent(
    problem: Problem, start: Any, *, threshold: float, learning_rate: float, steps: int, scheme: str = "euler"
) -> np.ndarray:
    r"""Products after 0, 1, .., `steps` steps of the self-consistent dynamics, (time, output, input).

    **Schemes**, which agree as the step shrinks:

    - `"euler"`: $A \leftarrow A + \mathrm{lr}\,(\hat C_2 R + R \hat C_1)$, the square roots $\hat C_2 = \sqrt{A A^\top + g^2 I}$
      taken anew at every step. What the authors ran.
    - `"network"`: descent on the network of width $\min(k, d)$ with imbalance $\pm 2gI$, which adds
      $\mathrm{lr}^2 R A^\top R$ as descent on a real network does, and needs no square roots.

    The exact flow is `theories.mixed.self_consistent`. **Reference:** Tu et al. 2024, eq. (1) and section G.
    """
    return np.stack(list(stepping(problem, start, threshold, learning_rate, steps, scheme)))


def stepping(
    problem: Problem, start: Any, threshold: float, learning_rate: float, steps: int, scheme: str = "euler"
) -> Iterator[np.ndarray]:
    """The products of `self_consistent_descent` one after the other, for runs too large to keep."""
    product = real_array("start", start, ndim=2)
    if product.shape != (problem.out_dim, problem.in_dim) or problem.batch:
        raise ValueError(
            f"`start` must be the product of one problem, ({problem.out_dim}, {problem.in_dim}): got shape {product.shape}."
        )
    g, rate = non_negative("threshold", threshold), positive("learning_rate", learning_rate)
    if scheme not in SCHEMES:
        raise ValueError(f"`scheme` must be one of {SCHEMES}: got {scheme!r}.")
    pull = _residual(problem)
    walk = _euler(product, g, rate, pull) if scheme == "euler" else _network(product, g, rate, pull)
    for _ in range(count("steps", steps, least=0) + 1):
        yield next(walk)


def _euler(product: np.ndarray, g: float, rate: float, pull: Any) -> Iterator[np.ndarray]:
    while True:
        yield product
        left, values, right = np.linalg.svd(product, full_matrices=True)
        residual = pull(product)
        move = _root(left, values, g) @ residual + residual @ _root(right.T, values, g)
        product = product + rate * move


def _root(vectors: np.ndarray, values: np.ndarray, g: float) -> np.ndarray:
    padded = np.zeros(vectors.shape[0])
    padded[: values.size] = values
    return (vectors * np.hypot(padded, g)) @ vectors.T


def _network(product: np.ndarray, g: float, rate: float, pull: Any) -> Iterator[np.ndarray]:
    weights = balanced(product, 2 * g if product.shape[0] >= product.shape[1] else -2 * g)
    first, second = weights.first, weights.second
    while True:
        product = second @ first
        yield product
        residual = pull(product)
        first, second = first + rate * second.T @ residual, second + rate * residual @ first.T


def _residual(problem: Problem) -> Any:
    if problem.cost is not None:
        slope = jax.jit(jax.grad(problem.cost))

        def descent(product: np.ndarray) -> np.ndarray:
            with computing():
                return -np.asarray(slope(product))

        return descent
    if problem.whitened:
        return lambda product: problem.cross - product
    return lambda product: problem.cross - product @ problem.cov
