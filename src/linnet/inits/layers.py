"""The layers of a network of any depth."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, no_mask, real_array, representable, shown
from linnet.inits.weights import Weights, check_weights


@dataclass(frozen=True, eq=False)
class Layers:
    r"""The layers of a network $f(x) = W_L \cdots W_2 W_1 x$.

    **Arguments:**

    - `layers`: $W_1, \dots, W_L$, two or more; $W_1$ is (..., hidden, input), $W_L$ (..., output, hidden), and each
      has one column for each row of the one before; leading axes are a batch
    - `full_width`: the hidden width of the network that they stand for; their own, unless drawn in reduced form

    `.product` is $W_L \cdots W_1$, `.depth` is $L$, `.imbalances` are the $L - 1$ conserved
    $W_l W_l^T - W_{l+1}^T W_{l+1}$, `.width` is the largest hidden width and `.widths` are all of them. Two layers
    convert to `Weights` by `.to_weights()`, and `Layers.from_weights(weights)` leads back.

    **Example:**

        >>> from linnet.inits import Layers
        >>> layers = Layers([[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]], [[3.0, 1.0]]])
        >>> layers.depth, layers.width, layers.product.tolist()
        (3, 2, [[3.0, 8.0]])
    """

    layers: tuple[np.ndarray, ...]
    full_width: int

    def __init__(self, layers: Sequence[ArrayLike], *, full_width: int | None = None) -> None:
        if isinstance(layers, Weights):
            raise ValueError("`layers` must be a list of matrices: got Weights. Use `Layers.from_weights(weights)`.")
        if isinstance(layers, (str, bytes, dict)) or not isinstance(layers, (Sequence, np.ndarray, Iterable)):
            raise ValueError(f"`layers` must be a list of matrices, W1 to WL: got {shown(layers)}.")
        given = list(layers)
        if len(given) < 2:
            raise ValueError(
                f"`layers` must be two or more matrices: got {len(given)}. One layer is linear regression: see "
                "`Problem.min_norm_solution`."
            )
        arrays = tuple(real_array(f"layers[{index}]", layer) for index, layer in enumerate(given))
        for index, layer in enumerate(arrays):
            if layer.ndim < 2:
                raise ValueError(f"`layers[{index}]` must be a matrix (..., to, from): got shape {layer.shape}.")
        for index, (below, above) in enumerate(itertools.pairwise(arrays)):
            if above.shape[-1] != below.shape[-2]:
                raise ValueError(
                    f"`layers[{index + 1}]` must have as many columns as `layers[{index}]` has rows: got shapes "
                    f"{above.shape} and {below.shape}."
                )
            if above.shape[:-2] != below.shape[:-2]:
                raise ValueError(
                    f"`layers` must share their leading axes: got shapes {below.shape} (`layers[{index}]`) and "
                    f"{above.shape} (`layers[{index + 1}]`)."
                )
        object.__setattr__(self, "layers", arrays)
        widest = max(layer.shape[-2] for layer in arrays[:-1])
        object.__setattr__(self, "full_width", widest if full_width is None else count("full_width", full_width))

    @classmethod
    def computed(cls, layers: Iterable[np.ndarray], *, full_width: int | None = None) -> Layers:
        """Layers that a trainer computed, as they are: in its precision, and NaN where a run did not get there."""
        made = object.__new__(cls)
        object.__setattr__(made, "layers", tuple(layers))
        object.__setattr__(made, "full_width", made.width if full_width is None else full_width)
        return made

    @classmethod
    def from_weights(cls, weights: Weights) -> Layers:
        """The two layers of `weights`."""
        if not isinstance(weights, Weights):
            raise ValueError(f"`weights` must be linnet Weights: got {type(weights).__name__}.")
        if not (np.isfinite(weights.first).all() and np.isfinite(weights.second).all()):
            raise ValueError("`weights` must be finite: these have NaN or infinities, as of a run that diverged.")
        return cls.computed((weights.first, weights.second), full_width=weights.full_width)

    def to_weights(self) -> Weights:
        """The same network as `Weights`, where it has two layers."""
        if self.depth != 2:
            raise ValueError(f"`Weights` are two layers: this network has {self.depth}.")
        return Weights.computed(self.first, self.last, full_width=self.full_width)

    @property
    def first(self) -> np.ndarray:
        """$W_1$ (..., hidden, input)."""
        return self.layers[0]

    @property
    def last(self) -> np.ndarray:
        """$W_L$ (..., output, hidden)."""
        return self.layers[-1]

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
    @representable
    def imbalances(self) -> tuple[np.ndarray, ...]:
        """$W_l W_l^T - W_{l+1}^T W_{l+1}$ for every hidden layer, L - 1 of them, conserved by the gradient flow."""
        pairs = zip(self.layers[:-1], self.layers[1:], strict=True)
        return tuple(below @ np.swapaxes(below, -1, -2) - np.swapaxes(above, -1, -2) @ above for below, above in pairs)

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of units of each hidden layer, L - 1 of them."""
        return tuple(layer.shape[-2] for layer in self.layers[:-1])

    @property
    def width(self) -> int:
        """The number of units of the widest hidden layer."""
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
    def stack(cls, networks: Iterable[Layers]) -> Layers:
        """Networks of one shape as a batch."""
        if not isinstance(networks, Iterable):
            raise ValueError(f"`networks` must be Layers of one shape, one or more: got {type(networks).__name__}.")
        members = [check_layers(member, "networks") for member in networks]
        shapes = {tuple(layer.shape for layer in member.layers) for member in members}
        if len(shapes) != 1:
            raise ValueError(
                f"`networks` must be one or more of one shape: got {sorted(shapes) if members else 'none'}."
            )
        widths = {member.full_width for member in members}
        stacked = [np.stack(layers) for layers in zip(*(member.layers for member in members), strict=True)]
        return cls(stacked, full_width=widths.pop() if len(widths) == 1 else None)

    def __getitem__(self, index: Any) -> Layers:
        """One member (or several) along the leading axes."""
        if self.first.ndim < 3:
            raise IndexError("these layers are a single network: there is no leading axis to `index`.")
        no_mask("index", index)
        try:
            chosen = tuple(layer[index] for layer in self.layers)
        except (IndexError, OverflowError):
            raise IndexError(
                f"`index` must be within the leading axes {self.first.shape[:-2]}: got {shown(index)}."
            ) from None
        if chosen[0].ndim < 2:
            raise IndexError(f"`index` must leave whole networks, of leading axes {self.first.shape[:-2]} only.")
        return Layers.computed(chosen, full_width=self.full_width)

    def __repr__(self) -> str:
        lead = f", batch={self.first.shape[:-2]}" if self.first.ndim > 2 else ""
        widths = str(self.width) if len(set(self.widths)) == 1 else "-".join(map(str, self.widths))
        stands = "" if self.full_width == self.width else f" for {self.full_width}"
        return f"Layers(depth={self.depth}, width={widths}{stands}, in_dim={self.in_dim}, out_dim={self.out_dim}{lead})"


