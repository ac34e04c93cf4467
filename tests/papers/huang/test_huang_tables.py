"""The tables of the feature-learning paper: cells against plain NumPy, the same bits in any blocks, wrong theories
found out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr

import linnet as ln
from linnet.papers.huang.claims import equations as huang_equations
from linnet.papers.huang.claims import lemmas as huang_lemmas
from linnet.papers.huang.claims import stages as huang_stages
from linnet.papers.huang.claims import times as huang_times
from linnet.papers.huang.runs import section_six, separated, spectrum, stages
from linnet.papers.huang.tables import convergence as huang_convergence
from linnet.papers.huang.tables import draws as huang_draws
from linnet.papers.huang.tables import errors as huang_errors
from linnet.papers.huang.tables import scalings as huang_scalings
from linnet.papers.huang.tables import signs as huang_signs
from linnet.randomness import generator
from linnet.reproduction.claim import Trial, Verdict
from linnet.sweeps import Sweep
from linnet.theories.feature_learning import Stages
from linnet.theories.feature_learning import assumptions as feature_assumptions

QUICK = Trial(quick=True, seed=4)


def regrouped(sweep: Sweep, **axes: list[Any]) -> tuple[xr.Dataset, xr.Dataset]:
    """A part of the sweep in its own blocks, and backwards in blocks of one cell."""
    part = sweep.model_copy(update={"axes": axes})
    backwards = {name: values[::-1] for name, values in axes.items()}
    other = ln.sweeps.run(part.model_copy(update={"axes": backwards, "block": 1}))
    return ln.sweeps.run(part), other.reindex(axes)


def plain_descent(
    X: np.ndarray, y: np.ndarray, start: ln.Weights, rate: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Losses and median |rho| at every step of a network of full width, in the paper's scaling."""
    n, m = len(y), start.width
    W, v = np.sqrt(m) * start.first, np.sqrt(m) * start.second[0]
    first, step, seen = W @ X.T @ y, rate / n, []
    for _ in range(steps + 1):
        residual = y - X @ (W.T @ v) / m
        seen.append(((residual @ residual) / (2 * n), np.median(np.abs(W @ X.T @ y - first))))
        pull = X.T @ residual
        W, v = W + step * np.outer(v, pull), v + step * W @ pull
    return tuple(np.array(column) for column in zip(*seen, strict=True))  # type: ignore[return-value]


def passed(values: np.ndarray, level: float) -> float:
    """The step, with its fraction, at which an increasing sequence passes a level."""
    i = int(np.argmax(values >= level))
    return i - 1 + (level - values[i - 1]) / (values[i] - values[i - 1])


@pytest.mark.parametrize("case", ["n = 5", "m = 64", "trace = 4000"])
def test_a_cell_of_the_scalings_is_what_a_full_network_does(case):
    points = {"case": np.array([case]), "replicate": np.array([3])}
    cell = {k: v[0] for k, (_, v) in huang_scalings.cells(points, np.zeros(1, int), seed=7, dim=40).items()}
    n, m, trace = {"n = 5": (5, 128, 1000), "m = 64": (10, 64, 1000), "trace = 4000": (10, 128, 4000)}[case]
    direction = generator([7, 3], 2).standard_normal(40)
    teacher = direction / np.linalg.norm(direction) * np.sqrt(40 / trace)
    data = ln.problems.subgaussian_regression(
        [7, 3], samples=n, covariance=np.full(40, trace / 40), teacher=teacher, noise_variance=0.01
    )
    start = ln.inits.signed([7, 3, 1], in_dim=40, width=m, first_std=1e-5, magnitude=3e-4)
    steps = int(cell["loss_steps"][1]) + 40
    losses, medians = plain_descent(data.inputs, data.outputs, start, 0.05 / m, steps)
    np.testing.assert_allclose(cell["alignment_steps"], passed(medians, 1.0), rtol=1e-3)
    left = [passed(-losses / losses[0], -share) for share in huang_scalings.SHARES[:2]]
    np.testing.assert_allclose(cell["loss_steps"][:2], left, rtol=1e-3)


def test_the_spectrum_of_the_data_is_all_the_theory_needs():
    data = ln.problems.gaussian_teacher(2, samples=7, dim=50)
    scales: dict[str, Any] = {"width": 30, "learning_rate": 0.01, "first_std": 1e-4, "magnitude": 1e-3}
    own, other = Stages(data.inputs, data.outputs, **scales), stages(*spectrum(data), **scales)
    for name in ("gamma", "phi", "rate", "trace", "signal", "limit"):
        np.testing.assert_allclose(getattr(other, name), getattr(own, name), rtol=1e-12)
    assert other.samples == own.samples == 7
    np.testing.assert_allclose(other.second_time(0.1, form="printed"), own.second_time(0.1, form="printed"), rtol=1e-12)


