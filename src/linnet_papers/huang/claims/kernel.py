"""What the neural tangent kernel does in the two stages, and what the network has learned at the end."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, region, starts, synthetic
from linnet_papers.huang.grids.neurons import where_well_inside
from linnet_papers.huang.training.runs import FeatureRun, train_inside
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, lowest, relative_distance
from linnet_papers.reproduction.rows import Estimate, at_least, at_most, below, both, corrected, fact, printed

MAINTAINED = at_most(10.0, "a norm that is maintained stays of its order: within a factor ten")
SMALLER = (1.0, 0.1, 0.01)  # multiples of the admissible v_0 and sigma_0


@claim(
    "ntk-turning",
    says="In the initial stage the kernel maintains its norm while it evolves towards the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}; $v_0$ and $\sigma_0$ 1, 1/10 and 1/100 times the admissible ones; {starts.OVER_ALIKE}",
    correction="the norm grows as $1/v_0^2$ until $t_1$ and is still small against its end, while the kernel turns, "
    r"where $v_0^2 \gamma \le 0.1$ and $\gamma^{3/2}/\mathrm{tr} \ge 40$",
    region=starts.ALIKE,
)
def turning(trial: Trial) -> Rows:
    size = settings.size(trial.quick)
    runs = {smaller: train_inside(trial.seed, **size, smaller=smaller) for smaller in SMALLER}
    grown = {f"start times {smaller:g}": _until_first_time(run)["grown"] for smaller, run in runs.items()}
    power = Estimate(*exponent(SMALLER, list(grown.values())))
    found = by_name(starts.read_over_region(trial, _until_first_time))
    small = at_most(0.05, "small against its end: a twentieth")
    turned = at_least(10, "ten times nearer is turned")
    yield printed("factor by which the norm grows until $t_1$", grown, MAINTAINED)
    yield corrected("norm at $t_1$ over that at the end, over the region", found["of_end"], small)
    yield corrected(
        "factor by which 1 - cosine to the target-aligned kernel falls until $t_1$", found["nearer"], turned
    )
    yield fact("power of the initialization's scale with which the norm grows", power)


def _until_first_time(run: FeatureRun) -> dict[str, float]:
    """Return by which factor the kernel's norm has grown at t1, over its end, and how much nearer its cosine is."""
    norms, gaps = run.history.kernel_norm, 1 - run.history.kernel_cosine
    norm, gap = (np.interp(run.first_time(), run.history.times, values) for values in (norms, gaps))
    return {"grown": norm / norms[0], "of_end": norm / norms[-1], "nearer": gaps[0] / gap}


ALIGNED = at_least(
    0.995, r"$X X^\top$ is a multiple of the identity up to $\sqrt{n/d}$, 7% in quick mode: 1 - cosine is its square"
)
DOUBLED = at_least(2.0, "growth that one would call an increase of the norm: it doubles at least")
ALL_STATES = at_least(1.0, "it increases through the second stage; beyond, where nothing moves, it may not")
ELSEWHERE = below(0.995, r"the condition on $v_0^2 \gamma$ is needed: beyond it the kernel has not yet turned at $t_1$")


@claim(
    "ntk-growth",
    says="In the latter stage the kernel's norm increases while it keeps the structure of the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_RATIOS}; and {settings.OVER_SIGNALS}; and {settings.SECTION_SIX}; {starts.OVER_ALIKE}",
    correction=r"it does where $v_0^2 \gamma \le 0.1$ and $\gamma^{3/2}/\mathrm{tr} \ge 40$",
    region=starts.ALIKE,
)
def growth(trial: Trial) -> Rows:
    draws, rows, corners = synthetic.rows(trial), neurons.rows(trial), region.rows(trial)
    words = {
        "kernel_cosine": ("smallest cosine to the target-aligned kernel from $t_1$ on", ALIGNED),
        "kernel_growth": ("factor by which the norm grows from $t_1$ on", DOUBLED),
        "kernel_rising": ("fraction of saved states, until 1% of the loss is left, at which it has grown", ALL_STATES),
    }
    after = by_name(starts.read_over_region(trial, lambda run: run.kernel_after(run.first_time())))
    for name, (quantity, limit) in words.items():
        found = where_well_inside(rows[name]) | region.where_reached(corners, name)
        yield printed(f"{quantity}, by {settings.RATIO} or signal", found | {"section 6": lowest(draws[name])}, limit)
        yield corrected(f"{quantity}, over the region", after[name], limit)
    outside = starts.network(trial, strength=1e3, start=1.0, ratio=30.0, samples=5)
    cosine = float(outside.kernel_after(outside.first_time())["kernel_cosine"])
    yield corrected("that cosine ten times outside, at a start of 1, $n = 5$", cosine, ELSEWHERE)


