"""Spectral bias of training from the orthogonal initialization (Varre et al. 2023): modes over time, mirror flows, the
variational problem.

The noise process of the same paper is in `linnet.theories.noise_process`.
"""

from linnet.theories.spectral_bias.mirror_flows import (
    bregman,
    convergence_bound,
    mirror,
    potential,
    predictor_bregman,
    predictor_mirror,
    predictor_warp,
)
from linnet.theories.spectral_bias.modes import (
    activation_times,
    alpha,
    alpha_velocity,
    final_singular_values,
    half_times,
    loss_rate,
    predictor,
    singular_values,
)
from linnet.theories.spectral_bias.variational import duality_gap, kkt_residual, variational_potential

__all__ = [
    "activation_times",
    "alpha",
    "alpha_velocity",
    "bregman",
    "convergence_bound",
    "duality_gap",
    "final_singular_values",
    "half_times",
    "kkt_residual",
    "loss_rate",
    "mirror",
    "potential",
    "predictor",
    "predictor_bregman",
    "predictor_mirror",
    "predictor_warp",
    "singular_values",
    "variational_potential",
]
