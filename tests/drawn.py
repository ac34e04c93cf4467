"""The start of one cell of a batch that is drawn inside compiled code, on its own."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from linnet._randomness import Key, jax_key
from linnet.inits.compiled import diagonal_roots, padded_gaussian
from linnet.inits.weights import Weights
from linnet.precision import computing


def drawn_gaussian(key: Key, *, in_dim: int, out_dim: int, width: int, std: float) -> Weights:
    """The reduced network that compiled code draws from this key."""
    roots = diagonal_roots(key, in_dim=in_dim, out_dim=out_dim, width=width)
    rows = min(width, in_dim + out_dim)
    with computing():
        first, second = padded_gaussian(
            jax_key(key),
            jnp.asarray(roots),
            in_dim=in_dim,
            out_dim=out_dim,
            rows=rows,
            width=jnp.asarray(float(width)),
            std=jnp.asarray(std),
        )
        return Weights(np.asarray(first), np.asarray(second))
