"""The low-rank task: its law, its noise and its losses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.problems.low_rank import low_rank_plus_noise


def test_the_truth_has_the_rank_and_the_size_of_the_paper():
    problem = low_rank_plus_noise(120, rank=5, key=0)
    values = np.linalg.svd(problem.truth, compute_uv=False)
    assert values[5] < 1e-10 * values[0]
    # |A*|_F^2/d^2 has mean 1; its standard error over u, v is about sqrt(2/K + 4/d)
    sizes = [(low_rank_plus_noise(120, rank=5, key=k).truth ** 2).mean() for k in range(30)]
    error = np.std(sizes) / np.sqrt(len(sizes))
    assert abs(np.mean(sizes) - 1) < 4 * error
    assert abs(np.mean(sizes) - np.sqrt(5)) > 4 * error  # control: a prefactor K^(-1/4)


def test_noise_is_independent_of_the_truth_and_scales():
    quiet, loud = (low_rank_plus_noise(80, rank=3, noise_std=n, key=1) for n in (0.0, 2.0))
    assert_allclose(quiet.truth, loud.truth)
    assert_allclose(quiet.cross, quiet.truth)
    noise = loud.cross - loud.truth
    assert abs(noise.var() - 4) < 4 * 4 * np.sqrt(2 / noise.size)


def test_losses_are_half_squares():
    problem = low_rank_plus_noise(6, rank=2, key=2)
    zero = np.zeros((6, 6))
    assert_allclose(problem.loss(zero), 0.5 * (problem.cross**2).sum())
    assert_allclose(problem.test_loss(zero), 0.5 * (problem.truth**2).sum())


def test_a_spectrum_fixes_the_singular_values():
    problem = low_rank_plus_noise(50, rank=3, key=3, spectrum=[2.0, 1.0, 0.5])
    assert_allclose(np.linalg.svd(problem.truth, compute_uv=False)[:4], [100, 50, 25, 0], atol=1e-10)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="a target of 1000000 x 1000000 would take"):
        low_rank_plus_noise(10**6, rank=1, key=0)
    with pytest.raises(ValueError, match="`rank` must not exceed `dim`"):
        low_rank_plus_noise(3, rank=4, key=0)
    with pytest.raises(ValueError, match="`spectrum` must be 2 positive"):
        low_rank_plus_noise(3, rank=2, key=0, spectrum=[1.0, -1.0])
