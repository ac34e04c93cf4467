"""When to stop, by cross-validation: all folds from all initializations trained in one batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linnet._arguments import count, positive, representable, shown
from linnet._memory import check_fits
from linnet.forecasts._rows import condensed_batch, condensed_problem
from linnet.forecasts.curves import FLAT_CHANGE, CrossValidationCurves
from linnet.forecasts.folds import Fold, folds_list
from linnet.forecasts.rates import largest_stable_rate
from linnet.inits.weights import Weights, check_two_layers
from linnet.problems.problem import Problem
from linnet.trainers.descent import gradient_descent
from linnet.trajectories.saving import at

MAX_STEPS = 16_000  # where no number is asked for
FIRST_LOOK_STEPS = 250  # steps after which the curves are looked at; then at every doubling
SAVES_PER_STRETCH = 24  # states in each of these stretches: the step is known to 3%
STRETCH_BYTES = 3e8  # bytes that the states of one stretch may take
COPIES = 5  # of what is decomposed or trained, in float64, that are held at once
RATE_STEPS = 500  # for which learning rates are tried; this and the next also in `estimators`
FIRST_RATE_SHARE = 0.25  # of the largest stable rate is used at first
MAX_HALVINGS = 20  # of the rate, at most
# Training without a number of steps ends when one of these says so, looked at after each stretch (`_is_finished`).
MIN_RISE = (
    0.02  # of the mean held-out error over its minimum, relative: less may be noise, and the error may fall again
)
MIN_LEARNED_SHARE = 2e-3  # of all that was learned, in the last half of the steps: less, and nothing moves any more


@representable
def cross_validate(
    folds: list[Fold],
    starts: list[Weights],
    *,
    learning_rate: float | None = None,
    steps: int | None = None,
    max_steps: int = MAX_STEPS,
    min_time: float = 0.0,
) -> CrossValidationCurves:
    """Compute held-out errors along gradient descent for all folds and initializations, in one batch.

    `ln.diagnose` calls this function and explains the result. Call it yourself if you need the errors of every fold and
    initialization.

    **Arguments:**

    - `folds`: result of `all_folds`
    - `starts`: initial `Weights`, one for each seed, with as many inputs as the scaled table or more
    - `learning_rate`: learning rate; by default a quarter of the largest stable one
    - `steps`: number of steps; by default training continues until the error has passed its minimum or is constant
    - `max_steps`: maximum number of steps
    - `min_time`: time (learning rate times number of steps) before which training does not end, if `steps` is not given

    **Returns** `CrossValidationCurves`. If a run diverges or its training loss rises, the default learning rate is
    halved and training begins again. A given `learning_rate` is never changed: it raises an error if a run diverges.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.forecasts import all_folds, cross_validate
        >>> X = np.random.default_rng(0).standard_normal((20, 3))
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=8, stds=0.3)
        >>> curves = cross_validate(all_folds(X, X[:, :1], folds=4), [start], learning_rate=0.05, steps=100)
        >>> curves.errors.shape[1:], bool(curves.errors[-1].mean() < curves.errors[0].mean())
        ((4, 1), True)
    """
    folds = folds_list(folds)
    if not isinstance(starts, (list, tuple)) or not starts:
        raise ValueError(f"`starts` must be a list of Weights, at least one: got {shown(starts)}.")
    starts = [check_two_layers(start, "starts") for start in starts]
    check_batch_fits(len(folds), max(len(fold.inputs) for fold in folds), starts[0].in_dim, len(starts))
    most = count("max_steps", max_steps, most=2**62) if steps is None else count("steps", steps, most=2**62)
    training = _Training(folds, starts, most, steps is None, float(min_time))
    if learning_rate is not None:
        rates = np.array([positive("learning_rate", learning_rate)])
    else:
        rates = FIRST_RATE_SHARE * training.stable_rate / 2.0 ** np.arange(MAX_HALVINGS + 1)
    for rate in rates:
        curves = training.curves(float(rate), allow_rises=learning_rate is not None)
        if curves is not None:
            return curves
    raise ValueError(
        f"`learning_rate` must be one at which no fold diverges: {rates[-1]:.3g} is too large; the largest stable one "
        f"is about {training.stable_rate:.3g}."
    )


def check_batch_fits(folds: int, rows: int, in_dim: int, seeds: int) -> None:
    """Refuse to train more folds from more starts than fit into memory: the rows of each fold and their SVD, and for
    each initialization the condensed rows."""
    check_fits(
        COPIES * 8 * folds * in_dim * (rows + seeds * min(rows, in_dim)),
        f"{folds} folds of {rows} rows and {in_dim} inputs for {shown(seeds)} starts",
        "Take fewer rows, folds or seeds.",
    )


@dataclass(frozen=True)
class _Training:
    """Descent of every fold from every initialization, for `max_steps` steps or, if it `may_end_early`, until the
    held-out error has had its minimum, but not before `min_time`."""

    folds: list[Fold]
    starts: list[Weights]
    max_steps: int
    may_end_early: bool
    min_time: float

    @cached_property
    def batch(self) -> Problem:
        """The condensed problems of all folds, each as often as there are starts, as one batch."""
        problems = [fold.problem for fold in self.folds for _ in self.starts]
        return condensed_batch(problems, in_dim=self.starts[0].in_dim)

    @cached_property
    def stable_rate(self) -> float:
        """The largest stable rate of the fold whose inputs vary most."""
        sharpest = max((fold.problem.factor for fold in self.folds), key=lambda factor: float(factor.scales.max()))
        problem = condensed_problem(sharpest, in_dim=self.starts[0].in_dim)
        return largest_stable_rate(problem, self.starts[0], steps=RATE_STEPS).rate

    def curves(self, rate: float, *, allow_rises: bool) -> CrossValidationCurves | None:
        """Train at this rate and return the curves; None where a member diverges or, unless that is allowed, where a
        training loss rises."""
        least_steps = min(self.min_time / rate, float(self.max_steps))
        weights, done = Weights.stack(self.starts * len(self.folds)), 0
        stretches: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        while done < self.max_steps:
            until = min(self.max_steps, max(FIRST_LOOK_STEPS, 2 * done))
            run = gradient_descent(
                self.batch,
                weights,
                learning_rate=rate,
                steps=until - done,
                keep="weights",
                throw=False,
                save_every=at(self._steps_to_save(done, until, weights)),
            )
            if not run.status.ok:
                return None
            new = slice(1 if done else 0, None)
            losses, errors = self._by_fold(run.loss[new]), self._held_out_errors(run.products[new])
            stretches.append((np.asarray(run.steps)[new] + done, losses, errors))
            weights, done = run.weights_at(-1), until
            saved, training, errors = (np.concatenate(part) for part in zip(*stretches, strict=True))
            curves = CrossValidationCurves(saved, training, errors, rate)
            if curves.loss_rises and not allow_rises:
                return None
            if self.may_end_early and done >= least_steps and _is_finished(curves):
                break
        return curves

    def _by_fold(self, values: np.ndarray) -> np.ndarray:
        """Reshape values of the batch, (time, member), to (time, fold, seed)."""
        return values.reshape(len(values), len(self.folds), len(self.starts))

    def _held_out_errors(self, products: np.ndarray) -> np.ndarray:
        """Return the held-out error (time, fold, seed) of products."""
        folds = (fold for fold in self.folds for _ in self.starts)
        return self._by_fold(np.stack([fold.error(products[:, i]) for i, fold in enumerate(folds)], axis=1))

    def _steps_to_save(self, done: int, until: int, weights: Weights) -> np.ndarray:
        """Return the steps to save from `done` to `until`, counted from `done`: the number that fits into memory."""
        sides = self.batch.factor.rank + self.batch.out_dim
        state = 8 * (self.batch.batch or 1) * min(weights.width, sides) * sides
        number = int(np.clip(STRETCH_BYTES / state, 6, SAVES_PER_STRETCH if done else 3 * SAVES_PER_STRETCH))
        return np.unique(np.round(np.geomspace(max(done, 1), until, number)).astype(np.int64)) - done


def _is_finished(curves: CrossValidationCurves) -> bool:
    """Return whether the held-out error has had its minimum, or nothing moves any more."""
    mean, training = curves.mean, curves.training.mean(axis=(1, 2))
    late = curves.steps > curves.steps[-1] / 2
    if not late.any() or late.all():
        return False
    least_before = mean[~late].min()
    if mean[late].min() >= least_before and mean[-1] > (1 + MIN_RISE) * least_before:
        return True
    learns = training[~late][-1] - training[-1] > MIN_LEARNED_SHARE * (training[0] - training[-1])
    return not learns and mean[late].min() > least_before / (1 + FLAT_CHANGE) and curves.flat_from is not None
