"""Updates of one's own, as stopping rules of one's own: how the layers move for given gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from linnet.trainers._states import Array, Remembered


@runtime_checkable
class Update(Protocol):
    """What `gradient_descent(update=...)` asks of an update: a frozen dataclass, written with jax.numpy.

    It is compiled into the loop and applied to each member of a batch on its own. `equivariant` says whether it
    commutes with rotations of inputs, outputs and hidden units, as descent with momentum does and Adam does not: only
    then can a run be reduced. A layer by its name is `"first"` (hidden, input) or `"second"` (output, hidden).

    **Example:**

        >>> from dataclasses import dataclass
        >>> import jax.numpy as jnp
        >>> import linnet as ln
        >>> from linnet.trainers.updates import Update
        >>> @dataclass(frozen=True)
        ... class SignDescent:
        ...     equivariant: bool = False
        ...     def init(self, layers):
        ...         return ()
        ...     def step(self, layers, gradients, memory, rates, index):
        ...         return {name: layers[name] - rates[name] * jnp.sign(gradients[name]) for name in layers}, memory
        >>> isinstance(SignDescent(), Update)
        True
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=2, update=SignDescent(), reduce=False)
        >>> run.products[-1].round(12).tolist()
        [[0.49]]
    """

    @property
    def equivariant(self) -> bool:
        """Return whether it commutes with rotations of inputs, outputs and hidden units: then a run can be reduced."""

    def init(self, layers: Mapping[str, Array]) -> Remembered:
        """Return what the update remembers at the start: any tree of arrays."""

    def step(
        self,
        layers: Mapping[str, Array],
        gradients: Mapping[str, Array],
        memory: Remembered,
        rates: Mapping[str, Array],
        index: Array,
    ) -> tuple[Mapping[str, Array], Remembered]:
        """Return the moved layers, and what the update remembers after step `index`."""
        ...
