"""Every file of a store, spoilt in every way: a run ends in the right numbers or in one line, never in others."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linnet import sweeps

# What becomes of a file's bytes; None makes it a folder.
WAYS: dict[str, Callable[[bytes, np.random.Generator], bytes | None]] = {
    "cut in half": lambda data, rng: data[: len(data) // 2],
    "less its last byte": lambda data, rng: data[:-1],
    "emptied": lambda data, rng: b"",
    "zeroed": lambda data, rng: bytes(len(data)),
    "random bytes": lambda data, rng: rng.bytes(len(data)),
    "longer": lambda data, rng: data + b"more",
    "a folder": lambda data, rng: None,
}
FILES = {
    "chunk": "value/c/0/0/0",
    "chunk of paths": "path/c/1/0/0/0",
    "status": "cell_status/c/0/0/0",
    "coordinate": "y/c/0",
    "metadata": "value/zarr.json",
    "metadata of a coordinate": "y/zarr.json",
    "group": "zarr.json",
    "ledger": "ledger.sqlite",
    "lock": "lock.json",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[sweeps.Sweep, Path]:
    """A finished sweep of 8 cells in two blocks, and its store."""
    path = tmp_path_factory.mktemp("sound") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        axes = {"x": [0, 1], "y": [0.5, 1.5]}
        sweep = sweeps.Sweep(name="draws", function="sample_cells:draws", axes=axes, seeds=2, block=4, dtype=None)
        sweeps.run(sweep, path)
    return sweep, path


def outcome(sweep: sweeps.Sweep, path: Path, **options: bool) -> str:
    """What a run says in refusing the store; empty where it ends in the right numbers."""
    said = ""
    try:
        found = sweeps.run(sweep, path, **options)
    except sweeps.StoreError as refused:
        said = str(refused)
    if said:
        assert "\n" not in said and str(path) in said
        return said
    whole = sweeps.run(sweep)
    assert set(found.variables) == set(whole.variables)
    for name in whole.variables:
        assert found[name].values.tobytes() == whole[name].values.tobytes(), name
    return ""


def spoilt(sound: Path, folder: Path, name: str, content: bytes | None) -> Path:
    """A copy of the store with other content of one file."""
    path = folder / "store"
    shutil.copytree(sound, path)
    (path / name).unlink()
    if content is None:
        (path / name).mkdir()
    else:
        (path / name).write_bytes(content)
    return path


@pytest.mark.parametrize(
    "way",
    ["cut in half", "a bit flipped", "a folder"]
    + [
        pytest.param(way, marks=pytest.mark.slow)
        for way in [*WAYS, "another file's"]
        if way not in ("cut in half", "a folder")
    ],
)
@pytest.mark.parametrize("file", FILES)
def test_a_spoilt_file_is_mended_or_told(sound, tmp_path: Path, file: str, way: str) -> None:
    sweep, original = sound
    name = FILES[file]
    data, rng = (original / name).read_bytes(), np.random.default_rng(0)
    content: bytes | None
    if way == "another file's":
        content = (original / ("count/c/0/0/0" if file != "coordinate" else "x/c/0")).read_bytes()
    elif way == "a bit flipped":
        content = data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 4]) + data[len(data) // 3 + 1 :]
    else:
        content = WAYS[way](data, rng)
    path = spoilt(original, tmp_path, name, content)
    said = outcome(sweep, path)
    if way == "a folder":
        assert f"{name} is a folder where a file of the store belongs" in said
        return
    if file in ("chunk", "chunk of paths", "status"):
        assert f"{name} has " in said and "Resume with --retry-failed" in said
        assert outcome(sweep, path, retry_failed=True) == ""
        assert (path / name).read_bytes() == data
    elif file == "ledger":
        harmless = way in ("longer", "a bit flipped")  # SQLite reads as many pages as it knows of
        assert "the ledger of" in said or harmless
    else:
        assert said == ""


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("settings", "update settings set value = replace(value, '0.5', '0.7') where name = 'configuration'"),
        ("settings", "update settings set value = replace(value, 'little', 'big')"),
        ("settings", "delete from settings where name = 'tile'"),
        ("settings", "delete from settings where name = 'checksum'"),
        ("variables", "update variables set name = 'valuf' where name = 'value'"),
        ("variables", "update variables set dtype = 'float32' where name = 'value'"),
        ("blocks", "update blocks set number = 17 where number = 1"),
        ("chunks", "update chunks set hash = 'x'"),
        ("chunks", "delete from chunks where variable = 'value'"),
        ("failures", "insert into failures values (0, 0, 99, 'kind', 'message')"),
        ("sessions", "update sessions set version = x'ff'"),
    ],
)
def test_changed_rows_of_a_ledger_are_told(sound, tmp_path: Path, table: str, change: str) -> None:
    """With the name of a variable changed, for one, its numbers would come back as NaN."""
    sweep, original = sound
    path = spoilt(original, tmp_path, "lock.json", b"")
    with sqlite3.connect(path / "ledger.sqlite") as database:
        assert database.execute(change).rowcount > 0
    database.close()
    assert "the ledger of" in (said := outcome(sweep, path)) and "is damaged" in said


def test_a_ledger_without_checksum_of_the_version_before_is_continued(sound, tmp_path: Path) -> None:
    sweep, original = sound
    path = spoilt(original, tmp_path, "lock.json", b"")
    with sqlite3.connect(path / "ledger.sqlite") as database:
        database.execute("delete from settings where name = 'checksum'")
        database.execute("pragma user_version = 1")
    database.close()
    assert outcome(sweep, path) == ""
    with sqlite3.connect(path / "ledger.sqlite") as database:
        assert database.execute("pragma user_version").fetchone() == (2,)
        database.execute("delete from blocks")
    database.close()
    assert "is damaged" in outcome(sweep, path)


@pytest.mark.slow
def test_no_flipped_bit_of_a_ledger_changes_a_number(sound, tmp_path: Path) -> None:
    sweep, original = sound
    data, rng = (original / "ledger.sqlite").read_bytes(), np.random.default_rng(1)
    used = np.flatnonzero(np.frombuffer(data, np.uint8))  # most of a page is empty
    for number, place in enumerate(rng.choice(used, 60, replace=False)):
        flipped = data[:place] + bytes([data[place] ^ 1 << int(rng.integers(8))]) + data[place + 1 :]
        path = spoilt(original, tmp_path / str(number), "ledger.sqlite", flipped)
        outcome(sweep, path)
        shutil.rmtree(path)
