"""Factors of one shape, read together: on a GPU a few kernels for all of them, not a few for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from linnet.torch.pairs import Pair, View

# Products (hidden, hidden) of the rows of a factor: of itself now (n), its last change (c), its initialization (s) and
# its first gradient (g), in this order.
PRODUCTS = ("nn", "nc", "cc", "ns", "ng", "ss", "sg", "gg")


@dataclass(frozen=True, eq=False)
class PairFactor:
    """One factor of a pair: number of the pair, 0 for its first factor and 1 for its second, and where its rows are."""

    pair: int
    side: int
    parameter: torch.Tensor
    rows: View


@dataclass(eq=False)
class Stack:
    """Factors whose rows have one shape and type on one device, and copies of them (factor, hidden, other).

    `before` is that of the last step, `start` that of the first, `gradient` the first gradient; None where there is
    none.
    """

    factors: list[PairFactor]
    before: torch.Tensor | None = field(default=None, repr=False)
    start: torch.Tensor | None = field(default=None, repr=False)
    gradient: torch.Tensor | None = field(default=None, repr=False)
    _views: list[torch.Tensor] = field(default_factory=list, repr=False)  # they keep their memory from being reused
    _places: list[int] = field(default_factory=list, repr=False)

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return self.factors[0].parameter.device

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number of each factor's pair."""
        return np.array([factor.pair for factor in self.factors])

    @cached_property
    def sides(self) -> np.ndarray:
        """0 for a first factor, 1 for a second."""
        return np.array([factor.side for factor in self.factors])

    def now(self) -> torch.Tensor:
        """A copy of all rows as they are."""
        places = [factor.parameter.data_ptr() for factor in self.factors]
        if places != self._places:  # the first time, or the model gave a parameter other memory
            self._views = [factor.rows(factor.parameter.detach()) for factor in self.factors]
            self._places = places
        return _stack_views(self._views)

    def keep_gradient(self, gradients: Mapping[int, torch.Tensor]) -> None:
        """The first gradients by `id` of the parameter; zero for what is frozen or was not used by the first loss."""
        rows = []
        for factor in self.factors:
            gradient = gradients.get(id(factor.parameter))
            like = torch.zeros_like(factor.parameter) if gradient is None else gradient.to(factor.parameter.dtype)
            rows.append(factor.rows(like))
        self.gradient = _stack_views(rows)

    def products(self) -> dict[str, torch.Tensor]:
        """Those of `PRODUCTS` that can be had, each (factor, hidden, hidden), where the weights are."""
        # Squares of float32 numbers would halve the digits of small singular values; only Apple's devices have no
        # float64.
        exact = torch.float32 if self.device.type == "mps" else torch.float64
        held = {"n": self.now().to(exact)}
        if self.before is not None:
            held["c"] = held["n"] - self.before  # not before itself: its product would cancel against that of now
        if self.start is not None:
            held["s"] = self.start.to(exact)
        if self.gradient is not None:
            held["g"] = self.gradient.to(exact)
        return {name: held[name[0]] @ held[name[1]].mT for name in PRODUCTS if set(name) <= set(held)}


def stacks_of(pairs: Sequence[Pair]) -> list[Stack]:
    """All factors of the pairs, in the fewest stacks that their shapes allow."""
    stacks: dict[tuple[object, ...], list[PairFactor]] = {}
    for number, pair in enumerate(pairs):
        sides = ((pair.first, pair.rows_of_first), (pair.second, pair.rows_of_second))
        for side, (parameter, rows) in enumerate(sides):
            view = rows(parameter.detach())
            kind = (parameter.device, parameter.dtype, view.shape, view.mT.is_contiguous())
            stacks.setdefault(kind, []).append(PairFactor(number, side, parameter, rows))
    return [Stack(factors) for factors in stacks.values()]


def _stack_views(views: Sequence[torch.Tensor]) -> torch.Tensor:
    """Copy views into one tensor, in the order in which they lie in memory."""
    if views[0].mT.is_contiguous():  # transposed as they lie in memory, all of them: one kernel copies them
        return torch.stack([view.mT for view in views]).mT
    return torch.stack(views)
