"""`linnet sweep`: a grid of runs described in TOML, kept in a store that can be resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from linnet.cli import terminal


def sweep(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="TOML file that describes the sweep.")],
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
) -> None:
    """Run a grid of cells and keep the results as they come."""
    from linnet import sweeps

    if workers and scheduler is not None:
        raise typer.BadParameter("--workers and --scheduler exclude each other.")
    if retry_failed and not resume:
        raise typer.BadParameter("--retry-failed continues a store: it needs --resume.")
    sys.path.insert(0, str(config.resolve().parent))  # cell functions may lie beside their configuration
    try:
        report = sweeps.complete(
            sweeps.load(config), store, resume=resume, retry_failed=retry_failed, workers=workers, scheduler=scheduler
        )
    except KeyboardInterrupt:
        typer.echo(f"linnet: interrupted; finished cells are in {store}: continue with --resume", err=True)
        raise typer.Exit(130) from None
    if report.failed:
        terminal.fail(f"{report}; the others are in {store}; try the failed ones again with --resume --retry-failed")
    terminal.say(f"{report}; all in {store}")
