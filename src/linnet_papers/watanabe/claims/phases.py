"""Watanabe et al., section 3.2.1: how long the early phase takes, on the pairs that claims on both phases look at."""

from __future__ import annotations

import numpy as np

from linnet.observables import crossing_time
from linnet_papers.reproduction import Above, AllOf, Below, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.watanabe.settings import AT_PAIR, SCALE, SEEDS
from linnet_papers.watanabe.tables import phase_times
from linnet_papers.watanabe.tables.phase_times import GRID, mean_of, neighbors, theory_of
from linnet_papers.watanabe.training.phases import trained_networks


@claim(
    "t1",
    says="The early phase lasts log(|Sigma_xy|/(lambda1 s^2))/(2|Sigma_xy|).",
    assumes="small Gaussian start",
    tried=f"{GRID}; s from 1e-3 to 1e-6 at {AT_PAIR}",
    holds=AllOf(
        Below(
            0.07,
            "errors",
            what="largest relative error of the mean",
            form=".2%",
            because="t1 takes s for u(0), which is 0.82 s here: 1 to 3% of t1; u(0) spreads by 10% from network to "
            "network, which adds as much again to the worst of the pairs",
        ),
        Below(
            0.01,
            "own",
            what="largest of any network with its own u(0) for s",
            form=".2%",
            because="with the start's own u(0), what is left is w2 while w1 grows: below 0.5%",
        ),
    ),
    reads=f"t1 against the mean time at which w1^2 passes half its plateau: {{median:.2%}} off in the median, over "
    f"{{pairs}} pairs of {SEEDS} networks and s = {{scales:g}}",
)
def early_time(trial: Trial) -> Numbers:
    rows = phase_times.TABLE.rows(trial)
    errors = [abs(mean_of(cell, "early") / theory_of(cell).early_time(SCALE) - 1) for cell in rows]
    own = [np.abs(cell.own_early - 1).max(skipna=False).item() for cell in rows]
    used = [1e-3, 1e-6] if trial.quick else [1e-3, 1e-4, 1e-6]
    for s in used:
        run = trained_networks(trial, scale=s)
        half = 0.5 * run.moments.plateau**2
        times = np.array([crossing_time(run.times, w1**2, half) for w1 in run.w1.T])
        errors.append(abs(times.mean() / run.theory.early_time(s) - 1))
        own.append(np.abs(times / [run.theory.early_time(u0) for u0 in run.u0] - 1).max())
    return {"errors": errors, "median": np.median(errors), "own": own, "pairs": len(rows), "scales": used}


@claim(
    "early-speed",
    says="The speed of the early phase is proportional to |Sigma_xy| and rises with spike and alignment.",
    assumes="small Gaussian start",
    tried=GRID,
    holds=AllOf(
        Below(
            0.005,
            what="distance of the rate from |Sigma_xy|",
            form=".2%",
            because="what is left of the start's decaying part and of the saturation is worth 0.1%",
        ),
        Above(
            1.0,
            "least step",
            what="least ratio to the rate at the next smaller spike or alignment",
            form=".4f",
            because="each neighbor is faster, if only by the 0.1% between the weakest pairs",
        ),
    ),
    reads="the rate at which w1 grows goes from {rates.lowest:.3f} to {rates.highest:.1f} over the grid",
)
def early_speed(trial: Trial) -> Numbers:
    rows = phase_times.TABLE.rows(trial)
    steps = neighbors(rows, "spike") + neighbors(rows, "alignment")
    return {
        "value": highest(np.abs(cell.rate / theory_of(cell).correlation - 1).max(skipna=False) for cell in rows),
        "least step": lowest(mean_of(stronger, "rate") / mean_of(weaker, "rate") for weaker, stronger in steps),
        "rates": [mean_of(cell, "rate") for cell in rows],
    }
