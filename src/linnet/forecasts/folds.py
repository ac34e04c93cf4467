"""When to stop, by cross-validation: all folds and seeds trained in one batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from linnet._arguments import count, flag, positive, representable, samples, shown
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.forecasts.rates import largest_stable_rate
from linnet.forecasts.scaling import CHOICES, Scaler, scaler
from linnet.inits.weights import Weights, check_weights
from linnet.problems._factor import Factor
from linnet.problems.problem import Problem
from linnet.trainers.descent import gradient_descent
from linnet.trajectories.saving import at

MAX_STEPS = 16_000  # where no number is asked for
FLAT = 1e-3  # of the held-out error, relative: less is no change
FIRST = 250  # steps after which the curves are looked at; then at every doubling
SAVED = 24  # states in each of these stretches: the step is known to 3%
MEMORY = 3e8  # bytes that the states of one stretch may take
RATE_STEPS = 500
CAREFUL = 0.25  # of the largest stable rate is used at first
RISE = 1e-6  # of a training error from one saved state to the next, relative: more is no descent


@dataclass(frozen=True)
class Fold:
    """One split: scaled training rows, and what is needed to measure errors on the others in the table's own units."""

    inputs: Float[np.ndarray, "sample input"]
    outputs: Float[np.ndarray, "sample output"]
    held_inputs: Float[np.ndarray, "row input"]
    held_outputs: Float[np.ndarray, "row output"]
    units: Float[np.ndarray, " output"]

    def error(self, products: Float[np.ndarray, "time output input"]) -> Float[np.ndarray, " time"]:
        """The share of the targets' variance that is not explained on the held-out rows, at every state.

        Whitening may leave a fold fewer inputs than the whole table: the others are zero in it.
        """
        times, k, _ = products.shape
        seen = products[..., : self.held_inputs.shape[1]]
        predicted = (seen.reshape(times * k, -1) @ self.held_inputs.T).reshape(times, k, -1)
        squares = ((predicted - self.held_outputs.T) ** 2).mean(axis=2)
        return (squares * self.units).sum(axis=1) / k


@dataclass(frozen=True)
class Curves:
    """Training and held-out errors along descent.

    Errors are shares of the targets' variance that are not explained, averaged over targets: 1 is as good as the mean.

    **Attributes:**

    - `steps`: (time,)
    - `training`: errors on the training rows, (time, fold, seed)
    - `errors`: errors on the held-out rows, (time, fold, seed)
    - `learning_rate`: of the descent

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import Curves
        >>> curves = Curves(np.array([0, 10]), np.ones((2, 5, 1)), np.ones((2, 5, 1)), 0.1)
        >>> curves.errors.shape  # time, fold, seed
        (2, 5, 1)
    """

    steps: Int[np.ndarray, " time"]
    training: Float[np.ndarray, "time fold seed"]
    errors: Float[np.ndarray, "time fold seed"]
    learning_rate: float

    @cached_property
    def mean(self) -> Float[np.ndarray, " time"]:
        """The held-out error, averaged over folds and seeds."""
        return self.errors.mean(axis=(1, 2))

    @cached_property
    def standard_error(self) -> Float[np.ndarray, " time"]:
        """Its standard error over folds."""
        folds = self.errors.mean(axis=2)
        return folds.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])

    @property
    def best(self) -> int:
        """The index of the least mean error."""
        return int(np.argmin(self.mean))

    @property
    def step(self) -> int:
        """The step of the least mean error: where to stop."""
        return int(self.steps[self.best])

    @property
    def range(self) -> tuple[int, int]:
        """The steps around it whose error exceeds the least by at most one standard error of the paired difference."""
        folds = self.errors.mean(axis=2)
        excess = folds - folds[self.best]
        spread = excess.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
        near = excess.mean(axis=1) <= spread
        near[self.best] = True
        low = high = self.best
        while low > 0 and near[low - 1]:
            low -= 1
        while high + 1 < len(near) and near[high + 1]:
            high += 1
        return int(self.steps[low]), int(self.steps[high])

    @property
    def restless(self) -> bool:
        """Whether the training error of any run rises on the way: the rate is too large for where training has come."""
        return bool((self.training[1:] > (1 + RISE) * self.training[:-1]).any())

    @property
    def flat_from(self) -> int | None:
        """The step from which the mean error stays within 0.1% of its least until the end; None where it rises again
        or has been there for less than half of the run."""
        away = np.flatnonzero(self.mean > (1 + FLAT) * self.mean[self.best])
        first = int(away[-1]) + 1 if away.size else 0
        if first == len(self.steps) or 2 * self.steps[first] > self.steps[-1]:
            return None
        return int(self.steps[first])

    @property
    def still_falling(self) -> bool:
        """Whether the error is least at the last step, and was more than 0.1% higher half as many steps before."""
        return self.best == len(self.steps) - 1 and self.flat_from is None

    @property
    def late_fall(self) -> tuple[float, float]:
        """By how much the error falls over the last half of the run, with its standard error over folds."""
        folds, half = self.errors.mean(axis=2), int(np.searchsorted(self.steps, self.steps[-1] / 2))
        return paired(folds[half] - folds[-1])

    def honest_error(self) -> Float[np.ndarray, " fold"]:
        """Each fold's error at the step that the other folds choose."""
        return chosen_elsewhere(self.errors.mean(axis=2))


