"""Ctrl-C at any moment: one line, exit status 130, finished work kept; and no word of what was going on inside.

Python answers a signal by raising KeyboardInterrupt between two steps of the main thread. That is late where a step is
a long compiled computation, it is lost where the step belongs to a callback whose exceptions are ignored (a garbage
collector's, say), and a program that then ends while others of its threads still compute may crash. So:

- before and after a command there is nothing to put in order, and the process ends on the spot;
- inside one that computes here, what there is is kept and the process ends on the spot as well;
- inside one that waits for processes of its own, KeyboardInterrupt is raised, so that they are ended; a thread beside
  it watches that it arrives, raises it again where it was ignored, and ends the process itself where nothing happens
  for `GRACE` seconds, or at a second Ctrl-C;
- the process ends by `os._exit`, which waits for no other thread.

SIGTERM is answered in the same way, with status 143.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

GRACE = 1.0  # seconds for Python to notice a signal
ORDER = 10.0  # seconds for a command to put things in order after that
SAME = 0.3  # seconds within which signals are one Ctrl-C: some senders send it to the process and to its group
WORDS = "interrupted; what was finished is kept, and the same command goes on from there"
PARENT = "LINNET_ENDS_WITH"  # a process started with this variable ends when the process of that number does
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_words: list[Callable[[], str]] = []  # what the innermost command says, and keeps, when it is interrupted


class InterruptedCommandError(Exception):
    """Ctrl-C, under a name that Typer does not answer by itself, with the line to say."""


class _State:
    """What the handler, the watching thread and the command tell each other."""

    installed = False
    working = False  # inside a command
    came: int | None = None  # the first signal
    noticed = 0.0  # when Python raised it
    ignored = False  # where it was raised, exceptions are ignored
    said = threading.Lock()  # held by the one who says the line


def install() -> None:
    """Takes over the signals of this process; those that it was started to ignore stay ignored."""
    taken = [number for number in _SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    _State.installed = True
    for number in taken:
        signal.signal(number, _answer)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = _unraisable
    threading.Thread(target=_watch, args=(reading,), name="interrupts", daemon=True).start()
    parent = os.environ.pop(PARENT, "")
    if parent.isdigit():
        threading.Thread(target=_end_with, args=(int(parent),), name="parent", daemon=True).start()


@contextmanager
def working(words: Callable[[], str] | None = None) -> Iterator[None]:
    """A command at work, which Ctrl-C interrupts as KeyboardInterrupt; `words` keeps what there is and says so."""
    _words.append(words or (lambda: WORDS))
    before, _State.working = _State.working, True
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedCommandError(_line()) from None
    finally:
        _State.working = before
        _words.pop()


def came() -> bool:
    """Whether this process was told to end, whatever has become of the exception."""
    return _State.came is not None


def status() -> int:
    """The exit status of a process that was interrupted."""
    return 128 + int(_State.came or signal.SIGINT)


def say(line: str) -> None:
    """One line on standard error, past all buffers, if anybody is there."""
    with suppress(OSError, ValueError):
        if os.isatty(2):  # a progress bar may stand in the line, and have hidden the cursor
            line = f"\r\x1b[K\x1b[?25h{line}"
        os.write(2, f"{line}\n".encode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace"))


def say_last(line: str) -> None:
    """The line about an interruption, unless it has been said."""
    if not _State.installed:  # called by a program, as tests are
        sys.stderr.write(f"{line}\n")
    elif _State.said.acquire(blocking=False):
        say(line)


def leave(number: int) -> NoReturn:
    """Ends the process: its streams are flushed, and after a command that was not interrupted its exit functions
    run."""
    flush()
    with suppress(BaseException):
        if came():
            _end_children()
        else:
            atexit._run_exitfuncs()
    flush()
    if came():
        say_last(f"linnet: {WORDS}")  # it came too late to interrupt anything
        number = status()
    os._exit(number)


def flush() -> None:
    """What is still to be written is written; a stream that has gone is given up without a word."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
                stream.flush()


def _answer(number: int, frame: FrameType | None) -> None:
    """Python's handler: runs in the main thread."""
    first = _State.came is None
    if first:
        _State.came = number
    if not _State.working or ("jax" in sys.modules and not _has_processes()):
        _end()  # an exception raised inside compiled code's own callbacks may crash it
    if first or _State.ignored:
        _State.ignored = False
        _State.noticed = time.monotonic()
        raise KeyboardInterrupt


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    if _State.came is None:
        sys.__unraisablehook__(unraisable)
    elif issubclass(unraisable.exc_type, KeyboardInterrupt):
        _State.ignored = True  # what else goes wrong while a command is interrupted is of no interest


def _watch(reading: int) -> None:
    """The thread: waits for a signal, and sees to it that it is answered."""
    while not (told := [number for number in os.read(reading, 16) if number in _SIGNALS]):
        pass
    began = time.monotonic()
    again = 0.0  # when the exception was last raised again
    while True:
        ready, _, _ = select.select([reading], [], [], 0.02)
        now = time.monotonic()
        user = bool(ready) and any(number in _SIGNALS for number in os.read(reading, 16)) and now > again + SAME
        late = now > (_State.noticed + ORDER if _State.noticed else began + GRACE)
        if late or (user and now > began + SAME):
            _State.came = _State.came or told[0]
            _end()
        if _State.ignored and now > again + 0.05:
            again = now
            signal.pthread_kill(threading.main_thread().ident or 0, told[0])


def _end_with(parent: int) -> None:
    """The thread of a process that another one started: it does not outlive it, however that one ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _State.came = signal.SIGTERM
    _end()


def _end() -> NoReturn:
    """Says the line if nobody has, and ends the process now."""
    if _State.said.acquire(blocking=False):
        say(f"linnet: {_line()}")
    with suppress(BaseException):
        if (files := sys.modules.get("linnet._files")) is not None:
            files.abandon()
        _end_children()
    os._exit(status())


def _line() -> str:
    """What is to be said of an interruption here; what can be kept is kept."""
    try:
        return _words[-1]() if _words else WORDS
    except Exception as reason:  # nothing is to be in the way of ending
        return f"interrupted; {type(reason).__name__}: {' '.join(str(reason).split())}"


def _has_processes() -> bool:
    """Whether there are workers, of a pool or of Dask, to be ended in order."""
    processes = sys.modules.get("multiprocessing.process")
    return "distributed" in sys.modules or (processes is not None and bool(processes.active_children()))


def _end_children() -> None:
    """Processes that were started by `multiprocessing` would be waited for, or left alone."""
    if (processes := sys.modules.get("multiprocessing")) is not None:
        for child in processes.active_children():
            child.terminate()
