"""`linnet sweep`: a grid of runs, described in TOML or a table of the papers, kept in a store that can be resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import linnet
from linnet._arguments import did_you_mean
from linnet.cli import failures, interrupts, terminal

if TYPE_CHECKING:
    from linnet.reproduction.table import Table
    from linnet.sweeps import Sweep


def sweep(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="TOML file of the sweep, or a table's name (`linnet list tables`).")
    ],
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
    quick: Annotated[bool, typer.Option("--quick", help="Of a table: the same on a smaller grid.")] = False,
    seed: Annotated[int | None, typer.Option(help="Of a table: seed of all random numbers.", min=0)] = None,
) -> None:
    """Run a grid of cells and keep the results as they come; a table of the papers is printed at the end."""
    if workers and scheduler is not None:
        raise typer.BadParameter("--workers and --scheduler exclude each other.")
    if retry_failed and not resume:
        raise typer.BadParameter("--retry-failed continues a store: it needs --resume.")
    described, table = _find_sweep(config, code or [], quick, seed)
    interrupts.on_interrupt(lambda: f"interrupted; finished cells are in {store}: continue with --resume")
    report = linnet.sweeps.complete(
        described, store, resume=resume, retry_failed=retry_failed, workers=workers, scheduler=scheduler, wait=wait
    )
    if report.failed:
        raise RuntimeError(
            f"{report}; what was computed is in {store}; try the failed ones again with --resume --retry-failed"
        )
    terminal.echo(f"{report}; all in {store}")
    if table is not None:
        import xarray as xr

        with xr.open_zarr(store) as results:
            terminal.echo(f"\n{table.text(results.load())}")


def _find_sweep(config: str, code: list[str], quick: bool, seed: int | None) -> tuple[Sweep, Table | None]:
    """Return the sweep of a file, or else the sweep of the table of that name, and that table.

    The folder of a file is appended to `sys.path`, so that its cells can be imported, and stays there.
    """
    from linnet.reproduction.declaration import Trial
    from linnet.reproduction.registry import figures, find_table, tables

    path = Path(config)
    if path.is_file() or path.name != config or path.suffix:
        if quick or seed is not None:
            raise typer.BadParameter("--quick and --seed are for tables of the papers; a file has its own fields.")
        sys.path.append(str(path.resolve().parent))  # cell functions may lie beside their configuration
        return linnet.sweeps.load(path, code=code), None
    try:
        table = find_table(config)
    except ValueError:
        if config in figures():
            raise failures.WrongCallError(f"{config} is a figure: `linnet run {config}` makes it.") from None
        near = did_you_mean(config, tables())
        raise failures.WrongCallError(
            f"there is no file {config!r}, and no table of that name{near} `linnet list tables` shows all."
        ) from None
    return table.sweep(Trial(quick=quick, seed=seed or 0)), table
