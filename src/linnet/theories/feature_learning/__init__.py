"""Feature learning from a small signed start (Huang et al.): two stages neuron by neuron, and what they assume."""

from linnet.theories.feature_learning import assumptions
from linnet.theories.feature_learning.assumptions import (
    Assumption,
    Condition,
    admissible,
    assumption,
    gamma_share,
    overlap_bound,
    quadratic_share,
    spectrum_gap,
)
from linnet.theories.feature_learning.stages import Stages, target_aligned_kernel

__all__ = [
    "Assumption",
    "Condition",
    "Stages",
    "admissible",
    "assumption",
    "assumptions",
    "gamma_share",
    "overlap_bound",
    "quadratic_share",
    "spectrum_gap",
    "target_aligned_kernel",
]
