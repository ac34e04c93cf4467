"""Claims measured on several processes of this machine, those of one paper together: they share what they train."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from linnet.reproduction import record
from linnet.reproduction.verification import Claim, Measurement, Outcome, Trial, verify

UNKNOWN = 1.0  # seconds of a claim that was never measured: about the mean of those that were


@dataclass(frozen=True)
class Batch:
    """Claims of one paper at one seed, by name: workers look them up, so they see what is installed."""

    names: tuple[str, ...]
    trial: Trial


Found = list[tuple[str, Measurement | None, float, str | None]]  # name, what was measured, seconds, error


def batches(chosen: Sequence[Claim], trial: Trial) -> list[Batch]:
    """One batch for each paper, the one that took longest when it was last measured first: so a short one ends last."""
    known = record.found()
    papers = list(dict.fromkeys(claim.paper for claim in chosen))
    made = [Batch(tuple(claim.name for claim in chosen if claim.paper == paper), trial) for paper in papers]
    return sorted(made, key=lambda batch: -sum(known[n].seconds if n in known else UNKNOWN for n in batch.names))


def outcomes(chosen: Sequence[Claim], work: Sequence[Batch], workers: int) -> Iterator[tuple[Trial, Outcome]]:
    """The outcomes of all batches, as they come, from at most `workers` processes."""
    from linnet._workers import ENVIRONMENT
    from linnet.sweeps._executors import environment_restored, interrupts_later

    known = {claim.name: claim for claim in chosen}
    with environment_restored(ENVIRONMENT):
        # Workers are started by `submit`, and inherit that Ctrl-C is blocked: this process will end them.
        pool = ProcessPoolExecutor(
            min(workers, len(work)), mp_context=get_context("spawn"), initializer=_alone, initargs=(os.getpid(),)
        )
        try:
            with interrupts_later():
                pending = {pool.submit(_measure, batch): batch for batch in work}
            for future in as_completed(pending):
                for name, measurement, seconds, error in future.result():
                    yield pending[future].trial, Outcome(known[name], measurement, seconds, error)
        except BaseException:
            for process in list(pool._processes.values()):  # what is under way would be waited for otherwise
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _alone(parent: int) -> None:
    """A worker leaves Ctrl-C to the process that started it, and ends when that one does, however it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _measure(batch: Batch) -> Found:
    from linnet.reproduction.registry import select_claims

    known = {claim.name: claim for claim in select_claims(batch.names)}
    found = verify([known[name] for name in batch.names], batch.trial)
    return [(outcome.claim.name, outcome.measurement, outcome.seconds, outcome.error) for outcome in found]
