"""Settings of a linear model from an optimizer and a loss of PyTorch, or the reason why there are none."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class OptimizerSettings:
    """Learning rates and weight decays by the parameter's name, and the momentum they share."""

    rates: dict[str, float]
    decays: dict[str, float]
    momentum: float


def settings_of(optimizer: object, parameters: Mapping[str, nn.Parameter]) -> OptimizerSettings:
    """The settings of `parameters` in plain SGD before its first step; anything else is an error that says why."""
    if not isinstance(optimizer, torch.optim.SGD):
        name = type(optimizer).__name__
        raise ValueError(
            f"`optimizer` must be torch.optim.SGD: got {name}, whose steps are not linear in the gradient, so that no "
            "width can be reduced and no run forecast."
        )
    if inspect.unwrap(type(optimizer).step) is not inspect.unwrap(torch.optim.SGD.step):
        raise ValueError(
            f"`optimizer` must step as torch.optim.SGD does: {type(optimizer).__name__} has its own `step`."
        )
    if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
        raise ValueError("`optimizer` must have no hooks on its steps: they can change gradients or weights.")
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    group_of = {}
    for name, parameter in parameters.items():
        if id(parameter) not in groups:
            raise ValueError(
                f"`optimizer` must hold every trained parameter of the model: it lacks the parameter of the {name}."
            )
        group_of[name] = groups[id(parameter)]
        if optimizer.state.get(parameter):
            raise ValueError("`optimizer` must be before its first step: it already carries momentum.")
    for name, group in group_of.items():
        for option in ("nesterov", "maximize", "dampening"):
            if group.get(option):
                raise ValueError(
                    f"`optimizer` must be SGD without {option}: got {option}={group[option]} for the {name}."
                )
    momenta = {float(group["momentum"]) for group in group_of.values()}
    if len(momenta) != 1:
        raise ValueError(f"`optimizer` must have one momentum for all parameters: got {sorted(momenta)}.")
    if not 0 <= max(momenta) < 1:
        raise ValueError(f"`optimizer` must have a momentum below 1: got {max(momenta):g}.")
    rates = {name: float(group["lr"]) for name, group in group_of.items()}
    if min(rates["first"], rates["second"]) <= 0:
        raise ValueError(f"`optimizer` must have positive learning rates for both layers: got {rates}.")
    decays = {name: float(group["weight_decay"]) for name, group in group_of.items()}
    if not all(map(math.isfinite, [*rates.values(), *decays.values()])):
        raise ValueError(f"`optimizer` must have finite rates and decays: got {rates} and {decays}.")
    return OptimizerSettings(rates, decays, momenta.pop())


def loss_factor(loss: object, shape: tuple[int, int]) -> float:
    """Factor of the sum of squares: 1 for a sum, one over the number of entries for a mean."""
    if loss is None or loss is nn.functional.mse_loss:
        return 1 / float(np.prod(shape))
    if not isinstance(loss, nn.MSELoss):
        name = getattr(loss, "__name__", type(loss).__name__)
        raise ValueError(f"`loss` must be nn.MSELoss: got {name}, whose gradient is not linear in the outputs.")
    if loss.reduction not in ("mean", "sum"):
        raise ValueError(f"`loss` must be reduced to a number, by 'mean' or 'sum': got {loss.reduction!r}.")
    return 1.0 if loss.reduction == "sum" else 1 / float(np.prod(shape))
