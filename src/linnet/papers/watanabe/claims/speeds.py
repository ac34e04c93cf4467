"""Watanabe et al., section 3.2.2: what speeds up or slows down the later phase."""

from __future__ import annotations

import numpy as np

from linnet.papers.watanabe.settings import FIXED_ALIGNMENT, FIXED_SPIKE, NETWORKS
from linnet.papers.watanabe.tables import phase_times
from linnet.papers.watanabe.tables.phase_times import DELTAS, GRID, Cell
from linnet.reproduction import Above, AllOf, Below, Falls, Numbers, Trial, claim
from linnet.reproduction.fits import highest, lowest
from linnet.theories.spiked import TwoPhase


def later_cells(trial: Trial) -> list[Cell]:
    """Spike 20, alignments 0.1 to 0.9."""
    return phase_times.row(trial, "watanabe-later-speed", FIXED_SPIKE, (0.1, 0.3, 0.5, 0.7, 0.9))


def late_rate(cell: Cell) -> float:
    """How fast w2 approaches its limit between delta = 3 and delta = 8."""
    return float(((DELTAS[1] - DELTAS[0]) / (cell.settled[DELTAS[1]] - cell.settled[DELTAS[0]])).mean())


@claim(
    "later-speed",
    where="Section 3.2.2, last paragraph",
    says="A stronger alignment slows the convergence of the later phase, as lambda2 falls.",
    assumes="small Gaussian start; lengths where the hypothesis of (20) is met",
    tried=f"{NETWORKS}; spike 20, alignments 0.1 to 0.9",
    holds=AllOf(
        Below(
            0.99,
            what="largest ratio of neighbouring rates",
            because="each neighbour's rate at least 1% lower; the networks' own scatter is below 0.1%",
        ),
        Above(
            -0.01,
            "fall",
            what="least relative change of t2 - t1",
            because="a length that does not fall with A, up to 1%, the scatter of its definition",
        ),
        Falls(0, "variances", what="lambda2", because="the sentence says so"),
    ),
    reads="for alignments 0.1 to 0.9 w2 approaches its limit at the rates {rates:.2f}, and t2 - t1 is {lengths:.2f} "
    "(the first {outside} outside the hypothesis of (20))",
)
def later_speed(trial: Trial) -> Numbers:
    rows = later_cells(trial)
    rates = np.array([late_rate(cell) for cell in rows])
    lengths = np.array([float(cell.length.mean()) for cell in rows])
    inside = np.array([cell.inside for cell in rows])
    kept = lengths[inside]
    return {
        "value": highest(rates[1:] / rates[:-1]),
        "fall": lowest(np.diff(kept) / kept[:-1]),
        "rates": rates.tolist(),
        "lengths": lengths.tolist(),
        "outside": int((~inside).sum()),
        "variances": [TwoPhase(cell.spike, cell.alignment).lambda2 for cell in rows],
    }


@claim(
    "governed",
    where="below Eq. (20), Section 5",
    says="The speed of the later phase is governed by lambda2, where w1 decreases during it.",
    assumes="the hypothesis of (20)",
    tried=f"{NETWORKS}; spike 20, alignments 0.1 to 0.9",
    holds=Below(
        1.5,
        what="factor between rate and lambda2",
        because="'governed by': the rate follows lambda2 within a factor of 1.5 where w1 falls to its limit",
    ),
    reads="rate of w2's approach to its limit over lambda2: {ratios:.2f} at the alignments where (20)'s hypothesis is "
    "met",
)
def governed(trial: Trial) -> Numbers:
    rows = [cell for cell in later_cells(trial) if cell.inside]
    ratios = [late_rate(cell) / TwoPhase(cell.spike, cell.alignment).lambda2 for cell in rows]
    return {"value": highest(highest(ratios), 1 / lowest(ratios)), "ratios": ratios}


@claim(
    "spike-speed",
    where="Section 3.2.2, last paragraph",
    says="A larger spike primarily accelerates the early phase.",
    assumes="small Gaussian start; alignment 0.5 or more",
    tried=GRID,
    holds=Below(
        0.1,
        what="the later phase's share of the change, in logarithms",
        form=".1%",
        because="'primarily': the later phase changes by less than a tenth of what the early one does, in logs",
    ),
    reads="from the weakest to the strongest spike t1 falls by a factor of {early:.0f} or more, t2 - t1 varies by one "
    "of {later:.2f} at most",
)
def spike_speed(trial: Trial) -> Numbers:
    rows = [cell for cell in phase_times.TABLE.rows(trial) if cell.alignment >= FIXED_ALIGNMENT]
    worst: dict[str, list[float]] = {"early": [], "later": []}
    for alignment in sorted({cell.alignment for cell in rows}):
        mine = [cell for cell in rows if cell.alignment == alignment]
        for name, times in (("early", [c.early.mean() for c in mine]), ("later", [c.length.mean() for c in mine])):
            worst[name].append(float(max(times) / min(times)))
    shares = [np.log(b) / np.log(a) for a, b in zip(worst["early"], worst["later"], strict=True)]
    return {"value": highest(shares), "early": lowest(worst["early"]), "later": highest(worst["later"])}
