"""Claims on how singular values grow in the active region, stage by stage: section E.3, Theorems 2 and E.5."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import cells_of
from linnet_papers.reproduction.fits import exponent, highest
from linnet_papers.reproduction.rows import Estimate, Verdict, above, below, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import timeline
from linnet_papers.tu.grids.timeline import by_place, exponent_in_dim, rank_two_tasks
from linnet_papers.tu.settings import BOUND
from linnet_papers.tu.training.starts import active_start, threshold_of

BOTH = timeline.followed("(1)$ and $(1, 1/2)")
CONSTANT = below(1.1, "'almost constant': within a tenth")


@claim(
    "lazy-values",
    says="The newly active singular values converge while the lazy ones remain almost constant.",
    assumes=f"{timeline.ACTIVE}; from $T_1$, when the first value has crossed, to $T_3$, when the last of the signal "
    "is at half of its target",
    tried=BOTH,
    expected=Verdict.REFUTED,
)
def growth_of_lazy_values(trial: Trial) -> Rows:
    means = timeline.stages(trial, *timeline.SPECTRA).mean("seed", skipna=False)
    yield printed("$s_{K + 1}$ at $T_3$ over that at $T_1$", by_place(means.noise_grown), CONSTANT)
    yield fact(r"$s_{K + 1}$ at $T_3$ over $\sigma^2 w$", by_place(means.noise))
    yield fact("$s_{K + 1}$ at $T_3$ over $s_K$, at the largest $d$", by_place(means.noise_behind.isel(dim=-1)))


FEW = below(0.6, "an $O(.)$ that would have to grow with $d$ to be missed: twice the largest of several draws")


@claim(
    "early-distance",
    says=r"Until $\lvert A_t \rvert + \lvert A_\theta \rvert$ reaches $\sigma^2 w$, the network and eq. (1) from the "
    r"same initialization are within $O(\sigma^2 \sqrt{w d})$ of each other.",
    assumes=timeline.ACTIVE,
    tried=f"descent at $d = 30$, 90 (full: 50, 100, 200), 2 tasks each, $a = (1, 1/2)$, {timeline.EVERYWHERE}",
)
def distance_in_the_lazy_stage(trial: Trial) -> Rows:
    constants = {}
    for place, gammas in timeline.PLACES.items():
        for dim in (30, 90) if trial.quick else (50, 100, 200):
            threshold = threshold_of(dim, gammas)
            width = round(dim ** gammas[1])
            ratios = []
            for seed, task in enumerate(rank_two_tasks(trial, dim, 2)):
                weights = active_start(dim, gammas, key=[trial.seed, seed, 1])
                rate = 1 / (400 * dim)
                run = ln.gradient_descent(task, weights, learning_rate=rate, steps=300, save_every=10, keep="products")
                theory = lazy_active.self_consistent(task.cross, weights.product, threshold, run.times)
                network, equation, apart = np.linalg.norm([run.products, theory, run.products - theory], 2, axis=(2, 3))
                early = network + equation <= threshold
                ratios.append(apart[early].max() / (threshold * np.sqrt(dim / width)))
            constants[f"${place}$, $d = {dim}$"] = np.mean(ratios)
    yield printed(r"largest distance over $\sigma^2 \sqrt{w d}$", constants, FEW)


PASSED = above(1.0, "it has passed the threshold")
POWER = above(0.0, "the claimed power is positive; for $a = (1)$ the definition of $T_2$ says so", errors=2)


@claim(
    "second-stage",
    says=r"At $T_2$ the least singular value of the signal is above $\sigma^2 w$ by a power of $d$.",
    assumes=timeline.ACTIVE,
    tried=BOTH,
)
def signal_at_the_second_stage(trial: Trial) -> Rows:
    stages = timeline.stages(trial, *timeline.SPECTRA)
    sizes = by_place(stages.second.isel(dim=-1).mean("seed", skipna=False))
    slopes = [exponent_in_dim(cell.second) for cell in cells_of(stages, "place", "spectrum")]
    powers = dict(zip(sizes, slopes, strict=True))
    mean, error = zip(*(power for name, power in powers.items() if timeline.TWO in name))
    yield printed(r"$s_K$ at $T_2$ over $\sigma^2 w$, at the largest $d$", sizes, PASSED)
    yield printed(
        "power of $d$ with which it grows, $a = (1, 1/2)$, mean of the places",
        Estimate(float(np.mean(mean)), float(np.linalg.norm(error)) / len(error)),
        POWER,
    )
    yield fact("power of $d$ with which it grows", powers)


@claim(
    "projection",
    says=r"$\lvert (I - P_K) A \rvert_F$ is $O(\sigma^2 \sqrt{w} d + \sigma^2 w \log d)$ while the signal is learned.",
    assumes=timeline.ACTIVE,
    tried=BOTH,
)
def beyond_the_signal(trial: Trial) -> Rows:
    yield printed(
        r"largest $\lvert (I - P_K) A \rvert_F$ to $T_3$ over the sum of its two terms",
        by_place(timeline.stages(trial, *timeline.SPECTRA).rest.max("seed", skipna=False)),
        below(2.5, r"lazy modes learn $2 \sigma^2 w T_3$ of $E$, that is $1.6 \sigma^2 w \log d$ at most here"),
    )


DECAYS = below(-0.7, "$d^{-1}$ as 20 tasks show it at three dimensions")
ARRIVED = below(0.05, "the singular values are those of $A^* + E$ at the end of the run, which is not infinitely long")
NOISE = below(5.0, "the largest of 40 normal numbers of unit variance beside the shift $1/a$, in units of $1 + 1/a$")


@claim(
    "settling",
    says=r"After $T_5$ the signal's singular values are within $O(d^{-1} + d^{-2 \Delta}) \log d$ of $a_i d$.",
    assumes=timeline.ACTIVE,
    tried="$d = 40$, 80, 160 (full: 50, 100, 200), $a = (1, 1/2)$, 20 tasks; 3 trained networks each; value: $a_1$, "
    "with $a_2 = a_1/2$",
    correction=r"$\lvert s_i/(a_i d) - 1 \rvert$ is within that, not $\lvert s_i - a_i d \rvert$: the values go to "
    "those of $A^* + E$",
    region={"dim": Range(40, 300, log=True, whole=True), "value": Range(0.7, 7, log=True)},
)
def settled_values(trial: Trial) -> Rows:
    dims = (40, 80, 160) if trial.quick else (50, 100, 200)
    gaps = []
    for dim in dims:
        values = ln.observables.singular_values([task.cross for task in rank_two_tasks(trial, dim, 20)])
        gaps.append(values[:, :2] - dim * np.array(timeline.SPECTRA[timeline.TWO]))
    sizes = [np.sqrt((gap**2).mean()) for gap in gaps]
    yield printed(
        "power of $d$ with which the distance of a value of $A^* + E$ from $a_i d$ changes",
        exponent(dims, sizes)[0],
        DECAYS,
    )
    yield corrected(
        "largest relative distance of a trained value from that of $A^* + E$",
        timeline.stages(trial).left.max(skipna=False).item(),
        ARRIVED,
    )
    apart = {name: settled_distance(**setting, seed=trial.seed) for name, setting in trial.region(2).items()}
    yield corrected(r"largest $\lvert s_i/(a_i d) - 1 \rvert$ of $A^* + E$ over $(1 + 1/a_i)/(a_i d)$", apart, NOISE)
    yield fact(
        "root mean square distance from $a_i d$", dict(zip((f"$d = {dim}$" for dim in dims), sizes, strict=True))
    )


def settled_distance(dim: int, value: float, seed: int) -> float:
    """Return the largest distance of a signal's singular value of A* + E from a d over 1 + 1/a, of 20 tasks."""
    spectrum = np.array([value, value / 2])
    tasks = [
        ln.problems.low_rank_plus_noise(dim, rank=2, key=[seed, draw], spectrum=spectrum.tolist()) for draw in range(20)
    ]
    values = np.array([ln.observables.singular_values(task.cross)[:2] for task in tasks])
    return highest((np.abs(values - dim * spectrum) / (1 + 1 / spectrum)).max(axis=0))


