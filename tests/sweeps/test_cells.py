"""The ready-made training cells: right numbers, and the same bits whatever runs beside them."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import sweeps
from linnet.sweeps.cells import train
from reference import descent, reached

LOW_RANK = {"problem": "low-rank", "dim": 6, "rank": 2, "noise_std": 0.3, "steps": 300, "width": 9}
SPIKED = {"problem": "spiked", "dim": 8, "spike": 4.0, "samples": 5, "steps": 300, "width": 4, "first_std": 0.3}
SPIKED_POPULATION = {**SPIKED, "samples": 0, "second_std": 0.2}


def plain_descent(cell: dict, seed: int) -> dict[str, float]:
    """The same network trained by its definition: full width, from the moments, one step after the other."""
    key = [seed, 0]
    if cell["problem"] == "low-rank":
        problem = ln.problems.low_rank_plus_noise(cell["dim"], rank=cell["rank"], noise_std=cell["noise_std"], key=key)
    else:
        names = ("spike", "alignment")
        spikes = {name: cell.get(name, 0.5) for name in names}
        problem = ln.problems.spiked_covariance(cell["dim"], samples=cell["samples"] or None, key=key, **spikes)
    stds = [cell.get(name, 0.1) for name in ("first_std", "second_std")]
    start = ln.inits.gaussian(
        key=[seed, 1], in_dim=problem.in_dim, out_dim=problem.out_dim, width=cell["width"], stds=stds
    )
    rate = cell["learning_rate"]
    states = descent(start.layers, problem.cov, problem.cross, rate, cell["steps"])
    for steps, state in enumerate(states):  # noqa: B007 it is used below
        product = reached(state)[-1]
        if problem.loss(product) <= cell.get("stop", 0.0):
            break
    values = np.linalg.svd(product, compute_uv=False)
    rank = (values**2).sum() / values.max() ** 2
    return {
        "loss": problem.loss(product),
        "test_loss": problem.test_loss(product),
        "stable_rank": rank,
        "steps": steps,
        "time": steps * rate,
        "unfinished": cell.get("stop", 0.0) > 0 and problem.loss(product) > cell["stop"],
    }


@pytest.mark.parametrize("setting", [LOW_RANK, SPIKED, SPIKED_POPULATION], ids=["low-rank", "samples", "population"])
@pytest.mark.parametrize("stop", [0.0, 0.4])
def test_train_is_descent_of_the_full_network(setting, stop):
    fixed = {**setting, "stop": stop}
    points, seeds = {"learning_rate": np.array([0.01, 0.02, 0.04])}, np.array([5, 6, 7])
    found = train(points, seeds, **fixed)
    assert found.pop("failures") == {}
    for cell, seed in enumerate(seeds):
        expected = plain_descent({**fixed, "learning_rate": points["learning_rate"][cell]}, int(seed))
        assert set(found) == set(expected)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name][cell], value, rtol=1e-9, atol=1e-13, err_msg=name)
    assert len(set(found["steps"])) == (1 if stop == 0.0 else 3)


@pytest.mark.parametrize("setting", [LOW_RANK, SPIKED], ids=["low-rank", "spiked"])
def test_the_bits_of_a_cell_do_not_depend_on_its_neighbors(setting):
    scale = np.array([0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2])
    seeds = np.arange(40, 48)
    fixed = {**{name: value for name, value in setting.items() if name != "first_std"}, "stop": 0.3}
    reference = train({"first_std": scale}, seeds, batch=4, **fixed)
    assert len(set(reference["steps"])) > 4  # networks leave at different times, and others take their slots
    order = np.array([3, 7, 0, 5, 1, 6, 2, 4])
    shuffled = train({"first_std": scale[order]}, seeds[order], batch=4, **fixed)
    alone = [train({"first_std": scale[[cell] * 8]}, seeds[[cell] * 8], batch=4, **fixed) for cell in (0, 5)]
    for name in ("loss", "test_loss", "stable_rank", "steps"):
        assert shuffled[name].tobytes() == reference[name][order].tobytes(), name
        assert [run[name][0] for run in alone] == [reference[name][0], reference[name][5]], name


def test_a_sweep_of_training_runs_is_the_same_after_an_interruption(make, assert_same, tmp_path, monkeypatch):
    from linnet.sweeps._store import Store

    sweep = make(
        function="linnet.sweeps.cells:train",
        axes={"width": [4, 10**6], "threshold": [0.01, 0.3, 3.0]},
        seeds=2,
        fixed={**{name: LOW_RANK[name] for name in ("dim", "rank", "noise_std", "steps")}, "stop": 1.0, "batch": 2},
        unbatched_axes=["width"],
        dtype="float64",
    )
    whole = sweeps.run(sweep)
    write = Store.write

    def dying(self, job, block):
        if job[0] == 2:
            raise KeyboardInterrupt
        write(self, job, block)

    monkeypatch.setattr(Store, "write", dying)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        sweeps.run(sweep, tmp_path / "store")
    monkeypatch.undo()
    assert_same(sweeps.run(sweep, tmp_path / "store"), whole)
    assert whole["loss"].dtype == np.float64
    assert (whole["loss"] <= 1.0).all()


def test_a_network_that_diverges_is_a_failed_cell(make):
    sweep = make(
        function="linnet.sweeps.cells:train", axes={"learning_rate": [0.01, 5.0]}, fixed=LOW_RANK, dtype="float64"
    )
    dataset = sweeps.run(sweep, throw=False)
    assert dataset["cell_status"].values.tolist() == [[1, 1], [2, 2]]
    assert np.isnan(dataset["loss"].sel(learning_rate=5.0)).all()
    with pytest.raises(sweeps.FailedCellsError, match=r"learning_rate=5.0, seed=0: descent diverged at step \d+ with"):
        sweeps.run(sweep)


def test_float32_is_float32_and_close(make):
    sweep = make(function="linnet.sweeps.cells:train", axes={"threshold": [0.01, 3.0]}, fixed=LOW_RANK, dtype="float64")
    double = sweeps.run(sweep)
    single = sweeps.run(sweep.model_copy(update={"dtype": "float32"}))
    assert (single["loss"] != double["loss"]).any()
    np.testing.assert_allclose(single["loss"], double["loss"], rtol=1e-3)


def test_problems_are_drawn_per_cell_or_once(make):
    fields = {"function": "linnet.sweeps.cells:train", "axes": {"width": [3]}, "seeds": 3, "dtype": "float64"}
    short = {**LOW_RANK, "steps": 1, "relative_rate": 1e-12}
    short.pop("width")
    own = sweeps.run(make(fixed=short, **fields))["loss"].values
    once = sweeps.run(make(fixed={**short, "problem_seed": 4}, **fields))["loss"].values
    assert np.ptp(own) > 0.05 * own.mean()
    assert np.ptp(once) < 0.05 * once.mean()


def test_an_unknown_setting_is_told_with_the_nearest(make):
    with pytest.raises(sweeps.CellFunctionError, match=r"`widht` is not a setting of `train`; did you mean width\?"):
        sweeps.run(make(function="linnet.sweeps.cells:train", axes={"widht": [3]}, dtype="float64"))


def test_the_example_is_valid_and_its_function_takes_it():
    from pathlib import Path

    from linnet.sweeps._task import Task

    sweep = sweeps.load(Path(__file__).parents[2] / "examples" / "sweep.toml")
    Task.of(sweep)
    assert sweep.function == "linnet.sweeps.cells:train"


def test_any_problem_that_can_be_named_in_python_is_swept():
    import sample_cells

    points = {"tilt": np.array([1.0, 2.0])}
    options = {"problem": "sample_cells:my_table", "rows": 12, "width": 20, "steps": 200, "learning_rate": 0.05}
    found = train(points, np.array([5, 6]), **options)
    for index, tilt in enumerate((1.0, 2.0)):
        problem = sample_cells.my_table(12, tilt)
        start = ln.inits.reduced_gaussian(key=[5 + index, 1], in_dim=3, out_dim=2, width=20, stds=0.1)
        run = ln.gradient_descent(problem, start, learning_rate=0.05, steps=200, save_every=200)
        np.testing.assert_allclose(found["loss"][index], run.loss[-1], rtol=1e-9)
        np.testing.assert_allclose(found["test_loss"][index], run.validation_loss[-1], rtol=1e-9)
    with pytest.raises(TypeError, match=r"`tilts` is not a setting of `train`; did you mean tilt\?"):
        train({"tilts": np.ones(1)}, np.array([0]), **options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nonsense", "must be 'low-rank', 'spiked' or 'module:function'"),
        ("linnet:nonsense", "module `linnet` has no function `nonsense`"),
        ("linnet:__version__", "module `linnet` has no function `__version__`"),
        ("textwrap:wrap.x", "must name a function of a module as 'module:function'"),
    ],
)
def test_a_problem_that_cannot_be_made_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        train({}, np.array([0]), problem=name)


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "store"])
def test_cells_whose_steps_ran_out_before_the_stop_are_marked_and_told(make, tmp_path, kept):
    fixed = {**LOW_RANK, "stop": 1.0, "learning_rate": 0.02}
    sweep = make(
        function="linnet.sweeps.cells:train",
        axes={"steps": [3, 300]},
        fixed={name: value for name, value in fixed.items() if name != "steps"},
        seeds=1,
        record=["loss"],
        dtype="float64",
    )
    with pytest.warns(UserWarning, match=r"1 cells reached the last step before `stop` was met"):
        found = sweeps.run(sweep, tmp_path / "store" if kept else None)
    assert found["unfinished"].values.tolist() == [True, False]
    assert (found["loss"] > 1.0).values.tolist() == [True, False]
    if kept:  # and when nothing is computed any more
        with pytest.warns(UserWarning, match=r"1 cells reached the last step"):
            sweeps.run(sweep, tmp_path / "store")
