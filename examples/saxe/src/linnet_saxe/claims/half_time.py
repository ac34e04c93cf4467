"""When half of a mode is learned."""

import numpy as np

import linnet as ln
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS

ERROR = Limit(1e-4, "the crossing is read off a line between saved states, 1/2000 of the run apart")


def measure(trial: Trial) -> Numbers:
    """The time at which each trained mode passes half its strength, over the formula's."""
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 4, 2000)
    layer = np.full(len(STRENGTHS), np.sqrt(START))
    start = networks.decoupled(left, right, layer, layer, trial.seed)
    modes = networks.mode_strengths(problem, left, right, start, times)[0]
    measured = [ln.observables.crossing_time(times, modes[:, i], s / 2) for i, s in enumerate(STRENGTHS)]
    ratios = [m / theory.half_time(s, START) - 1 for m, s in zip(measured, STRENGTHS, strict=True)]
    return {"value": float(np.abs(ratios).max()), "times": measured}


def judge(numbers: Numbers) -> Verdict:
    """By the worst mode."""
    return Verdict.HOLDS if numbers["value"] < ERROR else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """The measured times and the worst error."""
    times = ", ".join(f"{time:.4f}" for time in numbers["times"])
    return f"half-times {times}; off by {numbers['value']:.1e} of themselves at most (limit {ERROR:.0e})"


CLAIM = Claim(
    name="half-time",
    number="Section 1.3",
    sentence="Half of a mode of strength s is learned after ln(s/u0 - 1)/(2s).",
    assumptions="equal layers, decoupled",
    setting="three modes of strengths 5, 3 and 1.5, start 1e-3",
    claimed="equality",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"relative error": ERROR},
)
