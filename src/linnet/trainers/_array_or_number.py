"""Operations on compiled arrays and on plain numbers alike: stopping rules and records are written with them, once."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def select(condition: Any, this: Any, that: Any) -> Any:
    """Return `this` where the condition holds, else `that`: Python chooses for a truth value, JAX for an array."""
    if isinstance(condition, (bool, np.bool_)):
        return this if condition else that
    return jnp.where(condition, this, that)


def cast_like(old: Any, new: Any) -> Any:
    """Return `new` in the number type of `old`, whose place in the loop's state it takes: types in a compiled loop
    must not change from step to step, and losses of a float32 run are float32 where a rule begins with a float64."""
    return new if new.dtype is old.dtype else new.astype(old.dtype)
