"""How linear networks learn: exact training at any width, closed forms, and the distance between the two."""

from __future__ import annotations

import importlib

__version__ = "0.4.0"

# `typing` would be most of what `import linnet` costs; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from linnet import (
        estimators,
        forecasts,
        inits,
        lora,
        observables,
        precision,
        problems,
        reductions,
        style,
        sweeps,
        theories,
        trainers,
        trajectories,
    )
    from linnet import (
        torch as torch,
    )
    from linnet.forecasts.denoising import Denoised, denoise
    from linnet.forecasts.diagnosing import diagnose
    from linnet.forecasts.diagnosis import Diagnosis
    from linnet.forecasts.forecasting import Forecast, forecast
    from linnet.inits.weights import Weights
    from linnet.problems.problem import Problem
    from linnet.reductions.reduction import Reduction, reduce
    from linnet.trainers.descent import gradient_descent
    from linnet.trainers.flow import gradient_flow
    from linnet.trainers.label_noise import label_noise_descent
    from linnet.trainers.relu import relu_descent
    from linnet.trainers.sde import noise_sde
    from linnet.trainers.stability import stable_learning_rate
    from linnet.trainers.stochastic import stochastic_descent
    from linnet.trajectories.status import DivergedError, Status
    from linnet.trajectories.trajectory import Trajectory

_FOLDERS = (
    "estimators",
    "forecasts",
    "inits",
    "lora",
    "observables",
    "precision",
    "problems",
    "reductions",
    "style",
    "sweeps",
    "theories",
    "torch",
    "trainers",
    "trajectories",
)
_HOMES = {
    "Diagnosis": "linnet.forecasts.diagnosis",
    "Denoised": "linnet.forecasts.denoising",
    "DivergedError": "linnet.trajectories.status",
    "Forecast": "linnet.forecasts.forecasting",
    "Problem": "linnet.problems.problem",
    "Reduction": "linnet.reductions.reduction",
    "Status": "linnet.trajectories.status",
    "Trajectory": "linnet.trajectories.trajectory",
    "Weights": "linnet.inits.weights",
    "diagnose": "linnet.forecasts.diagnosing",
    "forecast": "linnet.forecasts.forecasting",
    "denoise": "linnet.forecasts.denoising",
    "gradient_descent": "linnet.trainers.descent",
    "gradient_flow": "linnet.trainers.flow",
    "label_noise_descent": "linnet.trainers.label_noise",
    "noise_sde": "linnet.trainers.sde",
    "reduce": "linnet.reductions.reduction",
    "relu_descent": "linnet.trainers.relu",
    "stable_learning_rate": "linnet.trainers.stability",
    "stochastic_descent": "linnet.trainers.stochastic",
}

# `torch` is not among them: `from linnet import *` must not hide PyTorch.
__all__ = [
    "Denoised",
    "Diagnosis",
    "DivergedError",
    "Forecast",
    "Problem",
    "Reduction",
    "Status",
    "Trajectory",
    "Weights",
    "denoise",
    "diagnose",
    "estimators",
    "forecast",
    "forecasts",
    "gradient_descent",
    "gradient_flow",
    "inits",
    "label_noise_descent",
    "lora",
    "noise_sde",
    "observables",
    "precision",
    "problems",
    "reduce",
    "reductions",
    "relu_descent",
    "stable_learning_rate",
    "stochastic_descent",
    "style",
    "sweeps",
    "theories",
    "trainers",
    "trajectories",
]


def __getattr__(name: str) -> Any:
    # Names load their module on first use, so that `import linnet` costs nothing and a command pays for what it needs.
    if name in _FOLDERS:
        return importlib.import_module(f"linnet.{name}")
    if name in _HOMES:
        # The folder first: of two threads that import a folder and a file of it, each would wait for the other.
        importlib.import_module(_HOMES[name].rpartition(".")[0])
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'linnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "torch"])
