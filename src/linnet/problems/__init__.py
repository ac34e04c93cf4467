"""What is to be learned: moments of data, costs, generators, real data sets."""

from linnet.problems.images import load
from linnet.problems.problem import Problem
from linnet.problems.spectra import many_spikes, power_law, spectrum
from linnet.problems.spiked import spiked_covariance
from linnet.problems.subgaussian import gaussian_teacher, subgaussian_regression

__all__ = [
    "Problem",
    "gaussian_teacher",
    "load",
    "many_spikes",
    "power_law",
    "spectrum",
    "spiked_covariance",
    "subgaussian_regression",
]
