"""Where the command `linnet` begins: streams and signals are seen to before anything else is imported.

Nothing heavy stands at the top of this file: until `main` runs, Ctrl-C is still Python's.
"""

from __future__ import annotations

import _signal  # `signal` itself takes ten times as long, and this is about its first milliseconds
import os
import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status."""
    _signal.signal(_signal.SIGINT, _interrupted) if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN else None
    closed = _streams()
    from linnet.cli import interrupts

    interrupts.install()
    if closed:
        interrupts.say("linnet: standard output is closed: nothing could be said. Open it, or use > /dev/null.")
        os._exit(1)
    from linnet.cli.main import main as command

    status = 1
    try:
        command()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    interrupts.leave(status)


def _interrupted(number: int, frame: object) -> None:
    os.write(2, b"linnet: interrupted\n")
    os._exit(130)


def _streams() -> bool:
    """Whether standard output is closed. What is closed is opened to nothing: else the next file would take its place,
    and be written to by whatever writes to that stream."""
    closed = []
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without an ellipsis gets a question mark
    return 1 in closed


if __name__ == "__main__":
    main()
