"""Muon, spectral and normalized descent, and updates that read the weights, against NumPy at full width."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.updates import Muon, NormalizedDescent, SpectralDescent
from reference import pushes, random_moments, reached

D, K, N, H = 9, 3, 5, 30  # fewer samples than inputs, and a network that is wide


def start_and_problem(depth, *, width=H, in_dim=D, samples=N):
    X, Y = random_moments(3, in_dim, K, samples)
    truth = np.random.default_rng(5).standard_normal((K, in_dim))
    if depth == 2:
        start = ln.inits.gaussian(key=1, in_dim=in_dim, out_dim=K, width=width, stds=0.1)
    else:
        start = ln.inits.orthogonal_layers(
            key=1, in_dim=in_dim, out_dim=K, width=width, depth=depth, scales=[0.6] * depth
        )
    return ln.Problem.from_data(X, Y, truth=truth, test_cov=np.eye(in_dim)), start


def train_full(problem, layers, step, steps):
    """Every layer by `step(index, weight, gradient, memory, number of the step)`, in NumPy at full width."""
    X, Y = problem.inputs, problem.outputs
    layers, memory = [np.array(layer) for layer in layers], dict[int, dict]()
    for number in range(steps):
        below = reached(layers)
        forces = pushes(layers, below, (Y.T - below[-1] @ X.T) @ X / len(X))
        layers = [step(i, layers[i], -forces[i], memory, number) for i in range(len(layers))]
    return layers


def polar(G):
    left, values, right = np.linalg.svd(G, full_matrices=False)
    kept = values > np.sqrt(np.finfo(float).eps) * values[0]  # the cutoff that the docstring states
    return left[:, kept] @ right[kept]


def torch_muon(*, lr, momentum, nesterov, weight_decay, adjust_lr_fn, polar=None):
    """The steps of torch.optim.Muon in float64, one line of its source after another."""

    def step(index, weight, grad, memory, number):
        buf = memory.setdefault(index, np.zeros_like(grad))
        buf += (1 - momentum) * (grad - buf)
        update = grad + momentum * (buf - grad) if nesterov else buf
        if polar is None:
            transposed = update.shape[0] > update.shape[1]
            ortho = update.T if transposed else update
            ortho = ortho / max(np.linalg.norm(ortho), 1e-7)
            for _ in range(5):
                gram = ortho @ ortho.T
                ortho = 3.4445 * ortho + (-4.7750 * gram + 2.0315 * gram @ gram) @ ortho
            update = ortho.T if transposed else ortho
        else:
            update = polar(update)
        rows, cols = weight.shape
        ratio = {
            "original": np.sqrt(max(1, rows / cols)),
            "match_rms_adamw": 0.2 * np.sqrt(max(rows, cols)),
            None: 1.0,
        }[adjust_lr_fn]
        return weight * (1 - lr * weight_decay) - lr * ratio * update

    return step


def apart(run, layers):
    """The distance of the last products and weights, relative to the largest of the reference."""
    product = np.linalg.multi_dot(layers[::-1])
    ends = run.weights[-1].layers
    return max(
        np.abs(run.products[-1] - product).max() / np.abs(product).max(),
        *(np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in zip(ends, layers, strict=True)),
    )


MUONS = [
    {"momentum": 0.95, "nesterov": True, "weight_decay": 0.5, "scaling": "original"},
    {"momentum": 0.8, "nesterov": False, "weight_decay": 0.0, "scaling": "match_rms_adamw"},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.3, "scaling": None, "newton_schulz_steps": None},
]


@pytest.mark.parametrize("reduce", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("settings", MUONS, ids=["original", "match_rms_adamw", "exact"])
def test_muon_is_pytorchs_algorithm_at_full_width(settings, depth, reduce):
    problem, start = start_and_problem(depth)
    run = ln.gradient_descent(problem, start, learning_rate=0.01, steps=60, update=Muon(**settings), reduce=reduce)
    options = {**settings, "polar": polar if "newton_schulz_steps" in settings else None}
    options["adjust_lr_fn"] = options.pop("scaling")
    options.pop("newton_schulz_steps", None)
    layers = train_full(problem, start.layers, torch_muon(lr=0.01, **options), 60)
    assert apart(run, layers) < 1e-10
    # momentum of exact polar factors at depth 3 has new directions that begin at the size of rounding
    assert run.status.uncertain_from == (2 if depth == 3 and "newton_schulz_steps" in settings else None)
    product = np.linalg.multi_dot(layers[::-1])
    assert_allclose(run.test_loss[-1], 0.5 * ((product - problem.truth) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("kind", [SpectralDescent, NormalizedDescent])
def test_spectral_and_normalized_descent_are_their_definitions(kind, depth):
    problem, start = start_and_problem(depth)
    schedule = ln.trainers.Schedule(lambda step: 0.01 / (1 + step / 20))
    run = ln.gradient_descent(problem, start, learning_rate=schedule, steps=50, update=kind(weight_decay=0.4))
    direction = polar if kind is SpectralDescent else lambda G: G / np.linalg.norm(G)

    def step(index, weight, gradient, memory, number):
        rate = 0.01 / (1 + number / 20)
        return weight * (1 - 0.4 * rate) - rate * direction(gradient)

    assert apart(run, train_full(problem, start.layers, step, 50)) < 1e-10


def test_a_run_notes_where_a_singular_value_of_a_gradient_comes_near_the_cutoff():
    problem = ln.Problem.from_target(np.diag([1.0, 1e-7]))  # the second gradient is 1e-7 of the first, near 1.5e-8
    start = ln.Weights(np.eye(2), 1e-30 * np.eye(2))
    run = ln.gradient_descent(problem, start, learning_rate=1e-3, steps=5, update=SpectralDescent())
    assert run.status.uncertain_from == 0
    both = ln.Weights.stack([start, ln.Weights(np.eye(2), np.diag([1e-30, 0.5]))])
    runs = ln.gradient_descent(problem, both, learning_rate=1e-3, steps=5, update=SpectralDescent())
    assert runs.status.uncertain_from.tolist() == [0, -1]


@dataclass(frozen=True)
class OwnDecay:
    """Coupled decay, which reads the weights, as a user writes it."""

    decay: float = 0.5
    equivariant: bool = True

    def init(self, layers):
        return ()

    def step(self, layers, gradients, memory, rates, index):
        return {n: layers[n] - rates[n] * (gradients[n] + self.decay * layers[n]) for n in layers}, memory


@dataclass(frozen=True)
class TrustRatio:
    """Steps in proportion to the norm of the layer (LARS)."""

    equivariant: bool = True

    def init(self, layers):
        return ()

    def step(self, layers, gradients, memory, rates, index):
        def moved(W, G, rate):
            return W - rate * G * jnp.linalg.norm(W) / (1.0 + jnp.linalg.norm(G))

        return {n: moved(layers[n], gradients[n], rates[n]) for n in layers}, memory


@pytest.mark.parametrize("width", [3, 30], ids=["narrow", "wide"])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("own", [OwnDecay(), TrustRatio()], ids=["decay", "trust"])
def test_updates_that_read_the_weights_see_the_whole_first_layer(own, depth, width):
    problem, start = start_and_problem(depth, width=width if depth == 2 else max(width, D))
    run = ln.gradient_descent(problem, start, learning_rate=0.05, steps=60, update=own)

    def step(index, weight, gradient, memory, number):
        if isinstance(own, OwnDecay):
            return weight - 0.05 * (gradient + 0.5 * weight)
        return weight - 0.05 * gradient * np.linalg.norm(weight) / (1 + np.linalg.norm(gradient))

    layers = train_full(problem, start.layers, step, 60)
    assert apart(run, layers) < 1e-12
    product = np.linalg.multi_dot(layers[::-1])
    assert_allclose(run.test_loss[-1], 0.5 * ((product - problem.truth) ** 2).sum(), rtol=1e-12)


def test_decay_of_ones_own_is_the_decay_of_the_trainer_in_a_batch_of_problems():
    problem, start = start_and_problem(2)
    other, _ = start_and_problem(2)
    X = np.stack([problem.inputs, np.roll(other.inputs, 1, axis=1)])
    both = ln.Problem.from_data(X, np.stack([problem.outputs, -other.outputs]))
    own = ln.gradient_descent(both, start, learning_rate=0.05, steps=60, update=OwnDecay(), stop=1e-3)
    built_in = ln.gradient_descent(both, start, learning_rate=0.05, steps=60, weight_decay=0.5, stop=1e-3)
    assert_allclose(own.products, built_in.products, rtol=1e-11, atol=1e-14)


def test_muon_does_not_know_the_reduced_shapes():
    """Its factors are those of the network that the weights stand for, also of one drawn in reduced form."""
    drawn = ln.inits.reduced_gaussian(key=2, in_dim=4, out_dim=2, width=10_000, stds=0.01)
    problem = ln.Problem.from_target(np.arange(8.0).reshape(2, 4))
    scaled = ln.gradient_descent(problem, drawn, learning_rate=1e-3, steps=5, update=Muon())
    rates = [np.sqrt(10_000 / 4), 1.0]
    by_hand = ln.gradient_descent(
        problem, drawn, learning_rate=1e-3, steps=5, update=Muon(scaling=None), layer_rates=rates
    )
    assert_allclose(scaled.products, by_hand.products, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Muon(momentum=1.0), "`momentum` must be below 1"),
        (lambda: Muon(scaling="adamw"), "`scaling` must be one of 'original', 'match_rms_adamw', None: got 'adamw'"),
        (lambda: Muon(newton_schulz_steps=0), "`newton_schulz_steps` must be"),
        (lambda: Muon(nesterov=1), "`nesterov` must be True or False"),
        (lambda: Muon(eps=0.0), "`eps` must be positive"),
        (lambda: SpectralDescent(weight_decay=-1.0), "`weight_decay` must not be negative"),
    ],
)
def test_settings_that_cannot_be_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_rate_by_layer_does_not_go_with_decay_in_reduced_coordinates_of_deep_networks():
    problem, start = start_and_problem(3)
    with pytest.raises(ValueError, match="`layer_rates` and `weight_decay` do not go together"):
        ln.gradient_descent(
            problem, start, learning_rate=0.1, steps=1, update=Muon(weight_decay=0.1), layer_rates=[1, 2, 1]
        )


@pytest.mark.parametrize(
    "update", [pytest.param(NormalizedDescent(), marks=pytest.mark.slow), SpectralDescent(), "sequential"], ids=str
)
def test_the_error_of_a_deep_reduction_is_that_of_the_update_that_runs(update):
    """With normalized gradients and large steps plain descent would be reduced to 5e-11, this run to 2e-5."""
    problem = ln.Problem.from_target(np.diag([2.0, 1.0, 0.5]))
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=80, depth=3, stds="ntk")
    rate = {NormalizedDescent: 0.6, SpectralDescent: 0.05, str: 0.002}[type(update)]
    runs = [
        ln.gradient_descent(problem, start, learning_rate=rate, steps=40, update=update, reduce=reduce)
        for reduce in (True, False)
    ]
    reduction, products = runs[0].reduction, runs[1].products
    true = np.abs(runs[0].products - products).max() / np.abs(products).max()
    assert true <= reduction.error + 1e-12 and reduction.error <= 1e-8
