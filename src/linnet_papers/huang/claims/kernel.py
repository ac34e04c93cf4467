"""What the neural tangent kernel does in the two stages, and what the network has learned at the end."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.tables import neurons, synthetic
from linnet_papers.huang.tables.neurons import where_well_inside
from linnet_papers.huang.training.runs import train_inside
from linnet_papers.reproduction import AtLeast, AtMost, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, lowest, relative_distance

NEAR = Limit(0.01, "the start's own part outside the span of the inputs, sigma_0 v against |beta|")
ANOTHER_KERNEL = AtLeast(
    0.1,
    "kernel",
    what="distance of the kernel at t1 from every multiple of XX'",
    form=".0%",
    because="a kernel that differs from every multiple of XX' by a tenth of itself is another kernel",
)
SMALLER = (1.0, 0.1, 0.01)  # multiples of the admissible v_0 and sigma_0


@claim(
    "ntk-turning",
    says="In the initial stage the kernel maintains its norm while it evolves towards the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE + "; v_0 and sigma_0 1, 1/10 and 1/100 times the admissible ones",
    holds=AtMost(
        10.0,
        "grown",
        what="factor by which the norm grows until t1",
        form=".2g",
        because="a norm that is maintained stays of its order: within a factor ten",
    ),
    corrected=AtMost(
        0.05, "left", what="norm at t1 over that at the end", form=".1g", because="small against its end: a twentieth"
    )
    & AtLeast(
        10, "turned", what="factor by which 1 - cosine to the target falls", because="ten times nearer is turned"
    ),
    correction="the norm grows as 1/v_0^2 until t1 and is still small against its end, while the kernel turns",
    reads="from the start to t1 the kernel's norm grows {grown:.2g}-fold for starts 1, 1/10 and 1/100 as large, as the "
    "power {value:.2f} of the start's scale, while 1 - cosine to the target falls {turned:.2g}-fold; at t1 it is "
    "{left:.1g} of its end",
)
def turning(trial: Trial) -> Numbers:
    def kernel_at_first_time(smaller: float) -> Numbers:
        """Return how the kernel has grown and turned from the start to t1, and its share of the final norm there."""
        run = train_inside(trial.seed, **settings.size(trial.quick), smaller=smaller)
        times = run.history.times
        norms = run.history.kernel_norm
        gaps = 1 - run.history.kernel_cosine
        norm, gap = (np.interp(run.first_time(), times, values) for values in (norms, gaps))
        return {"grown": norm / norms[0], "turned": gaps[0] / gap, "left": norm / norms[-1]}

    numbers = by_name(kernel_at_first_time(smaller) for smaller in SMALLER)
    return {"value": exponent(SMALLER, numbers["grown"])[0], **numbers}


@claim(
    "ntk-growth",
    says="In the latter stage the kernel's norm increases while it keeps the structure of the target-aligned kernel.",
    assumes=settings.ASSUMED,
    tried=settings.OVER_RATIOS + "; and " + settings.SECTION_SIX,
    holds=AtLeast(
        0.995,
        what="least cosine to the target-aligned kernel from t1 on",
        form=".5f",
        because="XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: 1 - cosine is its square",
    )
    & AtLeast(2.0, "growth", what="factor by which the norm grows from t1 on", because="it increases: doubles at least")
    & AtLeast(
        1.0,
        "rising",
        what="share of saved states, until 1% of the loss is left, at which it has grown",
        form=".2f",
        because="it increases through the second stage; beyond, where nothing moves, it may not",
    ),
    reads="from t1 on the cosine to the target-aligned kernel is at least {inside:.5f} inside the assumption (starts a "
    "tenth of the limits) and {section_six:.5f} in section 6; the norm grows {growth.lowest:.0f}- to "
    "{growth.highest:.0f}-fold, at a share of {rising.lowest:.2f} or more of the saved states",
)
def growth(trial: Trial) -> Numbers:
    draws, rows = synthetic.TABLE.rows(trial), neurons.TABLE.rows(trial)
    inside = lowest(where_well_inside(rows["kernel_cosine"]).values())
    section_six = lowest(draws["kernel_cosine"])
    return {
        "value": lowest(inside, section_six),
        "inside": inside,
        "section_six": section_six,
        "growth": [*draws["kernel_growth"], *rows["kernel_growth"].values()],
        "rising": [*draws["kernel_rising"], *rows["kernel_rising"].values()],
    }


@claim(
    "ntk-converges",
    says="The kernel converges to the target-aligned kernel (v_r^2/m) X(I + X'yy'X/gamma)X' after t1.",
    assumes="none stated",
    tried=settings.SECTION_SIX + ", 12 draws (quick: 3); v_r^2 read as its mean over neurons",
    holds=Below(
        2.0,
        what="distance at the end over its least, least of the draws",
        form=".1f",
        because="a distance that converges to zero does not double again; whichever t1 is",
    ),
    corrected=Below(
        0.005,
        "to_end",
        what="distance at the end to v^2 (K + yy'/(y'K^-1 y))",
        form=".1e",
        because="the start is small against the end to 1e-3 or so, and 1e-8 of the loss or less is left",
    ),
    correction="it converges to v^2 (K + yy'/(y'K^-1 y)), K = XX', which is the target-aligned kernel only where K is "
    "a multiple of the identity",
    reads="the relative distance to the target-aligned kernel is {first.lowest:.1e} to {first.highest:.1e} at t1, "
    "least at {least.lowest:.1e} to {least.highest:.1e} (steps {step.lowest:.0f} to {step.highest:.0f}, t1 at "
    "{first_step.lowest:.0f} to {first_step.highest:.0f}), and ends at {end.lowest:.1e} to {end.highest:.1e}, by the "
    "closed form at {predicted.lowest:.1e} to {predicted.highest:.1e}; to the kernel of the closed form it ends at "
    "{to_end.lowest:.1e} to {to_end.highest:.1e}",
)
def convergence(trial: Trial) -> Numbers:
    draws = synthetic.TABLE.rows(trial)
    distances = {name: draws[f"kernel_distance_{name}"] for name in ("first", "least", "end")}
    return {
        "value": lowest(np.divide(distances["end"], distances["least"])),
        **distances,
        "to_end": draws["kernel_to_end"],
        "predicted": draws["kernel_end_predicted"],
        "step": draws["kernel_least_step"],
        "first_step": draws["first_step"],
    }


@claim(
    "minimum-norm",
    says="The kernel's structure diverges from the minimum norm solution.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE,
    holds=ANOTHER_KERNEL & AtLeast(NEAR, what="distance of the predictor from the minimum-norm solution", form=".1e"),
    corrected=ANOTHER_KERNEL & Below(NEAR, what="distance of the predictor from it", form=".1e"),
    correction="the kernel is another one, the solution is not",
    reads="at t1 the kernel is {kernel:.0%} of itself away from every multiple of XX', the kernel whose solution is "
    "the minimum-norm one; the predictor that is learned is {value:.1e} from the minimum-norm solution",
)
def minimum_norm(trial: Trial) -> Numbers:
    run = train_inside(trial.seed, **settings.size(trial.quick), growth_times=14.0)
    problem = ln.Problem.from_data(run.data.inputs, run.data.outputs)
    solution = problem.min_norm_solution()
    learned = run.trajectory.products[-1]
    at = run.history_at(run.first_time()).kernels
    gram = run.data.inputs @ run.data.inputs.T
    scaled = gram * (at * gram).sum() / (gram**2).sum()  # the nearest multiple of the lazy kernel
    return {"value": relative_distance(learned, solution), "kernel": relative_distance(scaled, at, 2)}
