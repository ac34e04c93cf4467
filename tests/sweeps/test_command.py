"""`linnet sweep`: what it says and how it exits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from linnet.cli.main import main

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

    def linnet(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit, match=r"^\d+$") as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return linnet


def test_a_sweep_ends_with_one_line_and_is_silent_before(linnet, config, tmp_path):
    status, out, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert (status, err) == (0, "")
    assert out.startswith("picky: 4 cells; 4 computed now in ")
    assert out.rstrip().endswith(f"all in {tmp_path / 'store'}")
    assert out.count("\n") == 1
    assert xr.open_zarr(tmp_path / "store")["value"].values.tolist() == [0.0, 2.0, 4.0, 6.0]
    status, out, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert (status, out) == (1, "")
    assert "already holds this sweep, 1 of its blocks finished. Resume it (--resume" in err
    status, out, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store", "--resume")
    assert (status, err) == (0, "")
    assert out.startswith("picky: 4 cells; 0 computed now in ")


def test_failed_cells_are_told_and_make_the_status_non_zero(linnet, config, tmp_path):
    config.write_text(TOML.format(worst=2))
    status, out, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert (status, out) == (1, "")
    assert "picky: 4 cells, 2 of them failed (e.g. x=2: ArithmeticError: too much)" in err
    assert "try the failed ones again with --resume --retry-failed" in err
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store", "--resume")
    assert status == 1
    assert "; 0 computed now" in err
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store", "--resume", "--retry-failed")
    assert status == 1
    assert "; 2 computed now" in err


def test_a_scheduler_that_is_none_ends_the_command_in_one_line(config, tmp_path, monkeypatch):
    """As a process, to its very end: Dask has work to do at exit."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "100s")
    command = [sys.executable, "-m", "linnet", "sweep", str(config), *CODE, "--store", str(tmp_path / "store")]
    done = subprocess.run([*command, "--scheduler", "nonsense"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("linnet: 'nonsense' is not the address of a Dask scheduler: missing port number")
    assert done.stderr.count("\n") == 1


def test_wrong_calls_are_refused_in_one_line(linnet, config, tmp_path):
    store = tmp_path / "store"
    status, _, err = linnet(
        "sweep", config, *CODE, "--store", store, "--workers", 2, "--scheduler", "tcp://127.0.0.1:9"
    )
    assert status == 2
    assert "--workers and --scheduler exclude each other" in err
    status, _, err = linnet("sweep", config, *CODE, "--store", store, "--retry-failed")
    assert status == 2
    assert "--retry-failed continues a store: it needs --resume" in err
    config.write_text(TOML.format(worst=2).replace("[fixed]", "[fixde]"))
    status, _, err = linnet("sweep", config, *CODE, "--store", store)
    assert status == 1
    assert err.count("\n") == 1
    assert "picky.toml: `fixde` is not a field; did you mean fixed?" in err
    assert not store.exists()


def test_a_table_is_a_sweep_by_its_name_and_is_printed(linnet, tmp_path, monkeypatch):
    from linnet.sweeps import Sweep
    from linnet_papers.reproduction import Table, registry

    def described(trial):
        axes = {"x": [0, 1] if trial.quick else [0, 1, 2]}
        return Sweep(name="tu-walk", function="sample_cells:draws", axes=axes, seed=trial.seed, dtype=None, block=1)

    def columns(results):
        return {"x": [str(x) for x in results["x"].values], "draws": [str(results["value"].size)] * results.sizes["x"]}

    table = Table(name="tu-walk", paper="tu", title="A walk", sweep=described, columns=columns)
    monkeypatch.setattr(registry, "tables", lambda: {"tu-walk": table})
    store = tmp_path / "store"
    status, out, err = linnet("sweep", "tu-walk", "--store", store, "--quick", "--seed", 3)
    assert (status, err) == (0, "")
    first, _, title, _, *rows = out.splitlines()
    assert first.startswith("tu-walk: 2 cells; 2 computed now in ") and title == "A walk"
    assert rows == ["| x | draws |", "| - | ----- |", "| 0 | 2     |", "| 1 | 2     |"]
    status, out, _ = linnet("sweep", "tu-walk", "--store", store, "--quick", "--seed", 3, "--resume")
    assert status == 0 and "0 computed now" in out and "| 1 | 2     |" in out
    status, _, err = linnet("sweep", "tu-walk", "--store", store, "--quick", "--resume")
    assert status == 1 and "seed: 3 in the store, 0 now" in err
    status, _, err = linnet("sweep", "tu-wlak", "--store", store)
    assert status == 2 and "no file 'tu-wlak', and no table of that name; did you mean tu-walk?" in err
    assert err.count("\n") == 1


def test_quick_and_seed_are_for_tables(linnet, config, tmp_path):
    for option in (["--quick"], ["--seed", 1]):
        status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store", *option)
        assert status == 2
        assert "--quick and --seed are for tables of the papers" in err


def test_blocks_of_another_text_of_the_function_are_told(linnet, config, tmp_path, monkeypatch):
    config.write_text(TOML.format(worst=2).replace("[axes]", "block = 1\n[axes]"))
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert status == 1 and "2 of them failed" in err and "other code" not in err
    (tmp_path / "beside.py").write_text(FUNCTION.replace("worst).any()", "worst + 5).any()"))
    monkeypatch.delitem(sys.modules, "beside")
    status, out, _ = linnet("sweep", config, *CODE, "--store", tmp_path / "store", "--resume", "--retry-failed")
    assert status == 0
    assert "; 2 finished blocks are of other code than this (start in another folder to have all of one); all in" in out


def test_a_reason_of_two_lines_is_told_in_one(linnet, config, tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text(FUNCTION.replace("too much", "too\\nmuch"))
    config.write_text(TOML.format(worst=3))
    status, _, err = linnet("sweep", config, *CODE, "--store", tmp_path / "store")
    assert status == 1 and err.count("\n") == 1 and "ArithmeticError: too much" in err


def test_a_store_in_which_nothing_is_finished_needs_no_resume(linnet, config, tmp_path):
    store = tmp_path / "store"
    from linnet import sweeps

    with sweeps._store.opened(store, sweeps.load(config, code=["beside"])):
        pass
    status, out, _ = linnet("sweep", config, *CODE, "--store", store)
    assert status == 0 and "4 computed now" in out


def test_a_figure_is_not_a_table(linnet, tmp_path):
    status, _, err = linnet("sweep", "tu-fig2", "--store", tmp_path / "store")
    assert status == 2 and "tu-fig2 is a figure: `linnet run tu-fig2` makes it" in err


def test_the_folder_of_a_grid_comes_last_on_the_import_path(linnet, config, tmp_path, monkeypatch):
    """So that no file beside it stands in for an installed package; tried as a whole below."""
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", list(before))
    assert linnet("sweep", config, *CODE, "--store", tmp_path / "store")[0] == 0
    assert sys.path == [*before, str(tmp_path.resolve())]


@pytest.mark.slow
def test_a_file_beside_the_grid_cannot_stand_in_for_a_package(tmp_path):
    """Nor one of the current folder: `zarr.py` and `typer.py` of somebody else's folder are not run."""
    for name in ("zarr", "typer", "xarray"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\nraise RuntimeError\n")
    (tmp_path / "grid.toml").write_text(
        'name = "own"\nfunction = "linnet.sweeps.cells:train"\n[axes]\nwidth = [10]\n[fixed]\ndim = 3\nsteps = 5\n'
    )
    command = [sys.executable, "-P", "-m", "linnet", "sweep", "grid.toml", "--store", "store", "--workers", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "was_run").exists()
