"""What is read off a trajectory: singular values, NTK, alignment, rank, regimes, invariants."""

from linnet.observables.commutators import commutator
from linnet.observables.crossings import crossing_time
from linnet.observables.features import feature_history
from linnet.observables.first_layer import first_layer_values
from linnet.observables.kernels import kernel_alignment, ntk, ntk_operator
from linnet.observables.layers import imbalance, imbalance_drift, mode_alignment
from linnet.observables.losses import loss, test_loss
from linnet.observables.mode_regimes import Regimes, mode_kernel, regimes
from linnet.observables.spectra import (
    effective_rank,
    numerical_rank,
    singular_values,
    singular_vectors,
    stable_rank,
)

__all__ = [
    "Regimes",
    "commutator",
    "crossing_time",
    "effective_rank",
    "feature_history",
    "first_layer_values",
    "imbalance",
    "imbalance_drift",
    "kernel_alignment",
    "loss",
    "mode_alignment",
    "mode_kernel",
    "ntk",
    "ntk_operator",
    "numerical_rank",
    "regimes",
    "singular_values",
    "singular_vectors",
    "stable_rank",
    "test_loss",
]
