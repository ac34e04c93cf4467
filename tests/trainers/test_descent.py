import resource

import jax.numpy as jnp
import numpy as np
import pytest

import linnet as ln
from linnet.trainers import stopping
from linnet.trainers.stability import stable_learning_rate
from reference import descent, normwise, random_layers, random_moments


def small(h=40, n=12, d=6, k=3, scale=0.3, **options):
    X, Y = random_moments(0, d, k, n)
    return ln.Problem.from_data(X, Y, **options), ln.Weights(*random_layers(0, d, k, h, scale))


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("make", ["data", "few", "moments", "matrix", "cost"])
def test_every_form_of_a_problem_descends_as_the_definition(make, reduce):
    X, Y = random_moments(0, 6, 3, 4 if make == "few" else 12)
    cov, cross = X.T @ X / len(X), Y.T @ X / len(X)
    if make == "matrix":
        cov = np.eye(6)
    problem = {
        "data": lambda: ln.Problem.from_data(X, Y),
        "few": lambda: ln.Problem.from_data(X, Y),
        "moments": lambda: ln.Problem.from_moments(cov, cross),
        "matrix": lambda: ln.Problem.from_target(cross),
        "cost": lambda: ln.Problem.from_cost(
            lambda A: 0.5 * jnp.mean(jnp.sum((Y - X @ A.T) ** 2, axis=1)), in_dim=6, out_dim=3
        ),
    }[make]()
    first, second = random_layers(0, 6, 3, 40)
    got = ln.gradient_descent(problem, ln.Weights(first, second), learning_rate=0.05, steps=25, reduce=reduce)
    *_, (a, b) = descent((first, second), cov, cross, 0.05, 25)
    assert normwise(got.weights.first[-1], a) < 1e-12 and normwise(got.weights.second[-1], b) < 1e-12
    assert got.loss[-1] == pytest.approx(problem.loss(b @ a), rel=1e-12)


def test_the_sequential_update_lets_the_second_layer_see_the_new_first():
    problem, weights = small()
    got = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=1, update="sequential")
    R = problem.cross - weights.product @ problem.cov
    first = weights.first + 0.05 * weights.second.T @ R
    assert normwise(got.weights.first[-1], first) < 1e-13
    assert normwise(got.weights.second[-1], weights.second + 0.05 * R @ first.T) < 1e-13


def test_a_batch_is_each_of_its_members():
    problem, _ = small()
    starts = ln.inits.gaussian(key=4, in_dim=6, out_dim=3, width=30, stds=0.1, batch=3)
    rates = np.array([0.02, 0.05, 0.08])
    together = ln.gradient_descent(problem, starts, learning_rate=rates, steps=40, save_every=15)
    assert together.loss.shape == (4, 3) and together.times.shape == (4, 3)
    assert together.weights.first.shape == (4, 3, 30, 6)
    for i in range(3):
        alone = ln.gradient_descent(problem, starts[i], learning_rate=rates[i], steps=40, save_every=15)
        assert normwise(together.weights.first[:, i], alone.weights.first) < 1e-13
        assert np.allclose(together.times[:, i], alone.times)


def test_a_batch_of_problems_with_their_own_truths():
    pairs = [random_moments(seed, 6, 2, 4) for seed in range(3)]
    X, Y = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    truth = np.random.default_rng(0).standard_normal((3, 2, 6))
    start = ln.Weights(*random_layers(1, 6, 2, 30))
    together = ln.gradient_descent(ln.Problem.from_data(X, Y, truth=truth), start, learning_rate=0.05, steps=20)
    for i, (x, y) in enumerate(pairs):
        alone = ln.gradient_descent(ln.Problem.from_data(x, y, truth=truth[i]), start, learning_rate=0.05, steps=20)
        assert normwise(together.products[:, i], alone.products) < 1e-12
        assert np.allclose(together.test_loss[:, i], alone.test_loss, rtol=1e-12)


def test_what_is_saved_is_what_was_asked_for():
    problem, weights = small(truth=np.zeros((3, 6)))

    def run(policy, **more):
        return ln.gradient_descent(problem, weights, learning_rate=0.05, steps=103, save_every=policy, **more)

    everything = run(1)
    assert list(everything.steps) == list(range(104))
    for policy, steps in [
        (10, [*range(0, 101, 10), 103]),
        (ln.trajectories.at([3, 50]), [0, 3, 50, 103]),
        (ln.trajectories.last(), [0, 103]),
    ]:
        some = run(policy)
        assert list(some.steps) == steps
        assert np.array_equal(some.loss, everything.loss[steps])
        assert np.array_equal(some.products, everything.products[steps])
    spaced = run(ln.trajectories.log_spaced(8))
    assert spaced.steps is not None and np.all(np.diff(spaced.steps) > 0)
    assert spaced.steps[0] == 0 and spaced.steps[-1] == 103
    assert np.allclose(everything.times, 0.05 * np.arange(104))
    products = run(10, keep="products")
    assert np.allclose(products.products, run(10).products, atol=1e-15)
    with pytest.raises(ValueError, match="did not keep its weights"):
        _ = products.weights
    losses = run(10, keep="losses")
    assert np.allclose(losses.test_loss, products.test_loss)
    with pytest.raises(ValueError, match="kept only its losses"):
        _ = losses.products


