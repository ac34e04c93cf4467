"""A general cost of the product, written by the user with JAX: tried once, evaluated and differentiated."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np


def check(cost: Callable[[Any], Any], shape: tuple[int, int]) -> None:
    """Tries the cost once on shapes alone, so that a wrong one is refused before any training."""
    import jax

    from linnet.precision import computing

    with computing():
        try:
            value = jax.eval_shape(cost, jax.ShapeDtypeStruct(shape, np.float64))
        except Exception as reason:  # whatever the user's function raises on a traced array
            raise ValueError(
                f"`cost` must be written with jax.numpy and take the product {shape}: it raised "
                f"{type(reason).__name__}."
            ) from reason
    if getattr(value, "shape", None) != ():
        raise ValueError(f"`cost` must return one number: it returned {getattr(value, 'shape', type(value).__name__)}.")


def values(cost: Callable[[Any], Any], A: np.ndarray) -> np.ndarray:
    """The cost of each of the products `A` (..., output, input)."""
    import jax

    from linnet.precision import computing

    with computing():
        flat = A.reshape((-1,) + A.shape[-2:])
        return np.asarray(jax.vmap(cost)(flat), dtype=np.float64).reshape(A.shape[:-2])


def gradients(cost: Callable[[Any], Any], A: np.ndarray) -> np.ndarray:
    """Its gradients there, (..., output, input)."""
    from linnet.precision import computing

    with computing():
        flat = A.reshape((-1,) + A.shape[-2:])
        return np.asarray(_compiled_gradient(cost)(flat), dtype=np.float64).reshape(A.shape)


@lru_cache(maxsize=8)
def _compiled_gradient(cost: Callable[[Any], Any]) -> Callable[[np.ndarray], Any]:
    """Return the gradient of a cost, compiled once: trial descents of deep networks ask for it at every step."""
    import jax

    return jax.jit(jax.vmap(jax.grad(cost)))
