"""Claims on how singular vectors align in the active region: appendices C and E, on networks followed by descent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import BOUND, GAMMAS
from linnet_papers.tu.tables import timeline
from linnet_papers.tu.tables.timeline import by_place, exponent_in_dim, rank_two_tasks

FIT = Limit(0.15, "of an exponent, from three tasks at two or three dimensions: twice its scatter over seeds")


def alignment_exponents(trial: Trial, claimed: dict[str, Callable[[float], float]]) -> Numbers:
    """Return how x falls with d at each moment and place, beside the claimed exponents; `value` is the largest excess,
    in standard errors, `excess` its mean over the places at each moment."""
    x = timeline.stages(trial).defect
    found, wanted, sizes = {}, {}, {}
    excess: dict[str, list[float]] = {moment: [] for moment in claimed}
    for place, (_, width) in timeline.PLACES.items():
        for moment, power in claimed.items():
            name = f"{moment} at {place}"
            own = x.sel(place=place, moment=moment)
            found[name] = exponent_in_dim(own)
            wanted[name] = power(width)
            sizes[name] = own[-1].mean(skipna=False).item()
            excess[moment].append(found[name].value + wanted[name])
    return {
        "claimed": wanted,
        "found": found,
        "excess": {moment: np.mean(own) for moment, own in excess.items()},
        "x": sizes,
        "dims": x["dim"].values,
        "value": highest(found[name].errors_above(-wanted[name]) for name in found),
    }


@claim(
    "stage-lazy",
    says="Until |A| reaches sigma^2 w singular values grow roughly linearly, and T1 = O(d).",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
    holds=AllOf(
        Below(
            1.25,
            "spread",
            what="largest over least T1/d of the dimensions",
            because="T1 = O(d): T1/d may move by its next order, but not like a power of d",
        ),
        Within(
            0.15,
            "linear",
            of=0.5,
            what="s_1 over sigma^2 w half-way",
            because="'roughly linear (bounded above and below by linear functions)': half-way within 0.35 to 0.65",
        ),
    ),
    reads="T1/d is {first:.2f}; half-way s_1 is at {linear.lowest:.2f} to {linear.highest:.2f} of sigma^2 w",
)
def lazy_stage(trial: Trial) -> Numbers:
    stages = timeline.stages(trial)
    first = stages.reached.sel(stage="T1").mean("seed", skipna=False)
    return {
        "first": dict(zip(timeline.PLACES, first.values, strict=True)),
        "linear": by_place(stages.linear.mean("seed", skipna=False)),
        "spread": by_place(first.max("dim", skipna=False) / first.min("dim", skipna=False)),
    }


EXCESS = Below(
    0.0,
    "excess",
    what="excess of the exponent of x over the claimed one, mean of the places",
    form=".2f",
    because="x is at most d to the claimed power",
) & Below(
    2.0,
    what="largest excess at one place, in standard errors",
    form=".1f",
    because="what falls at least as fast exceeds the claimed power by chance only",
)
X_READS = (
    "x at the largest of d = {dims} is {x:.3f}; it changes like d to the powers {found:.2f}, where at most minus "
    "{claimed:.2f} is claimed"
)


@claim(
    "alignment-early",
    says="In the short lazy stage the singular vectors align: x is at most d^-min(1/2, (gamma_w - 1)/4) at t1 and at "
    "T1 (C.8, C.9; d^-min((gamma_w - 1)/8, 1/4) for networks by E.4).",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
    holds=EXCESS,
    reads=X_READS,
)
def early_alignment(trial: Trial) -> Numbers:
    return alignment_exponents(trial, dict.fromkeys(("t1", "T1"), lambda width: min(0.5, (width - 1) / 4)))


@claim(
    "alignment-kept",
    says="The signal's singular vectors stay aligned while its singular values grow (x at T2 at most d^-(gamma_w - "
    "1)/2), and the singular values of the noise stay behind.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
    holds=AllOf(
        EXCESS,
        AtMost(1.05, "ratios", what="x at T3 over that at T1", because="x does not rise from T1 to T3 but by chance"),
        Below(
            0.5, "behind", what="largest s_(K+1)/s_K after T3, at the largest d", because="Definition C.1: below 1/2"
        ),
    ),
    reads=X_READS + "; afterwards s_(K+1) is at most {behind:.2f} s_K",
)
def kept_alignment(trial: Trial) -> Numbers:
    claimed = {"T2": lambda width: (width - 1) / 2, timeline.LATER: lambda width: min(0.25, (width - 1) / 8)}
    means = timeline.stages(trial).mean("seed", skipna=False)
    return {
        **alignment_exponents(trial, claimed),
        "ratios": by_place(means.defect.sel(moment="T3") / means.defect.sel(moment="T1")),
        "behind": by_place(means.noise_later.isel(dim=-1)),
    }


@claim(
    "alignment-stage",
    says="After T3 singular vectors that are not yet aligned need at most 2 min(1, 2 Delta)/c(a) d log d to align.",
    assumes="active region: sigma^2 w = d^0.4, T* corrected; the signal's singular values at half their targets",
    tried="eq. (1) with noise from 5 starts turned away from alignment (x = 0.2 to 2), d = 30, 60 (full: 50, 100), "
    "spectra (1), (1, 1/2), (1, 0.9), (1, 0.7, 0.4)",
    holds=AllOf(
        Above(0.1, "starts", what="least x at the start over K", because="far above its end, which is of order 1/d"),
        AtMost(BOUND, "shares", what="time until x is within a tenth of its end, over the bound"),
    ),
    reads="from x of {starts:.2f} K to within a tenth of its end: {shares:.3f} of the bound",
)
def alignment_stage(trial: Trial) -> Numbers:
    draw = generator(key=trial.seed)
    starts, shares = [], {}
    for spectrum in ((1.0,), (1.0, 0.5), (1.0, 0.9), (1.0, 0.7, 0.4)):
        for dim in (30, 60) if trial.quick else (50, 100):
            rank = len(spectrum)
            bound = lazy_active.stage_lengths(spectrum, *GAMMAS, dim=dim)["alignment"]
            truth = np.diag(np.append(spectrum, np.zeros(dim - rank))) * dim
            times = np.append(0.0, np.geomspace(1e-4, 1.2, 120) * bound)
            taken = []
            for _ in range(5):
                left, right = (small_rotation(draw, dim, rank) for _ in range(2))
                target = truth + draw.normal(size=truth.shape)
                start = 0.5 * left @ truth @ right.T
                products = lazy_active.self_consistent(target, start, dim**0.4, times)
                x = lazy_active.alignment_defect(products, truth, rank)
                aligned = x <= 1.1 * lazy_active.alignment_defect(target, truth, rank)
                taken.append(times[np.argmax(aligned)] / bound if aligned.any() else np.inf)
                starts.append(x[0] / rank)
            shares[f"a = {spectrum}, d = {dim}"] = highest(taken)
    return {"starts": lowest(starts), "shares": shares}


def small_rotation(draw: np.random.Generator, dim: int, rank: int) -> np.ndarray:
    """Return a rotation that turns the first axes, by a tenth to a half of a radian, into the others."""
    from scipy.linalg import expm

    turn = np.zeros((dim, dim))
    turn[:, :rank] = draw.normal(size=(dim, rank)) / np.sqrt(dim) * draw.uniform(0.25, 0.5)
    return expm(turn - turn.T)


@claim(
    "final-alignment",
    says="At T* the network is in P2(C, max(1, 2 Delta)): x is at most d^-max(1, 2 Delta).",
    assumes=timeline.ACTIVE,
    tried=timeline.followed() + "; A* + E itself at d = 40 .. 160 (full: 50 .. 400), 6 tasks",
    holds=Within(FIT, "printed", of="power", what="printed power of 1/d at Delta = 0.6, 1, 2"),
    corrected=AllOf(
        Within(FIT, of=-1, what="exponent in d of x of A* + E, where any training goes"),
        Within(
            0.3,
            "trained",
            of=-1,
            what="that of trained networks",
            because="twice that of the matrices A* + E themselves: fewer tasks, at fewer dimensions",
        ),
    ),
    correction="x is at most d^-min(1, 2 Delta): no training aligns better than A* + E itself",
    reads="trained networks end at an x that changes like d to the powers {trained:.2f}; that of A* + E, where any of "
    "them goes, is {x:.3f} at d = {dims}, like d^{value:.2f}; printed are the powers {printed:g} of 1/d at Delta = "
    "{gaps:g}",
)
def final_alignment(trial: Trial) -> Numbers:
    dims = (40, 80, 160) if trial.quick else (50, 100, 200, 400)
    draws = 6
    defects = [
        [lazy_active.alignment_defect(task.cross, task.truth, 2) for task in rank_two_tasks(trial, dim, draws)]
        for dim in dims
    ]
    rate, error = exponent(dims, defects)
    gaps = (0.6, 1.0, 2.0)
    ends = timeline.stages(trial).defect.sel(moment=timeline.END)
    return {
        "dims": dims,
        "x": np.mean(defects, axis=1),
        "trained": {place: exponent_in_dim(ends.sel(place=place)) for place in timeline.PLACES},
        "printed": [misprints.final_alignment(gap) for gap in gaps],
        "gaps": gaps,
        "power": -rate,
        "value": rate,
        "uncertainty": error,
    }
