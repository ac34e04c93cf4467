"""What the commands say: colour and lines as wide as the window on a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from contextlib import suppress

import typer

from linnet.cli import interrupts

MIN_COLUMNS = 24  # for a text beside the cells of a row
GOOD, BAD, SOFT = "green", "red", "bright_black"


def interactive() -> bool:
    """Whether a person is looking."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size().columns


def say(text: str = "", colour: str | None = None, *, bold: bool = False) -> None:
    """One line on standard output, wrapped at the end of the window."""
    write("\n".join(_colour(line, colour, bold) for part in text.split("\n") for line in _wrap(part, 2)))


def row(cells: list[str], widths: list[int], text: str, colour: str | None = None) -> None:
    """Cells of fixed widths, the first in colour, and a text after them that on a terminal wraps under itself."""
    padded = ["  " + cell.ljust(room) for cell, room in zip(cells, widths, strict=True)]
    indent, end = sum(map(len, padded)) + 2, len(padded[0])
    first, *rest = _wrap("".join(padded) + "  " + text, indent if width() >= indent + MIN_COLUMNS else 4)
    write("\n".join([_colour(first[:end], colour) + first[end:], *rest]))


def shortened(text: str, indent: int) -> str:
    """The text on one line of the terminal, cut with an ellipsis; whole where no person is looking."""
    room = width() - indent if width() >= indent + MIN_COLUMNS else max(width() - 4, MIN_COLUMNS)
    return text if not interactive() or len(text) <= room else text[: room - 1].rstrip() + "…"


def _wrap(text: str, indent: int) -> list[str]:
    """Wrap a text at the terminal's width, with an indent from the second line on."""
    columns = width() if interactive() else sys.maxsize
    return textwrap.wrap(text, columns, subsequent_indent=" " * indent, break_on_hyphens=False) or [""]


def _colour(text: str, colour: str | None, bold: bool = False) -> str:
    """Colour a text, where a person is looking and has not asked for none."""
    plain = not interactive() or os.environ.get("NO_COLOR")
    return text if plain else typer.style(text, fg=colour, bold=bold or None)


def write(text: str) -> None:
    """Text on standard output, as it is."""
    interrupts.hold()
    try:
        typer.echo(text)
    except OSError as reason:
        raise OSError(reason.errno, reason.strerror, "standard output") from None


def complain(text: str) -> None:
    """One line on standard error, where somebody may read it."""
    interrupts.hold()
    if interrupts.is_ending():  # another thread: the line about the interruption is the last one
        return
    with suppress(OSError):
        typer.echo(f"linnet: {text}", err=True)
