"""Spectra, spikes and power laws: the moments asked for, drawn data that have them, and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems.spectra import many_spikes, power_law, spectrum


def test_population_moments():
    problem = spectrum([3.0, 2.0, 0.5], [0.25, 0.5, 1.0])
    target = np.sqrt([0.25, 0.5, 1.0])
    assert_allclose(problem.cov, np.diag([3.0, 2.0, 0.5]))
    assert_allclose(problem.cross[0], [3.0, 2.0, 0.5] * target)
    assert_allclose(np.asarray(problem.truth)[0], target)
    assert_allclose(problem.loss(np.zeros((1, 3))), 0.5 * (0.75 + 1.0 + 0.5))
    assert_allclose(problem.loss(problem.truth), 0.0, atol=1e-15)


def test_samples_have_the_population_as_test_covariance():
    values, squares = np.array([4.0, 1.0, 1.0, 0.25]), np.array([0.1, 0.2, 0.3, 0.4])
    problem = spectrum(values, squares, samples=50_000, key=3)
    assert np.asarray(problem.inputs).shape == (50_000, 4)
    assert_allclose(problem.test_cov, np.diag(values))
    assert_allclose(problem.test_loss(np.zeros((1, 4))), 0.5 * values @ squares)
    error = problem.cov - np.diag(values)
    scale = np.sqrt(np.outer(values, values) * (1 + np.eye(4)) / 50_000)
    assert np.abs(error / scale).max() < 4.5
    assert_allclose(np.asarray(problem.outputs)[:, 0], np.asarray(problem.inputs) @ np.sqrt(squares))


def test_label_noise_has_the_standard_deviation_asked_for():
    problem = spectrum([1.0, 1.0], [0.5, 0.5], samples=20_000, key=0, noise_std=0.3)
    rest = np.asarray(problem.outputs)[:, 0] - np.asarray(problem.inputs) @ np.asarray(problem.truth)[0]
    assert abs(rest.std() - 0.3) < 4 * 0.3 / np.sqrt(2 * 20_000)
    assert spectrum([1.0, 1.0], [0.5, 0.5], noise_std=0.3).loss(np.full((1, 2), np.sqrt(0.5))) == pytest.approx(0.045)


def test_same_key_same_data():
    draws = [spectrum([1.0, 2.0], [1.0, 0.0], samples=5, key=k).cross for k in (1, 1, 2)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_many_spikes_is_the_covariance_written_out():
    problem = many_spikes(6, spikes=[10.0, -0.5], alignments=[0.6, 0.3], variance=2.0)
    mu = np.eye(6)[:2]
    assert_allclose(problem.cov, 2.0 * (np.eye(6) + 10.0 * np.outer(mu[0], mu[0]) - 0.5 * np.outer(mu[1], mu[1])))
    assert_allclose(mu @ np.asarray(problem.truth)[0], np.array([0.6, 0.3]))
    assert_allclose(np.linalg.norm(np.asarray(problem.truth)), 1.0)


def test_power_law_decays_as_asked():
    problem = power_law(50, decay=1.5, target_decay=2.0)
    values, squares = np.diag(problem.cov), np.asarray(problem.truth)[0] ** 2
    assert_allclose(np.diff(np.log(values)) / np.diff(np.log(np.arange(1, 51))), -1.5)
    assert_allclose(np.diff(np.log(squares)) / np.diff(np.log(np.arange(1, 51))), -2.0)
    assert_allclose(squares.sum(), 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectrum([1.0, -0.1], [0.5, 0.5]), "`eigenvalues`.*negative"),
        (lambda: spectrum([1.0, 1.0], [0.5, -0.5]), "`overlaps`.*negative"),
        (lambda: spectrum([1.0, 1.0], [1.0]), "`overlaps` must match the spectrum"),
        (lambda: spectrum([1.0, 1.0], [0.5, 0.5], samples=4), "`key` must be given"),
        (lambda: spectrum([1.0, 1.0], [0.5, 0.5], samples=0, key=0), "`samples` must be at least 1"),
        (lambda: spectrum([1.0, 1.0], [0.5, 0.5], noise_std=-1.0), "`noise_std` must not be negative"),
        (lambda: many_spikes(5, spikes=[1.0, 2.0], alignments=[0.5]), "`alignments` must match `spikes`"),
        (lambda: many_spikes(5, spikes=[1.0, 2.0], alignments=[0.9, 0.9]), "sum to at most 1"),
        (lambda: many_spikes(5, spikes=[1.0], alignments=[1.2]), r"`alignments` must lie in \[0, 1\]"),
        (lambda: many_spikes(5, spikes=[-1.0], alignments=[0.2]), "`spikes` must exceed -1"),
        (lambda: many_spikes(2, spikes=[1.0, 1.0], alignments=[0.2, 0.2]), "`dim` must leave room"),
        (lambda: power_law(5, decay=-1.0, target_decay=1.0), "`decay` must not be negative"),
        (lambda: power_law(10**12, decay=1.0, target_decay=1.0), "a problem of 1000000000000 inputs would take"),
        (lambda: many_spikes(10**12, spikes=[1.0], alignments=[0.2]), "a problem of 1000000000000 inputs would take"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
