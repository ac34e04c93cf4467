"""Networks of any depth in fewer hidden units: exactly where the words close, else to a told accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, count, number, real_array, representable
from linnet.inits.layers import Layers, check_layers
from linnet.problems.problem import Problem
from linnet.reductions._trial_descent import Trial
from linnet.reductions._words import Words
from linnet.reductions.reduction import Reduction, refuse_diverged

RTOL = 1e-8  # of the products, where neither an order nor a tolerance is asked for
LONGEST = 60  # letters; each gains about a digit
FALL = 10.0  # times as slowly as from the letters before, an error may fall to the letters after
MOST_FALL = 1e-2  # however fast it fell before
ROUNDING = 1e-14
SHARE = 0.3  # of the tolerance, for the words that are too long; the same again for what training does not use
SHARES = tuple(10.0**-n for n in range(2, 13))  # of what is seen along training: less is not kept
ANOTHER = 10.0  # times the error of the trial descent: another run, of other steps, sees other directions
FINER = 0.1  # of the share whose error is told is what is kept
WIDEST = 900  # units of all hidden layers together, from which on no longer words are tried


@dataclass(frozen=True)
class DeepReduction(Reduction):
    r"""A network of any depth in fewer hidden units, and the way back.

    Hidden space $l$ has the orthonormal basis `frames[l-1]` $Q_l$, and $w_l = Q_l^T W_l Q_{l-1}$ (the first layer in
    the `basis` V of the inputs, as for two layers). What lies outside of the spaces is never touched, so that

    $$ W_l(t) = c\,W_l(0) + Q_l (w_l(t) - c\,w_l(0)) Q_{l-1}^T, $$

    where c is 1 unless weight decay shrinks it.

    **Attributes:**

    - `full_problem`, `full_weights`: as they were given
    - `weights`: the reduced `Layers`
    - `basis`: $V$, (input, r); None for a plain one
    - `frame`: $Q_1$, (hidden, q); None where no layer was reduced
    - `frames`: $Q_1, \dots, Q_{L-1}$; empty where no layer was reduced
    - `order`: the longest word kept; None where no layer was reduced
    - `exact`: whether the spaces are invariant, and the dynamics exactly that of the full network
    - `estimates`: what estimates the error, one for each network of a batch

    `.error` estimates the largest distance between reduced and full products along training, relative to the largest
    product: 0 where it is exact, else from the distances between words up to `order` and shorter ones along a trial
    descent of the same problem, as they fall geometrically.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> start = ln.inits.deep_gaussian(in_dim=2, out_dim=1, width=100, depth=3, stds="ntk", key=0)
        >>> found = ln.reduce(ln.Problem.from_target([[1.0, 2.0]]), start, order=6)
        >>> found.weights.widths, found.exact, found.error < 1e-4
        ((11, 10), False, True)
    """

    frames: tuple[np.ndarray, ...] = field(default=(), repr=False)
    order: int | None = None
    exact: bool = True
    estimates: tuple[Any, ...] = field(default=(), repr=False)

    @cached_property
    def error(self) -> float:
        """The estimate of the error, the largest of a batch; a trial descent is run where none has been yet."""
        return max((one.estimate() for one in self.estimates), default=0.0)

    def lift(self, weights: Any, *, rest: ArrayLike = 1.0) -> Any:
        """The full network of reduced `weights` (leading axes allowed); `rest` is c in the formula above."""
        layers = self._reduced(weights).layers
        diverged = not all(np.isfinite(layer).all() for layer in layers)
        share = np.asarray(rest) if diverged else real_array("rest", rest)
        broadcast(weights=layers[0][..., 0, 0], rest=share)
        dtype = layers[0].dtype
        share = share[..., None, None]
        full: list[np.ndarray] = []
        for index, layer in enumerate(layers):
            if self.frames:
                if 0 < index < len(layers) - 1:
                    moved = self.frames[index] @ (layer - share * self.weights.layers[index])
                    layer = share * self.full_weights.layers[index] + moved @ _turned(self.frames[index - 1])
                elif index == 0:
                    layer = self.frames[0] @ layer
                else:
                    layer = layer @ _turned(self.frames[-1])
            if index == 0 and self.basis is not None:
                layer = layer @ _turned(self.basis)
                if self.untouched is not None:
                    layer = layer + share * self._outside
            full.append(layer.astype(dtype, copy=False))
        return Layers.computed(full)

    def _reduced(self, weights: Any) -> Any:
        """Refuses layers that are not of the reduced network's shape."""
        wanted = [layer.shape[-2:] for layer in self.weights.layers]
        got = [layer.shape[-2:] for layer in weights.layers] if isinstance(weights, Layers) else type(weights).__name__
        if got != wanted:
            raise ValueError(f"`weights` must be reduced Layers of shapes {wanted}: got {got}.")
        return weights

    @representable
    def test_loss(self, weights: Any, *, rest: ArrayLike = 1.0) -> Any:
        """The full problem's test loss at reduced `weights`."""
        states = check_layers(self._reduced(weights))
        refuse_diverged("weights", states)
        return self.full_problem.test_loss(self.products(states.product, states.above, rest=rest))


