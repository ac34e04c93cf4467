"""The figures of Tu et al. on toys: computed, drawn and checked, with controls."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

import linnet as ln
from drawn import drawn_gaussian
from linnet_papers.reproduction.datafile import read, write
from linnet_papers.tu.figures import fig1 as tu_fig1
from linnet_papers.tu.figures import fig2 as tu_fig2
from linnet_papers.tu.figures.fig2 import predicted
from linnet_papers.tu.training import phase_diagram

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
    assert all(row.met for row in figure.check(data))
    assert data["singular_value"].shape == (3, 41, 40)
    broken = data.copy()
    broken["error"] = (
        data["error"] * np.array([1.5, 1.0, 1.0])[None, :, None]
    )  # a theory half as large again is noticed
    assert not next(figure.check(broken)).met
    assert len(figure.plot(data.assign_attrs(panels="b")).axes) == 1


@pytest.mark.parametrize("gamma", [-1.2, -1.0])
def test_figure_one_crosses_the_transition(gamma):
    """Beyond it the leading mode never passes the threshold: that check is not measurable, and none fails for it."""
    figure = tu_fig1.FIGURE
    data = figure.compute(figure.configure(quick=True, dim=30, rank=2, steps=20, gamma_variance=gamma), ("a",))
    rows = list(figure.check(data))
    assert all(row.met for row in rows)
    assert rows[-1].limit is None and "not measurable" in rows[-1].quantity


def test_figure_one_takes_a_width_and_a_scale():
    powers = tu_fig1.TuFig1(dim=10, gamma_width=2.0, gamma_variance=-1.0)
    plain = tu_fig1.TuFig1(dim=10, width=100, scale=10**-0.5)
    assert plain.units == powers.units == 100 and plain.exponents == pytest.approx(powers.exponents)
    with pytest.raises(ValueError, match="`width` and `gamma_width` say the same"):
        tu_fig1.FIGURE.configure(quick=True, width=100, gamma_width=2.0)


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
    rows = list(tu_fig2.FIGURE.check(diagram))
    assert rows[0].met and sum(rows[1].values) == 16
    assert any("rank correlation" in row.quantity for row in rows)
    spoiled = diagram.copy()
    spoiled["reason"] = diagram["reason"] * 0 + phase_diagram.REASONS.index("diverged")
    assert not next(tu_fig2.FIGURE.check(spoiled)).met


def test_every_cell_of_figure_two_is_trained_and_none_is_blank(diagram):
    for name in ("min_test_loss", "stable_rank", "best_step", "log_distance"):
        assert np.isfinite(diagram[name]).all()
    assert (diagram["taken"] > 1).all()
    blank = diagram.assign(taken=diagram["taken"] * 0)  # the control: runs that stop at their first step are noticed
    assert not next(tu_fig2.FIGURE.check(blank)).met


def test_a_panel_alone_computes_no_more(tmp_path):
    figure = tu_fig2.FIGURE
    data = figure.compute(figure.configure(quick=True, **{**TINY, "grid": 2}), ("d",))
    assert "side_min_test_loss" not in data and "log_distance" in data


def test_a_diverging_cell_is_a_status_in_the_map():
    points = {
        "gamma_variance": np.array([-1.0, 0.0]),
        "gamma_width": np.array([1.0, 2.0]),
        "replicate": np.array([0, 0]),
    }
    found = phase_diagram.plane_cells(
        points, np.array([1, 2]), rank=2, c=0.05, steps=200, update="simultaneous", seed=0, dim=8
    )
    assert [phase_diagram.REASONS[code] for code in found["reason"]] == ["diverged", "diverged"]


def test_a_small_start_is_not_taken_for_the_end():
    """The plateau of a tiny start changes the train error by nothing; the published rule waits until it has fallen."""
    points = {"gamma_variance": np.array([-7.0]), "gamma_width": np.array([1.0]), "replicate": np.array([0])}
    found = phase_diagram.plane_cells(
        points, np.array([3]), rank=2, c=10.0, steps=400, update="simultaneous", seed=0, dim=8, noise_std=1.0
    )
    assert found["taken"][0] > 50 and found["min_test_loss"][0] < 0.35
    assert phase_diagram.REASONS[int(found["reason"][0])] in ("loss stalled", "test loss rising")


def test_cells_stop_where_the_published_rule_says():
    """The rule written out as the authors' loop has it, on plain NumPy descent."""
    dim, rank, gammas = 12, 2, [(-1.5, 2.0), (-2.6, 1.2), (-0.6, 2.2), (-3.0, 0.4)]
    variance, width = np.array(gammas).T
    points = {"gamma_variance": variance, "gamma_width": width, "replicate": np.zeros(4, int)}
    for update in ("simultaneous", "sequential"):
        found = phase_diagram.plane_cells(points, np.arange(4) + 7, rank=rank, c=20.0, update=update, seed=1, dim=dim)
        task = ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=1.0, key=[1, 0])
        truth = np.asarray(task.truth)
        for cell, (one, two) in enumerate(gammas):
            std, units = dim ** (one / 2), round(dim**two)
            weights = drawn_gaussian(cell + 7, in_dim=dim, out_dim=dim, width=units, std=std)
            size = std**2 * units if one + two > 1 else np.linalg.norm(truth, 2)
            last, best = published_loop(task.cross, truth, weights, 1 / (20 * size), update == "sequential")
            assert found["taken"][cell] == last
            np.testing.assert_allclose(found["min_test_loss"][cell], best, rtol=1e-9)


