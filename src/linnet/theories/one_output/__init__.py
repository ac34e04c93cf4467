"""One output, any data: test error over time from one SVD, and in the proportional limit without data."""

from linnet.theories.one_output.clock import ClockError
from linnet.theories.one_output.curves import LearningCurve, filter, flow, learning_curve
from linnet.theories.one_output.proportional import asymptotic

__all__ = ["ClockError", "LearningCurve", "asymptotic", "filter", "flow", "learning_curve"]
