"""LoRA adapters: what their settings mean exactly, which of them are the same, what to know before training."""

from linnet.lora.adapter import Adapter
from linnet.lora.equivalence import Equivalence, equivalent
from linnet.lora.linting import Finding, lint
from linnet.lora.reading import read
from linnet.lora.resizing import Resized, matched_alpha, resize_folder, resized

__all__ = [
    "Adapter",
    "Equivalence",
    "Finding",
    "Resized",
    "equivalent",
    "lint",
    "matched_alpha",
    "read",
    "resize_folder",
    "resized",
]
