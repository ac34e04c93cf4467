"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

import typer

from linnet import _extras as extras
from linnet.cli import interrupts

LONGEST = 80  # letters of a value in a message


class WrongCallError(ValueError):
    """A name, a setting or a choice that does not exist."""


class OutputError(Exception):
    """Standard output cannot be written to: the disk is full, or the program that read it has gone."""

    @classmethod
    def of(cls, reason: OSError) -> OutputError:
        """The refusal of the system in words."""
        if isinstance(reason, BrokenPipeError):
            return cls("the program reading the output has gone")
        return cls(f"cannot write to standard output: {reason.strerror or reason}")


def explain(reason: BaseException) -> tuple[str, int]:
    """The line and the exit status for what ended a command."""
    if isinstance(reason, (interrupts.InterruptedCommandError, KeyboardInterrupt, typer.Abort)):
        return str(reason) or interrupts.WORDS, 130
    if isinstance(reason, SystemExit) and reason.code == 1:  # Typer's answer to a reader that has gone
        reason = OutputError.of(BrokenPipeError())
    if isinstance(reason, OutputError):
        return str(reason), 1
    if hasattr(reason, "format_message"):  # a wrong call: an unknown option, a missing argument
        return _line(reason.format_message()), 2
    return cause(reason), 2 if isinstance(reason, WrongCallError) or _of_settings(reason) else 1


def cause(reason: BaseException) -> str:
    """Why something failed, in one line."""
    text = str(reason)
    if isinstance(reason, ModuleNotFoundError) and reason.name and "linnet[" not in text:  # which says what to install
        if reason.name.split(".")[0] in extras.EXTRAS:
            return extras.line(reason.name)
    elif _of_settings(reason):
        first = reason.errors()[0]  # type: ignore[attr-defined]
        text = first["msg"].removeprefix("Value error, ")
        where = ".".join(map(str, first["loc"]))  # empty for several settings together: the message names them
        return _line(f"`{where}`: {text}: got {_shown(first.get('input'))}" if where else text)
    elif isinstance(reason, OSError) and reason.strerror:
        about = f" {reason.filename!r}" if reason.filename else ""
        full = " (the disk is full)" if reason.errno == errno.ENOSPC else ""
        return _line(f"cannot use{about}: {reason.strerror}{full}")
    elif text and _has_words(reason):
        return _line(text)
    return _line(f"{type(reason).__name__}: {text}") + " (LINNET_TRACEBACK=1 shows where)"


def broken_down(reason: BaseException, changes: Mapping[str, Any]) -> str:
    """Why a computation with changed settings failed: where no argument is named, the settings are."""
    why = cause(reason).rstrip(".")
    if not changes or "`" in why or type(reason).__module__.startswith("linnet.") or isinstance(reason, OSError):
        return why
    given = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
    return f"its computation breaks down with {given}: {why}"


def _has_words(reason: BaseException) -> bool:
    """Whether the text of an error is for who typed the command: one of linnet's own, or of a kind linnet raises."""
    kinds = (ValueError, RuntimeError, OSError, ArithmeticError, ModuleNotFoundError)
    ours = type(reason).__module__.startswith("linnet.") or isinstance(reason, kinds) or type(reason) is ImportError
    return ours and not isinstance(reason, (OverflowError, ZeroDivisionError))


def _of_settings(reason: BaseException) -> bool:
    """Whether this is pydantic's refusal of a setting."""
    return type(reason).__name__ == "ValidationError" and hasattr(reason, "errors")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _line(text: str) -> str:
    return " ".join(text.split())
