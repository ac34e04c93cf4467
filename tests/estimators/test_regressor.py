"""scikit-learn's rules, and the regressor against plain descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

pytest.importorskip("sklearn")

from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from linnet.estimators import LinearNetworkRegressor


@parametrize_with_checks([LinearNetworkRegressor(width=20, steps=200, learning_rate=0.05)])
def test_it_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def regression(n=60, d=5, k=2):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) * np.array([1, 2, 3, 4, 5])[:d] + 2
    return X, X @ random.standard_normal((d, k)) + 0.5 * random.standard_normal((n, k)) + 10


@pytest.mark.parametrize("scale", ["std", "none", "whiten"])
def test_trained_long_enough_it_is_least_squares(scale):
    X, Y = regression()
    model = LinearNetworkRegressor(steps=6000, scale=scale, init_scale=0.1).fit(X, Y)
    plain = LinearRegression().fit(X, Y)
    assert_allclose(model.coef_, plain.coef_, rtol=2e-3, atol=2e-3)
    assert_allclose(model.predict(X), plain.predict(X), rtol=2e-3)
    assert model.rank_ == 2 and model.n_iter_ == 6000


def test_it_is_descent_on_the_network_and_its_path_is_kept():
    X, y = regression(k=1)
    model = LinearNetworkRegressor(width=30, init="gaussian", steps=40, learning_rate=0.01, scale="none").fit(
        X, y[:, 0]
    )
    A, b = X - X.mean(0), y - y.mean(0)
    start = ln.inits.gaussian(
        key=0, in_dim=5, out_dim=1, width=30, first_std=1 / np.sqrt(5), second_std=1 / np.sqrt(30)
    )
    first, second = start.first, start.second
    for _ in range(40):
        pull = (b - A @ (second @ first).T).T @ A / len(A)
        first, second = first + 0.01 * second.T @ pull, second + 0.01 * pull @ first.T
    assert_allclose(model.coef_, (second @ first)[0], rtol=1e-9)
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
        ({"scale": "minmax"}, "`scale` must be one of none, std, whiten"),
    ],
)
def test_what_is_refused(options, message):
    X, Y = regression()
    with pytest.raises(ValueError, match=message):
        LinearNetworkRegressor(**options).fit(X, Y)
    with pytest.raises(ValueError, match="must be a number for so few rows"):
        LinearNetworkRegressor().fit(X[:3], Y[:3])
