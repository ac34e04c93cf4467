"""One output, any data: test error over time from one SVD, and in the proportional limit without data."""

from linnet.theories.one_output.clock import ClockError
from linnet.theories.one_output.curves import LearningCurve, filter, flow, learning_curve

__all__ = ["ClockError", "LearningCurve", "filter", "flow", "learning_curve"]