def layer_arrays(weights: Weights | Layers) -> tuple[np.ndarray, ...]:
    """The matrices of a network, from the first to the last."""
    return weights.layers if isinstance(weights, Layers) else (weights.first, weights.second)


def product_of(layers: Sequence[Any]) -> Any:
    """$W_L \\cdots W_1$ of matrices in the order in which they act, from the side of fewer columns; NumPy or JAX."""
    if len(layers) > 2 and layers[-1].shape[-2] < layers[0].shape[-1]:
        return reduce(lambda above, below: above @ below, reversed(layers))
    return reduce(lambda below, above: above @ below, layers)


def check_layers(value: object, name: str = "layers") -> Layers:
    """The layers in float64, whatever they were trained in; `Weights` become two layers, anything else is refused."""
    if isinstance(value, Weights):
        return Layers.from_weights(check_weights(value, name))
    if not isinstance(value, Layers):
        kind = type(value).__name__
        hint = " Take one of its states: `trajectory.weights[-1]`." if kind == "Trajectory" else ""
        raise ValueError(f"`{name}` must be linnet Layers, made by `ln.Layers([W1, ..., WL])`: got {kind}.{hint}")
    if all(layer.dtype == np.float64 for layer in value.layers):
        return value
    return Layers.computed((layer.astype(np.float64) for layer in value.layers), full_width=value.full_width)
