"""The flow in function space against the network itself, both layers at full width, integrated by SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from linnet.precision import computing
from linnet_papers.watanabe.training.function_flow import FunctionState, _largest_eigenvalue, function_flow
from reference import flow

TIMES = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


def setting(scale, d=24, h=30, n=12, spike=20.0, alignment=0.5, seed=0):
    """Spiked data with n < d samples and a Gaussian start, in full and in the eigenbasis of the samples' span."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    X[:, 0] *= np.sqrt(1 + spike)
    y = alignment * X[:, 0] + np.sqrt(1 - alignment**2) * X[:, 1]
    first, second = (
        scale * random.standard_normal((h, d)) / np.sqrt(d),
        scale * random.standard_normal((1, h)) / np.sqrt(h),
    )
    values, vectors = np.linalg.eigh(X @ X.T / n)
    basis = X.T @ vectors / np.sqrt(n * values)
    return X.T @ X / n, (y @ X / n)[None], first, second, values, basis


def in_function_space(first, second, values, basis, cross, dtype="float64", **options):
    with computing(dtype) as number:
        inside = first @ basis
        state = FunctionState(
            *(jnp.asarray(part, number) for part in (second[0] @ inside, (second**2).sum(), inside.T @ inside))
        )
        run = function_flow(jnp.asarray(values, number), jnp.asarray((cross @ basis)[0], number), state, **options)
        return run, np.asarray(run.state.product, np.float64)


@pytest.mark.parametrize("scale", [1e-5, 0.5])
def test_follows_the_network_with_an_error_of_second_order(scale):
    cov, cross, first, second, values, basis = setting(scale)
    full_first, full_second = flow(cov, cross, (first, second), TIMES)
    wanted = (full_second @ full_first)[:, 0] @ basis
    worst, steps = [], []
    for tolerance in (1e-3, 1e-4, 1e-5):
        runs = [
            in_function_space(first, second, values, basis, cross, until=t, loss=0.0, tolerance=tolerance)
            for t in TIMES
        ]
        worst.append(max(np.abs(product - row).max() for (_, product), row in zip(runs, wanted)))
        steps.append(int(runs[-1][0].steps))
        gains = [float(run.state.gain) for run, _ in runs]
        np.testing.assert_allclose(gains, (full_second**2).sum((1, 2)), rtol=20 * tolerance)
    assert worst[2] < 2e-4 * np.abs(wanted).max()
    # Errors are of second order in the step: with ten times the steps, a hundredth. The estimate is an order lower, so
    # that steps go as its square root.
    order = np.log(worst[0] / worst[2]) / np.log(steps[2] / steps[0])
    assert 1.7 < order < 2.6


def test_kernel_stays_that_of_the_network():
    cov, cross, first, second, values, basis = setting(0.5)
    full_first, _ = flow(cov, cross, (first, second), TIMES[:4])
    run, _ = in_function_space(first, second, values, basis, cross, until=TIMES[3], loss=0.0, tolerance=1e-5)
    inside = full_first[-1] @ basis
    np.testing.assert_allclose(np.asarray(run.state.kernel), inside.T @ inside, atol=2e-5)


def test_another_start_gives_another_path():
    cov, cross, first, second, values, basis = setting(0.5)
    full_first, full_second = flow(cov, cross, (first, second), TIMES[:2])
    wanted = (full_second @ full_first)[-1, 0] @ basis
    _, product = in_function_space(
        first[:-3], second[:, :-3], values, basis, cross, until=TIMES[1], loss=0.0, tolerance=1e-4
    )
    assert np.abs(product - wanted).max() > 1e-2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_ends_at_the_minimum_norm_solution_in_few_steps(dtype):
    _, cross, first, second, values, basis = setting(1e-5, d=150, h=150, n=100, spike=50.0)
    run, product = in_function_space(first, second, values, basis, cross, dtype, loss=1e-9)
    assert float(run.loss) <= 1e-9
    assert int(run.steps) < 1000 < float(run.time) * values.max()  # explicit steps would be bounded by 2/values.max()
    wanted = (cross @ basis)[0] / values
    assert np.abs(product - wanted).max() < 2e-3 * np.abs(wanted).max()


def test_stops_where_told():
    _, cross, first, second, values, basis = setting(1e-3)
    run, _ = in_function_space(first, second, values, basis, cross, loss=0.5)
    assert 0.2 < float(run.loss) <= 0.5
    run, _ = in_function_space(first, second, values, basis, cross, loss=0.0, until=0.7)
    assert float(run.time) == pytest.approx(0.7)
    run, _ = in_function_space(first, second, values, basis, cross, loss=0.0, max_steps=5)
    assert int(run.steps) == 5


@pytest.mark.parametrize(("dim", "width"), [(10, 5), (100, 100), (300, 1200)])
def test_the_norm_of_the_kernel_is_found_well_enough_for_stable_steps(dim, width):
    first = np.random.default_rng(1).standard_normal((width, dim))
    kernel = first.T @ first
    with computing():
        found = float(_largest_eigenvalue(jnp.asarray(kernel)))
    assert 1 / 1.17 < found / np.linalg.norm(kernel, 2) <= 1 + 1e-12
