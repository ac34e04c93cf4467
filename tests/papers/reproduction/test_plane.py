"""The plane on which phase diagrams are trained: one border, one step, one end of a run."""

import numpy as np
import pytest

from linnet.theories.lazy_active import phase
from linnet_papers.tu import plane


def test_the_border_is_that_of_the_theory():
    variance, width = np.linspace(-3, 0, 31)[None, :], np.linspace(1.0, 2.8, 19)[:, None]
    inside = np.isin(phase(variance, width), ("lazy", "active"))
    assert (plane.is_lazy(variance, width) == (phase(variance, width) == "lazy"))[inside].all()
    assert plane.is_lazy(-1.2, 2.25) and not plane.is_lazy(-1.25, 2.25) and not plane.is_lazy(-1.5, 2.0)


def test_a_step_is_one_over_the_larger_scale():
    np.testing.assert_allclose(plane.step_size(-2.0, [1.0, 2.5], dim=100, size=[110, 120.0]), [1 / 5500, 1 / 6000])
    np.testing.assert_allclose(1 / plane.step_size(-1.0, 2.4, dim=50, size=60.0, c=5), 5 * round(50**2.4) / 50)
    assert plane.width_of(200, 0.0) == 1 and plane.width_of(200, 2.0) == 40000


def test_runs_end_as_published():
    rule = plane.published_rule(10)
    assert set(rule.reasons) >= {"test loss rising", "loss below threshold", "loss stalled"}
    assert plane.learned_rule(10).reasons == ("loss below threshold",)
    assert list(plane.grid(3)) == ["gamma_width", "gamma_variance"] and plane.grid(3)["gamma_width"][
        1
    ] == pytest.approx(1.4)
