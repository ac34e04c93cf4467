"""Independent references for the tests: plain NumPy and SciPy at full width, sharing no code with linnet's trainers."""

from __future__ import annotations

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


def descent(
    cov: np.ndarray,
    cross: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    *,
    rate: float,
    steps: int,
    decay: float = 0.0,
    momentum: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient descent of the full network, one line of the definition after another."""
    first, second = first.copy(), second.copy()
    velocity = [np.zeros_like(first), np.zeros_like(second)]
    for _ in range(steps):
        R = cross - second @ first @ cov
        pushes = [second.T @ R - decay * first, R @ first.T - decay * second]
        velocity = [momentum * v + push for v, push in zip(velocity, pushes, strict=True)]
        first = first + rate * velocity[0]
        second = second + rate * velocity[1]
    return first, second


def flow(
    cov: np.ndarray, cross: np.ndarray, first: np.ndarray, second: np.ndarray, times: Any, *, tolerance: float = 1e-11
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient flow of the full network by SciPy's DOP853; layers with the times in front."""
    times = np.asarray(times, dtype=float)
    cut = first.size

    def field(t: float, y: np.ndarray) -> np.ndarray:
        a, b = y[:cut].reshape(first.shape), y[cut:].reshape(second.shape)
        R = cross - b @ a @ cov
        return np.concatenate([(b.T @ R).ravel(), (R @ a.T).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    scale = max(float(np.sqrt(np.mean(start**2))), 1e-300)
    atol = tolerance * min(1.0, scale)
    solution = solve_ivp(field, (0.0, times[-1]), start, method="DOP853", rtol=tolerance, atol=atol, t_eval=times)
    states = solution.y.T
    return states[:, :cut].reshape(-1, *first.shape), states[:, cut:].reshape(-1, *second.shape)


def normwise(value: np.ndarray, wanted: np.ndarray) -> float:
    """The largest distance between two arrays, relative to the norm of the wanted one."""
    return float(np.linalg.norm(np.asarray(value) - wanted) / max(float(np.linalg.norm(wanted)), 1e-300))


def adapted_basis(covariance: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The directions v1, along covariance @ target, and v2, across it in the plane of both: those of two phases."""
    sigma, beta = np.asarray(covariance), np.asarray(target).ravel()
    v1 = sigma @ beta / np.linalg.norm(sigma @ beta)
    rest = beta - v1 * (v1 @ beta)
    v2 = rest / np.linalg.norm(rest)
    return np.stack([v1, -v2 if v1 @ sigma @ v2 > 0 else v2])
