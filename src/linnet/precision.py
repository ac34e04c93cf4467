"""Which floating-point numbers a computation uses, without touching JAX's global configuration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import numpy as np

DTYPES = {"float64": np.float64, "float32": np.float32}


def resolve(dtype: object = None) -> np.dtype:
    """The NumPy dtype asked for: float64 unless `dtype` says float32."""
    if dtype is None:
        return np.dtype(np.float64)
    try:
        resolved = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        resolved = None
    if resolved is None or resolved.name not in DTYPES:
        raise ValueError(f"`dtype` must be 'float64' or 'float32': got {dtype!r}.")
    return resolved


@contextmanager
def computing(dtype: object = None) -> Iterator[np.dtype]:
    """Everything JAX does inside the block is done in `dtype`; outside, nothing has changed.

    64-bit types are switched on for this thread only, and float32 products are true float32 products
    (accelerators would otherwise shorten their factors to 10 bits of mantissa).
    """
    resolved = resolve(dtype)
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield resolved
