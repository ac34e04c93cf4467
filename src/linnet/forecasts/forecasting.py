"""Forecast of a training run: the exact run, when each mode is learned, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import count, positive
from linnet.forecasts import _forecast_summary
from linnet.forecasts.rates import StableRate, largest_stable_rate
from linnet.inits.weights import Weights
from linnet.observables.mode_regimes import ACTIVE_MOVEMENT, Regimes, mode_kernel, regimes
from linnet.predictions import Prediction, predict
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match
from linnet.trainers.descent import gradient_descent
from linnet.trainers.stability import stable_learning_rate
from linnet.trajectories.saving import Saving, every, log_spaced
from linnet.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

DEFAULT_MAX_STEPS = 10_000  # of a run without a number of steps
LOSS_LEFT = 1e-3  # of the loss that can be lost: a run without a number of steps ends there
MIN_STATES, MAX_STATES = 20, 1000  # kept of a run
MAX_STATE_BYTES = 2e8  # that they may take, unless they are so few
EQUAL_VARIANCES = 1e-9  # relative differences that are none
RATE_STEPS = 2000  # for which learning rates are tried


@dataclass(frozen=True)
class Forecast:
    """Result of `forecast`: the exact run, when each mode is learned, and when to stop.

    A mode is learned *lazily* if its tangent kernel ends within a factor of the square root of two of its initial
    value. It is learned *actively* if the kernel leaves that range before the mode is half learned, and is *crossing*
    if the kernel leaves it later.

    **Attributes:**

    - `problem`: learning problem
    - `weights`: initial weights
    - `trajectory`: the exact run at full width
    - `learning_rate`: learning rate of the run
    - `regimes`: strengths, thresholds and predicted movement of the modes (see `observables.regimes`)
    - `shares`: fraction of each mode that is learned, from 0 at initialization to 1, (time, mode)
    - `kernel`: tangent kernel along each mode, relative to its initial value, measured, (time, mode)
    - `prediction`: prediction of `ln.predict`, for whitened inputs without momentum; otherwise None

    Computed on demand:

    - `loss`, `test_loss`, `validation_loss`: losses at the saved `steps` (None if the problem has no such loss)
    - `half_steps`: step at which each mode is half learned (NaN if this run does not get there)
    - `learned`: "lazily", "crossing" or "actively" for each mode
    - `best_step`, `best_loss`: step that minimizes the held-out loss (or else the test loss), and this loss
    - `largest_stable_rate`: largest learning rate that does not diverge, found by training

    **Example:**

        >>> import linnet as ln
        >>> from linnet.forecasts import forecast
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**6, stds=1e-3)
        >>> run = forecast(ln.Problem.from_target([[30.0, 0.0], [0.0, 0.3]]), start)
        >>> run.learned, run.regimes.thresholds.round(1).tolist()
        (['actively', 'lazily'], [1.0, 1.0])
    """

    problem: Problem = field(repr=False)
    weights: Weights = field(repr=False)
    trajectory: Trajectory
    learning_rate: float
    regimes: Regimes = field(repr=False)
    shares: Float[np.ndarray, "time mode"] = field(repr=False)
    kernel: Float[np.ndarray, "time mode"] = field(repr=False)
    prediction: Prediction | None = field(repr=False)

    @property
    def steps(self) -> np.ndarray:
        """Numbers of the saved steps, (time,)."""
        assert self.trajectory.steps is not None
        return self.trajectory.steps

    @property
    def loss(self) -> Float[np.ndarray, " time"]:
        """The training loss."""
        return self.trajectory.loss

    @property
    def test_loss(self) -> Float[np.ndarray, " time"] | None:
        """Test loss, compared with the signal of the problem; None without a signal."""
        return None if self.problem.truth is None else self.trajectory.test_loss

    @property
    def validation_loss(self) -> Float[np.ndarray, " time"] | None:
        """The loss on held-out samples; None without any."""
        return self.trajectory.validation_loss if self.problem.validation is not None else None

    @cached_property
    def predicted_shares(self) -> Float[np.ndarray, "time mode"] | None:
        """Predicted fraction of each mode's residual that is gone, (time, mode); None without a prediction."""
        if self.prediction is None:
            return None
        residuals = self.problem.residual(self.prediction.products)
        return _learned_shares(residuals, self.regimes.left, self.regimes.right)

    @property
    def held_out(self) -> Float[np.ndarray, " time"] | None:
        """The loss that determines when to stop: the validation loss, otherwise the test loss, otherwise None."""
        return self.test_loss if self.validation_loss is None else self.validation_loss

    @property
    def best_step(self) -> int | None:
        """The step with the smallest held-out loss."""
        return None if self.held_out is None else int(self.steps[np.argmin(self.held_out)])

    @property
    def best_loss(self) -> float | None:
        """The smallest held-out loss."""
        return None if self.held_out is None else float(self.held_out.min())

    @cached_property
    def half_steps(self) -> Float[np.ndarray, " mode"]:
        """The step at which half of each mode is learned, linear between saved steps; NaN where it never is."""
        return np.array([_half_step(self.steps, share) for share in self.shares.T])

    @property
    def learned(self) -> list[str]:
        """Regime of each mode, in order: "lazily", "crossing" or "actively"."""
        moved = np.abs(np.log(np.maximum(self.kernel, np.finfo(float).tiny))) > np.log(ACTIVE_MOVEMENT)
        adverbs = []
        for mode, half in enumerate(self.half_steps):
            at = -1 if np.isnan(half) else int(np.searchsorted(self.steps, half))
            early = moved[at, mode] and not np.isnan(half)
            adverbs.append("lazily" if not moved[-1, mode] else "actively" if early else "crossing")
        return adverbs

    @cached_property
    def largest_stable_rate(self) -> StableRate:
        """The largest learning rate that does not diverge, tried for the number of steps of the run, at most 2000."""
        steps = int(min(self.steps[-1], RATE_STEPS)) or 1
        known = stable_learning_rate(self.problem, self.weights)  # none for a general cost
        first = self.learning_rate if known is None else known
        return largest_stable_rate(self.problem, self.weights, steps=steps, first=first)

    def findings(self) -> list[str]:
        """Return the forecast in lines: sentences about the run, and one line for each of the strongest modes."""
        return _forecast_summary.findings(self)

    def __str__(self) -> str:
        return "\n".join(self.findings())

    def to_dataset(self) -> xr.Dataset:
        """The forecast as a dataset along `time` and `mode` (docs/schema.md)."""
        return _forecast_summary.dataset(self)

    def plot(self) -> Figure:
        """Draw losses, modes and kernels by step; needs matplotlib."""
        from linnet.forecasts._forecast_figure import picture

        return picture(self)


