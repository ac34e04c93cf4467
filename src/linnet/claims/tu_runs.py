"""Trained networks that several claims of Tu et al. look at, each trained once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import linnet as ln
from linnet.claims.milestones import first_of


@dataclass(frozen=True)
class Active:
    """One network of the active region followed from its start past the learning of the signal."""

    problem: Any
    spectrum: tuple[float, ...]
    gamma_variance: float
    gamma_width: float
    threshold: float
    times: np.ndarray
    products: np.ndarray

    @property
    def dim(self) -> int:
        return self.products.shape[-1]

    @property
    def values(self) -> np.ndarray:
        return np.linalg.svd(self.products, compute_uv=False)

    def stages(self) -> dict[str, int]:
        """Indices of E.3's T1, T2, T3: |A| at the threshold, at (w/d)^(1/4) of it, and s_K at half its target."""
        values, width = self.values, self.dim**self.gamma_width
        levels = {
            "T1": values[:, 0] >= self.threshold,
            "T2": values[:, 0] >= self.threshold * (width / self.dim) ** 0.25,
            "T3": values[:, len(self.spectrum) - 1] >= 0.5 * min(self.spectrum) * self.dim,
        }
        return {name: first_of(reached, f"{name} is not reached") for name, reached in levels.items()}


@cache
def active(dim: int, spectrum: tuple[float, ...], gammas: tuple[float, float], seed: int, noise: float = 1.0) -> Active:
    """Descent with a small step (1/(40 |A*|)) on a task of the given spectrum, saved every step."""
    problem = ln.problems.low_rank_plus_noise(dim, rank=len(spectrum), key=seed, spectrum=list(spectrum), noise=noise)
    variance, width = dim ** gammas[0], round(dim ** gammas[1])
    std = float(np.sqrt(variance))
    weights = ln.inits.reduced_gaussian(
        seed + 1, in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std
    )  # fmt: skip
    rate = 1 / (40 * max(spectrum) * dim)
    run = ln.gradient_descent(problem, weights, learning_rate=rate, steps=400, keep="products")
    return Active(problem, spectrum, *gammas, variance * width, run.times, run.products)
