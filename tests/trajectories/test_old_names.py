"""Files that linnet 0.3 wrote are read with today's names."""

import numpy as np
import pytest
import xarray as xr

import linnet as ln
from linnet.trajectories.saving import with_new_names
from linnet_papers.reproduction import datafile

TODAY = {"min_test_loss": "best_test", "uncertainty": "error", "best_time_uncertainty": "best_time_error"}


@pytest.fixture
def diagram():
    task = ln.problems.low_rank_plus_noise(20, rank=2, key=0)
    return ln.theories.lazy_active.predicted_diagram(task, [1e-4, 1e-2], [200, 10_000], draws=0).to_dataset()


def test_a_diagram_of_0_3_is_read_as_one_of_today(diagram, tmp_path):
    old = diagram.rename(TODAY)
    assert {"best_test", "error"} <= set(old) and "uncertainty" not in old
    datafile.write(old, tmp_path / "data.nc")
    back = datafile.read(tmp_path / "data.nc")
    assert set(back.variables) == set(diagram.variables)
    for name in TODAY:
        np.testing.assert_array_equal(back[name], diagram[name])
    assert back["uncertainty"].dims == ("width", "variance") and back.attrs["limit"] == diagram.attrs["limit"]


def test_settings_of_a_diagnosis_of_0_3_have_the_values_of_today():
    curves = {"cv_error": ("cv_step", [1.0, 0.5])}
    old = xr.Dataset(curves, attrs={"scale": "std", "stop": 5, "width": "512"})
    assert with_new_names(old).attrs == {"preprocess": "standardize", "stop": 5, "width": "512"}
    assert with_new_names(old.assign_attrs(scale="whiten")).attrs["preprocess"] == "whiten"


def test_names_that_mean_something_else_and_files_of_today_stay(diagram, tmp_path):
    other = xr.Dataset({"error": ("ratio", [0.1])}, attrs={"scale": 1e-5})
    xr.testing.assert_identical(with_new_names(other), other)
    datafile.write(diagram, tmp_path / "data.nc")
    assert set(datafile.read(tmp_path / "data.nc").variables) == set(diagram.variables)
    both = xr.Dataset({"best_test": ("x", [1.0]), "min_test_loss": ("x", [2.0])})  # neither takes the other's place
    xr.testing.assert_identical(with_new_names(both), both)
