"""scikit-learn's rules, and the regressor against plain descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from linnet.estimators import LinearNetworkRegressor
from reference import descend


@pytest.mark.filterwarnings("ignore:the held-out error still falls:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LinearNetworkRegressor()])
def test_it_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def regression(n=60, d=5, k=2):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) * np.array([1, 2, 3, 4, 5])[:d] + 2
    return X, X @ random.standard_normal((d, k)) + 0.5 * random.standard_normal((n, k)) + 10


@pytest.mark.parametrize("preprocess", ["standardize", "center", "whiten"])
def test_trained_long_enough_it_is_least_squares(preprocess):
    X, Y = regression()
    model = LinearNetworkRegressor(steps=6000, preprocess=preprocess, init_scale=0.1).fit(X, Y)
    plain = LinearRegression().fit(X, Y)
    assert_allclose(model.coef_, plain.coef_, rtol=2e-3, atol=2e-3)
    assert_allclose(model.predict(X), plain.predict(X), rtol=2e-3)
    assert model.rank_ == 2 and model.n_iter_ == 6000


def test_it_is_descent_on_the_network_and_its_path_is_kept():
    X, y = regression(k=1)
    model = LinearNetworkRegressor(width=30, init="gaussian", steps=40, learning_rate=0.01, preprocess="center").fit(
        X, y[:, 0]
    )
    A, b = X - X.mean(0), y - y.mean(0)
    start = ln.inits.gaussian(key=0, in_dim=5, out_dim=1, width=30, stds=(1 / np.sqrt(5), 1 / np.sqrt(30)))
    products = descend(start.layers, b.T @ A / len(A), 0.01, 40, cov=A.T @ A / len(A))
    assert_allclose(model.coef_, products[-1, 0], rtol=1e-9)
    assert_allclose(model.path_["coef"][-1][0], model.coef_)
    assert model.path_["steps"][-1] == 40 and len(model.path_["loss"]) == len(model.path_["coef"])


def test_cross_validation_chooses_the_steps():
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 30))
    y = X[:, 0] + 2 * random.standard_normal(40)
    model = LinearNetworkRegressor(init_scale=0.1).fit(X, y)
    assert model.n_iter_ == max(1, model.cv_curves_.step) < model.cv_curves_.steps[-1]
    late = LinearNetworkRegressor(init_scale=0.1, steps=4000).fit(X, y)
    fresh = random.standard_normal((2000, 30))
    assert model.score(fresh, fresh[:, 0]) > late.score(fresh, fresh[:, 0])


def test_pandas_pipelines_and_searches():
    pd = pytest.importorskip("pandas")
    X, Y = regression()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = LinearNetworkRegressor(steps=50, learning_rate=0.01).fit(frame, Y)
    assert list(model.feature_names_in_) == list("abcde")
    assert_allclose(model.predict(frame), model.predict(frame))
    chain = make_pipeline(StandardScaler(), LinearNetworkRegressor(steps=50, learning_rate=0.01, width=8))
    search = GridSearchCV(chain, {"linearnetworkregressor__steps": [2, 200]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"linearnetworkregressor__steps": 200}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": "many"}, "`steps` must be 'cv' or a number"),
        ({"learning_rate": "fast"}, "`learning_rate` must be 'stable' or a number"),
        ({"init": "zeros"}, "`init` must be one of pytorch, gaussian"),
        ({"preprocess": "minmax"}, "`preprocess` must be one of center, standardize, whiten"),
    ],
)
def test_what_is_refused(options, message):
    X, Y = regression()
    with pytest.raises(ValueError, match=message):
        LinearNetworkRegressor(**options).fit(X, Y)
    with pytest.raises(ValueError, match="must be a number for fewer than 4 rows"):
        LinearNetworkRegressor().fit(X[:3], Y[:3])


def test_a_constant_target_is_predicted():
    X, Y = regression()
    model = LinearNetworkRegressor(steps=20).fit(X, np.full(len(X), 3.5))
    assert_allclose(model.predict(X), 3.5) and model.rank_ == 0
    both = LinearNetworkRegressor(steps=20).fit(X, np.column_stack([Y[:, 0], np.full(len(X), -2.0)]))
    assert_allclose(both.predict(X)[:, 1], -2.0)
    assert np.ptp(both.predict(X)[:, 0]) > 1


def test_cv_takes_splitters_and_pairs_of_rows():
    from sklearn.model_selection import KFold, TimeSeriesSplit

    X, Y = regression()
    rows = np.arange(len(X))
    model = LinearNetworkRegressor(width=16, cv=KFold(3)).fit(X, Y)
    assert model.cv_curves_.errors.shape[1] == 3
    pairs = [(rows[20:], rows[:20]), (rows[:40], rows[40:])]
    assert LinearNetworkRegressor(width=16, cv=pairs).fit(X, Y).cv_curves_.errors.shape[1] == 2
    # training rows are those of the splitter, not all others
    late = LinearNetworkRegressor(width=16, cv=TimeSeriesSplit(2), learning_rate=0.02, max_steps=4000).fit(X, Y)
    part = next(TimeSeriesSplit(2).split(X))[0]
    A = (X[part] - X[part].mean(0)) / X[part].std(0)
    B = (Y[part] - Y[part].mean(0)) / Y[part].std(0)
    start = ln.forecasts.start("pytorch", in_dim=5, out_dim=2, width=16, key=0)
    assert_allclose(late.cv_curves_.training[0, 0, 0], 0.5 * ((B - A @ start.product.T) ** 2).sum(1).mean())


def test_weights_of_rows_are_repeated_rows():
    X, Y = regression(k=1)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = LinearNetworkRegressor(steps=60, learning_rate=0.02, width=20).fit(X, Y[:, 0], sample_weight=weights)
    again = LinearNetworkRegressor(steps=60, learning_rate=0.02, width=20)
    again.fit(np.repeat(X, weights, axis=0), np.repeat(Y[:, 0], weights))
    assert_allclose(weighted.coef_, again.coef_, rtol=1e-9)
    assert_allclose(weighted.intercept_, again.intercept_, rtol=1e-9)
    with pytest.raises(ValueError, match="`sample_weight` must leave at least 2 rows"):
        weighted.fit(X, Y[:, 0], sample_weight=np.eye(len(X))[0])


def test_max_steps_that_end_training_early_are_said():
    from sklearn.exceptions import ConvergenceWarning

    X, Y = regression()
    with pytest.warns(ConvergenceWarning, match="still falls at `max_steps` = 5"):
        LinearNetworkRegressor(max_steps=5, learning_rate=1e-4, width=16).fit(X, Y)


def test_refusals_name_the_stable_rate_and_the_repr_says_what_was_found():
    X, Y = regression()
    for steps in (50, "cv"):
        with pytest.raises(ValueError, match="30 is too large; the largest stable one is about"):
            LinearNetworkRegressor(steps=steps, learning_rate=30.0, width=16).fit(X, Y)
    model = LinearNetworkRegressor(steps=50, learning_rate=0.01, width=16)
    assert repr(model) == "LinearNetworkRegressor(learning_rate=0.01, steps=50, width=16)"
    assert repr(model.fit(X, Y)).endswith("  # 50 steps at rate 0.01, rank 2")


def test_the_scale_of_the_start_is_chosen_by_the_flow():
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 30))
    y = X[:, 0] + 2 * random.standard_normal(40)
    model = LinearNetworkRegressor(init_scale="cv").fit(X, y)
    assert model.init_scale_ > 0 and model.n_iter_ == max(1, model.cv_curves_.step)
    with pytest.raises(ValueError, match="`init_scale` must be a number for several targets"):
        LinearNetworkRegressor(init_scale="cv").fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("cv", ["a", b"1", float("nan"), 1, 2.5, [None], ["ab"], {"a": 1}, np.ma.masked, len, 1j])
def test_folds_that_are_none_are_refused_though_none_are_asked_for(cv):
    X, Y = regression(n=20)
    with pytest.raises(ValueError, match="`cv` must"):
        LinearNetworkRegressor(width=5, steps=3, learning_rate=0.01, cv=cv).fit(X, Y)


@pytest.mark.parametrize(("scale", "bound"), [(1e150, r"at most 1e\+30"), (1e-300, "at least 1e-100")])
def test_a_start_beyond_training_is_refused(scale, bound):
    X, Y = regression(n=20)
    with pytest.raises(ValueError, match=f"`init_scale` must be {bound}: training cannot begin at "):
        LinearNetworkRegressor(width=5, steps=3, init_scale=scale).fit(X, Y)


@pytest.mark.parametrize("kind", ["pairs", "masks", "splitter"])
def test_rows_of_no_weight_keep_their_place_in_given_splits(kind):
    """0.3.0 took other rows for the folds, or ended in an IndexError."""
    X, Y = regression(n=50)
    weights = np.where(np.arange(50) % 3 == 0, 0.0, 1.0 + np.arange(50) % 4)
    used = weights > 0
    parts = np.arange(50) % 4
    pairs = [(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(4)]
    cv = {
        "pairs": pairs,
        "masks": [(parts != part, parts == part) for part in range(4)],
        "splitter": PredefinedSplit(parts),
    }[kind]
    numbers = np.cumsum(used) - 1
    by_hand = [tuple(numbers[rows[used[rows]]] for rows in pair) for pair in pairs]
    model = LinearNetworkRegressor(width=20, cv=cv).fit(X, Y, sample_weight=weights)
    removed = LinearNetworkRegressor(width=20, cv=by_hand).fit(X[used], Y[used], sample_weight=weights[used])
    assert model.n_iter_ == removed.n_iter_
    assert_allclose(model.coef_, removed.coef_, rtol=1e-12)


def test_folds_without_weight_are_refused():
    X, Y = regression(n=20)
    halves = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    with pytest.raises(ValueError, match=r"fold 0 has 10 to train on and 0 held out"):
        LinearNetworkRegressor(cv=halves).fit(X, Y, sample_weight=np.repeat([1.0, 0.0], 10))


def test_repeated_rows_and_weights_choose_alike_with_several_targets():
    """The variance of the targets, which weighs them against each other, did not count the weights."""
    X, Y = regression(n=40)
    Y[:4, 1] *= 8
    counts = np.where(np.arange(40) < 4, 1, 3)
    pairs = [(np.flatnonzero(np.arange(40) % 2 != part), np.flatnonzero(np.arange(40) % 2 == part)) for part in (0, 1)]
    again = np.repeat(np.arange(40), counts)
    repeated = [tuple(np.flatnonzero(np.isin(again, rows)) for rows in pair) for pair in pairs]
    weighted = LinearNetworkRegressor(width=20, cv=pairs).fit(X, Y, sample_weight=counts.astype(float))
    plain = LinearNetworkRegressor(width=20, cv=repeated).fit(X[again], Y[again])
    assert weighted.n_iter_ == plain.n_iter_
    assert_allclose(weighted.cv_curves_.errors, plain.cv_curves_.errors, rtol=1e-9)
