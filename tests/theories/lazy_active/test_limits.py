"""Limits, crossing times, Gram matrices and the phase diagram of the mixed dynamics."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp

from linnet.theories import lazy_active


def aligned(values, seed=0):
    draw = np.random.default_rng(seed)
    size = len(values)
    left, right = (np.linalg.qr(draw.normal(size=(size, size)))[0] for _ in range(2))
    return lambda s: (left * s) @ right.T


def test_a_high_threshold_is_the_lazy_flow():
    draw = np.random.default_rng(0)
    target, start = draw.normal(size=(3, 4)), draw.normal(size=(3, 4))
    gaps = []
    for g in (1e2, 1e3):
        times = np.array([0.2, 1.0, 3.0]) / g
        gaps.append(
            np.abs(
                lazy_active.self_consistent(target, start, g, times) - lazy_active.lazy_flow(target, start, g, times)
            ).max()
        )
    assert gaps[1] < 1e-4
    assert gaps[0] / gaps[1] > 50  # the correction is of second order in s/g


def test_lazy_descent_is_the_recursion():
    target, start = np.diag([2.0, 1.0]), np.ones((2, 2))
    product, found = start.copy(), lazy_active.lazy_descent(target, start, 0.5, 0.1, [0, 1, 7])
    for step in range(8):
        if step in (0, 1, 7):
            assert_allclose(found[(0, 1, 7).index(step)], product)
        product = product + 2 * 0.5 * 0.1 * (target - product)


def test_the_lazy_floor_is_the_mean_over_starts():
    draw = np.random.default_rng(1)
    truth, noise = draw.normal(size=(3, 3)), draw.normal(size=(3, 3))
    expected = ((truth + noise) * (1 - 0.4) - truth) ** 2
    assert_allclose(lazy_active.lazy_error_floor(truth, noise, [0.4]), expected.sum())
    printed = ((0.4 * truth + (1 - 0.4) * noise) ** 2).sum()  # the printed sign is another number
    assert abs(printed - expected.sum()) > 0.1


@pytest.mark.parametrize("g", [0.0, 1e-3, 0.5, 30.0])
def test_aligned_modes_solve_their_equation(g):
    goals, starts = np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.01, 2.0, 0.3, -0.2])
    times = np.array([0.0, 0.1, 1.0, 4.0])
    run = solve_ivp(
        lambda _, s: 2 * np.hypot(s, g) * (goals - s), (0, 4), starts, "DOP853", t_eval=times, rtol=1e-12, atol=1e-14
    )
    assert_allclose(lazy_active.aligned_modes(goals, starts, g, times), run.y.T, atol=1e-9)


def test_aligned_modes_are_the_matrix_dynamics():
    place = aligned([0] * 3)
    goals, starts = np.array([3.0, 2.0, 0.5]), np.array([0.1, -0.3, 0.2])
    times = np.array([0.0, 0.3, 1.0, 9.0])
    matrices = lazy_active.self_consistent(place(goals), place(starts), 0.4, times)
    expected = np.stack([place(s) for s in lazy_active.aligned_modes(goals, starts, 0.4, times)])
    assert_allclose(matrices, expected, atol=1e-12)


def test_negative_balanced_modes_are_stuck_and_mixed_ones_are_not():
    stuck = lazy_active.balanced_modes([2.0], [-0.5], [100.0])
    assert -1e-12 < stuck[0, 0] <= 0
    assert_allclose(lazy_active.aligned_modes([2.0], [-0.5], 1e-6, [100.0]), [[2.0]])
    with pytest.raises(ValueError, match="`targets` must not be negative"):
        lazy_active.balanced_modes([-1.0], [0.1], [1.0])


def test_crossing_times_are_the_integral_of_the_speed():
    goals, start, g = np.array([5.0, 2.0]), 0.01, 0.3
    found = lazy_active.crossing_times(goals, start, g)
    for goal, time in zip(goals, found, strict=True):
        expected = quad(lambda s, goal=goal: 1 / (lazy_active.mode_speed(s, g) * (goal - s)), start, g)[0]
        assert_allclose(time, expected, rtol=1e-9)
        assert_allclose(lazy_active.aligned_modes([goal], [start], g, [time])[0, 0], g, rtol=1e-9)
    assert lazy_active.crossing_times([0.2], [0.01], g)[0] == np.inf  # its target lies below the threshold
    assert lazy_active.crossing_times([2.0], [0.5], g)[0] == 0.0
    assert lazy_active.crossing_times([2.0], [-0.5], 0.0, level=1.0)[0] == np.inf


def test_speed_and_alignment_change_over_at_the_threshold():
    assert_allclose(lazy_active.mode_speed([0.0, 1e3], 1.0), [2.0, 2e3], rtol=1e-6)
    assert_allclose(lazy_active.predicted_alignment([0.0, 1.0, 1e3], 1.0), [0.0, np.sqrt(0.5), 1.0], atol=1e-6)
    assert lazy_active.predicted_alignment([0.0], 0.0)[0] == 0.0


def test_gram_matrices_are_square_roots():
    product = np.random.default_rng(2).normal(size=(5, 3, 4))
    first, second = lazy_active.gram_matrices(product, 0.7)
    assert_allclose(first @ first, np.swapaxes(product, -1, -2) @ product + 0.49 * np.eye(4), atol=1e-12)
    assert_allclose(second @ second, product @ np.swapaxes(product, -1, -2) + 0.49 * np.eye(3), atol=1e-12)


def test_they_solve_the_cubic_equations_and_isotropic_networks_miss_them():
    product = np.random.default_rng(3).normal(size=(3, 4))
    first, second = lazy_active.gram_matrices(product, 0.7)
    assert np.abs(lazy_active.gram_cubic(first, second, product, 0.7)).max() < 1e-12
    assert np.abs(lazy_active.gram_cubic(second, first, product.T, 0.7)).max() < 1e-12
    w1, w2 = lazy_active.self_consistent_layers(product, 0.7)
    # M = -2g I here, so W (M^2 - g^2) W' = 3 g^2 C: that network has the right sum of Gram terms, not these Gram
    # matrices
    one, two = lazy_active.cubic_residuals(w1, w2, 0.7)
    assert_allclose([one, two], [3 * 0.49 * np.linalg.norm(w.T @ w, 2) for w in (w1, w2.T)], rtol=1e-10)


def test_gaussian_layers_approach_orthogonal_projections():
    gaps = []
    for width in (100, 1600):
        draw = np.random.default_rng(4)
        w1, w2 = draw.normal(size=(width, 5)) / np.sqrt(width), draw.normal(size=(5, width)) / np.sqrt(width)
        gap = lazy_active.gram_gap(w1, w2, 1.0)
        values = np.linalg.eigvalsh(w1 @ w1.T - w2.T @ w2)  # 5 near 1, 5 near -1, the others 0
        gaps.append(max(np.abs(values[-5:] - 1).max(), np.abs(values[:5] + 1).max()))
        assert gap.first < 2 * gap.strong * 2 and gap.first < gap.weak
    assert 2 < gaps[0] / gaps[1] < 8  # sqrt(16) = 4 up to fluctuations


def test_the_four_regions():
    assert lazy_active.phase(-1.85, 2.25) == "active"
    assert lazy_active.phase(-1.2, 2.3) == "lazy"
    assert lazy_active.phase(-0.1, 1.5) == "infinite-noise"
    assert lazy_active.phase(-2.0, 0.5) == "underparametrized"
    grid = lazy_active.phase([-3.0, -1.2], [[0.0], [2.3]])
    assert grid.shape == (2, 2) and grid[1, 1] == "lazy"


def test_borders_pass_through_the_papers_corner():
    lines = lazy_active.phase_boundaries(np.array([2.0]), dim=200, rank=5)
    assert_allclose([lines["lazy"][0], lines["infinite-noise"][0]], [-1.0, -1.0])
    assert_allclose(200 ** lines["width-rank"], 5)
    assert lazy_active.lazy_boundary(200**0.5, dim=200) == pytest.approx(0.5)


def test_the_stopping_time():
    arguments = {"spectrum": [2.0, 1.0], "gamma_variance": -1.75, "gamma_width": 2.5, "dim": 100}
    unit = np.log(100) / 100
    c = 1 * 1 / 4  # Delta = 1/4: min(1, 2 Delta) = 1/2
    assert_allclose(lazy_active.stopping_time(**arguments), (0.125 + 1 / c + 0.25) * unit)
    assert_allclose(lazy_active.stopping_time(**arguments, clock="paper"), lazy_active.stopping_time(**arguments) * 1e4)
    assert lazy_active.spectrum_constant([1.0]) == 1.0
    with pytest.raises(ValueError, match="active region"):
        lazy_active.stopping_time([1.0], -1.0, 2.5, dim=100)
    with pytest.raises(ValueError, match="`clock` must be"):
        lazy_active.stopping_time(**arguments, clock="steps")


def test_stages_and_error_terms_in_many_digits_whatever_the_precision_of_their_arguments():
    """Theorem 2 written out anew; NaN and singular values that were not divided by the dimension are refused."""
    plane = {"gamma_variance": np.float16(-1.75), "gamma_width": np.float16(1.5), "dim": np.int16(1000)}
    with mp.workdps(40):
        d, variance, width = mp.mpf(1000), mp.mpf(1000) ** mp.mpf(-1.75), mp.mpf(1000) ** mp.mpf(1.5)
        unit, log = mp.log(d) / d, mp.log(d)
        gap = 1 + mp.mpf(1.75) - mp.mpf(1.5)
        constant = mp.mpf(0.25) * mp.mpf(0.25) ** 2 / mp.mpf(0.75) ** 2  # gaps 1/4 and 1/2, the last value 1/4
        lengths = [gap / 2 / mp.mpf(0.25) * unit, 2 / constant * unit, 1 / mp.mpf(0.5) * unit]
        terms = [
            variance**2 * width,
            (variance * width * log / d) ** 2,
            1 / mp.sqrt(d),
            variance * width / d,
            (mp.mpf(0.125) * log / d) ** 2,
        ]
        wanted = [[float(x) for x in part] for part in (lengths, terms)]
    spectrum = np.array([0.75, 0.25], dtype=np.float16)
    assert_allclose(list(lazy_active.stage_lengths(spectrum, **plane).values()), wanted[0], rtol=1e-12)
    assert_allclose(lazy_active.stopping_time(spectrum, **plane), sum(wanted[0]), rtol=1e-12)
    assert_allclose(list(lazy_active.error_terms(**plane, step=np.float16(0.125)).values()), wanted[1], rtol=1e-12)
    for call in (lazy_active.stage_lengths, lazy_active.stopping_time):
        with pytest.raises(ValueError, match="`spectrum` must be singular values divided by `dim`"):
            call([750.0, 250.0], **plane)  # not divided
        for wrong in ({"spectrum": [0.75, np.nan]}, {"gamma_variance": np.nan}, {"gamma_width": np.nan}):
            with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be finite"):
                call(**{"spectrum": spectrum, **plane, **wrong})
    for wrong in ({"gamma_variance": np.nan}, {"gamma_width": np.nan}, {"step": np.nan}):
        with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be finite"):
            lazy_active.error_terms(**{**plane, **wrong})


def test_the_error_terms_vanish_in_the_active_region():
    small, large = (lazy_active.error_terms(-1.85, 2.25, dim=d, step=0.1) for d in (10**2, 10**8))
    assert all(large[name] < small[name] for name in small)
    assert large["alignment"] == pytest.approx(1e-4)


def test_the_alignment_defect_is_zero_when_aligned_and_sees_angles():
    place = aligned([0] * 4, seed=5)
    truth = place([4.0, 4.0, 1.0, 0.0])
    assert_allclose(lazy_active.alignment_defect(place([2.0, 1.5, 0.7, 0.1]), truth, 3), 0, atol=1e-12)
    swapped = lazy_active.alignment_defect(place([0.7, 1.5, 2.0, 0.1]), truth, 3)
    assert swapped > 1  # a strong mode in a weak one's place
    angle = 0.1
    turn = np.eye(4)
    turn[2:, 2:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    left, _, right = np.linalg.svd(truth)
    turned = left @ turn @ np.diag([4.0, 4.0, 1.0, 0.0]) @ right
    expected = 4 - (np.cos(angle) ** 2 + 1 + 2 * np.cos(angle))
    assert_allclose(lazy_active.alignment_defect(turned, truth, 3), expected, rtol=1e-9)
    batch = lazy_active.alignment_defect(np.stack([turned, truth]), truth, 3)
    assert batch.shape == (2,)


def test_the_bound_of_the_defect_holds_for_random_perturbations():
    draw = np.random.default_rng(6)
    place = aligned([0] * 6, seed=7)
    truth = place([5.0, 5.0, 2.0, 0.0, 0.0, 0.0])
    for size in (1e-3, 1e-2, 1e-1):
        near = truth + size * draw.normal(size=(6, 6))
        assert lazy_active.alignment_defect(near, truth, 3) <= lazy_active.alignment_bound(near, truth, 3)
