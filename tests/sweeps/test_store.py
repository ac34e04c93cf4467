"""A store under ill treatment: each ends in a clear message, with finished cells intact."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from linnet import sweeps
from linnet.sweeps._ledger import Ledger


@pytest.fixture
def finished(make, tmp_path):
    """A finished sweep and its store."""
    sweep, path = make(), tmp_path / "store"
    sweeps.run(sweep, path)
    return sweep, path


def contents(path: Path) -> dict[str, bytes]:
    """Every array's files of a store, by name."""
    files = (file for file in path.rglob("*") if file.is_file() and file.parent != path)
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_a_changed_configuration_is_refused_with_the_difference(finished, make):
    _, path = finished
    before = contents(path)
    with pytest.raises(
        sweeps.ChangedError, match=r"seeds: 2 in the store, 3 now; fixed.pause: absent in the store, 0.1 now"
    ):
        sweeps.run(make(seeds=3, fixed={"pause": 0.1}), path)
    with pytest.raises(sweeps.ChangedError, match=r"axes.y: \[0.5, 1.5, 2.5\] in the store, \[0.5, 1.5\] now"):
        sweeps.run(make(axes={"x": [0, 1, 2, 3, 4], "y": [0.5, 1.5]}), path)
    with pytest.raises(sweeps.ChangedError, match="block: 4 in the store, 5 now"):
        sweeps.run(make(block=5), path)
    assert contents(path) == before


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


def test_a_truncated_chunk_is_found_told_and_computed_again(finished, assert_same):
    sweep, path = finished
    whole = xr.open_zarr(path).load()
    before = contents(path)
    chunk = path / "path" / "c" / "2" / "1" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-7])
    told = r"1 finished blocks of .* are damaged, the first from .*'x': 2.*path/c/2/1/0/0 has .* The other 9 are intact"
    with pytest.raises(sweeps.StoreError, match=told):
        sweeps.run(sweep, path)
    assert {name for name, data in contents(path).items() if data != before[name]} == {"path/c/2/1/0/0"}
    assert sweeps.complete(sweep, path, retry_failed=True).computed == 2  # blocks are 1 x 2 x 2, and y has three values
    assert_same(sweeps.run(sweep, path), whole)
    assert contents(path) == before


def test_a_missing_chunk_and_a_changed_byte_are_found(finished):
    sweep, path = finished
    chunk = path / "value" / "c" / "0" / "0" / "0"
    original = chunk.read_bytes()
    chunk.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    with pytest.raises(sweeps.StoreError, match=r"1 finished blocks of .* are damaged"):
        sweeps.run(sweep, path)
    chunk.unlink()
    with pytest.raises(sweeps.StoreError, match=r"value/c/0/0/0 is missing"):
        sweeps.run(sweep, path)
    chunk.write_bytes(original)
    assert sweeps.complete(sweep, path).computed == 0


def test_damaged_coordinates_and_metadata_are_written_anew(finished, assert_same):
    sweep, path = finished
    whole = xr.open_zarr(path).load()
    (path / "x" / "c" / "0").write_bytes(b"")
    (path / "y" / "zarr.json").write_text('{"shape": [')
    (path / "zarr.json").unlink()
    assert_same(sweeps.run(sweep, path), whole)
    assert_same(xr.open_zarr(path).load(), whole)


def test_foreign_files_are_left_alone(make, tmp_path):
    sweep = make()
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"notes.txt is a file, not the folder of a store"):
        sweeps.run(sweep, file)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"folder is not a store of linnet: it holds thesis.tex and no ledger"):
        sweeps.run(sweep, folder)
    assert [entry.name for entry in folder.iterdir()] == ["thesis.tex"]
    other = tmp_path / "other.zarr"
    xr.Dataset({"value": ("x", [1.0])}).to_zarr(other, consolidated=False)
    with pytest.raises(sweeps.StoreError, match=r"other.zarr is not a store of linnet: it holds .*value"):
        sweeps.run(sweep, other)
    assert xr.open_zarr(other, consolidated=False)["value"].values.tolist() == [1.0]


def test_a_foreign_or_damaged_ledger_is_refused(finished, make, tmp_path):
    sweep, path = finished
    ledger = path / "ledger.sqlite"
    ledger.write_bytes(b"not a database at all, but long enough to be read as one" * 20)
    with pytest.raises(sweeps.StoreError, match=r"the ledger of .* is damaged: file is not a database"):
        sweeps.run(sweep, path)
    ledger.unlink()
    with sqlite3.connect(ledger) as database:
        database.execute("create table recipes (name text)")
    database.close()
    with pytest.raises(sweeps.StoreError, match=r"ledger.sqlite is not a ledger of linnet"):
        sweeps.run(sweep, path)
    ledger.unlink()
    with pytest.raises(sweeps.StoreError, match=r"is not a store of linnet: it holds .* and no ledger"):
        sweeps.run(sweep, path)


