"""When a run gets somewhere."""

from __future__ import annotations

import numpy as np


def first_of(reached: np.ndarray, otherwise: str) -> int:
    """The index of the first state that has got there; `otherwise` is the error where none has, never a silent 0."""
    if not reached.any():
        raise RuntimeError(f"{otherwise}: the run is too short for what is measured on it")
    return int(reached.argmax())
