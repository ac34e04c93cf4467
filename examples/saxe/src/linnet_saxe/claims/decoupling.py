"""Modes that start apart stay apart."""

import numpy as np

from linnet_papers.reproduction import Above, AllOf, Below, Numbers, Trial, claim
from linnet_saxe import networks
from linnet_saxe.settings import STRENGTHS


@claim(
    "decoupling",
    says="Modes that are decoupled at the start stay so: each is learned on its own.",
    assumes="whitened inputs, gradient flow",
    tried="three modes, 16 hidden units, unequal layers; a random start as the control",
    holds=AllOf(
        Below(
            1e-8,
            what="largest entry outside the modes",
            form=".1e",
            because="ten times the relative tolerance of the flow's integrator",
        ),
        Above(
            1e-3,
            "mixed",
            what="the same from a random start",
            because="a start that mixes the modes must couple them visibly, or the measure sees nothing",
        ),
    ),
    reads="the trained product in the target's singular basis",
)
def decoupled_modes(trial: Trial) -> Numbers:
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 6, 120)
    random = np.random.default_rng([trial.seed, 2])
    layer = 0.1 * (1 + random.random(len(STRENGTHS)))
    apart = networks.decoupled(left, right, layer, layer[::-1], trial.seed)
    rest = networks.mode_strengths(problem, left, right, apart, times)[1]
    mixed = networks.mode_strengths(problem, left, right, networks.random_start(trial.seed, 0.1), times)[1]
    return {"value": float(rest.max()), "mixed": float(mixed.max())}
