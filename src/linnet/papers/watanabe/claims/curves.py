"""Watanabe et al., section 3.2.2: what is said of the curves of Figures 2 and 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.papers.watanabe.claims.rules import below
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
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.spiked import TwoPhase

FAMILIES: dict[str, list[tuple[float, float]]] = {  # the curves of Figure 3
    "spike": [(spike, FIXED_ALIGNMENT) for spike in (1.0, 5.0, 20.0, 50.0)],
    "alignment": [(FIXED_SPIKE, alignment) for alignment in (0.1, 0.3, 0.5, 0.7, 0.9)],
}
ONSET = Limit(0.05, "w2 counts as settled within e^-3 = 5% of its limit, so as begun above 5% of it")
COINCIDES = Limit(0.1, "'coincides well': within a tenth of t2")
TAIL = Limit(1e-6, "a millionth of the first loss: below what the figure or a use of the network shows")


def measure_onset(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed)
    w1, w2 = run.components[..., 0], run.components[..., 1]
    peaks = w1.argmax(0)
    shares = w2[peaks, np.arange(SEEDS)] / run.moments.limit[1]
    return {"value": lowest(shares), "time": float(run.times[peaks].mean()), "most": highest(shares)}


def judge_onset(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < ONSET else Verdict.REFUTED


def tell_onset(numbers: Numbers) -> str:
    return (
        f"where w1 peaks (t = {numbers['time']:.2f}), w2 has already {numbers['value']:.1%} to {numbers['most']:.1%} "
        "of its limit"
    )


def measure_mark(trial: Trial) -> dict[str, float]:
    run, theory = trained(SPIKE, ALIGNMENT, SCALE, trial.seed), TwoPhase(SPIKE, ALIGNMENT)
    shares = run.components[..., 1] / run.moments.limit[1]
    times = np.array([settling_time(run.times, share, DELTA) for share in shares.T])
    mark = theory.later_time(SCALE, DELTA)
    return {"value": abs(mark / float(times.mean()) - 1), "mark": mark, "time": float(times.mean())} | {
        "share": float(np.mean([np.interp(mark, run.times, share) for share in shares.T]))
    }


def tell_mark(numbers: Numbers) -> str:
    return (
        f"the mark stands at t = {numbers['mark']:.2f}; w2 reaches 1 - e^-3 of its limit, which defines t2, at "
        f"{numbers['time']:.2f}, and has {numbers['share']:.1%} of it at the mark: a bound, {numbers['value']:.0%} late"
    )


def loss_crossing(weaker: np.ndarray, stronger: np.ndarray) -> float:
    """The largest normalised loss of the weaker (time,) at which the stronger's is above it; 0 where it never is."""
    above = (stronger > weaker * (1 + 1e-3)) & (weaker > 1e-12)  # below 1e-12 rounding decides
    return float(weaker[above].max(initial=0.0))


def measure_order(trial: Trial) -> dict[str, float]:
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


def tell_order(numbers: Numbers) -> str:
    return (
        "a curve never lies above that of its weaker neighbour while that one's normalised loss exceeds "
        f"{numbers['spike']:.0e} along the spikes and {numbers['alignment']:.0e} along the alignments, where the tails "
        "cross"
    )


def measure_early_share(trial: Trial) -> dict[str, Any]:
    ends: dict[str, list[float]] = {}
    for name, pairs in FAMILIES.items():
        losses = []
        for pair in pairs:
            run = trained(*pair, SCALE, trial.seed)
            w1 = run.components[..., 0]
            grown = (w1 >= 0.9 * run.moments.plateau).argmax(0)
            losses.append(float((run.loss[grown, np.arange(SEEDS)] / run.loss[0]).mean()))
        ends[name] = losses
    return {"value": highest(np.diff(ends["alignment"])), **ends}


def tell_early_share(numbers: Numbers) -> str:
    found = [f"{', '.join(f'{x:.2f}' for x in numbers[name])} along the {name}s" for name in FAMILIES]
    return (
        f"normalised loss left when w1 has 90% of its plateau: {'; '.join(found)} of Figure 3. Along the spikes it is "
        "not monotone: without a spike the early phase is all there is"
    )


EARLY_SHARE = Limit(-0.01, "each neighbour leaves at least 1% of the first loss less")


CLAIMS = [
    Claim(
        name="onset",
        number="Section 3.2.2, on Figure 2",
        sentence="The component w2 begins to grow after w1 has reached its peak.",
        assumptions="Figure 2: spike 20, alignment 0.3",
        setting=NETWORKS,
        claimed="w2 still small at the peak of w1",
        expected=Verdict.REFUTED,
        measure=measure_onset,
        judge=judge_onset,
        tell=tell_onset,
        limits={"w2 over its limit": ONSET},
    ),
    Claim(
        name="mark",
        number="Section 3.2.2, on Figure 2",
        sentence="The time t2 of (20) coincides well with the saturation of w2.",
        assumptions="Figure 2: spike 20, alignment 0.3, delta = 3",
        setting=NETWORKS,
        claimed="coincides",
        expected=Verdict.REFUTED,
        measure=measure_mark,
        judge=below(value=COINCIDES),
        tell=tell_mark,
        limits={"relative distance": COINCIDES},
    ),
    Claim(
        name="order",
        number="Section 3.2.2, Figure 3",
        sentence="A larger spike or alignment keeps the normalised training loss lower throughout.",
        assumptions="small Gaussian start",
        setting=f"{NETWORKS}; the curves of Figure 3, seed by seed",
        claimed="no crossing",
        expected=Verdict.HOLDS,
        measure=measure_order,
        judge=below(value=TAIL),
        tell=tell_order,
        limits={"loss at a crossing": TAIL},
    ),
    Claim(
        name="early-share",
        number="Section 3.2.2, Figure 3",
        sentence="The early phase reduces the loss substantially, the more so the stronger the alignment.",
        assumptions="small Gaussian start",
        setting=f"{NETWORKS}; the curves of Figure 3",
        claimed="the loss after the early phase falls with A",
        expected=Verdict.HOLDS,
        measure=measure_early_share,
        judge=below(value=EARLY_SHARE),
        tell=tell_early_share,
        limits={"largest change of neighbours": EARLY_SHARE},
    ),
]
