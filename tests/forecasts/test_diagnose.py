"""A diagnosis of small real tables: what it says is what was measured, and its page is whole in itself."""

import dataclasses
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
    assert linnerud.findings()[0].startswith("Do not train the network") and len(linnerud.findings()) <= 40
    assert "20 rows, 3 inputs, 3 targets." in text and "divided by their standard deviations" in text
    assert "No step is better than the mean of the targets" in text
    assert "1 targets" not in text and "half the squared error" in text and "MSELoss()" in text
    assert f"width {10**6}" in text and "All are learned lazily" in text
    network, ridge = linnerud.curves.out_of_fold_error().mean(), linnerud.comparison.baselines["ridge"].mean()
    assert re.search(rf"  network, stopped +{network:.3f} .*\n  ridge +{ridge:.3f} ", text)
    assert network > 1


def test_the_page_is_whole_in_itself(linnerud, tmp_path):
    page = linnerud.write(tmp_path / "out")
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 6
    assert "default-src 'none'" in text and "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    held = xr.load_dataset(tmp_path / "out" / "diagnosis.nc", engine="scipy")
    assert held["cv_error"].dims == ("cv_step", "fold", "seed")
    assert_allclose(held["network_error"], linnerud.curves.out_of_fold_error())
    assert int(held.attrs["stop"]) == linnerud.stop


def test_a_network_that_is_no_use_is_told_so_and_one_that_learns_is_not():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 5))
    diagnosis = ln.diagnose(X, X[:, :2] + 0.3 * random.standard_normal((80, 2)), seeds=1, steps=300)
    assert "better than the mean" not in str(diagnosis) and f"stop at step {diagnosis.stop}" in str(diagnosis)
    assert diagnosis.findings()[0].startswith(("Use ridge regression.", "Use the network."))
    assert diagnosis.forecast.largest_stable_rate.checked


def test_whitened_inputs_have_the_closed_form_and_stein():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 8)) @ random.standard_normal((8, 8))
    truth = random.standard_normal((8, 1)) @ random.standard_normal((1, 6))
    Y = X @ truth + 6 * random.standard_normal((300, 6))
    diagnosis = ln.diagnose(X, Y, preprocess="whiten", init=(1e-4, 1e-4), width=10**6, seeds=1)
    assert diagnosis.forecast.prediction is not None and diagnosis.stein is not None
    assert "SURE" in str(diagnosis)
    # what stopping there costs, on the truth itself
    products = diagnosis.forecast.trajectory.products
    from linnet.forecasts.scaling import scaler

    matrix, unit = scaler(X, "whiten").matrix, Y.std(axis=0)
    wanted = (np.linalg.pinv(matrix) @ truth / unit).T
    errors = ((products - wanted) ** 2).sum(axis=(1, 2))
    for step in (diagnosis.stein.step, diagnosis.stop):
        at = int(np.argmin(np.abs(diagnosis.forecast.steps - step)))
        assert errors[at] < 1.15 * errors.min()


def test_an_exact_map_is_no_victory():
    X = np.random.default_rng(0).standard_normal((40, 3))
    diagnosis = ln.diagnose(X, X[:, 0], seeds=1, steps=2000)
    assert "are a linear map of the inputs" in str(diagnosis) and "Use the network" not in str(diagnosis)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "torch"}, "`init` must be one of pytorch, gaussian"),
        ({"learning_rate": "fast"}, "`learning_rate` must be 'stable' or a number"),
        ({"preprocess": "minmax"}, "`preprocess` must be one of center, standardize, whiten"),
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
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=3, width=50, stds=0.01)
    diagnosis = ln.diagnose(X, Y, init=start, steps=100)
    assert diagnosis.settings["width"] == 50 and diagnosis.curves.errors.shape[2] == 1
    with pytest.raises(ValueError, match="`init` must fit 3 inputs and 3 outputs"):
        ln.diagnose(X, Y, init=ln.Weights(np.ones((2, 3)), np.ones((2, 2))), steps=5)


def plain_descent(X, Y, weights, rate, steps, gradient_scale):
    """Full-batch descent on `gradient_scale` times half the mean squared error, in plain NumPy."""
    first, second = weights.first.copy(), weights.second.copy()
    for _ in range(steps):
        pull = gradient_scale * (Y - X @ (second @ first).T).T @ X / len(X)
        first, second = first + rate * second.T @ pull, second + rate * pull @ first.T
        if not np.isfinite(first).all() or np.abs(first).max() > 1e6:
            return np.inf
    return float(((Y - X @ (second @ first).T) ** 2).mean())


@pytest.mark.parametrize("targets", [1, 3])
def test_the_rates_for_pytorch_are_stable_for_its_losses(targets):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    Y = X[:, :targets] + 0.3 * random.standard_normal((60, targets))
    diagnosis = ln.diagnose(X, Y, seeds=1, steps=100)
    problem, start = diagnosis.forecast.problem, diagnosis.forecast.weights
    stable = diagnosis.forecast.largest_stable_rate
    assert stable.checked
    rates = ln.forecasts.pytorch_rates(stable.rate, rows=60, targets=targets)
    for rate, gradient_scale in zip(rates.values(), (2 / targets, 2 * 60), strict=True):
        run = (problem.inputs, problem.outputs, start)
        assert np.isfinite(plain_descent(*run, 0.95 * rate, stable.steps, gradient_scale))
        assert not np.isfinite(plain_descent(*run, 1.05 * rate, stable.steps, gradient_scale))
        assert f"{rate:.3g}" in str(diagnosis)


