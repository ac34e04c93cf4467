"""Alignments, magnitudes and kernels read through the reduction against a network that was never reduced."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.precision import computing
from linnet.problems.subgaussian import gaussian_teacher
from linnet_papers.huang.training.features import feature_history

WIDTH, ETA, STEPS = 30, 2.0, 60


@pytest.fixture(scope="module")
def run():
    data = gaussian_teacher(key=0, samples=4, dim=25)
    start = ln.inits.signed(key=1, in_dim=25, width=WIDTH, first_std=0.05, magnitude=0.02)
    trajectory = ln.gradient_descent(data.problem(), start, learning_rate=ETA / WIDTH, steps=STEPS)
    return data, start, trajectory


def papers_network(X, y, W, v):
    """Eq. (2), neuron by neuron in the paper's own scaling; its Jacobian kernel too."""
    n, m = len(y), len(v)
    first, feature = W, X.T @ y
    rows = []
    for _ in range(STEPS + 1):
        residual = y - X @ (W.T @ v) / m
        jacobian = np.concatenate([np.kron(v, X) / m, X @ W.T / m], axis=1)
        rho = (W - first) @ feature
        across = np.linalg.norm(W - first - np.outer(rho, feature) / (feature @ feature), axis=1)
        rows.append((residual @ residual / (2 * n), rho, v, jacobian @ jacobian.T, across))
        W, v = W + ETA / (m * n) * np.outer(v, X.T @ residual), v + ETA / (m * n) * (W @ (X.T @ residual))
    return [np.array(column) for column in zip(*rows, strict=True)]


def test_every_neuron_is_that_of_the_full_network(run):
    data, start, trajectory = run
    history = feature_history(trajectory)
    root = np.sqrt(WIDTH)
    loss, rho, v, kernel, across = papers_network(data.inputs, data.outputs, root * start.first, root * start.second[0])
    assert trajectory.reduced.first.shape[1:] == (5, 4)
    assert_allclose(history.loss, loss, atol=1e-12 * loss[0])
    assert_allclose(history.alignments, rho, atol=1e-12 * np.abs(rho).max())
    assert_allclose(history.magnitudes, v, atol=1e-12 * np.abs(v).max())
    assert_allclose(history.kernels / WIDTH, kernel, atol=1e-12 * np.abs(kernel).max())
    assert_allclose(history.deviations, across, atol=1e-12 * across.max())
    assert_allclose(history.overlaps, root * start.first @ data.inputs.T @ data.outputs, rtol=1e-10)
    assert_allclose(history.gamma, data.outputs @ data.inputs @ data.inputs.T @ data.outputs)


def test_without_reduction_it_is_the_same(run):
    data, start, trajectory = run
    full = ln.gradient_descent(data.problem(), start, learning_rate=ETA / WIDTH, steps=STEPS, reduce=False)
    reduced, whole = feature_history(trajectory), feature_history(full)
    for name in ("alignments", "magnitudes", "kernels", "loss"):
        scale = np.abs(getattr(whole, name)).max()
        assert_allclose(getattr(reduced, name), getattr(whole, name), atol=1e-11 * scale, err_msg=name)


def test_summaries_follow_from_their_definitions(run):
    history = feature_history(run[2])
    rho, v, kernels = history.alignments, history.magnitudes, history.kernels
    ratios = rho / (v * np.sqrt(history.gamma))
    assert_allclose(history.median_ratio, [np.median(row) for row in ratios])
    assert_allclose(history.mean_square, [np.mean(row**2) for row in rho])
    assert_allclose(history.mean_ratio[-1], np.abs(rho[-1]).sum() / np.abs(v[-1]).sum() / np.sqrt(history.gamma))
    scaled = np.mean(v[7] ** 2) * history.target
    top = np.linalg.eigvalsh(scaled)[-1]
    assert_allclose(history.kernel_distance[7], np.abs(np.linalg.eigvalsh(kernels[7] - scaled)).max() / top)
    assert_allclose(history.kernel_norm[7], np.linalg.eigvalsh(kernels[7])[-1])
    flat = kernels[7].ravel() @ history.target.ravel()
    assert_allclose(history.kernel_cosine[7], flat / np.linalg.norm(kernels[7]) / np.linalg.norm(history.target))


def test_empirical_times_lie_between_the_steps_that_bracket_them(run):
    history = feature_history(run[2])
    medians = np.median(np.abs(history.alignments), axis=1)
    level = 0.3 * medians.max()
    at = int(np.argmax(medians >= level))
    assert history.times[at - 1] <= history.alignment_time(level) <= history.times[at]
    below = int(np.argmax(history.loss <= 0.8 * history.loss[0]))
    assert history.times[below - 1] <= history.loss_time(0.2) <= history.times[below]
    assert np.isnan(history.alignment_time(1e9 * medians.max()))
    with pytest.raises(ValueError, match="`share` must be below 1"):
        history.loss_time(1.0)


def test_a_batch_is_refused(run):
    data, start, _ = run
    rates = np.array([0.5, 1.0]) * ETA / WIDTH
    both = ln.Weights(np.stack([start.first] * 2), np.stack([start.second] * 2))
    batch = ln.gradient_descent(data.problem(), both, learning_rate=rates, steps=STEPS)
    with pytest.raises(ValueError, match="`trajectory` must be a single run: got a batch of 2"):
        feature_history(batch)


def test_relu_kernel_is_the_jacobian_s():
    data = gaussian_teacher(key=3, samples=5, dim=6)
    start = ln.inits.signed(key=1, in_dim=6, width=11, first_std=0.5, magnitude=0.3)
    trajectory = ln.relu_descent((data.inputs, data.outputs), start, learning_rate=0.01, steps=3)
    history = feature_history(trajectory, activation="relu")

    def outputs(first, second):
        return (jax.nn.relu(data.inputs @ first.T) @ second.T)[:, 0]

    with computing():
        last = trajectory.weights_at(-1)
        by_layer = jax.jacobian(outputs, argnums=(0, 1))(jnp.asarray(last.first), jnp.asarray(last.second))
        jacobian = np.concatenate([np.asarray(j).reshape(5, -1) for j in by_layer], axis=1)
    assert_allclose(history.kernels[-1], jacobian @ jacobian.T, rtol=1e-10)
    feature = data.inputs.T @ data.outputs
    assert_allclose(history.alignments[-1], np.sqrt(11) * (last.first - start.first) @ feature, rtol=1e-9)


def test_a_start_without_a_second_layer_has_no_ratio_yet():
    data = gaussian_teacher(key=0, samples=4, dim=25)
    start = ln.inits.signed(key=1, in_dim=25, width=WIDTH, first_std=0.05, magnitude=0.0)
    trajectory = ln.gradient_descent(data.problem(), start, learning_rate=ETA / WIDTH, steps=STEPS)
    history = feature_history(trajectory)
    for name in ("median_ratio", "mean_ratio", "kernel_distance"):
        values = getattr(history, name)
        assert np.isnan(values[0]) and np.isfinite(values[1:]).all(), name


def test_what_has_no_features_is_refused(run):
    problem = ln.Problem.from_target(np.eye(2))
    start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=3, stds=0.1)
    trajectory = ln.gradient_descent(problem, start, learning_rate=0.1, steps=2)
    with pytest.raises(ValueError, match="must be a run on data with one output"):
        feature_history(trajectory)
    with pytest.raises(ValueError, match="`activation` must be one of linear, relu: got 'tanh'"):
        feature_history(run[2], activation="tanh")
