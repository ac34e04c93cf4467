"""Quantities computed from a trajectory: singular values, NTK, alignment, rank, regimes, invariants."""

from linnet.observables.commutators import commutator
from linnet.observables.crossings import crossing_time
from linnet.observables.curvature import sharpness
from linnet.observables.kernels import ntk, ntk_operator
from linnet.observables.layers import imbalance
from linnet.observables.losses import loss, test_loss
from linnet.observables.mode_regimes import Regimes, mode_kernel, regimes
from linnet.observables.spectra import (
    effective_rank,
    numerical_rank,
    singular_values,
    stable_rank,
)

__all__ = [
    "Regimes",
    "commutator",
    "crossing_time",
    "effective_rank",
    "imbalance",
    "loss",
    "mode_kernel",
    "ntk",
    "ntk_operator",
    "numerical_rank",
    "regimes",
    "sharpness",
    "singular_values",
    "stable_rank",
    "test_loss",
]
