"""Models that are two linear layers and nothing else that learns: their parts, or the part that is not linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from linnet.lora.reading import lora_factors
from linnet.torch._tracing import functions_in_forward

_NORMS = (nn.modules.batchnorm._BatchNorm,)


@dataclass(frozen=True, eq=False)
class LinearModel:
    r"""A model that computes $B\,s(A z + a) + b$ plus a fixed part, z being fixed features of its inputs.

    - `features` (sample, input) z and `fixed` (sample, output), what the frozen weights contribute.
    - `first` A (hidden, input), `second` B (output, hidden), `first_bias` a and `second_bias` b (None where there is
      none or it is frozen), as parameters; `scale` s.
    """

    features: np.ndarray
    fixed: np.ndarray
    first: nn.Parameter
    second: nn.Parameter
    first_bias: nn.Parameter | None
    second_bias: nn.Parameter | None
    scale: float

    @property
    def parameters(self) -> dict[str, nn.Parameter]:
        """Trained parameters, by name."""
        parameters = {
            "first": self.first,
            "second": self.second,
            "first_bias": self.first_bias,
            "second_bias": self.second_bias,
        }
        return {name: parameter for name, parameter in parameters.items() if parameter is not None}


def linear_model(model: nn.Module, X: torch.Tensor) -> LinearModel:
    """Reads `model` on the inputs `X`, by running it once and checking that its outputs are what the two layers say.

    Refused, with what is not linear about it: dropout and batch statistics in training mode, anything between or after
    the two layers, other trained parameters, one layer or three.
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"`model` must be a PyTorch module: got {type(model).__name__}.")
    _refuse_randomness(model)
    trained = {id(p): name for name, p in model.named_parameters() if p.requires_grad}
    if not trained:
        raise ValueError("`model` must have trained parameters: all of them are frozen.")
    for name, parameter in model.named_parameters():
        if parameter.is_meta or not torch.isfinite(parameter).all():
            lacking = "no values yet (the meta device)" if parameter.is_meta else "NaN or infinities"
            raise ValueError(f"`model` must have finite parameters: {name} has {lacking}.")
    _refuse_tied(model, trained)
    adapters = [
        (name, m) for name, m in model.named_modules() if any(p.requires_grad for _, *f in lora_factors(m) for p in f)
    ]
    if adapters:
        return _read_adapter(model, adapters, trained, X)
    layers = [(name, m) for name, m in model.named_modules() if isinstance(m, nn.Linear) and m.weight.requires_grad]
    _refuse_others(trained, [p for _, m in layers for p in m.parameters()], model)
    if len(layers) != 2:
        names = ", ".join(name or "itself" for name, _ in layers) or "none"
        raise ValueError(
            f"`model` must have two trained linear layers, a two-layer linear network: got {len(layers)} ({names})."
        )
    return _read_two_layers(model, layers, X)


