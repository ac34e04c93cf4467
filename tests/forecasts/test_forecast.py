"""A forecast is the run itself: against plain NumPy descent at full width, closed forms, and rates tried on both
sides."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.forecasts import largest_stable_rate
from reference import descend


def descent(X, Y, weights, rate, steps):
    """Full-width gradient descent in plain NumPy: the loss and the product at every step."""
    n = len(X)
    products = descend(weights.layers, Y.T @ X / n, rate, steps, cov=X.T @ X / n)
    return np.array([0.5 * ((Y - X @ product.T) ** 2).sum() / n for product in products]), products


@pytest.fixture(scope="module")
def digits():
    data = pytest.importorskip("sklearn.datasets")
    X, labels = data.load_digits(return_X_y=True)
    X, Y = X[:400], np.eye(10)[labels[:400]]
    return (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), Y - Y.mean(0)


def test_the_forecast_is_the_full_network_at_every_step(digits):
    X, Y = digits
    problem = ln.Problem.from_data(X, Y).with_validation(X[::2] + 0.1, Y[::2])
    start = ln.inits.gaussian(key=0, in_dim=64, out_dim=10, width=200, stds=(0.07, 0.04))
    told = ln.forecast(problem, start, steps=120, save_every=1)
    losses, products = descent(X, Y, start, told.learning_rate, 120)
    assert_allclose(told.loss, losses, rtol=1e-10)
    scale = np.abs(products[-1]).max()
    assert_allclose(told.trajectory.products, products, atol=1e-10 * scale)
    held = 0.5 * ((Y[::2] - np.einsum("toi,ni->tno", products, X[::2] + 0.1)) ** 2).sum(axis=(1, 2)) / len(Y[::2])
    assert_allclose(told.validation_loss, held, rtol=1e-10)
    assert told.best_step == int(np.argmin(held))


def test_modes_are_half_learned_when_half_their_residual_is_gone(digits):
    X, Y = digits
    problem = ln.Problem.from_data(X, Y)
    start = ln.inits.reduced_gaussian(key=0, in_dim=64, out_dim=10, width=10**6, stds=1e-4)
    told = ln.forecast(problem, start)
    cross, cov = Y.T @ X / len(X), X.T @ X / len(X)
    left, strengths, right = np.linalg.svd(cross, full_matrices=False)
    assert_allclose(told.regimes.strengths, strengths[: len(told.half_steps)], rtol=1e-8)
    residual = cross - told.trajectory.products @ cov
    for mode in (0, 3):
        along = np.einsum("o,toi,i->t", left[:, mode], residual, right[mode])
        first = int(np.argmax(along <= 0.5 * along[0]))
        assert told.steps[first - 1] <= told.half_steps[mode] <= told.steps[first]
    assert (np.diff(told.half_steps[:3]) >= 0).all()  # stronger modes come first
    assert set(told.learned) == {"actively"}
    assert told.loss[-1] <= problem.factor.floor + 1.01e-3 * (told.loss[0] - problem.factor.floor)


def test_lazily_crossing_and_actively():
    start = ln.inits.reduced_gaussian(key=0, in_dim=3, out_dim=3, width=10**8, stds=1e-4)
    told = ln.forecast(ln.Problem.from_target(np.diag([10.0, 1.5, 0.2])), start, learning_rate=0.002, steps=4000)
    assert_allclose(told.regimes.thresholds, 1.0, rtol=1e-3)
    assert told.learned == ["actively", "crossing", "lazily"]
    assert_allclose(told.kernel[-1], np.sqrt(1 + np.array([10.0, 1.5, 0.2]) ** 2), rtol=0.02)


@pytest.mark.parametrize("variance", [1.0, 4.0])
def test_the_closed_form_stands_beside_whitened_runs(variance):
    target = np.diag([4.0, 2.0, 0.5])
    problem = ln.Problem.from_moments(variance * np.eye(3), variance * target)
    start = ln.inits.reduced_gaussian(key=0, in_dim=3, out_dim=3, width=10**8, stds=(1e-4, 2e-4))
    told = ln.forecast(problem, start, learning_rate=1e-3 / variance, steps=1500)
    assert told.prediction is not None
    assert_allclose(told.predicted_shares, told.shares, atol=0.01)
    assert_allclose(told.prediction.loss, told.loss, atol=0.01 * told.loss[0])
    tilted = ln.Problem.from_moments(np.diag([1.0, 1.0, 1.1]), target)
    assert ln.forecast(tilted, start, steps=10).prediction is None


def test_the_closed_form_of_lambda_balanced_weights_has_their_sign():
    """The self-consistent equation has the other sign at two inputs and three outputs, and would be 0.1 off."""
    first, second = np.eye(2) * 0.5, np.linalg.qr(np.random.default_rng(0).standard_normal((3, 2)))[0] * 1.2
    problem = ln.Problem.from_target(np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    told = ln.forecast(problem, ln.Weights(first, second), learning_rate=1e-3, steps=3000)
    assert_allclose(told.predicted_shares, told.shares, atol=5e-3)
    g = abs(0.5**2 - 1.2**2) / 2
    other = ln.theories.lazy_active.self_consistent(problem, second @ first, g, told.trajectory.times)
    assert np.abs(other - told.trajectory.products).max() > 0.1


@pytest.mark.parametrize(("width", "std"), [(300, 0.1), (10**6, 1e-4)])
def test_rates_five_percent_above_diverge_and_below_do_not(width, std):
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 5)) * np.array([2.0, 1.0, 1.0, 0.5, 0.3])
    problem = ln.Problem.from_data(X, X @ random.standard_normal((5, 3)))
    start = ln.inits.reduced_gaussian(key=1, in_dim=5, out_dim=3, width=width, stds=std)
    found = largest_stable_rate(problem, start, steps=400)
    assert found.checked and found.rate > ln.stable_learning_rate(problem, start)
    for share, reason in ((0.95, "completed"), (1.05, "diverged")):
        run = ln.gradient_descent(
            problem, start, learning_rate=share * found.rate, steps=400, throw=False, save_every=400
        )
        assert run.status.reason == reason


def test_a_forecast_tells_itself(digits):
    X, Y = digits
    problem = ln.Problem.from_data(X, Y, truth=np.linalg.lstsq(X, Y, rcond=None)[0].T)
    start = ln.inits.gaussian(key=0, in_dim=64, out_dim=10, width=80, stds=0.05)
    told = ln.forecast(problem, start, steps=50)
    text = str(told)
    assert "modes are learned" in text and "test loss" in text and "half learned at step" in text
    held = told.to_dataset()
    assert held["share"].dims == ("time", "mode") and held["loss"].sizes["time"] == 51
    assert_allclose(held["kernel"][0], 1.0)
    assert len(told.plot().axes) == 3


def test_a_cost_has_a_forecast_too():
    problem = ln.Problem.from_cost(lambda A: 0.5 * ((A - 2.0) ** 2).sum(), in_dim=2, out_dim=2)
    same = ln.Problem.from_target(np.full((2, 2), 2.0))
    start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=30, stds=0.2)
    with pytest.raises(ValueError, match="`learning_rate` must be given for a general cost"):
        ln.forecast(problem, start)
    told, plain = (ln.forecast(p, start, learning_rate=0.02, steps=60) for p in (problem, same))
    assert_allclose(told.shares, plain.shares, atol=1e-8)
    assert told.learned == plain.learned
