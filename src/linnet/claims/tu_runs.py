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


@cache
def cells(
    dim: int,
    seed: int,
    seeds: int,
    points: tuple[tuple[float, float], ...],
    update: str = "simultaneous",
    c: float = 50.0,
) -> dict[str, np.ndarray]:
    """Cells of the phase diagram, `seeds` tasks each: every variable as (point, seed)."""
    from linnet.sweeps import phase_cells

    variance, width = (np.repeat([point[i] for point in points], seeds) for i in (0, 1))
    replicate = np.tile(np.arange(seeds), len(points))
    keys = np.arange(len(replicate)) + 1000 * (seed + 1)
    grid = {"gamma_variance": variance, "gamma_width": width, "replicate": replicate}
    found = phase_cells.cells(
        grid, keys, rank=RANK, noise=1.0, c=c, steps=1500, update=update, seed=seed, dim=dim
    )  # fmt: skip
    return {name: values.reshape(len(points), seeds) for name, values in found.items()}


RANK = 3  # of the tasks of `cells`
NARROW = (2, 3, 4, 6, 12)
DEPTHS = (-2.8, -2.4, -2.0, -1.6, -1.2)
POWERS = (1.3, 1.8, 2.3, 2.8)


def diagram(trial: Trial) -> tuple[int, dict[str, dict[str, np.ndarray]]]:
    """Cells that several claims look at, by name: lazy ones, growing depth and width at one threshold, narrow networks."""
    dim, seeds = (30, 3) if trial.quick else (100, 8)
    groups: dict[str, list[tuple[float, float]]] = {
        "lazy": [(-1.35, 2.6), (-1.25, 2.45), (-1.2, 2.35)],
        "depths": [(depth, 2.0) for depth in DEPTHS],
        "narrow": [(-1.5, float(np.log(width) / np.log(dim))) for width in NARROW],
        "wide": [(-1.5, 1.0), (-2.5, 2.0)],
        "powers": [(0.4 - power, power) for power in POWERS],  # one threshold, d^0.4
    }
    found = cells(dim, trial.seed, seeds, tuple(point for group in groups.values() for point in group))
    ends = np.cumsum([len(group) for group in groups.values()])[:-1]
    parts = {name: np.split(values, ends) for name, values in found.items()}
    return dim, {group: {name: part[i] for name, part in parts.items()} for i, group in enumerate(groups)}
