"""When to stop without held-out data: Stein's estimate, where the problem is a matrix seen through noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet.forecasts.forecast import Forecast
from linnet.problems.problem import Problem
from linnet.theories.denoising import sure
from linnet.theories.mixed import mode_slopes, mode_values


@dataclass(frozen=True)
class SteinStop:
    """`steps` (time,) and Stein's estimate `risk` (time,) of $|A(t) - A^*|_F^2$; `step` is where it is least."""

    steps: np.ndarray
    risk: Float[np.ndarray, " time"]
    noise_variance: float

    @property
    def step(self) -> int:
        """The step of the least estimated risk."""
        return int(self.steps[np.argmin(self.risk)])


def stein_stop(problem: Problem, told: Forecast, scale: str) -> SteinStop | None:
    r"""The stopping step by Stein's unbiased risk estimate; None unless the inputs are whitened and leave samples to
    see the noise.

    With whitened inputs the least-squares solution is the truth plus noise of variance $s^2/n$ on each entry, $s^2$
    that of the labels (estimated from the residuals). The run is taken as the spectral filter $s_i(t)$ of the
    self-consistent dynamics at the mean threshold of the modes, from a negligible start; the labels' noise as equal and
    independent between targets.
    """
    if scale != "whiten" or problem.inputs is None or problem.outputs is None:
        return None
    n, d = problem.inputs.shape
    if n <= d + 1:
        return None
    target = problem.min_norm_solution()
    residual = problem.outputs - problem.inputs @ target.T
    variance = float((residual**2).sum() / ((n - d - 1) * problem.out_dim)) / n
    values = np.linalg.svd(target, compute_uv=False)
    threshold, times = float(told.regimes.thresholds.mean()), told.trajectory.times[1:]
    if threshold <= 0 or (values <= 0).any():
        return None
    filtered, slopes = (law(values, threshold, times) for law in (mode_values, mode_slopes))
    risk = sure(values, filtered, slopes, shape=(target.shape[0], target.shape[1]), noise_variance=variance)
    return SteinStop(told.steps[1:], risk, variance)
