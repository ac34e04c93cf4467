"""Label-noise descent: against a loop in NumPy at full width, its law, and the stochastic equation it discretizes."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.sde import noise_sde


def setting(seed=0, n=5, d=4, k=1, h=9):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    problem = ln.Problem.from_data(x, x @ rng.standard_normal((d, k)))
    return problem, ln.inits.gaussian(key=seed, in_dim=d, out_dim=k, width=h, stds=0.4)


def copies(start, number):
    return ln.Weights(np.repeat(start.first[None], number, 0), np.repeat(start.second[None], number, 0))


def test_without_noise_it_is_gradient_descent():
    problem, start = setting()
    options: dict[str, Any] = {"learning_rate": 0.05, "steps": 50, "save_every": 25}
    run = ln.label_noise_descent(problem, start, noise_std=0.0, key=0, **options)
    assert_allclose(run.weights.first, ln.gradient_descent(problem, start, **options).weights.first, atol=1e-12)


def test_one_level_for_each_member():
    problem, start = setting()
    options: dict[str, Any] = {"learning_rate": 0.05, "steps": 50, "save_every": 50}
    run = ln.label_noise_descent(problem, copies(start, 2), noise_std=[0.0, 0.5], key=0, **options)
    plain = ln.gradient_descent(problem, start, **options)
    assert_allclose(run.weights.first[:, 0], plain.weights.first, atol=1e-12)
    assert np.abs(run.weights.first[-1, 1] - plain.weights.first[-1]).max() > 1e-3
    with pytest.raises(ValueError, match="one for each of the batch of 2"):
        ln.label_noise_descent(problem, copies(start, 2), noise_std=[0.0, 0.5, 1.0], key=0, **options)


def test_reduced_and_full_width_runs_are_the_same():
    problem, start = setting(1, n=3, d=6, k=2, h=20)
    options: dict[str, Any] = {"learning_rate": 0.05, "steps": 80, "save_every": 40, "noise_std": 0.8, "key": 2}
    small = ln.label_noise_descent(problem, start, **options)
    whole = ln.label_noise_descent(problem, start, reduce=False, **options)
    assert small.reduced.width < whole.reduced.width
    assert_allclose(small.weights.first, whole.weights.first, atol=1e-11)
    assert_allclose(small.weights.second, whole.weights.second, atol=1e-11)


def test_the_law_of_one_step():
    problem, start = setting(2)
    number, rate, noise = 20_000, 0.1, 0.7
    run = ln.label_noise_descent(
        problem, copies(start, number), learning_rate=rate, steps=1, noise_std=noise, key=3, keep="weights"
    )
    moved = run.weights.second[-1][:, 0] - start.second[0]
    residual = problem.cross - start.product @ problem.cov
    mean = rate * (residual @ start.first.T)[0]
    samples = problem.inputs.shape[0]
    covariance = (rate * noise) ** 2 / samples * start.first @ problem.cov @ start.first.T
    error = np.sqrt(np.diag(covariance) / number)
    assert (np.abs(moved.mean(axis=0) - mean) < 4.5 * error).all()
    measured = np.cov(moved.T)
    assert_allclose(measured, covariance, atol=0.05 * np.abs(covariance).max())
    assert np.abs(measured - covariance * samples).max() > 0.5 * np.abs(measured).max()  # control: without the 1/n


@pytest.mark.slow
def test_the_stochastic_equation_is_the_limit_of_small_rates():
    """The equation, in steps far below the rates, against descents of two rates with the same noise per unit of time:
    their distance from it halves with the rate. (In steps of the rate itself its scheme would be the descent.)"""
    problem, start = setting(3)
    samples, noise, number, end = problem.inputs.shape[0], 0.15, 3000, 1.0
    options: dict[str, Any] = {"times": [end], "step": 0.00125, "key": 5, "paths": number}

    def size(weights):  # smooth in the weights, and of all of them
        return np.log((weights.first[-1] ** 2).sum(axis=(-1, -2)) + (weights.second[-1] ** 2).sum(axis=(-1, -2)))

    limit = size(noise_sde(problem, start, noise_std=noise, **options).reduced)
    wrong = size(
        noise_sde(problem, start, noise_std=noise * np.sqrt(samples), **options).reduced
    )  # control: without 1/sqrt(n)
    gaps, errors = [], []
    for rate in (0.02, 0.01):
        steps, std = round(end / rate), noise * np.sqrt(samples / rate)
        descent = ln.label_noise_descent(
            problem, copies(start, number), learning_rate=rate, steps=steps, noise_std=std, key=4, save_every=steps
        )
        sample = size(descent.reduced)
        gaps.append(sample.mean() - limit.mean())
        errors.append(np.sqrt((sample.var() + limit.var()) / number))
    assert abs(gaps[0]) > 6 * errors[0]  # it is there to be seen
    assert abs(2 * gaps[1] - gaps[0]) < 4.5 * np.hypot(2 * errors[1], errors[0])  # and vanishes with the rate
    assert abs(sample.mean() - wrong.mean()) > 10 * errors[1]


def test_refusals():
    problem, start = setting()
    moments = ln.Problem.from_moments(problem.cov, problem.cross)
    with pytest.raises(ValueError, match="must hold its samples"):
        ln.label_noise_descent(moments, start, learning_rate=0.1, steps=1, noise_std=0.1, key=0)
    with pytest.raises(ValueError, match="`noise_std` must not be negative"):
        ln.label_noise_descent(problem, start, learning_rate=0.1, steps=1, noise_std=-0.1, key=0)
    with pytest.raises(ValueError, match="`key` must be"):
        ln.label_noise_descent(problem, start, learning_rate=0.1, steps=1, noise_std=0.1, key=None)


def test_noise_on_a_population_has_the_covariance_of_that_many_labels():
    cov = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 0.5]])
    problem = ln.Problem.from_moments(cov, np.ones((1, 3)) @ cov)
    start = ln.Weights(np.zeros((1, 3)), np.ones((1, 1)))
    number, n, level = 20_000, 7, 0.8
    run = ln.label_noise_descent(
        problem, copies(start, number), learning_rate=1.0, steps=1, noise_std=level, samples=n, key=0
    )
    kicks = run.products[-1, :, 0, :] - np.ones(3) @ cov  # what the noise added to the first step
    found = kicks.T @ kicks / number
    wanted = level**2 / n * cov
    spread = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / number)
    assert (np.abs(found - wanted) < 4 * spread).all()
    assert (np.abs(found - wanted * n) > 4 * spread).any()  # the control: noise that forgets the number of labels
    whitened = ln.Problem.from_target(np.ones((1, 3)))
    quiet = ln.label_noise_descent(whitened, start, learning_rate=0.1, steps=5, noise_std=0.0, samples=3, key=0)
    assert_allclose(quiet.loss, ln.gradient_descent(whitened, start, learning_rate=0.1, steps=5).loss)
    data, first = setting()
    with pytest.raises(ValueError, match="`samples` is for problems of moments or a target"):
        ln.label_noise_descent(data, first, learning_rate=0.1, steps=5, noise_std=0.1, samples=3, key=0)
