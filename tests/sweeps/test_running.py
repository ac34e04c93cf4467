"""A sweep in memory and in a store: results, failures, and what a function may return."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linnet import sweeps
from linnet.sweeps.grid import cell_seeds


def by_hand(sweep: sweeps.Sweep) -> dict[tuple, np.ndarray]:
    """The draws of every cell, without any of the machinery but the seeds."""
    found = {}
    for x in sweep.axes["x"]:
        for y in sweep.axes["y"]:
            for replica in range(sweep.seeds):
                seed = cell_seeds(sweep.seed, {"x": np.array([x]), "y": np.array([y])}, np.array([replica]))[0]
                found[x, y, replica] = np.random.default_rng(seed).normal(size=3)
    return found


@pytest.mark.parametrize("stored", [False, True])
def test_every_cell_is_where_its_coordinates_say(make, tmp_path, stored):
    sweep = make()
    dataset = sweeps.run(sweep, tmp_path / "store" if stored else None)
    assert dataset["value"].dims == ("x", "y", "seed")
    assert dataset["path"].dims == ("x", "y", "seed", "time")
    assert dataset["count"].dtype == np.int32
    for (x, y, replica), samples in by_hand(sweep).items():
        cell = dataset.sel(x=x, y=y, seed=replica)
        np.testing.assert_array_equal(cell["path"], samples)
        expected = np.nan if samples[1] > 1.0 else samples[0] + x + y
        np.testing.assert_array_equal(cell["value"], expected)
    assert np.isnan(dataset["value"]).any()
    assert (dataset["cell_status"] == 1).all()


def test_a_store_is_read_as_it_would_be_in_memory_and_says_where_it_is_from(make, assert_same, tmp_path):
    sweep = make(axes={"x": [0, 1, 2], "kind": ["wide", "narrow"]}, function="sample_cells:picky", coords={"mode": [1]})
    with pytest.raises(
        sweeps.FailedCellsError, match=r"4 of 12 cells of draws failed, e.g. x=2, kind=wide, seed=0: Arith"
    ):
        sweeps.run(sweep, tmp_path / "store")
    lazy, whole = sweeps.open(tmp_path / "store"), sweeps.run(sweep, throw=False)
    assert_same(lazy, whole)
    assert lazy.attrs == whole.attrs
    assert_same(lazy, sweeps.run(sweep, tmp_path / "store", throw=False))
    assert lazy["kind"].values.tolist() == ["wide", "narrow"]
    assert lazy["cell_status"].attrs["flag_meanings"] == "not_computed done failed"
    assert json.loads(lazy.attrs["configuration"]) == sweep.plain()
    assert lazy.attrs["linnet_version"] and lazy.attrs["linnet_commit"] and lazy.attrs["device"]
    assert "sample_cells.py" in json.loads(lazy.attrs["code"])


def test_a_part_of_a_store_is_read_from_the_blocks_that_hold_it(make, tmp_path):
    """Every kind of index, against the same index of the whole in memory."""
    whole = sweeps.run(make(), tmp_path / "store").load()
    for key in ({"x": 2}, {"x": [4, 0], "seed": 1}, {"y": slice(None, None, -1)}, {"x": slice(1, 4, 2), "time": -1}):
        lazy = sweeps.open(tmp_path / "store", cache=False)
        part = lazy["path"].isel(key)
        np.testing.assert_array_equal(part.values, whole["path"].isel(key).values)
    (tmp_path / "store" / "0000009.npz").unlink()
    rest = sweeps.open(tmp_path / "store", chunks={})
    assert rest["path"].chunks is not None
    assert (rest["cell_status"].isel(x=4) == 0).sum() == 2
    assert np.isnan(rest["path"].values).sum() == 6 and (rest["count"].isel(x=4, y=2) == 0).all()


def test_only_what_is_to_be_recorded_is_kept(make):
    assert set(sweeps.run(make(record=["value"])).data_vars) == {"value", "cell_status"}
    with pytest.raises(
        sweeps.CellFunctionError,
        match=r"does not return `valeu`, which `record` asks for; did you mean value\? It returns ",
    ):
        sweeps.run(make(record=["valeu"]))


@pytest.mark.parametrize("stored", [False, True])
def test_a_failed_cell_leaves_its_neighbors_alone(make, tmp_path, stored):
    sweep = make(function="sample_cells:picky", axes={"x": [0, 1, 2, 3, 4, 5, 6]})
    dataset = sweeps.run(sweep, tmp_path / "store" if stored else None, throw=False)
    status = np.where(dataset["x"] == 2, 2, 1)
    np.testing.assert_array_equal(dataset["cell_status"], np.stack([status, status], axis=1))
    assert np.isnan(dataset["value"].sel(x=2)).all()
    np.testing.assert_array_equal(dataset["value"].sel(x=3), [4.5, 4.5])  # it shares its block with x = 2
    assert (dataset["length"].sel(x=[0, 1, 3, 6]) == 4).all()  # every call has the length of a full block


def test_failed_cells_are_kept_and_retried_only_on_request(make, assert_same, contents, tmp_path):
    allow, store, log = tmp_path / "allow", tmp_path / "store", tmp_path / "log"
    fixed = {"allow": str(allow), "log": str(log)}
    sweep = make(function="sample_cells:picky", axes={"x": [0, 1, 2, 3]}, fixed=fixed)
    sweeps.run(sweep, store, throw=False)
    allow.touch()
    with pytest.raises(sweeps.FailedCellsError, match=r"2 of 8 .*x=2, seed=0: ArithmeticError: two is not to be had"):
        sweeps.run(sweep, store)
    log.write_text("")
    assert_same(sweeps.run(sweep, store, retry_failed=True), sweeps.run(sweep))
    first, *_ = log.read_text().splitlines()
    assert first == "[2]"  # the cells that failed, and not their neighbors in the block
    sweeps.run(sweep, tmp_path / "undisturbed")
    assert contents(store) == contents(tmp_path / "undisturbed")


def test_cells_that_fail_again_have_the_new_reason(make, tmp_path):
    sweep = make(function="sample_cells:picky", axes={"x": [1, 2, 3]}, seeds=1, fixed={"allow": str(tmp_path / "no")})
    sweeps.run(sweep, tmp_path / "store", throw=False)
    found = sweeps.run(sweep, tmp_path / "store", throw=False, retry_failed=True)
    assert found["cell_status"].values.tolist() == [1, 2, 1] and found["value"].values[[0, 2]].tolist() == [1.5, 4.5]
    assert sweeps.status(tmp_path / "store").example == "x=2: ArithmeticError: two is not to be had"


def test_a_sweep_in_which_every_cell_fails_says_so(make, tmp_path):
    sweep = make(function="sample_cells:stubborn")
    dataset = sweeps.run(sweep, tmp_path / "store", throw=False)
    assert (dataset["cell_status"] == 2).all()
    assert list(dataset.data_vars) == ["cell_status"]
    found = sweeps.status(tmp_path / "store")
    assert (found.cells, found.done, found.failed) == (30, 0, 30)
    assert "ArithmeticError: never" in str(found)


def test_a_fault_of_the_code_stops_the_sweep(make):
    with pytest.raises(sweeps.CellFunctionError, match="`sample_cells:faulty` raised KeyError: 'missing'"):
        sweeps.run(make(function="sample_cells:faulty"))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("scalar", r"returns 'value': it must have one entry per cell in front: got shape \(\) for 4 cells"),
        ("name", r"returns 'a/b': variables must have Python names"),
        ("memory", r"ran out of memory on a block of 4 cells: 3 TB.* Give the sweep a smaller `block`"),
        ("text", r"returns 'value': it must be numbers: got <U1"),
        ("array", r"must return a dict of arrays: got ndarray"),
        ("dims", r"returns 'value': it names the further dimensions \('time', 'mode'\) for shape \(4, 3\)"),
        ("coordinate", r"returns `x`, which is the name of a coordinate"),
        (
            "shape",
            r"must return the same variables, shapes and types for all blocks: value: .*\[1\], .<f8.\] in the store",
        ),
        ("status", r"returns 'cell_status': that is the name of the state of each cell"),
    ],
)
def test_results_that_are_not_a_block_of_cells_are_refused(make, tmp_path, kind, message):
    sweep = make(function="sample_cells:wrong", fixed={"kind": kind})
    with pytest.raises(sweeps.CellFunctionError, match=message):
        sweeps.run(sweep)
    with pytest.raises(sweeps.CellFunctionError, match=message):
        sweeps.run(sweep, tmp_path / "store")


def test_the_size_of_blocks_does_not_change_results(make, assert_same):
    reference = sweeps.run(make())
    for block in (1, 7, 1000):
        assert_same(sweeps.run(make(block=block)), reference)


def test_keeping_stores_sweeps_that_name_no_store(make, assert_same, tmp_path):
    log = tmp_path / "log"
    sweep = make(fixed={"log": str(log)})
    with sweeps.keeping(tmp_path / "kept"):
        first = sweeps.run(sweep)
        calls = len(log.read_text().splitlines())
        assert_same(sweeps.run(sweep), first)
        assert len(log.read_text().splitlines()) == calls == 10
        sweeps.run(make(seed=1))  # another configuration: beside the first one
    assert len(list((tmp_path / "kept").iterdir())) == 2
    sweeps.run(sweep)
    assert len(log.read_text().splitlines()) == 2 * calls


def masked_cells(points, seeds):
    return {"value": np.ma.masked_array([1.0] * len(seeds), mask=[True] * len(seeds))}


def test_a_mask_is_refused_rather_than_lost():
    sweep = sweeps.Sweep(name="masked", function=masked_cells, axes={"x": [1, 2]})
    with pytest.raises(sweeps.SweepError, match="whose mask a store does not keep"):
        sweeps.run(sweep)


@pytest.mark.parametrize("failures", [["diverged"], {"0": "no"}, {7: "no"}, {-1: "no"}, "no", None])
def test_failures_that_are_no_map_of_positions_are_refused(make, monkeypatch, failures):
    import sample_cells

    def odd(points, seeds):
        return {"value": points["x"] * 1.0, "failures": failures}

    monkeypatch.setattr(sample_cells, "odd", odd, raising=False)
    with pytest.raises(sweeps.CellFunctionError, match="`failures` of `sample_cells:odd` must map positions of cells"):
        sweeps.run(make(function="sample_cells:odd"))
