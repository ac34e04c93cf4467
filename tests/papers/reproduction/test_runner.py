"""Running a figure: what it leaves behind, when it is reused, and what an interruption cannot harm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr

import linnet
from linnet_papers.reproduction import datafile, request, result, runner
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.request import FigureRequest


class Counted:
    """A figure's compute step that counts its calls and can be told to break."""

    def __init__(self, figure: Figure) -> None:
        self.calls, self.breaks = 0, None
        self._compute = figure.compute

    def __call__(self, settings: Any, panels: tuple[str, ...]) -> xr.Dataset:
        self.calls += 1
        if self.breaks is not None:
            raise self.breaks
        return self._compute(settings, panels)


@pytest.fixture
def counted(toys: ModuleType) -> tuple[Figure, Counted]:
    figure = toys.toy_figure("watanabe-fig1")
    compute = Counted(figure)
    return replace(figure, compute=compute), compute


def test_a_run_leaves_dataset_pictures_and_marked_result(toys: ModuleType, tmp_path: Path) -> None:
    done = runner.make(FigureRequest.from_figure(toys.FIGURES["watanabe-fig1"], quick=True, seed=3), tmp_path)
    names = {path.name for path in done.folder.iterdir()}
    assert names == {"data.nc", "figure.png", "figure.svg", "figure.pdf", "result.json"}
    assert done.folder == tmp_path / "watanabe-fig1-quick-seed3"
    data = datafile.read(done.folder / "data.nc")
    np.testing.assert_array_equal(data.trained, toys.compute(toys.Decay(points=9, seed=3), ("a", "b")).trained)
    assert data.attrs["seed"] == 3 and data.attrs["dtype"] == "float64"
    assert json.loads(data.attrs["configuration"])["points"] == 9
    assert data.attrs["linnet_version"] == linnet.__version__ and data.attrs["linnet_commit"]
    assert data.attrs["command"] == "linnet run watanabe-fig1 --quick --seed 3"
    stored = json.loads((done.folder / "result.json").read_text())
    assert [row.get("met") for row in stored["checks"]] == [True, None]
    assert stored["checks"][1]["values"] == ["inf"]  # which JSON does not have


def test_other_settings_other_code_and_fresh_run_again(
    counted: tuple[Figure, Counted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, compute = counted
    runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path)
    runner.make(FigureRequest.from_figure(figure, quick=True, rate=2.0), tmp_path)
    runner.make(FigureRequest.from_figure(figure, quick=True, panels=("a",)), tmp_path)
    assert compute.calls == 3 and len(list(tmp_path.iterdir())) == 3
    runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path, fresh=True)
    assert compute.calls == 4
    monkeypatch.setattr(request, "_fingerprint", lambda figure: "other code")
    runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path)
    assert compute.calls == 5 and len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("breaks", [KeyboardInterrupt(), RuntimeError("no")])
def test_a_run_that_breaks_leaves_the_finished_one(
    counted: tuple[Figure, Counted], tmp_path: Path, breaks: BaseException
) -> None:
    figure, compute = counted
    done = runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path)
    compute.breaks = breaks  # type: ignore[assignment]
    with pytest.raises(type(breaks), match=r"no|^$"):
        runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path, fresh=True)
    assert result.find_finished(FigureRequest.from_figure(figure, quick=True), tmp_path) == replace(done, reused=True)


def test_an_interrupted_grid_goes_on_where_it_was(toys: ModuleType, tmp_path: Path) -> None:
    toys.CALLS.clear()
    grid = FigureRequest.from_figure(replace(toys.FIGURES["tu-fig1"], compute=toys.compute_grid), quick=True)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        runner.make(grid, tmp_path)
    assert toys.CALLS == [1.0, 2.0, -1.0]
    done = runner.make(grid, tmp_path)
    assert toys.CALLS == [1.0, 2.0, -1.0, 3.0, 4.0]
    np.testing.assert_allclose(datafile.read(done.folder / "data.nc").end, np.exp([-1.0, -2.0, -3.0, -4.0]))
    assert list(done.folder.glob("work-*")) == []


