"""A store under ill treatment: each ends in a clear message, with finished cells intact."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from linnet import sweeps
from linnet.sweeps._store import Store
from linnet.sweeps._task import Task


@pytest.fixture
def finished(make, tmp_path):
    """A finished sweep and its store."""
    sweep, path = make(), tmp_path / "store"
    sweeps.run(sweep, path)
    return sweep, path


def test_a_block_is_a_plain_file_of_numpy_and_equal_sweeps_give_equal_bytes(finished, contents, tmp_path):
    sweep, path = finished
    cells = np.load(path / "0000003.npz")["cells"]
    assert cells["path"].shape == (2, 3) and cells["cell_status"].tolist() == [1, 1]
    sweeps.run(sweep, tmp_path / "again", workers=2)
    assert contents(tmp_path / "again") == contents(path)
    assert max(map(len, contents(path).values())) < 1400


def test_large_blocks_are_not_compressed_and_read_the_same(make, tmp_path):
    fixed = {"length": 200_000}
    sweep = make(function="sample_cells:wide", axes={"x": [1.0, 2.0]}, seeds=1, fixed=fixed, block=1)
    sweeps.run(sweep, tmp_path / "store")
    assert (tmp_path / "store" / "0000001.npz").stat().st_size > 1_600_000
    found = sweeps.open(tmp_path / "store")["value"]
    assert found.shape == (2, 200_000) and (found[0] == 1.0).all() and (found[1] == 2.0).all()


def test_a_changed_configuration_is_refused_with_the_difference(finished, make, contents):
    _, path = finished
    before = contents(path)
    with pytest.raises(
        sweeps.ChangedError, match=r"seeds: 2 in the store, 3 now; fixed.pause: absent in the store, 0.1 now"
    ):
        sweeps.run(make(seeds=3, fixed={"pause": 0.1}), path)
    with pytest.raises(sweeps.ChangedError, match=r"axes.y: \[0.5, 1.5, 2.5\] in the store, \[0.5, 1.5\] now"):
        sweeps.run(make(axes={"x": [0, 1, 2, 3, 4], "y": [0.5, 1.5]}), path)
    with pytest.raises(sweeps.ChangedError, match=r"block: 4 in the store, 5 now\)\..* another folder\.$"):
        sweeps.run(make(block=5), path)
    assert contents(path) == before


def test_a_store_without_results_may_be_removed(make, tmp_path):
    with pytest.raises(sweeps.CellFunctionError, match="KeyError"):
        sweeps.run(make(function="sample_cells:faulty"), tmp_path / "store")
    with pytest.raises(sweeps.ChangedError, match=r"function: .* It holds no finished cell, so you may remove it."):
        sweeps.run(make(), tmp_path / "store")


def test_infinities_in_a_configuration_are_kept_apart(make, tmp_path):
    sweeps.run(make(fixed={"pause": 0.0, "log": ""}, function="sample_cells:draws"), tmp_path / "store")
    with pytest.raises(sweeps.ChangedError, match=r"fixed.pause: 0.0 in the store, -inf now"):
        sweeps.run(make(fixed={"pause": -np.inf, "log": ""}), tmp_path / "store")


def test_one_changed_value_among_many_is_shown(make, tmp_path):
    sweeps.run(make(axes={"x": list(range(9)), "y": [0.5]}), tmp_path / "store")
    values = [0, 1, 2, 33, 4, 55, 6, 7, 8]
    with pytest.raises(
        sweeps.ChangedError, match=r"axes.x\[3\]: 3 in the store, 33 now \(and 1 more of its 9 values\)"
    ):
        sweeps.run(make(axes={"x": values, "y": [0.5]}), tmp_path / "store")


def test_an_existing_store_is_continued_only_on_request(finished):
    sweep, path = finished
    with pytest.raises(sweeps.StoreError, match=r"already holds this sweep, 10 of its blocks finished. Resume it"):
        sweeps.run(sweep, path, resume=False)
    (path / "0000000.npz").unlink()
    (path / "0000003.npz").unlink()
    sweeps.run(sweep, path, resume=False, part=(1, 30))  # nothing of this part is there
    assert (path / "0000000.npz").exists() and not (path / "0000003.npz").exists()


def test_code_that_changed_is_refused_by_name_and_told_afterwards(tmp_path, make, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine_changing.py").write_text(
        "from helper_changing import f\ndef cells(points, seeds): return {'v': f(points['x'])}\n"
    )
    (tmp_path / "helper_changing.py").write_text("def f(x): return 1.0 * x\n")
    sweep = make(function="mine_changing:cells", axes={"x": [1, 2, 3, 4]}, seeds=1, block=2)
    sweeps.run(sweep, tmp_path / "store", part=(1, 2))
    (tmp_path / "helper_changing.py").write_text("def f(x): return 2.0 * x  # changed\n")
    for name in ("mine_changing", "helper_changing"):
        del sys.modules[name]
    with pytest.raises(
        sweeps.ChangedError, match=r"begun by other code \(helper_changing.py: '\w+' in the store, '\w+' now"
    ):
        sweeps.run(sweep, tmp_path / "store", part=(2, 2))
    assert sweeps.status(tmp_path / "store").done == 2
    with pytest.warns(UserWarning, match="1 blocks were computed by other code than the first"):
        found = sweeps.run(sweep, tmp_path / "store", part=(2, 2), changed_code=True)
    assert found["v"].values.tolist() == [1.0, 2.0, 6.0, 8.0]


def test_parts_that_return_other_shapes_are_found_before_they_are_written(make, tmp_path):
    """The first block of all processes settles the variables, also against one that has begun before it was there."""
    sweep = make(function="sample_cells:grows", fixed={"length": 3})
    sweeps.run(sweep, tmp_path / "store", part=(1, 10))
    late = Store.existing(tmp_path / "store")
    (tmp_path / "store" / "variables.json").rename(tmp_path / "kept")
    (tmp_path / "store" / "0000000.npz").rename(tmp_path / "block")
    assert late.variables == {}  # as it was for a process that looked before
    (tmp_path / "kept").rename(tmp_path / "store" / "variables.json")
    other = make(function="sample_cells:grows", fixed={"length": 4})
    block = Task.of(other)(*late.grid.arguments(1))
    with pytest.raises(
        sweeps.CellFunctionError, match=r"same variables, shapes and types .*\[3\], '<f8'\] in the store"
    ):
        late.write((1, None), block)
    assert not (tmp_path / "store" / "0000001.npz").exists()


def test_foreign_files_are_left_alone(make, tmp_path):
    sweep = make()
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"notes.txt is a file, not the folder of a store"):
        sweeps.run(sweep, file)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"not a store of linnet: it holds thesis.tex and no manifest.json"):
        sweeps.run(sweep, folder)
    assert [entry.name for entry in folder.iterdir()] == ["thesis.tex"]
    for nothing in (tmp_path / "absent", folder):
        with pytest.raises(sweeps.StoreError, match="is not a store of linnet: it "):
            sweeps.open(nothing)


def test_a_store_of_linnet_03_is_met_with_the_steps_of_the_guide(make, tmp_path):
    (tmp_path / "old").mkdir()
    for name in ("ledger.sqlite", "zarr.json", "lock.json"):
        (tmp_path / "old" / name).touch()
    steps = rf"{tmp_path}/old is a store of linnet 0.3 or older.* --resume` finishes it, and `python -c .*to_netcdf"
    for use in (lambda path: sweeps.run(make(), path), sweeps.open, sweeps.status):
        with pytest.raises(sweeps.StoreError, match=steps) as refused:
            use(tmp_path / "old")
    guide = (Path(__file__).parents[2] / "docs" / "howto" / "old_stores.md").read_text()
    for command in re.findall(r"`([^`]*)`", str(refused.value)):
        assert command.replace(str(tmp_path / "old"), "grid.zarr").replace("GRID", "grid") in guide


def test_a_store_of_a_newer_format_is_refused(finished, contents, monkeypatch):
    sweep, path = finished
    before = contents(path)
    monkeypatch.setattr("linnet.sweeps._store.FORMAT", 0)
    with pytest.raises(sweeps.StoreError, match=r"written by a newer linnet \(format 1, this version reads 0\)"):
        sweeps.run(sweep, path)
    assert contents(path) == before


def test_a_path_that_cannot_be_a_folder_is_refused(make, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"cannot write to .*file/store: Not a directory"):
        sweeps.run(make(), tmp_path / "file" / "store")


def test_a_folder_without_permission_is_refused(make, tmp_path):
    """Root may write anywhere, so the child process stops being root once it has imported what it needs."""
    (tmp_path / "closed").mkdir(mode=0o555)
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            UNPRIVILEGED,
            make().model_dump_json(),
            str(tmp_path / "closed" / "store"),
            str(tmp_path / "warm"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 1
    assert ran.stderr.strip().endswith("store: Permission denied. Choose a folder that can be written to.")
    assert "StoreError: cannot write to" in ran.stderr
    assert list((tmp_path / "closed").iterdir()) == []


UNPRIVILEGED = """
import json, os, sys
import email.policy, sample_cells
from linnet import sweeps
sweep = sweeps.Sweep(**json.loads(sys.argv[1]))
sweeps.run(sweep, sys.argv[3])
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    sweeps.run(sweep, sys.argv[2])
except sweeps.StoreError as error:
    sys.exit(f"StoreError: {error}")