def test_an_error_that_is_flat_is_not_answered_with_training_longer(linnerud):
    steps = np.arange(251)
    fall = np.exp(-steps / 12)[:, None, None]  # least at the last step, and flat from step 83 on
    spread = 1 + 0.01 * np.arange(4)[None, :, None]
    flat = ln.forecasts.CrossValidationCurves(steps, fall, (0.5 + fall) * spread, 0.1)
    assert flat.best == 250 and not flat.still_falling and flat.flat_from == 92
    said = str(dataclasses.replace(linnerud, curves=flat))
    assert "flat: from step 92 to step 250" in said and "(--steps" not in said
    falling = ln.forecasts.CrossValidationCurves(steps, fall, 0.3 * (2 - steps / 500)[:, None, None] * spread, 0.1)
    said = str(dataclasses.replace(linnerud, curves=falling))
    assert falling.still_falling and "still falls at step 250" in said and "(--steps 500)" in said
    turned = ln.forecasts.CrossValidationCurves(
        steps, fall, (0.5 + (steps / 100 - 1) ** 2)[:, None, None] * spread, 0.1
    )
    said = str(dataclasses.replace(linnerud, curves=turned))
    assert "minimum is at step 100" in said and "paired" in said


def test_without_steps_training_goes_on_while_the_error_falls_to_the_documented_limit():
    random = np.random.default_rng(2)
    X = random.standard_normal((60, 8)) * np.geomspace(1, 0.01, 8)
    y = X @ np.geomspace(1, 100, 8) + 0.001 * random.standard_normal(60)  # the weakest directions matter as much
    settings = ln.forecasts.Settings(preprocess="center", seeds=1, folds=2, width=64, max_steps=2000)
    diagnosis = ln.forecasts.diagnose_table(ln.forecasts.data_table(X, y), settings)
    assert diagnosis.curves.steps[-1] == 2000 and diagnosis.curves.still_falling


def test_a_start_that_hurts_is_told_where_it_certainly_does_and_a_scale_that_helps_is_tried_first():
    random = np.random.default_rng(0)
    X, Y = random.standard_normal((60, 20)), random.standard_normal((60, 6))  # there is nothing to learn
    diagnosis = ln.diagnose(X, Y, seeds=2, steps=50, init_scale=2.0)
    assert "The initialization itself hurts" in str(diagnosis) and diagnosis.helpful_scale is not None
    helped = ln.diagnose(X, Y, seeds=2, steps=50, init_scale=diagnosis.helpful_scale)
    level = helped.comparison.mean_error.mean()
    assert diagnosis.curves.mean[0] > level + 0.1 and abs(helped.curves.mean[0] - level) < 0.05
    assert helped.curves.out_of_fold_error().mean() < diagnosis.curves.out_of_fold_error().mean()
    tried = diagnosis.trial.curves
    assert_allclose(helped.curves.out_of_fold_error(), tried.out_of_fold_error())  # the same that was tried
    assert "The initialization itself hurts" not in str(helped)
    X, Y = data.load_linnerud(return_X_y=True)  # twenty rows: what another start gains is within its error
    few = ln.diagnose(X, Y, seeds=2, steps=50)
    assert few.helpful_scale is None and "no different" in str(few) and "Use that scale" not in str(few)


def test_modes_that_one_step_learns_are_timed_finer():
    X, y = data.load_wine(return_X_y=True)
    diagnosis = ln.diagnose(X, y, seeds=1, steps=60)
    fine = ln.forecast(diagnosis.forecast.problem, diagnosis.forecast.weights, learning_rate=1e-5, steps=2000)
    assert_allclose(diagnosis.half_times, fine.half_steps * 1e-5, rtol=0.05)
    assert re.search(r"is half learned after .* steps \(time 0\.0", str(diagnosis))


@pytest.mark.slow
def test_both_tiles_are_of_folds_that_took_no_part_in_the_choice(linnerud, tmp_path):
    text = linnerud.write(tmp_path / "out").read_text()
    tile = re.search(r"<dt>held-out error</dt><dd>([0-9.]+)</dd>", text).group(1)
    assert tile == f"{linnerud.curves.out_of_fold_error().mean():.3f}" != f"{linnerud.curves.mean.min():.3f}"
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    page = ln.diagnose(X, X[:, 0] + random.standard_normal(40), seeds=1, steps=20).write(tmp_path / "one").read_text()
    assert "1 targets" not in page and "Does the scale of the initialization matter" in page


def test_columns_of_text_are_dropped_in_python_too():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((30, 2)), columns=["a", "b"]).assign(city="x")
    with pytest.raises(ValueError, match="column 'city' holds text"):
        ln.diagnose(frame, frame["a"] + frame["b"], steps=5)
    assert ln.diagnose(frame, random.standard_normal(30), drop="city", seeds=1, steps=5).table.input_names == ["a", "b"]


def test_a_kill_while_writing_leaves_the_earlier_dataset(tmp_path, monkeypatch):
    import xarray as xr

    from linnet.forecasts import _diagnosis_page

    class Diagnosed:
        """One whose process is killed when half of its file is written."""

        def to_dataset(self):
            return xr.Dataset({"a": 1.0})

    def dying(self, path, **options):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    (tmp_path / _diagnosis_page.DATA).write_bytes(b"whole")
    monkeypatch.setattr(xr.Dataset, "to_netcdf", dying)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        _diagnosis_page.write(Diagnosed(), tmp_path)
    assert (tmp_path / _diagnosis_page.DATA).read_bytes() == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == [_diagnosis_page.DATA]


@pytest.mark.parametrize("key", ["a", 1.5, float("nan"), None, {}, np.ma.masked, -1])
def test_a_seed_that_is_none_is_refused(key):
    with pytest.raises(ValueError, match="`key` must be"):
        ln.forecasts.Settings(key=key)
