"""`Weights` of any depth: what they hold and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linnet as ln

RANDOM = np.random.default_rng(0)
MATRICES = [RANDOM.standard_normal(shape) for shape in ((5, 3), (4, 5), (2, 4))]


def test_product_and_imbalances():
    layers = ln.Weights(*MATRICES)
    one, two, three = MATRICES
    assert (layers.depth, layers.width, layers.widths, layers.in_dim, layers.out_dim) == (3, 5, (5, 4), 3, 2)
    assert_allclose(layers.product, three @ (two @ one), rtol=1e-15)
    assert_allclose(layers.above, three @ two, rtol=1e-15)
    assert_allclose(layers.imbalances[0], one @ one.T - two.T @ two)
    assert_allclose(layers.imbalances[1], two @ two.T - three.T @ three)
    assert repr(layers) == "Weights(depth=3, width=5-4, in_dim=3, out_dim=2)"


def test_two_layers_have_names_that_deeper_networks_do_not():
    weights = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=5, stds=1.0)
    assert weights.depth == 2
    assert_array_equal(weights.imbalances[0], weights.imbalance)
    assert_array_equal(weights.second, weights.last)
    deep = ln.Weights(*MATRICES)
    with pytest.raises(ValueError, match=r"`second` exists for two layers: these weights have 3. Use `.last`"):
        deep.second  # noqa: B018
    with pytest.raises(ValueError, match=r"`imbalance` exists for two layers: these weights have 3. Use `.imbalances`"):
        deep.imbalance  # noqa: B018


def test_batches():
    layers = ln.Weights.stack([ln.Weights(*MATRICES), ln.Weights(*(2 * matrix for matrix in MATRICES))])
    assert layers.batch == 2
    assert_allclose(layers.product[1], 8 * layers.product[0])
    assert_array_equal(layers[1].layers[0], 2 * MATRICES[0])
    with pytest.raises(IndexError, match="within the leading axes"):
        layers[2]
    with pytest.raises(IndexError, match="single network"):
        layers[0][0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([MATRICES[0]], "two or more matrices, W1 to WL: got 1. One layer is linear regression"),
        ([MATRICES[0], MATRICES[2]], r"`W2` must have as many columns as `W1` has rows"),
        ([MATRICES[0], np.ones(5)], r"`W2` must be a matrix"),
        ([MATRICES[0], np.full((4, 5), np.nan), MATRICES[2]], r"`W2` must be finite"),
        ([MATRICES[0], MATRICES[1][None], MATRICES[2][None]], "share their leading axes"),
        ([MATRICES], r"got 1. Unpack a list of matrices: `ln.Weights\(\*matrices\)`"),
        ([3.0, 2.0], "`W1` must be a matrix"),
    ],
)
def test_what_is_not_a_network_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        ln.Weights(*wrong)


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_balanced_layers(depth):
    product = RANDOM.standard_normal((3, 4))
    start = ln.inits.balanced(product, depth=depth, width=6)
    assert_allclose(start.product, product, atol=1e-13)
    assert max(np.abs(m).max() for m in start.imbalances) < 1e-13
    with pytest.raises(ValueError, match="at least the rank of `product`, 3: got 2"):
        ln.inits.balanced(product, depth=depth, width=2)


def test_orthogonal_layers():
    start = ln.inits.orthogonal_layers(in_dim=3, out_dim=2, width=[5, 4], depth=3, scales=[1.0, 2.0, 3.0], key=0)
    one, two, three = start.layers
    assert_allclose(one.T @ one, np.eye(3), atol=1e-14)
    assert_allclose(two @ two.T, 4 * np.eye(4), atol=1e-14)
    assert_allclose(three @ three.T, 9 * np.eye(2), atol=1e-13)


def test_scalings_by_name():
    """Each is what it is in its usual form: weights of unit variance times a factor (ntk), and so on."""
    sizes = {"in_dim": 4, "out_dim": 2, "width": 100, "depth": 3}
    ntk, mup, torch = (ln.inits.scaling(name, **sizes) for name in ("ntk", "mup", "pytorch"))
    assert_allclose(ntk.stds, [0.5, 0.1, 0.1])
    assert_allclose(ntk.rates, [1 / 4, 1 / 100, 1 / 100])
    assert_allclose(mup.stds, [0.5, 0.1, 0.01])
    assert_allclose(mup.rates, [100, 1, 0.01])
    assert_allclose(torch.stds, np.array([0.5, 0.1, 0.1]) / np.sqrt(3))
    louder = ln.inits.scaling("ntk", **sizes, output_factor=10.0)
    assert_allclose(louder.stds, [0.5, 0.1, 1.0])
    assert_allclose(louder.rates, [1 / 4, 1 / 100, 1.0])
    drawn = ln.inits.gaussian(**sizes, stds="mup", key=0)
    assert_allclose([layer.std() for layer in drawn.layers], mup.stds, rtol=0.2)
    with pytest.raises(ValueError, match="`stds` must be numbers, or one of ntk, mup, pytorch"):
        ln.inits.gaussian(**sizes, stds="xavier", key=0)
    with pytest.raises(ValueError, match="one number or one for each of the 3 layers: got 2"):
        ln.inits.gaussian(**sizes, stds=[1.0, 1.0], key=0)
    with pytest.raises(ValueError, match="one for each of the 2 hidden layers: got 3"):
        ln.inits.gaussian(**(sizes | {"width": [5, 5, 5]}), stds=1.0, key=0)


@pytest.mark.parametrize("width", [2 * 10**8, 10**19, 1e150])
def test_balanced_layers_that_do_not_fit_are_refused(width):
    with pytest.raises(ValueError, match=r"3 balanced layers of `width` = \d+ would take .* GiB"):
        ln.inits.balanced(np.eye(2), depth=3, width=width)


def test_sizes_beyond_float64_are_refused():
    with pytest.raises(ValueError, match=r"`gaussian` of .*`stds`.* is beyond the range"):
        ln.inits.gaussian(in_dim=3, out_dim=2, width=5, depth=3, stds=np.finfo(float).max, key=0)
    for factor in (1e300, 1e-300):  # the square of the second is zero: its layer would never move
        with pytest.raises(ValueError, match=r"`scaling` of .*`output_factor`.* is beyond the range"):
            ln.inits.scaling("mup", in_dim=3, out_dim=2, width=5, depth=3, output_factor=factor)
