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

# Each command and where its function stands, in the order of the help.
COMMANDS = {
    "list": "list:show",
    "run": "run:run",
    "reproduce": "reproduce:reproduce",
    "verify": "verify:verify",
    "sweep": "sweep:sweep",
    "lora": "lora:lora",
    "new-paper": "new_paper:new_paper",
    "diagnose": "diagnose:diagnose",
    "explore": "explore:explore",
    "docs": "docs:docs",
}
HIDDEN = {"docs"}


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
        module, function = COMMANDS[name].split(":")
        command = getattr(importlib.import_module(f"linnet.cli.{module}"), function)
        app.command(name, hidden=name in HIDDEN)(command)
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
    pass


_doubts: list[str] = []  # warnings about numbers, which an error explains better if one follows


def _print_warning(
    message: Warning | str, category: type[Warning] = UserWarning, *place: object, **rest: object
) -> None:
    """Print a warning as one line, without its place in the code; one about numbers is kept for the end."""
    if issubclass(category, RuntimeWarning):
        _doubts.append(str(message))
        return
    terminal.echo_error(f"warning: {' '.join(str(message).split())}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 if all is well, 1 if not, 2 for a wrong call, 130 if interrupted."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        with warnings.catch_warnings():  # which puts things back at its end
            warnings.showwarning = _print_warning
            _doubts.clear()
            interrupts.on_interrupt()  # nothing of an earlier command in the same process
            app = commands(given[0] if given else None)
            status = app(args=given or ["--help"], standalone_mode=False)
            if status == 130:  # Typer's answer to KeyboardInterrupt, in a program that calls this function
                raise KeyboardInterrupt
            for doubt in dict.fromkeys(_doubts if not status else ()):
                terminal.echo_error(f"warning: {' '.join(doubt.split())}")
    except BaseException as reason:
        if os.environ.get("LINNET_TRACEBACK"):
            raise
        line, status = failures.line_and_status(reason)
        terminal.echo_error(line)
    sys.exit(status if isinstance(status, int) else 0)
