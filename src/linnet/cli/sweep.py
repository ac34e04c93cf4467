"""`linnet sweep`: a grid of runs, described in TOML, kept in a store that can be resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import linnet
from linnet.cli import failures, interrupts, terminal

if TYPE_CHECKING:
    from linnet.sweeps import Sweep


def sweep(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="TOML file of the sweep.")],
    store: Annotated[Path, typer.Option("--store", metavar="PATH", help="Folder of the results, a Zarr group.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the store if it is there; finished cells are not recomputed.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume: compute failed and damaged cells again.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=0, help="Compute on N processes of this machine.")
    ] = 0,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Compute on the workers of a Dask scheduler.")
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for a scheduler's first worker.")
    ] = 60.0,
    code: Annotated[
        list[str] | None,
        typer.Option("--code", metavar="MODULE", help="Module whose functions the file may call; may be repeated."),
    ] = None,
) -> None:
    """Run a grid of cells and keep the results as they come."""
    if workers and scheduler is not None:
        raise typer.BadParameter("--workers and --scheduler exclude each other.")
    if retry_failed and not resume:
        raise typer.BadParameter("--retry-failed continues a store: it needs --resume.")
    described = _load(config, code or [])
    interrupts.on_interrupt(lambda: f"interrupted; finished cells are in {store}: continue with --resume")
    report = linnet.sweeps.complete(
        described, store, resume=resume, retry_failed=retry_failed, workers=workers, scheduler=scheduler, wait=wait
    )
    if report.failed:
        raise RuntimeError(
            f"{report}; what was computed is in {store}; try the failed ones again with --resume --retry-failed"
        )
    terminal.echo(f"{report}; all in {store}")


def _load(config: str, code: list[str]) -> Sweep:
    """Return the sweep of a file, whose folder is appended to `sys.path`, so that its cells can be imported."""
    path = Path(config)
    if not path.is_file() and path.name == config and not path.suffix:
        raise failures.WrongCallError(f"there is no file {config!r}. Figures and tables of papers: `linnet run NAME`.")
    sys.path.append(str(path.resolve().parent))  # cell functions may lie beside their configuration
    return linnet.sweeps.load(path, code=code)
