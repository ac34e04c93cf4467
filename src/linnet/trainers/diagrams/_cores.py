"""Runs and their predictions on a CPU, one run to a core.

Each core trains one run at a time with one thread of BLAS, since two cores share a product of a few hundred rows badly.
Short work is done by threads, which start at once but wait for one another between products. Long work is done by
processes, which joblib starts and keeps for the next diagram. A run's bits depend on nothing but the run.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from typing import Any

import jax
import joblib
import numpy as np

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._memory import GIBIBYTE, available
from linnet._workers import ENVIRONMENT, WORKER_BYTES, cores, environment_restored
from linnet.precision import computing
from linnet.trainers.diagrams._diagram import Diagram, DiagramSettings, RunStart
from linnet.trainers.diagrams._numpy_run import train
from linnet.trainers.diagrams._slots import MEMORY_SHARE, RunResults

LOG = logging.getLogger("linnet.diagrams")
# Measured on 2 and on 16 cores, for d from 20 to 200. They decide how runs are shared out, and no result.
USUAL_STEPS = 300  # of a run, where more are allowed
BLAS_OPERATIONS_PER_SECOND = 7.5e10  # in the products of a step, on one core
PYTHON_SECONDS_PER_STEP = 5e-5  # besides the products
THREAD_WAIT_SECONDS = 5e-5  # that each further thread adds to every step: T threads take work / T + (T - 1) steps of it
PROCESS_START_SECONDS = 3.0

Trained = tuple[int, dict[str, Any], int]  # number of the run, what is kept of it, executed steps


def train_on_cores(
    diagram: Diagram, *, device: jax.Device, slots: int | None, advance: Callable[[int], None]
) -> RunResults:
    """Train every run until its stopping rule or divergence ends it, or to its last step.

    - `diagram`: its `start` is called by one thread at a time, shortly before the run is trained
    - `device`: the processor, as JAX names it
    - `slots`: number of runs trained at once; by default one by each core, or fewer if that is faster
    - `advance(1)`: called when a run has ended

    No more runs are trained at once than memory has room for. An error in one run ends the others.
    """
    total, settings, in_dim, out_dim = len(diagram.widths), diagram.settings, diagram.in_dim, diagram.out_dim
    # Units of both networks of each run; the arrays of `_numpy_run`: layers, steps of layers and what is drawn, and
    # a dozen of the product's size.
    hidden = np.minimum(np.array(diagram.widths, dtype=float), in_dim + out_dim) + min(in_dim, out_dim)
    bytes_each = 8 * (3 * (in_dim + out_dim) * hidden.max() + 12 * in_dim * out_dim) + WORKER_BYTES
    free = available()
    room = max(1, int(MEMORY_SHARE * free / bytes_each))
    number, processes = _division_of_labor(
        6 * in_dim * out_dim * hidden,
        min(settings.steps, USUAL_STEPS),
        max(1, min(slots or cores(), room, total)),
        fixed=slots is not None,
    )
    summary = (
        f"{total} runs, {number} at a time on cpu:{device.id}{' in processes of their own' if processes else ''}: "
        f"{number * bytes_each / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
    )
    LOG.info(summary)

    def starts() -> Iterator[tuple[int, RunStart]]:
        for run in np.argsort(-diagram.expected * hidden, kind="stable").tolist():
            with computing(settings.dtype), jax.default_device(device):
                start = diagram.start(run)
            yield run, start

    ends: dict[int, dict[str, Any]] = {}
    executed = 0
    with closing((_by_processes if processes else _by_threads)(starts(), settings, number)) as trained:
        for run, end, steps in trained:
            ends[run] = end
            executed += steps
            advance(1)
    results = {name: np.array([ends[run][name] for run in range(total)]) for name in ends[0]}
    return RunResults(results, settings.steps, executed, summary)


def _division_of_labor(operations: np.ndarray, steps: int, most: int, *, fixed: bool) -> tuple[int, bool]:
    """Return how many runs are trained at once, and whether by processes.

    - `operations`: number of operations of a step of each run, (run,); `steps`: approximate number of steps of a run
    - `most`: number of runs that may be trained at once
    - `fixed`: whether that many are trained at once, even if fewer threads would be faster
    """
    work = steps * (PYTHON_SECONDS_PER_STEP + operations / BLAS_OPERATIONS_PER_SECOND).sum()
    waiting = steps * len(operations) * THREAD_WAIT_SECONDS
    threads = most if fixed else min(most, max(1, round(np.sqrt(work / waiting))))
    if most > 1 and PROCESS_START_SECONDS + work / most < work / threads + waiting * (threads - 1):
        return most, True
    return threads, False


def _by_processes(
    starts: Iterator[tuple[int, RunStart]], settings: DiagramSettings, number: int
) -> Generator[Trained, None, None]:
    """Yield the results of all runs, trained by processes, as they come."""
    with environment_restored(ENVIRONMENT), joblib.parallel_config("loky", inner_max_num_threads=1):
        pool = joblib.Parallel(number, return_as="generator_unordered", batch_size=1)
        yield from pool(joblib.delayed(_train)(run, start, settings) for run, start in starts)


def _by_threads(
    starts: Iterator[tuple[int, RunStart]], settings: DiagramSettings, number: int
) -> Generator[Trained, None, None]:
    """Yield the results of all runs, trained by threads, as they come; at most `number` starts wait for a thread."""
    canceled = threading.Event()
    with ONE_BLAS_THREAD, ThreadPoolExecutor(number) as pool:

        def submit(count: int) -> set[Future[Trained]]:
            return {pool.submit(_train, run, start, settings, canceled) for run, start in islice(starts, count)}

        try:
            pending = submit(2 * number)
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                pending |= submit(len(done))
        finally:
            canceled.set()


def _train(run: int, start: RunStart, settings: DiagramSettings, canceled: threading.Event | None = None) -> Trained:
    """Train one run, in a thread or in a process."""
    return run, *train(start, settings, canceled=canceled.is_set if canceled else lambda: False)
