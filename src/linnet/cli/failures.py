"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from linnet import _extras as extras
from linnet.cli import interrupts

EXPLAINED = (ValueError, RuntimeError, OSError, ImportError)  # which linnet raises with a sentence for the user


class WrongCallError(ValueError):
    """What was asked for does not exist: a name, a setting, a choice."""


@contextmanager
def as_wrong_call() -> Iterator[None]:
    """Raise a `ValueError` of the block as a `WrongCallError`: the user gave the value that linnet refuses."""
    try:
        yield
    except ValueError as reason:
        raise WrongCallError(str(reason)) from reason  # whose traceback LINNET_TRACEBACK shows


def line_and_status(reason: BaseException) -> tuple[str, int]:
    """Return the line to print and the exit status for the exception that ended a command."""
    if isinstance(reason, KeyboardInterrupt):  # in a program that calls `main`
        return interrupts.keep_results(), 130
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
    elif isinstance(reason, ModuleNotFoundError) and (reason.name or "").split(".")[0] in extras.EXTRAS:
        text = text if "linear-networks[" in text else extras.line(str(reason.name))
    elif not text or not (ours or isinstance(reason, EXPLAINED)):
        text = f"{type(reason).__name__}: {text} (LINNET_TRACEBACK=1 shows where)"
    return " ".join(text.split())


def cause_with_settings(reason: BaseException, changes: Mapping[str, object]) -> str:
    """Return in one line why a computation failed, and with which changed settings."""
    given = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in changes.items())
    return cause(reason).rstrip(".") + f" (with {given})" * bool(changes)
