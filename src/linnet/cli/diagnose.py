"""`linnet diagnose`: when to stop training a linear network on a table, and how it compares; a verdict and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linnet.cli import failures, terminal

OUT = Path("diagnosis")
# Defaults below are those of `forecasts.Settings`, whose import would slow down `linnet --help`: a test compares.


def diagnose(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: CSV, TSV, Parquet, NPY or NPZ.")],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Columns to predict: names or numbers, with commas; by default the last column."
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="Columns to leave out, with commas; text and dates too.")
    ] = None,
    width: Annotated[int, typer.Option(help="Number of hidden units; does not affect the cost.", min=1)] = 512,
    init: Annotated[
        str, typer.Option(help="Initialization: pytorch, gaussian, or two standard deviations, 0.01,0.02.")
    ] = "pytorch",
    init_scale: Annotated[float, typer.Option(help="Factor by which both initial layers are multiplied.")] = 1.0,
    lr: Annotated[
        str, typer.Option("--lr", help="Learning rate for half the squared error: a number, or 'stable'.")
    ] = "stable",
    steps: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of steps; by default training ends when the held-out error is past its minimum "
            "or flat.",
            min=1,
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of folds of the cross-validation.", min=2)] = 5,
    seeds: Annotated[int, typer.Option(help="Number of random initializations in each fold.", min=1)] = 3,
    preprocess: Annotated[
        str, typer.Option(help="Treatment of the columns: standardize, center or whiten.")
    ] = "standardize",
    missing: Annotated[
        str, typer.Option(help="Rows with missing values: error, drop, or fill with the column's mean.")
    ] = "error",
    rows: Annotated[int | None, typer.Option(help="Number of rows to take at random; by default all.", min=2)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds and the initializations.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the report and its numbers.")] = OUT,
) -> None:
    """Recommend when to stop training a linear network on a table, and compare it with ridge regression."""
    from linnet._files import check_writable
    from linnet.forecasts.diagnosing import diagnose_table
    from linnet.forecasts.settings import Settings
    from linnet.forecasts.tables import read

    settings = Settings(
        width=width,
        init=_parse_init(init),
        init_scale=init_scale,
        learning_rate=_parse_rate(lr),
        steps=steps,
        folds=folds,
        seeds=seeds,
        preprocess=preprocess,
        key=seed,
    )
    table = read(file, target=target, drop=drop, missing=missing, rows=rows, key=seed)
    new_folders = [folder for folder in (out, *out.parents) if not folder.exists()]
    check_writable(out)  # before the work, which may take minutes; it makes the folders
    for folder in new_folders:
        folder.rmdir()  # they come again with the page, and not for a wrong call that `diagnose_table` refuses
    diagnosis = diagnose_table(table, settings)
    for line in diagnosis.findings():
        terminal.echo(line)
    terminal.echo()
    terminal.echo(f"Report with plots: {diagnosis.write(out)}")


def _parse_init(text: str) -> str | tuple[float, ...]:
    """Parse --init: a name, or two numbers with a comma."""
    parts = text.split(",")
    if len(parts) != 2:
        return text
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        raise failures.WrongCallError(
            f"--init takes pytorch, gaussian or two numbers such as 0.01,0.02: got {text!r}."
        ) from None


def _parse_rate(text: str) -> str | float:
    """Parse --lr: a number, or 'stable'."""
    if text == "stable":
        return text
    try:
        return float(text)
    except ValueError:
        raise failures.WrongCallError(f"--lr takes a number or 'stable': got {text!r}.") from None
