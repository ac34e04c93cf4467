"""Runs one figure, or finds it finished: dataset, picture and measured checks in a folder of their own.

Below the folder `report`, say, `watanabe-fig1-quick` then holds

    data.nc                  the dataset that the picture was drawn from (netCDF 3)
    figure.png .svg .pdf     the picture
    result.json              settings, seed, checks, origin; written last, so that it marks finished work
    work-...                 finished cells of a grid, as long as the figure is not finished
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import linnet
from linnet.sweeps.provenance import device
from linnet.trajectories.datasets import provenance
from linnet_papers.reproduction import result
from linnet_papers.reproduction.datafile import read, write
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.result import DATA_FILE, RESULT_FILE, Result
from linnet_papers.reproduction.saving import save


def make(request: FigureRequest, out: Path, *, fresh: bool = False) -> Result:
    """Run the request into its folder below `out`, or returns finished work of the same settings and code."""
    if not fresh and (finished := result.find_finished(request, out)) is not None:
        return finished
    start = time.perf_counter()
    folder = out / request.folder_name
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        return _make_in(folder, request, out, fresh=fresh, start=start)


def _make_in(folder: Path, request: FigureRequest, out: Path, *, fresh: bool, start: float) -> Result:
    """Run the request into its folder, in which nobody else works."""
    if not fresh and (finished := result.find_finished(request, out)) is not None:  # by whoever was here before
        return finished
    work = folder / f"work-{request.key[:8]}"
    _remove_work_folders(folder, keep=None if fresh else work)
    with linnet.sweeps.keeping(work):
        data = request.figure.compute(request.settings, request.panels)
    settings = request.settings.model_dump(mode="json")
    described = {
        **provenance(),
        "figure": request.name,
        "panels": ",".join(request.panels),
        "configuration": json.dumps(settings),
        "seed": request.settings.seed,
        "dtype": str(settings.get("dtype") or "float64"),
        "device": device(),
        "command": request.command,
    }
    names = {"version": "linnet_version", "commit": "linnet_commit", "dtype": "dtype", "device": "device"}
    origin = {name: described[attribute] for name, attribute in names.items()}
    (folder / RESULT_FILE).unlink(missing_ok=True)
    write(data.assign_attrs(described), folder / DATA_FILE)
    data = read(folder / DATA_FILE)
    save(request.figure.plot(data), folder)
    checks = request.figure.rows(data)
    done = Result.from_request(
        request, folder, checks=checks, settings=settings, seconds=time.perf_counter() - start, **origin
    )
    result.store(done)
    _remove_work_folders(folder, keep=None)
    return done


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder for this process: another one would remove the grids that this one works on, and its files."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)  # its lock ends with this process, however this ends
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"another process is making {folder.name} in {folder}. Wait for it, or choose another folder: --out."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)


def _remove_work_folders(folder: Path, keep: Path | None) -> None:
    """Remove the work folders of a figure, that of this run or of interrupted ones, but for the one to `keep`."""
    for old in folder.glob("work-*"):
        if old != keep:
            shutil.rmtree(old, ignore_errors=True)