def test_the_scalings_do_not_depend_on_their_blocks(assert_same):
    assert_same(*regrouped(huang_scalings.scalings(QUICK), case=["base", "n = 5", "eta = 0.0125"], replicate=[0, 2]))


def test_a_time_without_gamma_in_its_logarithm_is_refuted(monkeypatch):
    monkeypatch.setattr(Stages, "first_time", lambda self, form="": np.log(1 / self.magnitude) / self.rate)
    assert huang_times.measure_first_time(QUICK).verdict == Verdict.REFUTED


def test_the_printed_exponents_would_hold_if_they_were_those_measured(monkeypatch):
    rows = huang_scalings.read(huang_scalings.TABLES[0].results(QUICK))
    monkeypatch.setattr(huang_scalings, "PRINTED", {row.name: round(row.alignment[0], 2) for row in rows})
    assert huang_times.measure_first_time(QUICK).verdict == Verdict.HOLDS


def test_a_run_that_never_aligns_counts_against_the_first_time(monkeypatch):
    networks = huang_scalings.TABLES[0].results(QUICK).copy(deep=True)
    case = {"case": "beta = 0.5", "replicate": 2}  # of a middle row: Python's max would pass over its NaN
    networks["alignment_steps"].loc[case] = np.nan
    monkeypatch.setattr(type(huang_scalings.TABLES[0]), "results", lambda table, trial: networks)
    found = huang_times.measure_first_time(QUICK)
    assert found.verdict == Verdict.REFUTED and "never reaches" in found.measured


def test_a_loss_that_never_gets_there_counts_against_the_second_time(monkeypatch):
    networks = huang_scalings.TABLES[0].results(QUICK).copy(deep=True)
    networks["loss_steps"].loc[{"case": "base", "replicate": 2, "share": networks["share"].values[-1]}] = np.nan
    monkeypatch.setattr(type(huang_scalings.TABLES[0]), "results", lambda table, trial: networks)
    assert huang_times.measure_second_time(QUICK).verdict == Verdict.REFUTED


def test_one_bend_that_is_no_number_counts_against_the_second_time(monkeypatch):
    right, calls = huang_times.line, []

    def broken(x, y):
        calls.append(1)
        return right(x, y) if len(calls) != 2 else (1.0, np.nan)

    monkeypatch.setattr(huang_times, "line", broken)
    assert huang_times.measure_second_time(QUICK).verdict == Verdict.REFUTED and len(calls) == 4


def test_a_time_that_no_run_has_is_an_error():
    with pytest.raises(RuntimeError, match="never reaches 1: the run is too short"):
        huang_stages._at(section_six(4, dim=300, width=40, steps=3), np.nan)


def test_a_tail_that_is_no_line_is_refuted(monkeypatch):
    found = huang_scalings.second_times(huang_scalings.TABLES[0].results(QUICK))
    bent = huang_scalings.SecondTime(found.shares, found.times**2, found.first, found.printed)
    monkeypatch.setattr(huang_scalings, "second_times", lambda networks: bent)
    assert huang_times.measure_second_time(QUICK).verdict == Verdict.REFUTED


@pytest.mark.parametrize("setting", huang_errors.SETTINGS)
def test_a_cell_of_the_equations_is_what_a_full_network_does(setting):
    points, size = {"setting": np.array([setting])}, {"dim": 300, "width": 40}
    cell = {k: v[0] for k, (_, v) in huang_errors.cells(points, np.array([5]), **size).items()}
    run = section_six(5, **size) if setting == "section 6" else separated(5, **size)
    W, v = np.sqrt(40) * run.start.first, np.sqrt(40) * run.start.second[0]
    X, y, step = run.data.inputs, run.data.outputs, run.scales["learning_rate"] / 10
    overlaps = W @ X.T @ y
    seen, starts, losses, wanted = {}, {}, {}, set(cell["steps"].tolist())
    for number in range(int(cell["ends"][1]) + 1):
        residual = y - X @ (W.T @ v) / 40
        if number in wanted:
            seen[number], starts[number], losses[number] = W @ X.T @ y - overlaps, v, residual @ residual / 20
        pull = X.T @ residual
        W, v = W + step * np.outer(v, pull), v + step * W @ pull
    trained = np.array([seen[number] for number in cell["steps"].tolist()])
    np.testing.assert_allclose(cell["alignments"], trained, atol=1e-8 * np.abs(trained).max())
    np.testing.assert_allclose(cell["loss"], [losses[number] for number in cell["steps"].tolist()], rtol=1e-6)
    np.testing.assert_allclose(cell["overlaps"], overlaps, rtol=1e-8)
    begin = int(cell["ends"][0])
    np.testing.assert_allclose(cell["magnitudes"], [starts[0], starts[begin]], rtol=1e-6)
    # the stages end where the loss says so: one saved state earlier it is not yet there
    share = dict(zip(cell["steps"].tolist(), cell["loss"] / cell["loss"][0], strict=True))
    assert share[begin] <= 0.95 and share[max(n for n in share if n < begin)] > 0.95
    assert share[max(share)] <= 1e-4


