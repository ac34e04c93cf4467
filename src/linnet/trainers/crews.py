"""Descents beside their predictions on a CPU: every core carries one run at a time, by BLAS products.

Two cores share one product of a few hundred rows badly. So there is one crew to a core, each with one thread of BLAS,
and they take runs from one queue. Crews are threads, as NumPy lets go of Python's lock inside its products; for long
work each has a process besides, whose Python waits for nobody. A run is computed alone, so its bits depend on nothing
but itself. Starts come from the caller.
"""

from __future__ import annotations

import logging
import pickle
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from linnet.memory import GIBIBYTE, available
from linnet.precision import computing, cores
from linnet.trainers.blas import ONE_BLAS_THREAD
from linnet.trainers.crew import Course, Start, carry
from linnet.trainers.crew_process import BYTES, IDLE, CrewProcess, Lost
from linnet.trainers.lanes import PoolResult
from linnet.trainers.loop import Plan

LOG = logging.getLogger("linnet.crews")
# Measured on 2 and on 16 cores, for d from 20 to 200. They decide how many crews there are, and nothing else.
USUAL = 300  # steps of a run, where more are allowed
SPEED = 7.5e10  # operations a second in the products of a step, on one core
BESIDES = 5e-5  # seconds of a step besides its products
LOCK = 5e-5  # seconds that every thread adds to a step of all of them, as they wait for Python's lock
BEGIN = 2.0  # seconds that new processes have to save, as they take one or two to begin


def descend(
    start: Callable[[int], Start],
    widths: Sequence[int],
    *,
    in_dim: int,
    out_dim: int,
    plan: Plan,
    steps: int,
    sequential: bool,
    products: bool,
    dtype: np.dtype,
    place: Any,
    slots: int | None = None,
    expected: np.ndarray | None = None,
    advance: Callable[[int], None] = lambda ended: None,
) -> PoolResult:
    """Takes every run to its end: its last step, or where the rule or divergence ends it.

    - `start(run)`: asked for when a crew is free, by one crew at a time
    - `widths`: of the networks, which set the memory they are to have
    - `plan`: the stopping rule and the record, one of `paired_descent`
    - `sequential`: whether the second layer sees the new first one
    - `products`: whether the best products are kept
    - `place`: the JAX device of the processor
    - `slots`: runs carried at once; by default one by each core, or as many as hinder each other least
    - `expected`: about how long each run is; the longest begin first, so that none is left alone at the end
    - `advance(1)`: called when a run has ended

    Crews for which there is no memory are left out; where an allocation fails all the same, a crew leaves its run to
    the others, with a warning. A crew whose process cannot be started, or is ended by somebody, does without one.
    """
    narrow, total = min(in_dim, out_dim), len(widths)
    hidden = np.minimum(np.array(widths, dtype=float), in_dim + out_dim) + narrow
    seconds = min(steps, USUAL) * (BESIDES + 6 * in_dim * out_dim * hidden / SPEED)
    most, processes = _crews(seconds, min(steps, USUAL), min(slots or cores(), total), fixed=slots is not None)
    bytes_each = 8 * (3 * (in_dim + out_dim) * hidden.max(initial=0) + 12 * in_dim * out_dim)
    bytes_each += BYTES if processes else 0
    free = available()
    fitting = int(np.clip(0.9 * free / bytes_each, 1, max(1, most)))
    told = (
        f"{total} runs, {fitting} at a time on {place}{' in processes of their own' if processes else ''}: "
        f"{fitting * bytes_each / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
    )
    LOG.info(told)
    order = np.argsort(-(np.ones(total) if expected is None else np.asarray(expected)) * hidden, kind="stable")
    course = Course(plan, steps, sequential, products, dtype)
    crews = _Crews(start, course, place, advance, deque(order.tolist()), fitting, processes and fitting > 1)
    with ONE_BLAS_THREAD:
        crews.descend()
    results = {name: np.array([crews.ends[run][name] for run in range(total)]) for name in crews.ends[0]}
    needed = int((results["step"] + (results["code"] > 0)).sum())
    return PoolResult(results, crews.executed, needed, told)