def test_two_runs_into_one_folder_do_not_remove_each_others_work(toys: ModuleType, tmp_path: Path) -> None:
    toys.CALLS.clear()
    figure = toys.FIGURES["tu-fig1"]

    def second(settings: Any, panels: Any) -> xr.Dataset:
        grid = toys.compute_grid(settings, panels)
        with pytest.raises(ValueError, match="another process is making tu-fig1-quick in"):
            runner.make(FigureRequest.from_figure(figure, quick=True), tmp_path, fresh=True)
        assert list((tmp_path / "tu-fig1-quick").glob("work-*"))
        return grid

    toys.CALLS.append(-1.0)  # so that the grid is not interrupted
    request = FigureRequest.from_figure(replace(figure, compute=second), quick=True)
    done = runner.make(request, tmp_path)
    assert done.folder.exists() and list(done.folder.glob("work-*")) == []


def test_a_picture_that_fails_is_not_finished_work(toys: ModuleType, tmp_path: Path) -> None:
    def refuse(data: xr.Dataset) -> Any:
        raise ValueError("cannot draw")

    broken = FigureRequest.from_figure(replace(toys.FIGURES["watanabe-fig1"], plot=refuse), quick=True)
    with pytest.raises(ValueError, match="cannot draw"):
        runner.make(broken, tmp_path)
    assert result.find_finished(broken, tmp_path) is None


def test_the_picture_reads_only_what_was_stored(toys: ModuleType, tmp_path: Path) -> None:
    seen = []
    figure = toys.FIGURES["watanabe-fig1"]

    def spy(data: xr.Dataset) -> Any:
        seen.append(data)
        return figure.plot(data)

    done = runner.make(FigureRequest.from_figure(replace(figure, plot=spy), quick=True), tmp_path)
    xr.testing.assert_identical(seen[0], datafile.read(done.folder / "data.nc"))


def test_command_and_folder_name_every_change(toys: ModuleType) -> None:
    made = FigureRequest.from_figure(
        toys.FIGURES["watanabe-fig1"], panels=("b",), quick=True, seed=2, rate=0.5, scales=(1, 3), data="a b"
    )
    assert made.command == (
        "linnet run watanabe-fig1b --quick --seed 2 --set rate=0.5 --set 'scales=[1.0, 3.0]' --set 'data=a b'"
    )
    assert made.folder_name.startswith("watanabe-fig1b-quick-seed2-")


def test_dataset_file_keeps_values_and_odd_attributes(tmp_path: Path) -> None:
    data = xr.Dataset(
        {
            "x": ("mode", np.array([1.0, np.nan, np.inf]), {"units": "seconds"}),
            "small": ("mode", np.arange(3)),
            "wide": ("mode", np.array([1, 2, 10**12])),
            "yes": ("mode", np.array([True, False, True])),
            "word": ("mode", ["a", "bc", "ü"]),
            "single": ((), np.float32(0.5)),
        },
        attrs={"none": None, "flag": True, "list": [1, "a"], "big": 2**63, "text": "γ", "number": np.float64(2.5)},
    )
    datafile.write(data, tmp_path / "data.nc")
    back = datafile.read(tmp_path / "data.nc")
    for name in data:
        np.testing.assert_array_equal(back[name], data[name])
    assert back.x.dtype == np.float64 and back.single.dtype == np.float32 and back.yes.dtype == bool
    assert back.attrs["none"] == "null" and back.attrs["flag"] == "true" and json.loads(back.attrs["list"]) == [1, "a"]
    assert back.attrs["big"] == 2.0**63 and back.attrs["text"] == "γ" and back.attrs["number"] == 2.5
    assert data.attrs["none"] is None  # the caller's dataset is left alone


def test_other_files_in_the_folder_of_a_data_set_are_other_work(tmp_path: Path) -> None:
    """A figure was reused after its data had changed."""
    from linnet_papers.reproduction.registry import figures

    figure, folder = figures()["huang-fig2"], tmp_path / "data"
    folder.mkdir()
    (folder / "train").write_bytes(b"one")

    def key() -> str:
        return FigureRequest.from_figure(figure, quick=True, data="cifar10", data_dir=str(folder)).key

    before = key()
    assert key() == before
    (folder / "train").write_bytes(b"two")
    changed = key()
    (folder / "train").rename(folder / "test")
    assert len({before, changed, key()}) == 3
