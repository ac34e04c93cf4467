"""`linnet run`: names, panels, settings, and what is refused in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from linnet_papers.reproduction import datafile


def test_a_figure_is_run_and_its_checks_are_told(linnet: Any, tmp_path: Path) -> None:
    said = linnet("run", "watanabe-fig1", "--quick", "--out", tmp_path)
    assert said.status == 0 and said.err == ""
    assert (
        "within    trained vs theory: max error: " in said.out and ", below 1e-06 (noise of 1e-9 was added)" in said.out
    )
    assert (tmp_path / "watanabe-fig1-quick" / "figure.png").is_file()
    assert "finished before" in linnet("run", "watanabe-fig1", "--quick", "--out", tmp_path).out
    assert "finished before" not in linnet("run", "watanabe-fig1", "--quick", "--fresh", "--out", tmp_path).out


def test_a_letter_after_the_name_is_a_panel(linnet: Any, tmp_path: Path) -> None:
    assert linnet("run", "tu-fig1b", "--quick", "--out", tmp_path).status == 0
    assert datafile.read(tmp_path / "tu-fig1b-quick" / "data.nc").attrs["panels"] == "b"


def test_seed_options_and_settings_reach_the_figure(linnet: Any, tmp_path: Path) -> None:
    changes = ["--set", "rate=2", "--set", "scales=3,4", "--seed", 5, "--seeds", 3, "--data", "other"]
    assert linnet("run", "watanabe-fig1", "--quick", *changes, "--out", tmp_path).status == 0
    (folder,) = tmp_path.iterdir()
    settings = json.loads((folder / "result.json").read_text())["settings"]
    assert (settings["rate"], settings["scales"], settings["seed"], settings["data"]) == (2.0, [3.0, 4.0], 5, "other")
    assert settings["seeds"] == 3
    assert settings["points"] == 9  # the quick value, where nothing else was asked


def test_a_check_beyond_its_limit_is_a_failure_with_results(refused: Any, tmp_path: Path) -> None:
    line = refused("run", "watanabe-fig1", "--quick", "--set", "limit=1e-15", "--out", tmp_path, status=1)
    assert "beyond its limit in watanabe-fig1" in line
    assert len(list(tmp_path.glob("*/result.json"))) == 1


def test_one_that_breaks_does_not_take_the_next_with_it(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(toys.FIGURES, "watanabe-fig1", toys.toy_figure("watanabe-fig1", breaks=True))
    said = linnet("run", "watanabe-fig1", "tu-fig1", "--quick", "--out", tmp_path)
    assert said.status == 1
    assert said.err == "linnet: watanabe-fig1 was not made (the toy was asked to break)\n"
    assert (tmp_path / "tu-fig1-quick" / "result.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["watanabe-fgi1"], ["no figure is named 'watanabe-fgi1'", "did you mean", "watanabe-fig1"]),
        (["fig2"], ["did you mean watanabe-fig2"]),
        (["zzz"], ["no figure is named 'zzz'", "linnet list"]),
        (["watanabe-fig1c"], ["panels a, b", "'c'"]),
        (["watanabe-fig1", "--set", "rtae=2"], ["no setting 'rtae'", "did you mean rate?", "points"]),
        (["watanabe-fig1", "--set", "rate"], ["field=value", "'rate'"]),
        (["watanabe-fig1", "--set", "rate=fast"], ["`rate`", "number", "'fast'"]),
        (["watanabe-fig1", "--data-dir", "x"], ["takes no --data-dir"]),
        (["watanabe-fig1", "--seed", "-1"], ["--seed"]),
        ([], ["NAME"]),
        (["watanabe-fig1", "--quik"], ["--quik"]),
    ],
)
def test_wrong_calls_say_why_and_touch_nothing(
    refused: Any, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    line = refused("run", *arguments, "--out", tmp_path / "out", status=2)
    assert all(word in line for word in words), line
    assert not (tmp_path / "out").exists()


def test_an_unwritable_folder_is_known_before_any_work(refused: Any, toys: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = refused("run", "watanabe-fig1", "--out", tmp_path / "file" / "x", status=1)
    assert "cannot write to the folder" in line


def test_a_dependency_missing_in_one_figure_is_that_figures_failure(
    refused: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from dataclasses import replace

    def needs_sklearn(settings: Any, panels: Any) -> Any:
        import sklearn

        return sklearn

    monkeypatch.setitem(sys.modules, "sklearn", None)
    figure = replace(toys.FIGURES["tu-fig1"], compute=needs_sklearn)
    monkeypatch.setitem(toys.FIGURES, "tu-fig1", figure)
    line = refused("run", "tu-fig1", "--out", tmp_path, status=1)
    assert (
        "tu-fig1 was not made (this needs sklearn, which is not installed: pip install 'linear-networks[tables]')"
        in line
    )


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *[("data.nc", how) for how in ("emptied", "changed", "removed")],
        *[("figure.png", "cut"), ("figure.svg", "removed"), ("result.json", "cut"), ("result.json", "removed")],
    ],
)
def test_damaged_results_are_not_believed(linnet: Any, tmp_path: Path, name: str, damage: str) -> None:
    call = ("run", "watanabe-fig1", "--quick", "--out", tmp_path)
    linnet(*call)
    file = tmp_path / "watanabe-fig1-quick" / name
    whole = file.read_bytes()
    assert "finished before" in linnet(*call).out
    if damage == "removed":
        file.unlink()
    else:
        half = len(whole) // 2
        file.write_bytes(
            {"emptied": b"", "cut": whole[:half], "changed": whole[:half] + b"?" + whole[half + 1 :]}[damage]
        )
    said = linnet(*call)
    assert said.status == 0 and "finished before" not in said.out
    assert len(file.read_bytes()) > len(whole) // 2 and "finished before" in linnet(*call).out


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_warnings_about_numbers_are_told_only_where_no_error_explains_them(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import warnings
    from dataclasses import replace

    def doubtful(settings: Any, panels: Any) -> Any:
        warnings.warn("overflow in a square", RuntimeWarning, stacklevel=1)
        if settings.breaks:
            raise ZeroDivisionError("float division by zero")
        return toys.compute(settings, panels)

    monkeypatch.setitem(toys.FIGURES, "tu-fig1", replace(toys.FIGURES["tu-fig1"], compute=doubtful))
    said = linnet("run", "tu-fig1", "--quick", "--out", tmp_path)
    assert said.status == 0 and said.err == "linnet: warning: overflow in a square\n"
    said = linnet("run", "tu-fig1", "--quick", "--set", "breaks=true", "--out", tmp_path)
    assert said.status == 1 and len(said.err.splitlines()) == 1
    assert "ZeroDivisionError: float division by zero (LINNET_TRACEBACK=1 shows where) (with breaks=True)" in said.err