def test_errors_are_those_of_the_theory_on_every_neuron():
    """From the kept states as from the whole run: the errors of eq. (10) with and without the mean."""
    size = {"dim": 300, "width": 40}
    sweep = huang_errors.equations(QUICK).model_copy(update={"fixed": size, "seeds": 2})
    run = huang_errors.networks(ln.sweeps.run(sweep), "section 6")[0]
    rho, v, step = run.alignments[run.begin], run.magnitudes[1], run.stages.learning_rate / 10
    for printed, expected in ((False, huang_errors.plane(run)), (True, huang_errors.plane(run, printed=True))):
        a, b, worst = rho.copy(), v.copy(), 0.0
        kept = dict(zip(run.steps[run.begin :].tolist(), run.alignments[run.begin :], strict=True))
        for number in range(int(run.steps[run.begin]), int(run.steps[-1]) + 1):
            if number in kept:
                worst = max(worst, float(np.linalg.norm(a - kept[number]) / np.linalg.norm(kept[number])))
            force = 1 - run.stages.phi / run.stages.gamma**2 * (a * b if printed else (a * b).mean())
            a, b = a + step * run.stages.gamma * b * force, b + step * a * force
        np.testing.assert_allclose(expected.second, worst, rtol=1e-9)


def test_the_equations_do_not_depend_on_their_blocks(assert_same):
    sweep = huang_errors.equations(QUICK).model_copy(update={"fixed": {"dim": 300, "width": 40}})
    assert_same(*regrouped(sweep, setting=list(huang_errors.SETTINGS)))


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("linear", huang_equations.measure_linear),
        ("plane", huang_equations.measure_plane),
        ("scalar", huang_equations.measure_scalar),
    ],
)
def test_a_wrong_equation_is_refuted_on_cells_that_are_there(monkeypatch, name, measure):
    huang_errors.TABLES[0].results(QUICK)
    right = getattr(Stages, name)
    monkeypatch.setattr(Stages, name, lambda self, *a, **k: right(self, *a, **{**k, "printed": True}))
    assert measure(QUICK).verdict == Verdict.REFUTED


def test_errors_read_with_their_range():
    assert huang_errors.spread([0.011, 0.013, 0.5]) == "1.3% (1.1 to 50%)"
    assert huang_errors.spread([1.0, 3.0, 4e20]) == "3 times (100% to 4e+20 times)"
    assert huang_errors.spread([1.0, np.inf, np.inf]) == "overflows"


SMALL = {"dim": 300, "width": 40}


def test_cells_of_the_signs_are_those_of_a_full_network():
    points = {"ratio": np.array([0.3])}
    cell = {k: v[0] for k, (_, v) in huang_signs.cells(points, np.array([5]), **SMALL).items()}
    _, rate, std, magnitude = cell["scales"]
    np.testing.assert_allclose(magnitude, 0.3 * std * np.sqrt(np.log(40)), rtol=1e-12)
    data = ln.problems.gaussian_teacher(5, dim=300, signal=1.0)
    start = ln.inits.signed([5, 1], in_dim=300, width=40, first_std=std, magnitude=magnitude)
    X, y, W, v = data.inputs, data.outputs, np.sqrt(40) * start.first, np.sqrt(40) * start.second[0]
    signs, first, kept, grew, last, begun = np.sign(v), W @ X.T @ y, np.full(40, True), np.full(40, True), 0.0, False
    for number in range(10 * int(cell["begin"])):
        residual = y - X @ (W.T @ v) / 40
        rho, share = W @ X.T @ y - first, residual @ residual / (y @ y)
        kept &= (np.sign(v) == signs) & ((number == 0) | (np.sign(rho) == signs))
        if begun:
            grew &= np.abs(rho) >= last
        begun, last = share <= 0.95, np.abs(rho)
        if share <= 1e-3:
            break
        pull = X.T @ residual
        W, v = W + rate / 10 * np.outer(v, pull), v + rate / 10 * W @ pull
    assert share <= 1e-3 and 0.5 < kept.mean() < 1
    np.testing.assert_array_equal(cell["kept"], kept)
    np.testing.assert_array_equal(cell["rising"], grew)


def test_signs_and_convergence_do_not_depend_on_their_blocks(assert_same):
    signs = huang_signs.signs(QUICK).model_copy(update={"fixed": SMALL})
    assert_same(*regrouped(signs, ratio=[0.03, 1.0, 10.0]))
    sweep = huang_convergence.convergence(QUICK).model_copy(update={"fixed": SMALL})
    assert_same(ln.sweeps.run(sweep), ln.sweeps.run(sweep.model_copy(update={"block": 1})))


