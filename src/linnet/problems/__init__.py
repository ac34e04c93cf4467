"""What is to be learned: moments of data, costs, generators, real data sets."""

from linnet.problems.problem import Problem

__all__ = ["Problem"]
