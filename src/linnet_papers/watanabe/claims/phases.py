"""Watanabe et al., section 3.2.1: how long the early phase takes, on the pairs that claims on both phases look at."""

from __future__ import annotations

import numpy as np

from linnet.observables import crossing_time
from linnet_papers.reproduction import Rows, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.reproduction.rows import Estimate, above, below, both, corrected, fact, printed, within
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import GRID, by_pair, mean_of, neighbors, theory_of
from linnet_papers.watanabe.settings import DIM, PAIR, PLANE, SCALE, SCANNED, SEEDS, SMALL_SCALES, WIDTH
from linnet_papers.watanabe.training.phases import SCAN_DIM, coupled_networks


def typical_start(scale: float, ratio: float) -> float:
    """Return the root mean square of u(0), for a width of `ratio` times the number of inputs."""
    return 0.5 * scale * np.sqrt(1 + ratio)


@claim(
    "t1",
    says=r"The early phase lasts $\log(\lvert \Sigma_{xy} \rvert/(\lambda_1 s^2))/(2 \lvert \Sigma_{xy} \rvert)$.",
    assumes=r"small Gaussian initialization, $m \ge d$",
    tried=f"{SCANNED.replace('$m = 10$', '$m$ = 6 to 600')}; Figure 1's network, and in full mode $d = 300$, "
    f"$m = 3000$; with $u(0)$ also {GRID}",
    region={**PLANE, **SMALL_SCALES},
    correction=r"it lasts $\log(4 \lvert \Sigma_{xy} \rvert/[\lambda_1 s^2 (1 + m/d)])/(2 \lvert \Sigma_{xy} \rvert)$, "
    r"as $u(0)$ is about $\frac{s}{2} \sqrt{1 + m/d}$ and not $s$",
)
def early_time(trial: Trial) -> Rows:
    """Compare with when w1^2 passes half its plateau; u(0)^2 is chi-squared, with m degrees of freedom."""
    cells = phase_times.read(phase_times.grid(trial))
    own = by_pair(cells, lambda cell: np.abs(cell.own_early - 1).max(skipna=False).item())
    early: dict[str, float] = {}

    def delay(name: str, dim: int, spike: float, alignment: float, scale: float, ratio: float) -> Estimate:
        """Return the relative delay after the corrected time; note that after t1, and the largest with its own u(0)."""
        run = coupled_networks(trial, (spike, alignment), scale=scale, ratio=ratio, dim=dim, end=1.0)
        half = 0.5 * run.moments.plateau**2
        times = np.array([crossing_time(run.times, w1**2, half) for w1 in run.w1.T])
        wanted = run.theory.early_time(typical_start(scale, ratio))
        spread = np.sqrt(2 / (round(ratio * dim) * SEEDS)) / (2 * run.moments.cross[0])
        early[name] = times.mean() / run.theory.early_time(scale) - 1
        own[name] = np.abs(times / [run.theory.early_time(u0) for u0 in run.u0] - 1).max()
        return Estimate((times.mean() - wanted) / wanted, spread / wanted)

    late = {name: delay(name, SCAN_DIM, **setting) for name, setting in trial.region(4).items()}
    large = (
        {"Figure 1's network": (DIM, WIDTH)}
        if trial.quick
        else {"Figure 1's network": (DIM, WIDTH), "$d = 300$, $m = 3000$": (300, 3000)}
    )
    paper = {name: delay(name, dim, *PAIR, SCALE, width / dim) for name, (dim, width) in large.items()}
    words = "relative delay of the mean time at which $w_1^2$ passes half its plateau"
    few = 0.07, "1 to 3% where $m = 1.67 d$, as $u(0)$ is then $0.82 s$, and as much again from network to network"
    yield printed(f"{words} after $t_1$", early, within(*few, of=0))
    known = 0.01, "what has grown of $w_2$ is worth 0.5%; the error is that of $u(0)$, by the law of its square"
    yield corrected(f"{words} after the corrected $t_1$", late, within(*known, of=0, errors=4.5))
    yield corrected("the same for the paper's network", paper, within(*known, of=0, errors=4.5))
    left = below(0.01, "what has grown of $w_2$ while $w_1$ grows is worth 0.5%")
    yield both("relative error for any network with its own $u(0)$ in place of $s$", own, left)
    errors = by_pair(cells, lambda cell: abs(mean_of(cell, "early") / theory_of(cell).early_time(SCALE) - 1))
    yield fact("relative delay after $t_1$ where $m = 1.67 d$", errors)


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