def reduced_layers(problem: Problem, layers: Layers, *, order: int | None, rtol: float | None) -> DeepReduction:
    """`reduce` of layers that were checked to fit the problem."""
    longest = None if order is None else count("order", order, least=0, most=1000)
    tolerance = RTOL if rtol is None else number("rtol", rtol)
    if not 1e-14 <= tolerance < 1:
        raise ValueError(f"`rtol` must lie between 1e-14 and 1: got {tolerance:g}.")
    basis = None if problem.cost is not None else problem.factor.basis
    first = layers.first if basis is None else layers.first @ basis
    given = [first, *layers.layers[1:]]
    if first.ndim > layers.last.ndim:  # one start on a batch of problems: the basis differs from problem to problem
        given[1:] = [np.broadcast_to(layer, (*first.shape[:-2], *layer.shape)) for layer in given[1:]]
    plain = DeepReduction(problem, layers, Layers(given, full_width=layers.full_width), basis, None)
    if _narrow(given):
        return plain
    small = plain.problem
    members = [tuple(layer[i] for layer in given) for i in range(len(first))] if first.ndim == 3 else [tuple(given)]
    bases = [_Bases(_member(small, i), member, longest, tolerance) for i, member in enumerate(members)]
    frames = [one.frames for one in bases]
    if any(all(frame.shape[0] == frame.shape[1] for frame in member) for member in frames):
        return plain  # nothing was saved: as it is
    reached = max(one.order for one in bases)
    exact = all(one.exact for one in bases)
    widths = [max(1, *(frame.shape[1] for frame in spaces)) for spaces in zip(*frames, strict=True)]
    filled = [[_filled(frame, width) for frame, width in zip(member, widths, strict=True)] for member in frames]
    stacked = [np.stack(spaces) if first.ndim == 3 else spaces[0] for spaces in zip(*filled, strict=True)]
    reduced = [_turned(stacked[0]) @ given[0]]
    for index, layer in enumerate(given[1:-1]):
        reduced.append(_turned(stacked[index + 1]) @ (layer @ stacked[index]))
    reduced.append(given[-1] @ stacked[-1])
    weights = Layers(reduced, full_width=layers.full_width)
    return DeepReduction(
        problem, layers, weights, basis, stacked[0], tuple(stacked), order=reached, exact=exact, estimates=tuple(bases)
    )


class _Bases:
    """The bases of one network of a batch, and their error."""

    def __init__(self, problem: Problem, layers: Sequence[np.ndarray], order: int | None, rtol: float) -> None:
        self.words, self.trial = Words(layers), Trial(problem)
        self.error: float | None = None
        # With an even number of layers every other letter reaches every other hidden layer only: a pair of them counts.
        self.gap = 2 - len(layers) % 2
        self.least = len(layers) - 2 + self.gap  # the first letters lead from the first hidden layer to the last
        words = self.words
        if order is None:
            self._needed(rtol)
        else:  # one more letter is held, which tells whether it would add anything
            while not words.closed and words.order <= order:
                words.grow()
            self.order = min(order, words.order)
            self.exact = words.closed and self.order == words.order
            self.frames = words.at(self.order)

    def _needed(self, rtol: float) -> None:
        """As many words as `rtol` needs, then of their span what training uses."""
        words, tolerance = self.words, SHARE * rtol
        while not words.closed and words.order < LONGEST and sum(words.history[-1]) < WIDEST:
            words.grow()
            if not words.closed and words.order >= self.least:
                self.error = self._distance(words.order)
                if self.error <= tolerance:
                    break
        self.order, self.exact = words.order, words.closed
        self.frames = words.at(words.order)
        if words.closed:
            return
        if self.error is None or self.error > tolerance:  # no words that are few enough suffice: the network itself
            self.frames, self.exact = [np.eye(width) for width in words.widths], True
            return
        held = words.projected(self.frames)
        seen = self.trial.used(held)
        for share in SHARES:
            apart = self.trial.apart(words.projected(self._part(seen, share)), held)
            if ANOTHER * apart <= tolerance:
                self.frames = self._part(seen, FINER * share)
                self.error += ANOTHER * apart
                return

    def _part(self, seen: list[np.ndarray], share: float) -> list[np.ndarray]:
        """Of every space the directions in which more than a share of what training sees lies."""
        turns = [_combinations(one, share) for one in seen]
        return [frame @ turn for frame, turn in zip(self.frames, turns, strict=True)]

    def estimate(self) -> float:
        """The error of these bases along a trial descent."""
        if self.exact:
            return 0.0
        if self.error is None and self.order >= self.least:
            self.error = self._distance(self.order)
        elif self.error is None:  # against longer words, which are not exact themselves
            longer = max(self.order + self.gap, self.least)
            while not self.words.closed and self.words.order < longer:
                self.words.grow()
            self.error = 2 * self.trial.distance(self.words, self.order, longer)
        assert self.error is not None
        return max(self.error, ROUNDING)

    def _distance(self, order: int) -> float:
        """The distance to shorter words, times a cautious factor by which it falls from there on."""
        now = self.trial.distance(self.words, order - self.gap, order)
        if order - self.gap < self.least:
            return now
        before = self.trial.distance(self.words, order - 2 * self.gap, order - self.gap)
        return now * float(np.clip(FALL * now / before, MOST_FALL, 1.0)) if before > 0 else now


def _combinations(seen: np.ndarray, share: float) -> np.ndarray:
    """Orthonormal combinations of rows in which more than a share of what was seen lies, (row, combination)."""
    if not seen.size:
        return np.zeros((len(seen), 0))
    left, values, _ = np.linalg.svd(seen, full_matrices=False)
    return left[:, values > share]


def _narrow(layers: Sequence[np.ndarray]) -> bool:
    """Whether no hidden layer can be reduced: none is wider than what words of length 0 span."""
    shapes = [layer.shape[-2:] for layer in layers]
    if len(shapes) == 2:
        return shapes[0][0] <= shapes[0][1] + shapes[1][0]
    return False


def _member(problem: Problem, index: int) -> Problem:
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


def _turned(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -1, -2)
