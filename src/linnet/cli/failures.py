"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import typer

from linnet import _extras as extras
from linnet.cli import interrupts

EXPLAINED = (ValueError, RuntimeError, OSError, ImportError)  # which linnet raises with a sentence for the user


class WrongCallError(ValueError):
    """What was asked for does not exist: a name, a setting, a choice."""


def explain(reason: BaseException) -> tuple[str, int]:
    """The line and the exit status for what ended a command."""
    if isinstance(reason, (KeyboardInterrupt, InterruptedError, typer.Abort)):  # in a program that calls `main`
        return str(reason) or interrupts.LINE, 130
    if isinstance(reason, SystemExit):  # Typer's answer to a broken pipe
        return "the program reading the output has gone", 1
    return cause(reason), 2 if isinstance(reason, WrongCallError) or hasattr(reason, "format_message") else 1


def cause(reason: BaseException) -> str:
    """Why something failed, in one line."""
    text, ours = str(reason), type(reason).__module__.startswith("linnet.") or type(reason) is ArithmeticError
    if hasattr(reason, "format_message"):  # an unknown option, a missing argument
        text = reason.format_message()
    elif isinstance(reason, OSError) and reason.strerror:
        about = f" {reason.filename!r}" if reason.filename else ""
        text = f"cannot use{about}: {reason.strerror}{' (the disk is full)' * (reason.errno == errno.ENOSPC)}"
    elif isinstance(reason, ModuleNotFoundError) and "linnet[" not in text:  # which says what to install
        known = (reason.name or "").split(".")[0] in extras.EXTRAS
        text = extras.line(str(reason.name)) if known else f"ModuleNotFoundError: {text}"
    elif not text or not (ours or isinstance(reason, EXPLAINED)):
        text = f"{type(reason).__name__}: {text} (LINNET_TRACEBACK=1 shows where)"
    return " ".join(text.split())


def broken_down(reason: BaseException, changes: Mapping[str, Any]) -> str:
    """Why a computation with changed settings failed: where no argument is named, the settings are."""
    why = cause(reason).rstrip(".")
    if not changes or "`" in why or type(reason).__module__.startswith("linnet.") or isinstance(reason, OSError):
        return why
    from linnet._arguments import shown  # which loads NumPy: a command that fails early does not need it

    given = ", ".join(f"{name}={shown(value)}" for name, value in changes.items())
    return f"its computation breaks down with {given}: {why}"
