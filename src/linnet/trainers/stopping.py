"""When to stop a run early.

A rule is a frozen dataclass with `reasons`, `needs_test`, `start()` and `update(state, step, loss, test_loss)`, which
looks at the state a run is in before its next step and returns the rule's new state and a code: 0 to go on, i to stop
for `reasons[i - 1]`. Rules are compiled into the loop and applied to each member of a batch on its own; on a CPU some
runs are judged outside of compiled code, step by step, and the same rule is given NumPy's numbers. `select` serves
both. Processes that train a diagram receive the rule by cloudpickle, so a rule may be defined in a notebook.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from linnet._arguments import count, non_negative, number, positive
from linnet.trainers._array_or_number import cast_like, select
from linnet.trainers._states import Array, Remembered


@runtime_checkable
class Rule(Protocol):
    """Interface of a stopping rule.

    **Example:**

        >>> from linnet.trainers.stopping import LossBelow, Rule
        >>> isinstance(LossBelow(0.1), Rule)
        True
    """

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why the rule may stop a run; the code of `update` counts the reasons from 1."""

    @property
    def needs_test(self) -> bool:
        """Return whether `update` looks at the test loss."""

    def start(self) -> Remembered:
        """Return what the rule remembers at the first state."""

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return what it remembers after this state, and the code: 0 to go on, i to stop for `reasons[i - 1]`."""
        ...


@dataclass(frozen=True)
class LossBelow:
    """Stop at the first state whose loss is at or below `threshold`.

    **Attributes:**

    - `threshold`: training loss at which to stop
    - `reasons`: reason that the status gives then
    - `needs_test`: whether the rule looks at the test loss

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers.stopping import LossBelow
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> ln.gradient_descent(problem, start, learning_rate=0.1, steps=1000, stop=LossBelow(1e-4)).status.reason
        'loss below threshold'
    """

    threshold: float
    reasons: tuple[str, ...] = ("loss below threshold",)
    needs_test: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", number("threshold", self.threshold))

    def start(self) -> Remembered:
        """Return what the rule remembers at the first state."""
        return ()

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return what the rule remembers after this state, and 1 to stop there or 0 to go on."""
        return state, select(loss <= self.threshold, 1, 0)


@dataclass(frozen=True)
class Stalled:
    """Stop when one step hardly changes the loss.

    From a small initialization the loss hardly changes at first. Set `fallen` so that the rule does not stop on this
    initial plateau.

    **Attributes:**

    - `relative`: change of the loss, as a fraction of it, below which the rule stops
    - `absolute`: change of the loss below which the rule stops
    - `fallen`: decrease of the loss from its first value before which the rule never stops
    - `reasons`: reason that the status gives then
    - `needs_test`: whether the rule looks at the test loss

    **Example:**

        >>> from linnet.trainers.stopping import Stalled
        >>> Stalled(relative=1e-6, fallen=0.5).reasons
        ('loss stalled',)
    """

    relative: float = 0.0
    absolute: float = 0.0
    fallen: float = 0.0
    reasons: tuple[str, ...] = ("loss stalled",)
    needs_test: bool = False

    def __post_init__(self) -> None:
        for name in ("relative", "absolute", "fallen"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))

    def start(self) -> Remembered:
        """Return what the rule remembers at the first state."""
        return np.float64(np.inf), np.float64(np.inf)

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return what the rule remembers after this state, and 1 to stop there or 0 to go on."""
        previous, first = state
        first = cast_like(first, select(step == 0, loss, first))
        change = abs(loss - previous)  # infinite at the first state, which is not below anything
        still = change < self.absolute
        if self.relative:
            still = still | (change < self.relative * abs(previous))
        if self.fallen:
            still = still & (first - loss > self.fallen)
        return (cast_like(previous, loss), first), select(still, 1, 0)


@dataclass(frozen=True)
class TestLossRising:
    """Stop when the test loss has risen in several consecutive steps.

    **Attributes:**

    - `patience`: number of consecutive steps in which the test loss must rise
    - `after`: step before which the rule never stops
    - `reasons`: reason that the status gives then
    - `needs_test`: whether the rule looks at the test loss

    **Example:**

        >>> from linnet.trainers.stopping import TestLossRising
        >>> TestLossRising(patience=5, after=100).needs_test
        True
    """

    patience: int = 3
    after: int = 0
    reasons: tuple[str, ...] = ("test loss rising",)
    needs_test: bool = True
    __test__ = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "patience", count("patience", self.patience))
        object.__setattr__(self, "after", count("after", self.after, least=0, most=2**62))

    def start(self) -> Remembered:
        """Return what the rule remembers at the first state."""
        return np.float64(np.inf), np.int64(0)

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return what the rule remembers after this state, and 1 to stop there or 0 to go on."""
        previous, risen = state
        risen = select(test_loss > previous, risen + 1, 0)
        enough = (risen >= self.patience) & (step > self.after)
        return (cast_like(previous, test_loss), risen), select(enough, 1, 0)


