import tracemalloc

import numpy as np
import pytest

import linnet as ln
from reference import random_moments


def brute_force(X, Y, A):
    return 0.5 * np.mean(np.sum((Y - X @ A.T) ** 2, axis=1))


@pytest.mark.parametrize(("n", "d", "k"), [(20, 6, 3), (4, 6, 3), (6, 6, 1)])
def test_the_loss_is_that_of_the_samples_from_data_and_from_moments(n, d, k):
    X, Y = random_moments(0, d, k, n)
    A = np.random.default_rng(1).standard_normal((5, k, d))
    wanted = [brute_force(X, Y, a) for a in A]
    data = ln.Problem.from_data(X, Y)
    moments = ln.Problem.from_moments(X.T @ X / n, Y.T @ X / n, output_power=np.mean(np.sum(Y**2, axis=1)))
    assert np.allclose(data.loss(A), wanted, rtol=1e-14)
    assert np.allclose(moments.loss(A), wanted, rtol=1e-12)
    assert np.allclose(data.cov, X.T @ X / n) and np.allclose(data.cross, Y.T @ X / n)


def test_losses_keep_their_digits_near_the_minimum():
    """An interpolating product has a loss of rounding squared, not of rounding."""
    random = np.random.default_rng(0)
    X, truth = random.standard_normal((50, 6)), random.standard_normal((2, 6))
    problem = ln.Problem.from_data(X, X @ truth.T, truth=truth)
    moments = ln.Problem.from_moments(problem.cov, problem.cross, truth=truth)
    for p in (problem, moments):
        assert p.loss(truth) < 1e-25
        assert p.loss(truth + 1e-9) == pytest.approx(problem.loss(truth + 1e-9), rel=1e-4)
        assert p.test_loss(truth + 1e-9) == pytest.approx(0.5e-18 * 2 * problem.cov.sum(), rel=1e-5)


def test_the_test_loss_is_against_the_truth_under_its_own_covariance():
    random = np.random.default_rng(0)
    X, Y = random_moments(0, 5, 2, 8)
    truth, A, root = random.standard_normal((2, 5)), random.standard_normal((2, 5)), random.standard_normal((5, 5))
    own = ln.Problem.from_data(X, Y, truth=truth, test_cov=root @ root.T)
    assert own.test_loss(A) == pytest.approx(0.5 * np.sum(((A - truth) @ root) ** 2))
    shared = ln.Problem.from_data(X, Y, truth=truth)
    assert shared.test_loss(A) == pytest.approx(0.5 * np.mean(np.sum((X @ (A - truth).T) ** 2, axis=1)))


@pytest.mark.parametrize(("n", "d"), [(20, 6), (4, 6)])
def test_the_minimum_norm_solution_is_the_pseudo_inverse(n, d):
    X, Y = random_moments(0, d, 3, n)
    assert np.allclose(ln.Problem.from_data(X, Y).min_norm_solution(), (np.linalg.pinv(X) @ Y).T, atol=1e-12)
    moments = ln.Problem.from_moments(X.T @ X / n, Y.T @ X / n)
    assert np.allclose(moments.min_norm_solution(), (np.linalg.pinv(X) @ Y).T, atol=1e-9)


def test_the_loss_without_output_power_is_zero_at_the_minimum():
    X, Y = random_moments(0, 6, 3, 30)
    problem = ln.Problem.from_moments(X.T @ X, Y.T @ X)
    assert problem.loss(problem.min_norm_solution()) < 1e-20


