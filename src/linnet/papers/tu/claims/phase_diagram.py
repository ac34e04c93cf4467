"""Claims on the phase diagram: Theorem 2, its borders, Figures 1 and 2, and what it costs to learn well."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.tu.figures import fig1
from linnet.papers.tu.networks.starts import active_start
from linnet.papers.tu.settings import GAMMAS
from linnet.papers.tu.tables import active_region, border, published, regions
from linnet.papers.tu.tables import plane as plane_table
from linnet.reproduction import (
    Above,
    AllOf,
    AtLeast,
    AtMost,
    Below,
    Estimate,
    Falls,
    Limit,
    Numbers,
    Rises,
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
PLANE = "descent with c = 50 on 7 x 7 cells of the whole plane at d = 60 (full: 9 x 9 at d = 100), rank 5"
REGION = "gamma_w > 1, 2 gamma_sigma2 + gamma_w < 0"


@claim(
    "thm2-lazy",
    where="Theorem 2 (lazy), Proposition D.1",
    says="In the lazy region the test error never falls below a third of min(|A*|^2, |E|^2).",
    assumes=f"{REGION}, gamma_sigma2 + gamma_w > 1",
    tried=f"{CELLS}; (gamma_sigma2, gamma_w) = {', '.join(map(str, regions.LAZY))}, up to the border",
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
    tried=CELLS + "; every error over that of the same task at w = d^2",
    holds=AllOf(
        Below(
            1.5,
            "allowed",
            what="largest mean error from w = K on over that at w = d^2, less two standard errors",
            because="'good generalization': no more than half as much again as a wide network's error",
        ),
        Above(
            1.0,
            "below_rank",
            what="error at w = 2, below the rank, over that at w = 6",
            because="fewer units than the rank cannot do it",
        ),
    ),
    reads="least test error over that of the same task at w = d^2 (d = {dim}, rank {rank}), mean over the tasks by "
    "width: {ratios:.2f}; at w = d {square:.2f}. At w = K the worst task has {worst:.2f}",
)
def narrow_networks(trial: Trial) -> Numbers:
    rows = regions.TABLE.rows(trial)
    shares, square = (rows[group].best_test / rows["wide"].best_test[1] for group in ("narrow", "wide"))
    estimates = [Estimate.of_mean(own) for own in shares]
    worst = max(estimates[1:], key=lambda found: found.value)
    return {
        "dim": rows["narrow"].dim,
        "rank": regions.RANK,
        "ratios": dict(zip(map(str, regions.NARROW), estimates, strict=True)),
        "below_rank": float((shares[0] / shares[3]).mean()),
        "square": float(square[0].mean()),
        "worst": float(shares[1].max()),
        "allowed": highest(found.value - ERRORS * found.error for found in estimates[1:]),
        "value": worst.value,
        "uncertainty": worst.error,
    }


MOST = Limit(0.9, "'the active region has': all but a tenth of its cells")
DEEP = 1.0  # 1 - gamma_sigma2 - gamma_w of cells that are well inside the active region


@claim(
    "fig2-errors",
    where="Figure 2 (top left)",
    says="The active region has a small test error while the lazy region does not.",
    tried=PLANE,
    holds=AtLeast(MOST, what="share of active cells with less than half of the lazy error", form=".0%"),
    corrected=AllOf(
        AtLeast(MOST, "deep", what="that share where 1 - gamma_sigma2 - gamma_w is 1 or more", form=".0%"),
        Above(0.5, "band", what="median error over the lazy one, closer to the border", because="the band along it"),
    ),
    correction="well inside the active region; along the lazy border, and where the start is nearly infinite noise, "
    "the error of active cells is still more than half of the lazy one",
    reads="least test error over the median one of the lazy cells (d = {dim}): below a half in {value:.0%} of {cells} "
    "active cells, in {deep:.0%} of those with 1 - gamma_sigma2 - gamma_w >= 1; median {band:.2f} closer to the border",
)
def errors_of_the_regions(trial: Trial) -> Numbers:
    cells = plane_table.TABLE.rows(trial)
    active, deep = cells.region == "active", cells.gap >= DEEP
    error = cells.best_test / np.median(cells.best_test[cells.region == "lazy"])
    return {
        "dim": cells.dim,
        "cells": int(active.sum()),
        "deep": float((error[active & deep] < 0.5).mean()),
        "band": float(np.median(error[active & ~deep])),
        "value": float((error[active] < 0.5).mean()),
    }


OVER = Above(
    1.35, "lazy", what="stable rank of the lazy cells over that of A*", because="'overestimates it': a third more"
)


@claim(
    "ranks",
    where="Figure 2 (top right)",
    says="The active region has approximately the correct rank while the lazy region overestimates it.",
    tried=PLANE,
    holds=AtLeast(MOST, what="share of active cells within a third of the rank of A*", form=".0%") & OVER,
    corrected=AtLeast(MOST, "deep", what="that share where 1 - gamma_sigma2 - gamma_w is 1 or more", form=".0%") & OVER,
    correction="well inside the active region; along the lazy border active cells overestimate it too",
    reads="stable rank at the least test error over that of A* ({own:.2f}): within 0.35 of 1 in {value:.0%} of "
    "{cells} active cells, in {deep:.0%} of those with 1 - gamma_sigma2 - gamma_w >= 1, up to {most:.2f} in the "
    "others; {lazy:.2f} in the lazy ones (d = {dim})",
)
def ranks_of_the_regions(trial: Trial) -> Numbers:
    cells = plane_table.TABLE.rows(trial)
    truth = ln.problems.low_rank_plus_noise(cells.dim, rank=plane.RANK, key=[trial.seed, 0]).truth
    own = float(ln.observables.stable_rank(np.asarray(truth)))
    active, deep, rank = cells.region == "active", cells.gap >= DEEP, cells.stable_rank / own
    right = np.abs(rank - 1) < 0.35
    return {
        "dim": cells.dim,
        "cells": int(active.sum()),
        "own": own,
        "deep": float(right[active & deep].mean()),
        "most": float(rank[active & ~deep].max()),
        "lazy": rank[cells.region == "lazy"].tolist(),
        "value": float(right[active].mean()),
    }


@claim(
    "below-d",
    where="section 2.1",
    says="The self-consistent dynamics remain a good approximation in the (mildly) underparametrized regime, w < d.",
    assumes="none proved",
    tried=PLANE + "; cells with 1/2 < gamma_w < 1",
    holds=AtLeast(MOST, what="share of these cells with a distance below a fifth of the target", form=".0%"),
    corrected=AtLeast(MOST, "small", what="that share where gamma_sigma2 is -1 or less", form=".0%"),
    correction="for small starts, gamma_sigma2 <= -1; for larger ones the start's own factors and its imbalance "
    "replace it (theories.mixed.split_flow, judged by linnet-trained)",
    reads="largest root mean square distance over the run, over that of the target: below a fifth in {value:.0%} of "
    "{cells} cells, in {small:.0%} of those with gamma_sigma2 <= -1 (up to {most:.2f} there, {far:.2f} elsewhere; d "
    "= {dim})",
)
def equation_below_d(trial: Trial) -> Numbers:
    cells = plane_table.TABLE.rows(trial)
    strip, small = (cells.gamma_width > 0.5) & (cells.gamma_width < 1), cells.gamma_variance <= -1
    share = cells.distance / np.sqrt(2)  # |Y|^2/d^2 is about 2
    return {
        "dim": cells.dim,
        "cells": int(strip.sum()),
        "small": float((share[strip & small] < 0.2).mean()),
        "most": float(share[strip & small].max()),
        "far": float(share[strip & ~small].max()),
        "value": float((share[strip] < 0.2).mean()),
    }


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
    ),
    reads="train and test error of descent are within {value:.2%} of their range of those of eq. (1) (d = {dim}, c = "
    "5), {sequential:.2%} in the public loop, whose second layer sees the new first one",
)
def errors_of_figure_one(trial: Trial) -> Numbers:
    data = fig1.compute(fig1.TuFig1(dim=60 if trial.quick else 200, seed=trial.seed), ("a",))
    ranges = data["error"].sel(side="self-consistent").max("step")
    gaps = abs(data["error"] - data["error"].sel(side="self-consistent")).max("step") / ranges
    simultaneous, sequential = (float(gaps.sel(side=side).max()) for side in fig1.SIDES[1:])
    return {"dim": data.sizes["mode"], "sequential": sequential, "value": simultaneous}


@claim(
    "fig1-values",
    where="Figure 1 (right)",
    says="The five leading singular values speed up as they cross sigma^2 w and converge earlier than the rest; the "
    "least test error is where they have converged and the rest have not.",
    assumes="active region",
    tried="rank 5, gamma = (-1.85, 2.25), 2 tasks: d = 60, 120, 240 (full: 100, 200, 500), c = 5; speeds at c = 50",
    holds=AllOf(
        Above(
            1.5,
            "speeds",
            what="growth of a leading value over its distance left, above sigma^2 w over below it",
            because="2 sqrt(s^2 + sigma^4 w^2) is twice as large at twice sigma^2 w as far below it",
        ),
        Rises(0.0, "leading", what="least of the five over its target, growing d", because="they converge first"),
        Falls(0.0, "following", what="the sixth over its target, growing d", because="the rest is left behind"),
        AtLeast(2 / 3, what="least of the five at the largest d", because="'have converged': two thirds and rising"),
        AtMost(0.5, "next", what="the sixth at the largest d", because="'not the rest': less than half of it"),
    ),
    reads="leading values grow {speeds:.1f} times as fast, over the distance left, above sigma^2 w as below it; at "
    "the least test error the least of them is at {leading:.2f} of its target and the sixth at {following:.2f} at d "
    "= {dims}",
)
def values_of_figure_one(trial: Trial) -> Numbers:
    dims, tasks = ((60, 120, 240) if trial.quick else (100, 200, 500)), 2
    leading, following, speeds = [], [], {}
    for dim in dims:
        shares = []
        for number in range(tasks):
            task = ln.problems.low_rank_plus_noise(dim, rank=plane.RANK, key=[trial.seed, number])
            rate = float(plane.step_size(*GAMMAS, dim=dim, size=np.linalg.norm(np.asarray(task.truth), 2), c=5.0))
            start, goals = active_start(dim, GAMMAS, key=[trial.seed, number, 1]), singular_values(task.cross)
            run = ln.gradient_descent(task, start, learning_rate=rate, steps=30, keep="products")
            shares.append(singular_values(run.products[int(np.argmin(run.test_loss))]) / goals)
            if dim == dims[0] and number == 0:
                slow = ln.gradient_descent(
                    task, start, learning_rate=rate / 10, steps=600, save_every=3, keep="products"
                )
                speeds = speed_ups(singular_values(slow.products), goals, dim ** sum(GAMMAS))
        least, rest = np.mean([[share[: plane.RANK].min(), share[plane.RANK]] for share in shares], axis=0)
        leading.append(float(least))
        following.append(float(rest))
    numbers = {"dims": list(dims), "speeds": speeds, "leading": leading, "following": following}
    return {**numbers, "next": following[-1], "value": leading[-1]}


def singular_values(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.svd(matrices, compute_uv=False)


def speed_ups(values: np.ndarray, goals: np.ndarray, threshold: float) -> dict[str, float]:
    """How much faster each leading value moves above the threshold than below it, over the distance left."""
    found = {}
    for mode in range(plane.RANK):
        own = values[:-1, mode]
        speed = np.diff(values[:, mode]) / (goals[mode] - own)
        below = (own > 0.25 * threshold) & (own < 0.5 * threshold)
        above = (own > 2 * threshold) & (own < 0.7 * goals[mode])
        found[f"s_{mode + 1}"] = float(speed[above].mean() / speed[below].mean())
    return found


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
