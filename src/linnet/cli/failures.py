"""Every failure of a command as one line that says why, and an exit status."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import typer

from linnet import _extras as extras
from linnet.cli import interrupts

LONGEST = 80  # letters of a value in a message


def explain(reason: BaseException) -> tuple[str, int]:
    """The line and the exit status for what ended a command."""
    if isinstance(reason, interrupts.InterruptedCommandError):
        return str(reason), interrupts.status()
    if interrupts.came() or isinstance(reason, (KeyboardInterrupt, typer.Abort)):  # whatever became of the exception
        return interrupts.WORDS, interrupts.status()
    if isinstance(reason, OutputError):
        return str(reason), 1
    if hasattr(reason, "format_message"):  # a wrong call: an unknown option, a missing argument
        return _line(reason.format_message()), 2
    return cause(reason), 2 if isinstance(reason, WrongCallError) or _of_settings(reason) else 1


class WrongCallError(ValueError):
    """What was asked for does not exist: a name, a setting, a choice."""


class OutputError(Exception):
    """Standard output cannot be written to: the disk is full, or the program that read it has gone."""

    @classmethod
    def of(cls, reason: OSError) -> OutputError:
        """The refusal of the system in words."""
        if isinstance(reason, BrokenPipeError):
            return cls("the program reading the output has gone")
        return cls(f"cannot write to standard output: {reason.strerror or reason}")


def interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """The command with Ctrl-C as a failure like others, to be told in one line."""

    @wraps(command)
    def call(*arguments: Any, **options: Any) -> None:
        with interrupts.working():
            command(*arguments, **options)

    return call


def cause(reason: BaseException) -> str:
    """Why something failed, in one line."""
    if isinstance(reason, ModuleNotFoundError) and reason.name:
        if "linnet[" in str(reason):  # it says itself what to install
            return _line(str(reason))
        if reason.name.split(".")[0] in extras.EXTRAS:
            return extras.line(reason.name)
    if _of_settings(reason):
        first = reason.errors()[0]  # type: ignore[attr-defined]
        said = first["msg"].removeprefix("Value error, ")
        if not first["loc"]:  # of several settings together: the message names them
            return _line(said)
        return _line(f"`{'.'.join(map(str, first['loc']))}`: {said}: got {_shown(first.get('input'))}")
    if isinstance(reason, OSError) and reason.strerror:
        about = f" {reason.filename!r}" if reason.filename else ""
        full = " (the disk is full)" if reason.errno == errno.ENOSPC else ""
        return _line(f"cannot use{about}: {reason.strerror}{full}")
    if told(reason):
        return _line(str(reason))
    return _line(f"{type(reason).__name__}: {reason}") + " (LINNET_TRACEBACK=1 shows where)"


def told(reason: BaseException) -> bool:
    """Whether the error has words for who typed the command: one of linnet's own, or of a kind that linnet raises."""
    kinds = (ValueError, RuntimeError, OSError, ArithmeticError)
    ours = type(reason).__module__.startswith("linnet.") or isinstance(reason, kinds) or type(reason) is ImportError
    return ours and bool(str(reason)) and not isinstance(reason, (OverflowError, ZeroDivisionError))


def broken_down(reason: BaseException, changes: Mapping[str, Any]) -> str:
    """Why a computation with changed settings failed: where no argument is named, the settings are."""
    why = cause(reason).rstrip(".")
    if not changes or "`" in why or type(reason).__module__.startswith("linnet.") or isinstance(reason, OSError):
        return why
    given = ", ".join(f"{name}={_shown(value)}" for name, value in changes.items())
    return f"its computation breaks down with {given}: {why}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def unknown_setting(figure: str, field: str, known: list[str]) -> WrongCallError:
    """A setting that the figure does not have, with the near ones."""
    from linnet._arguments import did_you_mean  # which imports NumPy: not before every command

    return WrongCallError(f"{figure} has no setting {field!r}{did_you_mean(field, known)} It has {', '.join(known)}.")


def _of_settings(reason: BaseException) -> bool:
    """Whether this is pydantic's refusal of a setting."""
    return type(reason).__name__ == "ValidationError" and hasattr(reason, "errors")


def _line(text: str) -> str:
    return " ".join(text.split())
