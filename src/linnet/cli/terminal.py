"""Output of the commands: color and lines as wide as the window on a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from contextlib import suppress

import typer

MIN_COLUMNS = 24  # for a text next to the cells of a row
NAME_WIDTH = 26  # of a name in a list: nearly all of them fit
GOOD, BAD, SOFT = "green", "red", "bright_black"


def interactive() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Return the number of columns of the terminal."""
    return shutil.get_terminal_size().columns


def echo(text: str = "", color: str | None = None, *, bold: bool = False) -> None:
    """Print a text on standard output, on a terminal wrapped at its width."""
    lines = (line for part in text.split("\n") for line in _wrap(part, 2))
    write("\n".join(typer.style(line, fg=color, bold=bold or None) for line in lines))


def echo_row(cells: list[str], widths: list[int], text: str, color: str | None = None, *, cut: bool = False) -> None:
    """Print cells of fixed widths, the first in color, and a text that a terminal wraps under itself, or `cut`s."""
    padded = ["  " + cell.ljust(room) for cell, room in zip(cells, widths, strict=True)]
    indent, end = sum(map(len, padded)) + 2, len(padded[0])
    indent = indent if width() >= indent + MIN_COLUMNS else 4
    if cut and interactive() and len(text) > (room := max(width() - indent, MIN_COLUMNS)):
        text = text[: room - 1].rstrip() + "…"
    first, *rest = _wrap("".join(padded) + "  " + text, indent)
    write("\n".join([typer.style(first[:end], fg=color) + first[end:], *rest]))


def _wrap(text: str, indent: int) -> list[str]:
    """Wrap a text at the terminal's width, with an indent from the second line on."""
    columns = width() if interactive() else sys.maxsize
    return textwrap.wrap(text, columns, subsequent_indent=" " * indent, break_on_hyphens=False) or [""]


def write(text: str) -> None:
    """Write a text to standard output, without its colors where that is no terminal or `NO_COLOR` is set."""
    try:
        typer.echo(text, color=False if os.environ.get("NO_COLOR") else None)
    except OSError as reason:
        raise OSError(reason.errno, reason.strerror, "standard output") from None


def echo_error(text: str) -> None:
    """Print one line on standard error, unless that is closed."""
    with suppress(OSError):
        typer.echo(f"linnet: {text}", err=True)
