"""The tangent kernel of a network of any depth, compared with finite differences of its outputs."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.observables import ntk, ntk_operator

RANDOM = np.random.default_rng(3)


def jacobian(layers, X):
    """Derivatives of all outputs on the samples X with respect to every weight, by central differences."""
    columns = []
    for layer in layers:
        for index in np.ndindex(layer.shape):
            outputs = []
            for sign in (1, -1):
                layer[index] += sign * 1e-6
                product = np.linalg.multi_dot(layers[::-1])
                outputs.append((X @ product.T).ravel())
                layer[index] -= sign * 1e-6
            columns.append((outputs[0] - outputs[1]) / 2e-6)
    return np.array(columns).T


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_kernel_is_the_jacobian_times_its_transpose(depth):
    shapes = [3, *range(4, 3 + depth), 2]
    layers = [RANDOM.standard_normal((out, into)) for into, out in itertools.pairwise(shapes)]
    weights, X = ln.Weights(*layers), RANDOM.standard_normal((4, 3))
    derivatives = jacobian([layer.copy() for layer in layers], X)
    scale = np.abs(derivatives).max() ** 2
    assert_allclose(ntk(weights, X), derivatives @ derivatives.T, atol=1e-7 * scale)
    wrong = ntk(ln.Weights(*layers[:-1], 1.1 * layers[-1]), X)  # the control
    assert np.abs(wrong - derivatives @ derivatives.T).max() > 1e-2 * scale


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_operator_is_the_velocity_of_the_product(depth):
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=4, depth=depth, stds=0.7)
    residual = RANDOM.standard_normal((2, 3))
    layers, moved, step = weights.layers, [], 1e-6
    for sign in (1, -1):
        later = []
        for index, layer in enumerate(layers):
            above, below = np.eye(layer.shape[0]), np.eye(3)
            for other in layers[index + 1 :]:
                above = other @ above
            for other in layers[:index]:
                below = other @ below
            later.append(layer + sign * step * above.T @ residual @ below.T)
        moved.append(ln.Weights(*later).product)
    assert_allclose(ntk_operator(weights, residual), (moved[0] - moved[1]) / (2 * step), atol=1e-8)
