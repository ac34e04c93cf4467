"""When to stop without held-out data, by SURE, if the inputs are whitened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet._arguments import of_kind, partly_representable
from linnet.forecasts.forecasting import Forecast
from linnet.forecasts.scaling import check_preprocess
from linnet.problems.problem import Problem
from linnet.theories.denoising import sure
from linnet.theories.lazy_active import mode_slopes, mode_values


@dataclass(frozen=True)
class SteinStop:
    """Result of `stein_stop`: the estimated risk over time, and the `step` that minimizes it.

    **Attributes:**

    - `steps`: numbers of the steps, (time,)
    - `risk`: estimate of $|A(t) - A^*|_F^2$, (time,)
    - `noise_variance`: variance of the noise on the labels

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import SteinStop
        >>> SteinStop(np.array([0, 10, 20]), np.array([3.0, 1.0, 2.0]), 0.1).step
        10
    """

    steps: np.ndarray
    risk: Float[np.ndarray, " time"]
    noise_variance: float

    @property
    def step(self) -> int:
        """The step of the smallest estimated risk."""
        return int(self.steps[np.argmin(self.risk)])


@partly_representable
def stein_stop(problem: Problem, forecast: Forecast, preprocess: str) -> SteinStop | None:
    """Recommend a stopping step by SURE, Stein's unbiased risk estimate, from the training data alone.

    Use it if you have whitened inputs and no held-out rows. With held-out rows, cross-validation (`ln.diagnose`)
    needs fewer assumptions.

    With whitened inputs, the least-squares solution is the signal plus noise of variance $s^2/n$ on each entry, where
    $s^2$ is the variance of the noise on the labels. It is estimated from the residuals, and assumed to be equal and
    independent between targets. The run is described by `theories.lazy_active.mode_values` at the mean threshold of the
    modes, so the initial product must be negligible.

    **Arguments:**

    - `problem`: learning problem made from data
    - `forecast`: result of `forecast` for the run
    - `preprocess`: preprocessing of the inputs

    **Returns** a `SteinStop`. It returns None if the inputs are not whitened, or if there are too few samples to
    estimate the noise.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.forecasts import stein_stop
        >>> problem = ln.problems.gaussian_regression(key=0, samples=20, in_dim=2)
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=1, width=8, stds=0.3)
        >>> stein_stop(problem, ln.forecast(problem, start, steps=5), "standardize") is None  # inputs are not whitened
        True
    """
    of_kind("problem", problem, Problem, "`ln.Problem.from_data`")
    of_kind("forecast", forecast, Forecast, "`ln.forecast`")
    check_preprocess(preprocess)
    if preprocess != "whiten" or problem.inputs is None or problem.outputs is None:
        return None
    n, d = problem.inputs.shape
    if n <= d + 1:
        return None
    target = problem.min_norm_solution()
    residual = problem.outputs - problem.inputs @ target.T
    variance = float((residual**2).sum() / ((n - d - 1) * problem.out_dim)) / n
    values = np.linalg.svd(target, compute_uv=False)
    threshold, times = float(forecast.regimes.thresholds.mean()), forecast.trajectory.times[1:]
    if threshold <= 0 or (values <= 0).any():
        return None
    filtered, slopes = (law(values, threshold, times) for law in (mode_values, mode_slopes))
    risk = sure(values, filtered, slopes, shape=(target.shape[0], target.shape[1]), noise_variance=variance)
    return SteinStop(forecast.steps[1:], risk, variance)
