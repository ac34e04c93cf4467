"""Pairs of linear layers in a PyTorch model: LoRA adapters, layers in a row, the products inside attention heads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from linnet._arguments import count, shown
from linnet.lora.reading import label_of, lora_factors
from linnet.torch._tracing import LayerGraph, layer_graph

View = Callable[[torch.Tensor], torch.Tensor]

HOOKED = "a hook may change what passes from one layer to the other; if it does not, name the pair in `pairs`"
COMPUTED = "its weight is computed from other parameters (weight_norm, spectral_norm, orthogonal, prune)"
# Names of the layers inside one attention module; a user's own go in front of them or replace them.
HEADS: dict[str, tuple[tuple[str, str], ...]] = {
    "value-output": (("v_proj", "o_proj"), ("v_proj", "out_proj"), ("value", "output"), ("v_lin", "out_lin")),
    "query-key": (("q_proj", "k_proj"), ("query", "key"), ("q_lin", "k_lin")),
}


@dataclass(frozen=True, eq=False)
class Pair:
    r"""Two factors of one product $s\,W_2 W_1$: parameters, and which part of each is meant.

    **Attributes:**

    - `name`: name of the pair
    - `kind`: `"lora"`, `"linear"`, `"value-output"`, `"query-key"` or `"named"`
    - `first`, `second`: the parameters
    - `rows_of_first`, `rows_of_second`: give $W_1$ (hidden, input) and $W_2^T$ (hidden, output) as views of them, or of
      anything of their shape (a gradient, an earlier copy)
    - `scale`: $s$

    **Example:**

        >>> from linnet.torch import find_pairs
        >>> import torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2))
        >>> (pair,), unseen = find_pairs(model)
        >>> pair.kind, tuple(pair.rows_of_second(pair.second).shape)
        ('linear', (6, 2))
    """

    name: str
    kind: str
    first: torch.Tensor
    second: torch.Tensor
    rows_of_first: View
    rows_of_second: View
    scale: float = 1.0

    @property
    def width(self) -> int:
        """The hidden dimension: an adapter's rank, a head's size."""
        return self.rows_of_first(self.first).shape[0]

    @property
    def trained(self) -> bool:
        """Whether one of the two factors is trained, that is, not frozen."""
        return self.first.requires_grad or self.second.requires_grad


def find_pairs(
    model: nn.Module,
    pairs: str | Iterable[tuple[str, str]] = "auto",
    *,
    heads: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    max_width: int = 512,
) -> tuple[list[Pair], dict[str, str]]:
    """Find the pairs of linear layers of a model, and name the pairs that cannot be read, each with the reason.

    `PairMonitor` calls it; call it first to see what will be watched.

    **Arguments:**

    - `model`: module to search.
    - `pairs`: "auto" for LoRA adapters, for linear layers of which the second takes the first's output and nothing
      else does (in an `nn.Sequential` or in any `forward` that `torch.fx` can trace), and for the value/output and
      query/key products of attention heads; or a list of (first, second), names of layers, where `*` stands for any
      part of a name and the same part in both: `("layers.*.down", "layers.*.up")`.
    - `heads`: names of the layers inside an attention module, by default `pairs.HEADS`; `{}` for no heads.
      With rotary embeddings the query/key product refers to distance zero.
    - `max_width`: the largest hidden dimension, since r x r matrices are decomposed at every reading.

    **Returns** the list of `Pair`, and by name those that cannot be seen, each with the reason.

    Pairs that are frozen altogether are left out of "auto".

    **Example:**

        >>> from linnet.torch import find_pairs
        >>> import torch
        >>> layers = torch.nn.Linear(4, 6), torch.nn.Linear(6, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1)
        >>> [pair.name for pair in find_pairs(torch.nn.Sequential(*layers))[0]]  # not across the nonlinearity
        ['0>1']
        >>> class Bottleneck(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.down, self.up = torch.nn.Linear(8, 2), torch.nn.Linear(2, 8)
        ...
        ...     def forward(self, x):
        ...         return x + self.up(self.down(x))
        >>> [pair.name for pair in find_pairs(Bottleneck())[0]]
        ['down>up']
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"`model` must be a PyTorch module: got {type(model).__name__}.")
    if isinstance(pairs, str) and pairs != "auto":
        raise ValueError(f"`pairs` must be 'auto' or a list of (first, second) names: got {pairs!r}.")
    max_width, patterns = count("max_width", max_width), HEADS if heads is None else _check_patterns(heads)
    unseen: dict[str, str] = {}
    if isinstance(pairs, str):
        adapters = list(_lora_pairs(model))
        graph = layer_graph(model, {id(p) for pair in adapters for p in (pair.first, pair.second)})
        candidates = [*adapters, *_linear_pairs(model, graph, unseen), *_head_pairs(model, patterns, unseen)]
        candidates = [pair for pair in candidates if pair.trained]
        unseen |= {f"{one}>{other}": COMPUTED for one, other in _fitting(model) if _is_computed(model, one, other)}
    else:
        candidates = list(_named_pairs(model, _check_entries("pairs", pairs)))
    seen = []
    for pair in candidates:
        reason = _why_unreadable(pair.first) or _why_unreadable(pair.second) or _why_no_product(pair)
        if not reason and pair.width > max_width:
            reason = f"its hidden dimension {pair.width} exceeds `max_width` {max_width}"
        if reason:
            unseen[pair.name] = reason
        else:
            seen.append(pair)
    return seen, unseen


