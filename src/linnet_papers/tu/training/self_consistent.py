"""The self-consistent dynamics taken in steps, as the authors ran it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import linnet as ln
from linnet.theories import lazy_active


def self_consistent_steps(
    problem: ln.Problem, start: np.ndarray, threshold: float, learning_rate: float, steps: int
) -> Iterator[np.ndarray]:
    r"""Yield the products after 0, 1, .., `steps` steps of Euler's method on eq. (1), from the product `start`.

    $$ A \leftarrow A + \mathrm{lr}\,(\hat C_2 R + R \hat C_1), \qquad \hat C_2 = \sqrt{A A^\top + g^2 I}, \quad
       \hat C_1 = \sqrt{A^\top A + g^2 I}, \qquad R = \Gamma - A $$

    with the square roots taken anew at every step, $g$ the `threshold`, and whitened inputs. The exact flow is
    `theories.lazy_active.self_consistent`. **Reference:** Tu et al. 2024, eq. (1) and section G.
    """
    product = start
    yield product
    for _ in range(steps):
        first, second = lazy_active.gram_matrices(product, threshold)
        residual = problem.cross - product
        product = product + learning_rate * (second @ residual + residual @ first)
        yield product