def test_convergence_is_timed_where_the_loss_passes():
    sweep = huang_convergence.convergence(QUICK).model_copy(update={"fixed": SMALL, "seeds": 2})
    results = ln.sweeps.run(sweep)
    row = huang_convergence.read(results)[1]
    cell = results.sel(seed=1)
    # on the full width, in the coordinates of the cell's own spectrum: the printed times, spelled out
    values, y, rate = cell["values"].values, cell["coefficients"].values, float(cell["scales"].values[1])
    scale = np.sqrt(10) / (np.sqrt((values**2).sum() / 10) * np.sqrt((y**2).mean()))
    assert row.first == pytest.approx(scale * np.log(1 / cell["scales"].values[3]) / rate, rel=1e-12)
    assert row.constant == pytest.approx(row.steps / (row.first + row.second), rel=1e-12)
    assert row.first_loss == pytest.approx((y**2).mean() / 2, rel=1e-3) and 0 < row.last < 1e-4


def test_signs_that_the_linear_stage_does_not_tell_are_refuted(monkeypatch):
    right = Stages.linear
    monkeypatch.setattr(Stages, "linear", lambda self, steps, c, v, **k: right(self, steps, -c, v, **k))
    assert huang_stages.measure_signs(QUICK).verdict == Verdict.REFUTED


def test_neurons_that_fall_are_counted_at_each_ratio(monkeypatch):
    rows = huang_signs.read(huang_signs.TABLES[0].results(QUICK))
    for ratio, falling, verdict in ((0.3, 1, Verdict.HOLDS), (0.3, 2, Verdict.CORRECTED), (3.0, 2, Verdict.REFUTED)):
        changed = [
            dataclasses.replace(row, rising=1 - falling / row.neurons if row.ratio == ratio else 1.0) for row in rows
        ]
        monkeypatch.setattr(huang_signs, "read", lambda networks, changed=changed: changed)
        assert huang_stages.measure_rising(QUICK).verdict == verdict


def test_a_stated_time_a_hundred_times_shorter_is_refuted(monkeypatch):
    for name in ("first_time", "second_time"):
        right = getattr(Stages, name)
        monkeypatch.setattr(Stages, name, lambda self, *a, right=right, **k: right(self, *a, **k) / 100)
    assert huang_times.measure_convergence(QUICK).verdict == Verdict.REFUTED


def test_draws_of_the_lemmas_are_those_of_the_shares():
    points = {"n": np.array([5, 8]), "noise": np.array([0.8, 1e-7])}
    found = huang_draws.cells(points, np.array([11, 12]), dim=30, draws=3)
    for cell, (n, noise, seed) in enumerate([(5, 0.8, 11), (8, 1e-7, 12)]):
        data = ln.problems.gaussian_teacher([seed, 2], samples=n, dim=30, signal=1.0, noise_variance=n * noise)
        form, gamma = found["form"][1][cell, 2], found["gamma"][1][cell, 2]
        np.testing.assert_allclose(form / n, feature_assumptions.quadratic_share(data), rtol=1e-12)
        np.testing.assert_allclose(gamma / (30 * n), feature_assumptions.gamma_share(data), rtol=1e-12)


def test_the_frequencies_are_those_of_the_law_where_the_dimension_is_large():
    for row in huang_draws.read(huang_draws.TABLES[0].results(QUICK)):
        assert abs(row.form - row.form_law) < 4 * row.error(row.form_law)
        assert abs(row.gamma - row.gamma_law) < 4 * row.error(row.gamma_law) + 0.05  # gamma is not tr |y|^2 at d = 400


def test_the_lemmas_do_not_depend_on_their_blocks(assert_same):
    sweep = huang_draws.lemmas(QUICK).model_copy(update={"fixed": {"dim": 30, "draws": 4}})
    assert_same(*regrouped(sweep, n=[10, 40], noise=[8.0, 1e-7]))


def test_a_tighter_lemma_a3_is_refuted(monkeypatch):
    monkeypatch.setattr(huang_draws, "FORM", (0.9, 1.1))
    assert huang_lemmas.measure_quadratic(QUICK).verdict == Verdict.REFUTED


def test_lemma_a4_would_hold_with_its_noise_taken_out(monkeypatch):
    rows = huang_draws.read(huang_draws.TABLES[0].results(QUICK))
    harmless = {
        row.n: row.gamma for row in rows if row.noise == 1e-7
    }  # as if the limit's noise did what hardly any does
    quiet = [dataclasses.replace(row, gamma=harmless[row.n]) for row in rows]
    monkeypatch.setattr(huang_draws, "read", lambda results: quiet)
    assert huang_lemmas.measure_gamma(QUICK).verdict == Verdict.HOLDS
