"""When half of a mode is learned."""

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Below, Numbers, Trial, claim
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS


@claim(
    "half-time",
    says="Half of a mode of strength s is learned after ln(s/u0 - 1)/(2s).",
    assumes="equal layers, decoupled",
    tried="three modes of strengths 5, 3 and 1.5, start 1e-3",
    holds=Below(
        1e-4,
        what="largest relative error",
        form=".1e",
        because="the crossing is read off a line between saved states, 1/2000 of the run apart",
    ),
    reads="half-times of the trained modes: {times:.4f}",
)
def half_time(trial: Trial) -> Numbers:
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 4, 2000)
    layer = np.full(len(STRENGTHS), np.sqrt(START))
    start = networks.decoupled(left, right, layer, layer, trial.seed)
    modes = networks.mode_strengths(problem, left, right, start, times)[0]
    measured = [ln.observables.crossing_time(times, modes[:, i], s / 2) for i, s in enumerate(STRENGTHS)]
    ratios = [m / theory.half_time(s, START) - 1 for m, s in zip(measured, STRENGTHS, strict=True)]
    return {"value": float(np.abs(ratios).max()), "times": measured}
