"""The narrow network whose descent stands for the self-consistent dynamics, on the training side; compiled and
batched."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def narrow_network(product: jax.Array, threshold: jax.Array | float) -> tuple[jax.Array, jax.Array]:
    r"""First and second layer of the network of width $\min(k, d)$ with this product and the imbalance $\pm 2gI$.

    The sign is plus for $k \ge d$ and minus for $k < d$. The stronger layer is the symmetric root of
    $g + \sqrt{A^\top A + g^2}$ (of $A A^\top$ for fewer outputs than inputs); the other follows from the product.

    - `product`: $A$, (output, input)
    - `threshold`: $g \ge 0$
    """
    tall = product.shape[0] >= product.shape[1]
    values, vectors = jnp.linalg.eigh(product.T @ product if tall else product @ product.T)
    size = jnp.sqrt(threshold + jnp.sqrt(jnp.maximum(values, 0) + threshold**2))
    inverse = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1), 0)
    strong, weak = (vectors * size) @ vectors.T, (vectors * inverse) @ vectors.T
    return (strong, product @ weak) if tall else (weak @ product, strong)
