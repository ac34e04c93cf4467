"""The stages of feature learning against the network's own update, written out neuron by neuron."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from linnet.problems.subgaussian import gaussian_teacher
from linnet.theories.feature_learning import Stages, target_aligned_kernel

WIDTH, ETA = 40, 0.05


def orthogonal_data(samples: int = 4, dim: int = 7, scale: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs with X X^T = scale^2 I, for which the two-dimensional system is exact."""
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.standard_normal((dim, samples)))[0].T
    return scale * basis, random.standard_normal(samples) * 2


def start(
    first_std: float, magnitude: float, dim: int, width: int = WIDTH, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return first_std * random.standard_normal((width, dim)), magnitude * random.choice([-1.0, 1.0], width)


def network(X, y, W, v, eta: float, steps: int):
    """Eq. (2): losses (time,), alignments and magnitudes (time, neuron), kernels in the paper's scaling."""
    n, m = len(y), len(v)
    feature, first = X.T @ y, W
    losses, rhos, vs, kernels = [], [], [], []
    for _ in range(steps + 1):
        residual = y - X @ (W.T @ v) / m
        losses.append(residual @ residual / (2 * n))
        rhos.append((W - first) @ feature)
        vs.append(v)
        jacobian = np.concatenate([np.kron(v, X) / m, X @ W.T / m], axis=1)  # of f with respect to all of (W, v)
        kernels.append(jacobian @ jacobian.T)
        W, v = W + eta / (m * n) * np.outer(v, X.T @ residual), v + eta / (m * n) * (W @ (X.T @ residual))
    return np.array(losses), np.array(rhos), np.array(vs), np.array(kernels)


def stages_for(X, y, first_std, magnitude, eta=ETA, width=WIDTH) -> Stages:
    return Stages(X, y, width=width, learning_rate=eta / width, first_std=first_std, magnitude=magnitude)


def test_gamma_and_phi_are_the_quadratic_forms():
    X, y = np.random.default_rng(3).standard_normal((2, 5, 5))
    y = y[0]
    stages = stages_for(X, y, 0.1, 0.1)
    assert_allclose(stages.gamma, y @ X @ X.T @ y, rtol=1e-12)
    assert_allclose(stages.phi, y @ X @ X.T @ X @ X.T @ y, rtol=1e-12)
    assert_allclose(stages.limit, stages.gamma**2.5 / stages.phi, rtol=1e-12)


def test_linear_stage_solves_its_recursion_exactly():
    X, y = orthogonal_data()
    stages, (W, v) = stages_for(X, y, 0.02, 0.03), start(0.02, 0.03, 7)
    c, step = W @ X.T @ y, ETA / (len(y) * WIDTH)
    rho, second = np.zeros(WIDTH), v
    kept = []
    for _ in range(301):
        kept.append((rho, second))
        rho, second = rho + step * stages.gamma * second, second + step * (rho + c)
    steps = np.array([0, 1, 2, 50, 300])
    got = stages.linear(c, v, steps)
    assert_allclose(got[0], [kept[t][0] for t in steps], rtol=1e-11)
    assert_allclose(got[1], [kept[t][1] for t in steps], rtol=1e-11)
    assert_allclose(got[0][0], 0.0, atol=0)


def test_linear_stage_is_the_network_while_the_output_is_small():
    data = gaussian_teacher(key=2, samples=5, dim=60, signal=1.0)
    X, y = data.inputs, data.outputs
    W, v = start(1e-7, 1e-6, 60)
    _, rho, second, _ = network(X, y, W, v, ETA, 200)
    stages = stages_for(X, y, 1e-7, 1e-6)
    steps = np.arange(201)
    got = stages.linear(W @ X.T @ y, v, steps)
    assert np.abs(got[0] - rho).max() < 1e-7 * np.abs(rho).max()
    assert np.abs(got[1] - second).max() < 1e-7 * np.abs(second).max()
    late = stages.linear(W @ X.T @ y, v, [4000])
    rest = (late[0] - np.sqrt(stages.gamma) * late[1])[0]
    assert_allclose(rest, -W @ X.T @ y, atol=1e-3 * np.abs(W @ X.T @ y).max())  # it does not tend to zero
    alone = stages.linear(0 * v, v, steps)  # the control: without the overlaps of the start
    assert np.abs(alone[1] - second).max() > 1e-3 * np.abs(second).max()


def test_small_steps_of_the_linear_stage_are_cosh_and_sinh():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01, eta=1e-5)
    steps = np.array([0, 40_000, 4_000_000])
    rho, v = stages.linear([0.0], [0.01], steps)
    angle = stages.rate * stages.learning_rate * steps
    assert_allclose(rho[:, 0], np.sqrt(stages.gamma) * 0.01 * np.sinh(angle), rtol=1e-5)
    assert_allclose(v[:, 0], 0.01 * np.cosh(angle), rtol=1e-5)