def _why_unreadable(parameter: torch.Tensor) -> str:
    """Why this process cannot read the whole parameter; empty if it can."""
    if not isinstance(parameter, nn.Parameter):
        return COMPUTED
    if hasattr(parameter, "placements") or hasattr(parameter, "_sharding_spec"):
        return "its parameters are sharded over processes (a DTensor)"
    if hasattr(parameter, "ds_id") or type(parameter).__name__ == "FlatParameter" or parameter.numel() == 0:
        return "its parameters are sharded over processes, and empty or flat here"
    if parameter.is_meta:
        return "its parameters have no values yet (the meta device)"
    if not parameter.is_floating_point():
        return f"its parameters are packed ({parameter.dtype})"
    return ""


def _why_no_product(pair: Pair) -> str:
    """Why the two have no product, as in a model that cannot be run; empty if they have."""
    other = pair.rows_of_second(pair.second).shape[0]
    return "" if pair.width == other else f"its layers do not fit: {pair.width} outputs, {other} inputs"


def _check_entries(name: str, value: Any) -> list[tuple[str, str]]:
    """A list of (first, second), names of layers."""
    entries = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) else [value]
    for entry in entries:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            raise ValueError(f"`{name}` must be a list of (first, second) names: got {shown(entry)}.")
    return [(first, second) for first, second in entries]


def _check_patterns(heads: object) -> dict[str, list[tuple[str, str]]]:
    """Names of the layers inside attention, checked."""
    if not isinstance(heads, Mapping):
        raise ValueError(f"`heads` must be a dictionary with keys among {sorted(HEADS)}: got {shown(heads)}.")
    for kind in heads:
        if kind not in HEADS:
            raise ValueError(f"`heads` must have keys among {sorted(HEADS)}: got {shown(kind)}.")
    return {kind: _check_entries("heads", names) for kind, names in heads.items()}


def _as_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Return a parameter as a matrix (first axis, all others)."""
    return tensor.reshape(tensor.shape[0], -1)


def _as_columns(tensor: torch.Tensor) -> torch.Tensor:
    """Return a parameter as a matrix (all other axes, first)."""
    return tensor.reshape(tensor.shape[0], -1).T


def _lora_pairs(model: nn.Module) -> Iterator[Pair]:
    """Yield the factors of every LoRA adapter."""
    for name, module in model.named_modules():
        for adapter, first, second in lora_factors(module):
            label = label_of(name, adapter)
            yield Pair(label, "lora", first, second, _as_rows, _as_columns, float(module.scaling[adapter]))  # type: ignore[index]


def _linear_pairs(model: nn.Module, graph: LayerGraph, unseen: dict[str, str]) -> Iterator[Pair]:
    """Yield linear layers of which the second takes the first's output; others go to `unseen`."""
    layers = dict(model.named_modules())
    for one, other in graph.consecutive:
        first, second = layers[one].weight, layers[other].weight
        parent, _, last = other.rpartition(".")
        label = f"{one}>{last if parent == one.rpartition('.')[0] else other}"
        if layers[one]._forward_hooks or layers[other]._forward_pre_hooks:
            unseen[label] = HOOKED
            continue
        yield Pair(label, "linear", first, second, _as_rows, _as_columns)  # type: ignore[arg-type]


def fitting_layers(model: nn.Module) -> list[tuple[str, str]]:
    """Names of linear layers, in the model's order, of which the second could take the first's output: as far as names
    suggest, because this part of the model cannot be traced."""
    traced = layer_graph(model).traced
    return [
        (one, other)
        for one, other in _fitting(model)
        if not {one, other} <= traced and not _is_computed(model, one, other)
    ]


def _is_computed(model: nn.Module, *names: str) -> bool:
    """Return whether the weight of one of these layers is made from other parameters."""
    return any("weight" not in model.get_submodule(name)._parameters for name in names)


