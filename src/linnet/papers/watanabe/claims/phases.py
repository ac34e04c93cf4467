"""Watanabe et al., section 3: when the two phases happen, what the bound (20) is worth, what speeds them up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.observables import crossing_time
from linnet.papers.watanabe.claims.early import SMALL
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
from linnet.papers.watanabe.tables import phase_times
from linnet.papers.watanabe.tables.phase_times import DELTAS, Cell, grid, read, settling_time
from linnet.reproduction import Claim, Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.theories.spiked import TwoPhase

if TYPE_CHECKING:
    import xarray as xr

GRID = (
    f"{NETWORKS}; spikes {{0.5, 1, 2, 5, 20, 50, 100}} x alignments {{0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95}} "
    "(3 x 3 of them in quick mode)"
)
FAMILIES: dict[str, list[tuple[float, float]]] = {  # the curves of Figure 3
    "spike": [(spike, FIXED_ALIGNMENT) for spike in (1.0, 5.0, 20.0, 50.0)],
    "alignment": [(FIXED_SPIKE, alignment) for alignment in (0.1, 0.3, 0.5, 0.7, 0.9)],
}
EARLY = Limit(0.05, "t1 takes s for u(0), which is 0.82 s here and spreads by 5%: 1 to 3% of t1")
OWN_EARLY = Limit(0.01, "with the start's own u(0), what is left is w2 while w1 grows: below 0.5%")
CLOSED_FORM = Limit(1e-8, "an integral in closed form against quadrature")
ENDS = Limit(1e-3, "what is left of the approach to the limit after ten time units, e^-8")
BOUND = Limit(1.0, "the bound itself: t2 - t1 may not exceed it")
TIGHT = Limit(0.05, "tight: within 5%, where w1 varies by less than 1%")
ONSET = Limit(0.05, "w2 counts as settled within e^-3 = 5% of its limit, so as begun above 5% of it")
COINCIDES = Limit(0.1, "'coincides well': within a tenth of t2")
RATE = Limit(0.005, "what is left of the start's decaying part and of the saturation is worth 0.1%")
FASTER = Limit(1.0, "each neighbour is faster, if only by the 0.1% between the weakest pairs")
SLOWER = Limit(0.99, "each neighbour's rate at least 1% lower; the networks' own scatter is below 0.1%")
NOT_SHORTER = Limit(-0.01, "a length that does not fall with A, up to 1%, the scatter of its definition")
GOVERNED = Limit(1.5, "'governed by': the rate follows lambda2 within a factor of 1.5 where w1 falls to its limit")
PRIMARILY = Limit(0.1, "'primarily': the later phase changes by less than a tenth of what the early one does, in logs")
TAIL = Limit(1e-6, "a millionth of the first loss: below what the figure or a use of the network shows")


def table(trial: Trial) -> list[Cell]:
    """The pairs of docs/phase_times.md."""
    return read(phase_times.TABLE.results(trial))


@lru_cache(maxsize=8)
def row_of_pairs(trial: Trial, name: str, spike: float, alignments: tuple[float, ...]) -> xr.Dataset:
    """Networks of one spike and several alignments, trained once for all claims that look at them."""
    return ln.sweeps.run(grid(trial, name, (spike,), alignments))


def names(rows: Sequence[Cell]) -> str:
    """The pairs as `spike: alignments`."""
    spikes = sorted({cell.spike for cell in rows})
    parts = [f"{s:g}: {', '.join(f'{c.alignment:g}' for c in rows if c.spike == s)}" for s in spikes]
    return "; ".join(parts) or "none"


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


def measure_bound(trial: Trial) -> dict[str, Any]:
    rows = table(trial)
    inside = [cell for cell in rows if cell.inside]
    over = [cell for cell in inside if (cell.length > cell.bound).any()]
    shares = [float((1 / cell.slack).max()) for cell in inside]
    literal = sum(bool((cell.allowed <= cell.early).all()) for cell in inside)
    return {
        "value": highest(shares) if shares else float("nan"),
        "pairs": len(rows),
        "inside": len(inside),
        "literal": literal,
        "over": names(over),
        "from half": len(over),
        "w2": highest(cell.w2_there.max() for cell in inside) if inside else float("nan"),
    }


def judge_bound(numbers: Numbers) -> Verdict:
    if not numbers["inside"]:
        return Verdict.OUTSIDE
    return Verdict.HOLDS if numbers["value"] <= BOUND else Verdict.REFUTED


def tell_bound(numbers: Numbers) -> str:
    return (
        f"counted from the moment its hypothesis is met, t2 - t1 is at most {numbers['value']:.3f} of the bound in the "
        f"{numbers['inside']} of {numbers['pairs']} pairs where that happens before t2 ({numbers['literal']} of them "
        f"by the time w1^2 is at half its plateau; w2 has up to {numbers['w2']:.0%} of its limit then); counted from "
        f"half the plateau it is exceeded in {numbers['from half']} of these pairs ({numbers['over']})"
    )


def measure_closed_bound(trial: Trial) -> dict[str, float]:
    from scipy.integrate import quad

    errors = []
    for spike, alignment in ((20.0, 0.3), (2.0, 0.9), (100.0, 0.5), (0.5, 0.1)):
        run = TwoPhase(spike, alignment)
        c = 1 + spike * (2 + spike) * alignment**2  # |Sigma_xy|^2, and v2^T Sigma v2, v1^T Sigma v2 from the spike
        lambda2 = 1 + spike * (1 - alignment**2) / c
        nu = spike * (1 + spike) * alignment * np.sqrt(1 - alignment**2) / c
        first = lambda2 / np.hypot(lambda2, nu)
        end = -np.expm1(-DELTA) * nu / lambda2 * first

        def integrand(w2: float, first: float = first, nu: float = nu, lambda2: float = lambda2) -> float:
            return 1 / ((first**2 + w2**2) * (nu * first - lambda2 * w2))

        errors.append(abs(run.later_bound(DELTA) / quad(integrand, 0, end, epsabs=1e-13, epsrel=1e-12)[0] - 1))
    return {"value": highest(errors)}


def tell_closed_bound(numbers: Numbers) -> str:
    return f"(42) against the integral (40) by quadrature, at four pairs: relative error {numbers['value']:.1e}"


def measure_limits(trial: Trial) -> dict[str, float]:
    errors = []
    for pair in [(20.0, 0.3), (20.0, 0.9), (1.0, 0.5)][: 2 if trial.quick else 3]:
        run = trained(*pair, SCALE, trial.seed)
        size = np.linalg.norm(run.second[-1], axis=-1)
        errors.append(float(np.abs(run.components[-1] - TwoPhase(*pair).fixed_point).max()))
        errors.append(float(np.abs(size - 1).max()))
    return {"value": highest(errors)}


def tell_limits(numbers: Numbers) -> str:
    limits = "w1* = lambda2/hypot(lambda2, nu), w2* = nu w1*/lambda2 and a* = 1"
    return f"networks end within {numbers['value']:.1e} of {limits}"


def measure_tight(trial: Trial) -> dict[str, Any]:
    rows = read(row_of_pairs(trial, "watanabe-tight", 100.0, (0.8, 0.95, 0.99)))
    changes, excess = [[float(x.mean()) for x in part] for part in zip(*((c.change, c.slack - 1) for c in rows))]
    return {"value": abs(excess[-1]), "rise": highest(np.diff(excess)), "changes": changes, "excess": excess}


def judge_tight(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < TIGHT and numbers["rise"] < 0 else Verdict.REFUTED


def tell_tight(numbers: Numbers) -> str:
    pairs = zip(numbers["changes"], numbers["excess"], strict=True)
    return (
        "by how much the bound exceeds t2 - t1, and w1 varies while w2 grows: "
        f"{', '.join(f'{e:.1%} at {c:.1%}' for c, e in pairs)} (spike 100, alignments 0.8 to 0.99)"
    )


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
    Claim(
        name="eq20",
        number="Eqs. (20), (39)-(42)",
        sentence="The later phase takes at most the bound (20), provided that w1 stays above its limit and w2 below.",
        assumptions="w1 >= its limit and w2 <= its limit from t1 on, as the paper states them",
        setting=f"{GRID}; delta = 3; t1 is the moment from which the hypothesis is met",
        claimed="t2 - t1 <= bound",
        expected=Verdict.HOLDS,
        measure=measure_bound,
        judge=judge_bound,
        tell=tell_bound,
        limits={"(t2 - t1)/bound": BOUND},
    ),
    Claim(
        name="eq42",
        number="Eqs. (40), (42)",
        sentence="The integral of the bounded rate has the closed form (42).",
        assumptions="none: an identity",
        setting="four pairs of spike and alignment",
        claimed="identity",
        expected=Verdict.HOLDS,
        measure=measure_closed_bound,
        judge=below(value=CLOSED_FORM),
        tell=tell_closed_bound,
        limits={"relative error": CLOSED_FORM},
    ),
    Claim(
        name="eq41",
        number="Eq. (41)",
        sentence="The components end at w1* = lambda2 w2*/nu with w1*^2 + w2*^2 = a*^2 = 1.",
        assumptions=SMALL,
        setting=f"{NETWORKS}; two or three pairs",
        claimed="limits",
        expected=Verdict.HOLDS,
        measure=measure_limits,
        judge=below(value=ENDS),
        tell=tell_limits,
        limits={"distance": ENDS},
    ),
    Claim(
        name="tight",
        number="below Eq. (20)",
        sentence="The bound is tight if w1 changes little during the growth of w2.",
        assumptions="the hypothesis of (20)",
        setting=f"{NETWORKS}; spike 100, alignments 0.8, 0.95, 0.99; delta = 3",
        claimed="bound close to t2 - t1",
        expected=Verdict.HOLDS,
        measure=measure_tight,
        judge=judge_tight,
        tell=tell_tight,
        limits={"excess": TIGHT},
    ),
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
