"""`linnet sweep`: what it says and how it exits."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from command_line import called
from linnet import sweeps

TOML = """
name = "picky"
function = "beside:cells"
dtype = "none"
[axes]
x = [0, 1, 2, 3]
[fixed]
worst = {worst}
"""
FUNCTION = """
def cells(points, seeds, worst):
    if (points["x"] >= worst).any():
        raise ArithmeticError("too much")
    return {"value": 2.0 * points["x"]}
"""

CODE = ("--code", "beside")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with its function in a file beside it."""
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    (tmp_path / "beside.py").write_text(FUNCTION)
    path = tmp_path / "picky.toml"
    path.write_text(TOML.format(worst=9))
    return path


@pytest.fixture
def linnet(capsys: pytest.CaptureFixture[str]):
    """Runs the command; returns its status, standard output and standard error."""
    return partial(called, capsys)


def test_a_sweep_ends_with_one_line_and_is_silent_before(linnet, config, tmp_path):
    store = tmp_path / "store"
    whole = f"picky: 4 of 4 cells done; results in {store}\n"
    assert linnet("sweep", config, *CODE, "--store", store) == (0, whole, "")
    assert sweeps.open(store)["value"].values.tolist() == [0.0, 2.0, 4.0, 6.0]
    status, out, err = linnet("sweep", config, *CODE, "--store", store)
    assert (status, out) == (1, "")
    assert "already holds this sweep, 1 of its blocks finished. Resume it (--resume" in err
    assert linnet("sweep", config, *CODE, "--store", store, "--resume") == (0, whole, "")
    assert linnet("sweep", "--store", store) == (0, whole, "")


def test_parts_need_no_resume_and_say_how_far_all_is(linnet, config, tmp_path):
    config.write_text(TOML.format(worst=9).replace("[axes]", "block = 1\n[axes]"))
    store = tmp_path / "store"
    for part, done in (("2/2", 2), ("1/2", 4)):
        status, out, err = linnet("sweep", config, *CODE, "--store", store, "--part", part)
        assert (status, out, err) == (0, f"picky: {done} of 4 cells done; results in {store}\n", "")
    for part in ("0/2", "3/2", "two", "1/0"):
        status, _, err = linnet("sweep", config, *CODE, "--store", store, "--part", part)
        assert status == 2 and "--part takes I/N with I from 1 to N, such as 3/40" in err


def test_failed_cells_are_told_and_make_the_status_non_zero(linnet, config, tmp_path):
    config.write_text(TOML.format(worst=2))
    store = tmp_path / "store"
    for more in ((), ("--resume",), ("--resume", "--retry-failed")):
        status, out, err = linnet("sweep", config, *CODE, "--store", store, *more)
        assert (status, out) == (1, "")
        assert "picky: 2 of 4 cells done, 2 failed (e.g. x=2: ArithmeticError: too much)" in err
        assert "compute failed cells again with --resume --retry-failed" in err


def test_wrong_calls_are_refused_in_one_line(linnet, config, tmp_path):
    store = tmp_path / "store"
    status, _, err = linnet(
        "sweep", config, *CODE, "--store", store, "--workers", 2, "--scheduler", "tcp://127.0.0.1:9"
    )
    assert status == 2
    assert "--workers and --scheduler exclude each other" in err
    status, _, err = linnet("sweep", config, *CODE, "--store", store, "--retry-failed")
    assert status == 2
    assert "--retry-failed and --changed-code continue a store: they need --resume" in err
    config.write_text(TOML.format(worst=2).replace("[fixed]", "[fixde]"))
    status, _, err = linnet("sweep", config, *CODE, "--store", store)
    assert status == 1
    assert err.count("\n") == 1
    assert "picky.toml: `fixde` is not a field; did you mean fixed?" in err
    assert not store.exists()


def test_code_that_changed_is_refused_until_it_is_allowed(linnet, config, tmp_path, monkeypatch):
    config.write_text(TOML.format(worst=2).replace("[axes]", "block = 1\n[axes]"))
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert status == 1 and "2 failed" in err and "other code" not in err
    (tmp_path / "beside.py").write_text(FUNCTION.replace("worst).any()", "worst + 5).any()"))
    monkeypatch.delitem(sys.modules, "beside")
    again = ("sweep", config, *CODE, "--store", tmp_path / "store", "--resume", "--retry-failed")
    status, _, err = linnet(*again)
    assert status == 1 and "was begun by other code (beside.py: " in err and err.count("\n") == 1
    status, out, err = linnet(*again, "--changed-code")
    assert status == 0, err
    assert "picky: 4 of 4 cells done; 2 blocks were computed by other code than the first; results in" in out


def test_a_reason_of_two_lines_is_told_in_one(linnet, config, tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text(FUNCTION.replace("too much", "too\\nmuch"))
    config.write_text(TOML.format(worst=3))
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert status == 1 and err.count("\n") == 1 and "ArithmeticError: too much" in err


def test_the_folder_of_a_grid_is_imported_from_with_leave_alone_and_last(linnet, config, tmp_path, monkeypatch):
    """So that no file beside it stands in for a package, installed or not; tried as a whole in test_names.py."""
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", list(before))
    assert linnet("sweep", config, "--store", tmp_path / "store")[0] == 1
    assert sys.path == before
    assert linnet("sweep", config, *CODE, "--store", tmp_path / "store")[0] == 0
    assert sys.path == [*before, str(tmp_path.resolve())]


def test_what_is_no_store_is_told(linnet, tmp_path):
    status, out, err = linnet("sweep", "--store", tmp_path / "nothing")
    assert (status, out) == (1, "") and "nothing is not a store of linnet: it has no manifest.json" in err
    assert linnet("sweep")[0] == 2
