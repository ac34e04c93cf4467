"""The algebra of one adapter, against draws from the initializations and against plain descent."""

import numpy as np
import pytest

import linnet as ln
from linnet.lora import Adapter
from lora.pairs import Model, train

RANK, INPUTS, OUTPUTS = 4, 600, 400


def draw(init, rng):
    """A and B as peft 0.21 draws them, written from its description."""
    if init == "gaussian":
        return rng.normal(size=(RANK, INPUTS)) / RANK, np.zeros((OUTPUTS, RANK))
    if init == "eva":
        return np.linalg.qr(rng.normal(size=(INPUTS, RANK)))[0].T, np.zeros((OUTPUTS, RANK))
    if init == "orthogonal":
        q = np.linalg.qr(rng.normal(size=(RANK, RANK)))[0]
        a = (rng.normal(size=(INPUTS, RANK // 2)) @ q[0::2]).T / 10
        return a, (rng.normal(size=(RANK // 2, OUTPUTS)).T @ q[1::2]) / 10
    if init == "pissa":
        left, values, right = np.linalg.svd(rng.normal(size=(OUTPUTS, INPUTS)), full_matrices=False)
        root = np.sqrt(values[:RANK])
        return root[:, None] * right[:RANK], left[:, :RANK] * root
    a = rng.uniform(-1, 1, size=(RANK, INPUTS)) / np.sqrt(INPUTS)
    second = rng.uniform(-1, 1, size=(OUTPUTS, RANK)) / np.sqrt(RANK) if init == "random" else np.zeros((OUTPUTS, RANK))
    return a, second


@pytest.mark.parametrize("init", ["default", "gaussian", "eva", "random", "orthogonal", "pissa"])
def test_the_law_of_an_initialization_is_that_of_its_draws(init):
    rng = np.random.default_rng(3)
    rates = {"learning_rate_a": 1e-3, "learning_rate_b": 1e-3 if init == "pissa" else 4e-3}
    adapter = Adapter(rank=RANK, alpha=6, in_dim=INPUTS, out_dim=OUTPUTS, init=init, **rates)
    draws = []
    for _ in range(40):
        drawn = adapter.with_(weights=ln.Weights(*draw(init, rng)))
        draws.append(drawn.imbalance)
    mean, spread = np.mean(draws, axis=0), np.abs(adapter.imbalance).max()
    # Eigenvalues of single draws spread by 2 sqrt(r/d) around the law; their mean over the spectrum does not.
    np.testing.assert_allclose(mean, adapter.imbalance, atol=2.5 * np.sqrt(RANK / OUTPUTS) * spread + 1e-12)
    np.testing.assert_allclose(mean.sum(), adapter.imbalance.sum(), atol=0.02 * max(spread, 1e-9) * RANK)
    if init != "pissa":
        wrong = adapter.with_(learning_rate_b=1e-3).imbalance
        assert np.abs(wrong - mean).max() > 2.5 * np.sqrt(RANK / OUTPUTS) * spread


def test_gaussian_has_192_times_the_default_at_rank_8_of_4096():
    plain = Adapter(rank=8, alpha=16, in_dim=4096)
    np.testing.assert_allclose(plain.with_(init="gaussian").imbalance / plain.imbalance, 192)


def test_scalings():
    assert Adapter(rank=16, alpha=32).scale == 2
    assert Adapter(rank=16, alpha=32, scaling="rslora").scale == 8


@pytest.mark.parametrize("rates", [(0.02, 0.02), (0.01, 0.08)])
def test_small_steps_conserve_the_imbalance_and_keep_the_clock(rates):
    model = Model()
    make = lambda r: Adapter(rank=3, alpha=4, optimizer="sgd", learning_rate_a=r[0], learning_rate_b=r[1])  # noqa: E731
    drifts, ends = [], []
    for refine in (1, 4):
        fine = tuple(rate / refine for rate in rates)
        start = make(fine).with_(weights=ln.Weights(model.first, np.zeros((7, 3))))
        _, first, second = train(model, start.scale, fine, optimizer="sgd", steps=200 * refine)
        end = start.with_(weights=ln.Weights(first, second))
        change = end.canonical_weights.imbalance - start.canonical_weights.imbalance
        drifts.append(np.abs(change).max())
        ends.append(second @ first)
        size = np.abs(second.T @ second).max()
    assert drifts[1] < drifts[0] / 3  # first order in the step: nothing is left for the flow
    assert drifts[1] < 0.01 * size
    assert make(rates).time_per_step == pytest.approx(4 / 3 * np.sqrt(rates[0] * rates[1]))
    np.testing.assert_allclose(ends[0], ends[1], atol=0.02 * np.abs(ends[1]).max())


def test_the_canonical_pair_descends_as_the_adapter_does():
    """On a linear model the adapter with two rates is linnet's own network with one."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 6)), rng.normal(size=(50, 3))
    A, B, rates, scale = rng.normal(size=(2, 6)) / 3, np.zeros((3, 2)), (0.05, 0.2), 1.5
    adapter = Adapter(
        rank=2, alpha=3, optimizer="sgd", learning_rate_a=0.05, learning_rate_b=0.2, weights=ln.Weights(A, B)
    )
    problem = ln.Problem.from_data(X, Y)
    run = ln.gradient_descent(problem, adapter.canonical_weights, learning_rate=adapter.time_per_step, steps=30)
    for _ in range(30):
        gradient = -(Y.T - scale * B @ A @ X.T) @ X / 50
        A, B = A - rates[0] * scale * B.T @ gradient, B - rates[1] * scale * gradient @ A.T
    np.testing.assert_allclose(run.products[-1], scale * B @ A, rtol=1e-10)


@pytest.mark.parametrize("momentum", [0.0, 0.6])
def test_the_stable_rate_is_where_descent_diverges(momentum):
    rng = np.random.default_rng(5)
    inputs = rng.normal(size=(300, 8)) * np.array([3, 2, 1, 1, 1, 0.5, 0.5, 0.2])
    cov = inputs.T @ inputs / 300
    weights = ln.Weights(rng.normal(size=(3, 8)) / 2, np.zeros((5, 3)))
    adapter = Adapter(
        rank=3, alpha=6, optimizer="sgd", learning_rate_a=1e-3, learning_rate_b=4e-3, momentum=momentum, weights=weights
    )

    def grows(rate):
        """Whether a tiny adapter grows without bound, at the loss's minimum."""
        first, second = weights.first.copy(), 1e-9 * rng.normal(size=(5, 3))
        speed = [0.0, 0.0]
        for _ in range(400):
            gradient = adapter.scale * second @ first @ cov
            slopes = adapter.scale * second.T @ gradient, adapter.scale * gradient @ first.T
            speed = [momentum * v + slope for v, slope in zip(speed, slopes, strict=True)]
            first, second = first - rate * speed[0], second - 4 * rate * speed[1]
            if np.abs(second).max() > 1e-3:
                return True
        return False

    limit = adapter.stable_learning_rate(cov)
    assert grows(1.05 * limit)
    assert not grows(0.95 * limit)
    top = np.linalg.eigvalsh(cov)[-1]
    assert adapter.stable_learning_rate(top) <= limit  # a number bounds it from below
    assert adapter.stable_learning_rate(cov, gradient=5.0) < limit


def test_the_first_step_grows_a_mode_by_its_rate():
    rng = np.random.default_rng(1)
    u, v = (vector / np.linalg.norm(vector) for vector in (rng.normal(size=5), rng.normal(size=8)))
    weights = ln.Weights(rng.normal(size=(3, 8)), rng.normal(size=(5, 3)))
    adapter = Adapter(rank=3, alpha=6, optimizer="sgd", learning_rate_a=1e-6, learning_rate_b=3e-6, weights=weights)
    push = 2.5 * np.outer(u, v)  # minus the gradient in the adapted matrix
    first = weights.first + 1e-6 * adapter.scale * weights.second.T @ push
    second = weights.second + 3e-6 * adapter.scale * push @ weights.first.T
    grown = adapter.scale * u @ (second @ first - weights.second @ weights.first) @ v
    assert adapter.mode_rate(2.5, left=u, right=v) == pytest.approx(grown, rel=1e-4)
    everywhere = [adapter.mode_rate(2.5, left=np.eye(5)[i % 5], right=np.eye(8)[i % 8]) for i in range(40)]
    assert adapter.mode_rate(2.5) == pytest.approx(np.mean(everywhere))
    law = Adapter(rank=3, alpha=6, in_dim=8, optimizer="sgd", learning_rate_a=1e-6, learning_rate_b=3e-6)
    assert law.mode_rate(2.5) == pytest.approx(2.5 * 4 * 3e-6 * 3 / (3 * 8))


@pytest.mark.parametrize("what", ["time_per_step", "threshold", "mode_rate", "stable_learning_rate"])
def test_nothing_of_the_flow_is_said_under_adam(what):
    adapter = Adapter(rank=2, alpha=4, optimizer="adam", learning_rate_a=1e-3)
    with pytest.raises(ValueError, match="only under SGD"):
        getattr(adapter, what)()


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"rank": 0}, "`rank` must be at least 1"),
        ({"alpha": 0}, "`alpha` must be positive"),
        ({"scaling": "half"}, "`scaling` must be one of"),
        ({"init": "magic"}, "`init` must be one of"),
        ({"learning_rate_a": -1}, "`learning_rate_a` must be positive"),
        ({"clip": -1}, "`clip` must"),
        ({"frozen": "c"}, "`frozen` must be"),
        ({"weights": np.eye(2)}, "`weights` must be `Weights"),
        ({"weights": ln.Weights(np.ones((3, 4)), np.ones((5, 3)))}, "one pair of rank 2"),
        ({"weights": ln.Weights(np.ones((2, 4)), np.ones((5, 2))), "in_dim": 7}, "`in_dim` must be that of"),
    ],
)
def test_wrong_settings_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        Adapter(**({"rank": 2, "alpha": 4} | settings))


def test_what_is_not_known_is_asked_for():
    gaussian = Adapter(rank=2, alpha=4, init="gaussian")
    with pytest.raises(ValueError, match="`in_dim` is needed"):
        _ = gaussian.imbalance
    with pytest.raises(ValueError, match="its distribution is not known in advance"):
        _ = gaussian.with_(init="olora").imbalance
    with pytest.raises(ValueError, match="`learning_rate_a` is needed"):
        _ = gaussian.time_per_step
    with pytest.raises(ValueError, match="`weights` are needed"):
        _ = gaussian.canonical_weights
    with pytest.raises(ValueError, match="`curvature` must be a number or"):
        gaussian.with_(in_dim=3).stable_learning_rate(np.eye(4))
