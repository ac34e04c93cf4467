"""scikit-learn's rules, and the transformer against the denoised matrix itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

pytest.importorskip("sklearn")

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from linnet.estimators import LowRankDenoiser


@pytest.mark.filterwarnings("ignore:the noise cannot be estimated:UserWarning")
@pytest.mark.filterwarnings("ignore:noise and signal cannot be separated:UserWarning")
@parametrize_with_checks([LowRankDenoiser()])
def test_it_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def noisy(rows=70, columns=40, rank=2):
    random = np.random.default_rng(0)
    truth = random.standard_normal((rows, rank)) @ random.standard_normal((rank, columns)) * 2
    return truth, truth + random.standard_normal(truth.shape)


def test_of_its_own_matrix_it_is_denoise():
    truth, Y = noisy()
    model = LowRankDenoiser().fit(Y)
    wanted = ln.denoise(Y)
    assert_allclose(model.transform(Y), wanted.matrix, atol=1e-9)
    assert model.rank_ == 2 and model.noise_std_ == pytest.approx(1.0, rel=0.1)
    assert ((model.transform(Y) - truth) ** 2).mean() < 0.2


def test_too_few_singular_values_are_left_as_they_are():
    Y = np.random.default_rng(0).standard_normal((9, 3))
    with pytest.warns(UserWarning, match="cannot be estimated from 3 singular values: nothing is filtered"):
        model = LowRankDenoiser().fit(Y)
    assert_allclose(model.transform(Y), Y, atol=1e-12)


def test_new_rows_and_pandas_and_pipelines():
    pd = pytest.importorskip("pandas")
    truth, Y = noisy()
    frame = pd.DataFrame(Y, columns=[f"c{i}" for i in range(40)])
    model = LowRankDenoiser(noise_std=1.0).set_output(transform="pandas").fit(frame.iloc[:50])
    told = model.transform(frame.iloc[50:])
    assert list(told.columns) == list(frame.columns) and list(told.index) == list(range(50, 70))
    assert ((told.to_numpy() - truth[50:]) ** 2).mean() < 0.5 * ((Y[50:] - truth[50:]) ** 2).mean()
    chain = make_pipeline(LowRankDenoiser(), Ridge()).fit(Y, truth[:, 0])
    assert chain.score(Y, truth[:, 0]) > 0.9


def test_uneven_columns_are_weighed_as_denoise_does():
    """Shares of the evened matrix were applied to directions of the plain one."""
    _, Y = noisy()
    Y = Y + np.geomspace(0.2, 6, 40) * np.random.default_rng(1).standard_normal(Y.shape)
    wanted = ln.denoise(Y)
    assert wanted.column_stds is not None
    assert_allclose(LowRankDenoiser().fit(Y).transform(Y), wanted.matrix, atol=1e-8)
