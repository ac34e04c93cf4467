"""What the commands say: colour and lines as wide as the window on a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import NoReturn

import typer

GOOD, BAD, SOFT = "green", "red", "bright_black"


def interactive() -> bool:
    """Whether a person is looking."""
    return sys.stdout.isatty()


def say(text: str = "", colour: str | None = None, *, bold: bool = False) -> None:
    """One line on standard output."""
    typer.echo(styled(text, colour, bold=bold))


def styled(text: str, colour: str | None = None, *, bold: bool = False) -> str:
    """The text in colour where a person wants it so."""
    if not interactive() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=colour, bold=bold or None)


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size().columns


def shortened(text: str, indent: int) -> str:
    """The text on one line of the terminal, cut with an ellipsis; whole where no person is looking."""
    room = max(width() - indent, 30)
    return text if not interactive() or len(text) <= room else text[: room - 1].rstrip() + "…"


def row(cells: list[str], widths: list[int], text: str, colour: str | None = None) -> None:
    """Cells of fixed widths, the first in colour, and a text after them that on a terminal wraps under itself."""
    padded = ["  " + cell.ljust(room) for cell, room in zip(cells, widths, strict=True)]
    indent = sum(map(len, padded)) + 2
    lines = [text]
    if interactive():
        lines = textwrap.wrap(text, max(width() - indent, 40)) or [""]
    typer.echo(styled(padded[0], colour) + "".join(padded[1:]) + "  " + ("\n" + " " * indent).join(lines))


def fail(text: str, status: int = 1) -> NoReturn:
    """Ends the command with one line on standard error and a non-zero status."""
    typer.echo(f"linnet: {text}", err=True)
    raise typer.Exit(status)
