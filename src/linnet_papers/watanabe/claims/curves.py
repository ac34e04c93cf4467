"""Watanabe et al., section 3.2.2: what is said of the curves of Figures 2 and 3."""

from __future__ import annotations

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, Verdict, claim
from linnet_papers.reproduction.datasets import Dataset, by_name
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.watanabe.figures.fig3 import LossSettings
from linnet_papers.watanabe.settings import AT_PAIR, DELTA, NETWORKS, SCALE, SEEDS
from linnet_papers.watanabe.tables import phase_times
from linnet_papers.watanabe.tables.phase_times import GRID, mean_of, neighbors, pair_of, settling_time, theory_of
from linnet_papers.watanabe.training.phases import pair_moments, trained_networks

FIGURE = LossSettings()
FAMILIES: dict[str, list[tuple[float, float]]] = {  # the curves of Figure 3, and the borders of the plane
    "spike": [(spike, FIGURE.alignment) for spike in FIGURE.spikes],
    "alignment": [(FIGURE.spike, alignment) for alignment in FIGURE.alignments],
    **{f"spike, A = {A}": [(spike, A) for spike in (0.0, 0.2, 1.0, 5.0, 100.0)] for A in (0.05, 0.95)},
    **{f"alignment, rho = {rho:g}": [(rho, A) for A in (0.05, 0.1, 0.3, 0.6, 0.95)] for rho in (0.2, 100.0)},
}
PRIMARILY_ALONG = Limit(0.9, "'primarily': the direction's cosine with the path, averaged over its length")
COINCIDES = Limit(0.1, "'coincides well': within a tenth of t2")
NOT_MORE = Limit(0.01, "a share of the first loss, read between saved times: up to 1% is interpolation")


def mean_cosine(steps: np.ndarray, axis: int) -> float:
    """Return the mean cosine of the steps (step, 2) of a path with an axis, weighted by their lengths; NaN for no
    step."""
    length = float(np.linalg.norm(steps, axis=1).sum())
    return float(steps[:, axis].sum()) / length if length > 0 else float("nan")


