"""Input that ended in a crash, or in a message that did not say what was wrong."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet._files import write_whole
from linnet.forecasts import data_table, read

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X @ [1.0, 2.0, 3.0] + np.random.default_rng(1).normal(size=40)


@pytest.mark.parametrize(
    "table",
    [
        X.astype(object),
        pd.DataFrame(X).convert_dtypes(),
        pd.DataFrame(X).astype("Float64"),
        pytest.param(lambda: pd.DataFrame(X).astype("float64[pyarrow]"), id="arrow"),
    ],
    ids=["object", "converted", "nullable", None],
)
def test_numbers_in_other_types_are_numbers(table):
    if callable(table):
        pytest.importorskip("pyarrow")
        table = table()
    assert_allclose(ln.Problem.from_data(table, Y).cov, ln.Problem.from_data(X, Y).cov)
    assert_allclose(ln.observables.stable_rank(table), ln.observables.stable_rank(X))
    assert_allclose(np.asarray(ln.denoise(table, noise_std=0.5).matrix), ln.denoise(X, noise_std=0.5).matrix)


def with_entry(entry):
    table = X.astype(object)
    table[2, 1] = entry
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_entry("a"), r"got ndarray with 'a' at \(2, 1\)"),
        (with_entry(None), r"got ndarray with None at \(2, 1\)"),
        ([[1, 2], [3]], "got list with rows of different lengths"),
        (np.array([["a"]]), "got ndarray of <U1"),
        (pd.DataFrame(with_entry(pd.NA)).convert_dtypes(), "`X` must be finite: 1 of 120 entries are NaN"),
    ],
)
def test_what_is_wrong_with_an_array_is_said(table, message):
    with pytest.raises(ValueError, match=message):
        ln.Problem.from_data(table, Y)


def test_tensors_that_require_gradients_are_named():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    for call in (lambda: ln.Problem.from_data(tensor, Y), lambda: data_table(tensor, Y)):
        with pytest.raises(ValueError, match="`X` must not require gradients"):
            call()
    half = torch.tensor(X).bfloat16()
    assert_allclose(ln.Problem.from_data(half, Y).cov, ln.Problem.from_data(half.double(), Y).cov)
    assert_allclose(data_table(half, Y).inputs, half.double().numpy())


@pytest.mark.parametrize("times", [[0, 1e-310], [5e-324]])
def test_times_below_full_precision_are_refused(times):
    weights = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=3, stds=0.3)
    with pytest.raises(ValueError, match=r"`times` must end at 0 or above 2.3e-308"):
        ln.gradient_flow(ln.Problem.from_target(np.eye(2)), weights, times=times)


def test_a_device_that_is_not_there_is_named():
    code = "import linnet.precision as p; p.computing()"
    environment = os.environ | {"JAX_PLATFORMS": "cuda"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "RuntimeError: JAX finds no device to compute on (JAX_PLATFORMS='cuda')" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")  # noqa: PTH110
def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    from pathlib import Path

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device: .*note.txt"):
        write_whole(tmp_path / "note.txt", "x")
    assert not list(tmp_path.iterdir())


def test_a_column_without_values_is_named_before_rows_are_dropped():
    """ "must have at least 2 rows to learn from: got 0"."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(b=np.nan)
    for missing in ("drop", "mean"):
        with pytest.raises(ValueError, match="column 'b' has no values at all: leave it out"):
            data_table(frame, Y, missing=missing)


@pytest.mark.parametrize("mark", ["?", "-", "--", "."])
def test_other_marks_of_missing_values(tmp_path, mark):
    """ "holds text or dates", with the advice to drop the best predictor."""
    lines = ["a,b,y", *(f"{a:.3f},{b:.3f},{y:.3f}" for (a, b, _), y in zip(X, Y, strict=True))]
    lines[3] = f"{mark}," + lines[3].partition(",")[2]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="column 'a' has 1 missing value, the first in line 4"):
        read(path)
    table = read(path, missing="drop")
    assert len(table.inputs) == 39 and f"{mark!r} is read as a missing value." in table.notes


def test_copies_and_rows_in_order_are_remarked():
    twice = data_table(np.repeat(X, 2, axis=0), np.repeat(Y, 2))
    assert any(note.startswith("40 of 80 rows are copies of others") for note in twice.notes)
    walk = np.cumsum(np.random.default_rng(2).normal(size=100))
    ordered = data_table(np.random.default_rng(3).normal(size=(100, 2)), walk)
    assert any("is alike from row to row (correlation 0." in note for note in ordered.notes)
    plain = data_table(X, Y).notes
    assert not any("copies" in note or "alike" in note for note in plain)
