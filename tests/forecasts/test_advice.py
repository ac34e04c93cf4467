"""Advice is followed and comes true: lazy and active by one definition, on ten tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.forecasts import StartRegimes, ThresholdCurve, all_folds, cross_validate, start_regimes, threshold_curve
from linnet.forecasts._baselines import ridge_by_leave_one_out
from linnet.forecasts._regime_map import count_active_modes
from linnet.forecasts._rows import Rows

pytest.importorskip("sklearn")
from benchmarks.studies.advice import TABLES, Followed
from sklearn.linear_model import RidgeCV

QUICK = ["diabetes", "linnerud", "low-rank", "few-rows"]  # with those below all ten but digits and breast cancer
SMALL = ln.forecasts.Settings(seeds=2, folds=4, steps=200)


def halves(name, seed=0):
    table = TABLES[name]()
    rows = len(table[0])
    return table, np.random.default_rng([seed, rows]).permutation(rows)[: rows // 4]


@pytest.mark.parametrize(
    "name", ["wine", *(pytest.param(name, marks=pytest.mark.slow) for name in ("iris-classes", "collinear", "noise"))]
)
def test_a_network_trained_as_advised_does_what_was_said(name):
    part = Followed(*halves(name), SMALL, 0)
    stopped, regime, rates = part.stopping(), part.regime(), part.rates()
    assert not regime or (regime["learned"] and regime["as said"] == regime["modes"])
    assert rates["below trains"] and (not rates["above trains"] or not rates["checked"])
    gain, doubt = part.advice.gain_over_mean
    if gain > 2 * doubt:
        assert stopped["at stop"] < 0.8 * stopped["mean"]
    else:
        assert "No step is better than the mean" in str(part.advice) or "It is not certain that" in str(part.advice)
    assert stopped["at stop"] < 1.05 * stopped["last"] or gain <= 0


def test_a_scale_is_advised_for_the_error_only_where_it_helped_in_the_folds_and_then_it_helps_on_new_rows():
    gains = []
    for seed in range(3):
        part = Followed(*halves("low-rank", seed), SMALL, seed)
        stopped = part.stopping()
        assert part.advice.helpful_scale is not None and "Use that scale." in str(part.advice)
        gains.append(stopped["gain"] / stopped["at stop"])
    assert min(gains) > 0.02  # two of eight modes are signal: small starts learn them first
    part = Followed(*halves("iris-classes"), SMALL, 0)  # the error moves by less than its error bar
    assert part.advice.trial is not None and part.advice.helpful_scale is None
    assert "Use that scale." not in str(part.advice) and "tried in the same folds" in str(part.advice)


def test_a_gain_from_choosing_among_equal_scales_is_none():
    noise = 1 + 0.1 * np.random.default_rng(0).standard_normal((7, 400))
    curve = ThresholdCurve(np.geomspace(0.01, 100, 7), noise, np.ones(7))
    gain, error = curve.gain(1.0)
    assert abs(gain) < 3 * error
    assert noise[3].mean() - noise.mean(axis=1).min() > 0  # the least of the means promises one


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in TABLES])
def test_the_advised_scale_does_what_is_said(name):
    X, Y = TABLES[name]()
    asked = {"seeds": 1, "folds": 2, "steps": 4}
    before = ln.diagnose(X, Y, **asked)
    if before.gain_over_mean[0] <= 0:  # nothing is learned, and nothing is advised about how
        assert before.advised_scale is None and "would be learned" not in str(before)
        return
    wanted = "lazy" if set(before.regimes.labels) == {"active"} else "active"
    assert before.advised_scale is not None and f"With --init-scale {before.advised_scale:.3g}, " in str(before)
    after = ln.diagnose(X, Y, init_scale=float(f"{before.advised_scale:.3g}"), **asked)
    assert set(after.regimes.labels) == {wanted} != set(before.regimes.labels)
    assert after.regimes.regimes.certain.all()  # beyond the error bar of the threshold, not at its edge
    # label, sentence and map agree, and the label is that of `observables.regimes`
    judged = after.regimes
    direct = ln.observables.regimes(
        after.forecast.problem, after.forecast.weights, product=judged.learned + judged.untouched
    )
    assert direct.labels == judged.labels
    for diagnosis in (before, after):
        count = diagnosis.regimes.labels.count("active")
        assert count_active_modes(diagnosis, np.array([512.0]), np.array([1.0]))[0, 0] == count
        words = [word for word in ("lazily", "actively") if f" {word}" in diagnosis.findings()[_line(diagnosis)]]
        assert ("actively" in words) == (count > 0)


def _line(diagnosis):
    return next(i for i, line in enumerate(diagnosis.findings()) if line.startswith("  The table has"))


def test_the_movement_at_a_factor_is_that_of_the_scaled_start():
    random = np.random.default_rng(0)
    X = random.standard_normal((12, 20))  # directions without data keep the start
    problem = ln.Problem.from_data(X, X[:, :2] + random.standard_normal((12, 2)))
    start = ln.inits.gaussian(key=0, in_dim=20, out_dim=2, width=64, stds=0.2)
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
        penalty, coefficients = ridge_by_leave_one_out(Rows(X, Y))
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
    start = ln.inits.gaussian(key=0, in_dim=20, out_dim=1, width=4000, stds=std)
    descent = cross_validate(folds, [start])
    assert_allclose(curve.mean[3], descent.out_of_fold_error().mean(), rtol=0.03)
    assert_allclose(curve.time(g), descent.step * descent.learning_rate, rtol=0.35)
    gaps = []
    for fold in range(4):  # each at the threshold that is best in the other three
        others = [i for i in range(4) if i != fold]
        chosen = int(np.argmin(curve.errors[:, others].mean(axis=1)))
        gaps.append(curve.errors[3, fold] - curve.errors[chosen, fold])
    assert_allclose(curve.gain(g), [np.mean(gaps), np.std(gaps, ddof=1) / 2], atol=1e-12)
    with pytest.raises(ValueError, match="`folds` must have one target: got 2"):
        threshold_curve(all_folds(X, np.concatenate([y, y], axis=1)))


DATA = ln.Problem.from_data(np.random.default_rng(0).standard_normal((7, 3)), np.ones((7, 2)))
BEGUN = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=5, stds=0.5)


@pytest.mark.parametrize(
    ("problem", "start", "message"),
    [
        (ln.Problem.from_target(np.eye(3)), BEGUN, "`weights` must fit the problem's 3 inputs and 3 outputs"),
        (ln.Problem.from_target(np.eye(2, 4)), BEGUN, "`weights` must fit the problem's 4 inputs and 2 outputs"),
        (ln.problems.matrix_completion(np.ones((2, 3)), np.ones((2, 3))), BEGUN, "`problem` must have a squared loss"),
        (ln.Problem.from_target(1e150 * np.eye(2, 3)), BEGUN, "`problem` and `weights` must lead to a product below"),
        (DATA, ln.Weights(0 * BEGUN.first, 0 * BEGUN.second), "`weights` must not be zero along a mode"),
        (
            ln.Problem.from_target(1e100 * np.eye(2, 3)),
            ln.Weights(1e-150 * BEGUN.first, 1e-150 * BEGUN.second),
            "`start_regimes` of .* is beyond the range",
        ),
    ],
)
def test_starts_that_cannot_be_judged_are_refused(problem, start, message):
    with pytest.raises(ValueError, match=message):
        start_regimes(problem, start, ridge=0.1)
