"""The weights of a network of any depth."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, no_mask, real_array, representable, shown


@dataclass(frozen=True, eq=False)
class Weights:
    r"""Weights of a network $f(x) = W_L \cdots W_2 W_1 x$ with two or more layers.

    **Arguments:**

    - `layers`: matrices $W_1, \dots, W_L$, first layer first; $W_1$ is (..., hidden, input), $W_L$ is (..., output,
      hidden), and the number of columns is the number of rows of the previous matrix; leading axes are a batch
    - `full_width`: hidden width of the network that the layers represent; larger than their own width only if they were
      drawn in reduced form

    **Attributes:**

    - `product`: product $W_L \cdots W_1$
    - `first`, `last`: first and last layer; two layers also have `second`
    - `depth`: number of layers $L$
    - `widths`, `width`: number of units in each hidden layer, and in the widest one
    - `imbalances`: the $L - 1$ matrices $W_l W_l^T - W_{l+1}^T W_{l+1}$ that gradient flow conserves; two layers also
      have `imbalance`

    **Example:**

        >>> from linnet.inits import Weights
        >>> weights = Weights([[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]])
        >>> weights.product.tolist(), weights.width
        ([[3.0, 2.0]], 2)
        >>> deep = Weights([[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]], [[3.0, 1.0]])
        >>> deep.depth, deep.widths, deep.product.tolist()
        (3, (2, 2), [[3.0, 8.0]])
    """

    layers: tuple[np.ndarray, ...]
    full_width: int

    def __init__(self, *layers: ArrayLike, full_width: int | None = None) -> None:
        if len(layers) < 2:
            hint = (
                " Unpack a list of matrices: `ln.Weights(*matrices)`."
                if len(layers) == 1 and isinstance(layers[0], (list, tuple)) and np.ndim(layers[0][0]) == 2
                else " One layer is linear regression: see `Problem.min_norm_solution`."
                if len(layers) == 1
                else ""
            )
            raise ValueError(f"`layers` must be two or more matrices, W1 to WL: got {len(layers)}.{hint}")
        names = _layer_names(len(layers))
        arrays = tuple(real_array(name, layer) for name, layer in zip(names, layers, strict=True))
        for name, layer in zip(names, arrays, strict=True):
            if layer.ndim < 2:
                raise ValueError(f"`{name}` must be a matrix (..., output, input): got shape {layer.shape}.")
        for (below, lower), (above, upper) in itertools.pairwise(zip(names, arrays, strict=True)):
            if upper.shape[-1] != lower.shape[-2]:
                raise ValueError(
                    f"`{above}` must have as many columns as `{below}` has rows: got shapes {upper.shape} and "
                    f"{lower.shape}."
                )
            if upper.shape[:-2] != lower.shape[:-2]:
                raise ValueError(
                    f"`{below}` and `{above}` must share their leading axes: got shapes {lower.shape} and "
                    f"{upper.shape}."
                )
        object.__setattr__(self, "layers", arrays)
        object.__setattr__(self, "full_width", self.width if full_width is None else count("full_width", full_width))

    @classmethod
    def computed(cls, *layers: np.ndarray, full_width: int | None = None) -> Weights:
        """Return weights from a trainer without changes: in its precision, and NaN after divergence."""
        weights = object.__new__(cls)
        object.__setattr__(weights, "layers", layers)
        object.__setattr__(weights, "full_width", weights.width if full_width is None else full_width)
        return weights

    @property
    def first(self) -> np.ndarray:
        """$W_1$ (..., hidden, input)."""
        return self.layers[0]

    @property
    def last(self) -> np.ndarray:
        """$W_L$ (..., output, hidden)."""
        return self.layers[-1]

    @property
    def second(self) -> np.ndarray:
        """$W_2$ (..., output, hidden) of a network of two layers."""
        if self.depth != 2:
            raise ValueError(f"`second` exists for two layers: these weights have {self.depth}. Use `.last`.")
        return self.layers[1]

    @property
    def depth(self) -> int:
        """The number of layers $L$."""
        return len(self.layers)

    @property
    @representable
    def product(self) -> np.ndarray:
        """$A = W_L \\cdots W_1$ (..., output, input)."""
        return product_of(self.layers)

    @property
    @representable
    def above(self) -> np.ndarray:
        """$W_L \\cdots W_2$ (..., output, hidden), all but the first layer."""
        return product_of(self.layers[1:])

    @property
    def imbalance(self) -> np.ndarray:
        """$W_1 W_1^T - W_2^T W_2$ (..., hidden, hidden) of two layers, conserved by gradient flow."""
        if self.depth != 2:
            raise ValueError(f"`imbalance` exists for two layers: these weights have {self.depth}. Use `.imbalances`.")
        return self.imbalances[0]

    @property
    @representable
    def imbalances(self) -> tuple[np.ndarray, ...]:
        """$W_l W_l^T - W_{l+1}^T W_{l+1}$ for each hidden layer, L - 1 of them, conserved by gradient flow."""
        return tuple(
            below @ np.swapaxes(below, -1, -2) - np.swapaxes(above, -1, -2) @ above
            for below, above in itertools.pairwise(self.layers)
        )

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of units in each hidden layer, L - 1 of them."""
        return tuple(layer.shape[-2] for layer in self.layers[:-1])

    @property
    def width(self) -> int:
        """The number of units in the widest hidden layer that is held here (see `full_width`)."""
        return max(self.widths)

    @property
    def in_dim(self) -> int:
        """The number of inputs."""
        return self.first.shape[-1]

    @property
    def out_dim(self) -> int:
        """The number of outputs."""
        return self.last.shape[-2]

    @property
    def batch(self) -> int | None:
        """The size of the leading axis; None for a single network."""
        return self.first.shape[0] if self.first.ndim == 3 else None

    @classmethod
    def stack(cls, networks: Iterable[Weights]) -> Weights:
        """Return networks of one shape as a batch."""
        if not isinstance(networks, Iterable):
            raise ValueError(f"`networks` must be Weights of one shape, one or more: got {type(networks).__name__}.")
        members = [check_weights(member, "networks") for member in networks]
        shapes = {tuple(layer.shape for layer in member.layers) for member in members}
        if len(shapes) != 1:
            raise ValueError(
                f"`networks` must be one or more of one shape: got {sorted(shapes) if members else 'none'}."
            )
        widths = {member.full_width for member in members}
        stacked = [np.stack(layers) for layers in zip(*(member.layers for member in members), strict=True)]
        return cls(*stacked, full_width=widths.pop() if len(widths) == 1 else None)

    def __getitem__(self, index: Any) -> Weights:
        """Return one member (or several) along the leading axes."""
        if self.first.ndim < 3:
            raise IndexError("these weights are a single network: there is no leading axis to `index`.")
        no_mask("index", index)
        try:
            chosen = tuple(layer[index] for layer in self.layers)
        except (IndexError, OverflowError):
            raise IndexError(
                f"`index` must be within the leading axes {self.first.shape[:-2]}: got {shown(index)}."
            ) from None
        if chosen[0].ndim < 2:
            raise IndexError(f"`index` must leave whole networks, of leading axes {self.first.shape[:-2]} only.")
        return Weights.computed(*chosen, full_width=self.full_width)

    def __repr__(self) -> str:
        lead = f", batch={self.first.shape[:-2]}" if self.first.ndim > 2 else ""
        depth = "" if self.depth == 2 else f"depth={self.depth}, "
        widths = str(self.width) if len(set(self.widths)) == 1 else "-".join(map(str, self.widths))
        stands = "" if self.full_width == self.width else f" for {self.full_width}"
        return f"Weights({depth}width={widths}{stands}, in_dim={self.in_dim}, out_dim={self.out_dim}{lead})"


