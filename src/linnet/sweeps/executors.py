"""Where blocks are computed: in this process, or on Dask workers of this machine or of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from linnet.sweeps.grid import Block, Grid
from linnet.sweeps.task import Outcome, Task

Work = Callable[[Iterable[Block]], Iterator[tuple[Block, Outcome]]]


@contextmanager
def in_process(task: Task, grid: Grid) -> Iterator[Work]:
    """One block after the other, here."""

    def work(blocks: Iterable[Block]) -> Iterator[tuple[Block, Outcome]]:
        for block in blocks:
            yield block, task(grid.arguments(block))

    yield work
