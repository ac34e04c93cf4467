"""The commutator's size against the matrix it is the norm of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln


def test_it_is_the_operator_norm_of_the_commutator():
    rng = np.random.default_rng(0)
    weights = ln.Weights(rng.standard_normal((3, 4, 2)), rng.standard_normal((3, 1, 4)))
    sizes, sines = ln.observables.commutator(weights), ln.observables.commutator(weights, normalized=True)
    assert sizes.shape == (3, 2)
    for path in range(3):
        for i in range(2):
            z, a = weights.first[path, :, i], weights.second[path, 0]
            matrix = np.outer(z, a) - np.outer(a, z)
            assert_allclose(sizes[path, i], np.linalg.norm(matrix, 2), rtol=1e-12)
            assert_allclose(sines[path, i], sizes[path, i] / (np.linalg.norm(z) * np.linalg.norm(a)), rtol=1e-12)


def test_aligned_pairs_keep_their_digits_and_zeros_are_zero():
    a = np.array([1.0, 2.0])
    z = 1e3 * a + 1e-9 * np.array([-2.0, 1.0])
    weights = ln.Weights(np.stack([z, np.zeros(2)], axis=1), a[None])
    assert_allclose(ln.observables.commutator(weights), [5e-9, 0.0], rtol=1e-3)
    assert np.isnan(ln.observables.commutator(ln.Weights(np.eye(2), np.zeros((1, 2))), normalized=True)).all()


def test_more_outputs_are_refused():
    with pytest.raises(ValueError, match="must have one output"):
        ln.observables.commutator(ln.Weights(np.eye(2), np.ones((2, 2))))
