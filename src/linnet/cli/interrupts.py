"""Ctrl-C, SIGTERM and SIGHUP at any moment: finished work is kept, one line is said, and the process ends.

The signals raise no exception in the command: it would come late inside a compiled step and be lost inside a callback
whose exceptions are ignored. A thread waits for them instead. It calls the function that the command at work gave to
`keeping`, says the line that this returns, and ends the process by `os._exit`, which waits for no other thread. The
main thread goes on meanwhile, and stops where it would say something or end (`hold`). A second Ctrl-C ends the process
at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from linnet import _workers as workers

SAME_SECONDS = 0.3  # within which signals are one Ctrl-C: some senders send it to the process and to its group
STARTING_SECONDS = 10.0  # to wait for workers that are being started: half-started ones print tracebacks
WORDS = "interrupted; what was finished is kept, and the same command goes on from there"
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_received: list[int] = []
_keepers: list[Callable[[], str]] = []  # of the commands at work, the innermost last


class InterruptedCommandError(Exception):
    """KeyboardInterrupt in a program that calls `main`, under a name that Typer does not answer by itself."""


def install() -> None:
    """Takes over the signals of this process; those that it was started to ignore stay ignored."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in _SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _note)
    threading.Thread(target=_watch, args=(reading,), name="interrupts", daemon=True).start()
    parent = os.environ.pop(workers.PARENT, "")
    if parent.isdigit():
        threading.Thread(target=_end_with, args=(int(parent),), name="parent", daemon=True).start()


@contextmanager
def keeping(words: Callable[[], str]) -> Iterator[None]:
    """A block in which an interruption calls `words`, which keeps what there is and returns the line to say."""
    _keepers.append(words)
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedCommandError(words()) from None
    finally:
        _keepers.pop()


def hold() -> None:
    """Stops the main thread for good once a signal has come: the process is about to end."""
    if _received and threading.current_thread() is threading.main_thread():
        threading.Event().wait()


def say(line: str) -> None:
    """One line on standard error, past all buffers, if anybody is there."""
    with suppress(OSError, ValueError):
        if os.isatty(2):  # a progress bar may stand in the line, and have hidden the cursor
            line = f"\r\x1b[K\x1b[?25h{line}"
        os.write(2, f"{line}\n".encode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace"))


def leave(status: int) -> NoReturn:
    """Ends a process whose command has ended: exit functions run, streams are flushed."""
    flush()
    with suppress(BaseException):
        atexit._run_exitfuncs()
    flush()
    hold()
    os._exit(status)


def flush() -> None:
    """Writes what the streams still hold; a stream that has gone is given up without a word."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
                stream.flush()


def _note(number: int, frame: FrameType | None) -> None:
    """Python's handler, in the main thread; the thread that ends the process reads the signal from a pipe."""
    _received.append(number)


def _watch(reading: int) -> NoReturn:
    """The thread that answers the first signal, and ends the process at once at a second one."""
    while (number := os.read(reading, 1)[0]) not in _SIGNALS:
        pass
    threading.Thread(target=_end, args=(number,), name="ending", daemon=True).start()
    began = time.monotonic()
    while os.read(reading, 1)[0] not in _SIGNALS or time.monotonic() < began + SAME_SECONDS:
        pass
    os._exit(128 + number)


def _end_with(parent: int) -> None:
    """The thread of a process that another one started: it ends when that one does, however that ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _end(signal.SIGTERM)


def _end(number: int) -> None:
    """Keeps what there is, says the line, ends the processes started here, and then this one."""
    _received.append(number)
    try:
        try:
            line = _keepers[-1]() if _keepers else WORDS
        except Exception as reason:  # nothing is to be in the way of ending
            line = f"interrupted; {type(reason).__name__}: {' '.join(str(reason).split())}"
        workers.starting.acquire(timeout=STARTING_SECONDS)
        say(f"linnet: {line}")
        if (processes := sys.modules.get("multiprocessing")) is not None:
            for child in processes.active_children():
                child.kill()
        if (files := sys.modules.get("linnet._files")) is not None:
            files.abandon()
    finally:
        os._exit(128 + number)
