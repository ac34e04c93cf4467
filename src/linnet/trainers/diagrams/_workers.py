"""Runs and their predictions on a CPU, one run to a core.

Workers take runs from one queue, each with one thread of BLAS: two cores share a product of a few hundred rows badly.
They are threads, which run side by side because NumPy releases the GIL inside products. Where Python between the
products costs more than processes take to start, each thread hands its runs to a process of its own; where steps are
short and there is little to do, there are fewer workers than cores. A run's bits depend on nothing but the run.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._memory import GIBIBYTE, available
from linnet._workers import WORKER_BYTES, cores
from linnet.precision import computing
from linnet.trainers.diagrams._diagram import Diagram
from linnet.trainers.diagrams._numpy_run import train
from linnet.trainers.diagrams._slots import MEMORY_SHARE, RunResults
from linnet.trainers.diagrams._worker_process import IDLE_PROCESSES, WorkerLostError, WorkerProcess, can_be_sent

LOG = logging.getLogger("linnet.workers")
# Measured on 2 and on 16 cores, for d from 20 to 200. The number of workers, and whether each has a process,
# follows from them; no result does.
USUAL_STEPS = 300  # of a run, where more are allowed
BLAS_OPERATIONS_PER_SECOND = 7.5e10  # in the products of a step, on one core
PYTHON_SECONDS_PER_STEP = 5e-5  # besides the products
THREAD_WAIT_SECONDS = 5e-5  # that each further thread adds to every step: T threads take work / T + (T - 1) steps of it
PROCESS_START_SECONDS = 2.0  # that new processes must save, as they take one or two to start


class WorkerCounts(NamedTuple):
    """How many threads train runs, or could; and how many processes in their place."""

    threads: int
    processes: int


def train_by_workers(
    diagram: Diagram, *, device: jax.Device, slots: int | None, advance: Callable[[int], None]
) -> RunResults:
    """Train every run until its stopping rule or divergence ends it, or to its last step.

    - `diagram`: its `start` is called when a worker is free, by one worker at a time
    - `device`: the processor, as JAX knows it
    - `slots`: runs carried at once; by default one by each core, or fewer where that is faster
    - `advance(1)`: called when a run has ended

    Workers for which there is no memory are left out. Where an allocation fails all the same, a worker leaves its run
    to the others, with a warning. The same holds for a process that fails or is killed; where none can be started,
    threads train the runs. Processes are only used with rules of linnet itself: they cannot import a notebook's.
    """
    total, settings, in_dim, out_dim = len(diagram.widths), diagram.settings, diagram.in_dim, diagram.out_dim
    # Units of both networks of each run; the arrays of `_numpy_run`: layers, steps of layers and what is drawn, and
    # a dozen of the product's size.
    hidden = np.minimum(np.array(diagram.widths, dtype=float), in_dim + out_dim) + min(in_dim, out_dim)
    bytes_each = 8 * (3 * (in_dim + out_dim) * hidden.max() + 12 * in_dim * out_dim)
    free = available()
    able = bool(sys.executable) and can_be_sent(settings.rule)
    room = WorkerCounts(
        threads=int(MEMORY_SHARE * free / bytes_each),
        processes=int(MEMORY_SHARE * free / (bytes_each + WORKER_BYTES)) if able else 0,
    )
    threads, processes = _threads_and_processes(
        6 * in_dim * out_dim * hidden,
        min(settings.steps, USUAL_STEPS),
        slots or cores(),
        room,
        fixed=slots is not None,
    )
    fitting = processes or threads
    bytes_all = fitting * (bytes_each + WORKER_BYTES if processes else bytes_each)
    summary = (
        f"{total} runs, {fitting} at a time on cpu:{device.id}{' in processes of their own' if processes else ''}: "
        f"{bytes_all / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
    )
    LOG.info(summary)
    order = np.argsort(-diagram.expected * hidden, kind="stable")
    workers = _Workers(diagram, device, advance, deque(order.tolist()), fitting, threads, processes > 0)
    with ONE_BLAS_THREAD:
        workers.run()
    results = {name: np.array([workers.ends[run][name] for run in range(total)]) for name in workers.ends[0]}
    return RunResults(results, settings.steps, workers.executed, summary)


def _threads_and_processes(
    operations: np.ndarray, steps: int, most: int, room: WorkerCounts, *, fixed: bool
) -> WorkerCounts:
    """Return the number of threads that train runs, and of processes in their place: 0 if these would not be faster.

    It looks at `IDLE_PROCESSES`: those that an earlier diagram has left need not be started.

    - `operations`: of a step of each run, (run,); `steps` is about how many steps a run takes
    - `most`: how many runs may be trained at once
    - `room`: how many of each memory has room for
    - `fixed`: whether there are to be `most`, where there is room, whatever they gain
    """
    work = steps * (PYTHON_SECONDS_PER_STEP + operations / BLAS_OPERATIONS_PER_SECOND).sum()
    waiting = steps * len(operations) * THREAD_WAIT_SECONDS
    threads, processes = (max(1, min(most, fitting, len(operations))) for fitting in room)
    if not fixed:
        threads = min(threads, max(1, round(np.sqrt(work / waiting))))
    starting = PROCESS_START_SECONDS if len(IDLE_PROCESSES) < processes else 0.0
    if processes > 1 and starting + work / processes < work / threads + waiting * (threads - 1):
        return WorkerCounts(threads, processes)
    return WorkerCounts(threads, 0)


@dataclass
class _Workers:
    """The runs that wait, the results of the others, and the number of steps they took; threads share it.

    - `active`: how many threads are at work: `processes` or `threads` at first, one less with each that returns
    - `threads`: how many pay where they have no process each
    - `processes`: whether each thread is to have one
    - `started`: processes in the hands of a thread, which a cancellation kills
    - `ends`: results of `_numpy_run.train`, by the number of the run
    - `lock`: held where any of these change; `drawing` while a start is drawn
    """

    diagram: Diagram
    device: jax.Device
    advance: Callable[[int], None]
    waiting: deque[int]
    active: int
    threads: int
    processes: bool
    executed: int = 0
    canceled: bool = False
    ends: dict[int, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    drawing: threading.Lock = field(default_factory=threading.Lock)
    started: list[WorkerProcess] = field(default_factory=list)

    def run(self) -> None:
        """Train all runs on as many threads as are of use; on an interruption cancel them all."""
        if self.active == 1:
            return self._train_waiting()
        with ThreadPoolExecutor(self.active) as threads:
            try:
                for done in [threads.submit(self._train_waiting) for _ in range(self.active)]:
                    done.result()
            except BaseException:  # Ctrl-C is heard here, and the workers are elsewhere
                self._cancel()
                raise

    def _train_waiting(self) -> None:
        """Train one run after another until none waits: what each thread does.

        A run whose process is lost, or for which there is no memory, goes back to the front of the queue. Any other
        error cancels all threads.
        """
        with computing(self.diagram.settings.dtype), jax.default_device(self.device):
            process = self._ready_process() if self.processes else None
            try:
                while (run := self._next_run(process)) is not None:
                    try:
                        self._train(run, process)
                    except WorkerLostError as lost:
                        self._release(process)
                        process = None
                        if not self.canceled:
                            with self.lock:
                                self.waiting.appendleft(run)
                            warnings.warn(f"{lost}: going on without it.", stacklevel=2)
                    except MemoryError:
                        with self.lock:
                            if self.active == 1:
                                raise
                            self.active -= 1
                            left = self.active
                            self.waiting.appendleft(run)
                        warnings.warn(f"out of memory: going on with {left} runs at a time.", stacklevel=2)
                        return
            except BaseException:
                self._cancel()
                raise
            finally:
                self._release(process)

    def _ready_process(self) -> WorkerProcess | None:
        """Return a process that has the settings of the runs, among `started`; None if none can be had."""
        process = None
        try:
            process = IDLE_PROCESSES.take() or WorkerProcess()
            with self.lock:
                self.started.append(process)
            process.configure(self.diagram.settings)
            return process
        except Exception as error:  # there may be no memory, or no more processes
            LOG.info("runs are carried by threads: %s", error)
            self._release(process)
            return None

    def _release(self, process: WorkerProcess | None) -> None:
        """Take a process from `started` and keep it for the next diagram, unless it has ended or all is canceled."""
        if process is not None:
            with self.lock:
                self.started.remove(process)
                useful = not self.canceled and not process.ended
            if useful:
                IDLE_PROCESSES.keep(process)
            else:
                process.close()

    def _cancel(self) -> None:
        """Tell threads and processes to stop."""
        self.canceled = True  # before the lock: a second Ctrl-C may interrupt the wait for it
        with self.lock:
            for process in self.started:
                process.kill()

    def _next_run(self, process: WorkerProcess | None) -> int | None:
        """Return a run that waits; None if there is none, or if this thread has no process and others suffice. A thread
        that gets None counts as gone, and has to end."""
        with self.lock:
            superfluous = self.processes and process is None and self.active > self.threads
            if self.waiting and not self.canceled and not superfluous:
                return self.waiting.popleft()
            self.active -= 1
            return None

    def _train(self, run: int, process: WorkerProcess | None) -> None:
        """Train one run, here or in a process, and keep its result in `ends`; where that fails nothing is kept."""
        with self.drawing:  # one at a time: the first may be compiled, and `start` is not asked to be thread-safe
            start = self.diagram.start(run)
        if process is None:
            end, executed = train(start, self.diagram.settings, canceled=lambda: self.canceled)
        else:
            end, executed = process.train(start)
        with self.lock:
            self.ends[run] = end
            self.executed += executed
        self.advance(1)
