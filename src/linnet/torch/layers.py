"""Two layers of a PyTorch model as linnet's weights."""

from __future__ import annotations

from typing import Any

import torch

from linnet._arguments import layers
from linnet.inits.weights import Weights


def weights_of_layers(first: object, second: object) -> Weights:
    """Return the weights of two linear layers in float64 on the CPU; the second layer follows the first.

    With them every function of linnet can continue from a PyTorch model.

    **Arguments:**

    - `first`: (hidden, input), a layer with a `weight`, a parameter or a tensor; biases are no part of the pair
    - `second`: (output, hidden), likewise

    **Returns** `Weights` in float64.

    **Example:**

        >>> from linnet.torch import weights_of_layers
        >>> import torch
        >>> pair = weights_of_layers(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2))
        >>> pair.product.shape, pair.first.dtype.name
        ((2, 3), 'float64')
    """
    return Weights(*layers(first=_matrix("first", first), second=_matrix("second", second)))


def _matrix(name: str, layer: object) -> Any:
    """Return the weights of a linear layer, or a tensor, as a float64 matrix."""
    tensor = getattr(layer, "weight", layer)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"`{name}` must be a linear layer or a tensor: got {type(layer).__name__}.")
    if tensor.ndim != 2 or not tensor.is_floating_point():
        raise ValueError(f"`{name}` must be a matrix of real numbers: got {tuple(tensor.shape)} of {tensor.dtype}.")
    if tensor.is_meta or tensor.layout != torch.strided:
        lacking = "no values yet (the meta device)" if tensor.is_meta else f"the layout {tensor.layout}"
        raise ValueError(f"`{name}` must be a dense matrix with values: this one has {lacking}.")
    return tensor.detach().double().cpu().numpy()
