"""The test error over time of one output with one spike in its data, and what the scale of the start changes in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import linnet as ln
from linnet.theories.one_output import LearningCurve

SMALL, LARGE = 1e-4, 1e3  # thresholds far on either side of the solution's size
TIMES = np.append(0.0, np.geomspace(1e-4, 200, 150))  # over the larger of 1 and the threshold


def spiked_limit(
    spike: float, alignment: float, dim: int, samples: int, noise_variance: float, threshold: float, times: np.ndarray
) -> LearningCurve:
    """Return both errors over time of data with one spike, in the proportional limit."""
    return ln.theories.one_output.asymptotic(
        [1 + spike, 1.0],
        [alignment**2, 1 - alignment**2],
        samples,
        multiplicities=[1, dim - 1],
        noise_variance=noise_variance,
        threshold=threshold,
        times=times,
    )


def small_start(spike: float, alignment: float, samples_by_inputs: float, times: np.ndarray) -> np.ndarray:
    """Return the test error over time from a small start.

    With infinitely many samples by inputs, of the population; else in the proportional limit, with label noise.
    """
    if np.isinf(samples_by_inputs):
        problem = ln.problems.spiked_covariance(12, spike=spike, alignment=alignment)
        return np.asarray(ln.theories.one_output.learning_curve(problem, 1e-6, times).test_loss)
    samples = round(samples_by_inputs * 200)
    return np.asarray(spiked_limit(spike, alignment, 200, samples, 0.5, 1e-6, times).test_loss)


def gain_in_the_limit(spike: float, alignment: float, dim: int, samples: int, signal_to_noise: float) -> float:
    """Return the least test error of a large start over that of a small one, in the proportional limit."""
    noise = (1 + spike * alignment**2) / signal_to_noise
    return _gain_of_small_start(partial(spiked_limit, spike, alignment, dim, samples, noise))


def gain_on_data(
    spike: float, alignment: float, dim: int, samples: int, signal_to_noise: float, *, key: list[int]
) -> float:
    """Return what `gain_in_the_limit` does for one draw of the data, each start stopped at its own best time."""
    noise_std = np.sqrt((1 + spike * alignment**2) / signal_to_noise)
    problem = ln.problems.spiked_covariance(
        dim, spike=spike, alignment=alignment, samples=samples, noise_std=noise_std, key=key
    )
    return _gain_of_small_start(partial(ln.theories.one_output.learning_curve, problem))


def _gain_of_small_start(curve: Callable[[float, np.ndarray], LearningCurve]) -> float:
    """Return the least test error of a large start over that of a small one."""
    return _least_test_error(curve, LARGE) / _least_test_error(curve, SMALL)


def _least_test_error(curve: Callable[[float, np.ndarray], LearningCurve], threshold: float) -> float:
    """Return the least test error over time: on a coarse grid, then between the neighbours of its best time. From a
    small start modes are learned within a few hundredths of the time before: a grid that is not refined misses the
    least."""
    times = TIMES / max(1.0, threshold)
    best = int(np.argmin(np.asarray(curve(threshold, times).test_loss)))
    around = np.linspace(times[max(best - 1, 0)], times[min(best + 1, times.size - 1)], 60)
    return curve(threshold, around).best_test
