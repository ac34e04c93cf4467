"""The numbers that authors printed: complete, in order, and what the package ships."""

import numpy as np

from linnet_papers.tu.published import phase_diagram_cells


def test_published_cells_are_a_full_grid_in_order():
    cells = phase_diagram_cells()
    assert dict(cells.sizes) == {"gamma_variance": 30, "gamma_width": 10}
    for axis, ends in (("gamma_variance", (-2.2, -0.8)), ("gamma_width", (1.75, 2.727586207))):
        values = cells[axis].values
        assert (values[0], values[-1]) == ends
        assert np.ptp(np.diff(values)) < 1e-8
    assert all(np.isfinite(cells[name]).all() for name in ("last_step", "train_error", "test_error"))
    corner = cells.sel(gamma_variance=-0.8, gamma_width=2.727586207, method="nearest")
    assert int(corner["last_step"]) == 148 and float(corner["test_error"]) == 0.9989022
    assert "arXiv:2405.17580" in cells.attrs["origin"]
