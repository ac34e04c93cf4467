"""One output, any data: test error over time from one SVD, and in the proportional limit without data."""

from linnet.theories.one_output.clock import ClockError
from linnet.theories.one_output.curves import ErrorOverTime, error_over_time, product_over_time
from linnet.theories.one_output.proportional import asymptotic

__all__ = ["ClockError", "ErrorOverTime", "asymptotic", "error_over_time", "product_over_time"]