"""


def test_drafts_of_dead_processes_go_and_those_of_living_ones_stay(finished):
    sweep, path = finished
    for name, age in (("old", 4000), ("new", 10)):
        (path / f"{name}.partial").touch()
        os.utime(path / f"{name}.partial", (time.time() - age,) * 2)
    sweeps.run(sweep, path)
    assert [file.name for file in path.glob("*.partial")] == ["new.partial"]


def test_results_are_not_handed_to_another_sweep_nor_overwritten_by_it(finished, make, contents):
    sweep, path = finished
    whole = contents(path)
    (path / "manifest.json").unlink()
    before = contents(path)
    with pytest.raises(
        sweeps.StoreError, match=r"holds blocks and no manifest.json, and none of them is .* of this swe"
    ):
        sweeps.run(make(seeds=3), path)
    assert contents(path) == before
    sweeps.run(sweep, path)
    assert contents(path) == whole


def test_a_block_that_appears_meanwhile_is_not_computed_again(make, tmp_path, assert_same):
    """Two processes on one store: the second one writes everything while the first is in its first block."""
    sweep, path, write = make(), tmp_path / "store", Store.write
    written: list[object] = []

    def slow(self, job, block):
        if not written:
            written.append(job)
            sweeps.run(sweep, path)
        written.append(job)
        write(self, job, block)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "write", slow)
        found = sweeps.run(sweep, path)
    assert len(written) == 12  # the first block twice, by both
    assert_same(found, sweeps.run(sweep))


FULL_DISK = Path(__file__).with_name("full_disk.py")


def test_a_full_disk_and_a_read_only_one_leave_finished_cells_intact(tmp_path):
    """On a tmpfs of 1 MB in a mount namespace of its own: works for root, and for users where namespaces are
    allowed."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a small disk")
    for namespace in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        mount = f'mount -t tmpfs -o size=128k tmpfs "{tmp_path}"'
        if subprocess.run(["unshare", *namespace, "sh", "-c", mount], capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("mounting a small disk is not permitted here")
    command = f'{mount} && exec "{sys.executable}" "{FULL_DISK}" "{tmp_path}"'
    ran = subprocess.run(["unshare", *namespace, "sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    full, left, read_only, resumed = ran.stdout.strip().splitlines()
    assert "is full. Finished cells are intact: make room and resume." in full
    assert left == "some cells finished, all of them right, no draft left"
    assert "cannot write to" in read_only and "Read-only file system" in read_only
    assert resumed == "resumed without recomputing, equal to an uninterrupted sweep"
