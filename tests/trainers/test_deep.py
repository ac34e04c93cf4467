"""Descent and flow of deep networks against plain NumPy at full width; two layers as they were, bit for bit."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet._randomness import jax_key
from linnet.reductions.deep import DeepReduction
from linnet.reductions.trial_descent import StepSizes
from linnet.trainers._start import coordinates_of_run
from reference import descend

TARGET = np.random.default_rng(0).standard_normal((2, 3))
PROBLEM = ln.Problem.from_target(TARGET, truth=0.5 * TARGET)
ORTHOGONAL = ln.inits.orthogonal_layers(in_dim=3, out_dim=2, width=20, depth=4, scales=0.8, key=0)
RUN = {"learning_rate": 0.05, "steps": 60, "save_every": 10}


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize(
    "setting", [{}, {"weight_decay": 0.1}, {"momentum": 0.5}, {"layer_rates": [1.0, 0.5, 2.0, 0.1]}]
)
def test_descent_is_that_of_the_full_network(setting, reduce):
    run = ln.gradient_descent(PROBLEM, ORTHOGONAL, **RUN, **setting, reduce=reduce)
    names = {"weight_decay": "decay", "momentum": "momentum", "layer_rates": "rates"}
    plain = {names[name]: value for name, value in setting.items()}
    products = descend(ORTHOGONAL.layers, TARGET, 0.05, 60, every=10, **plain)
    assert run.reduction.weights.width == (5 if reduce else 20)
    assert_allclose(run.products, products, atol=1e-13)
    assert_allclose(run.loss, 0.5 * ((products - TARGET) ** 2).sum(axis=(-1, -2)), atol=1e-13)
    assert_allclose(run.test_loss, 0.5 * ((products - 0.5 * TARGET) ** 2).sum(axis=(-1, -2)), atol=1e-13)
    assert_allclose(run.weights.product, products, atol=1e-13)
    assert [layer.shape for layer in run.weights_at(-1).layers] == [layer.shape for layer in ORTHOGONAL.layers]


def test_gaussian_starts_and_batches(reduced_runs):
    starts = [ln.inits.gaussian(in_dim=3, out_dim=2, width=60, depth=3, stds=60**-0.5, key=i) for i in range(3)]
    run = ln.gradient_descent(PROBLEM, ln.Weights.stack(starts), **RUN)
    for member, start in enumerate(starts):
        products = descend(start.layers, TARGET, 0.05, 60, every=10)
        assert np.abs(run.products[:, member] - products).max() < 2e-8
    assert run.reduction.weights.width < 40
    assert run.singular_values.shape == (7, 3, 2)


@pytest.mark.parametrize(
    "setting",
    [
        {"learning_rate": 0.2},  # close to the largest stable step
        {"momentum": 0.9, "learning_rate": 0.02},
        {"weight_decay": 0.1},
        {"layer_rates": [1.0, 0.5, 2.0]},
        {"learning_rate": ln.trainers.Schedule(lambda step: 0.1 / (1 + 0.05 * step))},
    ],
)
def test_words_serve_the_descent_that_is_run(reduced_runs, setting):
    """Gaussian layers: the words that are kept are those of the run's own steps, momentum and decay."""
    start = ln.inits.gaussian(in_dim=3, out_dim=2, width=80, depth=3, stds=80**-0.5, key=0)
    run = ln.gradient_descent(PROBLEM, start, **RUN | setting)
    names = {"weight_decay": "decay", "momentum": "momentum", "layer_rates": "rates"}
    plain = {names[name]: value for name, value in setting.items() if name in names}
    rate = setting.get("learning_rate", 0.05)
    if not isinstance(rate, float):  # rates per step, as those of a residual that shrinks
        shrink = rate.over(61)
        rate, plain["pulls"] = 1.0, lambda step, A: shrink[min(step, 59)] * (TARGET - A)
    products = descend(start.layers, TARGET, rate, 60, every=10, **plain)
    distance = np.abs(run.products - products).max() / np.abs(products).max()
    assert isinstance(run.reduction, DeepReduction) and max(run.reduction.weights.widths) < 50
    assert distance <= run.reduction.error <= 1e-8
    assert_allclose(run.weights_at(-1).product, products[-1], atol=1e-8)


def test_words_of_another_descent_do_not_serve(reduced_runs):
    """The control: words kept for small steps are far off for steps four times as large, at depth 4."""
    target = np.random.default_rng(0).standard_normal((3, 4))
    problem = ln.Problem.from_target(target)
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=120, depth=4, stds=120**-0.5, key=4)
    small = ln.gradient_descent(problem, start, learning_rate=0.05, steps=100).reduction.weights
    large = ln.gradient_descent(problem, start, learning_rate=0.2, steps=100, save_every=10, throw=False)
    full, other = (descend(one.layers, target, 0.2, 100, every=10) for one in (start, small))
    assert max(small.widths) < 60
    assert np.abs(large.products - full).max() < 1e-8 * np.abs(full).max()
    assert np.abs(other - full).max() > 1e-6 * np.abs(full).max()