def _refuse_tied(model: nn.Module, trained: dict[int, str]) -> None:
    """Refuse a model in which a trained parameter is in two places, or is made from others."""
    places: dict[int, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        memory = parameter.untyped_storage().data_ptr()
        other = places.setdefault(memory, name)
        if memory and other != name and id(parameter) in trained:
            raise ValueError(f"`model` must have two separate weights: {other} and {name} are tied.")
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and "weight" not in module._parameters:
            raise ValueError(
                f"`model` must train its weights themselves: the weight of {_module_label(name, module)} is computed "
                "from other parameters (weight_norm, spectral_norm, orthogonal, prune)."
            )


def _refuse_randomness(model: nn.Module) -> None:
    """Refuse a model whose outputs depend on chance or on the batch."""
    for name, module in model.named_modules():
        if not module.training:
            continue
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0:
            raise ValueError(
                f"`model` must be deterministic: {_module_label(name, module)} drops at random. Set p = 0, or "
                ".eval() it."
            )
        if isinstance(module, _NORMS):
            raise ValueError(
                f"`model` must not depend on the batch: {_module_label(name, module)} normalizes by it. .eval() it."
            )


def _module_label(name: str, module: nn.Module) -> str:
    """Return the kind and the name of a module, for a message."""
    return f"{type(module).__name__} {name!r}" if name else type(module).__name__


def _refuse_others(trained: dict[int, str], known: list[Any], model: nn.Module) -> None:
    """Refuse a model that trains anything besides the two layers."""
    others = [name for key, name in trained.items() if key not in {id(p) for p in known}]
    if others:
        owner = type(model.get_submodule(others[0].rpartition(".")[0])).__name__
        raise ValueError(
            f"`model` must train two linear layers and nothing else: it also trains {', '.join(others[:4])} (of "
            f"{owner}), which is not linear in the inputs. Freeze it, or leave it out."
        )


def _record_calls(
    model: nn.Module, X: torch.Tensor, layers: list[nn.Module]
) -> tuple[torch.Tensor, list[Any], list[str]]:
    """The model's output, (layer, input, output) of `layers` as they are called, and names of all modules as called."""
    calls: list[Any] = []
    order: list[str] = []
    handles = []
    for name, module in model.named_modules():
        if not list(module.children()) or module in layers:
            handles.append(
                module.register_forward_hook(lambda m, i, o, name=name: order.append(_module_label(name, m)))
            )
    for layer in layers:
        handles.append(layer.register_forward_hook(lambda m, i, o: calls.append((m, i[0].detach(), o.detach()))))
    try:
        with torch.no_grad():
            output = model(X)
    except Exception as reason:  # whatever a model of somebody else raises
        cause = " ".join(str(reason).split())[:300]
        raise ValueError(
            f"`model` must take the inputs `X`, {tuple(X.shape)} of {X.dtype}: it raised {type(reason).__name__}: "
            f"{cause}"
        ) from reason
    finally:
        for handle in handles:
            handle.remove()
    if not isinstance(output, torch.Tensor):
        raise ValueError(f"`model` must return a tensor: got {type(output).__name__}.")
    if not torch.isfinite(output).all():
        raise ValueError("`model` must give finite outputs for these inputs (`X`): it gives NaN or infinities.")
    if [call[0] for call in calls].count(layers[0]) != 1 or len(calls) != len(layers):
        raise ValueError(
            f"`model` must use each trained layer once: {len(calls)} calls of {len(layers)} layers were seen."
        )
    return output, calls, order


def _read_two_layers(model: nn.Module, layers: list[tuple[str, nn.Module]], X: torch.Tensor) -> LinearModel:
    """Read a model of two linear layers, checking that nothing lies between them or after them."""
    names = {id(m): _module_label(name, m) for name, m in layers}
    output, calls, order = _record_calls(model, X, [m for _, m in layers])
    (first, z, hidden), (second, entering, leaving) = calls
    _check_unchanged(
        model,
        entering,
        hidden,
        f"between {names[id(first)]} and {names[id(second)]}",
        order,
        names[id(first)],
        names[id(second)],
    )
    _check_unchanged(model, output, leaving, f"after {names[id(second)]}", order, names[id(second)], None)
    fixed = torch.zeros_like(_flat(leaving))
    first_bias, second_bias = (b if b is not None and b.requires_grad else None for b in (first.bias, second.bias))
    if first.bias is not None and first_bias is None:
        raise ValueError(
            f"`model` must train the bias of {names[id(first)]} or have none: it is frozen while the weight learns."
        )
    if second.bias is not None and second_bias is None:
        fixed = fixed + second.bias.detach()
    return LinearModel(_float64(z), _float64(fixed), first.weight, second.weight, first_bias, second_bias, 1.0)


def _read_adapter(model: nn.Module, adapters: list[Any], trained: dict[int, str], X: torch.Tensor) -> LinearModel:
    """Read a model that trains one LoRA adapter; the frozen layers around it are the fixed part."""
    name, module = adapters[0]
    factors = [f for f in lora_factors(module) if f[1].requires_grad or f[2].requires_grad]
    if len(adapters) != 1 or len(factors) != 1:
        raise ValueError(
            f"`model` must have one trained adapter: got {sum(len(lora_factors(m)) for _, m in adapters)}."
        )
    adapter, first, second = factors[0]
    if getattr(module, "use_dora", {}).get(adapter, False):
        raise ValueError("`model` must be linear in its adapter: DoRA divides by the norm of the adapted matrix.")
    bias = getattr(module.lora_B[adapter], "bias", None) if adapter in getattr(module, "lora_B", {}) else None
    if bias is not None and bias.requires_grad:
        raise ValueError("`model` must have an adapter without a bias: `lora_bias` is not supported here.")
    _refuse_others(trained, [first, second], model)
    output, [(_, z, leaving)], order = _record_calls(model, X, [module])
    _check_unchanged(
        model, output, leaving, f"after {_module_label(name, module)}", order, _module_label(name, module), None
    )
    scale = float(module.scaling[adapter])
    with torch.no_grad():
        fixed = _flat(leaving) - scale * _flat(z) @ first.T @ second.T
    return LinearModel(_float64(z), _float64(fixed), first, second, None, None, scale)


def _check_unchanged(
    model: nn.Module,
    got: torch.Tensor,
    wanted: torch.Tensor,
    where: str,
    order: list[str],
    begin: str,
    end: str | None,
) -> None:
    """Refuse a model in which something changes the values between two places, and name it."""
    if got.numel() == wanted.numel():
        a, b = _flat(got).double(), _flat(wanted).double()
        if a.shape == b.shape and torch.allclose(a, b, rtol=1e-6, atol=1e-6 * float(b.abs().max())):
            return
    start = order.index(begin) + 1
    between = [name for name in (order[start : order.index(end)] if end else order[start:]) if "Linear" not in name]
    functions = ", ".join(functions_in_forward(model))
    what = ", ".join(between) or f"a function in its `forward`{f' (it calls {functions})' if functions else ''}"
    raise ValueError(f"`model` must be linear: {where} there is {what}, which changes the values.")


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor as rows of its last axis."""
    return tensor.reshape(-1, tensor.shape[-1])


def _float64(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor as a float64 matrix."""
    return _flat(tensor).detach().double().cpu().numpy()
