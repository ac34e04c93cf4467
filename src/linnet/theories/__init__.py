"""What is predicted without training."""

import importlib
from typing import Any

__all__ = [
    "aligned_flow",
    "deep",
    "denoising",
    "feature_learning",
    "label_noise",
    "lazy_active",
    "noise_bulk",
    "noise_process",
    "one_output",
    "ridge",
    "spectral_bias",
    "spiked",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"linnet.theories.{name}")
    raise AttributeError(f"module 'linnet.theories' has no attribute {name!r}")
