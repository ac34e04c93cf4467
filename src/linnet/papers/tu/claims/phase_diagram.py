"""Claims on the phase diagram: Theorem 2, its borders, Figures 1 and 2, and what it costs to learn well."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.tu.figures import fig1
from linnet.papers.tu.settings import GAMMAS
from linnet.papers.tu.tables import active_region, border, published, regions
from linnet.papers.tu.tables import plane as plane_table
from linnet.reproduction import (
    Above,
    AllOf,
    AtLeast,
    AtMost,
    Below,
    Limit,
    Numbers,
    Trial,
    Verdict,
    Within,
    claim,
    plane,
)
from linnet.reproduction.fits import exponent, highest, lowest

SMALL = Limit(0.5, "of the noise's power: an error above half of it has not learned the signal from the noise")
CLOSE = Limit(0.1, "'very close': a tenth of the range of the curve")
ERRORS = 2.0  # standard errors that the mean over a few draws is allowed besides
DISTANCE = 0.14  # a tenth of the root mean square entry of the target

CELLS = "cells of the phase diagram at d = 30 (full: 100), rank 3, 3 tasks (full: 8), descent with c = 50"
PLANE = "descent with c = 50 on 7 x 7 cells at d = 30 (full: 9 x 9 at d = 100), rank 5"
REGION = "gamma_w > 1, 2 gamma_sigma2 + gamma_w < 0"


@claim(
    "thm2-lazy",
    where="Theorem 2 (lazy), Proposition D.1",
    says="In the lazy region the test error never falls below a third of min(|A*|^2, |E|^2).",
    assumes=f"{REGION}, gamma_sigma2 + gamma_w > 1",
    tried=CELLS,
    holds=AtLeast(
        1 / 3, what="least test error over min(|A*|^2, |E|^2)/d^2", because="the constant of Proposition D.1"
    ),
    reads="least test error over any run and task of the lazy region: {value:.3f} of min(|A*|^2, |E|^2)/d^2, median "
    "{median:.3f}; d = {dim}, descent",
)
def lazy_bound(trial: Trial) -> Numbers:
    lazy = regions.TABLE.rows(trial)["lazy"]
    share = lazy.best_test / np.minimum(lazy.signal, lazy.noise)
    return {"dim": lazy.dim, "median": float(np.median(share)), "value": float(share.min())}


@claim(
    "thm2-active",
    where="Theorem 2 (active), Theorem E.5, (41)",
    says="In the active region the test error at T* is O(sigma^4 w + (sigma^2 w log d/d)^2 + d^-1/2 + sigma^2 w/d), "
    "which vanishes as d grows.",
    assumes=f"{REGION}, gamma_sigma2 + gamma_w < 1, d large; T* corrected, leading order",
    tried="descent at d = 30, 100 (full: 50 .. 400), gamma = (-1.85, 2.25), spectra (1), (1, 1), (1, 1/2), 2 tasks "
    "each (full: 3)",
    holds=AllOf(
        Below(SMALL, what="largest test error at T* over the noise, at the largest d"),
        Below(
            0.0,
            "change",
            what="change of the test error at T* from the least to the largest d",
            because="a bound that vanishes falls",
        ),
    ),
    refuted=AtLeast(
        SMALL,
        "least",
        what="largest of the least test errors of any run over the noise, at the largest d",
        otherwise="these networks do learn before T*, so it is d that is too small for that time, by which the lazy "
        "modes have learned the noise",
    ),
    expected=Verdict.OUTSIDE,
    reads="test error over the noise at T*: {ends:.3f}; at the largest d at its least {leasts:.3f}, and at T* without "
    "the term for the alignment {shorts:.3f}; over the sum of the bound's terms the error at T* changes like "
    "d^{growth:.2f}",
)
def error_at_the_end(trial: Trial) -> Numbers:
    rows, growth = active_region.TABLE.rows(trial), []
    largest = [row for row in rows if row.dim == rows[-1].dim]
    for name in active_region.SPECTRA:
        mine = [row for row in rows if row.name == name]
        terms = [sum(ln.theories.mixed.error_terms(*GAMMAS, dim=row.dim).values()) for row in mine]
        ratios = [float(row.end.mean()) / term for row, term in zip(mine, terms, strict=True)]
        growth.append(exponent([row.dim for row in mine], ratios)[0])
    first = {row.name: row.end.mean() for row in reversed(rows)}
    return {
        "ends": {f"a = {row.name}, d = {row.dim}": float(row.end.mean()) for row in rows},
        "leasts": {f"a = {row.name}": float(row.least.mean()) for row in largest},
        "shorts": {f"a = {row.name}": float(row.short.mean()) for row in largest},
        "change": {f"a = {row.name}": float(row.end.mean() - first[row.name]) for row in largest},
        "growth": highest(growth),
        "least": highest(row.least.mean() for row in largest),
        "value": highest(row.end.mean() for row in largest),
    }


@claim(
    "border",
    where="section 2.1, last remark",
    says="Training is lazy above sigma^2 w ~ |B|_op: gamma_sigma2 + gamma_w = 1 for low rank, 1/2 for full rank.",
    assumes="w >> d",
    tried="descent at w = d^3, d = 16, 48 (full: 20 .. 160), 5 targets, 13 thresholds",
    holds=AllOf(
        Within(
            0.25,
            "slopes",
            of="claimed",
            what="exponent in d of the border",
            because="of a power of d, between dimensions a factor of three apart",
        ),
        Below(
            2.0,
            what="largest over least share of |B| at which training turns lazy",
            because="|B| alone decides: targets of both kinds turn lazy at the same share of it, to a factor",
        ),
    ),
    reads=f"sigma^2 w over |B| where the leading mode is {border.PREFERRED} times as far as the median one when half "
    "is learned, d = {dims:.0f}: {shares:.3f}; sigma^2 w grows like d to the power {slopes:.2f}",
)
def lazy_border(trial: Trial) -> Numbers:
    kinds = {line.name: line for line in border.TABLE.rows(trial)}
    shares = {name: line.shares.mean(axis=1).tolist() for name, line in kinds.items()}
    return {
        "dims": next(iter(kinds.values())).dims.tolist(),
        "shares": shares,
        "slopes": {name: line.growth[0] for name, line in kinds.items()},
        "claimed": {name: line.claimed for name, line in kinds.items()},
        "value": highest(max(part) for part in shares.values()) / lowest(min(part) for part in shares.values()),
    }


@claim(
    "tradeoff",
    where="end of section 2.1, Figure 2 (bottom left)",
    says="Deeper in the active region the test error is smaller and training takes longer.",
    assumes="active region",
    tried=CELLS,
    holds=AllOf(
        Above(
            0.9,
            what="rank correlation of iterations with depth",
            because="rank correlation over five depths, mean of the tasks",
        ),
        Below(
            -0.5,
            "falls",
            what="rank correlation of test error with depth",
            because="the gain ends deep inside the region, where the order of equal errors is chance",
        ),
    ),
    reads="at w = d^2, gamma_sigma2 from {ends.first} to {ends.last}: least test error {tests:.3f}, iterations "
    "{steps:.0f}",
)
def error_against_time(trial: Trial) -> Numbers:
    from scipy.stats import spearmanr

    deep = regions.TABLE.rows(trial)["depths"]
    depth = -deep.gamma_variance
    return {
        "ends": deep.gamma_variance[[-1, 0]].tolist(),
        "tests": np.median(deep.best_test, axis=1)[::-1].tolist(),
        "steps": np.median(deep.best_step, axis=1)[::-1].tolist(),
        "falls": float(np.mean([spearmanr(depth, column).statistic for column in deep.best_test.T])),
        "value": float(np.mean([spearmanr(depth, column).statistic for column in deep.best_step.T])),
    }


@claim(
    "narrow",
    where="section 2.1, Figure 2 (top left)",
    says="Good generalization is seen for widths below d, down to w near the rank of A*.",
    assumes="none proved",
    tried=CELLS,
    holds=AllOf(
        Below(
            1.5,
            what="largest median error from w = K on over that at w = d^2",
            because="'good generalization': no more than half as much again as a wide network's error",
        ),
        Above(
            1.0,
            "below_rank",
            what="error at w = 2 over that at w = 6",
            because="fewer units than the rank cannot do it",
        ),
    ),
    reads=f"median least test error for rank {regions.RANK} by width: {{tests:.2f}}; {{square:.2f}} at w = d = "
    f"{{dim}}, "
    "{wide:.2f} at w = d^2. At w = K the worst task has {worst:.2f}",
)
def narrow_networks(trial: Trial) -> Numbers:
    rows = regions.TABLE.rows(trial)
    narrow = rows["narrow"]
    middle, wide = (np.median(part.best_test, axis=1) for part in (narrow, rows["wide"]))
    tests = dict(zip(map(str, regions.NARROW), middle.tolist(), strict=True))
    return {
        "dim": narrow.dim,
        "tests": tests,
        "below_rank": tests["2"] / tests["6"],
        "square": float(wide[0]),
        "wide": float(wide[1]),
        "worst": float(narrow.best_test[1].max()),
        "value": float(middle[1:].max() / wide[1]),
    }


@claim(
    "ranks",
    where="Figure 2 (top right)",
    says="The active region has approximately the correct rank while the lazy region overestimates it.",
    tried=PLANE,
    holds=AllOf(
        Within(
            0.35,
            of=1,
            what="median stable rank of the active region over that of A*",
            because="'approximately the correct rank': within a third of that of A*",
        ),
        Above(
            1.35,
            "lazy",
            what="that of the lazy region",
            because="'overestimates it': a third more than that of A*, or more",
        ),
    ),
    reads="stable rank at the least test error over that of A* ({own:.2f}), median of the cells: {value:.2f} in the "
    "active region, {lazy:.2f} in the lazy one (d = {dim})",
)
def ranks_of_the_regions(trial: Trial) -> Numbers:
    cells = plane_table.TABLE.rows(trial)
    truth = ln.problems.low_rank_plus_noise(cells.dim, rank=plane.RANK, key=[trial.seed, 0]).truth
    own = float(ln.observables.stable_rank(np.asarray(truth)))
    middle = {name: float(np.median(cells.stable_rank[cells.region == name])) / own for name in ("active", "lazy")}
    return {"dim": cells.dim, "own": own, "lazy": middle["lazy"], "value": middle["active"]}


@claim(
    "outside",
    where="Figure 2 (bottom right), section 2.1",
    says="The distance to the self-consistent dynamics is small almost everywhere outside the region of the theorems "
    "too.",
    assumes="none proved",
    tried=PLANE,
    holds=AtMost(
        0.2,
        what=f"share of the cells outside with a distance above {DISTANCE:g}",
        form=".0%",
        because="'almost everywhere': all but a fifth of the cells",
    ),
    expected=Verdict.REFUTED,
    reads=f"largest root mean square distance over the run, entries of the target being 1.4: above {DISTANCE:g} in "
    "{value:.0%} of the cells outside and in {inside:.0%} of those inside (d = {dim}); above 0.37, a quarter of the "
    "target, in {far:.0%} outside, median {median:.2f}",
)
def distance_outside(trial: Trial) -> Numbers:
    cells = plane_table.TABLE.rows(trial)
    outside, inside = cells.distance[~cells.inside], cells.distance[cells.inside]
    return {
        "dim": cells.dim,
        "inside": float((inside > DISTANCE).mean()),
        "median": float(np.median(outside)),
        "far": float((outside > np.exp(-1)).mean()),
        "value": float((outside > DISTANCE).mean()),
    }


@claim(
    "fig1",
    where="Figure 1 (left)",
    says="The train and test errors of gradient descent are very close to those of the self-consistent dynamics.",
    assumes="active region",
    tried="d = 60 (full: 200), rank 5, gamma = (-1.85, 2.25), c = 5, 90 steps; both loops",
    holds=AllOf(
        Below(CLOSE, what="largest gap of eq. (2) over the range", form=".2%"),
        Below(CLOSE, "sequential", what="that of the public loop", form=".2%"),
        Above(
            2.0,
            "visible",
            what="gap of the public loop over that of eq. (2)",
            because="the gap of the public loop over that of both layers at once",
            then="the gap seen in the figure is mostly that loop's",
        ),
    ),
    reads="train and test error of descent are within {value:.2%} of their range of those of eq. (1) (d = {dim}, c = "
    "5), {sequential:.2%} in the public loop, whose second layer sees the new first one",
)
def errors_of_figure_one(trial: Trial) -> Numbers:
    data = fig1.compute(fig1.TuFig1(dim=60 if trial.quick else 200, seed=trial.seed), ("a",))
    ranges = data["error"].sel(side="self-consistent").max("step")
    gaps = abs(data["error"] - data["error"].sel(side="self-consistent")).max("step") / ranges
    simultaneous, sequential = (float(gaps.sel(side=side).max()) for side in fig1.SIDES[1:])
    return {
        "dim": data.sizes["mode"],
        "sequential": sequential,
        "visible": sequential / simultaneous,
        "value": simultaneous,
    }


@claim(
    "published-cells",
    where="Figure 2, section G, the authors' public code",
    says="The cells of the phase diagram have the test errors that the authors printed.",
    tried="d = 200, rank 5, the public loop: 6 cells of few steps (full: 18 cells), 4 tasks each",
    holds=AtMost(
        0.03,
        what="largest distance from the printed error beyond two standard errors",
        form=".2%",
        because="the mean over draws within 3% of the printed error of one draw, whose own scatter is 1.7%",
    ),
    reads="{cells} of the printed cells trained again on other tasks, test error at the printed step: median "
    "{median:.2%} from the printed one, at most {largest:.2%} (standard error at most {standard_error:.2%})",
)
def published_errors(trial: Trial) -> Numbers:
    found = published.TABLE.rows(trial)
    apart, error = found["mean"] / found["printed"] - 1, found["error"] / found["printed"]
    beyond = np.abs(apart) - ERRORS * error
    return {
        "cells": int(apart.size),
        "median": float(np.median(np.abs(apart))),
        "largest": float(np.abs(apart).max()),
        "worst": float(apart[int(np.argmax(beyond))]),
        "value": float(beyond.max()),
        "standard_error": float(error.max()),
    }
