"""Cross-validation in one batch: against folds trained one by one in plain NumPy, and baselines against their own
formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.forecasts._baselines import baseline_errors
from linnet.forecasts.cross_validation import cross_validate
from linnet.forecasts.curves import CrossValidationCurves, errors_at_choices_of_others
from linnet.forecasts.folds import all_folds, split_rows
from linnet.forecasts.learning_curves import learning_curve


def regression(seed=0, n=43, d=6, k=2, noise=0.5):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) * np.geomspace(2, 0.3, d) + 3
    return X, X @ random.standard_normal((d, k)) + noise * random.standard_normal((n, k)) - 1


def test_a_batch_of_folds_is_each_fold_alone():
    X, Y = regression()  # 43 rows: the folds have different sizes
    starts = [ln.inits.gaussian(key=s, in_dim=6, out_dim=2, width=9, stds=0.3) for s in range(2)]
    folds = all_folds(X, Y, folds=4, key=5)
    curves = cross_validate(folds, starts, learning_rate=0.05, steps=60)
    for index, held in enumerate(split_rows(43, 4, 5)):
        train = np.setdiff1d(np.arange(43), held)
        mean, spread, level, unit = X[train].mean(0), X[train].std(0), Y[train].mean(0), Y[train].std(0)
        A, B = (X[train] - mean) / spread, (Y[train] - level) / unit
        for seed, start in enumerate(starts):
            first, second = start.first.copy(), start.second.copy()
            for step in range(61):
                if step in curves.steps:
                    told = (X[held] - mean) / spread @ (second @ first).T * unit + level
                    wanted = (((told - Y[held]) ** 2).mean(0) / Y.var(0)).mean()
                    at = int(np.flatnonzero(curves.steps == step)[0])
                    assert_allclose(curves.errors[at, index, seed], wanted, rtol=1e-9)
                pull = (B - A @ (second @ first).T).T @ A / len(train)
                first, second = first + 0.05 * second.T @ pull, second + 0.05 * pull @ first.T
    assert curves.steps[0] == 0 and curves.steps[-1] == 60


def test_training_ends_by_itself_once_the_error_has_had_its_minimum():
    X, Y = regression(n=40, d=25, k=1, noise=4.0)
    start = ln.inits.gaussian(key=0, in_dim=25, out_dim=1, width=40, stds=0.05)
    curves = cross_validate(all_folds(X, Y), [start])
    assert not curves.still_falling
    assert curves.steps_within_one_error[0] <= curves.step <= curves.steps_within_one_error[1] < curves.steps[-1]
    assert curves.mean[-1] > 1.02 * curves.mean.min()
    with pytest.raises(ValueError, match="`learning_rate` must be one at which no fold diverges: 50"):
        cross_validate(all_folds(X, Y), [start], learning_rate=50.0)


def test_whitened_folds_may_have_fewer_inputs_than_the_table():
    X, Y = regression()
    X = np.concatenate([X, np.eye(43)[:, :1]], axis=1)  # a column that varies in one row only
    folds = all_folds(X, Y, folds=4, preprocess="whiten", key=5)
    assert {fold.inputs.shape[1] for fold in folds} == {6, 7}
    start = ln.inits.gaussian(key=0, in_dim=7, out_dim=2, width=9, stds=0.3)
    curves = cross_validate(folds, [start], learning_rate=0.05, steps=400)
    fold = next(fold for fold in folds if fold.inputs.shape[1] == 6)
    solved = np.linalg.lstsq(fold.inputs, fold.outputs, rcond=None)[0].T
    assert_allclose(
        curves.errors[-1, [part is fold for part in folds].index(True), 0], fold.error(solved[None])[0], rtol=1e-3
    )


def test_a_choice_made_elsewhere_does_not_look_at_its_fold():
    errors = np.array([[1.0, 1.0, 9.0], [2.0, 2.0, 1.0]])  # the third fold alone prefers the second choice
    assert_allclose(errors_at_choices_of_others(errors), [2.0, 2.0, 9.0])
    curves = CrossValidationCurves(np.arange(2), errors[..., None], errors[..., None], 0.1)
    assert_allclose(curves.out_of_fold_error(), [2.0, 2.0, 9.0])
    assert curves.step == 1


def test_folds_are_a_partition():
    parts = split_rows(17, 5, 0)
    assert sorted(np.concatenate(parts)) == list(range(17)) and max(map(len, parts)) - min(map(len, parts)) <= 1
    with pytest.raises(ValueError, match="`folds` must leave at least 2 rows in each: got 5 folds for 9 rows"):
        split_rows(9, 5, 0)


def test_baselines_are_what_they_are_called():
    pytest.importorskip("sklearn")
    X, Y = regression(n=60, k=3, noise=2.0)
    folds = all_folds(X, Y, folds=3)
    found = baseline_errors(folds)
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.linear_model import Ridge

    fold = folds[0]
    errors = []
    for penalty in np.geomspace(1e-6, 1e6, 37) * len(fold.inputs):
        model = Ridge(alpha=penalty, fit_intercept=False).fit(fold.inputs, fold.outputs)
        errors.append(fold.error(model.coef_[None])[0])
    assert min(errors) - 1e-12 <= found["ridge"][0] <= 1.5 * min(errors)
    told = [PLSRegression(a, scale=False).fit(fold.inputs, fold.outputs).predict(fold.held_inputs) for a in range(1, 7)]
    wanted = [(((t - fold.held_outputs) ** 2).mean(0) * fold.units).mean() for t in told]
    assert np.abs(np.array(wanted) - found["partial least squares"][0]).min() < 1e-8
    # of full rank reduced-rank regression is ridge
    assert found["reduced-rank regression"].mean() <= 1.2 * found["ridge"].mean()


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_learning_curves_of_gaussian_data_are_predicted(ridge):
    random = np.random.default_rng(3)
    d, n = 30, 3000
    X = random.standard_normal((n, d)) * np.geomspace(1.5, 0.3, d)
    Y = X @ random.standard_normal((d, 2)) / np.sqrt(d) + random.standard_normal((n, 2)) * np.array([0.5, 1.0])
    curve = learning_curve(X, Y, ridge=ridge, sizes=[60, 120, 240, 600], repeats=30)
    off = (curve.predicted - curve.measured) / curve.standard_error
    assert (np.abs(off) < 3).all(), off
    assert curve.gap < 0.05
    few = learning_curve(X[:20], Y[:20], ridge=0.1, sizes=[10])
    assert np.isnan(few.predicted).all() and np.isnan(few.gap)
    with pytest.raises(ValueError, match="`sizes` must lie between 2 and 19"):
        learning_curve(X[:20], Y[:20], ridge=0.1, sizes=[20])
