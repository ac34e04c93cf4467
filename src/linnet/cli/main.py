"""The command `linnet`: its commands, and how every failure becomes one line and an exit status."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import entry_points
from typing import Annotated

import typer

import linnet
from linnet.cli import failures, terminal

# The library's own, each a function in a file of its name. Packages bring others by this group of entry points.
COMMANDS = ("diagnose", "explore", "lora", "sweep")
ENTRY_POINT_GROUP = "linnet.commands"
HIDDEN = ("docs",)  # which is for developers


def build_app(only: str | None = None) -> typer.Typer:
    """Build the command line, with all commands or, because importing all takes time, only with the command `only`."""
    app = typer.Typer(
        name="linnet",
        help="Train linear networks, predict how they learn, and check the claims of the papers about them.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common_options)
    known = find_commands()
    for name, load in {only: known[only]}.items() if only in known else known.items():
        try:
            function = load()
            _check_command(name, function)
            app.command(name, hidden=name in HIDDEN)(failures.interruptible(function))
        except (Exception, SystemExit) as reason:  # whatever a foreign package does must not take the others down
            why = f"exits as it is imported ({reason})" if isinstance(reason, SystemExit) else failures.cause(reason)
            if name in COMMANDS:
                raise
            if name == only:
                raise RuntimeError(f"the command {name!r} cannot be loaded: {why}") from reason
            warnings.warn(f"the command {name!r} is left out: {why}", stacklevel=2)
    return app


def _check_command(name: str, function: Callable[..., None]) -> None:
    """Raise what Typer would raise of this command when any other one is run."""
    alone = typer.Typer(add_completion=False)
    alone.command(name)(function)
    typer.main.get_command(alone)


def find_commands() -> dict[str, Callable[[], Callable[..., None]]]:
    """Return a function that loads each command, by name: commands of the library, of linnet_papers, then all others.

    The first of a name counts, so no package takes the place of a command that comes with linnet.
    """
    known: dict[str, Callable[[], Callable[..., None]]] = {name: partial(_own_command, name) for name in COMMANDS}
    # linnet_papers comes in the same distribution; its module is named here and never imported
    entries = sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda e: (e.module.split(".")[0] != "linnet_papers", e.name)
    )
    for entry in entries:
        if entry.name in known:
            origin = entry.dist.name if entry.dist is not None else entry.value
            warnings.warn(f"the command {entry.name!r} of {origin} is left out: that name is taken", stacklevel=2)
        known.setdefault(entry.name, entry.load)
    return known


def _own_command(name: str) -> Callable[..., None]:
    """Load a command of the library itself."""
    return getattr(importlib.import_module(f"linnet.cli.{name}"), name)


def _print_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        terminal.echo(f"linnet {linnet.__version__}")
        raise typer.Exit


def _common_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Declare the options that precede a command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 if all is well, 1 if not, 2 for a wrong call, 130 if interrupted."""
    about_numbers: dict[str, None] = {}  # warnings, each once: kept for the end, as an error explains them better

    def print_warning(message: Warning | str, category: type[Warning], *place: object, **rest: object) -> None:
        """Print a warning as one line, without its place in the code."""
        line = f"warning: {' '.join(str(message).split())}"
        if issubclass(category, RuntimeWarning):
            about_numbers[line] = None
        else:
            terminal.echo_error(line)

    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        with warnings.catch_warnings():  # which puts things back at its end
            warnings.showwarning = print_warning
            app = build_app(given[0] if given else None)
            status = app(args=given or ["--help"], standalone_mode=False)
            if status == 130:  # Typer's answer to an interruption before the command has begun
                raise KeyboardInterrupt
            for line in about_numbers if not status else ():
                terminal.echo_error(line)
    except BaseException as reason:
        if os.environ.get("LINNET_TRACEBACK"):
            raise
        line, status = failures.line_and_status(reason)
        terminal.echo_error(line)
    sys.exit(status if isinstance(status, int) else 0)
