"""Watanabe et al., section 3.2.2: what is said of the curves of Figures 2 and 3."""

from __future__ import annotations

import numpy as np

from linnet.papers.watanabe.networks import trained
from linnet.papers.watanabe.settings import (
    ALIGNMENT,
    DELTA,
    FIXED_ALIGNMENT,
    FIXED_SPIKE,
    NETWORKS,
    SCALE,
    SEEDS,
    SPIKE,
)
from linnet.papers.watanabe.tables.phase_times import settling_time
from linnet.reproduction import Below, Numbers, Trial, Verdict, claim
from linnet.reproduction.fits import highest, lowest
from linnet.theories.spiked import TwoPhase

FAMILIES: dict[str, list[tuple[float, float]]] = {  # the curves of Figure 3
    "spike": [(spike, FIXED_ALIGNMENT) for spike in (1.0, 5.0, 20.0, 50.0)],
    "alignment": [(FIXED_SPIKE, alignment) for alignment in (0.1, 0.3, 0.5, 0.7, 0.9)],
}


@claim(
    "onset",
    where="Section 3.2.2, on Figure 2",
    says="The component w2 begins to grow after w1 has reached its peak.",
    assumes="Figure 2: spike 20, alignment 0.3",
    tried=NETWORKS,
    expected=Verdict.REFUTED,
    holds=Below(
        0.05,
        what="least share of its limit that w2 has where w1 peaks",
        form=".1%",
        because="w2 counts as settled within e^-3 = 5% of its limit, so as begun above 5% of it",
    ),
    reads="where w1 peaks (t = {time:.2f}), w2 has {value:.1%} to {most:.1%} of its limit",
)
def onset(trial: Trial) -> Numbers:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed)
    w1, w2 = run.components[..., 0], run.components[..., 1]
    peaks = w1.argmax(0)
    shares = w2[peaks, np.arange(SEEDS)] / run.moments.limit[1]
    return {"value": lowest(shares), "time": float(run.times[peaks].mean()), "most": highest(shares)}


@claim(
    "mark",
    where="Section 3.2.2, on Figure 2",
    says="The time t2 of (20) coincides well with the saturation of w2.",
    assumes="Figure 2: spike 20, alignment 0.3, delta = 3",
    tried=NETWORKS,
    expected=Verdict.REFUTED,
    holds=Below(0.1, what="relative distance", form=".0%", because="'coincides well': within a tenth of t2"),
    reads="the mark stands at t = {mark:.2f}; w2 reaches 1 - e^-3 of its limit, which defines t2, at {time:.2f}, and "
    "has {share:.1%} of it at the mark",
)
def mark(trial: Trial) -> Numbers:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed)
    shares = run.components[..., 1] / run.moments.limit[1]
    time = float(np.mean([settling_time(run.times, share, DELTA) for share in shares.T]))
    at = TwoPhase(SPIKE, ALIGNMENT).later_time(SCALE, DELTA)
    share = float(np.mean([np.interp(at, run.times, share) for share in shares.T]))
    return {"value": abs(at / time - 1), "mark": at, "time": time, "share": share}


def loss_crossing(weaker: np.ndarray, stronger: np.ndarray) -> float:
    """The largest normalised loss of the weaker (time,) at which the stronger's is above it; 0 where it never is."""
    above = (stronger > weaker * (1 + 1e-3)) & (weaker > 1e-12)  # below 1e-12 rounding decides
    return float(weaker[above].max(initial=0.0))


@claim(
    "order",
    where="Section 3.2.2, Figure 3",
    says="A larger spike or alignment keeps the normalised training loss lower throughout.",
    assumes="small Gaussian start",
    tried=f"{NETWORKS}; the curves of Figure 3, seed by seed",
    holds=Below(
        1e-6,
        what="loss at which a curve crosses that of its weaker neighbour",
        form=".0e",
        because="a millionth of the first loss: below what the figure or a use of the network shows",
    ),
    reads="a curve first lies above that of its weaker neighbour where that one's normalised loss is {spike:.0e} along "
    "the spikes and {alignment:.0e} along the alignments",
)
def order(trial: Trial) -> Numbers:
    levels = {}
    for name, pairs in FAMILIES.items():
        runs = [trained(*pair, SCALE, trial.seed) for pair in pairs]
        times = np.linspace(0, min(run.times[-1] for run in runs), 4000)
        found = []
        for seed in range(SEEDS):
            curves = [np.exp(np.interp(times, r.times, np.log(r.loss[:, seed] / r.loss[0, seed]))) for r in runs]
            found += [loss_crossing(*curves[i : i + 2]) for i in range(len(curves) - 1)]
        levels[name] = highest(found)
    return {"value": highest(levels.values()), **levels}


@claim(
    "early-share",
    where="Section 3.2.2, Figure 3",
    says="The early phase reduces the loss substantially, the more so the stronger the alignment.",
    assumes="small Gaussian start",
    tried=f"{NETWORKS}; the curves of Figure 3",
    holds=Below(
        -0.01,
        what="largest change from an alignment to the next",
        because="each neighbour leaves at least 1% of the first loss less",
    ),
    reads="normalised loss left when w1 has 90% of its plateau: {spike:.2f} along the spikes and {alignment:.2f} along "
    "the alignments of Figure 3",
)
def early_share(trial: Trial) -> Numbers:
    ends: dict[str, list[float]] = {}
    for name, pairs in FAMILIES.items():
        ends[name] = []
        for pair in pairs:
            run = trained(*pair, SCALE, trial.seed)
            grown = (run.components[..., 0] >= 0.9 * run.moments.plateau).argmax(0)
            ends[name].append(float((run.loss[grown, np.arange(SEEDS)] / run.loss[0]).mean()))
    return {"value": highest(np.diff(ends["alignment"])), **ends}
