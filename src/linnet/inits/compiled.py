"""Gaussian initializations drawn inside compiled code, on the device that trains them: the distribution of
`reduced_gaussian`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from linnet._randomness import Key, generator


def diagonal_roots(key: Key, *, in_dim: int, out_dim: int, width: int) -> np.ndarray:
    r"""$\sqrt{\chi^2_{h-j}}$, $j = 0, 1, \dots$: the diagonal of a wide network's triangle (ones for a narrow one).

    These few numbers are drawn outside of compiled code: their rejection sampling takes seconds to compile.
    """
    whole = in_dim + out_dim
    if width < whole:
        return np.ones(whole)
    return np.sqrt(generator(key, 1).chisquare([float(width - j) for j in range(whole)]))


def padded_gaussian(
    key: jax.Array, roots: jax.Array, *, in_dim: int, out_dim: int, rows: int, width: jax.Array, std: jax.Array
) -> tuple[jax.Array, jax.Array]:
    r"""Return both layers with the distribution of `inits.reduced_gaussian`, with zeros up to a width of `rows`.

    Entries of $[W_1, W_2^\top]$ are standard normal in the first `width` rows; from a width of $d + k$ on, those above
    the diagonal are, and the diagonal is `roots`. Everything is multiplied by `std`. Networks of many widths have one
    shape, so that they are drawn and trained in one batch.

    - `key`: a typed JAX key; it fixes the draw on every device, up to rounding, whatever `rows` is
    - `roots`: result of `diagonal_roots`, (input + output)
    - `rows`: number of rows, at least the reduced width min(width, d + k)
    - `width`: width $h$, a float (exact up to $2^{53}$)
    """
    whole = in_dim + out_dim
    if rows > whole:
        raise ValueError(f"`rows` must be at most in_dim + out_dim = {whole}: got {rows}.")
    normal = jax.random.normal(key, (rows, whole), jnp.float64)
    matrix = jnp.where(jnp.arange(rows)[:, None] < width, normal, 0)
    if rows == whole:
        matrix = jnp.where(width >= whole, jnp.triu(normal, 1) + jnp.diag(roots), matrix)
    return std * matrix[:, :in_dim], std * matrix[:, in_dim:].T
