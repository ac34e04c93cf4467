"""Watanabe et al., section 3.2.2: what is said of the curves of Figures 2 and 3."""

from __future__ import annotations

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import Dataset, by_name
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.reproduction.rows import Verdict, above, below, corrected, fact, printed, within
from linnet_papers.watanabe.figures.fig3 import LossSettings
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import (
    GRID,
    by_pair,
    mean_of,
    neighbors,
    pair_of,
    settling_time,
    theory_of,
)
from linnet_papers.watanabe.settings import (
    AT_PAIR,
    DELTA,
    DIM,
    NETWORKS,
    PAIR,
    SCALE,
    SCANNED,
    SEEDS,
    SMALL_SCALES,
    STRONG_SPIKES,
    WHOLE_PLANE,
    WIDTH,
    pair_name,
)
from linnet_papers.watanabe.training.phases import SCAN_DIM, Networks, coupled_networks, pair_moments, trained_networks

FIGURE = LossSettings()
FAMILIES: dict[str, list[tuple[float, float]]] = {  # the curves of Figure 3, and the edges of the plane
    "spike": [(spike, FIGURE.alignment) for spike in FIGURE.spikes],
    "alignment": [(FIGURE.spike, alignment) for alignment in FIGURE.alignments],
    **{f"spike, $A = {A}$": [(spike, A) for spike in (0.0, 0.2, 1.0, 5.0, 100.0)] for A in (0.05, 0.95)},
    **{rf"alignment, $\rho = {rho:g}$": [(rho, A) for A in (0.05, 0.1, 0.3, 0.6, 0.95)] for rho in (0.2, 100.0)},
}
PRIMARILY_ALONG = above(0.9, "'primarily': the direction's cosine with the path, averaged over its length")
COINCIDES = within(0.1, "'coincides well': within a tenth of $t_2$", of=0)
NOT_MORE = below(0.01, "a fraction of the first loss, read between saved times: up to 1% is interpolation")


def mean_cosine(steps: np.ndarray, axis: int) -> float:
    """Return the mean cosine of the steps (step, 2) of a path with an axis, weighted by their lengths; NaN for no
    step."""
    length = float(np.linalg.norm(steps, axis=1).sum())
    return float(steps[:, axis].sum()) / length if length > 0 else float("nan")