def _fitting(model: nn.Module) -> list[tuple[str, str]]:
    """Names of linear layers that follow each other in the model's order and fit, one of them trained."""
    layers = [(name, part) for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    return [
        (one, other)
        for (one, first), (other, second) in pairwise(layers)
        if first.out_features == second.in_features and (first.weight.requires_grad or second.weight.requires_grad)
    ]


def _named_pairs(model: nn.Module, pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """Yield the pairs that the user names, by patterns."""
    layers = {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    interrupted = layer_graph(model).interrupted
    for first, second in pairs:
        matched = [name for name in layers if fnmatchcase(name, first)]
        if not matched:
            raise ValueError(f"`pairs` names no linear layer: {first!r}. The model has {_short_list(layers)}.")
        for name in matched:
            partner = second.replace("*", _wildcard_match(first, name)) if "*" in second else second
            if partner not in layers:
                raise ValueError(f"`pairs` names no linear layer: {partner!r}. The model has {_short_list(layers)}.")
            one, other = layers[name].weight, layers[partner].weight
            if one.shape[0] != other.shape[1]:
                raise ValueError(
                    f"`pairs` must name layers that fit: {name} has {one.shape[0]} outputs, {partner} "
                    f"{other.shape[1]} inputs."
                )
            if between := interrupted.get((name, partner)):
                raise ValueError(
                    f"`pairs` must name layers of one product: between {name} and {partner} the model has {between}, "
                    "so it does not compute the product of their weights."
                )
            yield Pair(f"{name}>{partner}", "named", one, other, _as_rows, _as_columns)


def _wildcard_match(pattern: str, name: str) -> str:
    """What the first `*` of the pattern stands for in the name."""
    before, _, after = pattern.partition("*")
    return name[len(before) : len(name) - len(after)] if after.count("*") == 0 else name[len(before) :].split(".")[0]


def _short_list(names: Iterable[str]) -> str:
    """List the first names."""
    listed = sorted(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "") if listed else "none"


def _head_pairs(
    model: nn.Module, patterns: Mapping[str, Sequence[tuple[str, str]]], unseen: dict[str, str]
) -> Iterator[Pair]:
    """Yield the pairs inside attention, head by head; those that cannot be split are noted in `unseen`."""
    for name, module in model.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            yield from _fused_heads(name, module, patterns)
            continue
        for kind, names in patterns.items():
            for one, other in names:
                first, second = getattr(module, one, None), getattr(module, other, None)
                if isinstance(first, nn.Linear) and isinstance(second, nn.Linear):
                    size = _head_size(module)
                    if size is None or first.out_features % size:
                        unseen[f"{name}.{one}>{other}"] = (
                            "the size of its heads is not known (no `head_dim` or `num_heads`)"
                        )
                    else:
                        yield from _split_heads(f"{name}.{one}>{other}", kind, first, second, size)
                    break


def _head_size(module: object) -> int | None:
    """Return the size of one head of an attention module, None where it does not say."""
    for attribute in ("head_dim", "attention_head_size"):
        size = getattr(module, attribute, None)
        if isinstance(size, int):
            return size
    for attribute in ("num_heads", "n_heads", "num_attention_heads"):
        heads, query = getattr(module, attribute, None), _first_linear(module)
        if isinstance(heads, int) and query is not None and query.in_features % heads == 0:
            return query.in_features // heads
    return None


def _first_linear(module: nn.Module) -> nn.Linear | None:
    """Return the first linear layer of a module."""
    return next((child for child in module.children() if isinstance(child, nn.Linear)), None)


def _split_heads(name: str, kind: str, first: nn.Linear, second: nn.Linear, size: int) -> Iterator[Pair]:
    """One pair for each head of the layer that has more of them: grouped keys and values serve several heads."""
    values = kind == "value-output"
    # The product of queries and keys, W_Q^T W_K, has the keys as its first layer.
    many, few = (second.in_features, first.out_features) if values else (first.out_features, second.out_features)
    for head in range(many // size):
        own, shared = _head_slice(head, size), _head_slice(head // (many // few), size)
        label = f"{name}[{head}]"
        if values:
            yield Pair(label, kind, first.weight, second.weight, _row_block(shared), _column_block(own))
        else:
            yield Pair(label, kind, second.weight, first.weight, _row_block(shared), _row_block(own))


def _head_slice(index: int, size: int) -> slice:
    """Return where a head's rows or columns lie."""
    return slice(index * size, (index + 1) * size)


def _row_block(block: slice) -> View:
    """Return the view of a parameter that takes some rows."""
    return lambda tensor: tensor[block]


def _column_block(block: slice) -> View:
    """Return the view of a parameter that takes some columns, as rows."""
    return lambda tensor: tensor[:, block].T


def _fused_heads(
    name: str, module: nn.MultiheadAttention, patterns: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[Pair]:
    """PyTorch's own attention keeps queries, keys and values in one matrix, in this order."""
    if module.in_proj_weight is None:
        return
    heads, size = module.num_heads, module.embed_dim // module.num_heads
    fused, out = module.in_proj_weight, module.out_proj.weight
    for head in range(heads):
        query, key, value = (_row_block(_head_slice(part * heads + head, size)) for part in range(3))
        if "value-output" in patterns:
            label = f"{name}.value>output[{head}]"
            yield Pair(label, "value-output", fused, out, value, _column_block(_head_slice(head, size)))
        if "query-key" in patterns:
            yield Pair(f"{name}.query>key[{head}]", "query-key", fused, fused, key, query)