@dataclass(frozen=True)
class FirstOf:
    """Stops at the first of several rules; `first_of` makes it.

    **Attributes:**

    - `rules`: stopping rules, in order

    **Example:**

        >>> from linnet.trainers.stopping import LossBelow, Stalled, first_of
        >>> first_of(LossBelow(1e-3), Stalled(relative=1e-6)).reasons
        ('loss below threshold', 'loss stalled')
    """

    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.rules, (tuple, list)) or not self.rules:
            raise ValueError(f"`rules` must be one or more stopping rules: got {type(self.rules).__name__}.")
        for rule in self.rules:
            if isinstance(rule, type) or not isinstance(rule, Rule):
                raise ValueError(f"`rules` must be stopping rules, as `LossBelow(1e-3)`: got {type(rule).__name__}.")
        object.__setattr__(self, "rules", tuple(self.rules))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons of all rules, in their order."""
        return tuple(reason for rule in self.rules for reason in rule.reasons)

    @property
    def needs_test(self) -> bool:
        """Return whether one of the rules looks at the test loss."""
        return any(rule.needs_test for rule in self.rules)

    def start(self) -> Remembered:
        """Return what each rule remembers at the first state."""
        return tuple(rule.start() for rule in self.rules)

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return what all rules remember after this state, and the code of the first that stops there, or 0."""
        states, chosen, offset = [], 0, 0
        for rule, old in zip(self.rules, state, strict=True):
            new, code = rule.update(old, step, loss, test_loss)
            chosen = select((chosen == 0) & (code > 0), code + offset, chosen)
            states.append(new)
            offset += len(rule.reasons)
        return tuple(states), chosen


@dataclass(frozen=True)
class Never:
    """Run to the last step.

    **Attributes:**

    - `reasons`: empty tuple
    - `needs_test`: whether the rule looks at the test loss

    **Example:**

        >>> from linnet.trainers.stopping import Never
        >>> Never().reasons
        ()
    """

    reasons: tuple[str, ...] = ()
    needs_test: bool = False

    def start(self) -> Remembered:
        """Return nothing to remember."""
        return ()

    def update(self, state: Remembered, step: Array, loss: Array, test_loss: Array) -> tuple[Remembered, Array | int]:
        """Return nothing to remember, and 0 to go on."""
        return state, 0


def rule_of(stop: Rule | float | None) -> Rule:
    """Return the stopping rule for the value that a user passes as `stop`.

    The trainers call it; you need it only in a custom trainer.

    **Arguments:**

    - `stop`: value of `stop`: None, a threshold of the loss, or a rule

    **Returns** a `Rule`.

    **Example:**

        >>> from linnet.trainers.stopping import rule_of
        >>> rule_of(0.01).threshold, rule_of(None).reasons
        (0.01, ())
    """
    if stop is None:
        return Never()
    if isinstance(stop, Rule) and not isinstance(stop, type):
        return stop
    return LossBelow(positive("stop", stop))


def first_of(*rules: Rule) -> FirstOf:
    """Stop at the first of several rules.

    Use it to combine a loss threshold with a limit on the rise of the test loss.

    **Arguments:**

    - `rules`: stopping rules, in order; if two stop at the same step, the earlier one gives the reason

    **Returns** one rule.

    **Example:**

        >>> from linnet.trainers.stopping import LossBelow, TestLossRising, first_of
        >>> first_of(LossBelow(1e-3), TestLossRising(patience=5)).needs_test
        True
    """
    return FirstOf(rules)
