"""Watanabe et al., sections 3.2.2 and 5: what speeds up or slows down the two phases, over spikes and alignments."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from linnet_papers.reproduction import Rows, Trial, Verdict, above, below, both, claim, corrected, fact, printed
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.fits import highest
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import (
    GRID,
    by_pair,
    inside_hypothesis,
    mean_of,
    neighbors,
    pair_of,
    theory_of,
)

PRIMARILY = below(0.5, "'primarily': the later phase changes by less than half of what the early one does, in logs")


@claim(
    "later-speed",
    says=r"A stronger alignment slows the convergence of the later phase, as $\lambda_2$ falls: its rate falls with "
    "$A$ and its length $t_2 - t_1$ rises.",
    assumes="small Gaussian initialization; lengths where the hypothesis of (20) is met",
    tried=GRID,
    correction="the rate of the last approach falls with the alignment at every spike, the length $t_2 - t_1$ has no "
    "order",
)
def later_speed(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    steps = neighbors(cells, "alignment")
    strongest = [cell for cell in cells if cell.spike == cells[-1].spike]
    yield both(
        "largest ratio of the rates of the last approach at neighboring alignments",
        highest(mean_of(stronger, "late_rate") / mean_of(weaker, "late_rate") for weaker, stronger in steps),
        below(0.998, "each neighbor's rate is lower, by more than the networks' scatter of 0.1%"),
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
    yield fact(
        "rate of the last approach at the strongest spike", by_pair(strongest, lambda c: mean_of(c, "late_rate"))
    )
    yield fact("$t_2 - t_1$ at the strongest spike", by_pair(strongest, lambda cell: mean_of(cell, "length")))


@claim(
    "governed",
    says=r"The speed of the later phase is governed by $\lambda_2$, where $w_1$ decreases during it.",
    assumes="the hypothesis of (20)",
    tried=f"{GRID}; every pair where the hypothesis is met before $t_2$",
    correction=r"the last approach has the rate $(T - \sqrt{T^2 - 8 (1 + \rho)})/2$, $T = 3 + \rho (1 + A^2)$, the "
    r"smaller eigenvalue of $\Sigma (I + \beta \beta^\top)$",
)
def governed(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    ratios = by_pair(inside_hypothesis(cells), lambda cell: mean_of(cell, "late_rate") / theory_of(cell).lambda2)
    yield printed(
        r"factor between the rate of $w_2$'s last approach and $\lambda_2$",
        {pair: max(ratio, 1 / ratio) for pair, ratio in ratios.items()},
        below(
            1.5, r"'governed by': the rate follows $\lambda_2$ within a factor of 1.5 where $w_1$ falls to its limit"
        ),
    )
    yield corrected(
        "relative error of that eigenvalue for the rate, over all pairs",
        by_pair(cells, lambda cell: abs(mean_of(cell, "late_rate") / theory_of(cell).late_rate - 1)),
        below(0.1, "two close rates mix (1.93 and 2.07 at spike 1, $A = 0.05$); elsewhere 2% is found"),
    )
    yield fact(r"rate over $\lambda_2$", ratios)


def changes(steps: list[tuple[Dataset, Dataset]]) -> dict[str, float]:
    """Return how much t2 - t1 changes from a cell to its neighbor, over how much t1 does, in logarithms."""
    shares = {}
    for weaker, stronger in steps:
        later, early = (np.log(mean_of(stronger, name) / mean_of(weaker, name)) for name in ("length", "early"))
        shares[pair_of(weaker, stronger)] = abs(later / early)
    return shares


@claim(
    "spike-speed",
    says="A larger spike primarily accelerates the early phase.",
    assumes="small Gaussian initialization",
    tried=f"{GRID}; from each spike to the next; 0.5 to 2 at alignment 0.05, 20.5 to 23.5 at 0.07",
    correction=r"so it does where $(1 + \rho) A$ is 1.5 or more",
)
def spike_speed(trial: Trial) -> Rows:
    grids = (phase_times.grid, phase_times.weak_grid, phase_times.border_grid)
    steps = [step for cells in grids for step in neighbors(phase_times.read(cells(trial)), "spike")]
    strong = [step for step in steps if (1 + step[0].spike) * step[0].alignment >= 1.5]
    yield printed(
        "change of $t_2 - t_1$ over that of $t_1$ from a spike to the next, in logarithms", changes(steps), PRIMARILY
    )
    yield corrected(r"the same where $(1 + \rho) A$ is 1.5 or more", changes(strong), PRIMARILY)
    yield fact(
        "factor by which $t_1$ falls from a spike to the next",
        {pair_of(*step): mean_of(step[0], "early") / mean_of(step[1], "early") for step in steps},
    )


@claim(
    "contrast",
    says="Where a larger spike acts on the early phase, a stronger alignment acts by slowing the later one.",
    assumes="small Gaussian initialization",
    tried=f"{GRID}; over all alignments at each spike",
    expected=Verdict.REFUTED,
)
def contrast(trial: Trial) -> Rows:
    early, later = {}, {}
    for spike, cells in groupby(phase_times.read(phase_times.grid(trial)), key=lambda cell: float(cell.spike)):
        times = np.array([(mean_of(cell, "early"), mean_of(cell, "length")) for cell in cells])
        early[f"spike {spike:g}"], later[f"spike {spike:g}"] = times.max(axis=0) / times.min(axis=0)
    yield printed(
        "change of $t_2 - t_1$ along $A$ over that of $t_1$, in logarithms",
        {name: np.log(later[name]) / np.log(early[name]) for name in early},
        above(1, "the later phase changes by more than the early one, where the alignment acts on it"),
    )
    yield fact("factor by which $t_1$ falls over the alignments", early)
    yield fact("factor by which $t_2 - t_1$ varies over them", later)
