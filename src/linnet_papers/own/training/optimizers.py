"""Descent of both layers along their gradients, along polar factors, and as Muon is used, in NumPy and float64.

Nothing here comes from `linnet.trainers` or from a theory: a step reads gradients of the loss |A - Y|^2/2 and full
shapes alone. Wide networks are trained in coordinates in which they have as many units as inputs and outputs, which
changes no step: each of them commutes with rotations of the hidden units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import linnet as ln

MOMENTUM = 0.95
ITERATIONS = 5  # of Newton and Schulz
COEFFICIENTS = 3.4445, -4.7750, 2.0315  # as published
CUTOFF = 1.5e-8  # of the largest singular value, below which one counts as zero

Layers = tuple[np.ndarray, np.ndarray]
Direction = Callable[[Layers], Layers]  # of both layers' gradients


def gradients(layers: Layers, target: np.ndarray) -> Layers:
    """Return the gradients of both layers for whitened inputs."""
    first, second = layers
    residual = second @ first - target
    return second.T @ residual, residual @ first.T


def polar_factor(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix with all its singular values replaced by 1."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return (left * (values > CUTOFF * values[0])) @ right


def newton_schulz(matrix: np.ndarray) -> np.ndarray:
    """Return what Muon's five iterations make of a matrix: singular values between about 0.7 and 1.2."""
    a, b, c = COEFFICIENTS
    x = matrix / (np.linalg.norm(matrix) + 1e-7)
    x = x.T if x.shape[0] > x.shape[1] else x
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def steepest(slopes: Layers) -> Layers:
    """Gradient descent."""
    return slopes


def spectral(slopes: Layers) -> Layers:
    """Spectral descent."""
    return polar_factor(slopes[0]), polar_factor(slopes[1])


@dataclass
class Muon:
    """Muon as it is used: Nesterov momentum, five iterations of Newton and Schulz, the factor of the full shape.

    `factors` are those of both layers, sqrt(max(1, rows/columns)).
    """

    factors: tuple[float, float]

    def __post_init__(self) -> None:
        self.memory: list[np.ndarray] = []

    def __call__(self, slopes: Layers) -> Layers:
        """Return both layers' directions, and remember the gradients."""
        old = self.memory or [np.zeros_like(slope) for slope in slopes]
        self.memory = [MOMENTUM * m + (1 - MOMENTUM) * g for m, g in zip(old, slopes, strict=True)]
        ahead = [(1 - MOMENTUM) * g + MOMENTUM * m for m, g in zip(self.memory, slopes, strict=True)]
        first, second = (factor * newton_schulz(one) for factor, one in zip(self.factors, ahead, strict=True))
        return first, second


def shape_factors(width: float, inputs: int, outputs: int) -> tuple[float, float]:
    """Return Muon's factors of both layers."""
    return float(np.sqrt(max(1.0, width / inputs))), float(np.sqrt(max(1.0, outputs / width)))


def spectrum(rank: int) -> np.ndarray:
    """Return the singular values of the truths over d: 1.5 to 1 of what random ones have, three to two of the noise."""
    return np.linspace(1.5, 1.0, rank) / np.sqrt(rank)


def descend(
    start: Layers, target: np.ndarray, direction: Direction, rates: Sequence[float] | np.ndarray, *, save_every: int = 1
) -> list[Layers]:
    """Return the layers at initialization and after every `save_every` steps of these rates."""
    layers = start
    saved = [layers]
    for number, rate in enumerate(rates, start=1):
        first, second = direction(gradients(layers, target))
        layers = layers[0] - rate * first, layers[1] - rate * second
        if number % save_every == 0:
            saved.append(layers)
    return saved


def wide_start(key: int | list[int], inputs: int, outputs: int, width: float, threshold: float) -> Layers:
    """Draw Gaussian layers of any width, in reduced coordinates; the threshold is variance times width."""
    shape: dict[str, int] = {"in_dim": inputs, "out_dim": outputs, "width": round(width)}
    drawn = ln.inits.reduced_gaussian(key=key, stds=float(np.sqrt(threshold / round(width))), **shape)
    return np.asarray(drawn.first), np.asarray(drawn.second)


def muon_run(start: Layers, problem: ln.Problem, width: float, steps: int) -> list[Layers]:
    """Return every second state of Muon, in steps of one size that are enough for its largest mode."""
    target = np.asarray(problem.cross)
    factors = shape_factors(width, problem.in_dim, problem.out_dim)
    rate = 1.4 * np.sqrt(_largest(start, target) / (factors[0] * factors[1])) / steps
    return descend(start, target, Muon(factors), np.full(steps, rate), save_every=2)


def spectral_run(start: Layers, problem: ln.Problem, steps: int) -> tuple[np.ndarray, list[Layers]]:
    """Return canonical times and all states of spectral descent, in steps of one size that are enough for its largest
    mode."""
    target = np.asarray(problem.cross)
    times = np.linspace(0, 1.1 * np.sqrt(_largest(start, target)), steps + 1)
    return times, descend(start, target, spectral, np.diff(times))


def _largest(start: Layers, target: np.ndarray) -> float:
    """Return the largest singular value that a run has to learn or to unlearn."""
    return float(max(np.linalg.norm(target, 2), np.linalg.norm(start[1] @ start[0], 2)))


def descent_run(start: Layers, problem: ln.Problem, threshold: float) -> list[Layers]:
    """Return every fourth state of gradient descent, until modes of the size of the noise are learned."""
    target = np.asarray(problem.cross)
    values = np.linalg.svd(target, compute_uv=False)
    rate = 0.02 / max(values[0], *(np.linalg.norm(layer, 2) ** 2 for layer in start))
    unlearned = 100 * np.linalg.norm(start[1] @ start[0], 2)
    time = (np.log(2 + values[0] / threshold + unlearned) + 2) / (2 * max(threshold, values[len(values) // 4]))
    return descend(start, target, steepest, np.full(int(time / rate) + 1, rate), save_every=4)


def minimum_error(problem: ln.Problem, states: list[Layers]) -> float:
    """Return the minimum test error per entry over the states, |A - A*|^2 over the number of entries."""
    truth = np.asarray(problem.truth)
    return float(min(((second @ first - truth) ** 2).mean() for first, second in states))


def decayed_flow(start: Layers, target: np.ndarray, decay: float, times: np.ndarray) -> list[Layers]:
    """Return the layers at `times` under gradient flow with weight decay of both, every weight by SciPy."""
    from scipy.integrate import solve_ivp

    split, shapes = start[0].size, (start[0].shape, start[1].shape)

    def layers(flat: np.ndarray) -> Layers:
        return flat[:split].reshape(shapes[0]), flat[split:].reshape(shapes[1])

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        slopes = gradients(layers(flat), target)
        return -np.concatenate([slopes[0].ravel(), slopes[1].ravel()]) - decay * flat

    flat = np.concatenate([start[0].ravel(), start[1].ravel()])
    run = solve_ivp(velocity, (0.0, times[-1]), flat, "DOP853", t_eval=times, rtol=1e-7, atol=1e-9)
    return [layers(state) for state in run.y.T]
