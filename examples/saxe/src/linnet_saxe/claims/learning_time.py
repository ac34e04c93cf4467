"""The time to learn a mode is about inversely proportional to its strength."""

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Rows, Trial, below, claim, fact, printed, within
from linnet_saxe import networks, theory
from linnet_saxe.settings import START

SHARE = 0.9  # of a mode that counts as learned
INVERSE = within(0.15, "the logarithm of $s/u_0$ moves the exponent by $1/\\ln(s/u_0)$, 0.14 at $s/u_0 = 1000$", of=-1)
BETWEEN_STATES = below(1e-3, "crossings are read off lines between states 1/2000 of the run apart")


@claim(
    "learning-time",
    says="The time to learn a mode is inversely proportional to its strength, up to a logarithm: $t = O(1/s)$.",
    assumes="equal layers, decoupled, small initialization",
    tried="one mode at a time, initial strength $10^{-3}$, learned to nine tenths",
)
def learning_time(trial: Trial) -> Rows:
    strengths = np.array([0.5, 1.0, 2.0, 4.0] if trial.quick else [0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
    measured = []
    for strength in strengths:
        problem, left, right = networks.task(trial.seed, [strength])
        layer = np.array([np.sqrt(START)])
        times = np.linspace(0, 20 / strength, 2000)
        start = networks.decoupled(left, right, layer, layer, trial.seed)
        modes = networks.mode_strengths(problem, left, right, start, times)[0][:, 0]
        measured.append(ln.observables.crossing_time(times, modes, SHARE * strength))
    exponent = float(np.polyfit(np.log(strengths), np.log(measured), 1)[0])
    exact = [theory.learning_time(s, START, SHARE * s) for s in strengths]
    yield printed("exponent of the learning time in $s$", exponent, INVERSE)
    errors = np.abs(np.array(measured) / exact - 1)
    yield printed("largest relative error of the formula with its logarithm", errors.max(), BETWEEN_STATES)
    yield fact("learning times", {f"$s = {s:g}$": time for s, time in zip(strengths, measured, strict=True)})
