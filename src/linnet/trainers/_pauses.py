"""How much a compiled call may do at once: only between two of them Ctrl-C is heard, and a progress bar moves."""

from __future__ import annotations

from typing import Any

SECONDS = 2.0  # about as long as one call may take
SPEED = {"cpu": 5e9}  # operations a second of a step's products; a rough number is enough
ACCELERATOR = 1e12
OVERHEAD = 3e-6  # seconds of the smallest step


def affordable(layer: Any, operations: float) -> int:
    """The number of steps that fit into one call on the device where `layer` is, given the operations of a step."""
    speed = SPEED.get(next(iter(layer.devices())).platform, ACCELERATOR)
    return max(1, int(SECONDS / (OVERHEAD + operations / speed)))
