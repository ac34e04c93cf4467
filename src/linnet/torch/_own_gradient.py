"""Whether PyTorch trains a model as the two linear layers that it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from linnet.torch._linear_models import LinearModel


def check_gradient(model: nn.Module, linear: LinearModel, X: torch.Tensor, Y: torch.Tensor, loss: Any) -> None:
    """Refuse a model whose gradient is not that of its two layers.

    Outputs do not show what a hook, `detach`, `no_grad` or a backward pass of its own does to gradients. Both are
    compared at random parameters near the model's own, because some gradients vanish at those (B = 0 in an adapter).
    """
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for parameter in linear.parameters.values():
        hooks = [*(parameter._backward_hooks or {}).values()]
        hooks += [*(getattr(parameter, "_post_accumulate_grad_hooks", None) or {}).values()]
        if any(not (getattr(hook, "__module__", None) or "").startswith("linnet.") for hook in hooks):
            raise ValueError(f"`model` must have no hooks on the gradients of its weights: {names[id(parameter)]} has.")
    random = np.random.default_rng(0)
    near = {name: _near(parameter, random) for name, parameter in linear.parameters.items()}
    leaves = {names[id(linear.parameters[name])]: tensor for name, tensor in near.items()}
    with torch.enable_grad():
        output = torch.func.functional_call(model, leaves, (X,))
        value = loss(output, Y.reshape(output.shape).to(output.dtype))
        found = torch.autograd.grad(value, list(near.values()), allow_unused=True) if value.requires_grad else ()
    targets = _matrix(Y)
    factor = 1.0 if getattr(loss, "reduction", "mean") == "sum" else 1 / targets.size
    arrays = {name: tensor.detach().double().cpu().numpy() for name, tensor in near.items()}
    wanted = _gradients(linear, arrays, targets, factor, lambda values: values, np.subtract)
    sizes = _gradients(linear, arrays, targets, factor, np.abs, np.add)
    for (name, tensor), gradient in zip(near.items(), found or [None] * len(near), strict=True):
        got = np.zeros(tensor.shape) if gradient is None else gradient.double().cpu().numpy()
        off = float((np.abs(got - wanted[name]) / np.maximum(sizes[name], 1e-300)).max())
        if not off <= torch.finfo(tensor.dtype).eps ** 0.5:
            raise ValueError(
                f"`model` must train as two linear layers: PyTorch's gradient of {names[id(linear.parameters[name])]} "
                f"is not theirs, off by a fraction of {off:.1g}. Does a hook, `detach`, noise or a `forward`, "
                "`backward` or loss of your own change it?"
            )


def _near(parameter: nn.Parameter, random: np.random.Generator) -> torch.Tensor:
    """Return parameters that differ from these by about their own size, with gradients of their own."""
    size = float(parameter.detach().double().square().mean().sqrt()) or parameter.shape[-1] ** -0.5
    noise = torch.as_tensor(random.normal(0, size, tuple(parameter.shape)))
    return (parameter.detach() + noise.to(parameter)).requires_grad_()


def _gradients(
    linear: LinearModel,
    arrays: dict[str, np.ndarray],
    targets: np.ndarray,
    factor: float,
    part: Callable[[np.ndarray], np.ndarray],
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> dict[str, np.ndarray]:
    """Return the gradients of the layers by name; with `abs` and `add` for the last two, the sum of their terms' sizes,
    to which rounding is relative."""
    first, second = part(arrays["first"]), linear.scale * part(arrays["second"])
    features = part(linear.features)
    hidden = features @ first.T + part(arrays.get("first_bias", np.zeros(1)))
    output = hidden @ second.T + part(arrays.get("second_bias", np.zeros(1))) + part(linear.fixed)
    residual = 2 * factor * compare(output, part(targets))
    inner = residual @ second
    return {
        "first": inner.T @ features,
        "second": linear.scale * residual.T @ hidden,
        "first_bias": inner.sum(axis=0),
        "second_bias": residual.sum(axis=0),
    }


def _matrix(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor as rows of its last axis."""
    return tensor.reshape(-1, tensor.shape[-1]).detach().double().cpu().numpy()
