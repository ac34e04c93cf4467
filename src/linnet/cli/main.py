"""The command `linnet`: what it can do, and how every failure becomes one line and an exit status."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

import linnet
from linnet.cli import failures, interrupts, terminal

# In the order of the help. Each is a function in a file of its own name; for `new-paper` that is `new_paper`.
COMMANDS = ("list", "run", "reproduce", "verify", "sweep", "lora", "new-paper", "diagnose", "explore", "docs")


def commands(only: str | None = None) -> typer.Typer:
    """Build the command line, with all commands or, since importing all takes its time, with the one named `only`."""
    app = typer.Typer(
        name="linnet",
        help="How linear networks learn: the papers' figures and claims, as commands.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common_options)
    for name in [only] if only in COMMANDS else COMMANDS:
        function = name.replace("-", "_")
        command = getattr(importlib.import_module(f"linnet.cli.{function}"), function)
        app.command(name, hidden=name == "docs")(command)  # which is for developers
    return app


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
    """Declare the options that stand before a command."""


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
            interrupts.on_interrupt()  # nothing of an earlier command in the same process
            app = commands(given[0] if given else None)
            status = app(args=given or ["--help"], standalone_mode=False)
            if status == 130:  # Typer's answer to KeyboardInterrupt, in a program that calls this function
                raise KeyboardInterrupt
            for line in about_numbers if not status else ():
                terminal.echo_error(line)
    except BaseException as reason:
        if os.environ.get("LINNET_TRACEBACK"):
            raise
        line, status = failures.line_and_status(reason)
        terminal.echo_error(line)
    sys.exit(status if isinstance(status, int) else 0)
