"""The time to learn a mode is about inversely proportional to its strength."""

import numpy as np

import linnet as ln
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim
from linnet_saxe import networks, theory

EXPONENT = Limit(0.15, "the logarithm of s/u0 moves the exponent by about 1/ln(s/u0), which is 0.14 at s/u0 = 1000")
ERROR = Limit(1e-3, "crossings are read off lines between states 1/2000 of the run apart")
START, SHARE = 1e-3, 0.9


def measure(trial: Trial) -> Numbers:
    """The time each trained mode takes from u0 to nine tenths, its exponent in s, and its distance from the formula."""
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


def judge(numbers: Numbers) -> Verdict:
    """The exponent is -1 up to the logarithm, and the formula with it is exact."""
    close = abs(numbers["value"] + 1) < EXPONENT and numbers["error"] < ERROR
    return Verdict.HOLDS if close else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """Both numbers."""
    return (
        f"exponent of the learning time in s {numbers['value']:.3f} (-1 within {EXPONENT:g}); the formula with its "
        f"logarithm is off by {numbers['error']:.1e} (limit {ERROR:.0e})"
    )


CLAIM = Claim(
    name="learning-time",
    number="Section 1.3",
    sentence="The time to learn a mode is inversely proportional to its strength, up to a logarithm.",
    assumptions="equal layers, decoupled, small start",
    setting="one mode at a time, start 1e-3, learned to nine tenths",
    claimed="t = O(1/s)",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"exponent": EXPONENT, "relative error of the formula": ERROR},
)
