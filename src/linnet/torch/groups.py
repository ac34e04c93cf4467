"""Parameter groups of an optimizer that give A and B of every adapter the settings of an `Adapter`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from linnet._arguments import of_kind
from linnet.lora.adapter import Adapter
from linnet.lora.reading import label_of, lora_factors


def parameter_groups(model: nn.Module, adapter: Adapter | Mapping[str, Adapter]) -> list[dict[str, Any]]:
    """Return the trainable parameters of a peft model as two groups, A and B, with their rates, decays and epsilons.

    Give them to the optimizer. `ln.lora.equivalent` computes the settings.

    What else is trained (magnitudes of DoRA, heads) is a third group with A's settings.

    A bias of B belongs to B: it is multiplied by the same scale.

    **Arguments:**

    - `model`: model of peft
    - `adapter`: the settings, such as `ln.lora.equivalent(...)` finds them, of the rank and scale that every adapter of
      the model has; where the model mixes ranks or alphas, a mapping from the names of `ln.lora.read(model)`, and there
      is one group for each distinct setting

    **Returns** what a PyTorch optimizer takes as its parameters.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.torch import parameter_groups
        >>> import torch
        >>> from peft import LoraConfig, get_peft_model
        >>> settings = LoraConfig(r=8, lora_alpha=64, target_modules=["0"])
        >>> model = get_peft_model(torch.nn.Sequential(torch.nn.Linear(16, 16)), settings)
        >>> adapter = ln.lora.Adapter(rank=8, alpha=16, optimizer="adamw", learning_rate_a=1e-4)
        >>> groups = parameter_groups(model, ln.lora.equivalent(adapter, alpha=64).adapter)
        >>> [group["lr"] for group in groups]  # with four times alpha, a quarter of the rate for B
        [0.0001, 2.5e-05]
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"`model` must be a PyTorch module: got {type(model).__name__}.")
    named = adapter if isinstance(adapter, Mapping) else None
    options: dict[int, tuple[str, dict[str, float]]] = {}
    misfits, checked = [], None
    for path, module in model.named_modules():
        for name, first, second in lora_factors(module):
            label = label_of(path, name)
            given = adapter if named is None else named.get(label)
            if given is None:
                raise ValueError(f"`adapter` must have every adapter of the model by name: it lacks {label!r}.")
            checked = _check_rates(given)
            rank, scale = first.shape[0], float(module.scaling[name])  # type: ignore[index]
            if rank != checked.rank or not np.isclose(scale, checked.scale, rtol=1e-6):
                misfits.append(f"{label} has rank {rank} and s = {scale:.4g}")
            options[id(first)] = "A", _options(checked, "a")
            options[id(second)] = "B", _options(checked, "b")
            layer = getattr(module, "lora_B", {})
            bias = getattr(layer[name], "bias", None) if name in layer else None
            if bias is not None:
                options[id(bias)] = options[id(second)]
    if checked is None:
        raise ValueError("`model` must hold LoRA adapters: none of its modules has `lora_A` and `lora_B`.")
    if misfits:
        wanted = "those named" if named is not None else f"rank {checked.rank} and s = {checked.scale:.4g}"
        raise ValueError(
            f"`adapter` must fit every adapter of the model, {wanted}: {misfits[0]}"
            f"{f', and {len(misfits) - 1} more differ' if len(misfits) > 1 else ''}. Give a mapping from the names of "
            "`ln.lora.read(model)` to the settings of each."
        )
    members: dict[tuple[Any, ...], list[nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            side, settings = options.get(id(parameter), ("others", _options(checked, "a")))
            members.setdefault((side, *settings.items()), []).append(parameter)
    return [{"params": members[key], **dict(key[1:])} for key in sorted(members, key=lambda key: key[0])]


def _check_rates(adapter: Any) -> Adapter:
    """Return the adapter, refused where it has no learning rates."""
    if of_kind("adapter", adapter, Adapter, "`ln.lora.Adapter(...)`").learning_rate_a is None:
        raise ValueError("`adapter` must have learning rates: give `learning_rate_a`.")
    return adapter


def _options(adapter: Adapter, side: str) -> dict[str, float]:
    """Return the optimizer's options for A's or B's group, in PyTorch's names."""
    options = {
        "lr": getattr(adapter, f"learning_rate_{side}"),
        "weight_decay": getattr(adapter, f"weight_decay_{side}"),
    }
    if adapter.optimizer == "sgd":
        return options | {"momentum": adapter.momentum}
    return options | {"eps": getattr(adapter, f"eps_{side}")}
