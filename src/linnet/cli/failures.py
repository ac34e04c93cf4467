"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import functools
import os
import reprlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from linnet import _extras as extras
from linnet._workers import PARENT_VARIABLE, when_parent_ends

EXPLAINED = (ValueError, RuntimeError, OSError, ImportError)  # which linnet raises with a sentence for the user
INTERRUPTED = "interrupted; what was finished is kept, and the same command goes on from there"
AGAIN_SECONDS, JAX_SECONDS = 0.01, 2.0  # until an interruption is tried again, and for how long JAX may go on
SAME_SECONDS = 0.3  # within which signals are one Ctrl-C: some senders send it to the process and to its group
_came: list[tuple[int, float]] = []  # the first signal of this process, and when it came


class WrongCallError(ValueError):
    """A name, setting or choice that the user gave does not exist."""


class SignalInterrupt(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP. Its text is the line to print, if the command has its own line."""


class InterruptedCommandError(Exception):
    """A `KeyboardInterrupt` on its way through Typer, which would drop its text."""

    def __init__(self, reason: KeyboardInterrupt) -> None:
        super().__init__(str(reason) or INTERRUPTED)
        self.status = 128 + (_came[0][0] if _came else signal.SIGINT)


def take_over_signals() -> None:
    """Raise `SignalInterrupt` in the main thread at the first signal, and end the process at once at a second.

    Signals that this process was started to ignore stay ignored. If the process that started it has asked for that by
    `PARENT_VARIABLE`, this one is interrupted when that one ends.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _came:
            if time.monotonic() > _came[0][1] + SAME_SECONDS:
                os._exit(128 + number)
            return
        _came.append((number, time.monotonic()))
        interrupt_once(number, frame)

    def interrupt_once(number: int, frame: FrameType | None) -> None:
        """Raise, or do so a moment later: an exception inside a callback of JAX may end the process in C++."""
        inside_jax = frame is not None and "jax" in Path(frame.f_code.co_filename).parts
        if inside_jax and time.monotonic() < _came[0][1] + JAX_SECONDS and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            return
        raise SignalInterrupt

    def again_if_ignored(unraisable: sys.UnraisableHookArgs) -> None:
        """Raise again what Python has ignored in a callback or a `__del__`."""
        if isinstance(unraisable.exc_value, SignalInterrupt) and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = again_if_ignored
    if hasattr(signal, "SIGALRM"):  # not on Windows
        signal.signal(signal.SIGALRM, interrupt_once)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, interrupt)
    if (parent := os.environ.pop(PARENT_VARIABLE, "")).isdigit():
        main = threading.main_thread().ident or 0
        when_parent_ends(int(parent), lambda: signal.pthread_kill(main, signal.SIGTERM))


@contextmanager
def if_interrupted(line: Callable[[], str]) -> Iterator[None]:
    """Print `line()` if the block is interrupted."""
    try:
        yield
    except KeyboardInterrupt as reason:
        reason.args = (line(),)
        raise


def interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Let an interruption of a command keep its text on the way through Typer."""

    @functools.wraps(command)
    def wrapped(*arguments: object, **options: object) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt as reason:
            raise InterruptedCommandError(reason) from reason

    return wrapped


@contextmanager
def as_wrong_call() -> Iterator[None]:
    """Raise a `ValueError` of the block as a `WrongCallError`: the user gave the value that linnet refuses."""
    try:
        yield
    except ValueError as reason:
        raise WrongCallError(str(reason)) from reason  # whose traceback LINNET_TRACEBACK shows


def line_and_status(reason: BaseException) -> tuple[str, int]:
    """Return the line to print and the exit status for the exception that ended a command."""
    if isinstance(reason, KeyboardInterrupt):  # outside of a command, while modules are imported
        reason = InterruptedCommandError(reason)
    if isinstance(reason, InterruptedCommandError):
        return str(reason), reason.status
    if isinstance(reason, SystemExit):  # Typer's answer to a broken pipe
        return "the program reading the output has gone", 1
    return cause(reason), 2 if isinstance(reason, WrongCallError) or hasattr(reason, "format_message") else 1


def cause(reason: BaseException) -> str:
    """Return in one line why something failed."""
    text = str(reason)
    # theories raise a plain `ArithmeticError`; those derived from it, such as `ZeroDivisionError`, are Python's
    ours = type(reason).__module__.partition(".")[0].startswith("linnet") or type(reason) is ArithmeticError
    if hasattr(reason, "format_message"):  # Typer's: an unknown option, a missing argument
        text = reason.format_message()
    elif isinstance(reason, OSError) and reason.strerror:
        text = f"cannot use{f' {reason.filename!r}' if reason.filename else ''}: {reason.strerror}"
    elif isinstance(reason, ModuleNotFoundError) and (reason.name or "").split(".")[0] in extras.INSTALLED_BY:
        text = text if extras.MISSING in text else extras.line(str(reason.name))
    elif not text or not (ours or isinstance(reason, EXPLAINED)):
        text = f"{type(reason).__name__}: {text} (LINNET_TRACEBACK=1 shows where)"
    return " ".join(text.split())


def cause_with_settings(reason: BaseException, changes: Mapping[str, object]) -> str:
    """Return in one line why a computation failed, and with which changed settings."""
    given = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in changes.items())
    return cause(reason).rstrip(".") + f" (with {given})" * bool(changes)
