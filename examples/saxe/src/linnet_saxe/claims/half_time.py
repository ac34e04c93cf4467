"""When half of a mode is learned."""

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Rows, Trial, below, claim, fact, printed
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS


@claim(
    "half-time",
    says=r"Half of a mode of strength $s$ is learned after $\ln(s/u_0 - 1)/(2 s)$.",
    assumes="equal layers, decoupled",
    tried="three modes of strengths 5, 3 and 1.5, initial strength $10^{-3}$",
)
def half_time(trial: Trial) -> Rows:
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 4, 2000)
    layer = np.full(len(STRENGTHS), np.sqrt(START))
    start = networks.decoupled(left, right, layer, layer, trial.seed)
    modes = networks.mode_strengths(problem, left, right, start, times)[0]
    measured = [ln.observables.crossing_time(times, modes[:, i], s / 2) for i, s in enumerate(STRENGTHS)]
    ratios = [m / theory.half_time(s, START) - 1 for m, s in zip(measured, STRENGTHS, strict=True)]
    between_states = below(1e-4, "the crossing is read off a line between saved states, 1/2000 of the run apart")
    yield printed("largest relative error of the formula", np.abs(ratios).max(), between_states)
    yield fact("half-times of the trained modes", measured)
