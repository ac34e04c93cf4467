"""The two layers of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, no_mask, real_array, representable, shown


def check_weights(value: object, name: str = "weights") -> Weights:
    """The weights in float64, whatever they were trained in; refuses what is not a `Weights`."""
    if not isinstance(value, Weights):
        kind = type(value).__name__
        hint = " Take one of its states: `trajectory.weights[-1]`." if kind == "Trajectory" else ""
        hint = " This is known for two layers only, which convert by `.to_weights()`." if kind == "Layers" else hint
        raise ValueError(f"`{name}` must be linnet Weights, made by `ln.Weights(first, second)`: got {kind}.{hint}")
    if value.first.dtype == value.second.dtype == np.float64:
        return value
    layers = (np.asarray(layer, dtype=np.float64) for layer in (value.first, value.second))
    return Weights.computed(*layers, full_width=value.full_width)


@dataclass(frozen=True, eq=False)
class Weights:
    """The two layers of a network $f(x) = W_2 W_1 x$.

    **Arguments:**

    - `first`: $W_1$, (..., hidden, input); leading axes are a batch
    - `second`: $W_2$, (..., output, hidden)
    - `full_width`: the width of the network that they stand for; their own, unless they were drawn in reduced form

    `.product` is $W_2 W_1$, `.imbalance` the conserved $W_1 W_1^T - W_2^T W_2$, `.width` the number of hidden units.

    **Example:**

        >>> from linnet.inits import Weights
        >>> weights = Weights([[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]])
        >>> weights.product.tolist(), weights.width
        ([[3.0, 2.0]], 2)
    """

    first: np.ndarray
    second: np.ndarray
    full_width: int

    def __init__(self, first: ArrayLike, second: ArrayLike, *, full_width: int | None = None) -> None:
        a, b = real_array("first", first), real_array("second", second)
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError(
                f"`first` must be (hidden, input) and `second` (output, hidden): got shapes {a.shape} and {b.shape}."
            )
        if a.shape[-2] != b.shape[-1]:
            raise ValueError(
                f"`first` and `second` must have the same hidden width: got {a.shape[-2]} rows in `first` {a.shape} "
                f"and {b.shape[-1]} columns in `second` {b.shape}."
            )
        if a.shape[:-2] != b.shape[:-2]:
            raise ValueError(f"`first` and `second` must share their leading axes: got {a.shape} and {b.shape}.")
        object.__setattr__(self, "first", a)
        object.__setattr__(self, "second", b)
        object.__setattr__(self, "full_width", a.shape[-2] if full_width is None else count("full_width", full_width))

    @classmethod
    def computed(cls, first: np.ndarray, second: np.ndarray, *, full_width: int | None = None) -> Weights:
        """Weights that a trainer computed, as they are: in its precision, and NaN where a run did not get there."""
        weights = object.__new__(cls)
        object.__setattr__(weights, "first", first)
        object.__setattr__(weights, "second", second)
        object.__setattr__(weights, "full_width", first.shape[-2] if full_width is None else full_width)
        return weights

    @property
    @representable
    def product(self) -> np.ndarray:
        """$A = W_2 W_1$ (..., output, input)."""
        return self.second @ self.first

    @property
    def width(self) -> int:
        """The number of hidden units that are held here (see `full_width`)."""
        return self.first.shape[-2]

    @property
    @representable
    def imbalance(self) -> np.ndarray:
        """$M = W_1 W_1^T - W_2^T W_2$ (..., hidden, hidden), conserved by the gradient flow."""
        return self.first @ np.swapaxes(self.first, -1, -2) - np.swapaxes(self.second, -1, -2) @ self.second

    @property
    def in_dim(self) -> int:
        """The number of inputs."""
        return self.first.shape[-1]

    @property
    def out_dim(self) -> int:
        """The number of outputs."""
        return self.second.shape[-2]

    @property
    def batch(self) -> int | None:
        """The size of the leading axis; None for a single network."""
        return self.first.shape[0] if self.first.ndim == 3 else None

    @classmethod
    def stack(cls, networks: Iterable[Weights]) -> Weights:
        """Networks of one shape as a batch."""
        if not isinstance(networks, Iterable):
            raise ValueError(f"`networks` must be Weights of one shape, one or more: got {type(networks).__name__}.")
        members = [check_weights(member, "networks") for member in networks]
        shapes = {(member.first.shape, member.second.shape) for member in members}
        if len(shapes) != 1:
            raise ValueError(
                f"`networks` must be one or more of one shape: got {sorted(shapes) if members else 'none'}."
            )
        widths = {member.full_width for member in members}
        first, second = (np.stack([getattr(member, layer) for member in members]) for layer in ("first", "second"))
        return cls(first, second, full_width=widths.pop() if len(widths) == 1 else None)

    def __getitem__(self, index: Any) -> Weights:
        """One member (or several) along the leading axes."""
        if self.first.ndim < 3:
            raise IndexError("these weights are a single network: there is no leading axis to `index`.")
        no_mask("index", index)
        try:
            first, second = self.first[index], self.second[index]
        except (IndexError, OverflowError):
            raise IndexError(
                f"`index` must be within the leading axes {self.first.shape[:-2]}: got {shown(index)}."
            ) from None
        if first.ndim < 2:
            raise IndexError(f"`index` must leave whole networks, of leading axes {self.first.shape[:-2]} only.")
        return Weights.computed(first, second, full_width=self.full_width)

    def __repr__(self) -> str:
        lead = f", batch={self.first.shape[:-2]}" if self.first.ndim > 2 else ""
        stands = "" if self.full_width == self.width else f" for {self.full_width}"
        return f"Weights(width={self.width}{stands}, in_dim={self.in_dim}, out_dim={self.out_dim}{lead})"
