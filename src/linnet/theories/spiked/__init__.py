"""Data with one strong direction (Watanabe et al.): two phases of learning, and the test error."""

from linnet.theories.spiked.any_covariance import late_rate
from linnet.theories.spiked.few_samples import generalization_error
from linnet.theories.spiked.two_phases import TwoPhase

__all__ = ["TwoPhase", "generalization_error", "late_rate"]