def forecast(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: float | None = None,
    steps: int | None = None,
    save_every: Any = None,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    dtype: Any = None,
) -> Forecast:
    r"""Train a network exactly, and report its losses, when each mode is learned, and when to stop.

    For a table, use `ln.diagnose`, which also cross-validates. For gradient flow without training, use `ln.predict`.

    The full network is trained in reduced coordinates, so the width does not affect the cost
    (`inits.reduced_gaussian`). The modes are those of the input-output correlation $\Gamma = \sum_i c_i u_i v_i^T$.
    For each mode the forecast has two curves: the fraction $1 - r_i(t)/r_i(0)$ of its residual
    $r_i = u_i^T (\Gamma - A \Sigma) v_i$ that is gone, and the tangent kernel along it,
    $|W_2^T u_i|^2 + |W_1 v_i|^2$.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights
    - `learning_rate`: learning rate; by default the safe one, `stable_learning_rate(problem, weights)`
    - `steps`: number of gradient steps; by default training ends when 99.9% of the possible decrease of the loss is
      reached, after 10 000 steps at the latest
    - `save_every`: interval between saved steps, or a policy of `linnet.trajectories`; by default every step of a short
      run, and 1000 logarithmically spaced steps of a long one, or fewer if these would take more than 200 MB
    - `weight_decay`, `momentum`, `dtype`: options of `gradient_descent`

    **Returns** a `Forecast`. If the problem has held-out data (`Problem.with_validation`) or a `truth`, it has the
    best step. If the inputs are whitened, `.prediction` is the prediction of `ln.predict` for the same times.

    **Valid for** full-batch gradient descent with or without momentum; Adam follows other dynamics.

    **Example:**

        >>> import linnet as ln
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**6, stds=1e-3)
        >>> run = ln.forecast(ln.Problem.from_target([[30.0, 0.0], [0.0, 0.3]]), start)
        >>> run.learned
        ['actively', 'lazily']
    """
    check_match(problem, weights)
    rate = stable_learning_rate(problem, weights) if learning_rate is None else positive("learning_rate", learning_rate)
    if rate is None:
        raise ValueError("`learning_rate` must be given for a general cost: none is known to be stable.")
    total = DEFAULT_MAX_STEPS if steps is None else count("steps", steps, most=2**62)
    stop = _stopping_loss(problem, weights) if steps is None else None
    saving = _saving_policy(problem, weights, total) if save_every is None else save_every
    run = gradient_descent(
        problem,
        weights,
        learning_rate=rate,
        steps=total,
        save_every=saving,
        stop=stop,
        weight_decay=weight_decay,
        momentum=momentum,
        dtype=dtype,
    )
    modes = regimes(problem, weights, product=run.products[-1])
    basis = run.reduction.basis
    right = modes.right if basis is None else basis.T @ modes.right  # the modes have data, so the basis spans them
    shares = _learned_shares(run.reduction.problem.residual(run.reduced.product), modes.left, right)
    kernel = mode_kernel(run.reduced, modes.left, right)
    prediction = _prediction(problem, weights, run, weight_decay) if momentum == 0 else None
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(kernel[0] > 0, kernel / kernel[0], np.where(kernel > 0, np.inf, 1.0))
    return Forecast(problem, weights, run, float(rate), modes, shares, moved, prediction)


