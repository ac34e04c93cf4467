"""Deep networks in fewer units against the full ones, in plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.reductions import deep
from linnet.reductions.deep import DeepReduction
from reference import descend

TARGET = np.random.default_rng(0).standard_normal((3, 4))
PROBLEM = ln.Problem.from_target(TARGET)


def apart(start, reduction, rate=0.01, steps=400):
    full = descend(start.layers, TARGET, rate, steps, every=10)
    return np.abs(full - descend(reduction.weights.layers, TARGET, rate, steps, every=10)).max() / np.abs(full).max()


@pytest.mark.parametrize("depth", range(3, 9))
def test_orthogonal_starts_are_exact(depth):
    start = ln.inits.orthogonal_layers(in_dim=4, out_dim=3, width=60, depth=depth, scales=0.9, key=depth)
    reduction = ln.reduce(PROBLEM, start)
    assert reduction.exact
    assert reduction.error == 0
    assert set(reduction.weights.widths) == {7}
    assert apart(start, reduction) < 1e-12


@pytest.mark.parametrize(
    "start",
    [
        ln.inits.orthogonal_layers(in_dim=4, out_dim=3, width=[40, 60, 60], depth=4, scales=0.9, key=1),
        ln.inits.balanced(np.random.default_rng(1).standard_normal((3, 4)), depth=5, width=30),
        ln.inits.gaussian(in_dim=4, out_dim=3, width=[60, 5, 60], depth=4, stds=[0.1, 0.1, 0.1, 0.1], key=1),
    ],
)
def test_words_that_close_are_exact(start):
    reduction = ln.reduce(PROBLEM, start)
    assert reduction.exact
    assert all(small <= wide for small, wide in zip(reduction.weights.widths, start.widths, strict=True))
    assert sum(reduction.weights.widths) < sum(start.widths)
    assert apart(start, reduction) < 1e-12


def test_in_dim_plus_out_dim_is_not_enough_for_unequal_widths():
    """The control: words cut off at the width that suffices for equal layers are far from the full network."""
    start = ln.inits.orthogonal_layers(in_dim=4, out_dim=3, width=[40, 60, 60], depth=4, scales=0.9, key=1)
    short = ln.reduce(PROBLEM, start, order=2)
    assert not short.exact
    assert apart(start, short) > 1e-5
    assert short.error >= apart(start, short)


@pytest.mark.parametrize("outer", [1.0, pytest.param(0.3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("depth", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_error_of_gaussian_starts_is_told(depth, outer):
    """Width 1000: the estimate bounds the true error at every order, and 1e-8 is reached by default."""
    stds = np.full(depth, 1000**-0.5)
    stds[[0, -1]] *= outer
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=1000, depth=depth, stds=stds, key=depth)
    full = descend(start.layers, TARGET, 0.05, 250, every=10)

    def error(reduction):
        return np.abs(descend(reduction.weights.layers, TARGET, 0.05, 250, every=10) - full).max() / np.abs(full).max()

    errors = {}
    for order in (1, 2, 3, 4, 5):
        reduction = ln.reduce(PROBLEM, start, order=order)
        errors[order] = error(reduction)
        assert errors[order] <= reduction.error
    assert errors[5] < 0.1 * errors[3] < 0.01 * errors[1]
    chosen = ln.reduce(PROBLEM, start)
    assert error(chosen) <= max(chosen.error, 1e-14) <= 1e-8
    assert not chosen.exact
    assert chosen.weights.width < {3: 60, 4: 250}[depth]


@pytest.mark.parametrize("depth", [3, 4])
def test_few_outputs_need_few_units_however_many_inputs_there_are(reduced_runs, depth):
    """Inputs are seen through the residual: a first hidden layer is not as wide as the inputs are many."""
    target = np.random.default_rng(1).standard_normal((1, 120)) / 11
    start = ln.inits.gaussian(in_dim=120, out_dim=1, width=400, depth=depth, stds=400**-0.5, key=0)
    run = ln.gradient_descent(ln.Problem.from_target(target), start, learning_rate=0.05, steps=80, save_every=10)
    full = descend(start.layers, target, 0.05, 80, every=10)
    assert isinstance(run.reduction, DeepReduction) and max(run.reduction.weights.widths) < 120
    assert np.abs(run.products - full).max() <= run.reduction.error * np.abs(full).max()
    assert run.reduction.error <= 1e-8
    assert_allclose(run.weights_at(0).first, start.first, atol=1e-13)


@pytest.mark.parametrize("steps", [1, 4])
def test_short_runs_are_as_good_as_long_ones(reduced_runs, steps):
    """The state that the last step leaves has words of its own."""
    target = np.random.default_rng(2).standard_normal((2, 30)) / 5
    start = ln.inits.gaussian(in_dim=30, out_dim=2, width=300, depth=3, stds=0.7 * 300**-0.5, key=1)
    run = ln.gradient_descent(ln.Problem.from_target(target), start, learning_rate=0.05, steps=steps)
    assert max(run.reduction.weights.widths) < 200
    assert_allclose(run.products, descend(start.layers, target, 0.05, steps), atol=1e-8)


@pytest.mark.parametrize("sizes", [(4, 3), (12, 2)])
def test_at_depth_3_words_are_kept_by_their_length(sizes, monkeypatch):
    """The same accuracy as by weight, in spaces that are no larger; the estimate bounds the error in every run."""
    inputs, outputs = sizes
    target = np.random.default_rng(3).standard_normal((outputs, inputs)) / np.sqrt(inputs)
    problem = ln.Problem.from_target(target)
    start = ln.inits.gaussian(in_dim=inputs, out_dim=outputs, width=200, depth=3, stds=0.6 * 200**-0.5, key=5)
    by_length = ln.reduce(problem, start)
    monkeypatch.setattr(deep, "MAX_UNEVENNESS", 0)
    by_weight = ln.reduce(problem, start)
    assert by_length.order is not None and by_weight.order is None
    assert sum(by_length.weights.widths) <= 1.1 * sum(by_weight.weights.widths)
    full, *others = (
        descend(one.layers, target, 0.02, 600, every=20) for one in (start, by_length.weights, by_weight.weights)
    )
    for other, reduction in zip(others, (by_length, by_weight), strict=True):
        assert np.abs(other - full).max() <= reduction.error * np.abs(full).max() <= 1e-8 * np.abs(full).max()


def test_large_steps_are_told_for():
    """0.8 of where descent diverges: words of small steps do not serve it, those of its own steps do."""
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=150, depth=3, stds=150**-0.5, key=1)
    rate, lengths = 0.8 * 0.362, {"rate": 0.8 * 0.362, "steps": 400}
    small, own = ln.reduce(PROBLEM, start), ln.reduce(PROBLEM, start, learning_rate=rate)
    assert apart(start, small, **lengths) > 1e3 * small.error  # the control
    assert apart(start, own, **lengths) <= own.error <= 1e-8
    assert apart(start, small, rate=ln.stable_learning_rate(PROBLEM, start)) <= small.error


@pytest.mark.parametrize("order", [3, 6])
def test_an_order_keeps_its_words_and_has_the_error_of_the_step_that_is_run(order):
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=150, depth=3, stds=150**-0.5, key=1)
    rate = 0.8 * 0.362
    small, own = (ln.reduce(PROBLEM, start, order=order, learning_rate=each) for each in (None, rate))
    assert own.order == small.order == order
    for one, other in zip(own.weights.layers, small.weights.layers, strict=True):
        assert_allclose(one, other, rtol=0, atol=0)
    true = apart(start, own, rate=rate, steps=400)
    assert true <= own.error < 30 * true
    assert true > 5 * small.error  # the control: the error of small steps is not that of large ones


def test_lift_is_the_way_back():
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=50, depth=4, stds="ntk", key=0)
    reduction = ln.reduce(PROBLEM, start, order=3)
    back = reduction.lift(reduction.weights)
    assert [layer.shape for layer in back.layers] == [layer.shape for layer in start.layers]
    for one, other in zip(back.layers, start.layers, strict=True):
        assert_allclose(one, other, atol=1e-13)
    with pytest.raises(ValueError, match="must be reduced Weights of shapes"):
        reduction.lift(start)


def test_fewer_samples_than_inputs():
    """Directions that the data never touch are kept for the lift and for the test loss."""
    random = np.random.default_rng(0)
    X, Y, truth = random.standard_normal((3, 6)), random.standard_normal((3, 2)), random.standard_normal((2, 6))
    problem = ln.Problem.from_data(X, Y, truth=truth, test_cov=np.eye(6))
    start = ln.inits.orthogonal_layers(in_dim=6, out_dim=2, width=30, depth=4, scales=0.8, key=0)
    reduction = ln.reduce(problem, start)
    assert reduction.weights.in_dim == 3
    assert set(reduction.weights.widths) == {5}
    assert_allclose(reduction.test_loss(reduction.weights), problem.test_loss(start.product), rtol=1e-12)


def test_batches_are_reduced_member_by_member():
    starts = [ln.inits.orthogonal_layers(in_dim=4, out_dim=3, width=20, depth=3, scales=0.9, key=i) for i in range(3)]
    reduction = ln.reduce(PROBLEM, ln.Weights.stack(starts))
    assert reduction.weights.batch == 3
    assert_allclose(reduction.weights.product, np.stack([start.product for start in starts]), atol=1e-14)
    problems = ln.Problem.stack([PROBLEM, ln.Problem.from_target(2 * TARGET), PROBLEM])
    assert ln.reduce(problems, ln.Weights.stack(starts), order=1).error == 0


def test_refusals():
    with pytest.raises(ValueError, match="`learning_rate` must be left out for mini-batches"):
        ln.reduce(
            PROBLEM, ln.Weights(np.ones((4, 4)), np.ones((4, 4)), np.ones((3, 4))), learning_rate=1, optimizer="sgd"
        )
    start = ln.inits.orthogonal_layers(in_dim=4, out_dim=3, width=20, depth=3, scales=0.9, key=0)
    with pytest.raises(ValueError, match="`rtol` must lie between"):
        ln.reduce(PROBLEM, start, rtol=0.0)
    with pytest.raises(ValueError, match="`order` must be"):
        ln.reduce(PROBLEM, start, order=-1)
    with pytest.raises(ValueError, match="coordinate"):
        ln.reduce(PROBLEM, start, optimizer="adam")
    weights = ln.inits.gaussian(key=0, in_dim=4, out_dim=3, width=9, stds=1.0)
    with pytest.raises(ValueError, match="must be left out for two layers"):
        ln.reduce(PROBLEM, weights, order=3)
    with pytest.raises(ValueError, match="must fit the problem's 4 inputs"):
        ln.reduce(PROBLEM, ln.inits.gaussian(in_dim=5, out_dim=3, width=9, depth=3, stds=1.0, key=0))


def test_inputs_that_cannot_be_squared_are_refused():
    inputs = 1e160 * np.random.default_rng(1).standard_normal((7, 4))
    start = ln.inits.gaussian(in_dim=4, out_dim=3, width=40, depth=3, stds="ntk", key=0)
    with pytest.raises(ValueError, match="`problem` must have inputs whose squares are numbers"):
        ln.reduce(ln.Problem.from_data(inputs, np.ones((7, 3))), start, order=2)


@pytest.mark.parametrize("seed", range(3))
def test_the_error_covers_inputs_that_the_data_never_touch(reduced_runs, seed):
    """With fewer samples than inputs 3e-10 was reported where products were off by 1e-6."""
    random = np.random.default_rng(seed)
    problem = ln.Problem.from_data(random.normal(size=(3, 7)), random.normal(size=(3, 2)))
    start = ln.inits.gaussian(key=seed, in_dim=7, out_dim=2, width=100, depth=3, stds=0.08)
    small, full = (
        ln.gradient_descent(problem, start, learning_rate=0.02, steps=300, save_every=50, reduce=reduce)
        for reduce in (True, False)
    )
    reduction, largest = small.reduction, np.abs(full.products).max()
    off = small.products - full.products
    inside = off @ reduction.basis @ reduction.basis.T
    assert not reduction.exact and max(reduction.weights.widths) < 50
    assert np.abs(inside).max() < 1e-8 * largest < np.abs(off).max() <= reduction.error * largest < 1e-3 * largest


def test_a_network_narrower_than_its_inputs_and_outputs_stays_as_it_is():
    """Its first words fill all units: there is no growth from which more could be guessed."""
    random = np.random.default_rng(0)
    weights = ln.Weights(*(0.05 * random.standard_normal(shape) for shape in ((50, 60), (50, 50), (60, 50))))
    problem = ln.Problem.from_target(0.1 * random.standard_normal((60, 60)))
    run = ln.gradient_descent(problem, weights, learning_rate=0.01, steps=2000, save_every=2000, keep="losses")
    assert run.reduction.exact and run.reduction.weights.widths == (50, 50)
