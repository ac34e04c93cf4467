"""Watanabe et al., section 3.2.2: what speeds up or slows down the later phase."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.papers.watanabe.claims.phases import GRID, row_of_pairs, table
from linnet.papers.watanabe.claims.rules import below
from linnet.papers.watanabe.settings import (
    FIXED_ALIGNMENT,
    FIXED_SPIKE,
    NETWORKS,
)
from linnet.papers.watanabe.tables.phase_times import DELTAS, Cell, read
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.spiked import TwoPhase

SLOWER = Limit(0.99, "each neighbour's rate at least 1% lower; the networks' own scatter is below 0.1%")
NOT_SHORTER = Limit(-0.01, "a length that does not fall with A, up to 1%, the scatter of its definition")
GOVERNED = Limit(1.5, "'governed by': the rate follows lambda2 within a factor of 1.5 where w1 falls to its limit")
PRIMARILY = Limit(0.1, "'primarily': the later phase changes by less than a tenth of what the early one does, in logs")


def later_cells(trial: Trial) -> list[Cell]:
    """Spike 20, alignments 0.1 to 0.9."""
    return read(row_of_pairs(trial, "watanabe-later-speed", FIXED_SPIKE, (0.1, 0.3, 0.5, 0.7, 0.9)))


def late_rate(cell: Cell) -> float:
    """How fast w2 approaches its limit between delta = 3 and delta = 8."""
    return float(((DELTAS[1] - DELTAS[0]) / (cell.settled[DELTAS[1]] - cell.settled[DELTAS[0]])).mean())


def measure_later_speed(trial: Trial) -> dict[str, Any]:
    rows = later_cells(trial)
    rates = np.array([late_rate(cell) for cell in rows])
    lengths = np.array([float(cell.length.mean()) for cell in rows])
    inside = np.array([cell.inside for cell in rows])
    kept = lengths[inside]
    variances = [TwoPhase(cell.spike, cell.alignment).lambda2 for cell in rows]
    return {"value": highest(rates[1:] / rates[:-1]), "fall": lowest(np.diff(kept) / kept[:-1])} | {
        "rates": rates.tolist(),
        "lengths": lengths.tolist(),
        "outside": int((~inside).sum()),
        "variances": variances,
    }


def judge_later_speed(numbers: Numbers) -> Verdict:
    slower = numbers["value"] < SLOWER and numbers["fall"] > NOT_SHORTER
    return Verdict.HOLDS if slower and highest(np.diff(numbers["variances"])) < 0 else Verdict.REFUTED


def tell_later_speed(numbers: Numbers) -> str:
    return (
        "for alignments 0.1 to 0.9 w2 approaches its limit at the rates "
        f"{', '.join(f'{x:.2f}' for x in numbers['rates'])}, and t2 - t1 is "
        f"{', '.join(f'{x:.2f}' for x in numbers['lengths'])} (the first {numbers['outside']} outside the hypothesis "
        f"of (20), where lambda2 says nothing), while lambda2 falls from {numbers['variances'][0]:.2f} to "
        f"{numbers['variances'][-1]:.2f}: slower, though far less than in proportion"
    )


def measure_governed(trial: Trial) -> dict[str, Any]:
    rows = [cell for cell in later_cells(trial) if cell.inside]
    ratios = [late_rate(cell) / TwoPhase(cell.spike, cell.alignment).lambda2 for cell in rows]
    return {"value": highest(highest(ratios), 1 / lowest(ratios)), "ratios": ratios}


def tell_governed(numbers: Numbers) -> str:
    found = ", ".join(f"{x:.2f}" for x in numbers["ratios"])
    return f"rate of w2's approach to its limit over lambda2: {found} at the alignments where (20)'s hypothesis is met"


def measure_spike_speed(trial: Trial) -> dict[str, Any]:
    rows = [cell for cell in table(trial) if cell.alignment >= FIXED_ALIGNMENT]
    worst: dict[str, list[float]] = {"early": [], "later": []}
    for alignment in sorted({cell.alignment for cell in rows}):
        mine = [cell for cell in rows if cell.alignment == alignment]
        for name, times in (("early", [c.early.mean() for c in mine]), ("later", [c.length.mean() for c in mine])):
            worst[name].append(float(max(times) / min(times)))
    shares = [np.log(b) / np.log(a) for a, b in zip(worst["early"], worst["later"], strict=True)]
    return {"value": highest(shares), "early": lowest(worst["early"]), "later": highest(worst["later"])}


def tell_spike_speed(numbers: Numbers) -> str:
    return (
        f"from the weakest to the strongest spike t1 falls by a factor of {numbers['early']:.0f} or more, t2 - t1 "
        f"varies by one of {numbers['later']:.2f} at most: {numbers['value']:.1%} of it in logarithms (alignments of "
        "0.5 and more)"
    )


CLAIMS = [
    Claim(
        name="later-speed",
        number="Section 3.2.2, last paragraph",
        sentence="A stronger alignment slows the convergence of the later phase, as lambda2 falls.",
        assumptions="small Gaussian start; lengths where the hypothesis of (20) is met",
        setting=f"{NETWORKS}; spike 20, alignments 0.1 to 0.9",
        claimed="slower with A",
        expected=Verdict.HOLDS,
        measure=measure_later_speed,
        judge=judge_later_speed,
        tell=tell_later_speed,
        limits={"ratio of neighbouring rates": SLOWER, "change of length": NOT_SHORTER},
    ),
    Claim(
        name="governed",
        number="below Eq. (20), Section 5",
        sentence="The speed of the later phase is governed by lambda2, where w1 decreases during it.",
        assumptions="the hypothesis of (20)",
        setting=f"{NETWORKS}; spike 20, alignments 0.1 to 0.9",
        claimed="rate of the order of lambda2",
        expected=Verdict.HOLDS,
        measure=measure_governed,
        judge=below(value=GOVERNED),
        tell=tell_governed,
        limits={"rate over lambda2": GOVERNED},
    ),
    Claim(
        name="spike-speed",
        number="Section 3.2.2, last paragraph",
        sentence="A larger spike primarily accelerates the early phase.",
        assumptions="small Gaussian start; alignment 0.5 or more",
        setting=GRID,
        claimed="t1 falls, t2 - t1 hardly changes",
        expected=Verdict.HOLDS,
        measure=measure_spike_speed,
        judge=below(value=PRIMARILY),
        tell=tell_spike_speed,
        limits={"share of the change": PRIMARILY},
    ),
]
