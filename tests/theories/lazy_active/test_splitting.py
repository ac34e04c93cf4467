"""The splitting against DOP853 on the whole network, its order, and the root without which it does not converge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories import lazy_active
from linnet.theories.lazy_active import splitting
from reference import flowing_products

CASES = [((8, 8), 5, 0.6), ((6, 10), 4, 0.5), ((10, 6), 20, 0.4), ((8, 8), 1, 0.5), ((8, 8), 40, 0.3), ((7, 7), 7, 1.0)]


def network(shape, width, scale):
    """A target, and layers of unequal size: an imbalance of the size of the weights."""
    draw = np.random.default_rng(width)
    target = 2 * draw.normal(size=shape)
    return target, scale * draw.normal(size=(width, shape[1])), 0.6 * scale * draw.normal(size=(shape[0], width))


def errors(target, first, second, time, steps):
    """Largest error of the product for each number of steps."""
    problem, start = ln.Problem.from_target(target), ln.Weights(first, second)
    end = flowing_products(problem.cov, target, start.layers, [time])[0]
    return [np.abs(lazy_active.split_flow(problem, start, [time], steps=n)[0] - end).max() for n in steps]


@pytest.mark.parametrize(("shape", "width", "scale"), CASES)
def test_it_is_of_second_order(shape, width, scale):
    coarse, fine, finest = errors(*network(shape, width, scale), 0.4, (16, 32, 64))
    assert 1.8 < np.log2(coarse / fine) < 2.2 and 1.9 < np.log2(fine / finest) < 2.1


def test_a_balanced_start_takes_one_step():
    draw = np.random.default_rng(3)
    target, left, right = draw.normal(size=(5, 6)), draw.normal(size=(5, 5)), draw.normal(size=(6, 6))
    left, right, sizes = np.linalg.qr(left)[0][:, :3], np.linalg.qr(right)[0][:3], np.array([0.9, 0.5, 0.2])
    assert errors(target, sizes[:, None] * right, left * sizes, 0.7, (1,))[0] < 1e-9


def test_times_and_steps_are_one_run():
    target, first, second = network((6, 6), 4, 0.5)
    problem, start = ln.Problem.from_target(target), ln.Weights(first, second)
    run = lazy_active.split_flow(problem, start, [0.0, 0.1, 0.2], steps=8)
    assert_allclose(run[0], second @ first, atol=1e-14)
    assert_allclose(run[2], lazy_active.split_flow(problem, start, [0.2], steps=8)[0], atol=1e-12)
    late = lazy_active.split_flow(problem, start, [60.0], steps=4000)[0]
    left, values, right = np.linalg.svd(target)
    assert_allclose(late, (left[:, :4] * values[:4]) @ right[:4], atol=1e-6)  # four units hold the four largest modes


def test_with_a_triangular_root_it_would_not_converge(monkeypatch):
    """The control: the same squares by a Cholesky factor, as if any root would do."""

    case = network((8, 8), 5, 0.6)
    right = errors(*case, 0.4, (64,))[0]
    assert right < 1e-3

    def triangular(G, tolerance):
        return np.linalg.inv(np.linalg.cholesky(G + np.eye(G.shape[-1]))).swapaxes(1, 2)

    monkeypatch.setattr(splitting, "symmetric_inverse_root", triangular)
    assert errors(*case, 0.4, (64,))[0] > 30 * right


@pytest.mark.parametrize("size", [1e-9, 0.3, 2.0, 8.0, 30.0, 1e5])
def test_the_root_by_a_polynomial_is_the_root(size):
    """Matrices of every size, mixed in one batch with small ones: within the tolerance of the root by eigenvectors."""
    draw = np.random.default_rng(4)
    rows = (
        draw.normal(size=(6, 30, 24)) * np.sqrt(np.array([size, size, size / 7, 1e-3, size, 0.5]) / 90)[:, None, None]
    )
    G = rows.swapaxes(1, 2) @ rows
    right = splitting.symmetric_inverse_root(G)
    assert_allclose(right @ right @ (np.eye(24) + G), np.broadcast_to(np.eye(24), G.shape), atol=1e-9)
    for tolerance in (1e-3, 1e-6):
        assert np.abs(splitting.symmetric_inverse_root(G, tolerance) - right).max() < tolerance


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": [np.inf]}, "`times` must be finite"),
        ({"times": [1e9]}, "`times` must end before"),
        ({"times": [-1.0]}, "must not be negative"),
        ({"problem": ln.problems.spiked_covariance(2, spike=3.0, alignment=0.5)}, "whitened inputs"),
        ({"weights": ln.Weights(np.eye(3), np.eye(3))}, "`weights` must map 2 inputs to 2 outputs"),
        ({"weights": None}, "`weights` must be linnet Weights"),
        ({"weights": (np.eye(2), np.eye(2))}, "`weights` must be linnet Weights"),
        ({"weights": ln.Weights.computed(np.nan * np.eye(2), np.eye(2))}, "`weights` must be finite"),
        ({"weights": ln.Weights(1e8 * np.eye(2), np.eye(2))}, "of the imbalance of `weights` grows by"),
    ],
)
def test_what_is_refused(changes, message):
    arguments = {"problem": ln.Problem.from_target(np.eye(2)), "weights": ln.Weights(np.eye(2), np.eye(2))}
    with pytest.raises(ValueError, match=message):
        lazy_active.split_flow(**{**arguments, "times": [1.0], **changes})


def test_a_large_imbalance_takes_more_steps():
    """M = 3600: in the one step that is asked for, a layer would tilt by e^1800, which is no number."""
    start = ln.Weights([[60.0]], [[0.0]])
    assert_allclose(lazy_active.split_flow(ln.Problem.from_target([[1.0]]), start, [1.0], steps=1), 1.0, rtol=1e-12)


def test_weight_decay_is_of_second_order_too():
    target, first, second = network((6, 8), 4, 0.5)
    problem, start = ln.Problem.from_target(target), ln.Weights(first, second)
    run = ln.gradient_flow(problem, start, times=[0.3], weight_decay=0.7)
    apart = [
        np.abs(lazy_active.split_flow(problem, start, [0.3], steps=n, weight_decay=0.7) - run.products).max()
        for n in (16, 32, 64)
    ]
    assert 3.4 < apart[0] / apart[1] < 4.6 and 3.7 < apart[1] / apart[2] < 4.3
