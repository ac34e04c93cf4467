"""Trained networks that several claims of Tu et al. look at, each trained once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import linnet as ln
from linnet.claims.milestones import first_of
from linnet.claims.registry import Trial


@dataclass(frozen=True)
class Widths:
    """Flows of Gaussian networks of growing width towards one target, all of one threshold: (time, width, seed, ...)."""

    problem: Any
    threshold: float
    ratios: np.ndarray
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    drift: float

    @property
    def dim(self) -> int:
        return self.first.shape[-1]

    @property
    def products(self) -> np.ndarray:
        return self.second @ self.first

    @property
    def gap(self) -> Any:
        """Theorem 1's quantities, one entry per (time, width, seed)."""
        parts = [
            ln.theories.mixed.gram_gap(self.first[:, i], self.second[:, i], self.threshold, ratio * self.dim)
            for i, ratio in enumerate(self.ratios)
        ]
        return ln.theories.mixed.GramGap(*(np.stack(values, axis=1) for values in zip(*parts, strict=True)))


@cache
def widths(trial: Trial) -> Widths:
    """Reduced networks of w/d = 4 .. 16384 on a noisy rank-2 target, threshold a tenth of the target's norm."""
    dim, seeds = (12, 3) if trial.quick else (40, 6)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    threshold = 0.1 * float(np.linalg.norm(problem.cross, 2))
    ratios = 4.0 ** np.arange(1, 8)
    draws = []
    for i, ratio in enumerate(ratios):
        std = float(np.sqrt(threshold / (ratio * dim)))
        draws.append(
            ln.inits.reduced_gaussian(
                [trial.seed, 1, i], in_dim=dim, out_dim=dim, width=int(ratio * dim), first_std=std, second_std=std, batch=seeds
            )
        )  # fmt: skip
    stacked = ln.Weights(
        np.concatenate([draw.first for draw in draws]), np.concatenate([draw.second for draw in draws])
    )  # fmt: skip
    size = float(np.linalg.norm(problem.cross, 2))
    times = np.concatenate([[0.0], np.geomspace(0.02, 20.0, 24)]) / size
    run = ln.gradient_flow(problem, stacked, times=times, rtol=1e-9)
    shape = (times.size, ratios.size, seeds)
    first, second = run.reduced.first, run.reduced.second
    moved = first @ np.swapaxes(first, -1, -2) - np.swapaxes(second, -1, -2) @ second - stacked.imbalance
    return Widths(
        problem, threshold, ratios, times,
        first.reshape(*shape, *first.shape[-2:]), second.reshape(*shape, *second.shape[-2:]),
        float(np.abs(moved).max() / np.abs(stacked.imbalance).max()),
    )  # fmt: skip


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
