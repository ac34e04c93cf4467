"""What the neural tangent kernel does in the two stages, and what the network has learned at the end."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, synthetic
from linnet_papers.huang.grids.neurons import where_well_inside
from linnet_papers.huang.training.runs import train_inside
from linnet_papers.reproduction import (
    Estimate,
    Numbers,
    Rows,
    Trial,
    at_least,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
)
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, lowest, relative_distance

MAINTAINED = at_most(10.0, "a norm that is maintained stays of its order: within a factor ten")
SMALLER = (1.0, 0.1, 0.01)  # multiples of the admissible v_0 and sigma_0


@claim(
    "ntk-turning",
    says="In the initial stage the kernel maintains its norm while it evolves towards the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}; $v_0$ and $\sigma_0$ 1, 1/10 and 1/100 times the admissible ones",
    correction="the norm grows as $1/v_0^2$ until $t_1$ and is still small against its end, while the kernel turns",
)
def turning(trial: Trial) -> Rows:
    def kernel_at_first_time(smaller: float) -> Numbers:
        """Return how the kernel has grown and turned from the start to t1, and its share of the final norm there."""
        run = train_inside(trial.seed, **settings.size(trial.quick), smaller=smaller)
        times = run.history.times
        norms = run.history.kernel_norm
        gaps = 1 - run.history.kernel_cosine
        norm, gap = (np.interp(run.first_time(), times, values) for values in (norms, gaps))
        return {"grown": norm / norms[0], "turned": gaps[0] / gap, "left": norm / norms[-1]}

    measured = by_name({f"start times {smaller:g}": kernel_at_first_time(smaller) for smaller in SMALLER})
    small = at_most(0.05, "small against its end: a twentieth")
    turned = at_least(10, "ten times nearer is turned")
    yield printed("factor by which the norm grows until $t_1$", measured["grown"], MAINTAINED)
    yield corrected("norm at $t_1$ over that at the end", measured["left"], small)
    yield corrected(
        "factor by which 1 - cosine to the target-aligned kernel falls until $t_1$", measured["turned"], turned
    )
    power = Estimate(*exponent(SMALLER, list(measured["grown"].values())))
    yield fact("power of the start's scale with which the norm grows", power)


ALIGNED = at_least(
    0.995, r"$X X^\top$ is a multiple of the identity up to $\sqrt{n/d}$, 7% in quick mode: 1 - cosine is its square"
)
DOUBLED = at_least(2.0, "growth that one would call an increase of the norm: it doubles at least")
ALL_STATES = at_least(1.0, "it increases through the second stage; beyond, where nothing moves, it may not")


@claim(
    "ntk-growth",
    says="In the latter stage the kernel's norm increases while it keeps the structure of the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_RATIOS}; and {settings.SECTION_SIX}",
)
def growth(trial: Trial) -> Rows:
    draws, rows = synthetic.rows(trial), neurons.rows(trial)
    inside = lowest(where_well_inside(rows["kernel_cosine"]).values())
    cosines = {
        "inside the assumption, starts a tenth of the limits": inside,
        "section 6": lowest(draws["kernel_cosine"]),
    }
    grown = [*draws["kernel_growth"], *rows["kernel_growth"].values()]
    rising = [*draws["kernel_rising"], *rows["kernel_rising"].values()]
    yield printed("smallest cosine to the target-aligned kernel from $t_1$ on", cosines, ALIGNED)
    yield printed("factor by which the norm grows from $t_1$ on", grown, DOUBLED)
    yield printed("fraction of saved states, until 1% of the loss is left, at which it has grown", rising, ALL_STATES)


@claim(
    "ntk-converges",
    says=r"The kernel converges to the target-aligned kernel $(v_r^2/m) X(I + X^\top y y^\top X/\gamma) X^\top$ after "
    "$t_1$.",
    assumes="none stated",
    tried=f"{settings.SECTION_SIX}, 12 draws (quick: 3); $v_r^2$ read as its mean over neurons",
    correction=r"it converges to $v^2 (K + y y^\top/(y^\top K^{-1} y))$, $K = X X^\top$, which is the target-aligned "
    "kernel only where $K$ is a multiple of the identity",
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
    by_draw = "relative distance to the target-aligned kernel, by draw"
    yield fact(f"{by_draw}, at $t_1$", first)
    yield fact(f"{by_draw}, where it is smallest", least)
    yield fact(f"{by_draw}, at the end", end)
    yield fact(f"{by_draw}, at the end by the closed form", draws["kernel_end_predicted"])
    yield fact("step at which it is smallest, by draw", draws["kernel_least_step"])
    yield fact("step of $t_1$, by draw", draws["first_step"])


ANOTHER_KERNEL = at_least(
    0.1, r"a kernel that differs from every multiple of $X X^\top$ by a tenth of itself is another"
)
_NEAR = 0.01, r"the start's own part outside the span of the inputs, $\sigma_0 v$ against $\lvert \beta \rvert$"


@claim(
    "minimum-norm",
    says="The kernel's structure diverges from the minimum norm solution.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE,
    correction="the kernel is another one, the solution is not",
)
def minimum_norm(trial: Trial) -> Rows:
    run = train_inside(trial.seed, **settings.size(trial.quick), growth_times=14.0)
    problem = ln.Problem.from_data(run.data.inputs, run.data.outputs)
    distance = relative_distance(run.trajectory.products[-1], problem.min_norm_solution())
    at = run.history_at(run.first_time()).kernels
    gram = run.data.inputs @ run.data.inputs.T
    scaled = gram * (at * gram).sum() / (gram**2).sum()  # the nearest multiple of the lazy kernel
    kernel = relative_distance(scaled, at, 2)
    yield both(r"distance of the kernel at $t_1$ from every multiple of $X X^\top$", kernel, ANOTHER_KERNEL)
    of_predictor = "relative distance of the predictor from the minimum-norm solution"
    yield printed(of_predictor, distance, at_least(*_NEAR))
    yield corrected(of_predictor, distance, below(*_NEAR))
