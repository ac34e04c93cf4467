"""`linnet run`: figures, each with its dataset, its picture and its measured checks; tables, printed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

import linnet
from linnet._arguments import did_you_mean
from linnet._files import check_writable
from linnet.cli import failures, terminal
from linnet.cli.options import Fresh, Quick, Seed
from linnet_papers.commands import batch
from linnet_papers.reproduction import registry
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.table import Table

OUT = Path("report")


def run(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="Figures, panels of them, or tables: NAME-fig3, NAME-fig3a (`linnet list`)."
        ),
    ],
    quick: Quick = False,
    seed: Seed = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = OUT,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="New value of one setting; may be repeated."),
    ] = None,
    data: Annotated[str | None, typer.Option(help="Data set, for figures that take one.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder that holds the data set's files.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Number of seeds, for figures that take several.", min=1)] = None,
    fresh: Fresh = False,
    compilation_cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder in which compiled programs are kept for the next run.")
    ] = None,
) -> None:
    """Make figures, each with its dataset, picture and measured checks; compute and print tables."""
    tables = [table for name in names if (table := _table(name)) is not None]
    for table in tables:
        terminal.echo(table.text(table.results(Trial(quick=quick, seed=seed or 0))) + "\n")
    names = [name for name in names if name not in {table.name for table in tables}]
    if not names:
        return
    options: dict[str, object] = {"data": data, "data_dir": None if data_dir is None else str(data_dir), "seeds": seeds}
    requests = []
    for name in names:
        with failures.as_wrong_call():
            figure, panels = registry.find_figure(name)
            changes: dict[str, object] = {} if seed is None else {"seed": seed}
            changes |= _given_options(figure, options) | dict(_parse_assignment(figure, text) for text in assign or ())
            requests.append(FigureRequest.from_figure(figure, panels=panels, quick=quick, **changes))
    check_writable(out)
    with nullcontext() if compilation_cache is None else linnet.precision.compilation_cache(compilation_cache):
        results, failed = batch.run(requests, out, fresh=fresh)
    if wrong := batch.describe_failures(results, failed):
        raise RuntimeError(wrong)


def _table(name: str) -> Table | None:
    """Return the table of this name, or None."""
    return {table.name: table for paper in registry.papers_of([name]) for table in paper.tables}.get(name)


def _given_options(figure: Figure, given: dict[str, object]) -> dict[str, object]:
    """Return the options that were given; refuse those that the figure does not have."""
    changes = {}
    for option, value in given.items():
        if value is not None:
            if option not in figure.settings.model_fields:
                raise failures.WrongCallError(f"{figure.name} takes no --{option.replace('_', '-')}.")
            changes[option] = value
    return changes


def _parse_assignment(figure: Figure, text: str) -> tuple[str, object]:
    """Parse `field=value`: the value as JSON if it is that, values with commas as a list, other text as it stands."""
    field, equals, value = text.partition("=")
    if not equals:
        raise failures.WrongCallError(f"--set takes field=value: got {text!r}.")
    known = list(figure.settings.model_fields)
    if field not in known:
        near = did_you_mean(field, known)
        raise failures.WrongCallError(f"{figure.name} has no setting {field!r}{near} It has {', '.join(known)}.")
    for attempt in (value, f"[{value}]") if "," in value else (value,):
        try:
            return field, json.loads(attempt)
        except ValueError:
            continue
    return field, value
