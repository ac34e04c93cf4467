"""Every file of a store, spoilt in every way: a run ends in the right numbers, reading in them or in one line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from linnet import sweeps
from linnet.sweeps._store import Store

# What becomes of a file's bytes; None makes it a folder.
WAYS: dict[str, Callable[[bytes, np.random.Generator], bytes | None]] = {
    "cut in half": lambda data, rng: data[: len(data) // 2],
    "less its last byte": lambda data, rng: data[:-1],
    "emptied": lambda data, rng: b"",
    "zeroed": lambda data, rng: bytes(len(data)),
    "random bytes": lambda data, rng: rng.bytes(len(data)),
    "longer": lambda data, rng: data + b"more",
    "removed": lambda data, rng: b"gone",
    "a folder": lambda data, rng: None,
}
FILES = ("0000001.npz", "manifest.json", "variables.json")


@pytest.fixture
def sound(make, tmp_path: Path) -> tuple[sweeps.Sweep, Path, xr.Dataset]:
    """A finished sweep of 8 cells in two blocks, its store, and what it holds."""
    sweep = make(axes={"x": [0, 1], "y": [0.5, 1.5]})
    sweeps.run(sweep, tmp_path / "store")
    return sweep, tmp_path / "store", sweeps.run(sweep)


def spoil(path: Path, content: bytes | None) -> None:
    """Replaces a file."""
    path.unlink()
    if content is None:
        path.mkdir()
    elif content != b"gone":
        path.write_bytes(content)


def equal(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two datasets are equal bit for bit."""
    assert set(one.variables) == set(other.variables)
    return all(one[name].values.tobytes() == other[name].values.tobytes() for name in one.variables)


def refused(error: Exception, path: Path) -> None:
    """Check that an error is one line that names the store."""
    if "\n" in str(error) or str(path) not in str(error):
        raise AssertionError(str(error))


def read(path: Path) -> xr.Dataset | None:
    """What a store holds; None where that is refused in a line that names the file."""
    try:
        return sweeps.open(path).load()
    except sweeps.StoreError as error:
        refused(error, path)
        return None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", FILES)
def test_a_spoilt_file_never_changes_a_number(sound, contents, file, way):
    sweep, path, whole = sound
    before = contents(path)
    spoil(path / file, WAYS[way](before[file], np.random.default_rng(3)))
    found = read(path)
    lost = found is not None and (found["cell_status"] == 0).any()
    assert found is None or equal(found, whole) or (way == "removed" and lost and file == FILES[0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            again = sweeps.run(sweep, path)
        except sweeps.StoreError as error:
            refused(error, path)
            assert way != "removed" and (file != FILES[0] or way == "a folder")
            if (path / file).is_dir():
                (path / file).rmdir()
            else:
                (path / file).unlink()  # as the message says
            again = sweeps.run(sweep, path)
    assert equal(again, whole) and contents(path) == before
    if file == FILES[0] and way != "removed":
        assert "0000001.npz is damaged" in str(told[0].message)


@pytest.mark.parametrize("file", FILES)
def test_every_flipped_byte_is_found(sound, file):
    _, path, whole = sound
    content, chance = (path / file).read_bytes(), np.random.default_rng(0)
    missed = []
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(chance.integers(8))
        (path / file).write_bytes(flipped)
        found = read(path)
        missed += [place] if found is not None and not equal(found, whole) else []
        if file == FILES[0]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                missed += [place] if Store.existing(path).missing(range(2)) != [(1, None)] else []
    assert not missed


def test_a_block_of_another_place_or_sweep_is_not_taken(sound, make, tmp_path):
    sweep, path, whole = sound
    sound_block = (path / "0000001.npz").read_bytes()
    sweeps.run(make(axes={"x": [0, 1], "y": [0.5, 1.5]}, seed=1), tmp_path / "other")
    for other in (path / "0000000.npz", tmp_path / "other" / "0000001.npz"):
        (path / "0000001.npz").write_bytes(other.read_bytes())
        assert read(path) is None
        with pytest.warns(UserWarning, match=r"0000001.npz is damaged \(it belongs to another sweep or another place"):
            assert equal(sweeps.run(sweep, path), whole)
        assert (path / "0000001.npz").read_bytes() == sound_block


def test_damage_is_counted(sound):
    _, path, _ = sound
    (path / "0000001.npz").write_bytes(b"spoilt")
    found = sweeps.status(path)
    assert (found.done, found.damaged) == (4, 1)
    assert str(found) == "draws: 4 of 8 cells done; 1 damaged blocks, which --resume computes again"