def test_few_samples_in_many_dimensions_never_form_their_covariance():
    d = 20_000
    X = np.random.default_rng(0).standard_normal((5, d))
    tracemalloc.start()
    problem = ln.Problem.from_data(X, X[:, 0])
    weights = ln.Weights(np.full((3, d), 1e-3), np.full((1, 3), 1e-3))
    trajectory = ln.gradient_descent(problem, weights, learning_rate=1e-6, steps=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert trajectory.reduced.in_dim == 5
    assert peak < d * d * 8 / 20  # a covariance would be 3.2 GB


def test_costs_are_evaluated_as_written():
    import jax.numpy as jnp

    problem = ln.Problem.from_cost(lambda A: jnp.sum(jnp.cosh(A)), in_dim=3, out_dim=2, truth=np.zeros((2, 3)))
    A = np.random.default_rng(0).standard_normal((4, 2, 3))
    assert np.allclose(problem.loss(A), np.cosh(A).sum(axis=(-1, -2)), rtol=1e-14)
    assert np.allclose(problem.test_loss(A), 0.5 * (A**2).sum(axis=(-1, -2)))


def test_a_batch_of_problems_is_each_of_them():
    pairs = [random_moments(seed, 6, 2, 4) for seed in range(3)]
    X, Y = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    together = ln.Problem.from_data(X, Y)
    A = np.random.default_rng(0).standard_normal((3, 2, 6))
    assert together.batch == 3
    for i, (x, y) in enumerate(pairs):
        alone = ln.Problem.from_data(x, y)
        assert together.loss(A)[i] == pytest.approx(alone.loss(A[i]), rel=1e-14)
        assert np.allclose(together.min_norm_solution()[i], alone.min_norm_solution(), atol=1e-12)


def test_what_a_problem_was_made_of_cannot_change_behind_it():
    X, Y = random_moments(0, 5, 2, 8)
    problem = ln.Problem.from_data(X, Y, truth=np.ones((2, 5)))
    for array in (problem.cov, problem.cross, problem.truth, problem.inputs):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0
    X[0, 0] = 5.0  # the user's own array is still theirs


NAN = np.full((4, 3), np.nan)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ln.Problem.from_data(np.ones((4, 3)), np.ones(5)), "the same number of samples"),
        (lambda: ln.Problem.from_data(np.ones((0, 3)), np.ones(0)), "`X` is empty"),
        (lambda: ln.Problem.from_data(NAN, np.ones(4)), "`X` must be finite: 12 of 12"),
        (lambda: ln.Problem.from_data(np.ones((4, 3)), np.full(4, np.inf)), "`Y` must be finite"),
        (lambda: ln.Problem.from_data("no", np.ones(4)), "`X` must be an array of real numbers"),
        (lambda: ln.Problem.from_data(np.ones((4, 3)), np.ones(4), truth=np.ones((2, 3))), r"`truth` must be \(1, 3\)"),
        (lambda: ln.Problem.from_data(np.ones((4, 3)), np.ones(4), test_cov=np.eye(4)), r"`test_cov` must be \(3, 3\)"),
        (lambda: ln.Problem.from_moments(np.triu(np.ones((3, 3))), np.ones((2, 3))), "`cov` must be symmetric"),
        (lambda: ln.Problem.from_moments(-np.eye(3), np.ones((2, 3))), "`cov` must be positive semi-definite"),
        (lambda: ln.Problem.from_moments(np.eye(4), np.ones((2, 3))), r"`cov` must be \(3, 3\)"),
        (
            lambda: ln.Problem.from_moments(np.eye(3), np.ones((2, 3)), output_power=-1),
            "`output_power` must not be negative",
        ),
        (
            lambda: ln.Problem.from_moments(np.eye(3), np.ones((2, 3)), output_power=1).loss(np.zeros((2, 3))),
            "at least 6",
        ),
        (lambda: ln.Problem.from_target(np.ones(3)), "`target` must have 2 or 3 axes"),
        (lambda: ln.Problem.from_target(np.eye(3)).loss(np.eye(2)), r"`A` must be \(\.\.\., 3, 3\)"),
        (lambda: ln.Problem.from_target(np.eye(3)).test_loss(np.eye(3)), "`test_loss` needs a problem with a `truth`"),
        (
            lambda: ln.Problem.from_cost(lambda A: A, in_dim=2, out_dim=2),
            r"`cost` must return one number: it returned \(2, 2\)",
        ),
        (lambda: ln.Problem.from_cost(np.linalg.svd, in_dim=2, out_dim=2), "`cost` must be written with jax.numpy"),
        (lambda: ln.Problem.from_target(np.ones((2, 3, 3)), truth=np.ones((4, 3, 3))), "share one batch size"),
        (lambda: ln.Problem.from_cost(3, in_dim=2, out_dim=2), "`cost` must be a function"),
        (
            lambda: ln.Problem.from_cost(lambda A: (A**2).sum(), in_dim=2, out_dim=2).min_norm_solution(),
            "has no moments",
        ),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
