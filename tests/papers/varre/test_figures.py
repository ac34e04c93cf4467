"""Every figure of Varre et al., tiny: computed, drawn and checked from its dataset alone."""

from typing import Any

import numpy as np
import pytest

from linnet_papers.varre.figures import fig1 as varre_fig1
from linnet_papers.varre.figures import fig2 as varre_fig2
from linnet_papers.varre.figures import fig3 as varre_fig3
from linnet_papers.varre.figures import fig4 as varre_fig4
from linnet_papers.varre.figures import fig5 as varre_fig5
from linnet_papers.varre.training.students import first_plateau

TINY: dict[Any, dict[str, Any]] = {
    varre_fig1: {"seeds": 1, "times": 6, "end_time": 150.0, "noise_steps": 4000, "noise_saves": 8, "noise_seeds": 2},
    varre_fig2: {"seeds": 2, "small_steps": 4000, "large_steps": 1000, "saves": 12},
    varre_fig3: {"paths": 4000, "step": 0.05, "saves": 12, "end_time": 6.0},
    varre_fig4: {"seeds": 1, "times": 6, "end_time": 150.0},
    varre_fig5: {"seeds": 2, "small_steps": 4000, "saves": 60},
}


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.FIGURE.name)
def test_computed_drawn_and_checked(module, tmp_path):
    figure = module.FIGURE
    ds = figure.compute(figure.configure(**TINY[module]), figure.panels)
    assert [name for name, variable in ds.variables.items() if not variable.attrs.get("long_name")] == []
    stored = tmp_path / "figure.nc"
    ds.to_netcdf(stored, engine="scipy")
    import xarray as xr

    with xr.open_dataset(stored, engine="scipy") as back:
        back.load()
    picture = figure.plot(back)
    picture.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    rows = figure.rows(back)
    assert rows and all(row.met for row in rows), [row for row in rows if not row.met]


def test_panels_on_their_own():
    figure = varre_fig3.FIGURE
    ds = figure.compute(figure.configure(**TINY[varre_fig3]), ("b",))
    assert len(figure.plot(ds).axes) == 1


def test_a_check_can_fail():
    figure = varre_fig4.FIGURE
    ds = figure.compute(figure.configure(seeds=1, times=6, end_time=2.0), ())
    assert any(not row.met for row in figure.check(ds))  # it has not interpolated yet


def test_plateaus():
    times = np.concatenate([[0.0], np.geomspace(1e-2, 1e3, 300)])

    def fall(at):
        return 1 / (1 + (times / at) ** 6)

    two = fall(1.0) + 1e-2 * fall(100.0) + 1e-8
    at = first_plateau(times, two)
    assert 3 < times[at] < 60
    assert first_plateau(times, fall(1.0)) == -1
    ended = np.where(times > 500, 0.0, two)  # a loss of zero is no plateau, and no trouble
    assert first_plateau(times, ended) == at
