"""Advice is followed and comes true: lazy and active by one definition, on ten tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.forecasts import StartRegimes, all_folds, cross_validate, start_regimes, threshold_curve
from linnet.forecasts._findings import active_modes
from linnet.forecasts._ridge import leave_one_out

pytest.importorskip("sklearn")
from benchmarks.advice import TABLES
from sklearn.linear_model import RidgeCV


@pytest.mark.parametrize("name", TABLES)
def test_the_advised_scale_does_what_is_said(name):
    X, Y = TABLES[name]()
    asked = {"seeds": 1, "folds": 2, "steps": 4}
    before = ln.diagnose(X, Y, **asked)
    wanted = "lazy" if set(before.regimes.words) == {"active"} else "active"
    assert before.advised_scale is not None and f"(--init-scale {before.advised_scale:.3g})" in str(before)
    after = ln.diagnose(X, Y, init_scale=float(f"{before.advised_scale:.3g}"), **asked)
    assert set(after.regimes.words) == {wanted} != set(before.regimes.words)
    # label, sentence and map agree, and the label is that of `observables.regimes`
    judged = after.regimes
    direct = ln.observables.regimes(
        after.forecast.problem, after.forecast.weights, product=judged.learned + judged.untouched
    )
    assert direct.words == judged.words
    for diagnosis in (before, after):
        count = diagnosis.regimes.words.count("active")
        assert active_modes(diagnosis, np.array([512.0]), np.array([1.0]))[0, 0] == count
        words = [word for word in ("lazily", "actively") if f" {word}" in diagnosis.findings()[_line(diagnosis)]]
        assert ("actively" in words) == (count > 0)


def _line(diagnosis):
    return next(i for i, line in enumerate(diagnosis.findings()) if line.startswith("Width 512"))


def test_the_movement_at_a_factor_is_that_of_the_scaled_start():
    random = np.random.default_rng(0)
    X = random.standard_normal((12, 20))  # directions without data keep the start
    problem = ln.Problem.from_data(X, X[:, :2] + random.standard_normal((12, 2)))
    start = ln.inits.gaussian(key=0, in_dim=20, out_dim=2, width=64, first_std=0.2, second_std=0.2)
    judged = start_regimes(problem, start, ridge=0.1)
    assert isinstance(judged, StartRegimes)
    for factor in (0.1, 1.0, 3.0):
        scaled = start_regimes(problem, ln.Weights(factor * start.first, factor * start.second), ridge=0.1)
        assert_allclose(scaled.regimes.movement, judged.movement(factor), rtol=1e-9)


def test_a_kernel_moves_as_the_label_says_when_the_network_learns_it():
    X, y = TABLES["wine"]()
    diagnosis = ln.diagnose(X, y, seeds=1, steps=50)
    for factor, moves in ((1.0, False), (0.7 * diagnosis.advised_scale, True)):
        start = ln.Weights(factor * diagnosis.forecast.weights.first, factor * diagnosis.forecast.weights.second)
        run = ln.forecast(diagnosis.forecast.problem, start)
        assert (run.kernel[-1, 0] > np.sqrt(2)) == moves


def test_leave_one_out_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    for n, d, k in ((40, 6, 2), (12, 20, 1)):
        X, Y = random.standard_normal((n, d)), random.standard_normal((n, k))
        Y += X[:, :k]
        penalty, coefficients = leave_one_out(X, Y)
        model = RidgeCV(alphas=np.geomspace(1e-6, 1e6, 37) * n, fit_intercept=False).fit(X, Y)
        assert_allclose(penalty * n, model.alpha_)
        assert_allclose(coefficients, np.atleast_2d(model.coef_), rtol=1e-7, atol=1e-10)


def test_the_flow_of_one_target_screens_what_descent_finds():
    random = np.random.default_rng(4)
    X = random.standard_normal((80, 20))
    y = X[:, :1] + 0.7 * random.standard_normal((80, 1))
    folds = all_folds(X, y, folds=4)
    curve = threshold_curve(folds)
    g = float(curve.thresholds[3])
    std = np.sqrt(2 * g / (4000 * (1 + 1)))
    start = ln.inits.gaussian(key=0, in_dim=20, out_dim=1, width=4000, first_std=std, second_std=std)
    descent = cross_validate(folds, [start])
    assert_allclose(curve.mean[3], descent.honest_error().mean(), rtol=0.03)
    assert_allclose(curve.time(g), descent.step * descent.learning_rate, rtol=0.35)
    gain, error = curve.gain(g)
    assert gain >= 0 and error > 0
    with pytest.raises(ValueError, match="`folds` must have one target: got 2"):
        threshold_curve(all_folds(X, np.concatenate([y, y], axis=1)))
