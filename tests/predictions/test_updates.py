"""Predictions of spectral descent, Muon and weight decay against exact training."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.updates import Muon, NormalizedDescent, SpectralDescent

TARGET = 2 * np.random.default_rng(5).normal(size=(3, 5))
PROBLEM = ln.Problem.from_target(TARGET)


@pytest.mark.parametrize(
    ("update", "error"),
    [(SpectralDescent(), 0.01), (Muon(newton_schulz_steps=None, momentum=0.5), 0.02), (Muon(scaling=None), 0.4)],
)
def test_two_layers_under_spectral_descent_and_muon(update, error):
    """Muon's first layer steps faster, by the shape of the full network; five iterations leave values of 0.7 to 1.2."""
    width = 10**9
    weights = ln.inits.reduced_gaussian(key=1, in_dim=5, out_dim=3, width=width, stds=(0.1 / width) ** 0.5)
    rate = 0.003 if isinstance(update, SpectralDescent) or update.scaling is None else 0.003 / (width / 5) ** 0.25
    run = ln.gradient_descent(PROBLEM, weights, learning_rate=rate, steps=800, update=update, save_every=100)
    prediction = ln.predict(PROBLEM, weights, run.times, update=update, learning_rate=rate)
    difference = prediction.difference(run)
    assert difference.covered and difference.value < error
    assert prediction.formula.name == "spectral descent"
    assert np.ptp(run.singular_values[:, 0]) > 1  # it moved


@pytest.mark.parametrize("width", [3, 10**8])
def test_weight_decay_of_two_layers(width):
    weights = ln.inits.reduced_gaussian(key=2, in_dim=5, out_dim=3, width=width, stds=(0.3 / width) ** 0.5)
    times = np.linspace(0, 3, 6)
    run = ln.gradient_flow(PROBLEM, weights, times=times, weight_decay=0.4)
    prediction = ln.predict(PROBLEM, weights, times, weight_decay=0.4)
    assert prediction.difference(run).covered and prediction.difference(run).value < 0.01
    assert prediction.difference(ln.gradient_flow(PROBLEM, weights, times=times)).value > 0.05  # which does not decay
    random = np.random.default_rng(0)
    data = ln.Problem.from_data(random.normal(size=(9, 5)), random.normal(size=(9, 3)))
    run = ln.gradient_flow(data, weights, times=times, weight_decay=0.4)
    prediction = ln.predict(data, weights, times, weight_decay=0.4)
    assert prediction.difference(run).covered and prediction.formula.name == "self-consistent, integrated"


def test_weight_decay_of_deep_balanced_networks():
    weights, times = ln.inits.balanced(0.2 * TARGET + 0.1, depth=3), [0.0, 0.5, 2.0]
    run = ln.gradient_flow(PROBLEM, weights, times=times, weight_decay=0.3)
    assert_allclose(ln.predict(PROBLEM, weights, times, weight_decay=0.3).products, run.products, atol=1e-8)


def test_what_has_no_formula_under_an_update_is_refused():
    weights = ln.inits.gaussian(key=0, in_dim=5, out_dim=3, width=50, stds=0.1)
    with pytest.raises(ValueError, match="`learning_rate` must be given together with `update`"):
        ln.predict(PROBLEM, weights, [1.0], update=SpectralDescent())
    with pytest.raises(ln.NoFormulaError, match="update: SpectralDescent or Muon, found NormalizedDescent"):
        ln.predict(PROBLEM, weights, [1.0], update=NormalizedDescent(), learning_rate=0.01)
    with pytest.raises(ln.NoFormulaError, match=r"weight decay: 0, found 0\.1"):
        ln.predict(PROBLEM, weights, [1.0], update=Muon(weight_decay=0.1), learning_rate=0.01)
    deep = ln.inits.orthogonal_layers(key=0, in_dim=5, out_dim=3, width=9, scales=0.5, depth=3)
    with pytest.raises(ln.NoFormulaError, match=r"deep orthogonal needs weight decay: 0, found 0\.2"):
        ln.predict(PROBLEM, deep, [1.0], weight_decay=0.2)


def test_a_mode_that_both_layers_hold_in_opposite_directions_is_refused():
    """It goes to zero and stays there, at any step; with as many units as modes one mode may."""
    problem = ln.Problem.from_target([[2.0, 1.0]])
    weights = ln.Weights([[-2e-4, -1e-4]], [[1e-4]])
    run = ln.gradient_descent(problem, weights, learning_rate=0.01, steps=300, update=SpectralDescent())
    assert np.abs(run.products).max() < 0.01
    with pytest.raises(ln.NoFormulaError, match="layers: not opposed along the target"):
        ln.predict(problem, weights, run.times, update=SpectralDescent(), learning_rate=0.01)


def test_an_initial_product_beside_the_target_counts_as_uncertain():
    problem = ln.Problem.from_target([[200.0, 0.0, 0.0]])
    weights = ln.Weights([[0.5, -6.0, 3.0]], [[7.0]])
    run = ln.gradient_descent(problem, weights, learning_rate=0.02, steps=300, update=SpectralDescent())
    prediction = ln.predict(problem, weights, run.times, update=SpectralDescent(), learning_rate=0.02)
    assert prediction.difference(run).value > 0.1 and prediction.difference(run).covered


def test_weight_decay_of_two_layers_of_unequal_size():
    """Steps near the limit of stability left errors of 4e-7, where the uncertainty is that of rounding."""
    weights = ln.Weights([[6.94432342], [0.0]], [[-0.00873016, 6.94144718]])
    problem, times = ln.Problem.from_target([[0.48179798]]), np.linspace(0, 2.0755, 12)
    run = ln.gradient_flow(problem, weights, times=times, weight_decay=0.048)
    prediction = ln.predict(problem, weights, times, weight_decay=0.048)
    assert prediction.difference(run).covered


def test_a_formula_that_gives_up_leaves_the_others():
    """One with weight decay raised `ArithmeticError` where its integration was too stiff."""
    weights = ln.inits.reduced_gaussian(key=0, in_dim=1, out_dim=1, width=10**6, stds=3e-3)
    prediction = ln.predict(ln.Problem.from_target([[6e-6]]), weights, [0.0, 2e5], weight_decay=6e-7)
    assert prediction.formula.name == "self-consistent, integrated"


def test_a_mode_beyond_its_target_falls():
    problem = ln.Problem.from_target([[2.0]])
    weights = ln.Weights([[5.0]], [[5.0]])
    run = ln.gradient_descent(
        problem, weights, learning_rate=0.001, steps=4000, save_every=400, update=SpectralDescent()
    )
    prediction = ln.predict(problem, weights, run.times, update=SpectralDescent(), learning_rate=0.001)
    assert_allclose(prediction.products, run.products, atol=0.02)
    assert prediction.difference(run).covered and run.products[-1, 0, 0] < 3
