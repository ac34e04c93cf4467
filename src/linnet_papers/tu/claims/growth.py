"""Claims on how singular values grow in the active region, stage by stage: section E.3, Theorems 2 and E.5."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Limit, Numbers, Trial, Verdict, Within, claim
from linnet_papers.reproduction.datasets import cells_of
from linnet_papers.reproduction.fits import exponent, highest
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import BOUND
from linnet_papers.tu.tables import timeline
from linnet_papers.tu.tables.timeline import by_place, exponent_in_dim, rank_two_tasks
from linnet_papers.tu.training.starts import active_start, threshold_of

FACTOR = Limit(0.2, "between the printed time and half of it, which the next order in log d blurs")
BOTH = timeline.followed("(1) and (1, 1/2)")


@claim(
    "lazy-values",
    says="The newly active singular values converge while the lazy ones remain almost constant.",
    assumes=timeline.ACTIVE,
    tried=BOTH,
    holds=Below(
        1.1,
        "grown",
        what="s_(K+1) at T3 over what it was at the start",
        because="'almost constant': within a tenth",
        otherwise="while the signal is learned the lazy values grow several times over; at the largest d they stay "
        "behind it, at {behind.highest:.2f} s_K or less",
    ),
    expected=Verdict.REFUTED,
    reads="at T3, when the signal is half learned, the largest lazy singular value is {grown:.1f} times what it was "
    "at the start: {noise:.2f} sigma^2 w",
)
def growth_of_lazy_values(trial: Trial) -> Numbers:
    means = timeline.stages(trial, *timeline.SPECTRA).mean("seed", skipna=False)
    largest = means.isel(dim=-1)
    return {
        "noise": by_place(largest.noise),
        "behind": by_place(largest.noise_behind),
        "grown": by_place(means.noise_grown),
    }


@claim(
    "early-distance",
    says="Until |A_t| + |A_theta| reaches sigma^2 w, the network and eq. (1) from the same start are within O(sigma^2 "
    "sqrt(wd)) of each other.",
    assumes=timeline.ACTIVE,
    tried=f"descent at d = 30, 90 (full: 50, 100, 200), 2 tasks each, a = (1, 1/2), {timeline.EVERYWHERE}",
    holds=Below(
        0.6,
        "constants",
        what="largest distance over sigma^2 sqrt(wd)",
        because="an O(.) that would have to grow with d to be missed; twice the largest seen",
    ),
    reads="largest distance over sigma^2 sqrt(wd): {constants.lowest:.2f} to {constants.highest:.2f}",
)
def distance_in_the_lazy_stage(trial: Trial) -> Numbers:
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
            constants[f"{place}, d = {dim}"] = np.mean(ratios)
    return {"constants": constants}


@claim(
    "second-stage",
    says="At T2 the least singular value of the signal is above sigma^2 w by a power of d.",
    assumes=timeline.ACTIVE,
    tried=BOTH,
    holds=AllOf(
        Above(1.0, "sizes", what="s_K at T2 over sigma^2 w, at the largest d", because="it has passed the threshold"),
        Above(
            0.0,
            errors=2,
            what="power of d with which it grows, mean of the places, a = (1, 1/2)",
            form=".2f",
            because="the claimed delta is positive; for a = (1) T2 itself says so",
        ),
    ),
    reads="s_K at T2 is {sizes:.2f} sigma^2 w and grows like d to the powers {powers:.2f}",
)
def signal_at_the_second_stage(trial: Trial) -> Numbers:
    stages = timeline.stages(trial, *timeline.SPECTRA)
    sizes = by_place(stages.second.isel(dim=-1).mean("seed", skipna=False))
    slopes = [exponent_in_dim(cell.second) for cell in cells_of(stages, "place", "spectrum")]
    powers = dict(zip(sizes, slopes, strict=True))
    mean, error = zip(*(power for name, power in powers.items() if timeline.TWO in name))
    return {
        "sizes": sizes,
        "powers": powers,
        "value": np.mean(mean),
        "uncertainty": np.linalg.norm(error) / len(error),
    }


@claim(
    "projection",
    says="|(I - P_K) A|_F is O(sigma^2 sqrt(w) d + sigma^2 w log d) while the signal is learned.",
    assumes=timeline.ACTIVE,
    tried=BOTH,
    holds=Below(
        2.5,
        "shares",
        what="largest |(I - P_K) A|_F to T3 over the sum of its two terms",
        because="lazy modes learn 2 sigma^2 w T3 of E, that is Delta/a_K = 1.6 sigma^2 w log d at most here",
    ),
    reads="largest Frobenius norm of all that is beyond the signal, to T3, over sigma^2 sqrt(w) d + sigma^2 w log d: "
    "{shares.lowest:.2f} to {shares.highest:.2f}",
)
def beyond_the_signal(trial: Trial) -> Numbers:
    return {"shares": by_place(timeline.stages(trial, *timeline.SPECTRA).rest.max("seed", skipna=False))}


@claim(
    "settling",
    says="After T5 the signal's singular values are within O(d^-1 + d^(-2 Delta)) log d of a_i d.",
    assumes=timeline.ACTIVE,
    tried="d = 40, 80, 160 (full: 50, 100, 200), a = (1, 1/2), 20 tasks; 3 trained networks each",
    holds=Below(
        -0.7,
        what="exponent in d of the distance from a_i d",
        because="an exponent of -1 that 20 tasks could not tell from it",
    ),
    corrected=AllOf(
        Below(
            0.05,
            "arrived",
            what="distance of trained values from those of A* + E, relative",
            because="the singular values are those of A* + E at the end of the run",
        ),
        Within(
            0.35,
            of=0,
            what="exponent in d of the distance from a_i d",
            because="of an exponent that should be 0: the scatter of 20 tasks, twice",
        ),
    ),
    correction="|s_i/(a_i d) - 1| is within that, not |s_i - a_i d|",
    reads="signal singular values go to those of A* + E (within {arrived:.3f}), which are {sizes:.2f} (root mean "
    "square) from a_i d at d = {dims}: the distance changes like d^{value:.2f} (mean shift {shift:.2f}; 1/a_i = 1, 2)",
)
def settled_values(trial: Trial) -> Numbers:
    dims = (40, 80, 160) if trial.quick else (50, 100, 200)
    gaps = []
    for dim in dims:
        values = ln.observables.singular_values([task.cross for task in rank_two_tasks(trial, dim, 20)])
        gaps.append(values[:, :2] - dim * np.array(timeline.SPECTRA[timeline.TWO]))
    sizes = [np.sqrt((gap**2).mean()) for gap in gaps]
    rate, error = exponent(dims, sizes)
    return {
        "arrived": timeline.stages(trial).left.max(skipna=False).item(),
        "dims": dims,
        "sizes": sizes,
        "shift": gaps[-1].mean(axis=0),
        "value": rate,
        "uncertainty": error,
    }


@claim(
    "thm2-time",
    says="From the threshold to half its target a singular value takes d log(a_K d/sigma^2 w)/a_K.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed("(1)"),
    holds=Within(FACTOR, "ratios", of=1, what="T3 - T1 over the printed time, at the largest d"),
    corrected=AllOf(
        Within(FACTOR, "ratios", of=0.5, what="T3 - T1 over the printed time, at the largest d"),
        Within(
            0.06,
            "own",
            of=1,
            what="T3 - T1 over the time of its own ODE",
            because="the equation's own time, at the saved states' resolution",
        ),
    ),
    correction="half of it, as its own ODE has",
    reads="T3 - T1 over d log(a_K d/sigma^2 w)/a_K: {printed:.2f}, and {own:.2f} of the ODE's own time",
)
def time_of_growth(trial: Trial) -> Numbers:
    means = timeline.stages(trial, "(1)").squeeze("spectrum").mean("seed", skipna=False)
    return {
        "printed": by_place(means.printed_share),
        "ratios": by_place(means.printed_share.isel(dim=-1)),
        "own": by_place(means.own_share.isel(dim=-1)),
    }


@claim(
    "settling-time",
    says="From T4 the signal's singular values need at most max(1, 2 Delta)/(2 a_K) d log d to settle.",
    assumes=f"{timeline.ACTIVE}; settled: within log(d)/d of those of A* + E; counted from T3, where T4 is "
    "(`alignment-stage`)",
    tried=BOTH,
    holds=AtMost(BOUND, "shares", what="time from T3 to settled, over min(1, 2 Delta)/(2 a_K) d log d"),
    reads="time from T3 to settled, over min(1, 2 Delta)/(2 a_K) d log d: {shares.lowest:.2f} to "
    "{shares.highest:.2f}; with the printed maximum the bound is {longer:.2f} times as long",
)
def time_of_settling(trial: Trial) -> Numbers:
    shares = by_place(timeline.stages(trial, *timeline.SPECTRA).settling.max("seed", skipna=False))
    gaps = [1 - sum(gammas) for gammas in timeline.PLACES.values()]
    return {"shares": shares, "longer": highest(misprints.final_alignment(gap) / min(1.0, 2 * gap) for gap in gaps)}


@claim(
    "transition",
    says="A singular value is close to the transition only for a very short time.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
    holds=AllOf(
        Below(
            0.25,
            "shares",
            what="share of the time near the transition at the largest d",
            form=".1%",
            because="'a very short time': less than a quarter of the time to the learned signal",
        ),
        Below(1.0, "shrinks", what="that share over the one at the least d", because="it falls with d, like 1/log d"),
    ),
    reads=f"the leading singular value is within a factor {timeline.NEAR:g} of sigma^2 w for {{shares:.1%}} of the "
    "time to the learned signal",
)
def short_transition(trial: Trial) -> Numbers:
    near = timeline.stages(trial).near.mean("seed", skipna=False)
    return {"shares": by_place(near.isel(dim=-1)), "shrinks": by_place(near.isel(dim=-1) / near.isel(dim=0))}
