"""PyTorch: reading pairs of linear layers, watching them while they train, forecasting models made of one."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from linnet import _extras as extras

if TYPE_CHECKING:
    from linnet.torch.forecasting import ModelForecast, forecast
    from linnet.torch.groups import parameter_groups
    from linnet.torch.layers import weights_of_layers
    from linnet.torch.monitor import PairMonitor
    from linnet.torch.pairs import Pair, find_pairs

_HOMES = {
    "ModelForecast": "linnet.torch.forecasting",
    "Pair": "linnet.torch.pairs",
    "PairMonitor": "linnet.torch.monitor",
    "find_pairs": "linnet.torch.pairs",
    "forecast": "linnet.torch.forecasting",
    "parameter_groups": "linnet.torch.groups",
    "weights_of_layers": "linnet.torch.layers",
}

__all__ = ["ModelForecast", "Pair", "PairMonitor", "find_pairs", "forecast", "parameter_groups", "weights_of_layers"]


def __getattr__(name: str) -> Any:
    # PyTorch is optional: it is imported when one of these names is first used, and its absence raises one
    # sentence.
    if name not in _HOMES:
        raise AttributeError(f"module 'linnet.torch' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOMES[name]), name)
    except ModuleNotFoundError as reason:
        if reason.name != "torch":
            raise
        raise ModuleNotFoundError(extras.line("torch", "linnet.torch"), name="torch") from None


def __dir__() -> list[str]:
    return sorted(__all__)
