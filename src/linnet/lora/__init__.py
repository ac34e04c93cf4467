"""LoRA adapters: what their settings mean exactly, which of them are the same, what to know before training."""

from linnet.lora.adapter import Adapter
from linnet.lora.equivalence import Equivalence, equivalent
from linnet.lora.linting import Finding, lint
from linnet.lora.reading import read

__all__ = ["Adapter", "Equivalence", "Finding", "equivalent", "lint", "read"]
