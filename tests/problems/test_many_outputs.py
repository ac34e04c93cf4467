"""Every generator makes problems of several outputs; noise on labels is in the population's moments too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.problems import gaussian_teacher, many_spikes, power_law, relu_teacher, spectrum, subgaussian_regression


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: ln.problems.spiked_covariance(6, spike=3.0, alignment=0.6, **o),
        lambda **o: many_spikes(6, spikes=[3.0, 1.0], alignments=[0.5, 0.5], **o),
        lambda **o: power_law(6, decay=1.0, target_decay=0.5, **o),
        lambda **o: spectrum([4.0, 1.0, 0.5], [1.0, 0.0, 2.0], **o),
    ],
)
def test_each_output_has_the_given_overlaps(make):
    one, many = make(), make(out_dim=5, key=3)
    assert many.out_dim == 5 and many.in_dim == one.in_dim
    assert_allclose(many.truth**2, np.repeat(one.truth**2, 5, axis=0))
    assert len({tuple(row) for row in many.truth}) > 1  # and signs of its own
    assert_allclose(many.cov, one.cov)
    data = make(out_dim=5, key=3, samples=40)
    assert_allclose(data.truth, many.truth)
    assert_allclose(data.outputs, data.inputs @ data.truth.T)


def test_noise_on_labels_is_what_the_population_cannot_lose():
    quiet, noisy = (spectrum([4.0, 1.0], [1.0, 1.0], out_dim=3, key=0, noise_std=s) for s in (0.0, 0.7))
    A = np.random.default_rng(0).standard_normal((3, 2))
    assert noisy.loss(A) - quiet.loss(A) == pytest.approx(3 * 0.7**2 / 2)
    data = spectrum([4.0, 1.0], [1.0, 1.0], out_dim=3, key=0, noise_std=0.7, samples=200_000)
    assert data.loss(A) == pytest.approx(noisy.loss(A), rel=0.02)


def test_overlaps_may_differ_from_output_to_output():
    squares = np.array([[1.0, 0.0], [0.0, 4.0]])
    assert_allclose(spectrum([2.0, 1.0], squares).truth, [[1, 0], [0, 2]])
    with pytest.raises(ValueError, match="`out_dim` must be the number of rows of `overlaps`, 2: got 3"):
        spectrum([2.0, 1.0], squares, out_dim=3)
    with pytest.raises(ValueError, match="`key` must be given with `out_dim`"):
        spectrum([2.0, 1.0], [1.0, 1.0], out_dim=3)


def test_targets_that_are_not_square():
    problem = ln.problems.low_rank_plus_noise(8, rank=2, out_dim=3, noise_std=0.0, key=0, spectrum=[2.0, 1.0])
    assert (problem.out_dim, problem.in_dim) == (3, 8)
    assert_allclose(np.linalg.svd(problem.truth, compute_uv=False)[:2], np.array([2.0, 1.0]) * np.sqrt(24))
    with pytest.raises(ValueError, match="`rank` must not exceed `out_dim`: got rank 3 for 2"):
        ln.problems.low_rank_plus_noise(8, rank=3, out_dim=2, key=0)


def test_teachers_of_several_outputs():
    drawn = gaussian_teacher(key=0, samples=7, dim=5, out_dim=3, signal=2.0)
    assert drawn.problem().out_dim == 3 and np.linalg.norm(drawn.teacher) == pytest.approx(2.0)
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    drawn = subgaussian_regression(key=1, samples=9, covariance=cov, teacher=np.eye(2))
    assert_allclose(drawn.outputs, drawn.inputs)
    assert drawn.signal == pytest.approx(np.sqrt(3.0))  # the trace of the covariance
    assert relu_teacher(key=0, samples=6, in_dim=3, neurons=4, out_dim=2).out_dim == 2