@claim(
    "direction",
    says="The trajectory evolves primarily along v1, then makes a sharp turn and develops along v2 to the solution.",
    assumes=f"Figure 1: {AT_PAIR}",
    tried=f"{NETWORKS}; along v1 until w1 has 90% of its plateau, along v2 from the peak of w1 on",
    holds=AllOf(
        Above(PRIMARILY_ALONG, "first", what="mean cosine with v1", form=".3f"),
        Above(PRIMARILY_ALONG, "second", what="mean cosine with v2", form=".3f"),
        Below(
            0.25,
            "turn",
            what="share of the path within which the direction turns from 30 to 60 degrees",
            form=".1%",
            because="'sharp': two thirds of the quarter turn's middle take less than a quarter of the path",
        ),
        Below(
            1e-3, "end", what="distance of the end from the target", form=".0e", because="e^-8 is left of the approach"
        ),
    ),
    reads="directions of motion in the plane of v1 and v2, each weighted by the length of the path",
)
def direction(trial: Trial) -> Numbers:
    run = trained_networks(trial)
    first, second, turns = [], [], []
    for path in run.components.swapaxes(0, 1):
        steps = np.diff(path, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        grown = int((path[:, 0] >= 0.9 * run.moments.plateau).argmax())
        peak = int(path[:, 0].argmax())
        first.append(mean_cosine(steps[:grown], 0))
        second.append(mean_cosine(steps[peak:], 1))
        angles = np.degrees(np.arctan2(steps[:, 1], steps[:, 0]))
        begun = int((lengths * (angles > 30) > 1e-6).argmax())
        done = int((lengths * (angles > 60) > 1e-6).argmax())
        turns.append(lengths[begun:done].sum() / lengths.sum())
    ends = np.abs(run.components[-1] - run.moments.limit[:2])
    return {"first": first, "second": second, "turn": turns, "end": ends.max()}


@claim(
    "loss-drops",
    says="The loss rests, drops sharply with the growth of w1 while w2 is negligible, and then falls smoothly, driven "
    "by the growth of w2 and adjustments of w1.",
    assumes=f"Figure 2: {AT_PAIR}",
    tried=NETWORKS,
    holds=AllOf(
        Above(0.99, "rest", what="loss at t1/2 over its start", form=".4f", because="at rest: within 1%"),
        Below(
            0.5,
            "duration",
            what="duration of the drop from 90% of the loss to 10% above the early phase's end, over t1",
            form=".2f",
            because="'sharply': in less than half the time it rested",
        ),
        Below(
            0.05,
            "negligible",
            what="share of its limit that w2 has where half of that drop is done",
            form=".1%",
            because="negligible: below e^-3 of its limit, by which it counts as settled at the other end",
        ),
        Below(
            1e-12,
            "rise",
            what="largest change of the loss afterwards",
            form=".1e",
            because="it decreases, up to rounding",
        ),
        Above(
            0.5,
            "grown",
            what="share of its limit by which w2 grows afterwards, less what w1 moves",
            form=".2f",
            because="driven by w2, adjusted by w1: w2 moves by more, the greater part of its limit",
        ),
    ),
    reads="the loss rests at {rest.lowest:.4f} of its start, and drops around t = {time:.2f}",
)
def loss_drops(trial: Trial) -> Numbers:
    run = trained_networks(trial)
    limit = run.moments.limit[1]
    early = run.moments.early_time(SCALE)

    def of_network(i: int) -> Numbers:
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

    numbers = by_name(of_network(i) for i in range(SEEDS))
    return {**numbers, "time": np.mean(numbers["time"])}


@claim(
    "onset",
    says="The component w2 begins to grow after w1 has reached its peak: once w1 saturates, the later phase begins.",
    assumes=f"Figure 2: {AT_PAIR}",
    tried=NETWORKS,
    expected=Verdict.REFUTED,
    holds=Below(
        0.05,
        what="least share of its limit that w2 has where w1 peaks",
        form=".1%",
        because="w2 counts as settled within e^-3 = 5% of its limit, so as begun above 5% of it",
    ),
    reads="where w1 peaks (t = {time:.2f}), w2 has {value:.1%} to {most:.1%} of its limit and grows at {speed:.1%} of "
    "its largest speed",
)
def onset(trial: Trial) -> Numbers:
    run = trained_networks(trial)
    at = (run.w1.argmax(0), np.arange(SEEDS))
    speed = run.w2_velocity
    shares = run.w2[at] / run.moments.limit[1]
    return {
        "value": lowest(shares),
        "time": run.times[at[0]].mean(),
        "most": highest(shares),
        "speed": lowest(speed[at] / speed.max(0)),
    }


@claim(
    "mark",
    says="The time t2 of (20) coincides well with the saturation of w2.",
    assumes=f"Figure 2: {AT_PAIR}, delta = {DELTA:g}",
    tried=NETWORKS,
    holds=Below(
        COINCIDES,
        what="how much later the mark is than w2 at 1 - e^-3 of its limit, which defines t2",
        form=".0%",
        otherwise="a bound, not an estimate",
    ),
    corrected=Below(COINCIDES, "last", what="how much later it is", form=".0%"),
    correction="the mark stands where w2 has 99.5% of its limit",
    reads="the mark stands at t = {mark:.2f}, where w2 has {share:.1%} of its limit; w2 reaches 1 - e^-3 of it at "
    "{time:.2f}; the mark is late by {late:.0%}",
)
def mark(trial: Trial) -> Numbers:
    run = trained_networks(trial)
    shares = run.w2 / run.moments.limit[1]
    at = run.theory.later_time(SCALE, DELTA)
    deltas = {"95%": DELTA, "99%": np.log(100), "99.5%": np.log(200)}
    times = {n: np.mean([settling_time(run.times, x, delta) for x in shares.T]) for n, delta in deltas.items()}
    late = {name: at / time - 1 for name, time in times.items()}
    return {
        "value": abs(late["95%"]),
        "last": abs(late["99.5%"]),
        "late": late,
        "mark": at,
        "time": times["95%"],
        "share": np.mean([np.interp(at, run.times, share) for share in shares.T]),
    }


def loss_crossing(weaker: np.ndarray, stronger: np.ndarray) -> float:
    """Return the largest normalized loss of the weaker (time,) at which the stronger's is above it; 0 where it never
    is."""
    above = (stronger > weaker * (1 + 1e-3)) & (weaker > 1e-12)  # below 1e-12 rounding decides
    return float(weaker[above].max(initial=0.0))


def trial_pairs(pairs: list[tuple[float, float]], trial: Trial) -> list[tuple[float, float]]:
    """Return all pairs of a row; the first two and the last in quick mode."""
    return [*pairs[:2], pairs[-1]] if trial.quick else pairs


@claim(
    "order",
    says="A larger spike or alignment keeps the normalized training loss lower throughout.",
    assumes="small Gaussian start",
    tried=f"{NETWORKS}; the curves of Figure 3, and the borders of the plane: spikes 0 to 100 at alignments 0.05 and "
    "0.95, alignments 0.05 to 0.95 at spikes 0.2 and 100 (three of each row in quick mode); seed by seed",
    holds=Below(
        1e-3,
        "levels",
        what="largest loss at which a curve lies above that of its weaker neighbor",
        form=".0e",
        because="a tenth of the width of the figure's line; below it tails cross, as the late rate falls with A",
    ),
    reads="the largest normalized loss of a curve at which that of its stronger neighbor lies above: {levels:.0e}",
)
def order(trial: Trial) -> Numbers:
    levels = {}
    for name, pairs in FAMILIES.items():
        runs = [trained_networks(trial, pair) for pair in trial_pairs(pairs, trial)]
        times = np.linspace(0, min(run.times[-1] for run in runs), 4000)
        crossings = []
        for seed in range(SEEDS):
            shares = [run.loss[:, seed] / run.loss[0, seed] for run in runs]
            curves = [
                np.exp(np.interp(times, run.times, np.log(share))) for run, share in zip(runs, shares, strict=True)
            ]
            crossings += [loss_crossing(*curves[i : i + 2]) for i in range(len(curves) - 1)]
        levels[name] = highest(crossings)
    return {"levels": levels}


@claim(
    "early-share",
    says="The early phase reduces the loss substantially, the more so the larger the spike and the alignment.",
    assumes="small Gaussian start",
    tried=f"{GRID}; the loss where w1 has 90% of its plateau",
    holds=Below(
        NOT_MORE, "rises", what="largest rise of the loss left, from a pair to the next stronger one", form=".3f"
    ),
    corrected=AllOf(
        Below(NOT_MORE, "beyond", what="largest rise beyond its maximum", form=".3f"),
        Below(
            1e-9,
            "identity",
            what="relative distance of that from least squares along v1 alone",
            form=".0e",
            because="a closed form against matrices",
        ),
    ),
    correction="the early phase alone leaves rho^2 (1 + rho) A^2 (1 - A^2)/[(1 + rho A^2)(1 + ((1 + rho)^3 - 1) A^2)], "
    "nothing without a spike, at A = 0 and at A = 1; it falls with spike and alignment beyond its maximum in each",
    reads="normalized loss left at alignment 0.5, along the spikes: {left:.3f}; by the closed form {wanted:.3f}",
)
def early_share(trial: Trial) -> Numbers:
    cells = phase_times.TABLE.rows(trial)
    steps = neighbors(cells, "spike") + neighbors(cells, "alignment")
    rises = {pair_of(*step): mean_of(step[1], "left") - mean_of(step[0], "left") for step in steps}
    identity = []
    for cell in cells:
        moments = pair_moments(float(cell.spike), float(cell.alignment))
        signal = moments.limit @ moments.cov @ moments.limit
        identity.append(abs((1 - moments.cross[0] ** 2 / moments.cov[0, 0] / signal) / theory_of(cell).early_loss - 1))
    shown = [cell for cell in cells if cell.alignment == FIGURE.alignment]
    return {
        "rises": rises,
        "beyond": [rises[pair_of(*step)] for step in steps if past_maximum(*step)],
        "identity": identity,
        "left": [mean_of(cell, "left") for cell in shown],
        "wanted": [theory_of(cell).early_loss for cell in shown],
    }


def past_maximum(weaker: Dataset, stronger: Dataset) -> bool:
    """Return whether the closed form falls all the way from one pair to the next."""
    spikes, alignments = (
        np.linspace(float(weaker[name]), float(stronger[name]), 50) for name in ("spike", "alignment")
    )
    along = [TwoPhase(*pair).early_loss for pair in zip(spikes, alignments, strict=True)]
    return bool(np.all(np.diff(along) < 0))
