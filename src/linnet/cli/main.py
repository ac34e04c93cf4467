"""The command `linnet`: what it can do, and how every failure becomes one line and an exit status."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

import linnet
from linnet.cli import failures, interrupts, terminal
from linnet.cli.diagnose import diagnose
from linnet.cli.docs import docs
from linnet.cli.explore import explore
from linnet.cli.list import show
from linnet.cli.lora import lora
from linnet.cli.new_paper import new_paper
from linnet.cli.reproduce import reproduce
from linnet.cli.run import run
from linnet.cli.sweep import sweep
from linnet.cli.verify import verify

app = typer.Typer(
    name="linnet",
    help="How two-layer linear networks learn: the papers' figures and claims, as commands.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(failures.interruptible(show))
app.command()(failures.interruptible(run))
app.command()(failures.interruptible(reproduce))
app.command()(failures.interruptible(verify))
app.command()(failures.interruptible(sweep))
app.command()(failures.interruptible(lora))
app.command("new-paper")(failures.interruptible(new_paper))
app.command()(failures.interruptible(diagnose))
app.command()(failures.interruptible(explore))
app.command(hidden=True)(failures.interruptible(docs))


def _version(asked: bool) -> None:
    if asked:
        terminal.say(f"linnet {linnet.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


_doubts: list[str] = []  # warnings about numbers, which an error explains better if one follows


def _warn(message: Warning | str, category: type[Warning] = UserWarning, *place: object, **rest: object) -> None:
    """A warning is one line, like a failure; where in the code it arose helps nobody who typed a command."""
    if issubclass(category, RuntimeWarning):
        _doubts.append(str(message))
        return
    terminal.complain(f"warning: {' '.join(str(message).split())}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 if all is well, 1 if not, 2 for a wrong call, 130 if interrupted."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        with warnings.catch_warnings():  # which puts things back at its end
            warnings.showwarning = _warn
            _doubts.clear()
            status = app(args=given or ["--help"], standalone_mode=False)
            for doubt in dict.fromkeys(_doubts if not status else ()):
                terminal.complain(f"warning: {' '.join(doubt.split())}")
    except BaseException as reason:
        if os.environ.get("LINNET_TRACEBACK"):
            raise
        if isinstance(reason, SystemExit):  # Typer's answer to a reader that has gone, or code that wants to end
            reason = failures.OutputError.of(BrokenPipeError()) if reason.code == 1 else reason
        line, status = failures.explain(reason)
        if status >= 128:
            interrupts.say_last(f"linnet: {line}")
        else:
            terminal.complain(line)
    interrupts.flush()
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    from linnet.cli import entry

    entry.main()
