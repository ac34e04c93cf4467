"""Deep networks with fewer hidden units and the same dynamics, exactly or with an estimated error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, count, number, positive, real_array, representable
from linnet.inits.weights import Weights, check_weights
from linnet.problems.problem import Problem
from linnet.reductions._by_weight import WordsByWeight
from linnet.reductions._words import Words
from linnet.reductions.reduction import Reduction, refuse_diverged
from linnet.reductions.trial_descent import MAX_STEPS, StepSizes, TrialDescent

RTOL = 1e-8  # of the products, where neither an order nor a tolerance is asked for
MAX_LETTERS = 60  # letters; each gains about a digit
FALL_CAUTION = 10.0  # factor: the next letter is taken to reduce the error this many times less than the last one did
MAX_FALL = 0.5  # of the distance from one letter to the next, for updates of which a trial takes seconds
GROWN_ROUNDING = 1e-11  # what updates other than descent may make of rounding: their error is never estimated below
MIN_FALL = 1e-2  # fraction of the last distance below which the error is never estimated, however fast it fell
ROUNDING = 1e-14
LARGEST_SCALE = 1e150  # of inputs, whose squares are added
RTOL_SHARE = 0.3  # of `rtol` that words kept by their length may reach: their error is only estimated
COARSER_FACTOR = 30.0  # times the fraction of words that is missing, of two reductions that are compared
OTHER_STEPS_FACTOR = 3.0  # times the distance along a trial descent, for a run of other steps
FINE_STEP = 0.1  # of the size of a trial's steps: the other trial by which words are weighed
MIDDLE_STEP = 0.3  # and that of a third one, which tells how well those words serve a descent that did not choose them
MAX_GROWN_UNITS = 900  # units of all hidden layers together, from which on no longer words are tried
MIN_TRIAL_UNITS = 64  # units of all hidden layers together: fewer are not worth a trial descent
MAX_UNEVENNESS = 10  # times more inputs than outputs, or the reverse, up to which words by their length are tried first
LIKELY_LETTERS = 5  # of the longest word, when words are kept by their length at depth 3
# What trial descents cost, in weights times steps of a run at full width: 0.1 s at depth 3, and some seconds beyond.
WORK_OF_TRIALS_AT_DEPTH_3, WORK_OF_TRIALS = 1e7, 5e8
COLUMNS_OF_TWICE_THE_WORK = 15  # columns carried, with which a step takes twice as long for each weight as with none
MAX_KEPT_SHARE = 0.8  # of all units may be kept: a network that would keep more stays as it is


@dataclass(frozen=True)
class DeepReduction(Reduction):
    r"""Result of `reduce` for a deep network: a smaller network with the same dynamics, and the map back to the full
    one.

    Hidden layer $l$ is projected on the orthonormal basis `frames[l-1]` $Q_l$, so $w_l = Q_l^T W_l Q_{l-1}$. The first
    layer is also projected on the `basis` V of the inputs, as for two layers. The rest of the weights does not move, so
    that

    $$ W_l(t) = c\,W_l(0) + Q_l (w_l(t) - c\,w_l(0)) Q_{l-1}^T, $$

    where c is 1 unless weight decay shrinks the rest.

    **Attributes:**

    - `full_problem`, `full_weights`: problem and weights before the reduction
    - `weights`: reduced `Weights`
    - `basis`: basis $V$ of the inputs, (input, r); None if inputs were not reduced
    - `frame`: basis $Q_1$ of the first hidden layer, (hidden, q); None if no layer was reduced
    - `frames`: bases $Q_1, \dots, Q_{L-1}$ of the hidden layers; empty if no layer was reduced
    - `order`: largest degree of the monomials that are kept; None if no layer was reduced, or monomials were kept by
      weight
    - `exact`: whether the dynamics are exactly those of the full network
    - `estimates`: estimators of the error, one for each network of a batch

    `.error` estimates the largest distance between reduced and full products during training, relative to the largest
    product. It is 0 if the reduction is exact. Otherwise it is computed from trial descents, by comparison with a
    reduction that keeps fewer monomials. If some inputs are never touched by the data, it is the root of that, since
    products are less accurate there.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> start = ln.inits.gaussian(in_dim=2, out_dim=1, width=100, depth=3, stds="ntk", key=0)
        >>> reduction = ln.reduce(ln.Problem.from_target([[1.0, 2.0]]), start, order=6)
        >>> reduction.weights.widths, reduction.exact, reduction.error < 1e-4
        ((11, 10), False, True)
    """

    frames: tuple[np.ndarray, ...] = field(default=(), repr=False)
    order: int | None = None
    exact: bool = True
    estimates: tuple[Any, ...] = field(default=(), repr=False)

    @cached_property
    def error(self) -> float:
        """Estimated error, the largest of a batch; computed by trial descents at first use."""
        error = max((one.estimate() for one in self.estimates), default=0.0)
        # What a missing word does to inputs of the data is of second order, as it leads there and back; to others it is
        # of first order. Trial descents see the inputs of the data alone.
        return error**0.5 if 0 < error < 1 and self.untouched is not None else error

    def lift(self, weights: object, *, rest: ArrayLike = 1.0) -> Any:
        """The full network of reduced `weights` (leading axes allowed); `rest` is c in the formula above."""
        layers = self._check_reduced(weights).layers
        diverged = not all(np.isfinite(layer).all() for layer in layers)
        share = real_array("rest", rest, finite=not diverged)
        broadcast(weights=layers[0][..., 0, 0], rest=share)
        dtype = layers[0].dtype
        share = share[..., None, None]
        full: list[np.ndarray] = []
        for index, layer in enumerate(layers):
            if self.frames:
                if 0 < index < len(layers) - 1:
                    moved = self.frames[index] @ (layer - share * self.weights.layers[index])
                    layer = share * self.full_weights.layers[index] + moved @ _transposed(self.frames[index - 1])
                elif index == 0:
                    start = self.full_weights.layers[0]
                    start = start if self.basis is None else start @ self.basis
                    layer = share * start + self.frames[0] @ (layer - share * self.weights.layers[0])
                else:
                    layer = layer @ _transposed(self.frames[-1])
            if index == 0 and self.basis is not None:
                layer = layer @ _transposed(self.basis)
                if self.untouched is not None:
                    layer = layer + share * self._outside
            full.append(layer.astype(dtype, copy=False))
        return Weights.computed(*full)

    def _check_reduced(self, weights: object) -> Any:
        """Return the layers of the reduced network; layers of another shape raise `ValueError`."""
        wanted = [layer.shape[-2:] for layer in self.weights.layers]
        got = [layer.shape[-2:] for layer in weights.layers] if isinstance(weights, Weights) else type(weights).__name__
        if got != wanted:
            raise ValueError(f"`weights` must be reduced Weights of shapes {wanted}: got {got}.")
        return weights

    @representable
    def test_loss(self, weights: object, *, rest: ArrayLike = 1.0) -> Any:
        """Test loss of the full problem at reduced `weights`."""
        states = check_weights(self._check_reduced(weights))
        refuse_diverged("weights", states)
        return self.full_problem.test_loss(self.products(states.product, states.above, rest=rest))


def reduced_layers(
    problem: Problem,
    layers: Weights,
    *,
    order: int | None = None,
    rtol: float | None = None,
    paths: Sequence[StepSizes] | None = (),
) -> DeepReduction:
    """`reduce` of layers that were checked to fit the problem, for the descents of `paths`, one for each of a batch.

    Of none at all it is good for small steps, as of a flow; None are descents that cannot be tried beforehand: words
    are then kept by their length.
    """
    longest = None if order is None else count("order", order, least=0, most=1000)
    tolerance = RTOL if rtol is None else number("rtol", rtol)
    if not 1e-14 <= tolerance < 1:
        raise ValueError(f"`rtol` must lie between 1e-14 and 1: got {tolerance:g}.")
    basis = None if problem.cost is not None else problem.factor.basis
    first = layers.first if basis is None else layers.first @ basis
    given = [first, *layers.layers[1:]]
    if first.ndim > layers.last.ndim:  # one start on a batch of problems: the basis differs from problem to problem
        given[1:] = [np.broadcast_to(layer, (*first.shape[:-2], *layer.shape)) for layer in given[1:]]
    plain = DeepReduction(problem, layers, Weights(*given, full_width=layers.full_width), basis, None)
    if _is_narrow(given):
        return plain
    if problem.cost is None and float(problem.factor.scales.max(initial=0.0)) > LARGEST_SCALE:
        raise ValueError(
            f"`problem` must have inputs whose squares are numbers: their size is up to "
            f"{problem.factor.scales.max():.3g}, beyond {LARGEST_SCALE:g}. Give them in other units, nearer to 1."
        )
    small = plain.problem
    members = [tuple(layer[i] for layer in given) for i in range(len(first))] if first.ndim == 3 else [tuple(given)]
    bases = [
        _Bases(
            _one_problem(small, i), member, longest, tolerance, None if paths is None else paths[i : i + 1] or paths[:1]
        )
        for i, member in enumerate(members)
    ]
    frames = [one.frames for one in bases]
    if any(all(frame.shape[0] == frame.shape[1] for frame in member) for member in frames):
        return plain  # nothing was saved: as it is
    orders = [one.order for one in bases if one.order is not None]
    reached = max(orders, default=None)
    exact = all(one.exact for one in bases)
    widths = [max(1, *(frame.shape[1] for frame in spaces)) for spaces in zip(*frames, strict=True)]
    filled = [[_filled(frame, width) for frame, width in zip(member, widths, strict=True)] for member in frames]
    stacked = [np.stack(spaces) if first.ndim == 3 else spaces[0] for spaces in zip(*filled, strict=True)]
    reduced = [_transposed(stacked[0]) @ given[0]]
    for index, layer in enumerate(given[1:-1]):
        reduced.append(_transposed(stacked[index + 1]) @ (layer @ stacked[index]))
    reduced.append(given[-1] @ stacked[-1])
    weights = Weights(*reduced, full_width=layers.full_width)
    return DeepReduction(
        problem, layers, weights, basis, stacked[0], tuple(stacked), order=reached, exact=exact, estimates=tuple(bases)
    )


def constant_steps(learning_rate: float) -> list[StepSizes]:
    """The descent of one step size, as `reduced_layers` takes it."""
    return [StepSizes(np.full(MAX_STEPS, positive("learning_rate", learning_rate)))]


class _Bases:
    """The bases of one network of a batch, and their error."""

    def __init__(
        self,
        problem: Problem,
        layers: Sequence[np.ndarray],
        order: int | None,
        rtol: float,
        paths: Sequence[StepSizes] | None,
    ) -> None:
        self.words, self.problem = Words(layers), problem
        self.trials = [TrialDescent(problem, paths[0] if paths else None)]
        self.error: float | None = None
        self.fall = MAX_FALL  # of the last distance, over the one before
        self.order: int | None = order
        self.products: dict[int, list[np.ndarray]] = {}  # along the trial descents, by the length of the longest word
        # With an even number of layers every other letter reaches every other hidden layer only: a pair of them counts.
        self.gap = 2 - len(layers) % 2
        self.least = len(layers) - 2 + self.gap  # the first letters lead from the first hidden layer to the last
        words = self.words
        if order is not None:  # one more letter is held, which tells whether it would add anything
            while not words.closed and words.order <= order:
                words.grow()
            self.order = min(order, words.order)
            self.exact = words.closed and self.order == words.order
            self.frames = words.at(self.order)
            return
        self._close()
        if self.exact and (
            sum(words.history[-1]) <= MAX_KEPT_SHARE * sum(words.widths) or sum(words.widths) <= MIN_TRIAL_UNITS
        ):
            return
        if paths is None or self.trials[0].path.run is not None:
            kept = self._by_length(rtol)
        else:
            share = self._share_by_length()
            few = share is None or share <= MAX_KEPT_SHARE
            kept = few and self._is_worth_trials(paths)
            kept = kept and ((share is not None and self._by_length_for(paths, rtol)) or self._by_weight(rtol, paths))
        if not kept:
            self.frames, self.exact, self.order = [np.eye(width) for width in words.widths], True, None

    def _close(self) -> None:
        """Grow words as long as they may close: until they have been in general position for long enough."""
        words = self.words
        while not words.closed and words.order < MAX_LETTERS and sum(words.history[-1]) < MAX_GROWN_UNITS:
            words.grow()
            if words.order > self.least and not words.degenerate:
                break
        self.order, self.exact, self.frames = words.order, words.closed, words.at(words.order)

    def _is_worth_trials(self, paths: Sequence[StepSizes]) -> bool:
        """Whether the run would take longer at full width than the trial descents that find a reduction."""
        shapes = [layer.shape for layer in self.words.layers]
        columns = min(shapes[0][1], shapes[-1][0])  # that are carried through the layers
        work = sum(map(np.prod, shapes)) * (1 + columns / COLUMNS_OF_TWICE_THE_WORK)
        steps = max((path.run_steps for path in paths), default=np.inf)
        return bool(steps * work > (WORK_OF_TRIALS_AT_DEPTH_3 if len(shapes) == 3 else WORK_OF_TRIALS))

    def _by_length_for(self, paths: Sequence[StepSizes], rtol: float) -> bool:
        """As many words by their length as plain descents need; False if the network should be kept as it is.

        What is tried are small steps, and the known ones that these do not stand for.
        """
        known, small = _known_and_small(paths)
        self.trials = [TrialDescent(self.problem, path) for path in small[:1]]
        for trial in self.trials:  # the steps are chosen here
            trial.products(self.words.projected(self.words.at(self.words.order)))
            known = [path for path in known if not trial.stands_for(path)]
        self.trials += [TrialDescent(self.problem, path) for path in known]
        if not self._by_length(rtol):
            return False
        assert self.error is not None
        self.error *= OTHER_STEPS_FACTOR
        return True

    def _share_by_length(self) -> float | None:
        """Return the likely fraction of all units that words by their length fill; None if those by weight are fewer.

        At depth 3, with similar numbers of inputs and outputs, words by their length are found five to ten times faster
        than words by weight, and the spaces are no larger. From depth 4 on words branch, and where one side has many
        more dimensions than the other, most of its words are not used.
        """
        words = self.words
        sides = words.layers[0].shape[1], words.layers[-1].shape[0]
        if len(words.layers) != 3 or max(sides) > MAX_UNEVENNESS * min(sides):
            return None
        before, now = (sum(widths) for widths in (words.history[max(-2, -len(words.history))], words.history[-1]))
        return (now + (LIKELY_LETTERS - words.order) * (now - before)) / sum(words.widths)

    def _by_length(self, rtol: float) -> bool:
        """As many words as `rtol` needs for what drives the descent; False where these are too many."""
        words, self.exact, wanted = self.words, False, RTOL_SHARE * rtol
        own = self.trials[0] if self.trials[0].path.run is not None else None
        if own is not None:  # plain descent is tried first: that is cheaper
            self.trials = [TrialDescent(self.problem)]
        next_order = self.least
        while not words.closed and words.order < MAX_LETTERS and sum(words.history[-1]) < MAX_GROWN_UNITS:
            words.grow()
            if sum(words.history[-1]) > MAX_KEPT_SHARE * sum(words.widths):
                return False
            if words.closed or words.order < next_order:
                continue
            self.error = self._distance(words.order)
            if self.error <= wanted and own is not None and own not in self.trials:
                self.trials, self.products = [own], {}
                self.error = self._distance(words.order)
            if self.error <= wanted:
                self.order, self.frames = words.order, words.at(words.order)
                return True
            if own in self.trials:  # each trial takes seconds: go on where it would be enough
                if self.fall > MAX_FALL:
                    return False
                next_order = words.order + self.gap * max(1, round(np.log(wanted / self.error) / np.log(self.fall)))
        return False

    def _by_weight(self, rtol: float, paths: Sequence[StepSizes]) -> bool:
        """The words that descents of the same problem use; False where these are too many."""
        self.exact = False
        known, small = _known_and_small(paths)
        followed, judged = [*known, *small[:2]], [*known, *small[2:]]
        held = WordsByWeight(self.words.layers, COARSER_FACTOR * rtol, MAX_KEPT_SHARE * sum(self.words.widths))
        coarse: list[np.ndarray] | None = None
        while held.share >= ROUNDING:
            for path in followed:
                held.follow(TrialDescent(self.problem, path))
                if not held.complete:
                    return False
            if coarse is not None:
                apart = max(TrialDescent(self.problem, path).max_distance(coarse, held.start) for path in judged)
                self.error = (OTHER_STEPS_FACTOR if small else 1.0) * apart
                if self.error <= rtol:
                    self.frames, self.order = held.frames, None
                    return True
            coarse, held.share = list(held.start), held.share / COARSER_FACTOR
        return False

    def estimate(self) -> float:
        """The error of these bases along a trial descent."""
        if self.exact:
            return 0.0
        if self.error is None and self.order is not None and self.order >= self.least:
            self.error = self._distance(self.order)
        elif self.error is None:  # against longer words, which are not exact themselves
            assert self.order is not None
            longer = max(self.order + self.gap, self.least)
            while not self.words.closed and self.words.order < longer:
                self.words.grow()
            self.error = 2 * self._max_distance(self.order, longer)
        assert self.error is not None
        return max(self.error, ROUNDING if self.trials[0].path.run is None else GROWN_ROUNDING)

    def _distance(self, order: int) -> float:
        """The distance to shorter words, times a cautious factor by which it falls from there on."""
        now = self._max_distance(order - self.gap, order)
        self.fall = MAX_FALL
        if order - self.gap < self.least:
            return now
        before = self._max_distance(order - 2 * self.gap, order - self.gap)
        self.fall = now / before if before > 0 else MAX_FALL
        return now * float(np.clip(FALL_CAUTION * now / before, MIN_FALL, 1.0)) if before > 0 else now

    def _max_distance(self, order: int, longer: int) -> float:
        """The largest distance between the products with words up to `order` and up to `longer`, relative."""
        self.products = {known: self.products[known] for known in self.products if known >= order}
        for each in (longer, order):  # the longer words choose the steps
            if each not in self.products:
                layers = self.words.projected(self.words.at(each))
                self.products[each] = [trial.products(layers) for trial in self.trials]
        both = zip(self.trials, self.products[order], self.products[longer], strict=True)
        return max(trial.distance(one, other) for trial, one, other in both)


def _known_and_small(paths: Sequence[StepSizes]) -> tuple[list[StepSizes], list[StepSizes]]:
    """Return the descents that are known, and three in small steps if a run may go on after those or has none."""
    known = [path for path in paths if path.rates is not None]
    if known and all(path.max_steps < MAX_STEPS for path in known):
        return known, []
    decay = max((path.decay for path in paths if path.rates is None), default=0.0)
    return known, [StepSizes(decay=decay, step=step * StepSizes.step) for step in (1.0, FINE_STEP, MIDDLE_STEP)]


def _is_narrow(layers: Sequence[np.ndarray]) -> bool:
    """Whether no hidden layer can be reduced: none is wider than what words of length 0 span."""
    shapes = [layer.shape[-2:] for layer in layers]
    if len(shapes) == 2:
        return shapes[0][0] <= shapes[0][1] + shapes[1][0]
    return False


def _one_problem(problem: Problem, index: int) -> Problem:
    """One problem of a batch, or the only one."""
    if problem.batch is None:
        return problem
    return Problem.from_moments(
        problem.cov if problem.cov.ndim == 2 else problem.cov[index],
        problem.cross if problem.cross.ndim == 2 else problem.cross[index],
    )


def _filled(frame: np.ndarray, width: int) -> np.ndarray:
    """The frame with columns of zeros: units that stay at zero."""
    return np.pad(frame, [(0, 0), (0, width - frame.shape[1])])


def _transposed(matrix: np.ndarray) -> np.ndarray:
    """Return each matrix of a batch transposed."""
    return np.swapaxes(matrix, -1, -2)
