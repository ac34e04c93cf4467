"""Claims measured on several processes of this machine, those of one paper together: they share what they train."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linnet._files import temporary_folder
from linnet._workers import ENVIRONMENT, end_pool, environment_restored, interrupts_later, process_pool
from linnet_papers.reproduction import record, registry
from linnet_papers.reproduction.measurement import Claim, Result, Trial, verify

POLL_SECONDS = 0.2  # seconds between looks at what the workers have measured
UNMEASURED_SECONDS = 1.0  # seconds of a claim that was never measured: about the mean of those that were


@dataclass(frozen=True)
class Batch:
    """Claims of one paper at one seed, by name: workers look them up, so they see what is installed."""

    names: tuple[str, ...]
    trial: Trial


def batches(chosen: Sequence[Claim], trial: Trial) -> list[Batch]:
    """Return one batch for each paper, first the one that took longest when it was last measured."""
    of_papers = [paper for name, paper in registry.papers().items() if any(claim.paper == name for claim in chosen)]
    known = {name: one.result.seconds for name, one in record.of(of_papers).items()}
    papers = list(dict.fromkeys(claim.paper for claim in chosen))
    made = [Batch(tuple(claim.name for claim in chosen if claim.paper == paper), trial) for paper in papers]
    return sorted(made, key=lambda batch: -sum(known.get(name, UNMEASURED_SECONDS) for name in batch.names))


def results(work: Sequence[Batch], workers: int) -> Iterator[tuple[Trial, Result]]:
    """Measure all batches and yield the results as they come, from at most `workers` processes.

    Each batch has a file of its own, to which its worker adds every result at once: what was measured before a worker
    was killed is given before the error that says so.
    """
    from linnet.sweeps.errors import ExecutorError

    with environment_restored(ENVIRONMENT), temporary_folder() as folder:
        files = [_ResultLines(folder / str(number)) for number in range(len(work))]

        def new_results() -> Iterator[tuple[Trial, Result]]:
            for batch, file in zip(work, files):
                for values in file.new_lines():
                    yield batch.trial, Result.from_json(values)

        pool = process_pool(min(workers, len(work)))
        try:
            with interrupts_later():  # workers are started by `submit`, and inherit that Ctrl-C is blocked
                pending = {pool.submit(_measure, batch, file.path) for batch, file in zip(work, files)}
            while pending:
                done, pending = wait(pending, timeout=POLL_SECONDS)
                yield from new_results()
                for future in done:
                    future.result()
                if any(process.exitcode for process in (pool._processes or {}).values()):
                    raise BrokenProcessPool  # the pool itself may not watch a process that it started later
        except BrokenProcessPool:
            end_pool(pool)  # nothing is added any more
            yield from new_results()
            raise ExecutorError(
                "a process that measured claims was killed, by hand or for want of memory. What was measured is "
                "kept; measure the rest again, with fewer --workers."
            ) from None
        except BaseException:
            end_pool(pool)  # what is under way would be waited for otherwise
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _ResultLines:
    """The file to which one worker adds results, a line of JSON for each; a killed worker may leave half a line."""

    def __init__(self, path: Path) -> None:
        self.path, self._read = path, 0

    def new_lines(self) -> Iterator[dict[str, Any]]:
        """Yield what was added since the last call, read from JSON; half a line waits until it is whole."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read += len(line)
                yield json.loads(line)


def _measure(batch: Batch, path: Path) -> None:
    """Measure the claims of a batch in this process, and write each result as soon as it is there."""
    from linnet_papers.reproduction.registry import select_claims

    known = {claim.name: claim for claim in select_claims(batch.names)}
    with path.open("a", encoding="utf-8") as file:

        def add(result: Result) -> None:
            file.write(json.dumps(result.to_json(), allow_nan=False) + "\n")
            file.flush()

        verify([known[name] for name in batch.names], batch.trial, add)