def test_plane_with_overlaps_is_the_network_on_orthogonal_inputs():
    X, y = orthogonal_data()
    W, v = start(0.05, 0.02, 7)
    # the start must lie along the feature for the rest of w(0) not to enter
    feature = X.T @ y
    W = np.outer(W @ feature, feature) / (feature @ feature)
    losses, rho, second, _ = network(X, y, W, v, 5.0, 60)
    stages = stages_for(X, y, 0.05, 0.02, eta=5.0)
    got = stages.two_variable(np.zeros(WIDTH), v, np.arange(61), overlaps=W @ feature)
    assert losses[-1] < 1e-3 * losses[0]
    assert_allclose(got[0], rho, atol=1e-11 * np.abs(rho).max())
    assert_allclose(got[1], second, atol=1e-11 * np.abs(second).max())
    assert_allclose(stages.loss(*got, W @ feature), losses, atol=1e-11 * losses[0])
    alone = stages.two_variable(np.zeros(WIDTH), v, np.arange(61))  # the control: without the overlaps of the start
    assert np.abs(alone[0] - rho).max() > 0.05 * np.abs(rho).max()


def test_plane_restarts_and_reports_any_steps():
    X, y = orthogonal_data()
    stages, (_, v) = stages_for(X, y, 0.0, 0.5, eta=2.0), start(0.0, 0.5, 7)
    rho0 = np.linspace(-1, 1, WIDTH)
    whole = stages.two_variable(rho0, v, [0, 7, 20])
    half = stages.two_variable(rho0, v, [7])
    rest = stages.two_variable(half[0][0], half[1][0], [13])
    assert_allclose(whole[0][0], rho0)
    assert_allclose(rest[0][0], whole[0][2], rtol=1e-13)
    assert_allclose(rest[1][0], whole[1][2], rtol=1e-13)


def test_scalar_is_the_plane_on_its_line():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01, eta=1.0)
    rho0 = np.random.default_rng(5).standard_normal(WIDTH)
    plane = stages.two_variable(rho0, rho0 / np.sqrt(stages.gamma), [0, 30, 90])[0]
    assert_allclose(stages.one_variable(rho0, [0, 30, 90]), plane, rtol=1e-11)


def test_scalar_tends_to_its_limit_in_the_mean_only():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01, eta=2.0)
    rho0 = np.random.default_rng(6).standard_normal(WIDTH)
    end = stages.one_variable(rho0, [2000])[0]
    assert_allclose((end**2).mean(), stages.limit, rtol=1e-10)
    assert_allclose(end / end[0], rho0 / rho0[0], rtol=1e-10)  # the mean saturates all alike: proportions stay


def test_proxy_grows_exponentially_along_the_flow():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01)
    rho0 = np.random.default_rng(7).standard_normal(6) * 0.1
    times = np.linspace(0, 3 / stages.rate, 5)
    flow = solve_ivp(
        lambda t, rho: stages.rate * rho * (1 - (rho**2).mean() / stages.limit),
        (0, times[-1]),
        rho0,
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
        t_eval=times,
    )
    proxy = stages.proxy(flow.y.T)
    assert_allclose(proxy, proxy[0] * np.exp(stages.rate * times), rtol=1e-9)
    assert np.isnan(stages.proxy([2 * np.sqrt(stages.limit)])).all()


def test_first_time_against_the_linear_stage():
    X, y = orthogonal_data()
    stages, bare = stages_for(X, y, 1e-9, 1e-4, eta=1e-3), stages_for(X, y, 0.0, 1e-4, eta=1e-3)
    exact = bare.first_time() / bare.learning_rate
    before, after = np.floor(exact * 0.9999), np.ceil(exact * 1.0001)
    rho = stages.linear([0.0], [1e-4], [before, after])[0][:, 0]
    assert rho[0] < 1 < rho[1]
    assert_allclose(bare.first_time(), np.arcsinh(1 / (1e-4 * np.sqrt(bare.gamma))) / bare.rate, rtol=1e-12)
    assert_allclose(stages.first_time(), bare.first_time(), rtol=1e-4)
    assert bare.first_time(level=2.0) > bare.first_time() + 0.6 / bare.rate  # log 2 growth times later


@pytest.mark.parametrize(("first_std", "magnitude"), [(1e-4, 1e-5), (1e-5, 1e-4), (1e-4, 1e-4)])
def test_median_time_is_where_the_median_neuron_is(first_std, magnitude):
    X, y = orthogonal_data()
    stages = stages_for(X, y, first_std, magnitude, eta=1e-3)
    W, v = start(first_std, magnitude, 7, width=20_001)
    near = stages.first_time() / stages.learning_rate
    steps = np.unique(np.rint(near + np.linspace(-0.05, 0.05, 201) * near))
    medians = np.median(np.abs(stages.linear(W @ X.T @ y, v, steps)[0]), axis=1)
    measured = steps[np.argmax(medians >= 1)]
    assert abs(measured - near) < 0.004 * near
    asinh = stages_for(X, y, 0.0, magnitude, eta=1e-3).first_time() / stages.learning_rate
    assert first_std < magnitude or abs(measured - asinh) > 0.004 * near  # the control: sigma_0 matters


