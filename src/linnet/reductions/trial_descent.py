"""Trial descents in NumPy: how far apart two reductions of one network come in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linnet.inits.weights import product_of
from linnet.problems.problem import Problem

MAX_STEPS = 1000
SETTLED = 1e-9  # of the first step's size: nothing moves any more
STEP_OVER_CURVATURE = 0.5  # over a bound of the curvature
CURVATURE_EVERY_STEPS = 10  # steps between two looks at the curvature


@dataclass(frozen=True)
class StepSizes:
    """A descent: its step sizes, or small ones by a bound of the curvature where there are none.

    **Attributes:**

    - `rates`: the first step sizes, (step,); None for small ones
    - `momentum`, `decay`: coefficients of the velocity and of the weight decay
    - `layers`: the rate of each layer in units of the common one, (layer,)
    - `step`: small ones, over a bound of the curvature
    - `run_steps`: approximate number of steps of the run; infinite if any reduction is worth its cost
    - `run`: function that replaces descent: returns the products of a run, from the problem, the layers and the rates
    """

    rates: np.ndarray | None = None
    momentum: float = 0.0
    decay: float = 0.0
    layers: np.ndarray | None = None
    step: float = STEP_OVER_CURVATURE
    run_steps: float = np.inf
    run: Callable[[Problem, Sequence[np.ndarray], Sequence[float]], np.ndarray] | None = None

    @property
    def max_steps(self) -> int:
        """The maximum number of steps that a trial descent takes."""
        return (
            round(MAX_STEPS * STEP_OVER_CURVATURE / self.step)
            if self.rates is None
            else min(MAX_STEPS, len(self.rates))
        )

    def of_layer(self, index: int) -> float:
        """The rate of a layer in units of the common one."""
        return 1.0 if self.layers is None else float(self.layers[index])


class TrialDescent:
    """Descents of one problem along the same steps, from networks that differ in the words they hold.

    Small steps are chosen once, along one of the networks, and followed by all others: what differs between two of
    them is what the words do.
    """

    def __init__(self, problem: Problem, path: StepSizes | None = None) -> None:
        self.problem, self.path = problem, path or StepSizes()
        self.rates: list[float] = [] if self.path.rates is None else list(self.path.rates[:MAX_STEPS])

    def max_distance(self, one: list[np.ndarray], other: list[np.ndarray]) -> float:
        """The largest distance between the products of two networks, relative to the largest product of the second."""
        products = self.products(other)  # chooses the steps where none are known
        return self.distance(self.products(one), products)

    def products(self, layers: list[np.ndarray]) -> np.ndarray:
        """Return the products along the descent from these layers, about two hundred of its states."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.rates:
                self._choose_rates(layers)
            return self._products(layers)

    def distance(self, one: np.ndarray, other: np.ndarray) -> float:
        """The largest distance between the products along two descents, relative to the largest of the second."""
        finite = np.isfinite(other).all(axis=(1, 2))
        if self.path.rates is not None and not finite.all():  # the run itself diverges: until then
            until = int(np.argmin(finite)) // 2
            one, other = one[:until], other[:until]
        if not len(other):
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.abs(other).max()
            distance = float(np.abs(one - other).max() / largest) if largest > 0 else 0.0
        return distance if np.isfinite(distance) else np.inf

    def stands_for(self, path: StepSizes) -> bool:
        """Whether a known descent takes no larger steps than the chosen ones, and has nothing besides: it follows the
        same flow."""
        alone = path.run is None and path.momentum == 0 and path.layers is None and path.decay == self.path.decay
        return alone and path.rates is not None and bool(self.rates) and float(path.rates.max()) <= min(self.rates)

    def rate(self, layers: Sequence[np.ndarray], sharpness: float) -> float:
        """A step that is stable here."""
        curvature = _curvature(self.problem, layers, sharpness) + self.path.decay
        return self.path.step / max(curvature, np.finfo(float).tiny)

    def sharpness(self, product: np.ndarray) -> float:
        """The largest curvature of the loss in the product."""
        if self.problem.cost is None:
            return float(np.linalg.norm(self.problem.cov, ord=2))
        size = 1e-4 * max(1.0, float(np.abs(product).max()))
        shift = size * np.random.default_rng(0).standard_normal(product.shape)
        turn = self.problem.residual(product + shift) - self.problem.residual(product)
        return 3 * float(np.linalg.norm(turn) / np.linalg.norm(shift))

    def _products(self, layers: list[np.ndarray]) -> np.ndarray:
        """Return the products along the chosen steps."""
        every = 1 + len(self.rates) // 200
        if self.path.run is not None:
            return self.path.run(self.problem, layers, self.rates)[::every]
        products = [product_of(layers)]
        velocity = [np.zeros_like(layer) for layer in layers]
        for step, rate in enumerate(self.rates):
            layers, velocity = self._stepped(layers, velocity, rate)
            if step % every == 0:
                products.append(product_of(layers))
        return np.stack(products)

    def _choose_rates(self, layers: Sequence[np.ndarray]) -> None:
        """Choose small steps along a descent from these layers, until nothing moves any more; all later descents take
        them."""
        layers, product, first = list(layers), product_of(layers), 0.0
        sharpness = self.sharpness(product)
        velocity = [np.zeros_like(layer) for layer in layers]
        for step in range(self.path.max_steps):
            if step % CURVATURE_EVERY_STEPS == 0:
                rate = self.rate(layers, sharpness)
            moved, velocity = self._stepped(layers, velocity, rate)
            before, product = product, product_of(moved)
            change = float(np.abs(product - before).max())
            first = max(first, change)
            layers = moved
            self.rates.append(rate)
            if not np.isfinite(change) or (step > CURVATURE_EVERY_STEPS and change < SETTLED * first):
                break

    def _residual(self, product: np.ndarray) -> np.ndarray:
        """`problem.residual` of a product that may be no number any more, without its checks for the square loss."""
        problem = self.problem
        if problem.cost is not None or problem.inputs is not None:
            return problem.residual(np.nan_to_num(product))
        return problem.cross - (product if problem.whitened else product @ problem.cov)

    def _stepped(
        self, layers: Sequence[np.ndarray], velocity: Sequence[np.ndarray], rate: float
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return all layers and their velocities after one step of descent."""
        below = [layers[0]]
        for layer in layers[1:-1]:
            below.append(layer @ below[-1])
        pull, path = self._residual(layers[-1] @ below[-1]), self.path
        moved: list[np.ndarray] = []
        speeds: list[np.ndarray] = []
        for index in range(len(layers) - 1, -1, -1):
            push = pull @ below[index - 1].T if index else pull
            if path.decay:
                push = push - path.decay * layers[index]
            speeds.append(path.momentum * velocity[index] + push if path.momentum else push)
            moved.append(layers[index] + rate * path.of_layer(index) * speeds[-1])
            if index:
                pull = layers[index].T @ pull
        return moved[::-1], speeds[::-1]


def _curvature(problem: Problem, layers: Sequence[np.ndarray], sharpness: float) -> float:
    """A bound of the loss's curvature in the weights, from the norms of the layers and of the residual."""
    norms = np.array([np.linalg.norm(layer, ord=2) for layer in layers])
    residual = np.linalg.norm(problem.residual(product_of(layers)), ord=2)
    others = [np.prod(np.delete(norms, at)) for at in range(len(norms))]
    pairs = [np.prod(np.delete(norms, [i, j])) for i in range(len(norms)) for j in range(i)]
    return float(sharpness * np.sum(np.square(others)) + residual * np.sum(pairs))
