"""What the neural tangent kernel does in the two stages, and what the network has learned at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.huang import settings
from linnet.papers.huang.claims.rules import ASSUMED, INSIDE, SECTION_SIX, holds_if, listed, printed_or_corrected
from linnet.papers.huang.networks import inside
from linnet.papers.huang.tables import neurons, synthetic
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest, lowest
from linnet.reproduction.old_claim import old as Claim

POWER = Limit(1.0, "an absolute constant has power 0; 4 is what the terms of the distance give")
KEPT = Limit(0.5, "a norm that is maintained has exponent 0 in the start's scale; alignments of 1 at t1 give -2")
COSINE = Limit(0.995, "XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: 1 - cosine is its square")
CONVERGES = Limit(1.0, "a distance that converges to zero is at the end below what it was at t1")
NEAR = Limit(0.01, "the start's own part outside the span of the inputs, sigma_0 v against |beta|")

SIGNALS = (1.0, 1.5, 2.0, 3.0)
SMALLER = (1.0, 0.1, 0.01)


def _size(trial: Trial) -> dict[str, Any]:
    return settings.SMALL if trial.quick else settings.LARGE


def measure_kernel_bound(trial: Trial) -> Numbers:
    constants, relative, law = [], [], []
    for signal in SIGNALS:
        each = []
        for draw in range(3):
            run = inside([trial.seed, draw], **_size(trial), signal=signal, growth_times=1.0, states=100_000)
            m, n, data = run.width, run.data.samples, run.data
            at, target = run.moment(run.first_time()).kernel / m, run.history.target / (m * run.history.gamma)
            distance = float(np.linalg.norm(at - target, 2))
            each.append(distance * m * n**3 * data.signal**6 * data.trace)
            relative.append(distance / float(np.linalg.norm(target, 2)))
            law.append(run.scales["magnitude"] ** 2 * run.history.gamma)
        constants.append(float(np.exp(np.mean(np.log(each)))))
    power, error = exponent(SIGNALS, constants)
    return {"value": power, "uncertainty": error, "constants": constants, "relative": relative, "law": law}


def judge_kernel_bound(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] < POWER)


def tell_kernel_bound(numbers: Numbers) -> str:
    ratios = np.array(numbers["relative"]) / np.array(numbers["law"])
    return (
        f"C needed at t1 for |beta| = {listed(SIGNALS, 'g')}: {listed(numbers['constants'], '.2g')}: it grows as "
        f"|beta|^{numbers['value']:.2f}, where an absolute constant would stay; relative to the kernel the distance is "
        f"{lowest(numbers['relative']):.1%} to {highest(numbers['relative']):.1%}, {ratios.min():.2f} to "
        f"{ratios.max():.2f} times v_0^2 gamma"
    )


def measure_turning(trial: Trial) -> Numbers:
    grown, turned, left = [], [], []
    for smaller in SMALLER:
        run = inside(trial.seed, **_size(trial), smaller=smaller)
        history, first = run.history, run.first_time()
        norm = float(np.interp(first, history.times, history.kernel_norm))
        grown.append(norm / float(history.kernel_norm[0]))
        left.append(norm / float(history.kernel_norm[-1]))
        gap = 1 - history.kernel_cosine
        turned.append(float(gap[0] / np.interp(first, history.times, gap)))
    power, error = exponent(SMALLER, grown)
    return {"value": power, "uncertainty": error, "grown": grown, "turned": turned, "left": left}


def judge_turning(numbers: Numbers) -> Verdict:
    return holds_if(abs(numbers["value"]) < KEPT)


def tell_turning(numbers: Numbers) -> str:
    return (
        f"from the start to t1 the kernel's norm grows {listed(numbers['grown'], '.2g')}-fold for starts 1, 1/10 and "
        f"1/100 as large, as the {numbers['value']:.2f}th power of the start's scale, while 1 - cosine to the target "
        f"falls {listed(numbers['turned'], '.2g')}-fold; at t1 it is still {listed(numbers['left'], '.1g')} of its end"
    )


def measure_growth(trial: Trial) -> Numbers:
    rows, own = neurons.read(neurons.TABLE.results(trial)), synthetic.TABLE.results(trial)
    cosines = own["kernel_cosine"].values
    return {
        "value": lowest([*(row.kernel_cosine for row in rows), *cosines]),
        "inside": lowest(row.kernel_cosine for row in rows),
        "section_six": lowest(cosines),
        "growth": own["kernel_growth"].values.tolist(),
    }


def judge_growth(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= COSINE)


def tell_growth(numbers: Numbers) -> str:
    return (
        f"from t1 on the cosine to the target-aligned kernel is at least {numbers['inside']:.5f} inside the assumption "
        f"and {numbers['section_six']:.5f} in section 6, whose norm grows {lowest(numbers['growth']):.0f}- to "
        f"{highest(numbers['growth']):.0f}-fold"
    )


def measure_convergence(trial: Trial) -> Numbers:
    own = synthetic.TABLE.results(trial)
    first, least, end = (own[f"kernel_distance_{name}"].values for name in ("first", "least", "end"))
    return {
        "value": float(np.median(end / first)),
        "draws": len(end),
        "first": first.tolist(),
        "least": least.tolist(),
        "end": end.tolist(),
        "step": own["kernel_least_step"].values.tolist(),
        "first_step": own["first_step"].values.tolist(),
    }


def judge_convergence(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] < CONVERGES)


def tell_convergence(numbers: Numbers) -> str:
    return (
        f"the relative distance to the target-aligned kernel is {lowest(numbers['first']):.1e} to "
        f"{highest(numbers['first']):.1e} at t1, least at {lowest(numbers['least']):.1e} to "
        f"{highest(numbers['least']):.1e} (steps {lowest(numbers['step']):.0f} to {highest(numbers['step']):.0f}, t1 "
        f"at {lowest(numbers['first_step']):.0f} to {highest(numbers['first_step']):.0f}), and ends at "
        f"{lowest(numbers['end']):.1e} to {highest(numbers['end']):.1e}: the median draw ends {numbers['value']:.1f} "
        "times further off than it was at t1"
    )


def measure_minimum_norm(trial: Trial) -> Numbers:
    run = inside(trial.seed, **_size(trial), growth_times=14.0)
    problem = ln.Problem.from_data(run.data.inputs, run.data.outputs)
    solution, learned = problem.min_norm_solution(), run.trajectory.products[-1]
    at = run.moment(run.first_time()).kernel
    gram = run.data.inputs @ run.data.inputs.T
    scaled = gram * (at * gram).sum() / (gram**2).sum()  # the nearest multiple of the lazy kernel
    return {
        "value": float(np.linalg.norm(learned - solution) / np.linalg.norm(solution)),
        "kernel": float(np.linalg.norm(at - scaled, 2) / np.linalg.norm(at, 2)),
    }


FAR = Limit(0.1, "a kernel that differs from every multiple of XX' by a tenth of itself is another kernel")


def judge_minimum_norm(numbers: Numbers) -> Verdict:
    kernel, solution = numbers["kernel"] >= FAR, numbers["value"] >= NEAR
    return printed_or_corrected(kernel and solution, kernel and not solution)


def tell_minimum_norm(numbers: Numbers) -> str:
    return (
        f"at t1 the kernel is {numbers['kernel']:.0%} of itself away from every multiple of XX', the kernel whose "
        "solution is "
        f"the minimum-norm one; the predictor that is learned is the minimum-norm solution to {numbers['value']:.1e}"
    )


KERNEL_BOUND = Claim(
    name="lemma5.2-kernel",
    number="Lemma 5.2 (iii)",
    sentence="At t1 the kernel is within C/(m n^3 |beta|^6 tr) of the target-aligned one.",
    assumptions=ASSUMED,
    setting=INSIDE + "; |beta| = 1, 1.5, 2, 3 with 3 draws of each, every step kept, interpolated at t1",
    claimed="an absolute constant C: no power of |beta| (judged: less than the first)",
    expected=Verdict.REFUTED,
    measure=measure_kernel_bound,
    judge=judge_kernel_bound,
    tell=tell_kernel_bound,
    limits={"power": POWER},
)
TURNING = Claim(
    name="ntk-turning",
    number="Section 1",
    sentence="In the initial stage the kernel maintains its norm while it evolves towards the target-aligned kernel.",
    assumptions=ASSUMED,
    setting=INSIDE + "; v_0 and sigma_0 1, 1/10 and 1/100 times the admissible ones",
    claimed=(
        "a norm at t1 of the order of that at the start, however small the start (judged: exponent within 1/2 of 0)"
    ),
    expected=Verdict.REFUTED,
    measure=measure_turning,
    judge=judge_turning,
    tell=tell_turning,
    limits={"exponent": KEPT},
)
GROWTH = Claim(
    name="ntk-growth",
    number="Section 1, Lemma 5.3, Section 6",
    sentence=(
        "In the latter stage the kernel's norm increases while it keeps the structure of the target-aligned kernel."
    ),
    assumptions=ASSUMED,
    setting=INSIDE + "; and " + SECTION_SIX,
    claimed="a cosine near 1 from t1 on (judged: 0.995)",
    expected=Verdict.HOLDS,
    measure=measure_growth,
    judge=judge_growth,
    tell=tell_growth,
    limits={"cosine": COSINE},
)
CONVERGENCE = Claim(
    name="ntk-converges",
    number="Section 6 (iii), Figure 1c",
    sentence="The kernel converges to the target-aligned kernel (v_r^2/m) X(I + X'yy'X/gamma)X' after t1.",
    assumptions="none stated",
    setting=SECTION_SIX + ", 12 draws (quick: 3); v_r^2 read as its mean over neurons",
    claimed="a distance that falls after t1",
    expected=Verdict.REFUTED,
    measure=measure_convergence,
    judge=judge_convergence,
    tell=tell_convergence,
    limits={"ratio": CONVERGES},
)
MINIMUM_NORM = Claim(
    name="minimum-norm",
    number="below Lemma 5.2",
    sentence="The kernel's structure diverges from the minimum norm solution.",
    assumptions=ASSUMED,
    setting=INSIDE,
    claimed="kernel and solution differ (printed); the kernel does, the solution does not (corrected)",
    expected=Verdict.CORRECTED,
    measure=measure_minimum_norm,
    judge=judge_minimum_norm,
    tell=tell_minimum_norm,
    limits={"near": NEAR, "far": FAR},
)
