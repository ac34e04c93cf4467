"""The two layers of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet.arguments import real_array


@dataclass(frozen=True, eq=False)
class Weights:
    """`first` (..., hidden, input) and `second` (..., output, hidden); leading axes are a batch."""

    first: np.ndarray
    second: np.ndarray

    def __init__(self, first: Any, second: Any) -> None:
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

    @classmethod
    def computed(cls, first: np.ndarray, second: np.ndarray) -> Weights:
        """Weights that a trainer computed, as they are: in its precision, and NaN where a run did not get there."""
        weights = object.__new__(cls)
        object.__setattr__(weights, "first", first)
        object.__setattr__(weights, "second", second)
        return weights

    @property
    def product(self) -> np.ndarray:
        """$A = W_2 W_1$ (..., output, input)."""
        return self.second @ self.first

    @property
    def width(self) -> int:
        """The number of hidden units."""
        return self.first.shape[-2]

    @property
    def imbalance(self) -> np.ndarray:
        """$M = W_1 W_1^T - W_2^T W_2$ (..., hidden, hidden), conserved by the gradient flow."""
        return self.first @ np.swapaxes(self.first, -1, -2) - np.swapaxes(self.second, -1, -2) @ self.second

    @property
    def in_dim(self) -> int:
        return self.first.shape[-1]

    @property
    def out_dim(self) -> int:
        return self.second.shape[-2]

    @property
    def batch(self) -> int | None:
        """The size of the leading axis; None for a single network."""
        return self.first.shape[0] if self.first.ndim == 3 else None

    @classmethod
    def stack(cls, networks: Iterable[Weights]) -> Weights:
        """Networks of one shape as a batch."""
        members = list(networks)
        shapes = {(member.first.shape, member.second.shape) for member in members}
        if len(shapes) != 1:
            raise ValueError(
                f"`networks` must be one or more of one shape: got {sorted(shapes) if members else 'none'}."
            )
        return cls(np.stack([member.first for member in members]), np.stack([member.second for member in members]))

    def __getitem__(self, index: Any) -> Weights:
        """One member (or several) along the leading axes."""
        if self.first.ndim < 3:
            raise IndexError("these weights are a single network: there is no leading axis to index.")
        return Weights.computed(self.first[index], self.second[index])

    def __repr__(self) -> str:
        lead = f", batch={self.first.shape[:-2]}" if self.first.ndim > 2 else ""
        return f"Weights(width={self.width}, in_dim={self.in_dim}, out_dim={self.out_dim}{lead})"
