"""`linnet diagnose`: a table in, a verdict and a page out, every oddity one line."""

import dataclasses
import inspect

import numpy as np
import pytest

pytest.importorskip("sklearn")


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    Y = X[:, :1] + 0.5 * random.standard_normal((40, 1))
    path = tmp_path / "table.csv"
    np.savetxt(path, np.concatenate([X, Y], axis=1), delimiter=",", header="a,b,c,y", comments="")
    return path


def test_findings_and_a_page(linnet, table, tmp_path):
    said = linnet("diagnose", table, "--target", "y", "--seeds", 1, "--steps", 60, "--out", tmp_path / "out")
    lines = said.out.strip().splitlines()
    assert said.status == 0 and len(lines) <= 40
    assert lines[0].startswith("Use ") and lines[-1].startswith("Report with plots: ")
    assert "  40 rows, 3 inputs, 1 target. " in said.out
    assert (tmp_path / "out" / "index.html").exists() and (tmp_path / "out" / "diagnosis.nc").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "z"], "there is no 'z' among a, b, c, y"),
        (["--init", "0.1,x"], "--init takes pytorch, gaussian or two numbers"),
        (["--lr", "fast"], "--lr takes a number or 'stable'"),
        (["--preprocess", "log"], "`preprocess` must be one of center, standardize, whiten"),
        (["--folds", "30"], "at least 2 rows for each of the 30 folds"),
    ],
)
def test_a_wrong_call_is_one_line(linnet, table, tmp_path, options, message):
    said = linnet("diagnose", table, *options, "--out", tmp_path / "new" / "out")
    assert said.status in (1, 2) and message in said.err and len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_defaults_are_those_of_the_library():
    from linnet.cli.diagnose import diagnose
    from linnet.forecasts import Settings

    of_command = {name: option.default for name, option in inspect.signature(diagnose).parameters.items()}
    of_command |= {"learning_rate": of_command["lr"], "key": of_command["seed"]}
    of_library = {field.name: field.default for field in dataclasses.fields(Settings) if field.name != "max_steps"}
    assert {name: of_command[name] for name in of_library} == of_library


def test_a_folder_that_cannot_be_written_to_is_known_before_the_work(linnet, table, tmp_path, monkeypatch):
    from linnet.forecasts import diagnosing

    monkeypatch.setattr(diagnosing, "diagnose_table", lambda *_: pytest.fail("the work was begun"))
    (tmp_path / "file").write_text("")
    said = linnet("diagnose", table, "--out", tmp_path / "file" / "out")
    assert said.status == 1 and "cannot write to the folder" in said.err