@claim(
    "ntk-converges",
    says=r"The kernel converges to the target-aligned kernel $(v_r^2/m) X(I + X^\top y y^\top X/\gamma) X^\top$ after "
    "$t_1$.",
    assumes="none stated",
    tried=f"{settings.SECTION_SIX}, 12 draws (quick: 3); $v_r^2$ read as its mean over neurons; {starts.OVER_ALIKE}",
    correction=r"it converges to $v^2 (K + y y^\top/(y^\top K^{-1} y))$, $K = X X^\top$, which is the target-aligned "
    "kernel only where $K$ is a multiple of the identity",
    region=starts.ALIKE,
)
def convergence(trial: Trial) -> Rows:
    draws = synthetic.rows(trial)
    first, least, end = (draws[f"kernel_distance_{name}"] for name in ("first", "least", "end"))
    doubled = below(2.0, "a distance that converges to zero does not double again, whichever step $t_1$ is")
    near = below(0.005, "the start is about $10^{-3}$ of the end, and $10^{-8}$ of the loss or less is left")
    over = "distance at the end over its smallest, of the draw where that is least"
    yield printed(over, lowest(np.divide(end, least)), doubled)
    to_end = r"relative distance at the end from $v^2 (K + y y^\top/(y^\top K^{-1} y))$, by draw"
    yield corrected(to_end, draws["kernel_to_end"], near)
    yield corrected("the same over the region", starts.read_over_region(trial, _distance_to_end), near)
    by_draw = "relative distance to the target-aligned kernel, by draw"
    yield fact(f"{by_draw}, at $t_1$", first)
    yield fact(f"{by_draw}, where it is smallest", least)
    yield fact(f"{by_draw}, at the end", end)
    yield fact(f"{by_draw}, at the end by the closed form", draws["kernel_end_predicted"])
    yield fact("step at which it is smallest, by draw", draws["kernel_least_step"])
    yield fact("step of $t_1$, by draw", draws["first_step"])


def _distance_to_end(run: FeatureRun) -> float:
    """Return the relative distance of the kernel at the end from the closed form."""
    stages = run.stages
    predicted = ln.theories.feature_learning.final_state(stages.gram, stages.outputs)
    return relative_distance(run.history.kernels[-1], predicted.kernel, 2)


ANOTHER_KERNEL = at_least(
    0.1, r"a kernel that differs from every multiple of $X X^\top$ by a tenth of itself is another"
)
_NEAR = (
    0.01,
    r"the initialization's own part outside the span of the inputs, $\sigma_0 v$ against $\lvert \beta \rvert$",
)


@claim(
    "minimum-norm",
    says="The kernel's structure diverges from the minimum norm solution.",
    assumes=settings.ASSUMED,
    tried=f"{settings.INSIDE}; {starts.OVER_ALIKE}, with starts of 0.01 at most, $n = 10$, no noise",
    correction="the kernel is another one, the solution is not",
    region={"strength": starts.STRENGTH, "start": Range(1e-6, 0.01, log=True), "ratio": starts.ALIKE["ratio"]},
)
def minimum_norm(trial: Trial) -> Rows:
    inside = train_inside(trial.seed, **settings.size(trial.quick), growth_times=14.0)
    at_once = _distances_from_minimum_norm(inside)
    found = by_name(starts.read_over_region(trial, _distances_from_minimum_norm))
    apart = r"distance of the kernel at $t_1$ from every multiple of $X X^\top$"
    yield both(apart, at_once["kernel"], ANOTHER_KERNEL)
    yield corrected(f"{apart}, over the region", found["kernel"], ANOTHER_KERNEL)
    of_predictor = "relative distance of the predictor from the minimum-norm solution"
    yield printed(of_predictor, at_once["predictor"], at_least(*_NEAR))
    yield corrected(f"{of_predictor}, over the region", found["predictor"], below(*_NEAR))


def _distances_from_minimum_norm(run: FeatureRun) -> dict[str, float]:
    """Return how far the predictor is from the minimum-norm solution at the end, and the kernel from the lazy one."""
    problem = ln.Problem.from_data(run.data.inputs, run.data.outputs)
    at = run.history_at(run.first_time()).kernels
    gram = run.data.inputs @ run.data.inputs.T
    scaled = gram * (at * gram).sum() / (gram**2).sum()  # the nearest multiple of the lazy kernel
    distance = relative_distance(run.trajectory.products[-1], problem.min_norm_solution())
    return {"predictor": distance, "kernel": relative_distance(scaled, at, 2)}
