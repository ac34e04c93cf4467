import jax
import numpy as np
import pytest

import linnet as ln

SHAPE = {"in_dim": 4, "out_dim": 3}


def test_gaussian_has_its_scales_and_follows_its_key():
    def make(key):
        return ln.inits.gaussian(key=key, width=4000, stds=(0.5, 2.0), **SHAPE)

    weights = make(0)
    assert weights.first.shape == (4000, 4) and weights.second.shape == (3, 4000)
    assert weights.first.std() == pytest.approx(0.5, rel=0.05)
    assert weights.second.std() == pytest.approx(2.0, rel=0.05)
    assert np.array_equal(make(0).first, weights.first)
    assert not np.array_equal(make(1).first, weights.first)
    typed, raw = jax.random.key(3), jax.random.PRNGKey(3)
    assert np.array_equal(make(typed).first, make(raw).first)


def test_orthogonal_is_isotropic():
    weights = ln.inits.orthogonal(key=0, width=9, scale=0.25, **SHAPE)
    assert np.allclose(weights.first.T @ weights.first, 0.5 * np.eye(4), atol=1e-14)
    assert not weights.second.any()


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
@pytest.mark.parametrize("imbalance", [0.0, 0.6, -0.6, 1e-12])
def test_balanced_has_its_product_and_imbalance(shape, imbalance):
    product = np.random.default_rng(0).standard_normal(shape)
    product[:, 0] = 0
    weights = ln.inits.balanced(product, imbalance)
    assert weights.width == min(shape)
    assert np.allclose(weights.product, product, atol=1e-13)
    assert np.allclose(weights.imbalance, imbalance * np.eye(weights.width), atol=1e-13)


def test_balanced_at_other_widths():
    product = np.outer([1.0, 2, 3], [1.0, -1, 0, 2, 1])
    assert np.allclose(ln.inits.balanced(product, 0.3, width=5).imbalance, 0.3 * np.eye(5), atol=1e-13)
    assert np.allclose(ln.inits.balanced(product, width=7).imbalance, 0, atol=1e-13)
    assert np.allclose(ln.inits.balanced(product, width=1).product, product, atol=1e-13)
    zero = ln.inits.balanced(np.zeros((3, 5)))
    assert not zero.first.any() and not zero.second.any()


def test_the_same_start_has_three_names():
    """Orthogonal of scale g after reduction, and balanced(0, 2g), have the same products and Gram matrices."""
    g = 0.2
    problem = ln.Problem.from_target(np.zeros((6, 4)))
    a = ln.reduce(problem, ln.inits.orthogonal(key=0, in_dim=4, out_dim=6, width=50, scale=g)).weights
    b = ln.inits.balanced(np.zeros((6, 4)), 2 * g)
    assert np.allclose(a.first.T @ a.first, b.first.T @ b.first, atol=1e-14)
    assert np.allclose(a.second, 0) and np.allclose(b.second, 0)


def test_networks_of_one_shape_make_a_batch():
    members = [ln.inits.gaussian(key=seed, in_dim=3, out_dim=2, width=4, stds=1) for seed in range(3)]
    batch = ln.Weights.stack(member for member in members)
    assert batch.batch == 3
    assert np.array_equal(batch[1].second, members[1].second)
    with pytest.raises(ValueError, match="`networks` must be one or more of one shape: got none"):
        ln.Weights.stack([])
    with pytest.raises(ValueError, match=r"`networks` must be one or more of one shape: got \[\(\(3, 3\), \(2, 3\)\)"):
        ln.Weights.stack([members[0], ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=3, stds=1)])


def test_signed_has_the_paper_scaling():
    weights = ln.inits.signed(key=0, in_dim=50, width=400, first_std=0.01, magnitude=0.001)
    assert np.allclose(np.abs(weights.second) * 20, 0.001)
    assert 0.4 < (weights.second > 0).mean() < 0.6
    assert weights.first.std() * 20 == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ln.inits.gaussian(key=0, width=0, stds=1, **SHAPE),
            "`width` must be at least 1: got 0",
        ),
        (
            lambda: ln.inits.gaussian(key=0, width=3, stds=(-1, 1), **SHAPE),
            "`stds` must not be negative",
        ),
        (
            lambda: ln.inits.gaussian(key=-1, width=3, stds=1, **SHAPE),
            "`key` must be a non-negative seed",
        ),
        (
            lambda: ln.inits.gaussian(key="a", width=3, stds=1, **SHAPE),
            "`key` must be an integer seed",
        ),
        (
            lambda: ln.inits.gaussian(key=0, width=2.5, stds=1, **SHAPE),
            "`width` must be a whole number",
        ),
        (
            lambda: ln.inits.gaussian(key=0, width=2, stds=(np.nan, 1), **SHAPE),
            "`stds` must be finite",
        ),
        (
            lambda: ln.inits.gaussian(key=0, width=10**12, stds=1, **SHAPE),
            "reduced_gaussian` has the same distribution",
        ),
        (
            lambda: ln.inits.orthogonal(key=0, width=3, scale=1.0, **SHAPE),
            "`width` must be at least the input dimension",
        ),
        (lambda: ln.inits.orthogonal(key=0, width=9, scale=-1.0, **SHAPE), "`scale` must not be negative"),
        (lambda: ln.inits.balanced(np.eye(3), 0.1, width=4), "`width` must be at most 3"),
        (lambda: ln.inits.balanced(np.eye(3), width=2), "at least the rank"),
        (lambda: ln.inits.balanced(np.eye(3), np.inf), "`imbalance` must be finite"),
        (lambda: ln.inits.balanced(np.eye(3), "1"), "`imbalance` must be a number"),
        (
            lambda: ln.inits.orthogonal(key=0, width=10**12, scale=1.0, **SHAPE),
            "an orthogonal start of width .* would take",
        ),
        (
            lambda: ln.inits.reduced_gaussian(key=0, width=10**400, stds=1, **SHAPE),
            "`width` must be at most",
        ),
        (lambda: ln.Weights(np.ones((3, 2)), np.ones((2, 4))), "`W2` must have as many columns as `W1` has rows"),
        (lambda: ln.Weights(np.ones(3), np.ones((2, 3))), "`W1` must be a matrix"),
        (lambda: ln.Weights(np.full((3, 2), np.nan), np.ones((1, 3))), "`W1` must be finite"),
        (lambda: ln.Weights(np.ones((0, 2)), np.ones((1, 0))), "`W1` is empty"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
