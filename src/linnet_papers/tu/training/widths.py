"""Flows of Gaussian networks of growing width towards one target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction.cells import Block, Points
from linnet_papers.tu.training.starts import threshold_start

TIMES = np.concatenate([[0.0], np.geomspace(0.02, 20.0, 24)])  # in units of 1/|Y|
SHARE = 0.1  # of the target's norm: the threshold sigma^2 w


@dataclass(frozen=True)
class Flows:
    """Reduced weights along gradient flows of one threshold: (time, network), with any axes of networks."""

    times: np.ndarray
    weights: ln.Weights
    threshold: float

    @property
    def distances(self) -> np.ndarray:
        """|C - Chat| of Theorem 1, the larger of both layers', over sigma^2 w: (time, network)."""
        gap = lazy_active.gram_gap(self.weights.first, self.weights.second, self.threshold)
        return np.maximum(gap.first, gap.second) / self.threshold

    @property
    def relative_gram_norms(self) -> np.ndarray:
        """|C1| = |W1^T W1| over sigma^2 w: (time, network)."""
        return np.linalg.norm(self.weights.first, 2, axis=(-2, -1)) ** 2 / self.threshold


def task_and_threshold(dim: int, seed: int, share: float = SHARE) -> tuple[ln.Problem, float]:
    """Return the noisy rank-2 task of all networks, and their threshold: a share of its norm."""
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=seed)
    return problem, share * float(np.linalg.norm(problem.cross, 2))


def flows(dim: int, ratios: Iterable[float], keys: Iterable[int], seed: int, share: float = SHARE) -> Flows:
    """Return one flow for each w/d and key, of the network in reduced coordinates (at most 2d units)."""
    problem, threshold = task_and_threshold(dim, seed, share)
    draws = [
        threshold_start(dim, ratio * dim, threshold, key=int(key)) for ratio, key in zip(ratios, keys, strict=True)
    ]
    times = TIMES * share / threshold
    size = np.sqrt(threshold / (2 * dim))  # of a reduced weight; the default would depend on the whole batch
    run = ln.gradient_flow(problem, ln.Weights.stack(draws), times=times, rtol=1e-9, atol=1e-9 * min(1.0, size))
    return Flows(times, run.reduced, threshold)


def width_cells(points: Points, seeds: np.ndarray, *, dim: int, seed: int) -> Block:
    """Return the flows of a block of cells: both layers at every time."""
    runs = flows(dim, points["ratio"].tolist(), seeds.tolist(), seed)
    return {
        "times": (("state",), np.tile(runs.times, (len(seeds), 1))),
        "first": (("state", "hidden", "input"), np.moveaxis(runs.weights.first, 1, 0)),
        "second": (("state", "output", "hidden"), np.moveaxis(runs.weights.second, 1, 0)),
    }