def published_loop(target, truth, weights, rate, sequential):
    first, second = np.array(weights.first), np.array(weights.second)
    trains, tests = [], []
    for step in range(750):
        product = second @ first
        trains.append(((product - target) ** 2).mean())
        tests.append(((product - truth) ** 2).mean())
        rose = step > 3 and tests[-1] > tests[-2] > tests[-3]
        still = step > 0 and abs(trains[-1] - trains[-2]) < 2e-4 and trains[0] - trains[-1] > 1e-2
        if rose or still or trains[-1] < 1e-3:
            return step, min(tests)
        residual = target - product
        new = first + rate * second.T @ residual
        second = second + rate * residual @ (new if sequential else first).T
        first = new
    raise AssertionError("the loop did not end")


def test_cells_do_not_depend_on_their_neighbors():
    points = {
        "gamma_variance": np.array([-1.0, -2.0, -0.5]),
        "gamma_width": np.array([1.5, 0.4, 2.0]),
        "replicate": np.zeros(3, int),
    }
    fixed = {"rank": 2, "c": 50.0, "steps": 60, "update": "simultaneous", "seed": 0, "dim": 8}
    seeds = np.array([5, 6, 7])
    together = phase_diagram.plane_cells(points, seeds, **fixed)
    alone = phase_diagram.plane_cells({name: values[2:] for name, values in points.items()}, seeds[2:], **fixed)
    for name, values in together.items():
        np.testing.assert_allclose(values[2:], alone[name], rtol=1e-12)


def test_figure_two_has_the_diagram_by_formula(diagram):
    titles = [axis.get_title(loc="left") for axis in tu_fig2.FIGURE.plot(diagram).axes]
    assert any(title.startswith("g") for title in titles) and any(title.startswith("h") for title in titles)
    assert any("covers" in row.quantity for row in tu_fig2.FIGURE.check(diagram))
    apart = diagram.assign(predicted_test=3 * diagram["predicted_test"])  # the control: a formula that is wrong
    assert [row.met for row in tu_fig2.FIGURE.check(apart) if row.quantity.startswith("median relative")] == [False]


def test_hatching_marks_whole_cells_and_runs_that_ended_early_have_dots(diagram):
    reason = xr.full_like(diagram["reason"], phase_diagram.REASONS.index("test loss rising"))
    plain = diagram.assign(reason=reason, covered=xr.ones_like(diagram["covered"])).assign_attrs(panels="g")
    cell = {"gamma_variance": 2, "gamma_width": 1}
    spoiled = plain.copy(deep=True)
    spoiled["covered"][cell] = 0.0
    assert_marked(plain, spoiled, cell)
    early = plain.assign_attrs(panels="h").copy(deep=True)
    early["reason"][{"replicate": 0, **cell}] = phase_diagram.REASONS.index("loss stalled")
    unmarked = plain.assign_attrs(panels="h")
    assert_marked(unmarked, early, cell)
    assert (
        np.isnan(predicted.relative_difference(early)).sum() == 1
        and np.isfinite(predicted.relative_difference(unmarked)).all()
    )


def assert_marked(before, after, cell):
    """Black marks are seen in this cell, and nowhere else."""
    dark = []
    for data in (before, after):
        picture = tu_fig2.FIGURE.plot(data)
        canvas = FigureCanvasAgg(picture)
        canvas.draw()
        dark.append(np.asarray(canvas.buffer_rgba())[::-1, :, :3].max(axis=2) < 80)
    rows, columns = np.nonzero(dark[1] & ~dark[0])
    edges = [
        np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, values[-1:]])
        for values in (before["gamma_variance"].values, before["gamma_width"].values)
    ]
    corners = [[edges[0][cell["gamma_variance"] + k], edges[1][cell["gamma_width"] + k]] for k in (0, 1)]
    box = picture.axes[0].get_window_extent()
    panel = (columns > box.x0) & (columns < box.x1) & (rows > box.y0) & (rows < box.y1)  # its bar may change
    low, high = picture.axes[0].transData.transform(corners)
    inside = (columns > low[0] - 2) & (columns < high[0] + 2) & (rows > low[1] - 2) & (rows < high[1] + 2)
    assert inside.sum() > 20 and inside[panel].all()


def test_figure_2_trains_in_the_precision_that_is_asked_for(monkeypatch):
    seen, right = set(), phase_diagram.plane.trained_cells

    def trained_cells(*args, **options):
        seen.add(options["dtype"])
        return right(*args, **options)

    monkeypatch.setattr(phase_diagram.plane, "trained_cells", trained_cells)
    figure = tu_fig2.FIGURE
    figure.compute(figure.configure(dim=12, grid=2, rank=2, steps=5), ("a",))
    assert seen == {"float32"}
