"""Progress bars of long work, with the time left; nothing is drawn where standard error is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

# The bars on the screen, and whether one more may be drawn below them; None if there are none.
_screen: ContextVar[tuple[Progress, bool] | None] = ContextVar("the bars on the screen", default=None)


@contextmanager
def bar(title: str, total: int, *, done: int = 0, unit: str = "", hosts: bool = False) -> Iterator[Callable[..., None]]:
    """Draw a bar while the block runs; its value is `advance(n, title=None)`.

    Inside another bar nothing is drawn, unless that one `hosts`: then one more is drawn below it.

    - `done`: part of `total` that was finished before
    - `unit`: unit of the rate; an empty one hides the rate
    """
    screen = _screen.get()
    if total <= 0 or not sys.stderr.isatty() or (screen and not screen[1]):
        yield lambda n, title=None: None
        return
    progress = screen[0] if screen else _progress()
    task = progress.add_task(f"  {title}" if screen else title, total=total, completed=done, unit=unit)

    def advance(n: int, title: str | None = None) -> None:
        progress.update(task, advance=n, description=title, refresh=title is not None)

    token = _screen.set((progress, hosts and not screen))
    try:
        if screen:
            progress.refresh()
        else:
            progress.start()
        yield advance
    finally:
        _screen.reset(token)
        progress.remove_task(task)
        if not screen:
            progress.stop()


def _progress() -> Progress:
    """Return the columns of all commands: title, number finished, rate and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            return Text("" if not unit else f"{task.speed:.3g} {unit}/s" if task.speed else f"- {unit}/s")

    # What the program prints goes above the bar, unless its output is read by another program.
    return Progress(
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeLeft()),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        speed_estimate_period=3600.0,  # seconds; a figure may take minutes, and the time left should still be shown
    )
