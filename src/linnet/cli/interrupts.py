"""Ctrl-C, SIGTERM and SIGHUP at any moment: keep finished work, print one line, and end the process.

A thread waits for the signals: an exception would come late inside a compiled step, and be lost inside a callback. It
calls what the command gave to `keeping`, says the line that this returns, and ends the process by `os._exit`. The main
thread goes on meanwhile, and stops where it would say something or end (`hold`).
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
from typing import NoReturn

from linnet import _workers as workers

SAME_SECONDS = 0.3  # within which signals are one Ctrl-C: some senders send it to the process and to its group
STARTING_SECONDS = 10.0  # to wait for workers that are being started: half-started ones print tracebacks
LINE = "interrupted; what was finished is kept, and the same command goes on from there"
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_received: list[int] = []
_keepers: list[Callable[[], str]] = []  # of the commands at work, the innermost last


def install() -> None:
    """Take over the signals of this process; those that it was started to ignore stay ignored."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in _SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, lambda number, frame: _received.append(number))
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    if (parent := os.environ.pop(workers.PARENT_VARIABLE, "")).isdigit():
        threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()


@contextmanager
def keeping(keep: Callable[[], str]) -> Iterator[None]:
    """A block in which an interruption calls `keep`, which stores the results so far and returns the line to print."""
    _keepers.append(keep)
    try:
        yield
    except KeyboardInterrupt:  # in a program that calls `main`
        raise InterruptedError(keep()) from None
    finally:
        _keepers.pop()


def hold() -> None:
    """Stop the main thread for good once a signal has come: the process is about to end."""
    if _received and threading.current_thread() is threading.main_thread():
        threading.Event().wait()


def is_ending() -> bool:
    """Whether a signal has come: the process is about to end."""
    return bool(_received)


def end(status: int, line: str = "") -> NoReturn:
    """End a process whose command has ended: exit functions run, streams are flushed, or given up."""
    if line:
        _say(line)
    with suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    hold()
    os._exit(status)


def _say(line: str) -> None:
    """Write a line to standard error, past all buffers; do nothing if it is closed."""
    with suppress(OSError, ValueError):
        clear = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""  # a progress bar may stand there, and hide the cursor
        os.write(2, f"{clear}linnet: {line}\n".encode(getattr(sys.stderr, "encoding", None) or "utf-8", "replace"))


def _watch(reading: int) -> NoReturn:
    """The thread that answers the first signal, and ends the process at once at a second one."""
    since = None
    while True:
        if (number := os.read(reading, 1)[0]) not in _SIGNALS:
            continue
        if since is None:
            since = time.monotonic()
            threading.Thread(target=_interrupt, args=(number,), daemon=True).start()
        elif time.monotonic() > since + SAME_SECONDS:
            os._exit(128 + number)


def _end_with(parent: int) -> None:
    """The thread of a process that another one started: it ends when that one does, however that ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _interrupt(signal.SIGTERM)


def _interrupt(number: int) -> None:
    """Store the results so far, print the line, end the processes started here, and then this one."""
    _received.append(number)
    try:
        line = _keepers[-1]() if _keepers else LINE
    except Exception as reason:
        line = f"interrupted; {type(reason).__name__}: {' '.join(str(reason).split())}"
    with suppress(Exception):  # nothing is to be in the way of ending
        workers.starting.acquire(timeout=STARTING_SECONDS)
        _say(line)
        for child in sys.modules["multiprocessing"].active_children() if "multiprocessing" in sys.modules else ():
            child.kill()
        if "linnet._files" in sys.modules:
            sys.modules["linnet._files"].abandon()
    os._exit(128 + number)
