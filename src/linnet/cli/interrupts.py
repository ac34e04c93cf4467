"""Ctrl-C, SIGTERM and SIGHUP at any moment: keep finished work, print one line, and end the process.

A thread waits for the signals: an exception would come late inside a compiled step, and be lost inside a callback. It
calls what the command gave to `on_interrupt`, prints the line that this returns, and ends the process by `os._exit`.
The main thread goes on meanwhile, and stops where it would print something or end (`stop_if_interrupted`).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from linnet import _workers as workers

SAME_SECONDS = 0.3  # within which signals are one Ctrl-C: some senders send it to the process and to its group
STARTING_SECONDS = 10.0  # to wait for workers that are being started: half-started ones print tracebacks
LINE = "interrupted; what was finished is kept, and the same command goes on from there"
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_received: list[int] = []
_keeper: list[Callable[[], str]] = [lambda: LINE]  # one: of the command at work


def install() -> None:
    """Take over the signals of this process, and end it with the process that started it, where that asked for it.

    Call it once, in the main thread, before any other thread or process is started. Signals that this process was
    started to ignore stay ignored. A parent asks by `_workers.PARENT_VARIABLE` in the environment, which is taken out
    of it here: processes that this one starts are not watched for that parent.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in _SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, lambda number, frame: _received.append(number))
    threading.Thread(target=_watch_signals, args=(reading,), daemon=True).start()
    if (parent := os.environ.pop(workers.PARENT_VARIABLE, "")).isdigit():
        threading.Thread(target=_watch_parent, args=(int(parent),), daemon=True).start()


def on_interrupt(keep: Callable[[], str] = lambda: LINE) -> None:
    """Let an interruption call `keep`, in another thread: it stores the results so far and returns the line to print.

    Without `keep` nothing is left to store: the line says that what was finished is kept. Every such line begins with
    "interrupted" (tests/fuzz/interrupts.py looks for it).
    """
    _keeper[0] = keep


def keep_results() -> str:
    """Call what was given to `on_interrupt`, which stores the results so far, and return the line that says so."""
    try:
        return _keeper[0]()
    except Exception as reason:
        return f"interrupted; {type(reason).__name__}: {' '.join(str(reason).split())}"


def stop_if_interrupted() -> bool:
    """Return whether a signal has come: the process is about to end, and its main thread waits here for that."""
    if _received and threading.current_thread() is threading.main_thread():
        threading.Event().wait()
    return bool(_received)


def exit_process(status: int) -> NoReturn:
    """End a process whose command has ended: exit functions run, streams are flushed, or given up.

    By `os._exit`, since Python's own way out prints a traceback for a closed stream, and would let a signal that comes
    now be lost.
    """
    with suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    stop_if_interrupted()
    os._exit(status)


def _watch_signals(reading: int) -> None:
    """Wait for signals, in a thread: interrupt the command at the first, and end the process at once at a second."""
    signals = (number for number in iter(lambda: os.read(reading, 1)[0], None) if number in _SIGNALS)
    threading.Thread(target=_interrupt, args=(next(signals),), daemon=True).start()
    again = time.monotonic() + SAME_SECONDS
    for number in signals:
        if time.monotonic() > again:
            os._exit(128 + number)


def _watch_parent(parent: int) -> None:
    """Wait, in a thread, until the process that started this one has ended, however; then interrupt this one too."""
    while os.getppid() == parent:
        time.sleep(0.5)
    _interrupt(signal.SIGTERM)


def _interrupt(number: int) -> NoReturn:
    """Store the results so far, end the processes started here, print the line, and end this process."""
    _received.append(number)
    line = keep_results()
    with suppress(Exception):  # nothing is to be in the way of ending
        workers.starting.acquire(timeout=STARTING_SECONDS)
        for child in sys.modules["multiprocessing"].active_children() if "multiprocessing" in sys.modules else ():
            child.kill()
    with suppress(Exception):  # past all buffers; on a terminal, a progress bar may stand there and hide the cursor
        clear = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""
        os.write(2, f"{clear}linnet: {line}\n".encode(sys.stderr.encoding, "replace"))
    with suppress(Exception):
        sys.modules["linnet._files"].abandon()  # last: other threads go on until the process has ended
    os._exit(128 + number)