def product_of(layers: Sequence[Any]) -> Any:
    """$W_L \\cdots W_1$ of matrices in the order in which they act, from the side of fewer columns; NumPy or JAX."""
    if len(layers) > 2 and layers[-1].shape[-2] < layers[0].shape[-1]:
        return reduce(lambda above, below: above @ below, reversed(layers))
    return reduce(lambda below, above: above @ below, layers)


def check_weights(value: object, name: str = "weights") -> Weights:
    """Return weights of any depth in float64, whatever they were trained in; refuse what is not a `Weights`."""
    if not isinstance(value, Weights):
        kind = type(value).__name__
        hint = " Take one of its states: `trajectory.weights[-1]`." if kind == "Trajectory" else ""
        raise ValueError(f"`{name}` must be linnet Weights, made by `ln.Weights(W1, W2)`: got {kind}.{hint}")
    if all(layer.dtype == np.float64 for layer in value.layers):
        return value
    layers = (layer.astype(np.float64) for layer in value.layers)
    return Weights.computed(*layers, full_width=value.full_width)


def check_two_layers(value: object, name: str = "weights") -> Weights:
    """Return weights of two layers in float64; refuse others."""
    weights = check_weights(value, name)
    if weights.depth != 2:
        raise ValueError(f"`{name}` must have two layers, because this is known for two layers only: got {weights}.")
    return weights


def _layer_names(depth: int) -> list[str]:
    """Return how messages name the layers: W1 to WL."""
    return [f"W{index + 1}" for index in range(depth)]
