"""What is simulated: descent, flow, label noise, mini-batches, the noise SDE, ReLU networks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnet.trainers import diagrams, stopping, updates
    from linnet.trainers.descent import gradient_descent
    from linnet.trainers.diagrams import gaussian_diagram
    from linnet.trainers.flow import gradient_flow
    from linnet.trainers.label_noise import label_noise_descent
    from linnet.trainers.relu import relu_descent
    from linnet.trainers.schedules import Schedule
    from linnet.trainers.sde import decreasing, noise_sde
    from linnet.trainers.stability import stable_learning_rate
    from linnet.trainers.stochastic import stochastic_descent

# Each loads its file on first use: training by descent does not import ReLU networks or whole diagrams.
_HOMES = {
    "Schedule": "schedules",
    "decreasing": "sde",
    "gaussian_diagram": "diagrams",
    "gradient_descent": "descent",
    "gradient_flow": "flow",
    "label_noise_descent": "label_noise",
    "noise_sde": "sde",
    "relu_descent": "relu",
    "stable_learning_rate": "stability",
    "stochastic_descent": "stochastic",
}

__all__ = [
    "Schedule",
    "decreasing",
    "diagrams",
    "gaussian_diagram",
    "gradient_descent",
    "gradient_flow",
    "label_noise_descent",
    "noise_sde",
    "relu_descent",
    "stable_learning_rate",
    "stochastic_descent",
    "stopping",
    "updates",
]


def __getattr__(name: str) -> Any:
    if name in ("diagrams", "stopping", "updates"):
        return importlib.import_module(f"linnet.trainers.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"linnet.trainers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'linnet.trainers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
