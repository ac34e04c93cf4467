"""Processes that make the calls: each is watched, and begun anew after a call at which it hung or died."""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
from multiprocessing.connection import Connection
from typing import Any

MEMORY_BYTES = 8 * 2**30  # of addresses, for each process: what is refused is then the same on every machine
HANG = 180.0  # seconds without a word from a process, after which it is ended: no signal ends compiling


def work(pipe: Connection, tasks: list[tuple[int, int]], twice: int, seed: int) -> None:
    """Makes the calls of some examples from given positions on, and tells of each before and after."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    from fuzz.calling import called
    from fuzz.cases import cases, listed
    from fuzz.scaling import scaled

    everything = listed()
    for index, first in tasks:
        example = everything[index]
        chosen = cases(example, twice=twice, seed=seed)
        for at in range(first, len(chosen)):
            pipe.send(("begin", index, at, chosen[at].label))
            pipe.send(("end", index, at, called(chosen[at])))
        for outcome in scaled(example):
            pipe.send(("end", index, len(chosen), outcome))
        pipe.send(("done", index, len(chosen), None))
    pipe.close()


class Worker:
    """A process with its share of the examples; it is begun anew after the call at which it hung or died."""

    def __init__(self, tasks: list[int], twice: int, seed: int) -> None:
        self.tasks = [(task, 0) for task in tasks]
        self.twice, self.seed = twice, seed
        self.begin()

    def begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(there, self.tasks, self.twice, self.seed), daemon=True)
        self.process.start()
        there.close()
        self.heard = time.monotonic()
        self.now: tuple[int, int, str] | None = None

    def take(self, found: list[Any]) -> bool:
        """Reads what the process says; False once it is done."""
        from fuzz.calling import Outcome

        try:
            kind, index, at, what = self.pipe.recv()
        except EOFError:
            self.process.join()
            if not self.tasks:
                return False
            return self.again(found, Outcome(self.now[2] if self.now else "?", "died", 0.0))
        self.heard = time.monotonic()
        if kind == "begin":
            self.now = (index, at, str(what))
        elif kind == "end":
            found.append(what)
            self.now = None
        else:
            self.tasks = [task for task in self.tasks if task[0] != index]
        return True

    def again(self, found: list[Any], outcome: Any) -> bool:
        """Goes on after a call that ended the process, or that had to be ended."""
        if self.now is None:
            raise RuntimeError("a process of the fuzz died between two calls")
        outcome.broken["too slow" if outcome.ended == "hung" else "unclear error"] = f"the process {outcome.ended}"
        found.append(outcome)
        index, at, _ = self.now
        self.tasks = [(index, at + 1), *(task for task in self.tasks if task[0] != index)]
        self.begin()
        return True