def test_no_steps_is_the_start():
    problem, weights = small()
    run = ln.gradient_descent(problem, weights, learning_rate=0.1, steps=0)
    assert len(run) == 1 and run.loss[0] == pytest.approx(problem.loss(weights.product))


def test_a_loss_threshold_stops_at_the_first_state_below_it():
    problem, weights = small()
    free = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=500)
    threshold = float(free.loss[60] * 1.0000001)
    for interval in (1, 7, 500):
        run = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=500, stop=threshold, save_every=interval)
        assert run.status.reason == "loss below threshold" and run.status.steps == 60
        assert run.steps is not None and run.steps[-1] == 60 and run.loss[-1] == pytest.approx(free.loss[60], rel=1e-13)
        assert run.status.ok


def test_the_first_of_several_rules_gives_the_reason():
    problem, weights = small(truth=np.ones((3, 6)))
    rule = stopping.first_of(stopping.TestLossRising(3), stopping.LossBelow(1e-9), stopping.Stalled(1e-9))
    run = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=5000, stop=rule)
    assert run.status.reason in rule.reasons
    rising = np.diff(run.test_loss) > 0
    if run.status.reason == "test loss rising":
        assert rising[-3:].all() and not any(rising[i : i + 3].all() for i in range(len(rising) - 3))
    stalled = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=50_000, stop=stopping.Stalled(1e-9))
    change = np.abs(np.diff(stalled.loss)) / stalled.loss[:-1]
    assert stalled.status.reason == "loss stalled"
    assert change[-1] < 1e-9 and (change[:-1] >= 1e-9).all()
    plain = ln.Problem.from_moments(problem.cov, problem.cross)
    with pytest.raises(ValueError, match="`stop` looks at the test loss"):
        ln.gradient_descent(plain, weights, learning_rate=0.05, steps=5, stop=rule)


def test_members_of_a_batch_stop_on_their_own():
    problem, _ = small()
    starts = ln.inits.gaussian(key=4, in_dim=6, out_dim=3, width=30, stds=0.1, batch=3)
    rates = np.array([0.02, 0.05, 0.08])
    stop = problem.factor.floor + 0.1
    together = ln.gradient_descent(problem, starts, learning_rate=rates, steps=4000, stop=stop)
    for i in range(3):
        alone = ln.gradient_descent(problem, starts[i], learning_rate=rates[i], steps=4000, stop=stop)
        assert together.status.steps[i] == alone.status.steps
        assert together.loss[-1, i] == pytest.approx(alone.loss[-1], rel=1e-12)


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_divergence_says_where_and_what_would_be_stable(reduce, dtype):
    problem, weights = small(scale=1.0)
    options = {"steps": 300, "reduce": reduce, "dtype": dtype}
    with pytest.raises(
        ln.DivergedError, match=r"diverged at step \d+ with a `learning_rate` of 3. A step size of .* is stable"
    ):
        ln.gradient_descent(problem, weights, learning_rate=3.0, **options)
    run = ln.gradient_descent(problem, weights, learning_rate=3.0, throw=False, **options)
    assert run.status.reason == "diverged" and not run.status.ok
    assert run.status.steps < 300 and np.isfinite(run.loss[:-1]).all()
    stable = stable_learning_rate(problem, weights)
    calm = ln.gradient_descent(problem, weights, learning_rate=stable, steps=3000)
    assert calm.loss[-1] < calm.loss[0]
    assert np.all(np.diff(calm.loss) <= 1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_last_state_is_judged_too(dtype):
    problem, weights = small()
    for rate in (1e3, 1e15):
        with pytest.raises(ln.DivergedError, match="diverged at step 1 "):
            ln.gradient_descent(problem, weights, learning_rate=rate, steps=1, dtype=dtype)
    free = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=30)
    run = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=30, stop=float(free.loss[-1]) * 1.0000001)
    assert run.status.reason == "loss below threshold" and run.status.steps == 30


