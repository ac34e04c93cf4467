"""Ridge and ridgeless risk against exact finite-size formulas, direct solution of the fixed point, and Monte Carlo."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnet.theories.ridge import _effective_ridge, estimate, risk
from linnet.theories.spiked import generalization_error


def monte_carlo(values, target, n, *, ridge=0.0, noise=0.0, trials, seed):
    """Excess risks of `trials` ridge fits to Gaussian data, solved directly; `noise` is a variance."""
    random = np.random.default_rng(seed)
    risks = []
    for _ in range(trials):
        X = random.standard_normal((n, values.size)) * np.sqrt(values)
        y = X @ target + np.sqrt(noise) * random.standard_normal(n)
        if ridge:
            fit = X.T @ np.linalg.solve(X @ X.T + ridge * n * np.eye(n), y)
        else:
            fit = X.T @ np.linalg.solve(X @ X.T, y) if n < values.size else np.linalg.solve(X.T @ X, X.T @ y)
        risks.append(values @ (fit - target) ** 2)
    return np.array(risks)


def effective_ridge(values, samples, *, ridge=0.0):
    """The root that `risk` uses."""
    kappa, unit = _effective_ridge(np.asarray(values), np.ones(len(values)), samples, ridge)
    return kappa * unit


def power_law(dim, decay=1.2, target_decay=1.0):
    ranks = np.arange(1, dim + 1.0)
    squares = ranks**-target_decay
    return ranks**-decay, np.sqrt(squares / squares.sum())


@pytest.mark.parametrize(
    ("samples", "ridge"), [*itertools.product([1, 7, 19], [0.0, 1e-8, 0.3, 50.0]), (30, 1e-8), (30, 50.0)]
)
def test_effective_ridge_solves_its_equation(samples, ridge):
    values = np.geomspace(1e-4, 30.0, 20)
    kappa = effective_ridge(values, samples, ridge=ridge)
    assert_allclose(ridge / kappa + (values / (kappa + values)).sum() / samples, 1.0, rtol=1e-13)


def test_sensitivity_is_the_derivative_of_the_effective_ridge():
    values, n, step = np.geomspace(0.01, 5.0, 40), 25, 1e-5
    slope = (effective_ridge(values, n, ridge=0.1 + step) - effective_ridge(values, n, ridge=0.1 - step)) / (2 * step)
    assert_allclose(risk(values, np.zeros(40), n, ridge=0.1, noise_variance=2.0), 2.0 * (slope - 1), rtol=1e-8)


def test_multiplicities_count_equal_eigenvalues():
    values = np.array([5.0] * 3 + [1.0] * 40 + [0.0] * 4)
    squares = np.arange(47) / 100.0
    grouped = [squares[:3].sum(), squares[3:43].sum(), squares[43:].sum()]
    for n, ridge in [(20, 0.0), (20, 0.2), (60, 0.0), (60, 0.2)]:
        one = risk(values, squares, n, ridge=ridge, noise_variance=0.5)
        assert_allclose(
            risk([5.0, 1.0, 0.0], grouped, n, ridge=ridge, noise_variance=0.5, multiplicities=[3, 40, 4]),
            one,
            rtol=1e-12,
        )


@pytest.mark.parametrize(
    ("spike", "alignment", "ratio"), [(20.0, 0.5, 2.0), (0.0, 0.5, 1.5), (50.0, 0.8, 10.0), (-0.5, 0.9, 3.0)]
)
def test_reaches_the_spiked_formula_as_the_dimension_grows(spike, alignment, ratio):
    right = generalization_error(spike, alignment, ratio)
    gaps = []
    for dim in (10**4, 10**6, 10**8):
        overlaps = [alignment**2, 1 - alignment**2]
        gaps.append(abs(risk([1 + spike, 1.0], overlaps, dim / ratio, multiplicities=[1, dim - 1]) - right))
    if spike == 0:
        assert max(gaps) < 1e-12
    else:
        assert gaps[0] < 0.05 * right
        assert_allclose(np.log10(gaps[0] / gaps[1]), 2, atol=0.1)
        assert_allclose(np.log10(gaps[1] / gaps[2]), 2, atol=0.1)


@pytest.mark.parametrize("dim", [400, 800])
def test_isotropic_variance_is_the_exact_one_within_one_over_dim(dim):
    below, above = dim // 2, 2 * dim
    for n, exact in [(above, dim / (above - dim - 1)), (below, below / (dim - below - 1))]:
        gap = abs(risk([1.0], [0.0], n, noise_variance=1.0, multiplicities=[dim]) / exact - 1)
        assert 0 < gap < 2.5 / dim


@pytest.mark.parametrize(("n", "ridge"), [(60, 0.0), (240, 0.0), (60, 0.05), (240, 0.05)])
def test_power_law_with_label_noise_against_monte_carlo(n, ridge):
    values, target = power_law(120)
    predicted = risk(values, target**2, n, ridge=ridge, noise_variance=0.1)
    risks = monte_carlo(values, target, n, ridge=ridge, noise=0.1, trials=150, seed=1)
    error = risks.std(ddof=1) / np.sqrt(risks.size)
    assert abs(risks.mean() - predicted) < 3 * error + 2 / 120 * predicted
    wrong = risk(values, target**2, n, ridge=ridge, noise_variance=0.2)  # the control: twice the noise must be caught
    assert abs(risks.mean() - wrong) > 3 * error + 2 / 120 * wrong


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_gap_near_the_peak_shrinks_as_one_over_dim(share):
    # Isotropic inputs, whose exact variances are known: 1/(1 - 1/|d - n|) at d times 0.1 from the peak.
    gaps = []
    for dim in (200, 400, 800, 1600):
        n = round(share * dim)
        exact = dim / (n - dim - 1) if n > dim else n / (dim - n - 1)
        gaps.append(exact / risk([1.0], [0.0], n, noise_variance=1.0, multiplicities=[dim]) - 1)
    slope = np.polyfit(np.log([200, 400, 800, 1600]), np.log(gaps), 1)[0]
    assert -1.1 < slope < -0.97
    assert gaps[0] * 200 == pytest.approx(10, rel=0.12)  # ten times the 1/d allowance of the other tests


def test_at_the_rank_the_risk_is_infinite_or_undefined():
    assert risk([1.0, 2.0], [1.0, 0.0], 2, noise_variance=0.1) == np.inf
    assert (
        risk([1.0, 2.0, 0.0], [1.0, 0.0, 1.0], 2, noise_variance=0.1) == np.inf
    )  # the rank, not the dimension, decides
    with pytest.raises(ValueError, match="undefined at `samples` equal to the rank, 2"):
        risk([1.0, 2.0], [1.0, 0.0], 2)
    assert np.isfinite(risk([1.0, 2.0], [1.0, 0.0], 2, noise_variance=0.1, ridge=1e-6))
    assert risk([1.0, 2.0], [1.0, 0.0], 3, noise_variance=0.1) == pytest.approx(0.1 * 2)
    sides = [risk([1.0], [1.0], 1000 + k, noise_variance=0.1, multiplicities=[1000]) for k in (-1, 1)]
    assert min(sides) > 50
    assert [risk([1.0], [1.0], 1000 + k, multiplicities=[1000]) for k in (-1e-6, 1)] == pytest.approx([0, 0], abs=1e-8)


def test_ridge_to_zero_is_ridgeless_and_to_infinity_predicts_nothing():
    values, target = power_law(50)
    assert_allclose(
        risk(values, target**2, 20, ridge=1e-13, noise_variance=0.1),
        risk(values, target**2, 20, noise_variance=0.1),
        rtol=1e-6,
    )
    assert_allclose(risk(values, target**2, 20, ridge=1e9, noise_variance=0.1), values @ target**2, rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eigenvalues": [1.0, -1.0]}, "`eigenvalues`.*negative"),
        ({"overlaps": [0.5]}, "`overlaps` must match the spectrum"),
        ({"overlaps": [0.5, -0.5]}, "`overlaps`.*negative"),
        ({"samples": 0}, "`samples` must be positive"),
        ({"ridge": -1.0}, "`ridge` must not be negative"),
        ({"noise_variance": -1.0}, "`noise_variance` must not be negative"),
        ({"multiplicities": [1]}, "`multiplicities` must match the spectrum"),
        ({"multiplicities": [1, 0.5]}, "`multiplicities` must be whole numbers"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(ValueError, match=message):
        risk(**{"eigenvalues": [1.0, 2.0], "overlaps": [0.5, 0.5], "samples": 3, **changes})


def test_gap_of_a_power_law_near_the_peak_shrinks_as_one_over_dim():
    # n = 0.9 d. The noise is averaged over exactly, s2 tr(Sigma P P^T) with P the pseudo-inverse, which halves the
    # scatter.
    gaps, errors = [], []
    for dim, trials in ((50, 600), (200, 150)):
        values, target = power_law(dim)
        n, random, risks = round(0.9 * dim), np.random.default_rng(dim), []
        for _ in range(trials):
            X = random.standard_normal((n, dim)) * np.sqrt(values)
            P = X.T @ np.linalg.inv(X @ X.T)
            miss = P @ (X @ target) - target
            risks.append(values @ miss**2 + 0.1 * (values @ (P**2).sum(1)))
        predicted = risk(values, target**2, n, noise_variance=0.1)
        gaps.append(np.mean(risks) / predicted - 1)
        errors.append(np.std(risks, ddof=1) / np.sqrt(trials) / predicted)
    assert gaps[0] > 5 * errors[0]  # there is a gap, far above the 1/d of other sizes
    assert gaps[0] * 50 == pytest.approx(gaps[1] * 200, abs=3 * np.hypot(50 * errors[0], 200 * errors[1]))
    assert gaps[1] < 0.5 * gaps[0]


@pytest.mark.parametrize(
    ("eigenvalue", "overlap", "samples", "options", "right"),
    [
        (1.0, 1.0, 50, {"ridge": 1e-200, "noise_variance": 1.0}, 0.25),
        (1e-200, 1.0, 5, {}, 0.5e-200),
        (1e200, 1e-200, 5, {}, 0.5),
        (1e-200, 1.0, 5, {"ridge": 1e100}, 1e-200),  # nothing is learned
        (1e150, 1e-150, 50, {"ridge": 1e-150, "noise_variance": 1.0}, 0.25),
        (1.0, 0.0, 10, {"ridge": 1e-200, "noise_variance": 1.0}, 0.5e100),  # at the rank: 1/(2 sqrt(ridge))
    ],
)
def test_any_scale(eigenvalue, overlap, samples, options, right):
    assert_allclose(risk([eigenvalue], [overlap], samples, multiplicities=[10], **options), right, rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-250, 1e-30, 1e30, 1e250])
@pytest.mark.parametrize(("samples", "ridge"), [(7, 0.0), (7, 0.3), (20, 1e-3), (30, 1e-9)])
def test_units_of_the_inputs_do_not_matter(unit, samples, ridge):
    values, squares = np.geomspace(1e-4, 30.0, 20), np.linspace(0.1, 1.0, 20)
    one = risk(values, squares, samples, ridge=ridge, noise_variance=0.5)
    assert_allclose(
        risk(values * unit, squares / unit, samples, ridge=ridge * unit, noise_variance=0.5), one, rtol=1e-11
    )
    kappa = effective_ridge(values, samples, ridge=ridge)
    assert_allclose(effective_ridge(values * unit, samples, ridge=ridge * unit), kappa * unit, rtol=1e-12)


def test_eigenvalues_four_hundred_digits_apart():
    assert_allclose(effective_ridge([1e200, 1e-200], 1), 1.0, rtol=1e-12)  # kappa^2 is their product
    with pytest.raises(ValueError, match="`eigenvalues` times `overlaps` are too large"):
        risk([1e200], [1e200], 5, multiplicities=[10])


def test_many_outputs_are_each_output_alone():
    eigenvalues, overlaps, noise = [2.0, 1.0, 0.1], np.array([[1.0, 0.5, 0.0], [0.0, 0.2, 3.0]]), [0.3, 0.0]
    together = risk(eigenvalues, overlaps, 2, ridge=0.2, noise_variance=noise)
    alone = [risk(eigenvalues, row, 2, ridge=0.2, noise_variance=s) for row, s in zip(overlaps, noise)]
    assert_allclose(together, alone, rtol=1e-14)
    assert_allclose(risk(eigenvalues, overlaps, 50, noise_variance=0.1), 0.1 * 3 / 47)
    with pytest.raises(ValueError, match="one for each of the 2 outputs"):
        risk(eigenvalues, overlaps, 2, ridge=0.2, noise_variance=[0.1, 0.2, 0.3])


def test_what_is_estimated_from_data_is_what_they_were_drawn_from():
    random = np.random.default_rng(0)
    values, beta, noise = (
        np.array([4.0, 1.0, 0.25]),
        np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 0.0]]),
        np.array([0.5, 2.0]),
    )
    X = random.standard_normal((40_000, 3)) * np.sqrt(values) + 7
    Y = X @ beta.T + random.standard_normal((40_000, 2)) * np.sqrt(noise) - 3
    found = estimate(X, Y)
    assert_allclose(found.eigenvalues, values, rtol=0.03)
    assert_allclose(found.overlaps, beta**2, rtol=0.05, atol=0.02)
    assert_allclose(found.noise_variance, noise, rtol=0.03)


def test_the_estimate_is_not_fooled_by_its_own_noise():
    """Pure noise on few samples: least squares alone would see overlaps of rank/n times the noise."""
    random = np.random.default_rng(1)
    explained, naive = [], []
    for _ in range(200):
        X, y = random.standard_normal((30, 10)), random.standard_normal(30)
        found = estimate(X, y)
        explained.append((found.eigenvalues * found.overlaps).sum())
        naive.append(((np.linalg.lstsq(X, y, rcond=None)[0] @ X.T) ** 2).mean())
    assert np.mean(explained) < 0.25 * np.mean(naive)
    with pytest.raises(
        ValueError, match="more samples than directions to show the noise: got 5 samples of 4 directions"
    ):
        estimate(random.standard_normal((5, 9)), random.standard_normal(5))
