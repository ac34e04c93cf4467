"""Synthetic data: the laws they promise and the labels they carry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems import gaussian_regression, orthogonal_regression, relu_teacher


def test_gaussian_regression_is_interpolated_by_its_truth():
    problem = gaussian_regression(key=0, samples=5, in_dim=10, out_dim=3)
    assert np.shape(problem.inputs) == (5, 10) and np.shape(problem.outputs) == (5, 3)
    assert problem.loss(problem.truth) < 1e-25
    many = gaussian_regression(key=1, samples=4000, in_dim=3)
    assert_allclose(many.cov, np.eye(3), atol=0.1)


def test_orthogonal_regression_is_whitened():
    problem = orthogonal_regression(key=2, in_dim=5, out_dim=2)
    assert_allclose(problem.cov, np.eye(5), atol=1e-12)
    assert_allclose(problem.cross, problem.truth, atol=1e-12)


def test_relu_teacher_labels():
    problem = relu_teacher(key=3, samples=200, in_dim=4, neurons=1)
    signs = np.sign(np.asarray(problem.outputs)[:, 0])
    assert set(np.unique(signs)) in ({0.0, 1.0}, {-1.0, 0.0})  # one neuron: zero, or one sign
    assert 60 < (signs == 0).sum() < 140  # silent on half of the inputs
    again = relu_teacher(key=3, samples=200, in_dim=4, neurons=1)
    assert_allclose(problem.outputs, again.outputs, rtol=0)


def test_refusals():
    with pytest.raises(ValueError, match="`samples` must be at least 1"):
        gaussian_regression(key=0, samples=0, in_dim=2)
