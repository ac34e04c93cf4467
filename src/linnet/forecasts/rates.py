"""The largest learning rate at which a network does not diverge, found by training it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linnet._arguments import count, positive, representable
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, reduce
from linnet.trainers.descent import gradient_descent
from linnet.trainers.stability import stable_learning_rate
from linnet.trajectories.saving import last

RATES_PER_BATCH = 12  # rates trained together, as many as in RATES_AROUND_BORDER
RATE_GROWTH = 1.15  # from one rate tried to the next, where none has diverged yet
MAX_OVER_GUESS = 100.0  # times the first guess: beyond it the search gives up
MARGIN = 0.05  # by which a rate beyond the boundary is tried, relative
MAX_BORDERS = 4  # looked at: where rates above one are stable again, the next one is looked for
BORDER_ACCURACY = 0.004  # to which a boundary is known, relative
# Times a boundary, tried together: chaotic runs diverge at rates below others that do not. The last one must diverge.
RATES_AROUND_BORDER = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.965, 0.98, 1 + MARGIN])


@dataclass(frozen=True)
class StableRate:
    """Largest learning rate at which a network trains without diverging, and the accuracy to which it is known.

    The boundary between stable and diverging rates is not always sharp, so rates on both sides of it are trained. If a
    check fails, `below` or `above` is False. If no rate diverges, `rate` is the largest that was tried.

    **Attributes:**

    - `rate`: largest stable learning rate
    - `steps`: number of steps for which each rate was trained
    - `below`: whether none of eleven smaller rates diverged, from half of `rate` to 2% below it
    - `above`: whether a rate 5% larger diverged

    **Example:**

        >>> from linnet.forecasts import StableRate
        >>> StableRate(rate=0.5, steps=1000, below=True, above=True).checked
        True
    """

    rate: float
    steps: int
    below: bool
    above: bool

    @property
    def checked(self) -> bool:
        """Whether the boundary is sharp: `below` and `above` both hold."""
        return self.below and self.above


def rate_or_none(learning_rate: object) -> float | None:
    """Return a learning rate as a number; None for "stable", which is to be found."""
    if not isinstance(learning_rate, str):
        return positive("learning_rate", learning_rate)
    if learning_rate != "stable":
        raise ValueError(f"`learning_rate` must be 'stable' or a number: got {learning_rate!r}.")
    return None


@representable
def largest_stable_rate(
    problem: Problem, weights: Weights, *, steps: int = 1000, first: float | None = None
) -> StableRate:
    """Find the largest learning rate at which descent from these weights does not diverge within a number of steps.

    It trains networks, so it takes time. If a safe rate is enough, `trainers.stable_learning_rate` computes one without
    training.

    The curvature of the loss gives a rate that is certainly stable (`stable_learning_rate`). Descent often remains
    stable at several times that rate: if the curvature is too large, the weights jump to a flatter region with more
    balanced layers. So rates are tried by training, a dozen networks at a time, until the boundary is known to 0.4%.
    Close to the largest rate the loss may oscillate for a long time, so we recommend half of it.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights
    - `steps`: number of steps for which each rate is tried
    - `first`: stable rate at which the search begins; required for a general cost

    **Returns** a `StableRate`.

    **Example:**

        >>> import linnet as ln
        >>> start = ln.inits.gaussian(key=0, in_dim=1, out_dim=1, width=4, stds=0.1)
        >>> border = ln.forecasts.largest_stable_rate(ln.Problem.from_target([[1.0]]), start)
        >>> border.checked
        True
    """
    check_match(problem, weights)
    steps = count("steps", steps, most=2**62)
    known = stable_learning_rate(problem, weights) if first is None else positive("first", first)
    if known is None:
        raise ValueError("`first` must be given for a general cost: a learning rate that is known to be stable.")
    if weights.batch or problem.batch:
        raise ValueError("`weights` must be one network on one problem: take a member of the batch, `weights[i]`.")
    if problem.cost is None and not problem.factor.scales.any():
        raise ValueError(
            "`problem` must have inputs that vary: these are zero, nothing moves, and every rate is stable."
        )
    if known < np.finfo(float).tiny:
        raise ValueError(f"`weights` or `problem` are too large for any learning rate: {known:g} would be stable.")
    guess = max(known, _first_guess(problem, weights))
    small = reduce(problem, weights)  # once, rather than once for every rate

    def diverges(rates: np.ndarray) -> np.ndarray:
        copies = Weights.stack([small.weights] * len(rates))
        run = gradient_descent(
            small.problem, copies, learning_rate=rates, steps=steps, save_every=last(), keep="losses", throw=False
        )
        return np.asarray(run.status.reason) == "diverged"

    return RateSearch(diverges, steps).largest_stable(known, guess)


@dataclass(frozen=True)
class RateSearch:
    """The search for the boundary between rates that are stable and rates that diverge within some `steps`.

    - `diverges(rates)`: whether training diverges at each of `RATES_PER_BATCH` rates, always, so that a batch is
      compiled once
    """

    diverges: Callable[[np.ndarray], np.ndarray]
    steps: int

    def largest_stable(self, known: float, guess: float) -> StableRate:
        """Find the boundary and try both its sides, from a rate that is known to be stable and a guess of the
        boundary."""
        low, first_border = known, None
        for _ in range(MAX_BORDERS):
            low, high = self.find_border(low, guess)
            if high is None:
                break
            *below, above = self.diverges(low * RATES_AROUND_BORDER)
            if any(below):
                first = below.index(True)
                lower = known if first == 0 else float(low * RATES_AROUND_BORDER[first - 1])
                low = self.refine_border(lower, float(low * RATES_AROUND_BORDER[first]))
                *below, above = self.diverges(low * RATES_AROUND_BORDER)
            candidate = StableRate(float(low), self.steps, not any(below), bool(above))
            if candidate.checked or any(below):
                return candidate
            first_border = first_border or candidate
            low = (1 + MARGIN) * low
        return first_border or StableRate(float(low), self.steps, True, False)

    def find_border(self, low: float, guess: float) -> tuple[float, float | None]:
        """Return the boundary from `low` up, to 0.4%, and a rate above it that diverges: None where none was found."""
        high, top = None, max(guess, low * RATE_GROWTH**RATES_PER_BATCH)
        while high is None:
            if low > MAX_OVER_GUESS * guess:
                return low, None
            low, high = self.bracket_border(low, np.geomspace(low, top, RATES_PER_BATCH + 1)[1:])
            top = low * RATE_GROWTH**RATES_PER_BATCH
        return self.refine_border(low, high), high

    def refine_border(self, low: float, high: float) -> float:
        """Return the highest rate found stable below the lowest found to diverge, between one of each, to 0.4%."""
        while high / low > 1 + BORDER_ACCURACY:
            low, lowest = self.bracket_border(low, np.geomspace(low, high, RATES_PER_BATCH + 2)[1:-1])
            high = lowest or high
        return low

    def bracket_border(self, low: float, rates: np.ndarray) -> tuple[float, float | None]:
        """Try rates above `low` in one batch; return the highest stable below the lowest that diverges, and that."""
        wrong = self.diverges(rates)
        if not wrong.any():
            return float(rates[-1]), None
        first = int(np.argmax(wrong))
        return (float(rates[first - 1]) if first else low), float(rates[first])


def _first_guess(problem: Problem, weights: Weights) -> float:
    """Return twice the rate at which the initialization itself is unstable, near or above the boundary; 0 for a general
    cost."""
    if problem.cost is not None:
        return 0.0
    f = problem.factor
    top = float((f.scales**2).max())
    layers = sum(float(np.linalg.norm(layer, ord=2)) ** 2 for layer in (weights.first, weights.second))
    pull = float(np.linalg.norm(problem.cross, ord=2))
    return 4.0 / max(top * layers, pull, np.finfo(float).tiny)


@representable
def pytorch_rates(rate: float, *, rows: int, targets: int) -> dict[str, float]:
    r"""Convert a learning rate for half the squared error to rates with which PyTorch's losses take the same steps.

    Use it whenever you train with `MSELoss` at a learning rate that linnet recommends.

    The loss of linnet is $\frac{1}{2n}\sum_{ij} e_{ij}^2$ over n rows and k targets. `MSELoss()` is $\frac{1}{nk}\sum
    e_{ij}^2$, whose gradient is 2/k times as large. With `reduction="sum"` the gradient is 2n times as large.

    **Arguments:**

    - `rate`: learning rate for half the squared error, summed over targets and averaged over rows
    - `rows`: number of rows in a step of full-batch descent
    - `targets`: number of targets k

    **Returns** the rate for each loss, by its name.

    **Example:**

        >>> from linnet.forecasts import pytorch_rates
        >>> pytorch_rates(0.1, rows=50, targets=1)
        {'MSELoss()': 0.05, 'MSELoss(reduction="sum")': 0.001}
    """
    rate, rows, targets = positive("rate", rate), count("rows", rows), count("targets", targets)
    return {"MSELoss()": rate * targets / 2, 'MSELoss(reduction="sum")': rate / (2 * rows)}
