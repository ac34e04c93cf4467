"""Spectral bias: theory against gradient flow against small-step descent, on networks at the paper's width."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.theories import spectral_bias as sb
from linnet_papers.varre.training.first_layer import first_layer_values

SHAPE = {"in_dim": 10, "out_dim": 3, "width": 200}


def regressions(seeds):
    singles = [ln.problems.gaussian_regression(key=seed, samples=5, in_dim=10, out_dim=3) for seed in seeds]
    inputs, outputs = (np.stack([np.asarray(getattr(p, name)) for p in singles]) for name in ("inputs", "outputs"))
    return ln.Problem.from_data(inputs, outputs)


def orthogonal(seeds, gammas):
    pairs = zip(seeds, gammas, strict=True)
    return ln.Weights.stack(ln.inits.orthogonal(key=seed, scale=gamma, **SHAPE) for seed, gamma in pairs)


@pytest.fixture(scope="module")
def flow():
    """One flow of the paper's regression per scale, with times close enough to differentiate."""
    gammas = np.array([1e-6, 1e-3, 1.0, 10.0])
    seeds = [3, 3, 3, 3]
    probes = np.array([0.3, 1.0, 3.0])
    h = 1e-3
    times = np.unique(np.concatenate([(probes[:, None] + h * np.arange(-2, 3)).ravel(), [150.0]]))
    problem = regressions(seeds)
    return problem, gammas, h, ln.gradient_flow(problem, orthogonal(seeds, gammas), times=times, rtol=1e-12, atol=1e-16)


def test_limits_of_both_layers(flow):
    problem, gammas, _, run = flow
    solution = problem.min_norm_solution()
    assert_allclose(run.products[-1], solution, atol=1e-8)
    values = first_layer_values(run)[-1]
    for i, gamma in enumerate(gammas):
        first, second = sb.final_singular_values(np.linalg.svd(solution[i], compute_uv=False), gamma, 10)
        assert_allclose(values[i], first, atol=1e-8)
        assert_allclose(np.linalg.svd(run.reduced.second[-1, i], compute_uv=False), second, atol=1e-8)
        whole = run.weights_at(-1)[i]
        # stationarity and the duality gap, on all 200 hidden units and 10 inputs
        assert sb.kkt_residual(whole.first, whole.second, problem.cov[i], problem.cross[i], gamma) < 1e-7
        assert abs(sb.duality_gap(whole.first, whole.second, problem.cov[i], problem.cross[i], gamma)) < 1e-6


def differences(values, h):
    """Fourth-order central differences of five equally spaced states."""
    return (values[0] - 8 * values[1] + 8 * values[3] - values[4]) / (12 * h)


def test_the_mirror_image_moves_with_the_gradient(flow):
    problem, gammas, h, run = flow
    printed_error = 0.0
    for probe in range(3):
        window = slice(5 * probe, 5 * probe + 5)
        for i, gamma in enumerate(gammas):
            products = run.products[window, i]
            left, _, right = np.linalg.svd(products[2], full_matrices=False)
            residual = problem.cross[i] - products[2] @ problem.cov[i]
            wanted = np.diag(left.T @ residual @ right.T)
            values = np.linalg.svd(products, compute_uv=False)
            assert_allclose(differences(sb.mirror(values, gamma), h), wanted, atol=1e-6)
            printed = 0.5 * np.arcsinh(values / gamma) - 0.5 * values / np.hypot(values, gamma)
            printed_error = max(printed_error, np.abs(differences(printed, h) - wanted).max())
    assert printed_error > 1e-2


def test_descent_reaches_the_limit_at_first_order():
    problem, start = regressions([3]), orthogonal([3], [0.1])
    modes = np.linalg.svd(problem.min_norm_solution()[0], compute_uv=False)
    errors = []
    for rate, steps in ((0.02, 4000), (0.01, 8000)):
        run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=ln.trajectories.last())
        errors.append(np.abs(first_layer_values(run)[-1, 0] - sb.final_singular_values(modes, 0.1, 10)[0]).max())
    assert errors[1] < 0.05
    assert 1.7 < errors[0] / errors[1] < 2.4


def test_whitened_modes_follow_their_formula_in_descent_too():
    problem = ln.problems.orthogonal_regression(key=5, in_dim=4, out_dim=2)
    start = ln.inits.orthogonal(key=5, in_dim=4, out_dim=2, width=30, scale=1e-3)
    modes = np.linalg.svd(problem.min_norm_solution(), compute_uv=False)
    errors = []
    for rate, steps in ((4e-3, 1000), (2e-3, 2000)):
        run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps, save_every=steps // 20)
        theory = sb.singular_values(modes, 1e-3, run.times)
        errors.append(np.abs(np.linalg.svd(run.products, compute_uv=False) - theory).max())
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_noise_decays_what_descent_keeps():
    problem = ln.problems.orthogonal_regression(key=6, in_dim=4)
    start = ln.inits.orthogonal(key=6, in_dim=4, out_dim=1, width=50, scale=1.0)
    both = ln.Weights(np.stack([start.first] * 2), np.stack([start.second] * 2))
    run = ln.label_noise_descent(
        problem, both, learning_rate=0.02, steps=15_000, noise_std=[0.0, 2.0], key=0, save_every=ln.trajectories.last()
    )
    quiet, noisy = np.linalg.svd(run.reduced.first[-1], compute_uv=False)
    assert_allclose(quiet[1:], np.sqrt(2), rtol=1e-3)
    assert (noisy[1:] < 0.2).all()
    assert (noisy[1:] / np.sqrt(2) > 0.2 * np.exp(-0.5 * 0.02 * 300)).all()  # and not faster than predicted
