"""Independent references for the tests: plain NumPy and SciPy at full width, sharing no code with linnet's trainers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp


def random_moments(seed: int, d: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples (n, d) with a spread-out spectrum and noisy linear labels (n, k)."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * np.linspace(0.5, 1.5, d)
    Y = X @ random.standard_normal((d, k)) / np.sqrt(d) + 0.3 * random.standard_normal((n, k))
    return X, Y


def random_layers(seed: int, d: int, k: int, h: int, scale: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian layers whose products stay of order `scale` at any width."""
    random = np.random.default_rng([seed, 7])
    return scale * random.standard_normal((h, d)) / np.sqrt(h), scale * random.standard_normal((k, h)) / np.sqrt(h)


def reached(layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The identity, and the products of the first layers: of one, of two, and in the end of all."""
    found = [np.eye(layers[0].shape[-1])]
    for layer in layers:
        found.append(layer @ found[-1])
    return found


def pushes(layers: Sequence[np.ndarray], below: list[np.ndarray], pull: np.ndarray) -> list[np.ndarray]:
    """Minus the gradient of every layer, where minus the gradient of their product is `pull`."""
    found: list[np.ndarray] = []
    for layer, inputs in zip(layers[::-1], below[-2::-1], strict=True):
        found.insert(0, pull @ np.swapaxes(inputs, -1, -2))
        pull = np.swapaxes(layer, -1, -2) @ pull
    return found


def descent(
    layers: Sequence[np.ndarray],
    cov: np.ndarray | None,
    cross: np.ndarray,
    rate: float,
    steps: int,
    *,
    decay: float = 0.0,
    momentum: float = 0.0,
    rates: Sequence[float] | None = None,
    pulls: Callable[[int, np.ndarray], np.ndarray] | None = None,
) -> Iterator[list[np.ndarray]]:
    """Layers of any number along gradient descent of the full network, one line of the definition after another.

    `pulls(step, product)` is the residual of a step in place of that of the moments, as of a mini-batch.
    """
    layers = list(layers)
    velocity = [np.zeros_like(layer) for layer in layers]
    for step in range(steps + 1):
        yield layers
        below = reached(layers)
        seen = below[-1] if cov is None else below[-1] @ cov
        forces = pushes(layers, below, cross - seen if pulls is None else pulls(step, below[-1]))
        for at, force in enumerate(forces):
            velocity[at] = momentum * velocity[at] + force - decay * layers[at]
        steps_of_layers = rates or [1.0] * len(layers)
        layers = [layer + rate * r * v for layer, r, v in zip(layers, steps_of_layers, velocity, strict=True)]


def descend(
    layers: Sequence[np.ndarray],
    target: np.ndarray,
    rate: float,
    steps: int,
    *,
    cov: np.ndarray | None = None,
    every: int = 1,
    **options: Any,
) -> np.ndarray:
    """Products of descent on |target - A|^2/2, or on the moments `cov` and `target`, every so many steps."""
    states = descent(layers, cov, target, rate, steps, **options)
    return np.stack([reached(state)[-1] for step, state in enumerate(states) if step % every == 0])


def flow(
    cov: np.ndarray,
    cross: np.ndarray,
    layers: Sequence[np.ndarray],
    times: Any,
    *,
    decay: float = 0.0,
    tolerance: float = 1e-11,
    method: str = "DOP853",
) -> list[np.ndarray]:
    """Layers of any number along gradient flow of the full network by SciPy, with the times in front."""
    times = np.asarray(times, dtype=float)
    ends = np.cumsum([layer.size for layer in layers])[:-1]

    def unpacked(states: np.ndarray) -> list[np.ndarray]:
        parts = np.split(states, ends, axis=-1)
        return [part.reshape(*states.shape[:-1], *layer.shape) for part, layer in zip(parts, layers, strict=True)]

    def field(t: float, state: np.ndarray) -> np.ndarray:
        now = unpacked(state)
        below = reached(now)
        forces = pushes(now, below, cross - below[-1] @ cov)
        return np.concatenate([(force - decay * layer).ravel() for force, layer in zip(forces, now, strict=True)])

    start = np.concatenate([layer.ravel() for layer in layers])
    atol = tolerance * min(1.0, max(float(np.sqrt(np.mean(start**2))), 1e-300))
    span = (0.0, max(float(times[-1]), 1e-300))
    with np.errstate(over="ignore", invalid="ignore"):  # of a step tried too far
        run = solve_ivp(field, span, start, method=method, rtol=tolerance, atol=atol, t_eval=times)
    return unpacked(run.y.T)


def flowing_products(cov: np.ndarray, cross: np.ndarray, layers: Any, times: Any, **options: Any) -> np.ndarray:
    """Products along gradient flow of the full network."""
    return reached(flow(cov, cross, layers, times, **options))[-1]


def normwise(value: np.ndarray, wanted: np.ndarray) -> float:
    """The largest distance between two arrays, relative to the norm of the wanted one."""
    return float(np.linalg.norm(np.asarray(value) - wanted) / max(float(np.linalg.norm(wanted)), 1e-300))


def adapted_basis(covariance: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The directions v1, along covariance @ target, and v2, across it in the plane of both: those of two phases."""
    sigma, beta = np.asarray(covariance), np.asarray(target).ravel()
    v1 = sigma @ beta / np.linalg.norm(sigma @ beta)
    rest = beta - v1 * (v1 @ beta)
    if np.linalg.norm(rest) <= 1e-12 * np.linalg.norm(beta):  # they are parallel: any direction across
        rest = np.eye(len(v1))[np.argmin(np.abs(v1))]
        rest = rest - v1 * (v1 @ rest)
    v2 = rest / np.linalg.norm(rest)
    return np.stack([v1, -v2 if v1 @ sigma @ v2 > 0 else v2])
