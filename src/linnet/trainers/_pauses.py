"""How much a compiled call may do at once: only between two of them Ctrl-C is heard, and a progress bar moves."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.trainers._states import Array

CALL_SECONDS = 2.0  # about as long as one call may take
CPU_OPERATIONS_PER_SECOND = 5e9  # in the products of a step; a rough number is enough
ACCELERATOR_OPERATIONS_PER_SECOND = 1e12
STEP_OVERHEAD_SECONDS = 3e-6  # of the smallest step


def steps_per_call(layer: Array, operations: float) -> int:
    """Return the number of steps that fit into one call on the device of `layer`, given the operations of a step."""
    on_cpu = next(iter(layer.devices())).platform == "cpu"
    speed = CPU_OPERATIONS_PER_SECOND if on_cpu else ACCELERATOR_OPERATIONS_PER_SECOND
    return max(1, int(CALL_SECONDS / (STEP_OVERHEAD_SECONDS + operations / speed)))


def operations_per_step(layers: Sequence[Array]) -> float:
    """Return about how many operations one step of descent takes, of all members of a batch: three products for the
    outer layers together, three for each layer between them, and the elementwise work."""
    first, last = layers[0], layers[-1]
    inner = sum(6.0 * layer.size * (first.shape[-1] + last.shape[-2]) for layer in layers[1:-1])
    return 8.0 * first.size * last.shape[-2] + inner
