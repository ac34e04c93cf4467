"""A trial descent in NumPy: how far apart two reductions of one network come in training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linnet.inits.layers import product_of
from linnet.problems.problem import Problem
from linnet.reductions._words import Words

MOST_STEPS = 600
DONE = 1e-9  # of the first step's size: nothing moves any more
STEP = 0.5  # over a bound of the curvature
SNAPSHOTS = 40
LOOK = 10  # steps between two looks at the curvature


class Trial:
    """Descents of one problem with the same step sizes, from networks that differ in the words they hold.

    The steps are chosen along the smallest of the networks, by a bound of its curvature, and followed by all others:
    what differs between two of them is what the words do.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rates: list[float] = []

    def distance(self, words: Words, order: int, longer: int) -> float:
        """The largest distance between the products with words up to `order` and up to `longer`, relative."""
        return self.apart(*(words.projected(words.at(each)) for each in (order, longer)))

    def apart(self, one: list[np.ndarray], other: list[np.ndarray]) -> float:
        """The largest distance between the products of two networks, relative to the largest product of the second."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.rates:
                self._choose_rates(other)
            paths = [self._products(layers) for layers in (one, other)]
            largest = np.abs(paths[1]).max()
            found = float(np.abs(paths[0] - paths[1]).max() / largest) if largest > 0 else 0.0
        return found if np.isfinite(found) else np.inf

    def used(self, layers: list[np.ndarray]) -> list[np.ndarray]:
        r"""What is seen of each hidden space along the way: $w_l \cdots w_1$ beside $(w_L \cdots w_{l+1})^T$.

        A basis that holds all of it carries the whole dynamics: a layer's gradient is made of nothing else.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.rates:
                self._choose_rates(layers)
            forward: list[list[np.ndarray]] = [[] for _ in layers[1:]]
            backward: list[list[np.ndarray]] = [[] for _ in layers[1:]]
            for step, rate in enumerate(self.rates):
                if step % (1 + len(self.rates) // SNAPSHOTS) == 0:
                    image, preimage = layers[0], layers[-1].T
                    for space in range(len(forward)):
                        forward[space].append(image)
                        backward[-1 - space].append(preimage)
                        image = layers[space + 1] @ image
                        preimage = layers[-2 - space].T @ preimage
                layers = self._stepped(layers, rate)
        sides = [[np.nan_to_num(np.concatenate(seen, axis=1)) for seen in side] for side in (forward, backward)]
        return [np.concatenate([_unit(one), _unit(other)], axis=1) for one, other in zip(*sides, strict=True)]

    def _products(self, layers: list[np.ndarray]) -> np.ndarray:
        products, every = [product_of(layers)], 1 + len(self.rates) // 200
        for step, rate in enumerate(self.rates):
            layers = self._stepped(layers, rate)
            if step % every == 0:
                products.append(product_of(layers))
        return np.stack(products)

    def _choose_rates(self, layers: Sequence[np.ndarray]) -> None:
        layers, sharpness, first = list(layers), self._sharpness(product_of(layers)), 0.0
        for step in range(MOST_STEPS):
            if step % LOOK == 0:
                rate = STEP / max(_curvature(self.problem, layers, sharpness), np.finfo(float).tiny)
            moved = self._stepped(layers, rate)
            change = float(np.abs(product_of(moved) - product_of(layers)).max())
            first = max(first, change)
            layers = moved
            self.rates.append(rate)
            if not np.isfinite(change) or (step > LOOK and change < DONE * first):
                break

    def _stepped(self, layers: Sequence[np.ndarray], rate: float) -> list[np.ndarray]:
        below = [layers[0]]
        for layer in layers[1:-1]:
            below.append(layer @ below[-1])
        force = np.nan_to_num(layers[-1] @ below[-1])
        pull = self.problem.residual(force)
        moved: list[np.ndarray] = []
        for index in range(len(layers) - 1, -1, -1):
            moved.append(layers[index] + rate * (pull @ below[index - 1].T if index else pull))
            pull = layers[index].T @ pull
        return moved[::-1]

    def _sharpness(self, product: np.ndarray) -> float:
        """The largest curvature of the loss in the product."""
        if self.problem.cost is None:
            return float(np.linalg.norm(self.problem.cov, ord=2))
        size = 1e-4 * max(1.0, float(np.abs(product).max()))
        shift = size * np.random.default_rng(0).standard_normal(product.shape)
        turn = self.problem.residual(product + shift) - self.problem.residual(product)
        return 3 * float(np.linalg.norm(turn) / np.linalg.norm(shift))


def _unit(seen: np.ndarray) -> np.ndarray:
    """Scaled to a largest column of length 1."""
    largest = float(np.sqrt((seen**2).sum(axis=0).max()))
    return seen / largest if largest > 0 else seen


def _curvature(problem: Problem, layers: Sequence[np.ndarray], sharpness: float) -> float:
    """A bound of the loss's curvature in the weights, from the norms of the layers and of the residual."""
    norms = np.array([np.linalg.norm(layer, ord=2) for layer in layers])
    residual = np.linalg.norm(problem.residual(product_of(layers)), ord=2)
    others = [np.prod(np.delete(norms, at)) for at in range(len(norms))]
    pairs = [np.prod(np.delete(norms, [i, j])) for i in range(len(norms)) for j in range(i)]
    return float(sharpness * np.sum(np.square(others)) + residual * np.sum(pairs))
