"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import typer

from linnet import _extras as extras
from linnet.cli import interrupts

MAX_LETTERS = 80  # of a value in a message
READER_GONE = "the program reading the output has gone"
# Kinds that linnet raises with a text for who typed the command, and those of them that Python raises without one.
WITH_WORDS = (ValueError, RuntimeError, OSError, ArithmeticError, ModuleNotFoundError)
WITHOUT_WORDS = (OverflowError, ZeroDivisionError)


class WrongCallError(ValueError):
    """What was asked for does not exist: a name, a setting, a choice."""


def explain(reason: BaseException) -> tuple[str, int]:
    """The line and the exit status for what ended a command."""
    if isinstance(reason, (KeyboardInterrupt, InterruptedError, typer.Abort)):  # in a program that calls `main`
        return str(reason) or interrupts.LINE, 130
    if isinstance(reason, SystemExit) and reason.code == 1:  # Typer's answer to a reader that has gone
        return READER_GONE, 1
    if hasattr(reason, "format_message"):  # an unknown option, a missing argument
        return _line(reason.format_message()), 2
    return cause(reason), 2 if isinstance(reason, WrongCallError) or _of_settings(reason) else 1


def cause(reason: BaseException) -> str:
    """Why something failed, in one line."""
    text, ours = str(reason), type(reason).__module__.startswith("linnet.") or type(reason) is ImportError
    if isinstance(reason, ModuleNotFoundError) and "linnet[" not in text:  # which says what to install
        if (reason.name or "").split(".")[0] in extras.EXTRAS:
            return extras.line(str(reason.name))
    elif _of_settings(reason):
        first = reason.errors()[0]  # type: ignore[attr-defined]
        text, place = first["msg"].removeprefix("Value error, "), ".".join(map(str, first["loc"]))
        return _line(f"`{place}`: {text}: got {_shown(first.get('input'))}" if place else text)
    elif isinstance(reason, OSError) and reason.strerror:
        about = f" {reason.filename!r}" if reason.filename else ""
        full = " (the disk is full)" if reason.errno == errno.ENOSPC else ""
        return _line(f"cannot use{about}: {reason.strerror}{full}")
    elif text and (ours or isinstance(reason, WITH_WORDS)) and not isinstance(reason, WITHOUT_WORDS):
        return _line(text)
    return _line(f"{type(reason).__name__}: {text}") + " (LINNET_TRACEBACK=1 shows where)"


def broken_down(reason: BaseException, changes: Mapping[str, Any]) -> str:
    """Why a computation with changed settings failed: where no argument is named, the settings are."""
    why = cause(reason).rstrip(".")
    if not changes or "`" in why or type(reason).__module__.startswith("linnet.") or isinstance(reason, OSError):
        return why
    given = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
    return f"its computation breaks down with {given}: {why}"


def _of_settings(reason: BaseException) -> bool:
    """Whether this is pydantic's refusal of a setting."""
    return type(reason).__name__ == "ValidationError" and hasattr(reason, "errors")


def _shown(value: object) -> str:
    return f"{text[: MAX_LETTERS - 3]}..." if len(text := repr(value)) > MAX_LETTERS else text


def _line(text: str) -> str:
    return " ".join(text.split())
