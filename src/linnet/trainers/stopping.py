"""When to stop a run early.

A rule is a frozen dataclass with `reasons`, `needs_test`, `start()` and `update(state, step, loss, test_loss)`, which
looks at the state a run is in before its next step and returns the rule's new state and a code: 0 to go on, i to stop
for `reasons[i - 1]`. Rules are compiled into the loop and applied to each member of a batch on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp

from linnet.arguments import count, non_negative, number, positive


@runtime_checkable
class Rule(Protocol):
    """What the loop asks of a stopping rule."""

    @property
    def reasons(self) -> tuple[str, ...]: ...
    @property
    def needs_test(self) -> bool: ...
    def start(self) -> Any: ...
    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class LossBelow:
    """Stop at the first state whose loss is at or below `threshold`."""

    threshold: float
    reasons: tuple[str, ...] = ("loss below threshold",)
    needs_test: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", number("threshold", self.threshold))

    def start(self) -> Any:
        return ()

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        return state, jnp.where(loss <= self.threshold, 1, 0)


@dataclass(frozen=True)
class Stalled:
    """Stop when one step changed the loss by less than `relative` of itself, or by less than `absolute`.

    From a small start the loss hardly changes at first. With `fallen` the rule waits until the loss is that much below
    its first value, so that this plateau is not taken for the end.
    """

    relative: float = 0.0
    absolute: float = 0.0
    fallen: float = 0.0
    reasons: tuple[str, ...] = ("loss stalled",)
    needs_test: bool = False

    def __post_init__(self) -> None:
        for name in ("relative", "absolute", "fallen"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))

    def start(self) -> Any:
        return jnp.asarray(jnp.inf), jnp.asarray(jnp.inf)

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        previous, first = state
        first = jnp.where(step == 0, loss, first).astype(first.dtype)
        least = jnp.maximum(self.relative * jnp.abs(previous), self.absolute)
        still = (jnp.abs(loss - previous) < least) & jnp.isfinite(previous)
        begun = (first - loss > self.fallen) | (self.fallen == 0)
        return (loss.astype(previous.dtype), first), jnp.where(still & begun, 1, 0)


@dataclass(frozen=True)
class TestLossRising:
    """Stop when the test loss has risen `patience` steps running, at a step later than `after`."""

    patience: int = 3
    after: int = 0
    reasons: tuple[str, ...] = ("test loss rising",)
    needs_test: bool = True
    __test__ = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "patience", count("patience", self.patience))
        object.__setattr__(self, "after", count("after", self.after, least=0, most=2**62))

    def start(self) -> Any:
        return jnp.asarray(jnp.inf), jnp.asarray(0)

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        previous, risen = state
        risen = jnp.where(test_loss > previous, risen + 1, 0)
        enough = (risen >= self.patience) & (step > self.after)
        return (test_loss.astype(previous.dtype), risen), jnp.where(enough, 1, 0)


@dataclass(frozen=True)
class FirstOf:
    """Stop at the first of several rules; where two agree, the earlier one gives the reason."""

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
        return tuple(reason for rule in self.rules for reason in rule.reasons)

    @property
    def needs_test(self) -> bool:
        return any(rule.needs_test for rule in self.rules)

    def start(self) -> Any:
        return tuple(rule.start() for rule in self.rules)

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        states, chosen, offset = [], jnp.asarray(0), 0
        for rule, old in zip(self.rules, state, strict=True):
            new, code = rule.update(old, step, loss, test_loss)
            chosen = jnp.where((chosen == 0) & (code > 0), code + offset, chosen)
            states.append(new)
            offset += len(rule.reasons)
        return tuple(states), chosen


@dataclass(frozen=True)
class Never:
    """Run to the last step."""

    reasons: tuple[str, ...] = ()
    needs_test: bool = False

    def start(self) -> Any:
        return ()

    def update(self, state: Any, step: Any, loss: Any, test_loss: Any) -> tuple[Any, Any]:
        return state, jnp.asarray(0)


def rule_of(stop: Any) -> Rule:
    """A rule from what users pass as `stop`: nothing, a loss threshold, or a rule."""
    if stop is None:
        return Never()
    if isinstance(stop, Rule) and not isinstance(stop, type):
        return stop
    return LossBelow(positive("stop", stop))


def first_of(*rules: Rule) -> FirstOf:
    """Stop at the first of `rules`."""
    return FirstOf(rules)
