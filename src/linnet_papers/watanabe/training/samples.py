"""Drawn data: one spike, along the first input, and the target in the plane of the first two."""

from __future__ import annotations

import numpy as np

from linnet_papers.watanabe.settings import DIM


def spiked_inputs(
    random: np.random.Generator, samples: int, spike: float, dim: int = DIM, dtype: str = "float64"
) -> np.ndarray:
    """Return inputs (sample, input) by (1)."""
    inputs = random.standard_normal((samples, dim), dtype=np.dtype(dtype).type)
    inputs[:, 0] *= np.sqrt(1 + spike)
    return inputs


def target(alignment: float, dim: int = DIM) -> np.ndarray:
    """Return beta of (2)."""
    return np.concatenate([[alignment, np.sqrt(1 - alignment**2)], np.zeros(dim - 2)])
