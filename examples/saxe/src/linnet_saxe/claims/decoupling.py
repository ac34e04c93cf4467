"""Modes that start apart stay apart."""

import numpy as np

from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim
from linnet_saxe import networks
from linnet_saxe.settings import STRENGTHS

COUPLING = Limit(1e-8, "ten times the relative tolerance of the flow's integrator")
LEAST = Limit(1e-3, "a start that mixes the modes must couple them visibly, or the measure sees nothing")


def measure(trial: Trial) -> Numbers:
    """The largest entry of the product outside the target's modes; and the same from a start that mixes them."""
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 6, 120)
    random = np.random.default_rng([trial.seed, 2])
    layer = 0.1 * (1 + random.random(len(STRENGTHS)))
    apart = networks.decoupled(left, right, layer, layer[::-1], trial.seed)
    rest = networks.mode_strengths(problem, left, right, apart, times)[1]
    mixed = networks.mode_strengths(problem, left, right, networks.random_start(trial.seed, 0.1), times)[1]
    return {"value": float(rest.max()), "mixed": float(mixed.max())}


def judge(numbers: Numbers) -> Verdict:
    """Nothing outside the modes, and a control that shows something there."""
    return Verdict.HOLDS if numbers["value"] < COUPLING and numbers["mixed"] > LEAST else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """Both numbers."""
    return (
        f"largest entry outside the modes {numbers['value']:.1e} (limit {COUPLING:.0e}); from a random start "
        f"{numbers['mixed']:.2g} (at least {LEAST:.0e})"
    )


CLAIM = Claim(
    name="decoupling",
    number="Section 1.2",
    sentence="Modes that are decoupled at the start stay so: each is learned on its own.",
    assumptions="whitened inputs, gradient flow",
    setting="three modes, 16 hidden units, unequal layers; a random start as the control",
    claimed="no coupling",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"entries outside the modes": COUPLING, "the control's": LEAST},
)