def _crews(seconds: np.ndarray, steps: int, most: int, *, fixed: bool) -> tuple[int, bool]:
    """How many crews there are to be, at most `most`, and whether each has a process of its own.

    - `seconds`: that each run takes alone, in `steps` steps
    - `fixed`: whether there are to be `most`, whatever they gain
    """
    work, waiting = seconds.sum(), len(seconds) * steps * LOCK
    threads = most if fixed else int(np.clip(np.round(np.sqrt(work / max(waiting, LOCK))), 1, max(1, most)))
    begin = BEGIN if len(IDLE) < most else 0.0
    if most > 1 and begin + work / most < work / threads + waiting * (threads - 1):
        return most, True
    return threads, False


@dataclass
class _Crews:
    """The runs that wait, what came of the others, and how many steps were taken for them."""

    start: Callable[[int], Start]
    course: Course
    place: Any
    advance: Callable[[int], None]
    waiting: deque[int]
    at_work: int
    processes: bool
    executed: int = 0
    given_up: bool = False
    ends: dict[int, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    begun: list[CrewProcess] = field(default_factory=list)

    def descend(self) -> None:
        if self.at_work == 1:
            return self._work()
        with ThreadPoolExecutor(self.at_work) as threads:
            try:
                for done in [threads.submit(self._work) for _ in range(self.at_work)]:
                    done.result()
            except BaseException:  # Ctrl-C is heard here, and the crews are elsewhere
                self._give_up()
                raise

    def _work(self) -> None:
        """Carries one run after another until none waits."""
        with computing(self.course.dtype), jax.default_device(self.place):
            process = self._process() if self.processes else None
            try:
                while (run := self._next()) is not None:
                    try:
                        self._carry(run, process)
                    except Lost as lost:
                        if not self.given_up:
                            self._leave(process)
                            process = None
                            self.waiting.appendleft(run)
                            warnings.warn(f"{lost}: its runs go on in this one.", stacklevel=2)
                    except MemoryError:
                        with self.lock:
                            if self.at_work == 1:
                                raise
                            self.at_work -= 1
                            self.waiting.appendleft(run)
                        warnings.warn(f"out of memory: going on with {self.at_work} runs at a time.", stacklevel=2)
                        return
            except BaseException:
                self._give_up()
                raise
            finally:
                self._leave(process)

    def _process(self) -> CrewProcess | None:
        """A process that is ready to carry runs, or None where there can be none."""
        process = None
        try:
            course = pickle.dumps(self.course)
            process = IDLE.take() or CrewProcess()
            with self.lock:
                self.begun.append(process)
            process.follow(course)
            return process
        except Exception as error:  # a rule that cannot be found by its name, or a system that starts no processes
            LOG.info("runs are carried by threads: %s", error)
            self._leave(process)
            return None

    def _leave(self, process: CrewProcess | None) -> None:
        """Keeps a process for the next diagram, unless it is of no more use."""
        if process is not None:
            with self.lock:
                self.begun.remove(process)
                useful = not self.given_up and not process.ended
            if useful:
                IDLE.keep(process)
            else:
                process.close()

    def _give_up(self) -> None:
        with self.lock:
            self.given_up = True
            for process in self.begun:
                process.end()

    def _next(self) -> int | None:
        with self.lock:
            if self.waiting and not self.given_up:
                return self.waiting.popleft()
            self.at_work -= 1
            return None

    def _carry(self, run: int, process: CrewProcess | None) -> None:
        with self.lock:  # the first start may be compiled, which one crew does for all
            start = self.start(run)
        if process is None:
            end, executed = carry(start, self.course, given_up=lambda: self.given_up)
        else:
            end, executed = process.carry(start)
        with self.lock:
            self.ends[run] = end
            self.executed += executed
        self.advance(1)
