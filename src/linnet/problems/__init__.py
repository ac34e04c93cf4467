"""Learning problems: moments of data, costs and generators."""

from linnet.problems.costs import logistic, matrix_completion
from linnet.problems.low_rank import low_rank_plus_noise
from linnet.problems.problem import Problem
from linnet.problems.spectra import many_spikes, power_law, spectrum
from linnet.problems.spiked import spiked_covariance
from linnet.problems.subgaussian import Regression, gaussian_teacher, subgaussian_regression
from linnet.problems.synthetic import gaussian_regression, orthogonal_regression, relu_teacher

__all__ = [
    "Problem",
    "Regression",
    "gaussian_regression",
    "gaussian_teacher",
    "logistic",
    "low_rank_plus_noise",
    "many_spikes",
    "matrix_completion",
    "orthogonal_regression",
    "power_law",
    "relu_teacher",
    "spectrum",
    "spiked_covariance",
    "subgaussian_regression",
]