@claim(
    "direction",
    says="The trajectory evolves primarily along $v_1$, then makes a sharp turn and develops along $v_2$ to the "
    "solution.",
    assumes=f"Figure 1: {AT_PAIR}",
    tried=f"{NETWORKS} at Figure 1's pair, a corner of the region; $d = 6$, $m = 10$ elsewhere in it; along $v_1$ "
    "until $w_1$ has 90% of its plateau, along $v_2$ from the peak of $w_1$ on",
    region=STRONG_SPIKES,
)
def direction(trial: Trial) -> Rows:
    def of_run(run: Networks) -> dict[str, float]:
        found = by_name(of_path(path, run.moments.plateau) for path in run.components.swapaxes(0, 1))
        end = np.abs(run.components[-1] - run.moments.limit[:2]).max()
        return {name: max(values) if name == "turn" else min(values) for name, values in found.items()} | {"end": end}

    def of_path(path: np.ndarray, plateau: float) -> dict[str, float]:
        steps = np.diff(path, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        grown = int((path[:, 0] >= 0.9 * plateau).argmax())
        peak = int(path[:, 0].argmax())
        angles = np.degrees(np.arctan2(steps[:, 1], steps[:, 0]))
        begun, done = (int((lengths * (angles > angle) > 1e-6).argmax()) for angle in (30, 60))
        cosines = {"first": mean_cosine(steps[:grown], 0), "second": mean_cosine(steps[peak:], 1)}
        return {**cosines, "turn": lengths[begun:done].sum() / lengths.sum()}

    pairs = {name: (at["spike"], at["alignment"]) for name, at in trial.region(4).items()}
    runs = {
        name: trained_networks(trial) if pair == PAIR else coupled_networks(trial, pair) for name, pair in pairs.items()
    }
    found = by_name({name: of_run(run) for name, run in runs.items()})
    yield printed("mean cosine of the first part of the path with $v_1$", found["first"], PRIMARILY_ALONG)
    yield printed("mean cosine of the second part with $v_2$", found["second"], PRIMARILY_ALONG)
    yield printed(
        "fraction of the path within which the direction turns from 30 to 60 degrees",
        found["turn"],
        below(0.25, "'sharp': the middle third of the quarter turn takes less than a quarter of the path"),
    )
    yield printed(
        "largest distance of the end from the target",
        found["end"],
        below(1e-3, "what is left of the approach after ten time units, $e^{-8}$"),
    )


@claim(
    "loss-drops",
    says="The loss rests, drops sharply with the growth of $w_1$ while $w_2$ is negligible, and then falls smoothly, "
    "driven by the growth of $w_2$ and adjustments of $w_1$.",
    assumes=f"Figure 2: {AT_PAIR}",
    tried=f"{NETWORKS}; the drop is from 90% of the loss to 10% above the loss at the end of the early phase",
)
def loss_drops(trial: Trial) -> Rows:
    run = trained_networks(trial)
    limit = run.moments.limit[1]
    early = run.moments.early_time(SCALE)

    def of_network(i: int) -> dict[str, float]:
        loss, w1, w2 = run.loss[:, i] / run.loss[0, i], run.w1[:, i], run.w2[:, i]
        end = loss[(w1 >= 0.9 * run.moments.plateau).argmax()]
        begun, half, done = np.interp([-0.9, -0.5 * (1 + end), -end - 0.1 * (1 - end)], -loss, run.times)
        later = run.times >= done
        from_w1, from_w2 = (w[later][-1] - w[later][0] for w in (w1, w2))
        return {
            "rest": np.interp(early / 2, run.times, loss),
            "duration": (done - begun) / early,
            "negligible": np.interp(half, run.times, w2) / limit,
            "rise": np.diff(loss[later]).max(),
            "grown": (from_w2 - abs(from_w1)) / limit,
            "time": half,
        }

    found = by_name(of_network(i) for i in range(SEEDS))
    at_rest = above(0.99, "'rests': a change of 1% is not seen in the figure")
    yield printed("loss at $t_1/2$ over its first value, by network", found["rest"], at_rest)
    sharply = below(0.5, "'sharply': in less than half the time for which it rested")
    yield printed("duration of the drop over $t_1$, by network", found["duration"], sharply)
    yield printed(
        "fraction of its limit that $w_2$ has when half of the drop is done, by network",
        found["negligible"],
        below(0.05, "'negligible': below $e^{-3}$ of its limit, by which it counts as settled at the other end"),
    )
    decreases = below(1e-12, "'falls smoothly': it never rises, up to rounding")
    yield printed("largest change of the loss afterwards, by network", found["rise"], decreases)
    yield printed(
        "growth of $w_2$ afterwards less the motion of $w_1$, over the limit of $w_2$, by network",
        found["grown"],
        above(0.5, "'driven by' $w_2$, 'adjustments' of $w_1$: $w_2$ moves by more, the greater part of its limit"),
    )
    yield fact("time at which half of the drop is done", np.mean(found["time"]))


@claim(
    "onset",
    says="The component $w_2$ begins to grow after $w_1$ has reached its peak: once $w_1$ saturates, the later phase "
    "begins.",
    assumes=f"Figure 2: {AT_PAIR}",
    tried=NETWORKS,
    expected=Verdict.REFUTED,
)
def onset(trial: Trial) -> Rows:
    run = trained_networks(trial)
    at = (run.w1.argmax(0), np.arange(SEEDS))
    speed = run.w2_velocity
    shares = run.w2[at] / run.moments.limit[1]
    yield printed(
        "smallest fraction of its limit that $w_2$ has when $w_1$ peaks",
        lowest(shares),
        below(0.05, "$w_2$ counts as settled within $e^{-3}$ = 5% of its limit, so as begun above 5% of it"),
    )
    yield fact("largest such fraction", highest(shares))
    yield fact(
        "speed of $w_2$ at that time over its largest speed, the smallest of the networks",
        lowest(speed[at] / speed.max(0)),
    )
    yield fact("time at which $w_1$ peaks", run.times[at[0]].mean())


def settled_at(run: Networks, left: float) -> float:
    """Return when all but a fraction `left` of the limit of w2 has grown, the mean of the networks."""
    return float(np.mean([settling_time(run.times, w2, -np.log(left)) for w2 in (run.w2 / run.moments.limit[1]).T]))


@claim(
    "mark",
    says="The time $t_2$ of (20) coincides well with the saturation of $w_2$.",
    assumes=rf"Figure 2: {AT_PAIR}, $\delta = {DELTA:g}$",
    tried=f"{NETWORKS}; in the region $d = 6$",
    region={**SMALL_SCALES, "ratio": Range(1, 20, log=True, paper=(WIDTH / DIM,))},
    correction="for Figure 2 the mark stands where $w_2$ has 99.5% of its limit: it is a bound and no estimate",
)
def mark(trial: Trial) -> Rows:
    run = trained_networks(trial)
    at = run.theory.later_time(SCALE, DELTA)
    late = {
        name: coupled.theory.later_time(setting["scale"], DELTA) / settled_at(coupled, 0.005) - 1
        for name, setting in trial.region(2).items()
        for coupled in [coupled_networks(trial, PAIR, scale=setting["scale"], ratio=setting["ratio"])]
    }
    elsewhere = {pair: coupled_networks(trial, pair) for pair in ((2.0, 0.3), (50.0, 0.3), (20.0, 0.9))}
    words = "relative delay of the mark after $w_2$ has"
    yield printed(
        f"{words} $1 - e^{{-3}}$ of its limit, which defines $t_2$", at / settled_at(run, np.exp(-DELTA)) - 1, COINCIDES
    )
    yield corrected(f"{words} 99.5% of its limit, in the region", late, COINCIDES)
    yield corrected(f"{words} 99.5% of its limit, Figure 2's network", at / settled_at(run, 0.005) - 1, COINCIDES)
    yield fact("time of the mark", at)
    yield fact(
        "fraction of its limit that $w_2$ then has",
        np.mean([np.interp(at, run.times, w2) for w2 in run.w2.T]) / run.moments.limit[1],
    )
    yield fact(
        f"{words} 99.5% of its limit, at other pairs",
        {
            pair_name(*pair): one.theory.later_time(SCALE, DELTA) / settled_at(one, 0.005) - 1
            for pair, one in elsewhere.items()
        },
    )


def loss_crossing(weaker: np.ndarray, stronger: np.ndarray) -> float:
    """Return the largest normalized loss of the weaker (time,) at which the stronger's is above it; 0 where it never
    is."""
    above_it = (stronger > weaker * (1 + 1e-3)) & (weaker > 1e-12)  # below 1e-12 rounding decides
    return float(weaker[above_it].max(initial=0.0))


def trial_pairs(pairs: list[tuple[float, float]], trial: Trial) -> list[tuple[float, float]]:
    """Return all pairs of a row; the first two and the last in quick mode."""
    return [*pairs[:2], pairs[-1]] if trial.quick else pairs


@claim(
    "order",
    says="A larger spike or alignment keeps the normalized training loss lower throughout.",
    assumes="small Gaussian initialization",
    tried=f"{NETWORKS}; the curves of Figure 3, and the edges of the plane: spikes 0 to 100 at alignments 0.05 and "
    "0.95, alignments 0.05 to 0.95 at spikes 0.2 and 100, with $d = 6$ (three of each row in quick mode); seed by "
    "seed, all from the same weights in the adapted basis of each pair",
)
def order(trial: Trial) -> Rows:
    levels = {}
    for name, pairs in FAMILIES.items():
        dim = DIM if name in ("spike", "alignment") else SCAN_DIM  # those of Figure 3, and the edges of the plane
        runs = [coupled_networks(trial, pair, dim=dim) for pair in trial_pairs(pairs, trial)]
        times = np.linspace(0, min(run.times[-1] for run in runs), 4000)
        crossings = []
        for seed in range(SEEDS):
            shares = [run.loss[:, seed] / run.loss[0, seed] for run in runs]
            curves = [
                np.exp(np.interp(times, run.times, np.log(share))) for run, share in zip(runs, shares, strict=True)
            ]
            crossings += [loss_crossing(*curves[i : i + 2]) for i in range(len(curves) - 1)]
        levels[name] = highest(crossings)
    yield printed(
        "largest normalized loss at which a curve lies above that of its weaker neighbor, by what varies",
        levels,
        below(1e-3, "a tenth of the width of the figure's line; below it tails cross, as the late rate falls with $A$"),
    )


def halved(run: Networks) -> float:
    """Return the smallest rate at which the loss falls after the first maximum of that rate, over it; the mean."""

    def of_network(loss: np.ndarray) -> float:
        kept = loss > 1e-9 * loss[0]
        rates = -np.diff(np.log(loss[kept])) / np.diff(run.times[kept])
        falling = np.flatnonzero(np.diff(rates) < -1e-3 * rates.max())
        first = falling[0] if falling.size else rates.size - 1
        return float(rates[first:].min() / rates[first])

    return float(np.mean([of_network(loss) for loss in run.loss.T]))


@claim(
    "indistinct",
    says="When spike and alignment are small it becomes difficult to distinguish between the two phases.",
    assumes="small Gaussian initialization",
    tried=rf"{SCANNED}; $(\rho, A)$ = (1, 0.5), (20, 0.1) and large ones of Figure 3; two phases are seen where "
    r"the rate $-d \ln L/dt$ has a minimum after its first maximum",
    region={"spike": Range(0.1, 1, log=True), "alignment": Range(0.03, 0.5)},
)
def indistinct(trial: Trial) -> Rows:
    small = {name: (at["spike"], at["alignment"]) for name, at in trial.region(4).items()}
    large = {pair_name(*pair): pair for pair in ((20.0, 0.3), (20.0, 0.5), (20.0, 0.9), (50.0, 0.5))}
    kept, broken = (
        {name: halved(coupled_networks(trial, pair)) for name, pair in pairs.items()} for pairs in (small, large)
    )
    words = "smallest rate at which the loss falls after its first maximum, over that maximum"
    never = above(0.5, "'difficult to distinguish': the rate never halves")
    yield printed(f"{words}, small spikes", kept, never)
    yield printed(f"{words}, small alignment: (20, 0.1)", halved(coupled_networks(trial, (20.0, 0.1))), never)
    yield printed(
        f"{words}, large parameters", broken, below(0.5, "two phases: between them the rate more than halves")
    )


@claim(
    "early-share",
    says="The early phase reduces the loss substantially, the more so the larger the spike and the alignment.",
    assumes="small Gaussian initialization",
    tried=f"{GRID}; the loss when $w_1$ has 90% of its plateau; the closed form against matrices in the region",
    region=WHOLE_PLANE,
    correction=r"the early phase alone leaves $\rho^2 (1 + \rho) A^2 (1 - A^2)/[(1 + \rho A^2)(1 + ((1 + \rho)^3 - 1) "
    r"A^2)]$, nothing without a spike, at $A = 0$ and at $A = 1$; it falls with spike and alignment beyond its maximum "
    "in each",
)
def early_share(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.grid(trial))
    steps = neighbors(cells, "spike") + neighbors(cells, "alignment")
    rises = {pair_of(*step): mean_of(step[1], "left") - mean_of(step[0], "left") for step in steps}
    shown = [cell for cell in cells if cell.alignment == FIGURE.alignment]

    def distance(spike: float, alignment: float) -> float:
        """Return the distance of the closed form from least squares along v1."""
        moments = pair_moments(spike, alignment)
        signal = moments.limit @ moments.cov @ moments.limit
        return abs(1 - moments.cross[0] ** 2 / moments.cov[0, 0] / signal - TwoPhase(spike, alignment).early_loss)

    yield printed("rise of the loss that is left, from a pair to the next stronger one", rises, NOT_MORE)
    beyond = {pair_of(*step): rises[pair_of(*step)] for step in steps if past_maximum(*step)}
    yield corrected("the same rise beyond the maximum of the closed form", beyond, NOT_MORE)
    yield corrected(
        "distance of the closed form from least squares along $v_1$ alone",
        {name: distance(**setting) for name, setting in trial.region(40).items()},
        below(1e-12, "a closed form against matrices, both of order 1"),
    )
    yield fact("normalized loss that is left at alignment 0.5", by_pair(shown, lambda cell: mean_of(cell, "left")))
    yield fact("the same by the closed form", by_pair(shown, lambda cell: theory_of(cell).early_loss))


def past_maximum(weaker: Dataset, stronger: Dataset) -> bool:
    """Return whether the closed form falls all the way from one pair to the next."""
    spikes, alignments = (
        np.linspace(float(weaker[name]), float(stronger[name]), 50) for name in ("spike", "alignment")
    )
    along = [TwoPhase(*pair).early_loss for pair in zip(spikes, alignments, strict=True)]
    return bool(np.all(np.diff(along) < 0))