def test_second_time_is_where_the_loss_of_the_flow_has_fallen():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01, eta=1e-2)
    wait = stages.second_time(0.01, initial_alignment=0.5)
    rho = stages.one_variable([0.5], [0, np.rint(wait / stages.learning_rate)])[:, 0]
    share = stages.loss(rho[:, None], rho[:, None] / np.sqrt(stages.gamma)) / (y @ y / 8)
    assert share[1] == pytest.approx(0.01, rel=2e-3)


def test_kernel_is_the_network_s_when_aligned():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.0, 0.01)
    v = np.random.default_rng(8).standard_normal(WIDTH)
    W = np.outer(v, X.T @ y) / np.sqrt(stages.gamma)  # rho = sqrt(gamma) v, and nothing else
    kernel = network(X, y, W, v, ETA, 0)[3][0]
    assert_allclose(stages.kernel((v**2).mean()) / WIDTH, kernel, rtol=1e-10)
    assert stages.kernel([1.0, 2.0]).shape == (2, 4, 4)


def test_network_kernel_is_the_network_s_on_average():
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.5, 0.3, width=4000)
    W, v = start(0.5, 0.3, 7, width=4000)
    rho = np.linspace(-4, 6, 4000)
    feature = X.T @ y
    moved = W + np.outer(rho, feature) / stages.gamma
    kernel = ((v @ v) * X @ X.T + X @ moved.T @ moved @ X.T) / 4000
    got = stages.network_kernel(rho, v, W @ feature)[0]
    assert np.abs(got - kernel).max() < 0.03 * np.abs(kernel).max()  # the start across the feature has 1/sqrt(m) noise
    unmoved = stages.network_kernel(np.zeros(4000), v, W @ feature)[0]  # the control
    assert np.abs(unmoved - kernel).max() > 0.1 * np.abs(kernel).max()


def test_linear_stage_of_a_million_steps_keeps_its_digits():
    """Against the matrix of one step, to the power of their number, in 60 digits."""
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.1, 0.5, eta=1e-3)
    number, c, v0 = 10**6, 0.3, -0.5
    with mp.workdps(60):
        step = mp.mpf(stages.learning_rate) / stages.samples
        power = mp.matrix([[1, step * mp.mpf(stages.gamma)], [step, 1]]) ** number
        reached, v = power * mp.matrix([mp.mpf(c), mp.mpf(v0)])
        wanted = float(reached - mp.mpf(c)), float(v)
    found = [part[-1, 0] for part in stages.linear([c], [v0], [0, number])]
    assert_allclose(found, wanted, rtol=1e-11)
    assert abs(wanted[0]) > 1e6  # it has long left its start
    with pytest.raises(ValueError, match=r"`steps` must end before the linear stage overflows, which by 1e\+06 it has"):
        stages_for(X, y, 0.1, 0.5).linear([c], [v0], [number])


def test_recursions_of_many_steps_arrive_and_uncountable_ones_are_refused():
    """Against the same recursions in 30 digits; a step of 10^19 used to return the start unchanged."""
    X, y = orthogonal_data()
    stages = stages_for(X, y, 0.1, 0.5, eta=0.4)
    rho0, v0, number = [0.5, -0.25], [0.25, 0.5], 1500
    with mp.workdps(30):
        step, gamma, phi = mp.mpf(stages.learning_rate) / 4, mp.mpf(stages.gamma), mp.mpf(stages.phi)
        rho, v, line = [mp.mpf(x) for x in rho0], [mp.mpf(x) for x in v0], [mp.mpf(x) for x in rho0]
        for _ in range(number):
            g = 1 - phi / gamma**2 * sum(a * b for a, b in zip(rho, v, strict=True)) / 2
            rho, v = (
                [a + step * gamma * b * g for a, b in zip(rho, v, strict=True)],
                [b + step * a * g for a, b in zip(rho, v, strict=True)],
            )
            free = 1 - phi / gamma ** mp.mpf(2.5) * sum(a**2 for a in line) / 2
            line = [a + step * mp.sqrt(gamma) * a * free for a in line]
        wanted = [[float(x) for x in part] for part in (rho, v, line)]
    found = [part[-1] for part in stages.two_variable(rho0, v0, [number])] + [stages.one_variable(rho0, [number])[-1]]
    assert_allclose(found, wanted, rtol=1e-10)
    assert_allclose(np.mean(found[2] ** 2), stages.limit, rtol=1e-6)  # the end of the second stage
    for call in (lambda: stages.two_variable(rho0, v0, [10**19]), lambda: stages.one_variable(rho0, [10**19])):
        with pytest.raises(ValueError, match="`steps` must end by 1000000, as they are taken one by one"):
            call()


