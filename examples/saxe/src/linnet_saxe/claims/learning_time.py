"""The time to learn a mode is about inversely proportional to its strength."""

import numpy as np

import linnet as ln
from linnet_papers.reproduction import AllOf, Below, Numbers, Trial, Within, claim
from linnet_saxe import networks, theory
from linnet_saxe.settings import START

SHARE = 0.9  # of a mode that counts as learned


@claim(
    "learning-time",
    says="The time to learn a mode is inversely proportional to its strength, up to a logarithm: t = O(1/s).",
    assumes="equal layers, decoupled, small start",
    tried="one mode at a time, start 1e-3, learned to nine tenths",
    holds=AllOf(
        Within(
            0.15,
            of=-1,
            what="exponent of the learning time in s",
            form=".3f",
            because="the logarithm of s/u0 moves the exponent by about 1/ln(s/u0), which is 0.14 at s/u0 = 1000",
        ),
        Below(
            1e-3,
            "error",
            what="largest relative error of the formula with its logarithm",
            form=".1e",
            because="crossings are read off lines between states 1/2000 of the run apart",
        ),
    ),
    reads="learning times {times:.3f}",
)
def learning_time(trial: Trial) -> Numbers:
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
    return {"value": exponent, "error": float(np.abs(np.array(measured) / exact - 1).max()), "times": measured}