def chosen_elsewhere(errors: Float[np.ndarray, "choice fold"]) -> Float[np.ndarray, " fold"]:
    """Each fold's error at the choice that is best on average over the other folds."""
    total = errors.sum(axis=1, keepdims=True)
    return errors[np.argmin(total - errors, axis=0), np.arange(errors.shape[1])]


def paired(gaps: Float[np.ndarray, " fold"]) -> tuple[float, float]:
    """The mean of differences within folds, and its standard error."""
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))


def split(rows: int, folds: int, key: Key) -> list[np.ndarray]:
    """The rows, shuffled, in `folds` parts whose sizes differ by at most one."""
    folds = count("folds", folds, least=2)
    if rows < 2 * folds:
        raise ValueError(f"`folds` must leave at least 2 rows in each: got {folds} folds for {rows} rows.")
    return [np.sort(part) for part in np.array_split(generator(key, 7).permutation(rows), folds)]


def prepare(
    X: np.ndarray,
    Y: np.ndarray,
    held: np.ndarray,
    scale: str,
    *,
    centre: bool = True,
    training: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Fold:
    """The fold that holds out the rows `held`: columns are scaled by the rows `training` alone, by default the others.

    Rows of `weights` count by them, in training and in the error.
    """
    if training is None:
        rest = np.ones(len(X), dtype=bool)
        rest[held] = False
        training = np.flatnonzero(rest)
    own = None if weights is None else weights[training]
    inputs = scaler(X[training], scale, centre=centre, weights=own)
    outputs = target_scaler(Y[training], scale, centre=centre, weights=own)
    variance = Y.var(axis=0)
    units = np.where(variance > 0, outputs.scale**2 / np.where(variance > 0, variance, 1.0), 0.0)
    parts = [inputs.apply(X[training]), outputs.apply(Y[training]), inputs.apply(X[held]), outputs.apply(Y[held])]
    if weights is not None:
        roots = [row_roots(weights[rows])[:, None] for rows in (training, training, held, held)]
        parts = [root * part for root, part in zip(roots, parts, strict=True)]
    A, B, held_inputs, held_outputs = parts
    return Fold(A, B, held_inputs, held_outputs, units * len(variance) / max((variance > 0).sum(), 1))


def row_roots(weights: np.ndarray) -> np.ndarray:
    """What rows are multiplied by so that plain means over them are weighted ones."""
    return np.sqrt(weights * len(weights) / weights.sum())


def _choice(scale: object) -> None:
    if not isinstance(scale, str) or scale not in CHOICES:
        raise ValueError(f"`scale` must be one of {', '.join(CHOICES)}: got {shown(scale)}.")


def target_scaler(Y: np.ndarray, scale: str, *, centre: bool = True, weights: np.ndarray | None = None) -> Scaler:
    """Targets are standardised, so that each counts alike, unless nothing is to be scaled."""
    return scaler(Y, "none" if scale == "none" else "std", centre=centre, weights=weights)


def batch_of(folds: list[Fold], copies: int, in_dim: int) -> Problem:
    """The training rows of all folds as one batch of problems, each of them `copies` times.

    Rows of zeros fill up the smaller folds and the others are scaled to match: the moments are exactly those of each
    fold.
    """
    longest = max(len(fold.inputs) for fold in folds)
    X, Y = np.zeros((len(folds), longest, in_dim)), np.zeros((len(folds), longest, folds[0].outputs.shape[1]))
    for index, fold in enumerate(folds):
        n, d = fold.inputs.shape
        root = np.sqrt(longest / n)
        X[index, :n, :d], Y[index, :n] = root * fold.inputs, root * fold.outputs
    one = Problem.from_data(X, Y)
    if copies == 1:
        return one
    f = one.factor  # decomposed once for all seeds
    many = Problem.from_data(np.repeat(X, copies, axis=0), np.repeat(Y, copies, axis=0))
    basis = None if f.basis is None else np.repeat(f.basis, copies, axis=0)
    rest = (np.repeat(part, copies, axis=0) for part in (f.scales, f.target, f.floor))
    scales, target, floor = rest
    many.factor = Factor(scales, basis, target, floor)
    return many


@representable
def all_folds(
    X: np.ndarray, Y: np.ndarray, *, folds: int = 5, scale: str = "std", centre: bool = True, key: Key = 0
) -> list[Fold]:
    """Every fold of a random split, each scaled by its own training rows.

    **Arguments:**

    - `X`: (sample, input)
    - `Y`: (sample, output)
    - `folds`: how many
    - `scale`: `"std"`, `"none"` or `"whiten"`
    - `centre`: whether columns are centred
    - `key`: the seed of the split

    **Returns** a list of `Fold`: training and held-out rows, scaled.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import all_folds
        >>> X = np.random.default_rng(0).standard_normal((20, 3))
        >>> parts = all_folds(X, X[:, :1], folds=4)
        >>> len(parts), parts[0].inputs.shape
        (4, (15, 3))
    """
    X, Y = samples(X, Y)
    _choice(scale)
    return [prepare(X, Y, held, scale, centre=flag("centre", centre)) for held in split(len(X), folds, key)]


@representable
def cross_validate(
    folds: list[Fold],
    starts: list[Weights],
    *,
    learning_rate: float | None = None,
    steps: int | None = None,
    longest: int = MAX_STEPS,
    least_time: float = 0.0,
) -> Curves:
    """Held-out errors along descent, for all `folds` from all `starts`, in one batch.

    **Arguments:**

    - `folds`: of `all_folds`
    - `starts`: `Weights` for as many inputs as the scaled table has, or more
    - `learning_rate`: by default a quarter of the largest stable one
    - `steps`: by default training goes on, in stretches that double, until the error has had its minimum or nothing
      moves any more
    - `longest`: the maximum number of steps
    - `least_time`: training without `steps` does not end before this time, in units of steps times rate

    **Returns** `Curves`. Where a member diverges, or its training error rises on the way, the rate is halved for all
    and training begins again; a rate that was asked for is kept, or refused where a member diverges.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.forecasts import all_folds, cross_validate
        >>> X = np.random.default_rng(0).standard_normal((20, 3))
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=8, first_std=0.3, second_std=0.3)
        >>> curves = cross_validate(all_folds(X, X[:, :1], folds=4), [start], learning_rate=0.05, steps=100)
        >>> curves.errors.shape[1:], bool(curves.errors[-1].mean() < curves.errors[0].mean())
        ((4, 1), True)
    """
    if not isinstance(folds, (list, tuple)) or not folds or not all(isinstance(fold, Fold) for fold in folds):
        raise ValueError("`folds` must be what `all_folds` returns: one or more of them.")
    if not isinstance(starts, (list, tuple)) or not starts:
        raise ValueError(f"`starts` must be a list of Weights, at least one: got {shown(starts)}.")
    starts = [check_weights(start, "starts") for start in starts]
    if learning_rate is not None:
        learning_rate = positive("learning_rate", learning_rate)
    in_dim, seeds = starts[0].in_dim, len(starts)
    check_batch_fits(len(folds), max(len(fold.inputs) for fold in folds), in_dim, seeds)
    batch = batch_of(folds, seeds, in_dim)
    weights = Weights.stack(starts * len(folds))
    rate = learning_rate or CAREFUL * _stable(folds, starts[0])
    for _ in range(20):
        least = min(float(least_time) / rate, float(longest))
        curves = _trained(batch, weights, folds, seeds, rate, steps, longest, least, careful=not learning_rate)
        if curves is not None or learning_rate:
            break
        rate /= 2
    if curves is None:
        stable = _stable(folds, starts[0])
        raise ValueError(
            f"`learning_rate` must be one at which no fold diverges: {rate:.3g} is too large; the largest stable one "
            "is "
            f"about {stable:.3g}."
        )
    return curves


def check_batch_fits(folds: int, rows: int, in_dim: int, seeds: int) -> None:
    """Refuses to train more folds from more starts than fit."""
    check_fits(
        40 * folds * seeds * rows * in_dim,
        f"{folds} folds of {rows} rows and {in_dim} inputs for {shown(seeds)} starts",
        "Take fewer rows, folds or seeds.",
    )


def _stable(parts: list[Fold], weights: Weights) -> float:
    """The largest stable rate of the fold whose inputs vary most."""
    tops = [np.linalg.norm(part.inputs, ord=2) ** 2 / len(part.inputs) for part in parts]
    worst = batch_of([parts[int(np.argmax(tops))]], 1, weights.in_dim)
    single = Problem.from_data(worst.inputs[0], worst.outputs[0])  # type: ignore[index]
    return largest_stable_rate(single, weights, steps=RATE_STEPS).rate


def _trained(
    batch: Problem,
    weights: Weights,
    parts: list[Fold],
    seeds: int,
    rate: float,
    steps: int | None,
    longest: int,
    least: float,
    *,
    careful: bool,
) -> Curves | None:
    """The curves at this rate; None where a member diverges or, if one is `careful`, where a training error rises."""
    total = count("longest", longest, most=2**62) if steps is None else count("steps", steps, most=2**62)
    done, rows = 0, []
    while done < total:
        until = min(total, max(FIRST, 2 * done))
        run = gradient_descent(
            batch,
            weights,
            learning_rate=rate,
            steps=until - done,
            keep="weights",
            throw=False,
            save_every=at(_saved(done, until, batch, weights)),
        )
        if not run.status.ok:
            return None
        products, first = run.products, 1 if done else 0
        lead = (len(run) - first, len(parts), seeds)
        held = np.stack(
            [part.error(products[first:, i * seeds + s]) for i, part in enumerate(parts) for s in range(seeds)], 1
        )
        rows.append((run.steps[first:] + done, run.loss[first:].reshape(lead), held.reshape(lead)))  # type: ignore[index]
        weights, done = run.weights_at(-1), until
        saved, training, errors = (np.concatenate(part) for part in zip(*rows, strict=True))
        curves = Curves(saved, training, errors, rate)
        if careful and curves.restless:
            return None
        if steps is None and done >= least and _finished(curves):
            break
    return curves


def _saved(done: int, until: int, batch: Problem, weights: Weights) -> np.ndarray:
    rank = batch.factor.rank
    state = 8 * (batch.batch or 1) * min(weights.width, rank + batch.out_dim) * (rank + batch.out_dim)
    number = int(np.clip(MEMORY / state, 6, SAVED if done else 3 * SAVED))
    return np.unique(np.round(np.geomspace(max(done, 1), until, number)).astype(np.int64)) - done


def _finished(curves: Curves) -> bool:
    """Whether the held-out error has had its minimum, or nothing moves any more."""
    mean, training = curves.mean, curves.training.mean(axis=(1, 2))
    late = curves.steps > curves.steps[-1] / 2
    if not late.any() or late.all():
        return False
    before = mean[~late].min()
    if mean[late].min() >= before and mean[-1] > 1.02 * before:
        return True
    learns = training[~late][-1] - training[-1] > 2e-3 * (training[0] - training[-1])
    return not learns and mean[late].min() > before / (1 + FLAT) and curves.flat_from is not None
