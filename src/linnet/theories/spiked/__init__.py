"""Data with one strong direction (Watanabe et al.): two phases of learning, and the test error."""

from linnet.theories.spiked.any_covariance import adapted_basis, late_rate
from linnet.theories.spiked.few_samples import generalization_error
from linnet.theories.spiked.two_phases import TwoPhase

__all__ = ["TwoPhase", "adapted_basis", "generalization_error", "late_rate"]
