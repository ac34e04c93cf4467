"""The self-consistent dynamics taken in steps, as a program would: the schemes that a step size tells apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet._arguments import count, non_negative, positive, real_array
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.trainers.diagrams._narrow_network import narrow_network

SCHEMES = ("euler", "network")


def stepping(
    problem: Problem, start: object, threshold: float, learning_rate: float, steps: int, scheme: str = "euler"
) -> Iterator[np.ndarray]:
    r"""Products after 0, 1, .., `steps` steps of the self-consistent dynamics, (output, input), one after the other.

    **Schemes**, which agree as the step shrinks:

    - `"euler"`: $A \leftarrow A + \mathrm{lr}\,(\hat C_2 R + R \hat C_1)$, the square roots $\hat C_2 = \sqrt{A A^\top
      + g^2 I}$ taken anew at every step. What the authors ran.
    - `"network"`: descent on the network of width $\min(k, d)$ with imbalance $\pm 2gI$, which adds
      $\mathrm{lr}^2 R A^\top R$ as descent on a real network does, and needs no square roots.

    The exact flow is `theories.mixed.self_consistent`. **Reference:** Tu et al. 2024, eq. (1) and section G.
    """
    product = real_array("start", start, ndim=2)
    if product.shape != (problem.out_dim, problem.in_dim) or problem.batch:
        raise ValueError(
            f"`start` must be the product of one problem, ({problem.out_dim}, {problem.in_dim}): got shape "
            f"{product.shape}."
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
    with computing():
        first, second = (np.asarray(layer) for layer in narrow_network(jnp.asarray(product), g))
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
