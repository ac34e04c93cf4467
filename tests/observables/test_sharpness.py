"""The largest eigenvalues of the Hessian against the full matrix, by JAX's automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.observables import sharpness
from linnet.precision import computing
from reference import random_moments


def full_eigenvalues(problem, layers):
    """All eigenvalues of the Hessian of the loss at full width, decreasing."""
    shapes = [layer.shape for layer in layers]
    ends = np.cumsum([layer.size for layer in layers])[:-1]
    with computing():
        X, Y = jnp.asarray(problem.inputs), jnp.asarray(problem.outputs)

        def loss(entries):
            parts = [p.reshape(shape) for p, shape in zip(jnp.split(entries, ends), shapes, strict=True)]
            found = X
            for part in parts:
                found = found @ part.T
            return 0.5 * jnp.sum((Y - found) ** 2) / len(X)

        hessian = jax.jit(jax.hessian(loss))(jnp.concatenate([jnp.asarray(layer).ravel() for layer in layers]))
        return np.linalg.eigvalsh(np.asarray(hessian))[::-1]


@pytest.mark.parametrize(
    ("depth", "width", "samples"),
    [
        (2, 3, 4),
        pytest.param(2, 14, 4, marks=pytest.mark.slow),
        (2, 14, 30),
        pytest.param(3, 7, 4, marks=pytest.mark.slow),
        (4, 4, 30),
    ],
)
def test_it_is_the_spectrum_of_the_full_hessian(depth, width, samples):
    X, Y = random_moments(2, 5, 3, samples)
    problem = ln.Problem.from_data(X, Y)
    # small weights: there the residual's singular values are among the largest
    for std in (0.05, 0.5):
        start = ln.inits.gaussian(key=1, in_dim=5, out_dim=3, width=width, depth=depth, stds=std)
        wanted = full_eigenvalues(problem, start.layers)
        for count in (1, 9):
            assert_allclose(sharpness(problem, start, count), wanted[:count], rtol=1e-9, atol=1e-12)


def test_many_weights_are_never_a_matrix():
    X, Y = random_moments(2, 12, 4, 50)
    problem = ln.Problem.from_data(X, Y)
    start = ln.inits.gaussian(key=1, in_dim=12, out_dim=4, width=18, depth=3, stds=0.3)
    wanted = np.array([full_eigenvalues(problem, start.layers)[:2]])
    assert_allclose(sharpness(problem, ln.Weights.stack([start]), 2), wanted, rtol=1e-8)
    wide = ln.inits.gaussian(key=1, in_dim=12, out_dim=4, width=20_000, stds=0.01)
    top = sharpness(problem, wide)[0]
    kernel = np.linalg.eigvalsh(ln.observables.ntk(wide, X))[-1] / len(X)
    residual = np.linalg.norm(problem.residual(wide.product), 2)
    assert kernel - residual <= top <= kernel + residual


def test_flow_ends_where_the_solution_says_and_nonsense_is_refused():
    problem = ln.Problem.from_target(np.diag([4.0, 1.0]))
    balanced = ln.inits.balanced(np.diag([4.0, 1.0]))
    assert_allclose(sharpness(problem, balanced)[0], 8.0, rtol=1e-12)  # twice the largest singular value
    with pytest.raises(ValueError, match="`count` must be"):
        sharpness(problem, balanced, 0)
    with pytest.raises(ValueError, match="`problem` must be "):
        sharpness(np.eye(2), balanced)
