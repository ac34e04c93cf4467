"""Claims on Figures 1 and 2: what their captions say, and the cells that the authors printed."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.trajectories import Trajectory
from linnet_papers.reproduction import (
    Above,
    AllOf,
    AtLeast,
    AtMost,
    Below,
    Falls,
    Limit,
    Numbers,
    Rises,
    Trial,
    Verdict,
    claim,
)
from linnet_papers.tu.figures import fig1
from linnet_papers.tu.plane import RANK, step_size, task
from linnet_papers.tu.settings import ERRORS, FAST, GAMMAS
from linnet_papers.tu.tables import plane, published
from linnet_papers.tu.training.starts import active_start

CLOSE = Limit(0.1, "'very close': a tenth of the range of the curve")
DISTANCE = 0.14  # a tenth of the root mean square entry of the target
PLANE = "descent with c = 50 on 7 x 7 cells of the whole plane at d = 60 (full: 9 x 9 at d = 100), rank 5"
MOST = Limit(0.9, "'the active region has': all but a tenth of its cells")
DEEP = 1.0  # 1 - gamma_sigma2 - gamma_w of cells that are well inside the active region


@claim(
    "fig2-errors",
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
    cells = plane.TABLE.rows(trial)
    error = cells.min_test_loss / cells.min_test_loss[cells.region == "lazy"].median(skipna=False)
    active = error[cells.region == "active"]
    deep = cells.gap[cells.region == "active"] >= DEEP
    return {
        "dim": cells.dim.item(),
        "cells": active.size,
        "deep": (active[deep] < 0.5).mean().item(),
        "band": active[~deep].median(skipna=False).item(),
        "value": (active < 0.5).mean().item(),
    }


OVER = Above(
    1.35, "lazy", what="stable rank of the lazy cells over that of A*", because="'overestimates it': a third more"
)


@claim(
    "ranks",
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
    cells = plane.TABLE.rows(trial)
    own = ln.observables.stable_rank(np.asarray(task(cells.dim.item(), 0, trial.seed).truth))
    rank = cells.stable_rank / own
    active = rank[cells.region == "active"]
    deep = cells.gap[cells.region == "active"] >= DEEP
    right = abs(active - 1) < 0.35
    return {
        "dim": cells.dim.item(),
        "cells": active.size,
        "own": own,
        "deep": right[deep].mean().item(),
        "most": active[~deep].max(skipna=False).item(),
        "lazy": rank[cells.region == "lazy"].values,
        "value": right.mean().item(),
    }


@claim(
    "below-d",
    says="The self-consistent dynamics remain a good approximation in the (mildly) underparametrized regime, w < d.",
    assumes="none proved",
    tried=PLANE + "; cells with 1/2 < gamma_w < 1",
    holds=AtLeast(MOST, what="share of these cells with a distance below a fifth of the target", form=".0%"),
    corrected=AtLeast(MOST, "small", what="that share where gamma_sigma2 is -1 or less", form=".0%"),
    correction="for small starts, gamma_sigma2 <= -1; for larger ones the start's own factors and its imbalance "
    "replace it (theories.lazy_active.split_flow, judged by own-trained)",
    reads="largest root mean square distance over the run, over that of the target: below a fifth in {value:.0%} of "
    "{cells} cells, in {small:.0%} of those with gamma_sigma2 <= -1 (up to {most:.2f} there, {far:.2f} elsewhere; d "
    "= {dim})",
)
def equation_below_d(trial: Trial) -> Numbers:
    cells = plane.TABLE.rows(trial)
    strip = cells.isel(cell=(cells.gamma_width > 0.5) & (cells.gamma_width < 1))
    share = strip.distance / np.sqrt(2)  # |Y|^2/d^2 is about 2
    small = strip.gamma_variance <= -1
    return {
        "dim": cells.dim.item(),
        "cells": share.size,
        "small": (share[small] < 0.2).mean().item(),
        "most": share[small].max(skipna=False).item(),
        "far": share[~small].max(skipna=False).item(),
        "value": (share < 0.2).mean().item(),
    }


@claim(
    "outside",
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
    cells = plane.TABLE.rows(trial)
    outside, inside = cells.distance[~cells.inside], cells.distance[cells.inside]
    # `~(... <= ...)`: a distance that is NaN counts as a large one
    return {
        "dim": cells.dim.item(),
        "inside": (~(inside <= DISTANCE)).mean().item(),
        "median": outside.median(skipna=False).item(),
        "far": (~(outside <= np.exp(-1))).mean().item(),
        "value": (~(outside <= DISTANCE)).mean().item(),
    }


@claim(
    "fig1",
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
    dim = 60 if trial.quick else 200
    errors = fig1.compute(fig1.TuFig1(dim=dim, seed=trial.seed), ("a",))["error"]
    predicted = errors.sel(side="self-consistent")
    sizes = predicted.max("step", skipna=False)
    gaps = (abs(errors - predicted).max("step", skipna=False) / sizes).max("kind", skipna=False)
    return {
        "dim": dim,
        "sequential": gaps.sel(side="sequential").item(),
        "value": gaps.sel(side="simultaneous").item(),
    }


@claim(
    "fig1-values",
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
    dims = (60, 120, 240) if trial.quick else (100, 200, 500)
    leading, following = [], []
    for dim in dims:
        runs = [descent_of_figure_one(trial, dim, number, c=FAST, steps=30) for number in range(2)]
        shares = [ln.observables.singular_values(run.products[run.test_loss.argmin()]) / goals for run, goals in runs]
        leading.append(np.mean([share[:RANK].min() for share in shares]))
        following.append(np.mean([share[RANK] for share in shares]))
    slow, goals = descent_of_figure_one(trial, dims[0], 0, c=10 * FAST, steps=600, save_every=3)
    speeds = speed_ups(ln.observables.singular_values(slow.products), goals, dims[0] ** sum(GAMMAS))
    return {
        "dims": dims,
        "speeds": speeds,
        "leading": leading,
        "following": following,
        "next": following[-1],
        "value": leading[-1],
    }


def descent_of_figure_one(
    trial: Trial, dim: int, number: int, *, c: float, steps: int, save_every: int = 1
) -> tuple[Trajectory, np.ndarray]:
    """Return descent at the point of Figure 1, with a step of 1/(c |A*|), and the singular values of its target."""
    problem = task(dim, number, trial.seed)
    rate = step_size(*GAMMAS, dim=dim, size=np.linalg.norm(np.asarray(problem.truth), 2), c=c)
    start = active_start(dim, GAMMAS, key=[trial.seed, number, 1])
    run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=save_every, keep="products")
    return run, ln.observables.singular_values(problem.cross)


def speed_ups(values: np.ndarray, goals: np.ndarray, threshold: float) -> dict[str, float]:
    """Return how much faster each leading value moves above the threshold than below it, over the distance left."""
    factors = {}
    for mode, goal in enumerate(goals[:RANK]):
        own = values[:-1, mode]
        speed = np.diff(values[:, mode]) / (goal - own)
        below = (own > 0.25 * threshold) & (own < 0.5 * threshold)
        above = (own > 2 * threshold) & (own < 0.7 * goal)
        factors[f"s_{mode + 1}"] = speed[above].mean() / speed[below].mean()
    return factors


@claim(
    "published-cells",
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
    share, error = np.array(published.TABLE.rows(trial)["share"]).T
    apart = np.abs(share - 1)
    return {
        "cells": apart.size,
        "median": np.median(apart),
        "largest": apart.max(),
        "value": (apart - ERRORS * error).max(),
        "standard_error": error.max(),
    }
