"""Parameter groups of an optimizer that give A and B of every adapter the settings of an `Adapter`."""

from __future__ import annotations

from typing import Any

from torch import nn

from linnet._arguments import of_kind
from linnet.lora.adapter import Adapter
from linnet.lora.reading import lora_factors


def parameter_groups(model: nn.Module, adapter: Adapter) -> list[dict[str, Any]]:
    """The trainable parameters of a peft model as two groups, A's and B's, with their rates, decays and epsilons.

    What else is trained (magnitudes of DoRA, heads) is a third group with A's settings.

    A bias of B belongs to B: it is multiplied by the same scale.

    **Arguments:**

    - `model`: of peft
    - `adapter`: the settings, such as `ln.lora.equivalent(...)` finds them

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
    if of_kind("adapter", adapter, Adapter, "`ln.lora.Adapter(...)`").learning_rate_a is None:
        raise ValueError("`adapter` must have learning rates: give `learning_rate_a`.")
    sides: dict[int, str] = {}
    for module in model.modules():
        for name, first, second in lora_factors(module):
            sides[id(first)], sides[id(second)] = "A", "B"
            layer = getattr(module, "lora_B", {})
            bias = getattr(layer[name], "bias", None) if name in layer else None
            if bias is not None:
                sides[id(bias)] = "B"
    if not sides:
        raise ValueError("`model` must hold LoRA adapters: none of its modules has `lora_A` and `lora_B`.")
    members: dict[str, list[nn.Parameter]] = {"A": [], "B": [], "others": []}
    for parameter in model.parameters():
        if parameter.requires_grad:
            members[sides.get(id(parameter), "others")].append(parameter)
    return [
        {"params": found, **_options(adapter, "b" if side == "B" else "a")} for side, found in members.items() if found
    ]


def _options(adapter: Adapter, side: str) -> dict[str, float]:
    options = {
        "lr": getattr(adapter, f"learning_rate_{side}"),
        "weight_decay": getattr(adapter, f"weight_decay_{side}"),
    }
    if adapter.optimizer == "sgd":
        return options | {"momentum": adapter.momentum}
    return options | {"eps": getattr(adapter, f"eps_{side}")}