def test_runs_that_take_less_time_than_trial_descents_are_not_reduced():
    start = ln.inits.gaussian(in_dim=3, out_dim=2, width=80, depth=3, stds=80**-0.5, key=0)
    run = ln.gradient_descent(PROBLEM, start, **RUN)
    assert run.reduction.frame is None and run.reduction.error == 0
    products = descend(start.layers, TARGET, 0.05, 60, every=10)
    assert_allclose(run.products, products, atol=1e-13)
    assert ln.gradient_flow(PROBLEM, start, times=[1.0]).reduction.frame is None
    longer = coordinates_of_run(PROBLEM, start, True, step_sizes=[StepSizes(run_steps=10_000)])
    assert max(longer.weights.widths) < 50
    assert max(ln.gradient_flow(PROBLEM, start, times=[1000.0]).reduction.weights.widths) < 50


@pytest.mark.parametrize(
    "start",
    [
        ln.inits.orthogonal_layers(in_dim=3, out_dim=2, width=20, depth=4, scales=0.8, key=0),
        ln.inits.gaussian(in_dim=3, out_dim=2, width=60, depth=3, stds=60**-0.5, key=0),
    ],
)
def test_mini_batches_and_label_noise(start):
    """Against NumPy at full width, with the same draws."""
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((12, 3)), random.standard_normal((12, 2))
    problem, key = ln.Problem.from_data(X, Y), jax_key(7)

    def batch(step, A):
        drawn = np.asarray(jax.random.choice(jax.random.fold_in(key, step), 12, (4,), replace=False))
        return (Y[drawn].T - A @ X[drawn].T) @ X[drawn] / 4

    def noisy(step, A):
        with jax.enable_x64(True):
            draw = np.asarray(jax.random.normal(jax.random.fold_in(key, step), (2, 12), np.float64))
        return ((Y + 0.3 * draw.T).T - A @ X.T) @ X / 12

    settings = {"learning_rate": 0.05, "steps": 60, "save_every": 10, "key": 7}
    runs = [
        ln.stochastic_descent(problem, start, batch_size=4, **settings),
        ln.label_noise_descent(problem, start, noise_std=0.3, **settings),
    ]
    for run, pulls in zip(runs, (batch, noisy), strict=True):
        assert run.reduction.weights.width < start.width
        products = descend(start.layers, np.zeros((2, 3)), 0.05, 60, every=10, pulls=pulls)
        assert np.abs(run.products - products).max() < 1e-8


def test_flow_is_the_limit_of_small_steps_and_conserves_the_imbalances():
    run = ln.gradient_flow(PROBLEM, ORTHOGONAL, times=[0.0, 0.5, 1.5])
    errors = []
    for steps in (600, 1200):
        products = descend(ORTHOGONAL.layers, TARGET, 1.5 / steps, steps, every=steps // 3)
        errors.append(np.abs(run.products - products[[0, 1, 3]]).max())
    assert 1.8 < errors[0] / errors[1] < 2.2  # descent is of order one
    for before, after in zip(ORTHOGONAL.imbalances, run.weights_at(-1).imbalances, strict=True):
        assert_allclose(before, after, atol=1e-9)


def test_a_saved_run_has_a_layer_dimension():
    data = ln.gradient_descent(PROBLEM, ORTHOGONAL, **RUN).to_dataset()
    assert data.sizes["layer"] == 4
    assert data["layers"].attrs["widths"] == [3, 5, 5, 5, 2]
    assert data["product"].dims == ("time", "output", "input")


def test_stopping_validation_and_statuses():
    run = ln.gradient_descent(PROBLEM, ORTHOGONAL, learning_rate=0.05, steps=2000, stop=1e-3)
    assert run.status.ok
    assert run.status.steps < 2000
    assert run.loss[-1] < 1e-3
    with pytest.raises(ln.DivergedError, match="is stable here") as told:
        ln.gradient_descent(PROBLEM, ORTHOGONAL, learning_rate=5.0, steps=200)
    rate = ln.stable_learning_rate(PROBLEM, ORTHOGONAL)
    assert f"{rate:.3g}" in str(told.value)
    assert ln.gradient_descent(PROBLEM, ORTHOGONAL, learning_rate=rate, steps=200).status.ok
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((4, 6)), random.standard_normal((4, 2))
    problem = ln.Problem.from_data(X, Y).with_validation(X[:2] + 1, Y[:2])
    start = ln.inits.orthogonal_layers(in_dim=6, out_dim=2, width=20, depth=3, scales=0.5, key=0)
    small, full = (ln.gradient_descent(problem, start, **RUN, reduce=reduce) for reduce in (True, False))
    assert_allclose(small.validation_loss, full.validation_loss, rtol=1e-10)
    assert_allclose(small.products, full.products, atol=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="one for each of the 4 layers: got 2"):
        ln.gradient_descent(PROBLEM, ORTHOGONAL, **RUN, layer_rates=[1.0, 1.0])
    with pytest.raises(ValueError, match="do not go together"):
        ln.gradient_descent(PROBLEM, ORTHOGONAL, **RUN, layer_rates=[1.0, 1.0, 1.0, 1.0], weight_decay=0.1)
    with pytest.raises(ValueError, match="known for two layers only: got 4"):
        ln.observables.regimes(PROBLEM, ORTHOGONAL)
