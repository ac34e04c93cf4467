"""Linear layers that follow each other in a model's own `forward`, found by tracing it without data."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import fx, nn

_KEEPING_MODULES = (nn.Identity, nn.Dropout)  # between two linear layers these leave them a pair (a dropout on average)
_KEEPING_FUNCTIONS = (nn.functional.dropout,)
# Where modules and functions are defined, or what they are called, that change values between two layers.
_CHANGING_MODULES = ("torch.nn.modules.activation", "torch.nn.modules.normalization", "torch.nn.modules.batchnorm")
_CHANGING_NAMES = {
    *("relu", "relu_", "leaky_relu", "gelu", "silu", "elu", "selu", "celu", "mish", "tanh", "sigmoid", "softmax"),
    *("log_softmax", "softplus", "hardtanh", "relu6", "abs", "square", "pow", "exp", "sin", "cos", "clamp"),
    *("layer_norm", "batch_norm", "group_norm", "rms_norm", "normalize"),
}


@dataclass(frozen=True)
class LayerGraph:
    """What tracing has found of the linear layers of a model, by their names.

    - `consecutive`: (first, second) of which the second takes the first's output, and nothing else does
    - `interrupted`: operations that lie between the layers of a pair, by pair
    - `traced`: the layers of all parts that could be traced
    """

    consecutive: dict[tuple[str, str], None] = field(default_factory=dict)
    interrupted: dict[tuple[str, str], str] = field(default_factory=dict)
    traced: set[str] = field(default_factory=set)


def layer_graph(model: nn.Module, known: Collection[int] = ()) -> LayerGraph:
    """Trace a model, leaving out layers whose parameters are `known` by their `id`.

    A part of the model whose `forward` cannot be traced (it branches on values, say) is passed over, and the parts
    inside it are traced one by one.
    """
    found = LayerGraph()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of a tracer that wants to run the graph
        _trace_into(found, model, "", known)
    return found


def _trace_into(found: LayerGraph, module: nn.Module, name: str, known: Collection[int]) -> None:
    """Add the linear layers inside a module to the layers `found`, by tracing it, or its parts where that fails."""
    layers = [part for part in module.modules() if type(part) is nn.Linear and id(part.weight) not in known]
    if len(layers) < 2 or not any(layer.weight.requires_grad for layer in layers):
        return
    tracer = _Tracer()
    try:
        # Tracing calls `forward`, which may keep what it sees: it gets a copy that shares the parameters.
        tensors = [*module.parameters(), *module.buffers()]
        double = copy.deepcopy(module, {id(tensor): tensor for tensor in tensors})
        graph = tracer.trace(double, concrete_args=_default_arguments(double))
    except Exception:  # whatever a model of somebody else raises
        inside = {f".{child}": part for child, part in module.named_children()}
    else:
        inside = {
            f".{path}.{child}": part
            for path in tracer.failed
            for child, part in module.get_submodule(path).named_children()
        }
        for first, second, between in _rows_in_graph(module, graph):
            if any(layer.startswith(f"{path}.") for layer in (first, second) for path in tracer.failed):
                continue
            pair = f"{name}.{first}".removeprefix("."), f"{name}.{second}".removeprefix(".")
            if between:
                found.interrupted[pair] = between
            else:
                found.consecutive[pair] = None
        for node in graph.nodes:
            if _is_linear(module, node):
                found.traced.add(f"{name}.{node.target}".removeprefix("."))
    for path, part in inside.items():
        _trace_into(found, part, f"{name}{path}".removeprefix("."), known)


def _default_arguments(module: nn.Module) -> dict[str, Any]:
    """Arguments of `forward` that have a default: they keep it."""
    parameters = inspect.signature(module.forward).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}


class _Tracer(fx.Tracer):
    """Goes through modules of any kind; those whose `forward` fails are one step of the graph, named in `failed`."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: list[str] = []

    def call_module(self, m: nn.Module, forward: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Trace a module; one whose `forward` fails becomes one node."""
        try:
            return super().call_module(m, forward, args, kwargs)
        except Exception:  # as above
            path = self.path_of_module(m)
            self.failed = [*(known for known in self.failed if not known.startswith(f"{path}.")), path]
            return self.create_proxy("call_module", path, args, kwargs)


def _rows_in_graph(module: nn.Module, graph: fx.Graph) -> Iterator[tuple[str, str, str]]:
    """Yield linear layers in a row, each called once, of which the first's output goes nowhere else, and what changes
    the values between them (nothing: empty)."""
    called = Counter(node.target for node in graph.nodes if node.op == "call_module")
    for node in graph.nodes:
        if not _is_linear(module, node) or called[node.target] != 1:
            continue
        between, after = "", _only_user(node)
        while after is not None and (_keeps_values(module, after) or _name_of_change(module, after)):
            between = between or _name_of_change(module, after)
            after = _only_user(after)
        if after is not None and _is_linear(module, after) and called[after.target] == 1:
            yield str(node.target), str(after.target), between


def _name_of_change(module: nn.Module, node: fx.Node) -> str:
    """Return what a node that changes values one by one, or normalizes them, is called; empty for any other."""
    if node.op == "call_module":
        kind = type(module.get_submodule(str(node.target)))
        changes = kind.__module__ in _CHANGING_MODULES and kind is not nn.MultiheadAttention
        return kind.__name__ if changes else ""
    name = str(node.target if node.op == "call_method" else getattr(node.target, "__name__", ""))
    return name if node.op in ("call_function", "call_method") and name in _CHANGING_NAMES else ""


def functions_in_forward(model: nn.Module) -> list[str]:
    """Names of the functions and methods that the `forward` of a model calls on tensors, as far as it can be traced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            graph = _Tracer().trace(copy.deepcopy(model), concrete_args=_default_arguments(model))
        except Exception:  # whatever a model of somebody else raises
            return []
    called = [node.target for node in graph.nodes if node.op in ("call_function", "call_method")]
    return list(dict.fromkeys(str(getattr(target, "__name__", target)) for target in called))


def _only_user(node: fx.Node) -> fx.Node | None:
    """Return the only node that takes this one's output, None where there are several."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def _is_linear(module: nn.Module, node: fx.Node) -> bool:
    """Return whether a node calls a linear layer."""
    return node.op == "call_module" and type(module.get_submodule(str(node.target))) is nn.Linear


def _keeps_values(module: nn.Module, node: fx.Node) -> bool:
    """Return whether a node leaves its input as it is, on average."""
    if node.op == "call_module":
        return isinstance(module.get_submodule(str(node.target)), _KEEPING_MODULES)
    return node.op == "call_function" and node.target in _KEEPING_FUNCTIONS
