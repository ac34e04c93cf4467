"""What the commands say: colour and lines as wide as the window on a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import NoReturn

import typer

from linnet.cli import failures, interrupts

MIN_COLUMNS = 24  # columns for a text beside the cells of a row
GOOD, BAD, SOFT = "green", "red", "bright_black"


def interactive() -> bool:
    """Whether a person is looking."""
    return sys.stdout.isatty()


def say(text: str = "", colour: str | None = None, *, bold: bool = False) -> None:
    """One line on standard output, wrapped at the end of the window."""
    lines = [text]
    if interactive() and len(text) > width():
        lines = [
            part for line in text.split("\n") for part in textwrap.wrap(line, width(), subsequent_indent="  ") or [""]
        ]
    write("\n".join(styled(line, colour, bold=bold) for line in lines))


def write(text: str) -> None:
    """Text on standard output, as it is."""
    interrupts.hold()
    try:
        typer.echo(text)
    except OSError as reason:
        raise failures.OutputError.of(reason) from None


def complain(text: str) -> None:
    """One line on standard error, where somebody may read it."""
    interrupts.hold()
    with suppress(OSError):
        typer.echo(f"linnet: {text}", err=True)


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
    room = width() - indent if width() >= indent + MIN_COLUMNS else max(width() - 4, MIN_COLUMNS)
    return text if not interactive() or len(text) <= room else text[: room - 1].rstrip() + "…"


def row(cells: list[str], widths: list[int], text: str, colour: str | None = None) -> None:
    """Cells of fixed widths, the first in colour, and a text after them that on a terminal wraps under itself."""
    padded = ["  " + cell.ljust(room) for cell, room in zip(cells, widths, strict=True)]
    indent = sum(map(len, padded)) + 2
    head = styled(padded[0], colour) + "".join(padded[1:])
    if not interactive():
        write(f"{head}  {text}")
        return
    if width() < indent + MIN_COLUMNS:  # no room beside the cells: the text goes below them
        shown = [cell.strip() for cell in padded if cell.strip()]
        say("  " + " ".join(shown), colour)
        indent, head = 4, ""
    lines = textwrap.wrap(text, max(width() - indent, MIN_COLUMNS)) or [""]
    write(head + " " * (indent if not head else 2) + ("\n" + " " * indent).join(lines))


def fail(text: str, status: int = 1) -> NoReturn:
    """Ends the command with one line on standard error and a non-zero status."""
    complain(text)
    raise typer.Exit(status)
