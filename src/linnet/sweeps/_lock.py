"""One process at a time on a store, by a lock of the operating system: it ends with the process that holds it."""

from __future__ import annotations

import errno
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from linnet.sweeps.errors import LockedError, StoreError

LOCK_FILE = "lock.json"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of the store in `folder`, or name the process that holds it."""
    try:
        import fcntl
    except ImportError:
        raise StoreError("a store needs POSIX file locks, which this system lacks: run with store=None.") from None
    # Not inherited by child processes, so that workers outliving a killed owner do not hold its lock.
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
                raise LockedError(
                    f"the store {folder} is in use by {_read_owner(descriptor)}. Wait for it, or stop it: its lock "
                    "ends with it."
                ) from None
            raise StoreError(f"the file system of {folder} has no file locks: {error.strerror}. Use another.") from None
        _write_owner(descriptor)
        yield
    finally:
        os.close(descriptor)


def _write_owner(descriptor: int) -> None:
    """Write who holds the lock into its file."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"host": platform.node(), "process": os.getpid(), "since": now})
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def _read_owner(descriptor: int) -> str:
    """Read who holds the lock."""
    try:
        owner = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {owner['process']} on {owner['host']} since {owner['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
