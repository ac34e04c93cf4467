"""Where the command `linnet` begins: streams and signals are prepared before anything else is imported."""

from __future__ import annotations

import _signal  # `signal` itself takes ten times as long, and this is about its first milliseconds
import atexit
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line and end the process with its exit status.

    It ends by `os._exit`, after exit functions have run: threads of XLA that still compute may crash Python's own end.
    """
    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # while modules are imported: it would show a traceback
    open_closed_streams()
    from linnet._workers import collect_seldom

    collect_seldom()
    from linnet.cli import failures
    from linnet.cli.main import main as command

    status = 1
    try:
        failures.take_over_signals()
        command()
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        with suppress(BaseException):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # the program that read it has gone
                stream.flush()
        os._exit(status)


def open_closed_streams() -> None:
    """Open closed standard streams to nothing, since a file would take their place; end without standard output."""
    if sys.stdout is None:
        sys.exit("linnet: standard output is closed: nothing could be said. Open it, or use > /dev/null.")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
            setattr(sys, name, open(number, "w" if number else "r", closefd=False, encoding="utf-8"))  # noqa: SIM115
        elif number:
            getattr(sys, name).reconfigure(errors="replace")  # a terminal without an ellipsis gets a question mark
