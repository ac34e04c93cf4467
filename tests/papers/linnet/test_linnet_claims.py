"""linnet's own claims where nothing new is trained: tables, columns, the figure, and numbers nobody measured."""

import numpy as np
import pytest

import linnet as ln
from linnet.papers.linnet.claims import diagram, stopping
from linnet.papers.linnet.figures import published
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import Trial, Verdict

QUICK = Trial(quick=True)


@pytest.fixture(scope="module")
def plane():
    """A few cells of the quick plane: narrow and wide, active and lazy."""
    sweep = cells.TABLE.sweep(QUICK)
    axes = {**sweep.axes, "gamma_width": [0.0, 0.7, 2.1], "gamma_variance": [-2.25, -1.5]}
    return ln.sweeps.run(sweep.model_copy(update={"axes": axes}))


def test_trained_networks_are_where_the_formula_says(plane, monkeypatch):
    monkeypatch.setattr(cells.Table, "results", lambda self, trial: plane)
    found = diagram.formula_against_training.measurement(QUICK)
    assert found.numbers["cells"] == 6 and found.verdict == Verdict.HOLDS, found.measured
    assert "d = 40" in found.measured
    columns = cells.columns(plane)
    assert columns["width"] == ["1", "13", "2314"] and len(set(map(len, columns.values()))) == 1
    right = ln.theories.mixed.predicted_diagram  # the mistake: thresholds half as large as they are
    monkeypatch.setattr(
        ln.theories.mixed, "predicted_diagram", lambda task, variances, widths: right(task, variances / 2, widths)
    )
    assert diagram.formula_against_training.measurement(QUICK).verdict == Verdict.REFUTED


def test_rules_go_by_the_dimension_and_by_standard_errors():
    good = {"one_over_d": 0.01, "covered": 0.92, "value": 0.003, "within": 0.95, "ranks": 0.01, "times": 0.02}
    trained = diagram.formula_against_training
    assert trained.verdict(good) == Verdict.HOLDS
    for change in (
        {"covered": 0.7},
        {"value": 0.01},
        {"within": 0.8},
        {"ranks": 0.1},
        {"times": 0.2},
        {"value": np.nan},
        {"one_over_d": 0.001},
    ):
        assert trained.verdict(good | change) == Verdict.REFUTED
    assert diagram.formula_against_published_cells.verdict({"value": 0.01, "beyond": 0.1}) == Verdict.REFUTED
    assert stopping.stopping_in_hindsight.verdict({"beyond": {"a": 0.01, "b": 0.022}}) == Verdict.REFUTED
    assert stopping.stopping_in_hindsight.verdict({"beyond": {"a": 0.01, "b": 0.018}}) == Verdict.HOLDS


def test_the_error_falls_with_the_dimension(plane, monkeypatch):
    """On numbers nobody trained: errors that fall like 1/d, and errors that do not fall."""
    dims = np.array([10, 20, 40, 80])
    grown = plane.isel(dim=[0] * 4).assign_coords(dim=dims)
    monkeypatch.setattr(dimensions.Table, "results", lambda self, trial: grown)
    for typical, verdict in ((0.5 / dims, Verdict.HOLDS), (0.01 + 0 * dims, Verdict.REFUTED)):
        made = typical[:, None] * np.ones(6)
        monkeypatch.setattr(dimensions.Table, "rows", lambda self, trial, made=made: made)
        found = diagram.error_over_dimensions.measurement(QUICK)
        assert found.verdict == verdict and "d = 80" in found.measured
    monkeypatch.setattr(dimensions, "read", lambda data: made)
    assert dimensions.columns(grown)["median error"] == ["1.00%"] * 4


def test_published_cells():
    data = published.compute(published.Published(tasks=2), ())
    assert data["predicted"].dims == ("task", "gamma_variance", "gamma_width")
    checks = published.check(data)
    assert checks[1].passed, checks[1].text
    assert published.plot(data) is not None
    late = data.assign(predicted=1.2 * data["predicted"])  # the mistake: errors a fifth too large
    assert not published.check(late)[0].passed
