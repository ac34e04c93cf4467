"""The narrow network of the self-consistent dynamics: its product, its imbalance, its limits."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.precision import computing
from linnet.trainers.diagrams._narrow_network import narrow_network


def layers(product, threshold):
    with computing():
        return tuple(np.asarray(layer) for layer in narrow_network(np.asarray(product), threshold))


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6)])
@pytest.mark.parametrize("threshold", [1e-3, 0.4, 50.0])
def test_it_has_the_product_and_an_isotropic_imbalance(shape, threshold):
    product = np.random.default_rng(1).standard_normal(shape)
    first, second = layers(product, threshold)
    assert first.shape == (min(shape), shape[1])
    assert_allclose(second @ first, product, atol=1e-12)
    sign = 1 if shape[0] >= shape[1] else -1
    imbalance = first @ first.T - second.T @ second
    assert_allclose(imbalance, sign * 2 * threshold * np.eye(min(shape)), atol=1e-11 * (1 + threshold))
    other = ln.inits.balanced(product, sign * 2 * threshold)  # the same network by another way, up to a rotation
    assert_allclose(first.T @ first, other.first.T @ other.first, atol=1e-11 * (1 + threshold))
    assert np.abs(first.T @ first - 2 * other.first.T @ other.first).max() > 0.01  # a wrong factor is seen


def test_starts_without_rank_and_batches():
    zero, second = layers(np.zeros((3, 3)), 0.5)
    assert_allclose(zero.T @ zero, np.eye(3), atol=1e-14)
    assert not second.any()
    thin = np.outer([1.0, 2.0, 0.0], [0.0, 3.0, 1.0])
    with computing():
        batch = tuple(map(np.asarray, jax.vmap(narrow_network)(np.stack([thin, thin]), np.array([0.01, 2.0]))))
    for index, threshold in enumerate([0.01, 2.0]):
        assert_allclose(batch[1][index] @ batch[0][index], thin, atol=1e-12)
        assert_allclose(batch[0][index], layers(thin, threshold)[0], atol=1e-12)
