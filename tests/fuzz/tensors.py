"""What is put in the place of a tensor, a model or an optimizer of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from fuzz.examples import materials as m
from fuzz.mutations import INFINITE, ODD, SAME, WRONG, Mutation, Nothing


def torch_mutations(value: Any) -> Iterator[Mutation]:
    """All that is tried in the place of an object of PyTorch."""
    if isinstance(value, torch.Tensor):
        yield from _tensors(value)
    elif isinstance(value, nn.modules.loss._Loss):
        yield from _named({"L1Loss": nn.L1Loss(), "not reduced": nn.MSELoss(reduction="none"), "Huber": nn.HuberLoss()})
    elif isinstance(value, nn.Module):
        yield from _models(value)
    elif isinstance(value, torch.optim.Optimizer):
        yield from _optimizers(value)
    others: list[Any] = [None, "a", 3, {}, [], np.ones((2, 2)), Nothing(), nn.Linear, m.weights(), m.data_problem()]
    for other in others:
        if other is not None or not isinstance(value, nn.modules.loss._Loss):
            yield Mutation(f"{type(other).__name__}", ODD, other)


def _named(values: dict[str, Any], kind: str = ODD) -> Iterator[Mutation]:
    for label, value in values.items():
        yield Mutation(label, kind, value)


def _tensors(value: torch.Tensor) -> Iterator[Mutation]:
    for bad in (torch.nan, torch.inf, -torch.inf):
        spoiled = value.clone()
        spoiled.view(-1)[-1] = bad
        yield Mutation(f"one {bad}", INFINITE, spoiled)
        yield Mutation(f"all {bad}", INFINITE, torch.full_like(value, bad))
    yield from _named({f"times {size:g}": value * size for size in (0.0, -1.0, 1e-8, 1e8, 1e150, 1e-150, 1e300)})
    yield from _named(
        {
            "an axis more": value[None],
            "an axis last": value[..., None],
            "an axis less": value[0],
            "one number": value.view(-1)[0],
            "empty": value[:0],
            "no columns": value[:, :0],
            "a row more": torch.cat([value, value[:1]]),
            "a column more": torch.cat([value, value[:, :1]], dim=1),
            "turned": value.T,
            "without values": value.to("meta"),
            "whole numbers": value.long(),
            "float16": value.half(),
            "float32": value.float(),
            "sparse": value.to_sparse(),
            "NumPy": value.numpy(),
            "list": value.tolist(),
        }
    )
    yield from _named({"complex": value + 1j, "truth values": value > 0}, WRONG)
    spread = torch.stack([value, value], dim=-1)[..., 0]
    yield Mutation("not contiguous", SAME, spread, value)
    yield Mutation("with a gradient", SAME, value.clone().requires_grad_(), value)


class Failing(nn.Module):
    """A model that cannot be run."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(3, 5), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Never returns."""
        raise KeyError("inside")


class Pairs(Failing):
    """A model that returns two tensors."""

    def forward(self, x: torch.Tensor) -> Any:
        """Both outputs."""
        return self.two(self.one(x)), x


def _copy(value: nn.Module) -> nn.Module:
    import copy

    return copy.deepcopy(value)


def _scaled(value: nn.Module, size: float) -> nn.Module:
    found = _copy(value)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.mul_(size)
    return found


def _models(value: nn.Module) -> Iterator[Mutation]:
    linear = [nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)]
    yield from _named(
        {
            "a nonlinearity": nn.Sequential(*linear).double(),
            "dropout": nn.Sequential(linear[0], nn.Dropout(0.5), linear[2]).double(),
            "batch norm": nn.Sequential(linear[0], nn.BatchNorm1d(5), linear[2]).double(),
            "one layer": nn.Linear(3, 2).double(),
            "three layers": nn.Sequential(linear[0], nn.Linear(5, 5), linear[2]).double(),
            "one layer twice": nn.Sequential(*[nn.Linear(3, 3)] * 2).double(),
            "nothing in it": nn.Sequential(),
            "an input more": nn.Sequential(nn.Linear(4, 5), linear[2]).double(),
            "layers that do not fit": nn.Sequential(nn.Linear(3, 5), nn.Linear(4, 2)).double(),
            "a convolution": nn.Conv1d(3, 5, 1).double(),
            "frozen": _copy(value).requires_grad_(False),
            "without values": _copy(value).to("meta"),
            "float16": _copy(value).half(),
            "float32": _copy(value).float(),
            "wide": nn.Sequential(nn.Linear(3, 9), nn.Linear(9, 2)).double(),
            "failing": Failing().double(),
            "two outputs": Pairs().double(),
            "attention": nn.MultiheadAttention(4, 2).double(),
            "a copy": _copy(value),
            **{f"times {size:g}": _scaled(value, size) for size in (0.0, 1e-8, 1e8, 1e-150, 1e150)},
        }
    )
    yield Mutation("NaN", INFINITE, _scaled(value, float("nan")))
    yield Mutation("infinite", INFINITE, _scaled(value, float("inf")))


def _optimizers(value: torch.optim.Optimizer) -> Iterator[Mutation]:
    parameters = [p for group in value.param_groups for p in group["params"]]

    def sgd(lr: Any = 0.05, **more: Any) -> torch.optim.SGD:
        return torch.optim.SGD(parameters, lr=lr, **more)

    yield from _named(
        {
            "Adam": torch.optim.Adam(parameters),
            "of another model": torch.optim.SGD(nn.Linear(3, 2).parameters(), lr=0.1),
            "of one layer": torch.optim.SGD(parameters[:1], lr=0.1),
            "Nesterov": sgd(momentum=0.5, nesterov=True),
            "uphill": sgd(maximize=True),
            "damped": sgd(momentum=0.5, dampening=0.5),
            "momentum 1.5": sgd(momentum=1.5),
            "decay": sgd(weight_decay=0.1),
            "decay of 1e300": sgd(weight_decay=1e300),
            "a tensor for a rate": sgd(torch.tensor(0.05)),
            **{f"rate {rate:g}": sgd(rate) for rate in (0.0, 1e-150, 1e8, 1e150, 1e300)},
        }
    )
    for bad in (float("nan"), float("inf")):
        yield Mutation(f"rate {bad}", INFINITE, sgd(bad))
