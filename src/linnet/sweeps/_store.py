"""A store on disk: a Zarr group, the ledger of its finished blocks, and the lock of its one writer, in one folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import linnet
from linnet._files import DRAFT, drafted_by_others, settle
from linnet.sweeps import _disk as disk
from linnet.sweeps import _ledger as ledger
from linnet.sweeps import _lock as lock
from linnet.sweeps import provenance
from linnet.sweeps._arrays import METADATA_FILE, Arrays
from linnet.sweeps._ledger import Ledger
from linnet.sweeps._memory import STATUS, check_variables, marks_unfinished, variables_of
from linnet.sweeps._task import UNFINISHED, BlockResult, CellFailure, fill_value
from linnet.sweeps.configuration import Sweep, differences
from linnet.sweeps.errors import ChangedError, StoreError
from linnet.sweeps.grid import Block, Grid, PendingBlock

if TYPE_CHECKING:
    import xarray as xr


@contextmanager
def opened(
    path: str | Path, sweep: Sweep, *, resume: bool = True, retry_failed: bool = False, executor: str = "in process"
) -> Iterator[Store]:
    """The store of `sweep` at `path`, created or continued, locked for this process until the block ends.

    Where nothing can be written, a finished store is opened as it is, without a lock.
    """
    folder = Path(path)
    with ExitStack() as stack:
        with disk.store_errors(folder):
            _refuse_foreign(folder)
            folder.mkdir(parents=True, exist_ok=True)
            refused = (
                disk.why_not_writable(folder / ledger.LEDGER_FILE) if (folder / ledger.LEDGER_FILE).exists() else ""
            )
            if not refused:
                stack.enter_context(lock.held(folder))
                stack.enter_context(drafted_by_others(folder))
            book = Ledger(folder, read_only=bool(refused))
            stack.callback(book.close)
            store = Store(folder, sweep, book, resume=resume, retry_failed=retry_failed, executor=executor)
            if refused and store.pending():
                raise StoreError(f"cannot write to {folder}: {refused}; its sweep is not finished. Copy it elsewhere.")
        yield store
        with disk.store_errors(folder):
            store.describe()


class Store:
    """The store of one sweep, open for its one writer. Made by `opened`."""

    def __init__(
        self, folder: Path, sweep: Sweep, book: Ledger, *, resume: bool, retry_failed: bool, executor: str
    ) -> None:
        self.folder, self.sweep, self.book = folder, sweep, book
        self.retry_failed, self.executor = retry_failed, executor
        if book.exists():
            self._check_configuration(resume)
            for draft in folder.rglob(f"*{DRAFT}") if not book.read_only else ():  # of a killed writer
                draft.unlink(missing_ok=True)
        else:
            # It is written after the ledger: a new store, or one killed here, has none yet.
            if (folder / METADATA_FILE).exists():
                raise StoreError(
                    f"the ledger of {folder} is empty but the folder holds results. "
                    f"Restore it, or start in another folder."
                )
            book.create(sweep.plain(), Grid.of(sweep).tile)
        self.grid = Grid.of(sweep, tuple(book.setting("tile")))
        self.variables = book.variables()
        self.arrays = Arrays(folder, self.grid, book, read_only=book.read_only)
        self.arrays.prepare(sweep.coords, self.variables)
        self._check_chunks()
        if not book.read_only:
            source = provenance.source(sweep.function, sweep.fixed, sweep.axes)
            book.begin(version=linnet.__version__, source=source, executor=executor)
        self.describe()

    def pending(self) -> list[PendingBlock]:
        """What is still to compute: blocks not finished, and failed cells if they are to be tried again."""
        finished = self.book.finished()
        jobs = [job for job in self.grid.jobs() if job.block.number not in finished]
        if self.retry_failed:
            again: dict[int, list[int]] = {}
            for block, failure in self.book.failures().values():
                again.setdefault(block, []).append(failure.position)
            jobs += [PendingBlock(self.grid.block(block), tuple(sorted(cells))) for block, cells in again.items()]
        return jobs

    def write(self, job: PendingBlock, outcome: BlockResult) -> None:
        """Write one block: its chunks, then, when they are safe on the disk, its row in the ledger."""
        if outcome.values and not self.variables:
            self.variables = variables_of(outcome, self.sweep, self.grid)
            with disk.store_errors(self.folder):
                self.book.declare(self.variables.values())
                self.arrays.prepare(self.sweep.coords, self.variables)
                self.describe()
        if self.variables and UNFINISHED not in self.variables:  # begun by a linnet whose cells did not tell
            outcome = replace(outcome, values={n: v for n, v in outcome.values.items() if n != UNFINISHED})
        check_variables(outcome, self.variables, self.sweep.function)
        block = job.block
        with disk.store_errors(self.folder):
            values, status, failures = self._merged_block(job, outcome)
            if job.positions is not None:
                self.book.forget([block.number])
            files = {name: self.arrays.write(name, block, data) for name, data in {**values, STATUS: status}.items()}
            settle(files.values(), self.folder)
            marks = {name: disk.file_fingerprint(file) for name, file in files.items()}
            numbers = self.grid.numbers(block)
            reasons = {int(numbers[failure.position]): failure for failure in failures}
            self.book.commit(block.number, marks, reasons, seconds=outcome.seconds, device=outcome.device)

    def foreign(self) -> int:
        """Finished blocks that other code has computed: another linnet, or another text of the function's file."""
        here = (linnet.__version__, provenance.source(self.sweep.function, self.sweep.fixed, self.sweep.axes))
        return sum(s["blocks"] for s in self.book.sessions() if (s["version"], s["source"]) != here)

    def unfinished(self) -> int:
        """How many cells their function has marked as unfinished."""
        if not marks_unfinished(self.variables):
            return 0
        blocks = map(self.grid.block, self.book.finished())
        return sum(int(np.count_nonzero(self.arrays.read(UNFINISHED, block))) for block in blocks)

    def failures(self) -> dict[int, CellFailure]:
        """The failed cells by their number in the grid."""
        return {cell: failure for cell, (_, failure) in self.book.failures().items()}

    def dataset(self) -> xr.Dataset:
        """Everything in the store, labeled, in memory."""
        import xarray as xr

        self.describe()
        with xr.open_zarr(self.folder, chunks=None) as stored:
            dataset = stored.load()
        texts = {name: values for name, values in self.grid.coords.items() if values.dtype.kind == "U"}
        return dataset.assign_coords(texts)  # plain NumPy text, as in a sweep without a store

    def describe(self) -> None:
        """Brings the group's attributes up to date, where they can be written."""
        if self.book.read_only:
            return
        attributes = provenance.attributes(self.sweep, executor=self.executor, devices=self.book.devices())
        sessions = json.dumps(self.book.sessions())
        self.arrays.describe({**attributes, "store_schema": ledger.SCHEMA_VERSION, "sessions": sessions})

    def _check_configuration(self, resume: bool) -> None:
        changes = differences(self.book.setting("configuration"), self.sweep)
        if changes:
            raise ChangedError(
                f"{self.folder} was made by a different configuration ({'; '.join(changes)}). "
                f"Put it back, or choose another folder."
            )
        if not resume and self.book.finished():
            raise StoreError(
                f"{self.folder} already holds this sweep, {len(self.book.finished())} of its blocks finished. "
                f"Resume it (--resume, or resume=True), or choose another folder."
            )

    def _merged_block(
        self, job: PendingBlock, outcome: BlockResult
    ) -> tuple[dict[str, np.ndarray], np.ndarray, list[CellFailure]]:
        """The block as it is to be stored: what was computed, on top of what is there if only failed cells were."""
        block, cells = job.block, slice(None) if job.positions is None else list(job.positions)
        values = {}
        for name, variable in self.variables.items():
            dtype = np.dtype(variable.dtype)
            if job.positions is None:
                values[name] = np.full((block.size, *variable.shape), fill_value(dtype), dtype=dtype)
            else:
                values[name] = self.arrays.read(name, block).copy()
            if name in outcome.values:
                values[name][cells] = outcome.values[name].data
        status = np.ones(block.size, dtype=np.int8)
        status[cells] = outcome.status
        if job.positions is None:
            return values, status, outcome.failures
        return values, status, [CellFailure(job.positions[f.position], f.kind, f.message) for f in outcome.failures]

    def _check_chunks(self) -> None:
        """Compares every finished block with what the ledger says was written; damaged ones are dropped on request."""
        damaged: dict[int, str] = {}
        for number, marks in self.book.chunks().items():
            for name, mark in marks.items():
                file = self._chunk_file(name, self.grid.block(number))
                present = disk.file_fingerprint(file)
                if present != mark:
                    state = f"has {present[0]} bytes" if present[0] != mark[0] else "has other bytes"
                    state = "is missing" if present[0] < 0 else state
                    damaged[number] = f"{file.relative_to(self.folder)} {state}, not the {mark[0]} bytes written"
        if not damaged:
            return
        if not self.retry_failed:
            first = min(damaged)
            cells = self.grid.coordinates(int(self.grid.numbers(self.grid.block(first))[0]))
            raise StoreError(
                f"{len(damaged)} finished blocks of {self.folder} are damaged, the first from {cells} on: "
                f"{damaged[first]}. The other {len(self.book.finished()) - len(damaged)} are intact. "
                f"Resume with --retry-failed (retry_failed=True) to compute the damaged ones again."
            )
        self.book.forget(damaged)

    def _chunk_file(self, name: str, block: Block) -> Path:
        """Return the file of one block of one variable."""
        further = len(self.variables[name].shape) if name in self.variables else 0
        return self.arrays.chunk(name, block, further)


def _refuse_foreign(folder: Path) -> None:
    """Refuse a path that holds something else than a store."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"`store`: {folder} is a file, not the folder of a store. Choose another path.")
    if (folder / ledger.LEDGER_FILE).is_dir():
        raise StoreError(f"{folder / ledger.LEDGER_FILE} is a folder where a file of the store belongs. Remove it.")
    if folder.is_dir() and not (folder / ledger.LEDGER_FILE).exists():
        others = sorted(entry.name for entry in folder.iterdir() if entry.name != lock.LOCK_FILE)
        if others:
            raise StoreError(
                f"`store`: {folder} is not a store of linnet: it holds {', '.join(others[:3])} and no ledger. Choose "
                "another path."
            )
