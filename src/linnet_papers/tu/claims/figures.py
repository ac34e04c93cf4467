"""Claims on Figures 1 and 2: what their captions say, and the cells that the authors printed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import linnet as ln
from linnet.trajectories import Trajectory
from linnet_papers.reproduction import (
    Range,
    Rows,
    Trial,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import highest
from linnet_papers.tu.grids import plane, published
from linnet_papers.tu.plane import RANK, step_size, task
from linnet_papers.tu.settings import ERRORS, FAST, GAMMAS
from linnet_papers.tu.training.phase_diagram import cells_of_ranks
from linnet_papers.tu.training.self_consistent import self_consistent_steps
from linnet_papers.tu.training.starts import active_start, threshold_of

DISTANCE = 0.14  # a tenth of the root mean square entry of the target
PLANE = (
    r"descent with $c = 50$ on $7 \times 7$ cells of the whole plane at $d = 60$ (full: $9 \times 9$ at $d = 100$), "
    "rank 5"
)
MOST = at_least(0.9, "the caption says it of the region: all but a tenth of its cells")
DRAWS = 6  # networks of a setting below d: the distance of single ones of 18 units scatters by 40%
DEEP = 1.0  # 1 - gamma_sigma2 - gamma_w of cells that are well inside the active region
INSIDE = r"$1 - \gamma_{\sigma^2} - \gamma_w \ge 1$"
REGION = {"gamma_width": Range(1.2, 2.8), "depth": Range(DEEP, 2), "rank": Range(1, 5, whole=True)}
OUTSIDE = "$K = 8$ at the corner nearest to the boundary"
OVER_REGION = r"and single cells over the region, depth: $1 - \gamma_{\sigma^2} - \gamma_w$, beside a lazy one"


@lru_cache(maxsize=2)
def deep_cells(trial: Trial) -> tuple[dict[str, float], dict[str, float]]:
    """Return, at each setting of the region, the minimum test error over that of a lazy cell of the same task, and the
    stable rank there over that of A*."""
    settings = trial.region(1) | {OUTSIDE: {"gamma_width": 1.2, "depth": DEEP, "rank": 8}}
    ranks = np.array([int(setting["rank"]) for setting in settings.values()])
    widths = np.array([setting["gamma_width"] for setting in settings.values()])
    depths = np.array([setting["depth"] for setting in settings.values()])
    count, dim = len(ranks), 60 if trial.quick else 100
    exponents = np.append(1 - widths - depths, np.full(count, -1.35)), np.append(widths, np.full(count, 2.6))
    runs = cells_of_ranks(*exponents, np.append(ranks, ranks), dim=dim, seed=trial.seed)
    own = [ln.observables.stable_rank(np.asarray(task(dim, 0, trial.seed, rank=rank).truth)) for rank in ranks.tolist()]
    errors = runs.min_test_loss[:count] / runs.min_test_loss[count:]
    return dict(zip(settings, errors, strict=True)), dict(zip(settings, runs.stable_rank[:count] / own, strict=True))


@claim(
    "fig2-errors",
    says="The active region has a small test error while the lazy region does not.",
    tried=f"{PLANE}; {OVER_REGION}",
    correction="well inside the active region; along the lazy boundary, and where the start is nearly infinite noise, "
    "the error of active cells is still more than half of the lazy one",
    region=REGION,
)
def errors_of_the_regions(trial: Trial) -> Rows:
    cells = plane.diagram(trial)
    error = cells.min_test_loss / cells.min_test_loss[cells.region == "lazy"].median(skipna=False)
    active = error[cells.region == "active"]
    deep = cells.gap[cells.region == "active"] >= DEEP
    half = "share of active cells with less than half of the median lazy error"
    yield printed(half, (active < 0.5).mean().item(), MOST)
    yield corrected(f"{half}, where {INSIDE}", (active[deep] < 0.5).mean().item(), MOST)
    half_of = below(0.5, "'small': half of the error of the lazy region, which does not learn the signal")
    errors = dict(deep_cells(trial)[0])
    yield fact(
        "minimum test error over that of a lazy cell of the same task, just outside", {OUTSIDE: errors.pop(OUTSIDE)}
    )
    yield corrected("minimum test error over that of a lazy cell of the same task", errors, half_of)
    yield corrected(
        "median error of the other active cells over the median lazy one",
        active[~deep].median(skipna=False).item(),
        above(0.5, "the band along the boundary, of which the correction says that it is not small there"),
    )
    yield fact("active cells", active.size)


OVER = above(1.35, "'overestimates it': by more than the third by which active cells may be off")


@claim(
    "ranks",
    says="The active region has approximately the correct rank while the lazy region overestimates it.",
    tried=f"{PLANE}; the stable rank at the minimum test error; {OVER_REGION}",
    correction="well inside the active region; along the lazy boundary active cells overestimate it too",
    region=REGION,
)
def ranks_of_the_regions(trial: Trial) -> Rows:
    cells = plane.diagram(trial)
    own = ln.observables.stable_rank(np.asarray(task(cells.dim.item(), 0, trial.seed).truth))
    rank = cells.stable_rank / own
    active = rank[cells.region == "active"]
    deep = cells.gap[cells.region == "active"] >= DEEP
    right = abs(active - 1) < 0.35
    close = "share of active cells whose rank is within 0.35 of that of $A^*$, relative"
    yield printed(close, right.mean().item(), MOST)
    yield both("stable rank of lazy cells over that of $A^*$", rank[cells.region == "lazy"].values, OVER)
    yield corrected(f"{close}, where {INSIDE}", right[deep].mean().item(), MOST)
    third = within(0.35, "'approximately': a third, as on the plane", of=1)
    single = {name: one for name, one in deep_cells(trial)[1].items() if name != OUTSIDE}
    yield corrected("stable rank of single cells over that of $A^*$", single, third)
    yield fact("stable rank of $A^*$", own)
    yield fact("largest rank of the other active cells over that of $A^*$", active[~deep].max(skipna=False).item())


@claim(
    "below-d",
    says="The self-consistent dynamics remain a good approximation in the (mildly) underparametrized regime, $w < d$.",
    assumes="none proved",
    tried=rf"{PLANE}; cells with $1/2 < \gamma_w < 1$, and over the region the mean of {DRAWS} networks; the largest "
    "root mean square distance over the run, over the root mean square of the target",
    correction=r"on average over small initializations, $\gamma_{\sigma^2} \le -1.5$, of several times as many units "
    r"as the rank, $\gamma_w \ge 0.7$; elsewhere the initialization's own factors and its imbalance replace it "
    "(theories.lazy_active.split_flow, judged by own-trained)",
    region={"gamma_width": Range(0.7, 1), "gamma_variance": Range(-3, -1.5), "rank": Range(1, 5, whole=True)},
)
def equation_below_d(trial: Trial) -> Rows:
    cells = plane.diagram(trial)
    strip = cells.isel(cell=(cells.gamma_width > 0.5) & (cells.gamma_width < 1))
    share = strip.distance / np.sqrt(2)  # |Y|^2/d^2 is about 2
    small = (strip.gamma_variance <= -1.5) & (strip.gamma_width >= 0.7)
    near = "share of the cells with a distance below a fifth of the target"
    yield printed(near, (share < 0.2).mean().item(), MOST)
    well = r"$\gamma_{\sigma^2} \le -1.5$ and $\gamma_w \ge 0.7$"
    yield corrected(f"{near}, {well}", (share[small] < 0.2).mean().item(), MOST)
    settings = trial.region(1) | {"outside": {"gamma_width": 0.5, "gamma_variance": -1.0, "rank": 8}}
    names = "gamma_variance", "gamma_width", "rank"
    points = (np.repeat([setting[name] for setting in settings.values()], DRAWS) for name in names)
    runs = cells_of_ranks(*points, dim=cells.dim.item(), seed=trial.seed)
    single = np.sqrt(runs.largest_distance / cells.dim.item() ** 2 / 2).reshape(-1, DRAWS)
    apart = dict(zip(settings, single.mean(axis=1), strict=True))
    outside = apart.pop("outside")
    fifth = below(0.2, "'a good approximation': a fifth of the target, as on the plane")
    yield corrected(f"mean distance of {DRAWS} networks, at settings over the region", apart, fifth)
    yield fact(r"the same outside of it: $\gamma_{\sigma^2} = -1$, $\gamma_w = 0.5$, $K = 8$", outside)
    yield fact("largest distance of a single network over the region", single[:-1].max())
    yield fact(f"largest distance on the plane, {well}", share[small].max(skipna=False).item())
    yield fact("largest distance on the plane, other cells", share[~small].max(skipna=False).item())


ALMOST = at_most(0.2, "'almost everywhere': all but a fifth of the cells")


@claim(
    "outside",
    says="The distance to the self-consistent dynamics is small almost everywhere outside the region of the theorems "
    "too.",
    assumes="none proved",
    tried=f"{PLANE}; the largest root mean square distance over the run, entries of the target being 1.4",
    expected=Verdict.REFUTED,
)
def distance_outside(trial: Trial) -> Rows:
    cells = plane.diagram(trial)
    outside, inside = cells.distance[~cells.inside], cells.distance[cells.inside]
    # `~(... <= ...)`: a distance that is NaN counts as a large one
    yield printed(
        f"share of the cells outside with a distance above {DISTANCE:g}",
        (~(outside <= DISTANCE)).mean().item(),
        ALMOST,
    )
    yield fact("the same share of the cells inside", (~(inside <= DISTANCE)).mean().item())
    yield fact(
        "share of the cells outside with a distance above 0.37, a quarter of the target",
        (~(outside <= np.exp(-1))).mean().item(),
    )
    yield fact("median distance outside", outside.median(skipna=False).item())


CLOSE = below(0.1, "'very close': a curve that is a tenth of the range away would be seen to be another")


@claim(
    "fig1",
    says="The train and test errors of gradient descent are very close to those of the self-consistent dynamics.",
    assumes=r"active region: $(\gamma_{\sigma^2}, \gamma_w) = (-1.85, 2.25)$, rank 5",
    tried="to $t = 18/\\lvert A^* \\rvert$, as the paper's 90 steps are at $c = 5$; full: also at the paper's $d = "
    "500$, $c = 5$",
    correction="descent that moves both layers at once, as eq. (2) has it; in the public loop, whose second layer sees "
    "the new first one, the gap grows with the step and with $d$",
    region={"dim": Range(20, 60, whole=True), "c": Range(2, 20, log=True)},
)
def errors_of_figure_one(trial: Trial) -> Rows:
    settings = trial.region(0 if trial.quick else 4)
    settings |= {} if trial.quick else {"dim 500, c 5": {"dim": 500, "c": 5.0}}
    gaps = {name: gaps_to_equation(**setting, seed=trial.seed) for name, setting in settings.items()}
    gap = "largest gap of the train or test error over the range of its curve"
    yield printed(f"{gap}, public loop", {name: own["sequential"] for name, own in gaps.items()}, CLOSE)
    yield corrected(f"{gap}, eq. (2)", {name: own["simultaneous"] for name, own in gaps.items()}, CLOSE)


def gaps_to_equation(dim: int, c: float, seed: int) -> dict[str, float]:
    """Return the largest gap between the errors of descent and of eq. (1), over the range of the latter, by the order
    of the updates."""
    problem = task(dim, 0, seed)
    rate = float(step_size(*GAMMAS, dim=dim, size=np.linalg.norm(np.asarray(problem.truth), 2), c=c))
    start, steps = active_start(dim, GAMMAS, key=[seed, 1]), round(18 * c)
    equation = list(self_consistent_steps(problem, start.product, threshold_of(dim, GAMMAS), rate, steps))
    predicted = np.array([[problem.loss(product), problem.test_loss(product)] for product in equation]).T
    gaps = {}
    for update in ("simultaneous", "sequential"):
        run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, update=update, keep="losses")
        apart = np.abs(np.array([run.loss, run.test_loss]) - predicted).max(axis=1)
        gaps[update] = highest(apart / np.ptp(predicted, axis=1))
    return gaps


FASTER = above(1.5, r"$2 \sqrt{s^2 + \sigma^4 w^2}$ is twice as large at $2 \sigma^2 w$ as far below $\sigma^2 w$")
FIRST = above(0.0, "the leading values converge first, the more so the larger $d$")
LATER = below(0.0, "the rest is left behind, the more so the larger $d$")
CONVERGED = at_least(2 / 3, "'have converged': by more than half of what is left, and rising with $d$")
HAVE_NOT = at_most(0.5, "'the rest have not': less than half of the way")


@claim(
    "fig1-values",
    says=r"The five leading singular values speed up as they cross $\sigma^2 w$ and converge earlier than the rest; "
    "the minimum test error is where they have converged and the rest have not.",
    assumes="active region",
    tried=r"rank 5, $(\gamma_{\sigma^2}, \gamma_w) = (-1.85, 2.25)$, 4 tasks: $d = 60$ and 240 (full: 100 and "
    "500), $c = 5$; speeds at $c = 50$",
)
def values_of_figure_one(trial: Trial) -> Rows:
    dims = (60, 240) if trial.quick else (100, 500)
    leading, following = [], []
    for dim in dims:
        runs = [descent_of_figure_one(trial, dim, number, c=FAST, steps=30) for number in range(4)]
        shares = [ln.observables.singular_values(run.products[run.test_loss.argmin()]) / goals for run, goals in runs]
        leading.append(np.mean([share[:RANK].min() for share in shares]))
        following.append(np.mean([share[RANK] for share in shares]))
    slow, goals = descent_of_figure_one(trial, dims[0], 0, c=10 * FAST, steps=600, save_every=3)
    speeds = speed_ups(ln.observables.singular_values(slow.products), goals, dims[0] ** sum(GAMMAS))
    yield printed(r"speed of a leading value over its distance left, above $\sigma^2 w$ over below it", speeds, FASTER)
    share = "of its target at the minimum test error"
    yield printed(f"change with $d$ of what the least of the five has {share}", np.diff(leading), FIRST)
    yield printed(f"change with $d$ of what the sixth has {share}", np.diff(following), LATER)
    yield printed(f"what the least of the five has {share}, at the largest $d$", leading[-1], CONVERGED)
    yield printed(f"what the sixth has {share}, at the largest $d$", following[-1], HAVE_NOT)


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
        factors[f"$s_{mode + 1}$"] = speed[above].mean() / speed[below].mean()
    return factors


@claim(
    "published-cells",
    says="The cells of the phase diagram have the test errors that the authors printed.",
    tried="$d = 200$, rank 5, the public loop: 6 cells of few steps (full: 18 cells), 4 tasks each; the test error at "
    "the printed step",
)
def published_errors(trial: Trial) -> Rows:
    share, error = np.array(published.read(published.cells(trial))["share"]).T
    apart = np.abs(share - 1)
    yield printed(
        "largest relative distance from the printed error beyond two standard errors",
        (apart - ERRORS * error).max(),
        at_most(0.03, "the printed error is that of one draw, whose own scatter is 1.7%"),
    )
    yield fact("relative distance of each cell", apart)
    yield fact("largest standard error of a mean", error.max())