def _stopping_loss(problem: Problem, weights: Weights) -> float | None:
    """Return the loss at which a run without a number of steps ends; None for a general cost, or where it is zero."""
    if problem.cost is not None:
        return None
    floor, start = float(problem.factor.floor), float(problem.loss(weights.product))
    return floor + LOSS_LEFT * (start - floor) or None


def _saving_policy(problem: Problem, weights: Weights, steps: int) -> Saving:
    """Return the steps to keep: all, or the number that fits into memory, evenly spaced in their logarithm."""
    rank = problem.in_dim if problem.cost is not None else problem.factor.rank
    width = min(weights.width, rank + problem.out_dim)
    states = int(np.clip(MAX_STATE_BYTES / (8 * width * (rank + problem.out_dim)), MIN_STATES, MAX_STATES))
    return every(1) if steps <= states else log_spaced(states)


def _learned_shares(residuals: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return how much of each mode's residual is gone, (time, mode), from residuals (time, output, input).

    A mode without a residual at initialization counts as learned from the initialization, with a fraction of 1; a
    residual that it gets later is subtracted in absolute units, because there is no initial one to divide by.
    """
    along = np.einsum("om,toi,im->tm", left, residuals, right, optimize=True)
    return 1 - along / np.where(along[0] == 0, 1.0, along[0])


def _half_step(steps: np.ndarray, share: np.ndarray) -> float:
    """Return the step at which a share reaches one half, linear between saved steps; NaN where it never does."""
    above = np.flatnonzero(share >= 0.5)
    if not above.size:
        return float("nan")
    if above[0] == 0:
        return 0.0
    around = slice(above[0] - 1, above[0] + 1)
    return float(np.interp(0.5, share[around], steps[around]))


def _prediction(problem: Problem, weights: Weights, run: Trajectory, decay: float) -> Prediction | None:
    """Return what `ln.predict` knows of the run's times, if all inputs have one variance; else None."""
    if problem.cost is not None:
        return None
    scales = problem.factor.scales
    if len(scales) < problem.in_dim or np.ptp(scales**2) > EQUAL_VARIANCES * scales.max() ** 2:
        return None
    return predict(problem, weights, run.times, weight_decay=decay)
