"""Watanabe et al., section 3.2.1: how long the early phase takes, on the pairs that claims on both phases look at."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.observables import crossing_time
from linnet.papers.watanabe.networks import trained
from linnet.papers.watanabe.settings import (
    ALIGNMENT,
    NETWORKS,
    SEEDS,
    SPIKE,
)
from linnet.papers.watanabe.tables import phase_times
from linnet.papers.watanabe.tables.phase_times import Cell, grid, read
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.spiked import TwoPhase

if TYPE_CHECKING:
    import xarray as xr

GRID = (
    f"{NETWORKS}; spikes {{0.5, 1, 2, 5, 20, 50, 100}} x alignments {{0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95}} "
    "(3 x 3 of them in quick mode)"
)
EARLY = Limit(0.05, "t1 takes s for u(0), which is 0.82 s here and spreads by 5%: 1 to 3% of t1")
OWN_EARLY = Limit(0.01, "with the start's own u(0), what is left is w2 while w1 grows: below 0.5%")
RATE = Limit(0.005, "what is left of the start's decaying part and of the saturation is worth 0.1%")
FASTER = Limit(1.0, "each neighbour is faster, if only by the 0.1% between the weakest pairs")


def table(trial: Trial) -> list[Cell]:
    """The pairs of docs/phase_times.md."""
    return read(phase_times.TABLE.results(trial))


@lru_cache(maxsize=8)
def row_of_pairs(trial: Trial, name: str, spike: float, alignments: tuple[float, ...]) -> xr.Dataset:
    """Networks of one spike and several alignments, trained once for all claims that look at them."""
    return ln.sweeps.run(grid(trial, name, (spike,), alignments))


def measure_early_time(trial: Trial) -> dict[str, Any]:
    rows = table(trial)
    errors = [abs(float(cell.early.mean() / cell.early_time - 1)) for cell in rows]
    own = [float(np.abs(cell.early / cell.own_early_time - 1).max()) for cell in rows]
    used = [1e-3, 1e-6] if trial.quick else [1e-3, 1e-4, 1e-6]
    theory = TwoPhase(SPIKE, ALIGNMENT)
    for s in used:
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        half = 0.5 * run.moments.plateau**2
        times = np.array([crossing_time(run.times, w1**2, half) for w1 in run.components[..., 0].T])
        errors.append(abs(float(times.mean() / theory.early_time(s) - 1)))
        own.append(float(np.max(np.abs(times / [theory.early_time(u0) for u0 in run.u0] - 1))))
    return {"value": highest(errors), "median": float(np.median(errors)), "own": highest(own)} | {
        "pairs": len(rows),
        "scales": used,
    }


def judge_early_time(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < EARLY and numbers["own"] < OWN_EARLY else Verdict.REFUTED


def tell_early_time(numbers: Numbers) -> str:
    return (
        f"t1 against the mean time at which w1^2 passes half its plateau: off by {numbers['value']:.2%} at most, "
        f"{numbers['median']:.2%} in the median, over {numbers['pairs']} pairs of {SEEDS} networks and s = "
        f"{', '.join(f'{s:g}' for s in numbers['scales'])}; with each start's own u(0) for s, off by "
        f"{numbers['own']:.2%} at most for any network"
    )


def measure_early_speed(trial: Trial) -> dict[str, float]:
    rows = table(trial)
    spikes, alignments = (sorted({getattr(cell, name) for cell in rows}) for name in ("spike", "alignment"))
    rates = np.array([cell.rate.mean() for cell in rows]).reshape(len(spikes), len(alignments))
    steps = [rates[1:] / rates[:-1], rates[:, 1:] / rates[:, :-1]]
    errors = [np.abs(cell.rate / TwoPhase(cell.spike, cell.alignment).correlation - 1).max() for cell in rows]
    return {"value": highest(errors), "least step": lowest(step.min() for step in steps)} | {
        "slowest": float(rates.min()),
        "fastest": float(rates.max()),
    }


def judge_early_speed(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < RATE and numbers["least step"] > FASTER else Verdict.REFUTED


def tell_early_speed(numbers: Numbers) -> str:
    return (
        f"the rate at which w1 grows is |Sigma_xy| to {numbers['value']:.2%}; it goes from {numbers['slowest']:.3f} to "
        f"{numbers['fastest']:.1f} over the grid, by a factor of {numbers['least step']:.4f} or more from any pair to "
        "the next larger spike or alignment"
    )


CLAIMS = [
    Claim(
        name="t1",
        number="Section 3.2.1",
        sentence="The early phase lasts log(|Sigma_xy|/(lambda1 s^2))/(2|Sigma_xy|).",
        assumptions="small Gaussian start",
        setting=f"{GRID}; s from 1e-3 to 1e-6 at spike 20, alignment 0.3",
        claimed="characteristic timescale",
        expected=Verdict.HOLDS,
        measure=measure_early_time,
        judge=judge_early_time,
        tell=tell_early_time,
        limits={"relative error of the mean": EARLY, "with u(0) for s": OWN_EARLY},
    ),
    Claim(
        name="early-speed",
        number="Sections 3.2.1 and 5",
        sentence="The speed of the early phase is proportional to |Sigma_xy| and rises with spike and alignment.",
        assumptions="small Gaussian start",
        setting=GRID,
        claimed="rate |Sigma_xy|, rising with both",
        expected=Verdict.HOLDS,
        measure=measure_early_speed,
        judge=judge_early_speed,
        tell=tell_early_speed,
        limits={"relative error of the rate": RATE, "least ratio of neighbours": FASTER},
    ),
]
