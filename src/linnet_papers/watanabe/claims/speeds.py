"""Watanabe et al., sections 3.2.2 and 5: what speeds up or slows down the two phases, over spikes and alignments."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from linnet.observables import crossing_time
from linnet_papers.reproduction import Rows, Trial, above, below, both, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import highest
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import (
    DELTAS,
    GRID,
    by_pair,
    inside_hypothesis,
    mean_of,
    neighbors,
    pair_of,
    settling_time,
    theory_of,
)
from linnet_papers.watanabe.settings import DELTA, PLANE, SCANNED, WHOLE_PLANE
from linnet_papers.watanabe.training.phases import Networks, coupled_networks


def last_rate(run: Networks) -> float:
    """Return how fast w2 approaches its limit between delta = 5 and delta = 8, the mean of the networks."""
    shares = run.w2 / run.moments.limit[1]
    settled = [[settling_time(run.times, share, delta) for share in shares.T] for delta in DELTAS[1:]]
    return float(np.mean((DELTAS[2] - DELTAS[1]) / (np.array(settled[1]) - settled[0])))


@claim(
    "later-speed",
    says=r"A larger spike primarily accelerates the early phase, while a stronger alignment slows the convergence of "
    r"the later phase, as $\lambda_2$ falls: its rate falls with $A$ and its length $t_2 - t_1$ rises.",
    assumes="small Gaussian initialization; lengths where the hypothesis of (20) is met",
    tried=f"{GRID}; {SCANNED}, each with an alignment halfway from there to 1",
    region=PLANE,
    correction="the rate of the last approach falls with the alignment at every spike, the length $t_2 - t_1$ has no "
    "order",
)
def later_speed(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    steps = neighbors(cells, "alignment")

    def slowing(spike: float, alignment: float) -> float:
        weaker, stronger = (coupled_networks(trial, (spike, A)) for A in (alignment, 0.5 * (1 + alignment)))
        return last_rate(stronger) / last_rate(weaker)

    slower = below(0.998, "the rate is lower, by more than the networks' scatter of 0.1%")
    yield both(
        "rate of the last approach, over that at the next weaker alignment",
        {pair_of(*step): mean_of(step[1], "late_rate") / mean_of(step[0], "late_rate") for step in steps},
        slower,
    )
    yield corrected(
        "rate of the last approach halfway from this alignment to 1, over that at it",
        {name: slowing(**setting) for name, setting in trial.region(4).items()},
        slower,
    )
    yield printed(
        r"largest ratio of $\lambda_2$ at neighboring alignments",
        highest(theory_of(stronger).lambda2 / theory_of(weaker).lambda2 for weaker, stronger in steps),
        below(1, r"'as $\lambda_2$ falls': each stronger alignment has a smaller one"),
    )
    yield printed(
        "relative change of $t_2 - t_1$ from an alignment to the next",
        {
            pair_of(stronger): mean_of(stronger, "length") / mean_of(weaker, "length") - 1
            for weaker, stronger in steps
            if len(inside_hypothesis((weaker, stronger))) == 2
        },
        above(-0.01, "a length that does not fall with $A$, up to 1%, the scatter of its definition"),
    )
    for words, name in (("$t_1$", "early"), ("$t_2 - t_1$", "length")):
        yield fact(
            f"{words} at the alignments, largest over smallest",
            {
                f"spike {spike:g}": np.exp(np.ptp(np.log([mean_of(cell, name) for cell in one])))
                for spike, one in groupby(cells, key=lambda cell: float(cell.spike))
            },
        )


@claim(
    "governed",
    says=r"The speed of the later phase is governed by $\lambda_2$, where $w_1$ decreases during it.",
    assumes="the hypothesis of (20)",
    tried=f"{GRID}; every pair where the hypothesis is met before $t_2$; with the correction {SCANNED}",
    region=WHOLE_PLANE,
    correction=r"the last approach has the rate $(T - \sqrt{T^2 - 8 (1 + \rho)})/2$, $T = 3 + \rho (1 + A^2)$, the "
    r"smaller of the two eigenvalues that $\Sigma (I + \beta \beta^\top)$ has in the plane of $\mu$ and $\beta$",
)
def governed(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    ratios = by_pair(inside_hypothesis(cells), lambda cell: mean_of(cell, "late_rate") / theory_of(cell).lambda2)
    runs = {name: coupled_networks(trial, (at["spike"], at["alignment"])) for name, at in trial.region(8).items()}
    yield printed(
        r"factor between the rate of $w_2$'s last approach and $\lambda_2$",
        {pair: max(ratio, 1 / ratio) for pair, ratio in ratios.items()},
        below(
            1.5, r"'governed by': the rate follows $\lambda_2$ within a factor of 1.5 where $w_1$ falls to its limit"
        ),
    )
    close = below(0.1, "where both rates nearly meet they mix, by 9% at spike 1, $A = 0.01$; elsewhere 2% is found")
    error = "relative error of that eigenvalue for the rate"
    yield corrected(error, {name: abs(last_rate(run) / run.theory.late_rate - 1) for name, run in runs.items()}, close)
    yield corrected(
        f"{error}, $d = 30$",
        by_pair(cells, lambda cell: abs(mean_of(cell, "late_rate") / theory_of(cell).late_rate - 1)),
        close,
    )
    yield fact(r"rate over $\lambda_2$", ratios)


def change(weaker: tuple[float, float], stronger: tuple[float, float]) -> float:
    """Return how much t2 - t1 changes between two pairs of t1 and t2 - t1, over how much t1 does, in logarithms."""
    early, later = np.log(np.divide(stronger, weaker))
    return abs(later / early)


def both_times(run: Networks) -> tuple[float, float]:
    """Return t1 and t2 - t1 of coupled networks, the mean of them."""
    half = 0.5 * run.moments.plateau**2
    early = [crossing_time(run.times, w1**2, half) for w1 in run.w1.T]
    settled = [settling_time(run.times, share, DELTA) for share in (run.w2 / run.moments.limit[1]).T]
    return float(np.mean(early)), float(np.mean(np.subtract(settled, early)))


@claim(
    "spike-speed",
    says="A larger spike primarily accelerates the early phase.",
    assumes="small Gaussian initialization",
    tried=rf"{GRID}; from each spike to the next; 0.5 to 2 at alignment 0.05; {SCANNED}, with $A$ from "
    r"$1.5/(1 + \rho)$ (way 0) to 0.97 (way 1), each with a spike 1.2 times as large",
    region={"spike": PLANE["spike"], "way": (0, 1)},
    correction=r"so it does where $(1 + \rho) A$ is 1.5 or more",
)
def spike_speed(trial: Trial) -> Rows:
    grids = (phase_times.grid, phase_times.weak_grid)
    steps = [step for cells in grids for step in neighbors(phase_times.read(cells(trial)), "spike")]
    shares = {
        pair_of(*step): change(*((mean_of(cell, "early"), mean_of(cell, "length")) for cell in step)) for step in steps
    }
    strong = {pair_of(*step): (1 + step[0].spike) * step[0].alignment >= 1.5 for step in steps}

    def in_region(spike: float, way: float) -> float:
        least = 1.5 / (1 + spike)
        pairs = ((factor * spike, least + way * (0.97 - least)) for factor in (1, 1.2))
        return change(*(both_times(coupled_networks(trial, pair)) for pair in pairs))

    primarily = below(0.5, "'primarily': the later phase changes by less than half of what the early one does, in logs")
    words = "change of $t_2 - t_1$ over that of $t_1$ from a spike to a larger one, in logarithms"
    yield printed(words, shares, primarily)
    among = {name: share for name, share in shares.items() if strong[name]}
    yield corrected(rf"{words}, where $(1 + \rho) A$ is 1.5 or more", among, primarily)
    scanned = {name: in_region(**setting) for name, setting in trial.region(4).items()}
    yield corrected("the same to a spike 1.2 times as large, over the region", scanned, primarily)
    yield fact(
        "factor by which $t_1$ falls from a spike to the next",
        {pair_of(*step): mean_of(step[0], "early") / mean_of(step[1], "early") for step in steps},
    )
