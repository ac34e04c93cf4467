"""Modes that start apart stay apart."""

import numpy as np

from linnet_papers.reproduction import Rows, Trial, above, below, claim, printed
from linnet_saxe import networks
from linnet_saxe.settings import STRENGTHS


@claim(
    "decoupling",
    says="Modes that are decoupled at initialization stay so: each is learned on its own.",
    assumes="whitened inputs, gradient flow",
    tried="three modes, 16 hidden units, unequal layers; a random initialization as the control",
)
def decoupled_modes(trial: Trial) -> Rows:
    problem, left, right = networks.task(trial.seed)
    times = np.linspace(0, 6, 120)
    random = np.random.default_rng([trial.seed, 2])
    layer = 0.1 * (1 + random.random(len(STRENGTHS)))
    apart = networks.decoupled(left, right, layer, layer[::-1], trial.seed)
    rest = networks.mode_strengths(problem, left, right, apart, times)[1]
    mixed = networks.mode_strengths(problem, left, right, networks.random_start(trial.seed, 0.1), times)[1]
    outside = "largest entry of the trained product outside the modes"
    yield printed(outside, rest.max(), below(1e-8, "ten times the relative tolerance of the integrator"))
    visible = above(1e-3, "an initialization that mixes the modes couples them by far more than the tolerance")
    yield printed(f"{outside}, random initialization", mixed.max(), visible)
