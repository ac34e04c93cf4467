"""The feature-learning figures, tiny: computed, drawn, checked, and the options that choose the images."""

from __future__ import annotations

import numpy as np
import pytest

from linnet_papers.reproduction.registry import figures

TINY = {
    "huang-fig1": {"dim": 400, "width": 40, "steps": 40},
    "huang-fig2": {"data": "digits", "samples": 40, "width": 30, "steps": 200},
    "huang-fig3": {"samples": 20, "width": 30, "steps": 200},
}


@pytest.fixture(scope="module")
def computed():
    return {name: figures()[name].compute(figures()[name].configure(**changes), ()) for name, changes in TINY.items()}


@pytest.mark.parametrize("name", TINY)
def test_figures_compute_draw_and_check(name, computed):
    figure, ds = figures()[name], computed[name]
    assert ds.attrs["panels"] == "a,b,c,d"
    assert ds.loss.values[0] == 1.0 and ds.loss.values[-1] < 0.6
    assert ds.ratio.values[0] == 0.0 and 0.5 < ds.ratio.values.max() < 1.1
    assert all(np.isfinite(ds[name]).all() for name, values in ds.data_vars.items() if "convention" not in values.dims)
    assert [key for key, variable in ds.variables.items() if not variable.attrs.get("long_name")] == []
    picture = figure.plot(ds)
    assert [axis.get_title("left")[0] for axis in picture.axes] == ["a", "b", "c", "d"]
    rows = figure.rows(ds)
    assert any(r"$\rho/(v \sqrt{\gamma})$" in row.quantity and row.limit for row in rows) or name == "huang-fig3"


def test_the_kernel_s_floor_is_measured(computed):
    for name in ("huang-fig1", "huang-fig2"):
        ds = computed[name]
        (floor,) = [row for row in figures()[name].rows(ds) if row.quantity.startswith("smallest kernel distance")]
        assert floor.limit is None and floor.values[0] == pytest.approx(float(ds.kernel_distance.min()))
        assert floor.values[0] > float(ds.kernel_distance_theory.min())  # what eq. (10) cannot see


def test_one_panel_is_drawn_alone(computed):
    ds = computed["huang-fig1"].assign_attrs(panels="b")
    assert len(figures()["huang-fig1"].plot(ds).axes) == 1


def test_theory_and_training_of_the_synthetic_figure_agree(computed):
    ds = computed["huang-fig1"]
    assert np.abs(ds.loss - ds.loss_theory).max() < 0.05
    assert np.abs(ds.ratio - ds.ratio_theory).values[5:].max() < 0.05


def test_a_run_that_never_learns_fails_its_checks():
    figure = figures()["huang-fig1"]
    ds = figure.compute(figure.configure(dim=400, width=40, steps=3), ())
    ds["loss"].values[:] = np.linspace(1.0, 0.9, ds.sizes["step"])  # a ratio that has not settled must be caught
    ds["ratio"].values[:] = 0.5
    assert not all(row.met for row in figure.rows(ds))


def test_images_come_from_the_folder_asked_for(tmp_path):
    random = np.random.default_rng(0)
    for i in range(1, 6):
        records = random.integers(0, 256, (12, 3073), dtype=np.uint8)
        records[:, 0] = np.repeat([3, 8], 6)  # labels
        records.tofile(tmp_path / f"data_batch_{i}.bin")
    figure = figures()["huang-fig2"]
    assert set(figure.options) == {"data", "data_dir"}
    settings = figure.configure(data="cifar10", data_dir=str(tmp_path), samples=20, width=10, steps=8)
    ds = figure.compute(settings.model_copy(update={"conventions": False}), ("a",))
    assert ds.attrs["data"] == "20 images of cifar10 (cat and ship)" and ds.attrs["panels"] == "a"
    assert "stand-in" not in ds.attrs["subtitle"]
    with pytest.raises(ValueError, match="`path` must be given for cifar10"):
        figure.compute(figure.configure(data="cifar10"), ())
    with pytest.raises(ValueError, match="`first` must be a class of photographs, 0 to 1: got 12"):
        figure.compute(figure.configure(first_class=12), ())


def test_all_conventions_of_pixels_and_targets_are_reported(computed):
    for name in ("huang-fig2", "huang-fig3"):
        ds = computed[name]
        labels = [label for row in figures()[name].rows(ds) for label in row.labels]
        for pixels in ("centered", "raw"):
            for targets in ("+1 and -1", "the class numbers"):
                assert f"{pixels} pixels, targets {targets}, 5% lost" in labels
        drawn = ds.ratios.sel(convention="centered pixels, targets +1 and -1").values
        assert np.isclose(ds.ratio.values, drawn[0], rtol=1e-6).any()  # the convention that is drawn is among them
    assert "3072 inputs" not in computed["huang-fig2"].attrs["subtitle"]


def test_what_the_paper_averages_is_drawn_too(computed):
    ds = computed["huang-fig1"]
    assert ds.mean_of_ratios.values[0] == 0.0 and abs(ds.mean_of_ratios.values[-1] - 1) < 0.2
