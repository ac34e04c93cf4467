"""Feature learning from a small signed start (Huang et al.): two stages neuron by neuron, and their assumptions."""

from linnet.theories.feature_learning import assumptions
from linnet.theories.feature_learning.assumptions import (
    Assumption,
    Condition,
    admissible,
    assumption,
)
from linnet.theories.feature_learning.final_states import FinalState, final_state, lazy_feature_ratio
from linnet.theories.feature_learning.kernels import target_aligned_kernel
from linnet.theories.feature_learning.stages import Stages

__all__ = [
    "Assumption",
    "Condition",
    "FinalState",
    "Stages",
    "admissible",
    "assumption",
    "assumptions",
    "final_state",
    "lazy_feature_ratio",
    "target_aligned_kernel",
]
