"""Processes that make the calls: each is watched, and begun anew after a call at which it hung or died.

Each takes the next example when it is done with one: the slow ones stand first in the list, so that none is left over.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any

FREE_BYTES = 4 * 2**30  # that linnet is told are free, if as many are: what it refuses is the same on every machine
HANG = 180.0  # seconds without a word from a process, after which it is ended: no signal ends compiling


def work(pipe: Connection, twice: int, seed: int) -> None:
    """Makes the calls of the examples that it is sent, from given positions on, and tells of each before and after."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from linnet import _memory

    available = _memory.available
    _memory.available = lambda: min(available(), FREE_BYTES)
    from fuzz.calling import LEFT_OUT, called
    from fuzz.cases import cases, listed
    from fuzz.scaling import scaled

    everything = listed()
    while (task := pipe.recv()) is not None:
        index, first = task
        example = everything[index]
        chosen = cases(example, twice=twice, seed=seed)
        can_run = True
        for at in range(first, len(chosen)):
            pipe.send(("begin", index, at, chosen[at].label))
            outcome = called(chosen[at])
            can_run = not outcome.ended.startswith(LEFT_OUT)
            pipe.send(("end", index, at, outcome))
        for outcome in scaled(example) if can_run else ():
            pipe.send(("end", index, len(chosen), outcome))
        pipe.send(("done", index, len(chosen), None))
    pipe.close()


class Worker:
    """A process that makes the calls of one example after the other, from a list that all of them share."""

    def __init__(self, tasks: list[tuple[int, int]], twice: int, seed: int) -> None:
        self.tasks, self.twice, self.seed = tasks, twice, seed
        self.begin()

    def begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=work, args=(there, self.twice, self.seed), daemon=True)
        self.process.start()
        there.close()
        self.heard = time.monotonic()
        self.now: tuple[int, int, str] | None = None
        self.next()

    def next(self) -> None:
        """Sends the process its next example, or that there is none."""
        self.ended = not self.tasks
        self.pipe.send(None if self.ended else self.tasks.pop(0))

    def take(self, found: list[Any]) -> bool:
        """Reads what the process says; False once it is done."""
        from fuzz.calling import Outcome

        try:
            kind, index, at, what = self.pipe.recv()
        except EOFError:
            self.process.join()
            if self.ended:
                return False
            return self.again(found, Outcome(self.now[2] if self.now else "?", "died", 0.0))
        self.heard = time.monotonic()
        if kind == "begin":
            self.now = (index, at, str(what))
        elif kind == "end":
            found.append(what)
            self.now = None
        else:
            self.next()
        return True

    def again(self, found: list[Any], outcome: Any) -> bool:
        """Goes on after a call that ended the process, or that had to be ended."""
        if self.now is None:
            raise RuntimeError("a process of the fuzz died between two calls")
        outcome.broken["too slow" if outcome.ended == "hung" else "unclear error"] = f"the process {outcome.ended}"
        found.append(outcome)
        index, at, _ = self.now
        self.tasks.insert(0, (index, at + 1))
        self.begin()
        return True
