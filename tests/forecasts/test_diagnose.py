"""A diagnosis of small real tables: what it says is what was measured, and its page is whole in itself."""

import re

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

import linnet as ln

data = pytest.importorskip("sklearn.datasets")


@pytest.fixture(scope="module")
def linnerud():
    X, Y = data.load_linnerud(return_X_y=True, as_frame=True)
    return ln.diagnose(X, Y, width=10**6, folds=4, seeds=2, steps=200)


def test_sentences_tell_what_was_measured(linnerud):
    text = str(linnerud)
    assert len(linnerud.findings()) <= 24
    assert "20 rows, 3 inputs, 3 targets" in text and "divided by their standard deviations" in text
    assert f"Stop at step {linnerud.stop}" in text or "still falls" in text
    assert f"Width {10**6}" in text and "3 lazily" in text
    assert "no better than the mean" in text  # and so it is honest about this table
    network, ridge = linnerud.curves.honest_error().mean(), linnerud.rivals["ridge"].mean()
    assert f"the network {network:.4f}, ridge {ridge:.4f}" in text
    assert network > 1


def test_the_page_is_whole_in_itself(linnerud, tmp_path):
    page = linnerud.write(tmp_path / "out")
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 6
    assert "default-src 'none'" in text and "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    held = xr.load_dataset(tmp_path / "out" / "diagnosis.nc", engine="scipy")
    assert held["cv_error"].dims == ("cv_step", "fold", "seed")
    assert_allclose(held["network_error"], linnerud.curves.honest_error())
    assert int(held.attrs["stop"]) == linnerud.stop


def test_a_network_that_is_no_use_is_told_so_and_one_that_learns_is_not():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 5))
    found = ln.diagnose(X, X[:, :2] + 0.3 * random.standard_normal((80, 2)), seeds=1, steps=300)
    assert "no better than the mean" not in str(found)
    assert "ridge is simpler" in str(found) or "Use ridge" in str(found) or "beats ridge" in str(found)
    assert found.forecast.largest_stable_rate.checked


def test_whitened_inputs_have_the_closed_form_and_stein():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 8)) @ random.standard_normal((8, 8))
    truth = random.standard_normal((8, 1)) @ random.standard_normal((1, 6))
    Y = X @ truth + 6 * random.standard_normal((300, 6))
    found = ln.diagnose(X, Y, scale="whiten", init=(1e-4, 1e-4), width=10**6, seeds=1)
    assert found.forecast.closed_form is not None and found.stein is not None
    assert "Stein's estimate" in str(found)
    # what stopping there costs, on the truth itself
    products = found.forecast.trajectory.products
    from linnet.forecasts.scaling import scaler

    matrix, unit = scaler(X, "whiten").matrix, Y.std(axis=0)
    wanted = (np.linalg.pinv(matrix) @ truth / unit).T
    errors = ((products - wanted) ** 2).sum(axis=(1, 2))
    for step in (found.stein.step, found.stop):
        at = int(np.argmin(np.abs(found.forecast.steps - step)))
        assert errors[at] < 1.15 * errors.min()


def test_an_exact_map_is_no_victory():
    X = np.random.default_rng(0).standard_normal((40, 3))
    found = ln.diagnose(X, X[:, 0], seeds=1, steps=2000)
    assert "are a linear map of the inputs" in str(found) and "beats ridge" not in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "torch"}, "`init` must be one of pytorch, gaussian"),
        ({"learning_rate": "fast"}, "`learning_rate` must be 'stable' or a number"),
        ({"scale": "minmax"}, "`scale` must be one of none, std, whiten"),
        ({"folds": 11}, "at least 2 rows for each of the 11 folds .`folds`., 22: got 20"),
        ({"width": 0}, "`width` must be at least 1"),
    ],
)
def test_what_is_refused(options, message):
    X, Y = data.load_linnerud(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        ln.diagnose(X, Y, **options)


def test_weights_of_ones_own():
    X, Y = data.load_linnerud(return_X_y=True)
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=50, first_std=0.01, second_std=0.01)
    found = ln.diagnose(X, Y, init=start, steps=100)
    assert found.settings["width"] == 50 and found.curves.errors.shape[2] == 1
    with pytest.raises(ValueError, match="`init` must fit 3 inputs and 3 outputs"):
        ln.diagnose(X, Y, init=ln.Weights(np.ones((2, 3)), np.ones((2, 2))), steps=5)
