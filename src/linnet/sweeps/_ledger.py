"""Which blocks of a store are finished: one small SQLite file, written after the data it speaks of.

A block counts as finished when its row is here, and only then. The rollback journal (not the write-ahead log) is used,
as stores may lie on network file systems. SQLite keeps no checksums, so the ledger has its own: the exclusive or of
the hashes of all rows, which changes with each of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linnet.sweeps._memory import Variable
from linnet.sweeps._task import CellFailure
from linnet.sweeps.errors import StoreError

LEDGER_FILE = "ledger.sqlite"
SCHEMA_VERSION = 2  # 1 had no checksum
CHECKSUM = "checksum"
DOCUMENT_PREFIX = "document of "  # settings of this name hold the metadata of an array
APPLICATION_ID = 0x4C4E4554  # "LNET": tells our ledger from any other SQLite file
CREATE_TABLES = """
create table settings (name text primary key, value text not null);
create table variables (name text primary key, dims text not null, shape text not null, dtype text not null);
create table sessions (
    number integer primary key, host text, process integer, version text, source text, executor text, started text
);
create table blocks (
    number integer primary key, session integer not null, seconds real not null, device text not null,
    finished text not null
);
create table chunks (
    block integer not null, variable text not null, size integer not null, hash text not null,
    primary key (block, variable)
);
create table failures (
    cell integer primary key, block integer not null, position integer not null, kind text not null,
    message text not null
);
"""


class Ledger:
    """The ledger of the store in one folder, open for its one writer; or `read_only`, where nothing can be written."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder, self.read_only = folder, read_only
        self.session = self.checksum = 0
        place = f"{(folder / LEDGER_FILE).resolve().as_uri()}?{'mode=ro&immutable=1' if read_only else 'mode=rwc'}"
        self.database = sqlite3.connect(place, isolation_level=None, uri=True)
        if read_only:
            return
        try:
            self.database.execute("pragma journal_mode = delete")
            self.database.execute("pragma synchronous = extra")
        except (sqlite3.Error, UnicodeDecodeError):
            self.database.close()
            raise

    def close(self) -> None:
        """Closes the file."""
        self.database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes of the block, or none if it fails."""
        before = self.checksum
        self.database.execute("begin immediate")
        try:
            yield
            self.database.execute("update settings set value = ? where name = ?", (str(self.checksum), CHECKSUM))
            self.database.execute("commit")
        except BaseException:
            self.checksum = before
            if self.database.in_transaction:
                self.database.execute("rollback")
            raise

    def create(self, configuration: Mapping[str, Any], tile: tuple[int, ...]) -> None:
        """Starts the ledger of a new store, unless it is there already."""
        with self.transaction():
            for statement in CREATE_TABLES.split(";"):
                self.database.execute(statement)
            self.database.execute("insert into settings values (?, ?)", (CHECKSUM, "0"))
            for name, value in {"configuration": configuration, "tile": tile}.items():
                self._insert("settings", (name, json.dumps(value)))
            self.database.execute(f"pragma application_id = {APPLICATION_ID}")
            self.database.execute(f"pragma user_version = {SCHEMA_VERSION}")

    def exists(self) -> bool:
        """Whether a store was created here; refuses what is not ours, newer than this version, or damaged."""
        (application,) = self.database.execute("pragma application_id").fetchone()
        (version,) = self.database.execute("pragma user_version").fetchone()
        tables = self.database.execute("select count(*) from sqlite_master").fetchone()[0]
        if application == 0 and version == 0 and tables == 0:
            return False
        if application != APPLICATION_ID:
            raise StoreError(f"{self.folder / LEDGER_FILE} is not a ledger of linnet. Choose another folder.")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.folder} was written by a newer linnet (store schema {version}, this version reads up to "
                f"{SCHEMA_VERSION}). Install that version, or start in another folder."
            )
        try:
            verified = self._verify_checksum()
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            raise StoreError(
                f"the ledger of {self.folder} is damaged: {error}. Restore it, or start in another folder."
            ) from None
        if not verified and not self.read_only:
            with self.transaction():
                self.database.execute("insert into settings values (?, ?)", (CHECKSUM, "0"))
                self.database.execute(f"pragma user_version = {SCHEMA_VERSION}")
        return True

    def _verify_checksum(self) -> bool:
        """Whether there is a checksum; `ValueError` where the rows do not agree with it."""
        (state,) = self.database.execute("pragma integrity_check(1)").fetchone()
        if state != "ok":
            raise ValueError(" ".join(state.split()))
        for (table,) in self.database.execute("select name from sqlite_master where type = 'table'").fetchall():
            for row in self.database.execute(f"select * from {table}"):
                self.checksum ^= _row_hash(table, row)
        kept = self.database.execute("select value from settings where name = ?", (CHECKSUM,)).fetchone()
        if kept is None and self.database.execute("pragma user_version").fetchone() == (1,):
            return False
        if kept is None or kept[0] != str(self.checksum):
            raise ValueError("its rows are not those that were written")
        return True

    def _insert(self, table: str, *rows: tuple[Any, ...]) -> None:
        """Insert rows and bring the checksum up to date."""
        for row in rows:
            self.database.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
            self.checksum ^= _row_hash(table, row)

    def setting(self, name: str) -> Any:
        """The arguments of `create`."""
        return json.loads(self.database.execute("select value from settings where name = ?", (name,)).fetchone()[0])

    def documents(self) -> dict[str, str]:
        """The metadata of each array as it was written."""
        rows = self.database.execute("select name, value from settings where name like ?", (f"{DOCUMENT_PREFIX}%",))
        return {name.removeprefix(DOCUMENT_PREFIX): json.loads(value) for name, value in rows}

    def note_document(self, array: str, text: str) -> None:
        """Notes the metadata of an array, against which its file is compared from now on."""
        with self.transaction():
            self._insert("settings", (DOCUMENT_PREFIX + array, json.dumps(text)))

    def begin(self, *, version: str, source: str, executor: str) -> None:
        """Notes that a process starts to work on the store."""
        with self.transaction():
            (last,) = self.database.execute("select coalesce(max(number), 0) from sessions").fetchone()
            self.session = last + 1
            row = (self.session, platform.node(), os.getpid(), version, source, executor, _now())
            self._insert("sessions", row)

    def variables(self) -> dict[str, Variable]:
        """The recorded variables; none before the first block with a result."""
        rows = self.database.execute("select name, dims, shape, dtype from variables order by rowid")
        return {n: Variable(n, tuple(json.loads(d)), tuple(json.loads(s)), t) for n, d, s, t in rows}

    def declare(self, variables: Iterable[Variable]) -> None:
        """Fixes the variables of the store."""
        rows = [(v.name, json.dumps(v.dims), json.dumps(v.shape), v.dtype) for v in variables]
        with self.transaction():
            self._insert("variables", *rows)

    def finished(self) -> set[int]:
        """The finished blocks."""
        return {row[0] for row in self.database.execute("select number from blocks")}

    def chunks(self) -> dict[int, dict[str, tuple[int, str]]]:
        """For every finished block: length and hash of each variable's chunk."""
        marks: dict[int, dict[str, tuple[int, str]]] = {number: {} for number in self.finished()}
        for block, variable, size, digest in self.database.execute("select block, variable, size, hash from chunks"):
            marks.setdefault(block, {})[variable] = (size, digest)
        return marks

    def failures(self) -> dict[int, tuple[int, CellFailure]]:
        """The failed cells, by their number in the grid: their block and why."""
        rows = self.database.execute("select cell, block, position, kind, message from failures order by cell")
        return {cell: (block, CellFailure(position, kind, message)) for cell, block, position, kind, message in rows}

    def commit(
        self,
        block: int,
        chunks: Mapping[str, tuple[int, str]],
        failures: Mapping[int, CellFailure],
        *,
        seconds: float,
        device: str,
    ) -> None:
        """Declares a block finished. Its chunks must be on the disk."""
        with self.transaction():
            self._insert("blocks", (block, self.session, float(seconds), device, _now()))
            self._insert("chunks", *((block, name, *mark) for name, mark in chunks.items()))
            rows = ((cell, block, f.position, f.kind, f.message) for cell, f in failures.items())
            self._insert("failures", *rows)

    def forget(self, blocks: Iterable[int]) -> None:
        """Declares blocks not finished, before their chunks are touched again."""
        with self.transaction():
            for block in blocks:
                for table, column in (("blocks", "number"), ("chunks", "block"), ("failures", "block")):
                    for row in self.database.execute(f"select * from {table} where {column} = ?", (block,)):
                        self.checksum ^= _row_hash(table, row)
                    self.database.execute(f"delete from {table} where {column} = ?", (block,))

    def devices(self) -> list[str]:
        """What the finished blocks were computed on."""
        return [row[0] for row in self.database.execute("select distinct device from blocks order by device")]

    def sessions(self) -> list[dict[str, Any]]:
        """Return the sessions that worked on the store: their code, their executor, and how many blocks each wrote."""
        rows = self.database.execute(
            "select version, source, executor, started, (select count(*) from blocks where session = sessions.number) "
            "from sessions order by number"
        )
        names = ("version", "source", "executor", "started", "blocks")
        return [dict(zip(names, row)) for row in rows]


def _row_hash(table: str, row: tuple[Any, ...]) -> int:
    """128 bits for a row; none for the checksum itself."""
    if row[0] == CHECKSUM:
        return 0
    return int.from_bytes(hashlib.blake2b(json.dumps([table, *row]).encode(), digest_size=16).digest())


def _now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