def test_a_start_without_a_finite_loss_is_told_as_such():
    problem = ln.Problem.from_cost(lambda A: jnp.sum(jnp.log(A - 5.0)), in_dim=6, out_dim=3)
    with pytest.raises(ln.DivergedError, match="the loss of the starting `weights` is not finite"):
        ln.gradient_descent(problem, small()[1], learning_rate=0.1, steps=5)


@pytest.mark.parametrize("reduce", [True, False])
def test_every_result_is_in_the_precision_asked_for(reduce):
    problem, weights = small(n=4, truth=np.zeros((3, 6)))
    for dtype in ("float32", "float64"):
        run = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=5, dtype=dtype, reduce=reduce)
        flow = ln.gradient_flow(problem, weights, times=[0.5], dtype=dtype, reduce=reduce)
        for trajectory in (run, flow):
            arrays = [trajectory.loss, trajectory.test_loss, trajectory.products]
            lifted = trajectory.weights, trajectory.weights_at(-1), trajectory.reduced
            arrays += [layer for w in lifted for layer in (w.first, w.second)]
            assert {array.dtype.name for array in arrays} == {dtype}
        again = ln.gradient_descent(problem, run.weights_at(-1), learning_rate=0.05, steps=1, reduce=reduce)
        assert again.products.dtype == np.float64


def test_float32_is_float32_and_close():
    problem, weights = small()
    single = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=50, dtype="float32")
    double = ln.gradient_descent(problem, weights, learning_rate=0.05, steps=50)
    assert single.loss.dtype == np.float32 and double.loss.dtype == np.float64
    assert 1e-9 < normwise(single.products, double.products) < 1e-5


def test_a_million_steps_keep_memory_constant():
    problem = ln.Problem.from_target([[1.0]])
    weights = ln.Weights([[0.1]], [[0.1]])
    last = ln.trajectories.last()

    def run(steps):
        return ln.gradient_descent(problem, weights, learning_rate=1e-6, steps=steps, save_every=last)

    run(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = run(1_000_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert end.steps[-1] == 1_000_000 and len(end) == 2
    assert grown < 8 * 1024  # KiB; a million saved states of 24 bytes would be 24 MB


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0.0}, "`learning_rate` must be positive"),
        ({"learning_rate": np.nan}, "`learning_rate` must be finite"),
        ({"learning_rate": [0.1, 0.2]}, "one number or one for each"),
        ({"steps": -1}, "`steps` must be at least 0"),
        ({"steps": 1.5}, "`steps` must be a whole number"),
        ({"save_every": 0}, "`save_every` must be at least 1"),
        ({"weight_decay": -0.1}, "`weight_decay` must not be negative"),
        ({"momentum": 1.0}, "`momentum` must be below 1"),
        ({"update": "adam"}, "`update` must be one of"),
        ({"update": []}, "`update` must be one of"),
        ({"momentum": "0.5"}, "`momentum` must be a number"),
        ({"reduce": "no"}, "`reduce` must be True or False"),
        ({"device": 5}, "`device` must be one that JAX finds here"),
        ({"steps": 10**30}, "`steps` must be at most"),
        ({"stop": -1.0}, "`stop` must be positive"),
        ({"dtype": "float16"}, "`dtype` must be 'float64' or 'float32'"),
        ({"keep": "all"}, "`keep` must be one of"),
        ({"device": "gpux"}, "`device` must be one that JAX finds here"),
        ({"steps": 10**12}, "keeping .* states would take"),
    ],
)
def test_nonsense_is_refused(options, message):
    problem, weights = small()
    with pytest.raises(ValueError, match=message):
        ln.gradient_descent(problem, weights, **{"learning_rate": 0.1, "steps": 3, **options})


def test_an_overflow_of_float32_is_not_told_as_too_large_a_step():
    """At half the stable step a smaller one is no advice."""
    problem = ln.Problem.from_moments(1e31 * np.eye(2), 1e31 * np.ones((1, 2)))
    start = ln.Weights(1e3 * np.ones((2, 2)), 1e3 * np.ones((1, 2)))
    rate = ln.stable_learning_rate(problem, start) / 2
    assert np.isfinite(ln.gradient_descent(problem, start, learning_rate=rate, steps=3).loss).all()
    with pytest.raises(ln.DivergedError, match=r"overflowed float32 at step 1, though .* is stable.*`dtype` float64"):
        ln.gradient_descent(problem, start, learning_rate=rate, steps=3, dtype="float32")
    with pytest.raises(ln.DivergedError, match="or less is stable here"):
        ln.gradient_descent(problem, start, learning_rate=20 * rate, steps=300, dtype="float32")
