"""The largest singular value from products with vectors, against LAPACK."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.precision import computing
from linnet.trainers.diagrams._largest_value import largest_singular_value


def found(matrices):
    with computing():
        return np.asarray(jax.jit(jax.vmap(largest_singular_value))(jnp.asarray(matrices)))


@pytest.mark.parametrize("shape", [(1, 1), (4, 7), (150, 130)])
def test_it_is_the_operator_norm(shape):
    matrices = np.random.default_rng(0).standard_normal((3, *shape))
    assert_allclose(found(matrices), np.linalg.norm(matrices, 2, axis=(1, 2)), rtol=1e-12)


def test_extremes():
    thin = 1e-100 * np.outer(np.arange(5.0), np.arange(6.0))
    assert_allclose(found(np.stack([thin, 0 * thin])), [1e-100 * np.sqrt(30 * 55), 0], rtol=1e-12)
    orthogonal = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 40)))[0]  # one value, forty times
    assert_allclose(found(orthogonal[None]), 1, rtol=1e-12)
