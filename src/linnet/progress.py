"""A progress bar for long work: on a terminal it shows what is done and the time left, elsewhere it is silent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_drawn: ContextVar[bool] = ContextVar("whether a bar is on the screen already", default=False)


@contextmanager
def bar(title: str, total: int, *, done: int = 0, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Yields `advance(n)`. Nothing is drawn when standard error is not a terminal, or inside another bar.

    `done` of the `total` were there before; with a `unit` the rate is shown too.
    """
    if total <= 0 or _drawn.get() or not sys.stderr.isatty():
        yield lambda n: None
        return
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
            return Text(f"{task.speed:.3g} {unit}/s" if task.speed else f"- {unit}/s")

    rate = (Rate(),) if unit else ()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *rate, TimeRemainingColumn())
    token = _drawn.set(True)
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=total, completed=done)
            yield lambda n: progress.update(task, advance=n)
    finally:
        _drawn.reset(token)
