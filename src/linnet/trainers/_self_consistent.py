"""The self-consistent dynamics taken in steps, as a program would: the schemes that a step size tells apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from linnet._arguments import count, non_negative, positive, real_array
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.trainers.diagrams._narrow_network import narrow_network

SCHEMES = ("euler", "network")
Residual = Callable[[np.ndarray], np.ndarray]  # of a product: minus the gradient of the loss there


def self_consistent_steps(
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
    scheme_products = _euler_products if scheme == "euler" else _network_products
    products = scheme_products(product, g, rate, _residual_function(problem))
    for _ in range(count("steps", steps, least=0) + 1):
        yield next(products)


def _euler_products(product: np.ndarray, g: float, rate: float, residual_at: Residual) -> Iterator[np.ndarray]:
    """Yield the products of Euler's method on the closed equation of the product."""
    while True:
        yield product
        left, values, right = np.linalg.svd(product, full_matrices=True)
        residual = residual_at(product)
        move = _kernel_root(left, values, g) @ residual + residual @ _kernel_root(right.T, values, g)
        product = product + rate * move


def _kernel_root(vectors: np.ndarray, values: np.ndarray, g: float) -> np.ndarray:
    """Return the root of A A^T + g^2 from the singular vectors and values of A."""
    padded = np.zeros(vectors.shape[0])
    padded[: values.size] = values
    return (vectors * np.hypot(padded, g)) @ vectors.T


def _network_products(product: np.ndarray, g: float, rate: float, residual_at: Residual) -> Iterator[np.ndarray]:
    """Yield the products of descent of the narrow network that has this product and imbalance."""
    with computing():
        first, second = (np.asarray(layer) for layer in narrow_network(jnp.asarray(product), g))
    while True:
        product = second @ first
        yield product
        residual = residual_at(product)
        first, second = first + rate * second.T @ residual, second + rate * residual @ first.T


def _residual_function(problem: Problem) -> Residual:
    """Return the function of the product that is minus the gradient of the loss."""
    if problem.cost is not None:
        slope = jax.jit(jax.grad(problem.cost))

        def negative_gradient(product: np.ndarray) -> np.ndarray:
            with computing():
                return -np.asarray(slope(product))

        return negative_gradient
    if problem.whitened:
        return lambda product: problem.cross - product
    return lambda product: problem.cross - product @ problem.cov
