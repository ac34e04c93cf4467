"""Watanabe et al., section 3.2.1: how long the early phase takes, on the pairs that claims on both phases look at."""

from __future__ import annotations

import numpy as np

from linnet.observables import crossing_time
from linnet_papers.reproduction import Rows, Trial, above, below, claim, fact, printed
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import GRID, by_pair, mean_of, neighbors, theory_of
from linnet_papers.watanabe.settings import AT_PAIR, SCALE
from linnet_papers.watanabe.training.phases import trained_networks


@claim(
    "t1",
    says=r"The early phase lasts $\log(\lvert \Sigma_{xy} \rvert/(\lambda_1 s^2))/(2 \lvert \Sigma_{xy} \rvert)$.",
    assumes="small Gaussian initialization",
    tried=rf"{GRID}; $s$ from $10^{{-3}}$ to $10^{{-6}}$ at {AT_PAIR}",
)
def early_time(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    errors = by_pair(cells, lambda cell: abs(mean_of(cell, "early") / theory_of(cell).early_time(SCALE) - 1))
    own = by_pair(cells, lambda cell: np.abs(cell.own_early - 1).max(skipna=False).item())
    for s in [1e-3, 1e-6] if trial.quick else [1e-3, 1e-4, 1e-6]:
        run = trained_networks(trial, scale=s)
        half = 0.5 * run.moments.plateau**2
        times = np.array([crossing_time(run.times, w1**2, half) for w1 in run.w1.T])
        errors[f"$s$ = {s:g}"] = abs(times.mean() / run.theory.early_time(s) - 1)
        own[f"$s$ = {s:g}"] = np.abs(times / [run.theory.early_time(u0) for u0 in run.u0] - 1).max()
    yield printed(
        "relative error of $t_1$ for the mean time at which $w_1^2$ passes half its plateau",
        errors,
        below(
            0.07,
            "$t_1$ takes $s$ for $u(0)$, which is $0.82 s$ here: 1 to 3% of $t_1$; $u(0)$ spreads by 10% from network "
            "to network, which adds as much again to the worst of the pairs",
        ),
    )
    yield printed(
        "the same for any network with its own $u(0)$ in place of $s$",
        own,
        below(0.01, "with the network's own $u(0)$, what is left is $w_2$ while $w_1$ grows: below 0.5%"),
    )
    yield fact("median of the relative errors with $s$", np.median(list(errors.values())))


@claim(
    "early-speed",
    says=r"The speed of the early phase is proportional to $\lvert \Sigma_{xy} \rvert$ and rises with spike and "
    "alignment.",
    assumes="small Gaussian initialization",
    tried=GRID,
)
def early_speed(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    steps = neighbors(cells, "spike") + neighbors(cells, "alignment")
    yield printed(
        r"relative distance of the rate at which $w_1$ grows from $\lvert \Sigma_{xy} \rvert$",
        highest(np.abs(cell.rate / theory_of(cell).correlation - 1).max(skipna=False) for cell in cells),
        below(0.005, "what is left of the decaying part and of the saturation is worth 0.1%"),
    )
    yield printed(
        "least ratio to the rate at the next smaller spike or alignment",
        lowest(mean_of(stronger, "rate") / mean_of(weaker, "rate") for weaker, stronger in steps),
        above(1.0, "each neighbor is faster, if only by the 0.1% between the weakest pairs"),
    )
    yield fact("rate at which $w_1$ grows", by_pair(cells, lambda cell: mean_of(cell, "rate")))
