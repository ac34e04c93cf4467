"""How much a compiled call may do at once: only between two of them Ctrl-C is heard, and a progress bar moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CALL_SECONDS = 2.0  # about as long as one call may take
OPERATIONS_PER_SECOND = {"cpu": 5e9}  # operations a second of a step's products; a rough number is enough
ACCELERATOR_OPERATIONS_PER_SECOND = 1e12
STEP_OVERHEAD_SECONDS = 3e-6  # seconds of the smallest step


def steps_per_call(layer: Any, operations: float) -> int:
    """Return the number of steps that fit into one call on the device of `layer`, given the operations of a step."""
    speed = OPERATIONS_PER_SECOND.get(next(iter(layer.devices())).platform, ACCELERATOR_OPERATIONS_PER_SECOND)
    return max(1, int(CALL_SECONDS / (STEP_OVERHEAD_SECONDS + operations / speed)))


def operations_per_step(layers: Sequence[Any]) -> float:
    """Count the operations of one step: three products of matrices, and the elementwise work beside them."""
    first, last = layers[0], layers[-1]
    inner = sum(6.0 * layer.size * (first.shape[-1] + last.shape[-2]) for layer in layers[1:-1])
    return 8.0 * first.size * last.shape[-2] + inner
