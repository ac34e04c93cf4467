"""Rows that are decomposed once: what is condensed from them, and how often `diagnose` and the regressor decompose."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.forecasts._baselines import _partial_least_squares
from linnet.forecasts._rows import Rows, condensed_batch, condensed_problem


def table(n, d, k=1, seed=0, rank=None):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, rank or d)) @ random.standard_normal((rank or d, d))
    return X, X @ random.standard_normal((d, k)) + random.standard_normal((n, k))


@pytest.mark.parametrize(("n", "d", "rank"), [(30, 4, None), (5, 9, None), (30, 6, 3)])
def test_condensed_rows_have_the_moments_and_the_loss_of_all(n, d, rank):
    X, Y = table(n, d, k=2, rank=rank)
    few, many = Rows(X, Y).condensed_rows.problem, ln.Problem.from_data(X, Y)
    assert len(few.inputs) == (rank or min(n, d)) + 1
    assert_allclose(few.cov, X.T @ X / n, atol=1e-12)
    assert_allclose(few.cross, Y.T @ X / n, atol=1e-12)
    product = np.random.default_rng(1).standard_normal((2, d))
    assert_allclose(few.loss(product), many.loss(product), rtol=1e-12)
    assert_allclose(few.factor.floor, many.factor.floor, rtol=1e-9, atol=1e-24)


def test_a_batch_trains_each_member_as_if_alone_and_carries_what_no_data_touch():
    tables = [table(20, 5, seed=1), table(20, 4, seed=2), table(20, 5, seed=3, rank=2)]
    problems = [Rows(*one).problem for one in tables]
    batch = condensed_batch(problems, in_dim=5)
    start = ln.inits.gaussian(key=0, in_dim=5, out_dim=1, width=7, stds=0.4)
    together = ln.gradient_descent(batch, ln.Weights.stack([start] * 3), learning_rate=0.01, steps=50)
    for index, (X, Y) in enumerate(tables):
        padded = np.concatenate([X, np.zeros((20, 5 - X.shape[1]))], axis=1)
        first, second = start.first, start.second
        for _ in range(50):
            pull = (Y - padded @ (second @ first).T).T @ padded / 20
            first, second = first + 0.01 * second.T @ pull, second + 0.01 * pull @ first.T
        assert_allclose(together.products[-1, index], second @ first, rtol=1e-10, atol=1e-12)
    alone = condensed_problem(problems[2].factor, in_dim=5)
    assert alone.factor.rank == 2 and batch.factor.rank == 5


@pytest.fixture
def decomposed(monkeypatch):
    """How often matrices of each shape are decomposed."""
    counts: Counter[tuple[int, ...]] = Counter()

    def counting(name):
        real = getattr(np.linalg, name)

        def called(matrix, *args, **options):
            if name != "norm" or 2 in (*args[:1], options.get("ord")):
                counts[np.shape(matrix)] += 1
            return real(matrix, *args, **options)

        monkeypatch.setattr(np.linalg, name, called)

    for name in ("svd", "eigh", "eig", "qr", "lstsq", "pinv", "matrix_rank", "norm"):
        counting(name)
    return counts


def test_a_diagnosis_decomposes_each_fold_once_and_the_table_once(decomposed):
    X, Y = table(62, 4)
    ln.diagnose(X, Y, folds=2, seeds=2, steps=20)
    many_rows = {shape: count for shape, count in decomposed.items() if len(shape) > 2 or shape[0] >= 31}
    many_rows = {shape: count for shape, count in many_rows.items() if 512 not in shape}  # hidden units, not rows
    assert many_rows == {(31, 4): 2, (62, 4): 1}


def test_the_regressor_decomposes_each_fold_once_and_the_table_once(decomposed):
    pytest.importorskip("sklearn")
    from linnet.estimators import LinearNetworkRegressor

    X, Y = table(62, 4)
    LinearNetworkRegressor(init_scale="cv", cv=2, width=8, max_steps=4000, learning_rate=0.05).fit(X, Y[:, 0])
    many_rows = {shape: count for shape, count in decomposed.items() if len(shape) > 2 or shape[0] >= 31}
    assert {shape: count for shape, count in many_rows.items() if shape[-2] != 8} == {(31, 4): 2, (62, 4): 1}


def test_components_end_where_all_is_explained():
    X, Y = table(40, 6)
    whitened = np.linalg.svd(X - X.mean(0), full_matrices=False)[0]
    products = _partial_least_squares(Rows(whitened, Y - Y.mean(0)).condensed_rows)
    assert len(products) == 1  # one direction holds everything: the next would be made of rounding errors
    assert_allclose(products[0], (whitened.T @ Y).T, atol=1e-12)
    assert not _partial_least_squares(Rows(whitened, np.zeros((40, 1))).condensed_rows).any()


def test_a_whitened_table_of_several_targets_is_diagnosed():
    X, Y = table(90, 12, k=2)
    errors = ln.diagnose(X, Y, preprocess="whiten", seeds=1, steps=30).comparison.baselines["partial least squares"]
    assert np.isfinite(errors).all()
