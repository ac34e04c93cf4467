"""`linnet new-paper`: the package of a paper of one's own, with a figure, a claim and their tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linnet.cli import failures, terminal
from linnet_papers.reproduction import new_paper as package
from linnet_papers.reproduction import registry


def new_paper(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name on the command line: lower-case letters.")],
    out: Annotated[Path, typer.Option(help="Folder in which the package's folder is made.")] = Path(),
) -> None:
    """Write the package of a paper of your own: a figure, a claim and their tests, to be filled."""
    if name in registry.papers():
        raise failures.WrongCallError(f"a paper is named {name!r} already: `linnet list` shows all.")
    with failures.as_wrong_call():
        folder = package.write(name, out)
    terminal.echo(f"The package is in {folder}. Next:")
    terminal.echo(f"  pip install -e '{folder}[test]'")
    terminal.echo(f"  linnet verify --quick {name}")
    terminal.echo(f"  pytest {folder}")
