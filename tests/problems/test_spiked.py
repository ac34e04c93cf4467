"""One spike: the paper's moments, from the population and from samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems.spiked import spiked_covariance


@pytest.mark.parametrize("spike", [-0.5, 0.0, 20.0])
@pytest.mark.parametrize("alignment", [0.0, 0.3, 1.0])
def test_population(spike, alignment):
    problem = spiked_covariance(7, spike=spike, alignment=alignment, variance=2.0)
    mu, beta = np.eye(7)[0], np.asarray(problem.truth)[0]
    assert_allclose(problem.cov, 2.0 * (np.eye(7) + spike * np.outer(mu, mu)))
    assert_allclose([np.linalg.norm(beta), mu @ beta], np.array([1.0, alignment]), atol=1e-15)
    assert_allclose(problem.cross[0], problem.cov @ beta)
    assert_allclose(problem.loss(np.zeros((1, 7))), 0.5 * 2.0 * (1 + spike * alignment**2))
    assert_allclose(problem.min_norm_solution()[0], beta, atol=1e-12)


def test_samples():
    problem = spiked_covariance(30, spike=20.0, alignment=0.3, samples=10_000, key=0)
    assert np.asarray(problem.inputs).shape == (10_000, 30)
    assert_allclose(problem.test_cov, np.diag([21.0] + [1.0] * 29))
    assert abs(problem.cov[0, 0] - 21.0) < 4 * 21.0 * np.sqrt(2 / 10_000)
    assert_allclose(np.asarray(problem.outputs)[:, 0], np.asarray(problem.inputs) @ np.asarray(problem.truth)[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spike": -1.0}, "`spike` must exceed -1"),
        ({"spike": float("nan")}, "`spike` must be finite"),
        ({"spike": "tall"}, "`spike` must be a number"),
        ({"alignment": -0.1}, r"`alignment` must lie in \[0, 1\]"),
        ({"alignment": 1.1}, r"`alignment` must lie in \[0, 1\]"),
        ({"variance": 0.0}, "`variance` must be positive"),
        ({"dim": 1}, "`dim` must be at least 2"),
        ({"samples": 5}, "`key` must be given"),
        ({"dim": 10**6}, "a problem of 1000000 inputs would take"),
        ({"samples": 10**12, "key": 0}, "a problem of 5 inputs would take"),
    ],
)
def test_refusals(change, message):
    arguments = {"dim": 5, "spike": 2.0, "alignment": 0.5} | change
    with pytest.raises(ValueError, match=message):
        spiked_covariance(arguments.pop("dim"), **arguments)