def test_a_store_of_a_newer_schema_is_refused(finished):
    sweep, path = finished
    before = contents(path)
    with sqlite3.connect(path / "ledger.sqlite") as database:
        database.execute("pragma user_version = 3")
    database.close()
    with pytest.raises(
        sweeps.StoreError, match=r"written by a newer linnet \(store schema 3, this version reads up to 2\)"
    ):
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
        [sys.executable, "-c", UNPRIVILEGED, make().model_dump_json(), str(tmp_path / "closed" / "store")],
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
import sample_cells, zarr
from linnet import sweeps
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    sweeps.complete(sweeps.Sweep(**json.loads(sys.argv[1])), sys.argv[2])
except sweeps.StoreError as error:
    sys.exit(f"StoreError: {error}")
"""


def test_a_store_that_died_before_its_first_block_is_resumed(make, assert_same, tmp_path):
    sweep, path = make(), tmp_path / "store"
    path.mkdir()
    (path / "lock.json").touch()  # killed between the lock and the ledger
    assert_same(sweeps.run(sweep, path), sweeps.run(sweep))
    shutil.rmtree(path / "value")  # killed while arrays were made; no block is finished
    book = Ledger(path)
    assert book.exists()
    book.forget(book.finished())
    book.close()
    (path / "count" / "c" / "0.5f.partial").write_text("half")
    assert_same(sweeps.run(sweep, path), sweeps.run(sweep))
    assert not list(path.rglob("*.partial"))


def test_an_emptied_ledger_does_not_hand_results_to_another_sweep(finished, make, assert_same):
    sweep, path = finished
    whole, before, ledger = sweeps.run(sweep, path), contents(path), path / "ledger.sqlite"
    kept = ledger.read_bytes()
    ledger.write_bytes(b"")
    for other in (make(seeds=3), make(name="other", fixed={"pause": 0.0}), sweep):
        for resume in (False, True):
            with pytest.raises(sweeps.StoreError, match=r"the ledger of .*store is empty but the folder holds results"):
                sweeps.run(other, path, resume=resume)
    assert contents(path) == before
    ledger.write_bytes(kept)
    assert_same(sweeps.run(sweep, path), whole)


@pytest.mark.parametrize("when", ["Ledger.create", "Arrays.prepare", "Ledger.begin", "Arrays.describe"])
def test_a_start_that_is_killed_at_any_point_can_be_continued(make, assert_same, tmp_path, monkeypatch, when):
    """An empty ledger is that of a new store as long as nothing else was written."""
    from linnet.sweeps import _arrays as arrays
    from linnet.sweeps import _ledger as ledger

    owner, method = when.split(".")
    target = {"Ledger": ledger.Ledger, "Arrays": arrays.Arrays}[owner]

    def dying(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(target, method, dying)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        sweeps.run(make(), tmp_path / "store")
    monkeypatch.undo()
    assert (tmp_path / "store" / "ledger.sqlite").exists()
    assert_same(sweeps.run(make(), tmp_path / "store"), sweeps.run(make()))


def test_half_a_block_is_not_taken_for_a_finished_one(make, assert_same, tmp_path, monkeypatch):
    """The process ends between the chunks and the ledger: the block is there, but not finished."""
    sweep, path, commit, told = make(), tmp_path / "store", Ledger.commit, []

    def dying(self, block, *arguments, **keywords):
        if block == 3:
            raise KeyboardInterrupt
        told.append(block)
        commit(self, block, *arguments, **keywords)

    monkeypatch.setattr(Ledger, "commit", dying)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        sweeps.run(sweep, path)
    monkeypatch.undo()
    assert told == [0, 1, 2]
    assert sweeps.complete(sweep, path).computed == 30 - (4 + 2 + 4)
    assert_same(sweeps.run(sweep, path), sweeps.run(sweep))


FULL_DISK = Path(__file__).with_name("full_disk.py")


def test_a_full_disk_and_a_read_only_one_leave_finished_cells_intact(tmp_path):
    """On a tmpfs of 1 MB in a mount namespace of its own: works for root, and for users where namespaces are
    allowed."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to mount a small disk")
    for namespace in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        mount = f'mount -t tmpfs -o size=1m tmpfs "{tmp_path}"'
        if subprocess.run(["unshare", *namespace, "sh", "-c", mount], capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("mounting a small disk is not permitted here")
    command = f'{mount} && exec "{sys.executable}" "{FULL_DISK}" "{tmp_path}"'
    ran = subprocess.run(["unshare", *namespace, "sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    full, left, read_only, resumed = ran.stdout.strip().splitlines()
    assert "is full. Finished cells are intact: make room and resume." in full
    assert left == "some cells finished, all of them right"
    assert "cannot write to" in read_only and "Read-only file system" in read_only
    assert resumed == "resumed without recomputing, equal to an uninterrupted sweep"


@pytest.mark.parametrize("changed", ['"little"|"big"', '"float64"|"int64"', '"level": 1|"level": "x"', "{|", "all|"])
def test_damaged_metadata_of_an_array_is_mended_and_no_number_changes(finished, assert_same, changed):
    """With another byte order, sound chunks would be read as other numbers."""
    sweep, path = finished
    before = sweeps.run(sweep, path)
    document = path / "value" / "zarr.json"
    sound, (old, new) = document.read_text(), changed.split("|")
    damaged = "" if old == "all" else sound.replace(old, new, 1)
    assert damaged != sound
    document.write_text(damaged)
    assert_same(sweeps.run(sweep, path), before)
    assert document.read_text() == sound
    assert_same(xr.open_zarr(path).load(), before)
