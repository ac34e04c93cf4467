"""Progress of long work: a bar on a terminal, elsewhere a line now and then; each with the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_SECONDS = 60.0  # between two lines where there is no terminal

_drawn: ContextVar[bool] = ContextVar("whether a bar is on the screen already", default=False)
_host: ContextVar[Any] = ContextVar("the bar under which one more may be drawn", default=None)


@contextmanager
def bar(title: str, total: int, *, done: int = 0, unit: str = "", hosts: bool = False) -> Iterator[Callable[..., None]]:
    """Yields `advance(n, title=None)`. Inside another bar nothing is drawn. Where standard error is not a terminal, a
    line is written after each minute of work.

    `done` of the `total` were there before; with a `unit` the rate is shown too; a bar that `hosts` lets the next one
    inside it be drawn below.
    """
    host = _host.get()
    if total <= 0 or (_drawn.get() and host is None):
        yield lambda n, title=None: None
        return
    drawn = _drawn.set(True)
    try:
        if not sys.stderr.isatty():
            yield _line_writer(title, total, done, unit)
            return
        if host is not None:
            token = _host.set(None)
            try:
                with _bar_line(host, f"  {title}", total, done, unit) as advance:
                    yield advance
            finally:
                _host.reset(token)
            return
        with _build_bar() as progress, _bar_line(progress, title, total, done, unit) as advance:
            token = _host.set(progress if hosts else None)
            try:
                yield advance
            finally:
                _host.reset(token)
    finally:
        _drawn.reset(drawn)


def _line_writer(title: str, total: int, done: int, unit: str) -> Callable[..., None]:
    """An `advance` that writes a line to standard error where the last one, or the beginning, is a minute ago."""
    began = last = time.monotonic()
    finished, shown = done, title

    def advance(n: int, title: str | None = None) -> None:
        nonlocal finished, last, shown
        finished, shown = finished + n, title or shown
        now = time.monotonic()
        if now < last + LINE_SECONDS or finished >= total:
            return
        last = now
        left = (now - began) * (total - finished) / (finished - done) if finished > done else 0.0
        about = f", about {left / 60:.1f} min left" if left else ""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"progress: {shown}, {finished} of {total}{f' {unit}' if unit else ''}{about}\n")
            sys.stderr.flush()

    return advance


@contextmanager
def _bar_line(progress: Progress, title: str, total: int, done: int, unit: str) -> Iterator[Callable[..., None]]:
    """Add one line to a bar and yield its `advance`; the line goes at the end of the block."""
    task = progress.add_task(title, total=total, completed=done, unit=unit)
    progress.refresh()

    def advance(n: int, title: str | None = None) -> None:
        progress.update(task, advance=n, description=title, refresh=title is not None)

    try:
        yield advance
    finally:
        progress.remove_task(task)


def _build_bar() -> Progress:
    """Build the bar of all commands: title, share done, rate, time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            return Text("" if not unit else f"{task.speed:.3g} {unit}/s" if task.speed else f"- {unit}/s")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    # What the program says goes above the bar, unless its output is read by another program.
    return Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        speed_estimate_period=3600.0,  # seconds; a figure may take minutes, and the time left should still be known
    )
