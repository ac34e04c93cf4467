"""The narrow network whose descent stands for the self-consistent dynamics, in compiled code and in batches.

On a CPU `_numpy_run._PairedRun` makes it by `inits.balanced`, an SVD. Here it is made of products and one Cholesky
factor, because accelerators are slow at eigenvalues: the eigenvalues of a thousand networks would take longer than the
training that follows. The two differ by a rotation of the hidden units, and must have the same product and imbalance.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

Carry = tuple[jax.Array, jax.Array, jax.Array, jax.Array]
MAX_ITERATIONS = 64  # for the root: 20 at a condition of 1e5, 55 at 1e16, that of rounding


def narrow_network(product: jax.Array, threshold: jax.Array | float) -> tuple[jax.Array, jax.Array]:
    r"""Return both layers of the network of width $\min(k, d)$ with this product and the imbalance $\pm 2gI$.

    The sign is plus for $k \ge d$ and minus for $k < d$. The stronger layer is a triangular factor of
    $g + \sqrt{A^\top A + g^2}$ (of $A A^\top$ for fewer outputs than inputs); the other follows from the product.

    - `product`: product $A$, (output, input)
    - `threshold`: threshold $g \ge 0$; one below the rounding of $A^\top A$, at $10^{-8} |A|$, acts as that
    """
    if product.shape[0] < product.shape[1]:
        first, second = narrow_network(product.T, threshold)
        return second.T, first.T
    size = jnp.sqrt(jnp.sum(product * product))
    resolution = jnp.sqrt(jnp.finfo(product.dtype).eps)
    g = jnp.maximum(jnp.maximum(threshold, resolution * size), jnp.finfo(product.dtype).tiny ** 0.25)
    eye = jnp.eye(product.shape[1], dtype=product.dtype)
    gram = _matrix_root(product.T @ product + g**2 * eye) + g * eye
    first = jnp.linalg.cholesky(gram, symmetrize_input=False).T
    return first, solve_triangular(first, product.T, trans="T").T


def _matrix_root(matrix: jax.Array) -> jax.Array:
    """Return the square root of a symmetric positive definite matrix, by the coupled Newton-Schulz iteration."""
    scale = jnp.sqrt(jnp.sum(matrix * matrix))
    eye = jnp.eye(matrix.shape[0], dtype=matrix.dtype)
    enough = 10 * matrix.shape[0] * jnp.finfo(matrix.dtype).eps

    def goes_on(carry: Carry) -> jax.Array:
        count, _, _, error = carry
        return (count < MAX_ITERATIONS) & (error > enough)

    def newton_schulz_step(carry: Carry) -> Carry:
        count, root, inverse, _ = carry
        error = eye - inverse @ root
        step = eye + 0.5 * error
        return count + 1, root @ step, step @ inverse, jnp.sqrt(jnp.sum(error * error))

    start = (jnp.asarray(0), matrix / scale, eye, jnp.asarray(jnp.inf, matrix.dtype))
    root = jax.lax.while_loop(goes_on, newton_schulz_step, start)[1] * jnp.sqrt(scale)
    return 0.5 * (root + root.T)