HALF = 0.2, r"between the printed time and half of it, which the next order in $\log d$ blurs"
OWN = within(0.06, "the equation's own time, at the resolution of the saved states", of=1)


@claim(
    "thm2-time",
    says=r"From the threshold to half its target a singular value takes $d \log(a_K d/\sigma^2 w)/a_K$.",
    assumes=timeline.ACTIVE,
    tried=f"{timeline.followed('(1)')}; and at $d = 40$ over the region, total: $\\gamma_{{\\sigma^2}} + \\gamma_w$, "
    "value: $a_1$",
    correction="half of it, as its own equation has",
    region={"gamma_width": Range(2.0, 2.8), "total": Range(0.1, 0.5), "value": Range(0.5, 10, log=True)},
)
def time_of_growth(trial: Trial) -> Rows:
    means = timeline.stages(trial, "(1)").squeeze("spectrum", drop=True).mean("seed", skipna=False)
    largest = means.isel(dim=-1)
    share = by_place(largest.printed_share)
    yield printed("$T_3 - T_1$ over the printed time, at the largest $d$", share, within(*HALF, of=1))
    doubled = {place: 2 * one for place, one in share.items()}
    yield corrected(
        "$T_3 - T_1$ over half of the printed time, at the largest $d$", doubled, within(0.4, HALF[1], of=1)
    )
    own = "$T_3 - T_1$ over the time of its own equation"
    yield corrected(f"{own}, at the largest $d$", by_place(largest.own_share), OWN)
    elsewhere = {name: growth_share(**setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    yield corrected(f"{own} towards the value of $A^* + E$, $d = 40$", elsewhere, OWN)
    yield fact("$T_3 - T_1$ over the printed time", by_place(means.printed_share))


def growth_share(gamma_width: float, total: float, value: float, seed: int) -> float:
    """Return the time from the threshold to half of the target over that of the mode's own equation, at d = 40."""
    dim, gammas = 40, (total - gamma_width, gamma_width)
    threshold, goal = threshold_of(dim, gammas), value * dim
    task = ln.problems.low_rank_plus_noise(dim, rank=1, key=[seed, 0], spectrum=[value])
    start, rate = active_start(dim, gammas, key=[seed, 1]), 1 / (40 * goal)
    run = ln.gradient_descent(task, start, learning_rate=rate, steps=240, save_every=2, keep="products")
    leading = np.linalg.norm(run.products, 2, axis=(1, 2))
    first, third = (timeline.last_rise_time(run.times, leading, level) for level in (threshold, 0.5 * goal))
    final = float(np.linalg.norm(task.cross, 2))  # where it goes, a d up to the noise
    own = lazy_active.crossing_times(final, threshold, threshold, level=0.5 * goal)[0]
    return float((third - first) / own)


@claim(
    "settling-time",
    says=r"From $T_4$ the signal's singular values need at most $\max(1, 2 \Delta)/(2 a_K) d \log d$ to settle.",
    assumes=rf"{timeline.ACTIVE}; settled: within $d^{{-\min(1, 2 \Delta)}} \log d$ of those of $A^* + E$, relative; "
    "counted from $T_3$, where $T_4$ is (`alignment-stage`)",
    tried=BOTH,
)
def time_of_settling(trial: Trial) -> Rows:
    shares = by_place(timeline.stages(trial, *timeline.SPECTRA).settling.max("seed", skipna=False))
    gaps = [1 - sum(gammas) for gammas in timeline.PLACES.values()]
    yield printed(r"time from $T_3$ to settled over $\min(1, 2 \Delta)/(2 a_K) d \log d$", shares, BOUND)
    near_border = {f"$d = {dim}$": settling_share(dim, trial.seed) for dim in (40, 80)}
    yield printed(
        r"the same at $\Delta = 0.3$, $(\gamma_{\sigma^2}, \gamma_w) = (-1.55, 2.25)$, $a = (1)$", near_border, BOUND
    )
    longer = highest(misprints.final_alignment(gap) / min(1.0, 2 * gap) for gap in gaps)
    yield fact("how many times as long the bound is with the printed maximum", longer)


def settling_share(dim: int, seed: int) -> float:
    """Return the time from T3 until the signal's value has settled, over its bound, where Delta is below a half."""
    gammas = (-1.55, 2.25)
    task = ln.problems.low_rank_plus_noise(dim, rank=1, key=[seed, dim], spectrum=[1.0])
    start = active_start(dim, gammas, key=[seed, dim, 1])
    run = ln.gradient_descent(task, start, learning_rate=1 / (40 * dim), steps=200, save_every=2, keep="products")
    leading, goal = np.linalg.norm(run.products, 2, axis=(1, 2)), float(np.linalg.norm(task.cross, 2))
    third = timeline.last_rise_time(run.times, leading, 0.5 * dim)
    settled = timeline.last_rise_time(
        run.times, -np.abs(leading / goal - 1), -np.log(dim) * dim ** (2 * sum(gammas) - 2)
    )
    return float((settled - third) / lazy_active.stage_lengths([1.0], *gammas, dim=dim)["settling"])


OWN_EQUATION = within(0.15, r"what $E$ and the turning vectors still couple at $d = 90$, $O(d^{-2 \delta})$", of=1)


@claim(
    "independent-groups",
    says="Each group of singular values evolves independently, by its own equation.",
    assumes=timeline.ACTIVE,
    tried=f"{timeline.followed()}; the second value, from $T_1$, when the first one crosses, to half of its target",
)
def independent_groups(trial: Trial) -> Rows:
    own = by_place(timeline.stages(trial).mean("seed", skipna=False).own_share.isel(dim=-1))
    yield printed("time of the second value over that of its own equation alone, at the largest $d$", own, OWN_EQUATION)


SHORT = below(0.25, "'a very short time': less than a quarter of the time to the learned signal")
SHRINKS = below(1.0, r"it falls with $d$, like $1/\log d$")


@claim(
    "transition",
    says="A singular value is close to the transition only for a very short time.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
)
def short_transition(trial: Trial) -> Rows:
    near = timeline.stages(trial).near.mean("seed", skipna=False)
    share = rf"share of the time to the learned signal that $s_1$ is within a factor {timeline.NEAR:g} of $\sigma^2 w$"
    yield printed(f"{share}, at the largest $d$", by_place(near.isel(dim=-1)), SHORT)
    yield printed(
        f"{share}, at the largest $d$ over the least", by_place(near.isel(dim=-1) / near.isel(dim=0)), SHRINKS
    )
