"""The figures of Tu et al. on toys: computed, drawn and checked, with controls."""

import numpy as np
import pytest

from linnet.papers.tu import phase_cells
from linnet.papers.tu.figures import fig1 as tu_fig1
from linnet.papers.tu.figures import fig2 as tu_fig2
from linnet.reproduction.datafile import read, write

TINY = {
    "dim": 12,
    "rank": 2,
    "grid": 4,
    "steps": 150,
    "side_dims": (8, 12),
    "side_grid": 3,
    "side_seeds": 2,
    "dtype": "float64",
}


def through_a_file(data, folder):
    write(data, folder / "data.nc")
    return read(folder / "data.nc")


@pytest.mark.parametrize("scheme", ["euler", "network", "flow"])
def test_figure_one(tmp_path, scheme):
    figure = tu_fig1.FIGURE
    settings = figure.configure(quick=True, dim=40, rank=2, steps=40, scheme=scheme, c=20.0)
    data = through_a_file(figure.compute(settings, figure.panels), tmp_path)
    picture = figure.plot(data)
    assert len(picture.axes) == 2
    checks = figure.check(data)
    assert [check.passed for check in checks[:2]] == [True, True]
    assert data["singular_value"].shape == (2, 41, 40)
    broken = data.copy()
    broken["error"] = data["error"] * np.array([1.0, 1.5])[None, :, None]  # a theory half as large again is noticed
    assert figure.check(broken)[0].passed is False
    assert len(figure.plot(data.assign_attrs(panels="b")).axes) == 1


@pytest.fixture(scope="module")
def diagram(tmp_path_factory):
    figure = tu_fig2.FIGURE
    data = figure.compute(figure.configure(quick=True, **TINY), figure.panels)
    return through_a_file(data, tmp_path_factory.mktemp("tu"))


def test_figure_two_is_drawn(diagram):
    picture = tu_fig2.FIGURE.plot(diagram)
    titles = [axis.get_title(loc="left") for axis in picture.axes]
    assert sum(title.startswith("e") for title in titles) == 4
    assert len(tu_fig2.FIGURE.plot(diagram.assign_attrs(panels="a")).axes) == 2  # the map and its bar


def test_figure_two_is_checked(diagram):
    checks = tu_fig2.FIGURE.check(diagram)
    assert checks[0].passed is True and "16 cells" in checks[0].text
    assert any("rank correlation" in check.text for check in checks)
    spoiled = diagram.copy()
    spoiled["reason"] = diagram["reason"] * 0 + phase_cells.REASONS.index("diverged")
    assert tu_fig2.FIGURE.check(spoiled)[0].passed is False


def test_a_panel_alone_computes_no_more(tmp_path):
    figure = tu_fig2.FIGURE
    data = figure.compute(figure.configure(quick=True, **{**TINY, "grid": 2}), ("d",))
    assert "side_best_test" not in data and "log_distance" in data


def test_a_diverging_cell_is_a_status_in_the_map():
    points = {
        "gamma_variance": np.array([-1.0, 0.0]),
        "gamma_width": np.array([1.0, 2.0]),
        "replicate": np.array([0, 0]),
    }
    found = phase_cells.cells(
        points, np.array([1, 2]), rank=2, noise=1.0, c=0.05, steps=200, update="simultaneous", seed=0, dim=8
    )
    assert [phase_cells.REASONS[code] for code in found["reason"]] == ["diverged", "diverged"]


def test_a_plateau_can_be_waited_for():
    points = {"gamma_variance": np.array([-7.0]), "gamma_width": np.array([1.0]), "replicate": np.array([0])}
    fixed = {"rank": 2, "noise": 1.0, "c": 10.0, "steps": 400, "update": "simultaneous", "seed": 0, "dim": 8}
    stopped, waited = (
        phase_cells.cells(points, np.array([3]), plateau=plateau, **fixed) for plateau in ("stop", "wait")
    )
    assert phase_cells.REASONS[stopped["reason"][0]] == "loss stalled" and stopped["taken"][0] == 1
    assert waited["taken"][0] > 50 and waited["best_test"][0] < 0.7 * stopped["best_test"][0]


def test_cells_do_not_depend_on_their_neighbours():
    points = {
        "gamma_variance": np.array([-1.0, -2.0, -0.5]),
        "gamma_width": np.array([1.5, 0.4, 2.0]),
        "replicate": np.zeros(3, int),
    }
    fixed = {"rank": 2, "noise": 1.0, "c": 50.0, "steps": 60, "update": "simultaneous", "seed": 0, "dim": 8}
    seeds = np.array([5, 6, 7])
    together = phase_cells.cells(points, seeds, **fixed)
    alone = phase_cells.cells({name: values[2:] for name, values in points.items()}, seeds[2:], **fixed)
    for name, values in together.items():
        np.testing.assert_allclose(values[2:], alone[name], rtol=1e-12)
