"""Blocks on workers: a pool of this machine's processes, or any `concurrent.futures.Executor`."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from typing import Any

from linnet._workers import ENVIRONMENT, end_pool, environment_restored, interrupts_later, process_pool
from linnet.sweeps._blocks import Block
from linnet.sweeps._store import Job
from linnet.sweeps._task import Task
from linnet.sweeps.errors import ConfigurationError, ExecutorError, SweepError
from linnet.sweeps.grid import Grid

TRIES = 3  # of starting workers that die before they are ready, and of a block whose worker dies
AHEAD = 1000  # blocks under way on an executor of the caller's, which may have as many workers
POLL_SECONDS = 1.0  # between looks whether workers are alive


class Given:
    """An executor of the caller's, who starts and ends it."""

    executor: Any

    def __init__(self, executor: Executor) -> None:
        self.executor, self.ahead = executor, AHEAD

    def submit(self, task: Task, *call: Any) -> Future[Block]:
        """Give a block to it."""
        return self.executor.submit(task.on_worker, *call)

    def lost(self) -> bool:
        """Whether a worker has died without a message."""
        return False

    def restart(self) -> None:
        """What broke here is not ours to start again."""
        raise ExecutorError("the executor is broken. Finished cells are intact: start another one and resume.")

    def stop(self) -> None:
        """Leave it to the caller."""


class Pool(Given):
    """Processes of this machine, one block each on one thread. They end when this process does, however it ends."""

    def __init__(self, workers: int) -> None:
        self.workers, self.ahead = workers, 2 * workers
        self.start()

    def start(self) -> None:
        """Start the processes; raise an error if they cannot start."""
        for _ in range(TRIES):
            self.executor = process_pool(self.workers)
            with suppress(BrokenExecutor), environment_restored(ENVIRONMENT), interrupts_later():
                if self.executor.submit(os.getpid).result():
                    return
            self.stop()
        raise ExecutorError(
            "workers die as they start. Is the work of the script under `if __name__ == '__main__':`, and is there "
            "memory for them?"
        )

    def submit(self, task: Task, *call: Any) -> Future[Block]:
        """Give a block to the pool, which may start a process for it."""
        with environment_restored(ENVIRONMENT), interrupts_later():
            return super().submit(task, *call)

    def lost(self) -> bool:
        """Whether a worker has died: the pool itself may not watch one that it started later."""
        return any(process.exitcode is not None for process in (self.executor._processes or {}).values())

    def restart(self) -> None:
        """Replace a pool that broke."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """End all processes at once."""
        end_pool(self.executor)


class Here(Given):
    """This process, one block at a time."""

    def __init__(self) -> None:
        self.ahead = 1

    def submit(self, task: Task, attempt: int, *call: Any) -> Future[Block]:
        """Compute it now."""
        future: Future[Block] = Future()
        future.set_result(task(*call))
        return future


def compute(
    task: Task, grid: Grid, jobs: Sequence[Job], workers: Given, skip: Callable[[Job], bool]
) -> Iterator[tuple[Job, Block | None]]:
    """Compute jobs, some at a time, and yield each with its result, or with None where `skip` finds that it is there.

    A worker's death is blamed on all blocks that were under way. They are tried again one by one: one that has lost its
    worker three times, and was alone the last time, is left out, and named by the error in the end.
    """
    queue, suspects = deque(jobs), deque[Job]()
    running: dict[Future[Block], Job] = {}
    losses = Counter[Job]()
    given_up: dict[Job, Exception] = {}
    broken = False
    while queue or suspects or running:
        alone = not queue and not running
        while not broken and len(running) < (1 if alone else workers.ahead) and (queue or (alone and suspects)):
            job = (queue or suspects).popleft()
            if skip(job):
                yield job, None
                continue
            try:
                running[workers.submit(task, losses[job], *grid.arguments(*job))] = job
            except BrokenExecutor:
                queue.appendleft(job)
                broken = True
        done = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
        if running and not done and not broken and workers.lost():
            workers.stop()  # which ends what is under way, too
            broken = True
        for future in done:
            job = running.pop(future)
            try:
                block = future.result()
            except (SweepError, ConfigurationError):
                raise
            except CancelledError as error:
                if not isinstance(workers, Pool):
                    raise ExecutorError("the executor has been closed. Finished cells are intact: resume.") from error
                queue.appendleft(job)
            except Exception as error:  # of the executor: the task itself catches what its function raises
                broken = broken or isinstance(error, BrokenExecutor)
                losses[job] += 1
                if not alone or losses[job] < TRIES:
                    suspects.append(job)
                else:
                    given_up[job] = error
            else:
                yield job, block
        if broken and not running:
            workers.restart()
            broken = False
    for (number, positions), loss in given_up.items():
        place = grid.place(number, positions[0] if positions else 0)
        raise ExecutorError(
            f"{len(given_up)} blocks lost their workers {TRIES} times, perhaps because memory ran out ({loss!r}), the "
            f"first from {place} on. All others are finished: resume to try these again."
        )
