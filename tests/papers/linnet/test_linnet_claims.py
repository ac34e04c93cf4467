"""linnet's own claims: their verdicts at small settings, and for each a mistake that turns it."""

import numpy as np
import pytest

import linnet as ln
from linnet.papers.linnet import PAPER, networks
from linnet.papers.linnet.claims import diagram, stopping
from linnet.papers.linnet.figures import published
from linnet.papers.linnet.printed import compared
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import Trial, Verdict

QUICK = Trial(quick=True)
ALL = {claim.name.removeprefix("linnet-"): claim for claim in PAPER.claims}


def small(sweep, **axes):
    return sweep.model_copy(update={"axes": {**sweep.axes, **axes}})


@pytest.fixture(scope="module")
def plane():
    """A few cells of the quick plane: narrow and wide, active and lazy."""
    sweep = small(cells.plane(QUICK), gamma_width=[0.0, 1.4, 2.0], gamma_variance=[-2.0, -1.2])
    return ln.sweeps.run(sweep)


def test_trained_networks_are_where_the_formula_says(plane, monkeypatch):
    monkeypatch.setattr(cells.Table, "results", lambda self, trial: plane)
    numbers = diagram.measure_trained(QUICK)
    assert numbers["cells"] == 6 and diagram.judge_trained(numbers) == Verdict.HOLDS, diagram.tell_trained(numbers)
    assert "d = 40" in diagram.tell_trained(numbers)
    columns = cells.columns(plane)
    assert columns["width"] == ["1", "175", "1600"] and len(set(map(len, columns.values()))) == 1


def test_a_formula_without_its_factor_two_is_refuted(plane, monkeypatch):
    """The mistake: thresholds half as large as they are."""
    right = ln.theories.mixed.predicted_diagram
    monkeypatch.setattr(cells.Table, "results", lambda self, trial: plane)
    monkeypatch.setattr(
        ln.theories.mixed, "predicted_diagram", lambda task, variances, widths: right(task, variances / 2, widths)
    )
    assert diagram.judge_trained(diagram.measure_trained(QUICK)) == Verdict.REFUTED


def test_judges_go_by_their_limits():
    good = {"dim": 100, "covered": 0.92, "value": 0.003, "ninth": 0.03}
    assert diagram.judge_trained(good) == Verdict.HOLDS
    for change in ({"covered": 0.8}, {"value": 0.01}, {"ninth": 0.05}, {"value": np.nan}):
        assert diagram.judge_trained(good | change) == Verdict.REFUTED
    assert diagram.judge_dimensions({"value": -0.9}) == Verdict.HOLDS
    assert diagram.judge_dimensions({"value": -0.1}) == Verdict.REFUTED
    assert diagram.judge_printed({"value": 0.01, "beyond": 0.1}) == Verdict.REFUTED
    assert stopping.judge_hindsight({"value": 0.03, "uncertainty": 0.004}) == Verdict.REFUTED
    assert stopping.judge_hindsight({"value": 0.03, "uncertainty": 0.006}) == Verdict.HOLDS


def test_the_error_falls_with_the_dimension(plane, monkeypatch):
    """On numbers nobody trained: errors that fall like 1/d, and errors that do not fall."""
    dims = np.array([10, 20, 40, 80])
    grown = plane.isel(dim=[0] * 4).assign_coords(dim=dims)
    monkeypatch.setattr(dimensions.Table, "results", lambda self, trial: grown)
    for typical, verdict in ((0.5 / dims, Verdict.HOLDS), (0.01 + 0 * dims, Verdict.REFUTED)):
        monkeypatch.setattr(dimensions, "errors", lambda data, seed, typical=typical: typical[:, None] * np.ones(6))
        numbers = diagram.measure_dimensions(QUICK)
        assert diagram.judge_dimensions(numbers) == verdict and "d = 80" in diagram.tell_dimensions(numbers)
    assert dimensions.columns(grown)["median error"] == ["1.00%"] * 4


def test_one_equation(monkeypatch):
    claim = ALL["one-equation"]
    assert claim.measurement(QUICK).verdict == Verdict.HOLDS
    right = ln.theories.spectral_bias.singular_values
    monkeypatch.setattr(ln.theories.spectral_bias, "singular_values", lambda s, g, t: right(s, 2 * g, t))
    assert claim.measurement(QUICK).verdict == Verdict.REFUTED


def test_hindsight(monkeypatch):
    monkeypatch.setattr(stopping, "SETTINGS", (((40, 40), 2, 2.5), ((30, 60), 4, 2.0)))
    measurement = ALL["hindsight"].measurement(QUICK)
    assert measurement.verdict == Verdict.HOLDS, measurement.measured
    right = ln.denoise
    monkeypatch.setattr(ln, "denoise", lambda Y, noise_std: right(Y, noise_std=2 * noise_std))  # the wrong noise
    assert ALL["hindsight"].measurement(QUICK).verdict == Verdict.REFUTED


def test_published_cells(monkeypatch):
    data = published.compute(published.Published(tasks=2), ())
    assert data["predicted"].dims == ("task", "gamma_variance", "gamma_width")
    checks = published.check(data)
    assert checks[1].passed, checks[1].text
    assert published.plot(data) is not None
    numbers = {"value": 0.0, "beyond": 0.0}
    assert diagram.judge_printed(numbers) == Verdict.HOLDS
    late = data.assign(predicted=1.2 * data["predicted"])  # the mistake: errors a fifth too large
    assert not published.check(late)[0].passed
    assert compared.__doc__ and networks.width_of(200, 1.0) == 200
