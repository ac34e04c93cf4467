"""Gaussian starts drawn inside compiled code: the law of `reduced_gaussian`, at any width."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from drawn import drawn_gaussian
from linnet._randomness import key_data
from linnet.inits.compiled import diagonal_roots, padded_gaussian
from linnet.precision import computing

SHAPE = {"in_dim": 3, "out_dim": 2}


@partial(jax.jit, static_argnames=("rows",))
def compiled(keys, roots, width, std, *, rows):
    def one(key, roots):
        wrapped = jax.random.wrap_key_data(key, impl="threefry2x32")
        return padded_gaussian(wrapped, roots, rows=rows, width=width, std=std, **SHAPE)

    return jax.vmap(one)(keys, roots)


def draws(width, rows, count=4000, std=0.5):
    """Many networks: first layers (draw, row, input) and second layers (draw, output, row)."""
    keys = np.stack([key_data([7, index]) for index in range(count)])
    roots = np.stack([diagonal_roots([7, index], width=width, **SHAPE) for index in range(count)])
    with computing():
        first, second = compiled(jnp.asarray(keys), jnp.asarray(roots), float(width), std, rows=rows)
        return np.asarray(first), np.asarray(second)


@pytest.mark.parametrize(("width", "rows"), [(2, 3), (2, 5), (4, 5), (5, 5), (9, 5), (10**6, 5)])
def test_gram_matrices_and_products_have_the_law_of_wide_networks(width, rows):
    first, second = draws(width, rows)
    plain = ln.inits.reduced_gaussian(key=1, width=width, stds=0.5, batch=4000, **SHAPE)
    for ours, theirs in (
        (np.swapaxes(first, 1, 2) @ first, np.swapaxes(plain.first, 1, 2) @ plain.first),
        (second @ np.swapaxes(second, 1, 2), plain.second @ np.swapaxes(plain.second, 1, 2)),
        (second @ first, plain.second @ plain.first),
    ):
        for power in (1, 2):  # means and second moments of every entry, in standard errors
            a, b = ours**power, theirs**power
            error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 4000)
            assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) / error).max() < 4.5
    other = draws(width, rows, std=0.55)[0]  # a wrong standard deviation is seen
    gram, wrong = ((np.swapaxes(layer, 1, 2) @ layer)[:, 0, 0] for layer in (first, other))
    assert abs(gram.mean() - wrong.mean()) / np.sqrt((gram.var() + wrong.var()) / 4000) > 6


def test_a_narrow_network_is_filled_up_with_silent_units():
    first, second = draws(2, 5, count=3)
    assert not first[:, 2:].any() and not second[:, :, 2:].any()
    assert (first[:, :2] != 0).all()


def test_a_key_fixes_its_network_whatever_is_drawn_beside_it():
    assert_allclose(draws(9, 5, count=5)[0][:3], draws(9, 5, count=3)[0], rtol=1e-14)
    assert_allclose(draws(2, 5, count=3)[0][:, :3], draws(2, 3, count=3)[0], rtol=1e-14)  # nor how far it is filled up
    one = drawn_gaussian([7, 2], width=9, std=0.5, **SHAPE)
    assert_allclose(one.first, draws(9, 5, count=3)[0][2], rtol=1e-14)


def test_more_rows_than_a_reduced_network_has_are_refused():
    with pytest.raises(ValueError, match="`rows` must be at most"):
        draws(9, 6, count=1)
