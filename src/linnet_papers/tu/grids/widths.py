"""Tu et al., Theorem 1 and appendix B: flows of Gaussian networks of growing width towards one target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.training.widths import Flows, task_and_threshold, width_cells

RATIOS = tuple((4.0 ** np.arange(1, 8)).tolist())  # w/d

# What several claims try and assume
TRIED = (
    r"noisy rank-2 target, $d = 12$ (full: 40), $\sigma^2 w = \lvert Y \rvert/10$, $w/d$ from 4 to 16384 by the exact "
    "reduction, gradient flow"
)
GAUSSIAN = r"iid Gaussian weights of equal variance, gradient flow, $w \gg d$"


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train the networks of one width in a block."""
    dim, seeds = (12, 3) if trial.quick else (40, 6)
    fixed = {"dim": dim, "seed": trial.seed}
    return trial_sweep(trial, "tu-widths", width_cells, {"ratio": RATIOS}, seeds=seeds, fixed=fixed, together="seed")


@dataclass(frozen=True)
class Widths(Flows):
    """Flows of Gaussian networks of growing width to one target: (time, width, seed)."""

    problem: ln.Problem
    ratios: np.ndarray

    @property
    def theorem_1_constants(self) -> np.ndarray:
        """The constant that Theorem 1 needs, with its minimum of sigma^2 w and sqrt(d/w) |C1|, mean of the seeds:
        (width,)."""
        bounds = np.minimum(1.0, self.relative_gram_norms / np.sqrt(self.ratios)[:, None])
        return (self.distances / bounds).max(axis=0).mean(axis=-1)

    @property
    def cubic_misses(self) -> np.ndarray:
        """By how much the Gram matrices miss the first cubic equation, over |C1| and threshold squared, mean of the
        seeds: (width,)."""
        residual, _ = lazy_active.cubic_residuals(self.weights.first, self.weights.second, self.threshold)
        return (residual / (self.relative_gram_norms * self.threshold**3)).max(axis=0).mean(axis=-1)


def flows(trial: Trial) -> Widths:
    """Return the flows of all widths; the target is drawn again from the sweep's seed.

    The times are those of the first network: `width_cells` saves all of them at the same ones.
    """
    networks = cells(trial)
    ordered = networks.transpose("state", "ratio", "seed", "output", "hidden", "input")
    problem, threshold = task_and_threshold(networks.sizes["input"], int(networks.attrs["seed"]))
    weights = ln.Weights(ordered["first"].values, ordered["second"].values)
    times = ordered["times"].values[:, 0, 0]
    return Widths(times, weights, threshold, problem, ordered["ratio"].values)
