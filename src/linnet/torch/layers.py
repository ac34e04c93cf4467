"""Two layers of a PyTorch model as linnet's weights."""

from __future__ import annotations

from typing import Any

import torch

from linnet.inits.weights import Weights


def weights(first: Any, second: Any) -> Weights:
    """The weights of two linear layers, the second applied to the first's output, in float64 and on the CPU.

    **Arguments:** `first` (hidden, input) and `second` (output, hidden): layers with a `weight`, parameters or
    tensors. Biases are no part of the pair.
    """
    return Weights(_matrix("first", first), _matrix("second", second))


def _matrix(name: str, layer: Any) -> Any:
    tensor = getattr(layer, "weight", layer)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"`{name}` must be a linear layer or a tensor: got {type(layer).__name__}.")
    if tensor.ndim != 2 or not tensor.is_floating_point():
        raise ValueError(f"`{name}` must be a matrix of real numbers: got {tuple(tensor.shape)} of {tensor.dtype}.")
    return tensor.detach().double().cpu().numpy()
