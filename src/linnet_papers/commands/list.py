"""`linnet list`: the figures, tables and claims of the papers."""

from __future__ import annotations

from typing import Annotated

import typer

from linnet.cli import terminal
from linnet_papers.reproduction import registry


def list(
    only: Annotated[str, typer.Argument(metavar="[figures|tables|claims]", help="Kind to list; by default all.")] = "",
) -> None:
    """List the figures, tables and claims of the papers, with the command that makes each."""
    if only not in ("", "figures", "tables", "claims"):
        raise typer.BadParameter(f"list shows figures, tables or claims: got {only!r}.")
    if only in ("", "figures"):
        known = registry.figures()
        panels = sum(max(len(f.panels), 1) for f in known.values())
        terminal.echo(f"Figures ({len(known)}, {panels} panels): linnet run NAME", bold=True)
        for name, figure in known.items():
            letters = f" [{' '.join(figure.panels)}]" if figure.panels else ""
            terminal.echo_row([name + letters], [terminal.NAME_WIDTH], figure.title, cut=True)
    if only in ("", "tables"):
        grids = registry.tables()
        if grids or only:
            terminal.echo(f"Tables ({len(grids)}): linnet run NAME", bold=True)
        for name, table in grids.items():
            terminal.echo_row([name], [terminal.NAME_WIDTH], table.title, cut=True)
    if only in ("", "claims"):
        every = registry.claims()
        for paper in registry.papers().values():
            mine = [claim for claim in every.values() if claim.paper == paper.name]
            if mine:
                terminal.echo(f"Claims of {paper.authors} ({len(mine)}): linnet verify NAME", bold=True)
            for claim in mine:
                terminal.echo_row([claim.name], [terminal.NAME_WIDTH], claim.says, cut=True)
