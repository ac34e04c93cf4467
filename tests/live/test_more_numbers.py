"""What the pages after the first two compute in Chromium, against Python: the same seeds, the same networks."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.theories import spectral_bias, spiked
from linnet.theories.aligned_flow import growth_direction
from linnet.theories.feature_learning import Stages

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("live")]


@pytest.mark.parametrize(
    ("spike", "alignment", "scale", "samples", "seed"),
    [(20, 0.3, 1e-5, "population", 0), (5, 0.8, 1e-3, "100", 3), (100, 0.9, 1e-7, "1000", 1), (20, 1, 1e-5, "40", 0)],
)
def test_two_phases_are_those_of_python(numbers, spike, alignment, scale, samples, seed):
    s = {"spike": spike, "alignment": alignment, "scale": scale, "samples": samples, "seed": seed}
    found = numbers("numbers/spiked.js", "twoPhases", s)
    theory, times = spiked.TwoPhase(spike, alignment), np.array(found["time"])
    assert np.isclose(found["first"], theory.early_time(scale), rtol=1e-12)
    if theory.has_second_phase:
        assert np.isclose(found["second"], theory.later_time(scale, 3.0), rtol=1e-12)
    count = None if samples == "population" else int(samples)
    problem = ln.problems.spiked_covariance(
        30, spike=spike, alignment=alignment, samples=count, key=None if count is None else seed
    )
    weights = ln.inits.gaussian(key=[seed, 1], in_dim=30, out_dim=1, width=50, stds=(scale / 30**0.5, scale / 50**0.5))
    start, direction = growth_direction(problem, weights)
    assert np.isclose(found["start"], start, rtol=1e-12)
    moments = ln.Problem.from_moments(problem.cov, problem.cross)
    run = ln.gradient_flow(moments, weights, times=times, rtol=1e-11)
    assert np.abs((direction @ run.weights.first)[:, :2] - found["trained"]).max() < 1e-6
    reduced = theory.reduced(start, times)
    assert np.abs(reduced - found["reducedComponents"]).max() < 1e-7
    assert np.allclose(found["early"], theory.early(start, times), rtol=1e-10)
    arrow = found["arrows"][40]
    assert np.allclose(theory.vector_field(theory.basis @ arrow["at"]) @ theory.basis, arrow["go"], atol=1e-12)
    lines = [line @ theory.basis for line in theory.nullclines(points=160, radius=2.0)]
    assert np.allclose(lines[0], found["nullclines"][0], atol=1e-10)


def test_few_samples_are_those_of_python(numbers):
    found = numbers("numbers/spiked.js", "sampledErrors", {"spike": 20, "alignment": 0.3, "seed": 4})
    beta = np.zeros(120)
    beta[:2] = 0.3, np.sqrt(1 - 0.3**2)
    for i, ratio in enumerate((1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)):
        inputs = np.random.default_rng([4, i]).standard_normal((8, round(120 / ratio), 120))
        inputs[..., 0] *= np.sqrt(21.0)
        for draw, X in enumerate(inputs):
            miss = np.linalg.lstsq(X, X @ beta, rcond=None)[0] - beta
            assert np.isclose(found[i][draw], (miss @ miss + 20 * miss[0] ** 2) / (1 + 20 * 0.09), rtol=1e-8)
    here = numbers("numbers/spiked.js", "errorOfFew", 20, 0.3, 2.5)
    assert np.isclose(here, spiked.generalization_error(20, 0.3, 2.5, normalized=True), rtol=1e-13)


@pytest.mark.parametrize(
    ("gamma", "values", "clock"),
    [(0.01, [4, 2, 1, 0.5], "canonical"), (1e-9, [2, 2, 1.8, 0.5], "log"), (10, [3], "canonical")],
)
def test_spectral_bias_is_that_of_python(numbers, gamma, values, clock):
    found = numbers("numbers/bias.js", "spectralBias", {"gamma": gamma, "values": values, "clock": clock})
    unit = -np.log(gamma) if clock == "log" else 1.0
    s, times = np.array(values, dtype=float), np.array(found["time"]) * unit
    theory = spectral_bias.singular_values(s, gamma, times)
    assert np.allclose(found["predicted"], theory, rtol=1e-10, atol=1e-14)
    assert np.abs(np.array(found["trained"]) - theory).max() < 1e-9 * s[0]
    assert np.allclose(np.array(found["half"]) * unit, spectral_bias.half_times(s, gamma), rtol=1e-11)
    first, second = spectral_bias.final_singular_values(s, gamma, 8)
    assert np.allclose(found["firstFinal"], first, rtol=1e-12) and np.allclose(found["secondFinal"], second, rtol=1e-12)
    psi = spectral_bias.potential(np.array(found["heights"])[:, None] * s[0], gamma)
    assert np.allclose(found["potential"], (psi - psi[0]) / (psi[-1] - psi[0]), atol=1e-9)


def test_label_noise_is_descent_with_noise_of_that_size(numbers):
    s = {"gamma": 0.5, "noise": 0.8, "learning_rate": 0.05, "seed": 3}
    found = numbers("numbers/bias.js", "labelNoise", s)
    problem = ln.problems.orthogonal_regression(key=3, in_dim=5)
    start = ln.inits.orthogonal(key=3, in_dim=5, out_dim=1, width=200, scale=0.5)
    options = {"learning_rate": 0.05, "steps": 4000, "save_every": 40}
    clean = ln.gradient_descent(problem, start, **options)
    values = np.linalg.svd(clean.weights.first, compute_uv=False)
    assert np.allclose(found["clean"], values, atol=1e-10)
    # NumPy draws this noise and JAX that of linnet: the small singular values decay at the same rate
    noisy = ln.label_noise_descent(problem, start, noise_std=0.8 * 5**0.5, key=3, **options)
    decays = [
        np.log(v[60, 1:] / v[0, 1:]).mean()
        for v in (np.array(found["noisy"]), np.linalg.svd(noisy.weights.first, compute_uv=False))
    ]
    assert decays[0] < -0.3 and abs(decays[0] / decays[1] - 1) < 0.15


@pytest.mark.parametrize(
    ("dim", "width", "first_std", "magnitude", "signal", "seed"),
    [(1000, 128, 1e-6, 1e-5, 1.0, 0), (3000, 500, 0.01, 0.001, 50.0, 2), (20, 64, 1e-6, 1e-5, 1.0, 7)],
)
def test_feature_learning_is_that_of_python(numbers, dim, width, first_std, magnitude, signal, seed):
    from linnet_papers.huang.training.features import feature_history

    scales = {"first_std": first_std, "magnitude": magnitude}
    s = {"dim": dim, "width": width, "signal": signal, "growth": 0.05, "seed": seed, **scales}
    found = numbers("numbers/features.js", "featureLearning", s)
    data = ln.problems.gaussian_teacher(key=seed, samples=10, dim=dim, noise_variance=0.01, signal=signal)
    inputs = data.inputs @ np.linalg.qr(data.inputs.T)[0]
    feature = inputs.T @ data.outputs
    rate = 0.05 * 10 / np.linalg.norm(feature)
    assert np.isclose(found["rate"], rate, rtol=1e-12)
    stages = Stages(inputs, data.outputs, width=width, learning_rate=rate, **scales)
    start = ln.inits.signed(key=[seed, 1], in_dim=10, width=width, **scales)
    steps = [row["step"] for row in found["rows"]]
    problem = ln.Problem.from_data(inputs, data.outputs)
    run = ln.gradient_descent(problem, start, learning_rate=rate, steps=steps[-1], save_every=steps[1])
    history = feature_history(run)
    column = {name: np.array([row[name] for row in found["rows"]]) for name in found["rows"][0]}
    assert np.allclose(column["loss"], history.loss, rtol=1e-8, atol=1e-12 * history.loss[0])
    assert np.allclose(column["square"], history.mean_square / stages.limit, rtol=1e-7)
    assert np.allclose(column["ratio"][1:], history.median_ratio[1:], rtol=1e-6, atol=1e-9)
    assert np.allclose(column["size"], history.kernel_norm, rtol=1e-8)
    assert np.allclose(column["distance"], history.kernel_distance, rtol=1e-5, atol=1e-9)
    assert np.allclose(column["away"], 1 - history.kernel_cosine, rtol=1e-6, atol=1e-12)
    rho, v = stages.two_variable(np.zeros(width), history.magnitudes[0], steps, overlaps=history.overlaps)
    assert np.allclose(column["predictedLoss"], stages.loss(rho, v, history.overlaps), rtol=1e-8, atol=1e-12)
    assert np.isclose(found["first"], stages.first_time() / rate, rtol=1e-9)
    assert np.isclose(found["firstTrained"], history.alignment_time() / rate, rtol=1e-6)
    assert np.isclose(found["second"], (stages.first_time() + stages.second_time(0.05)) / rate, rtol=1e-9)


@pytest.mark.parametrize(("depth", "width", "seed"), [(2, 10**6, 1), (3, 10**12, 0), (4, 5000, 3), (5, 10**6, 2)])
def test_deep_networks_are_those_of_python(numbers, depth, width, seed):
    s = {"depth": depth, "coupling": 0.7, "width": width, "values": [4, 2, 1], "seed": seed}
    found = numbers("numbers/deep.js", "deep", s)
    order = {} if depth == 2 else {"order": 6}
    start = ln.inits.reduced_gaussian(
        in_dim=3, out_dim=3, width=width, depth=depth, stds=0.7 * width**-0.5, key=seed, **order
    )
    assert found["widths"] == list(start.widths if depth > 2 else [start.width])
    times = np.array(found["time"])
    problem = ln.Problem.from_target(np.diag([4.0, 2.0, 1.0]))
    run = ln.gradient_flow(problem, start, times=times, rtol=1e-9, reduce=False, max_steps=50_000)
    assert np.abs(np.array(found["trained"]) - run.singular_values).max() < 1e-5
    modes = ln.theories.deep.gaussian_modes([4, 2, 1], 0.7, depth, times, **order)
    assert np.abs(np.array(found["predicted"]) - modes).max() < 1e-6


@pytest.mark.parametrize(("first_std", "magnitude"), [(1e-3, 1e-8), (1e-8, 1e-3), (1e-4, 1e-4), (1e-6, 2e-5)])
def test_the_end_of_the_first_stage_is_that_of_python(numbers, first_std, magnitude):
    """Also where the first layer is much larger than the second, and its noise decides."""
    X = np.random.default_rng(1).standard_normal((5, 200))
    stages = Stages(X, X[:, 0], width=50, learning_rate=1e-3, first_std=first_std, magnitude=magnitude)
    found = numbers("numbers/features.js", "firstTime", stages.gamma, first_std, magnitude, stages.rate)
    assert np.isclose(found, stages.first_time(), rtol=1e-9)