def test_low_precision_data_are_computed_in_double():
    """Labels of one byte and a Gram matrix of half precision, whose own arithmetic would overflow."""
    X = np.arange(-6, 6).reshape(4, 3) * 6
    labels = np.array([100, -100, 3, 7], dtype=np.int8)
    exact = X.astype(object)
    image = exact @ (exact.T @ labels.astype(object))
    gamma = int(labels.astype(object) @ image)
    wanted = (exact @ exact.T).astype(float) + np.outer(image, image).astype(float) / gamma
    gram = (X @ X.T).astype(np.float16)
    found = target_aligned_kernel(gram, labels)
    assert found.dtype == np.float64
    assert_allclose(found, wanted, rtol=1e-12)
    with np.errstate(over="ignore", invalid="ignore"):
        assert not np.allclose(np.float64(gram @ labels.astype(np.float16)), image.astype(float))  # the mistake


def test_wrong_arguments_are_refused():
    X, y = orthogonal_data()
    with pytest.raises(ValueError, match="`y` must have one value per row of `X`, 4"):
        stages_for(X, y[:3], 0.1, 0.1)
    for unit in (1e-120, 1e-50, 1e50, 1e200):
        with pytest.raises(ValueError, match="`X` and `y` must be of a size whose powers are numbers"):
            stages_for(unit * X, unit * y, 0.1, 0.1)
    with pytest.raises(ValueError, match="must have a feature to learn"):
        stages_for(X, np.zeros(4), 0.1, 0.1)
    stages = stages_for(X, y, 0.1, 1.0)
    with pytest.raises(ValueError, match="`share` must be below 1"):
        stages.second_time(1.5)
    with pytest.raises(ValueError, match="`steps` must be whole numbers"):
        stages.one_variable([1.0], [0.5])
    with pytest.raises(ValueError, match="must not both be zero"):
        stages_for(X, y, 0.0, 0.0).first_time()


def test_times_that_do_not_exist_are_refused():
    X, y = orthogonal_data()
    small = Stages(0.1 * X, 0.1 * y, width=16, learning_rate=0.01, first_std=0.01, magnitude=0.001)
    assert small.limit < 1
    with pytest.raises(
        ValueError, match=rf"`initial_alignment` must be below .* sqrt\(limit\) = {np.sqrt(small.limit):.4g}.*got 1"
    ):
        small.second_time(0.5)
    edge = np.sqrt(small.limit * (1 - np.sqrt(0.5)))  # there the loss is at the share
    assert 0 < small.second_time(0.5, initial_alignment=0.999 * edge) < 0.01 / small.rate
    with pytest.raises(ValueError, match="`initial_alignment` must be below"):
        small.second_time(0.5, initial_alignment=edge)


def test_neurons_that_do_not_match_are_refused():
    stages = stages_for(*orthogonal_data(), 0.1, 0.1)
    with pytest.raises(ValueError, match=r"`overlaps`, `magnitudes` must have one shape.*\(2,\), \(3,\)"):
        stages.linear([1.0, 2.0], [1.0, 2.0, 3.0], [1])
    with pytest.raises(ValueError, match="`alignments`, `magnitudes`, `overlaps` must have one shape"):
        stages.two_variable([1.0, 2.0], [1.0, 2.0, 3.0], [1])
    with pytest.raises(ValueError, match="`alignments`, `magnitudes`, `overlaps` must have one shape"):
        stages.loss([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="`alignments` must be an array of real numbers"):
        stages.network_kernel("a", [1.0], [1.0])
    with pytest.raises(ValueError, match="`square` must be an array of real numbers"):
        stages.kernel("a")
    assert stages.proxy(0.5) == stages.proxy([0.5])
    with pytest.raises(ValueError, match="`alignments`, `magnitudes`, `overlaps` must have one shape"):
        stages.network_kernel([1.0, 2.0], [1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_step_too_large_is_refused():
    stages = stages_for(*orthogonal_data(), 0.1, 0.1, eta=1e6)
    with pytest.raises(
        ValueError, match="`learning_rate` is too large for these `alignments`: by step 100 the recursion has diverged"
    ):
        stages.two_variable([0.1, 0.2], [0.1, 0.2], [0, 100])
    with pytest.raises(ValueError, match="`learning_rate` is too large"):
        stages.one_variable([0.1, 0.2], [0, 100])
    with pytest.raises(ValueError, match="`steps` must end before the linear stage overflows, which by 100001 it has"):
        stages.linear([0.1, 0.2], [0.1, 0.2], [0, 100_001])
