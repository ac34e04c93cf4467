"""Models, optimizers and tensors of PyTorch; read only where PyTorch is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import nn

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m
from linnet.torch import PairMonitor, find_pairs, forecast

T = "torch."
X, Y = torch.tensor(m.X), torch.tensor(m.Y)


class Adapted(nn.Module):
    """A layer with a LoRA adapter, in the attributes that peft gives it."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(3, 2, bias=False).double().requires_grad_(False)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(3, 5, bias=False).double()})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(5, 2, bias=False).double()})
        self.scaling = {"default": 2.0}
        with torch.no_grad():  # always the same
            self.base.weight.copy_(torch.tensor(m.START))
            self.lora_A["default"].weight.copy_(torch.tensor(m.FIRST / 2))
            self.lora_B["default"].weight.copy_(torch.tensor(m.SECOND / 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's output and the adapter's."""
        return self.base(x) + 2.0 * self.lora_B["default"](self.lora_A["default"](x))


def layers(*, bias: bool = False) -> nn.Sequential:
    """Two linear layers, always of the same weights."""
    found = nn.Sequential(nn.Linear(3, 5, bias=bias), nn.Linear(5, 2, bias=bias)).double()
    with torch.no_grad():
        for layer, weight in zip(found, (m.FIRST, m.SECOND), strict=True):
            layer.weight.copy_(torch.tensor(weight))
            if bias:
                layer.bias.fill_(0.25)
    return found


def sgd(model: nn.Module, **more: Any) -> torch.optim.SGD:
    """Its optimizer."""
    return torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05, **more)


PLAIN, BIASED, ADAPTED = m.made(layers), m.made(lambda: layers(bias=True)), m.made(Adapted)
PLAIN_SGD, BIASED_SGD = m.made(lambda: sgd(PLAIN())), m.made(lambda: sgd(BIASED(), momentum=0.5))
ADAPTED_SGD = m.made(lambda: sgd(ADAPTED()))


@m.made
def told() -> Any:
    return forecast(BIASED(), X, Y, BIASED_SGD(), 3, validation=(X[:2], Y[:2]))


@m.made
def watching() -> Any:
    """A monitor in its context, with a first gradient."""
    model = layers()
    optimizer = sgd(model)
    monitor = PairMonitor(model, every=1, optimizer=optimizer).__enter__()
    (model(X) - Y).pow(2).mean().backward()
    optimizer.step()
    monitor.step()
    return monitor


def _watch(model: Any, optimizer: Any, **settings: Any) -> Any:
    """What a monitor reads in one step."""
    with PairMonitor(model, optimizer=optimizer, **settings) as monitor:
        monitor.step()
    return monitor.to_dataset()


def _callback(package: str, method: str) -> Any:
    """Makes a callback where the package is installed."""
    return type(getattr(watching(), method)()).__name__ if importlib.util.find_spec(package) else None


instance(T + "ModelForecast", told, received=True)
instance(T + "Pair", m.made(lambda: find_pairs(PLAIN())[0][0]), received=True)
instance(T + "PairMonitor", watching)
# A model that diverges is watched like any other, and the names of pairs do not depend on numbers.
ANY: dict = {"nan": ("model", "optimizer")}
example(T + "PairMonitor", call=_watch, model=PLAIN, optimizer=PLAIN_SGD, pairs="auto", every=1, max_width=8, **ANY)
example(
    T + "PairMonitor",
    **ANY,
    call=_watch,
    model=BIASED,
    optimizer=BIASED_SGD,
    pairs=[("0", "1")],
    heads={"value-output": [("v_proj", "o_proj")]},
    alignment=False,
)
example(T + "PairMonitor.plot", on=watching, pairs=["0>1"], slow=True)
example(T + "PairMonitor.for_transformers", call=lambda: _callback("transformers", "for_transformers"), slow=True)
example(T + "PairMonitor.for_lightning", call=lambda: _callback("lightning", "for_lightning"), slow=True)
example(T + "find_pairs", model=PLAIN, pairs="auto", max_width=8, **ANY)
example(T + "find_pairs", model=ADAPTED, pairs="auto", heads={}, **ANY)
example(T + "find_pairs", model=BIASED, pairs=[("0", "1")], **ANY)
RUN: dict = {"X": X, "Y": Y, "steps": 3, "long": ("steps",)}
example(T + "forecast", model=PLAIN, optimizer=PLAIN_SGD, **RUN, slow=True)
example(
    T + "forecast", model=BIASED, optimizer=BIASED_SGD, **RUN, loss=nn.MSELoss(), validation=(X[:2], Y[:2]), slow=True
)
example(T + "forecast", model=ADAPTED, optimizer=ADAPTED_SGD, **RUN, loss=nn.MSELoss(reduction="sum"), slow=True)
example(
    T + "parameter_groups",
    **ANY,
    model=ADAPTED,
    adapter=m.made(lambda: ln.lora.Adapter(rank=5, alpha=10.0, optimizer="sgd", learning_rate_a=1e-3)),
)
example(T + "weights_of_layers", first=m.made(lambda: PLAIN()[0]), second=m.made(lambda: PLAIN()[1]))
example(T + "weights_of_layers", first=torch.tensor(m.FIRST), second=torch.tensor(m.SECOND))
