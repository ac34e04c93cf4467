"""Results kept for a while, as many as fit into a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


class Cache:
    """Datasets by key, the least recently used forgotten first; safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.held_bytes = 0
        self._kept: OrderedDict[Hashable, xr.Dataset] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> xr.Dataset | None:
        """What is kept under `key`, or None."""
        with self._lock:
            dataset = self._kept.get(key)
            if dataset is not None:
                self._kept.move_to_end(key)
            return dataset

    def put(self, key: Hashable, data: xr.Dataset) -> None:
        """Keeps `data`, unless it is larger than all that may be kept."""
        if data.nbytes > self.most_bytes:
            return
        with self._lock:
            if (old := self._kept.pop(key, None)) is not None:
                self.held_bytes -= old.nbytes
            self._kept[key] = data
            self.held_bytes += data.nbytes
            while self.held_bytes > self.most_bytes:
                _, gone = self._kept.popitem(last=False)
                self.held_bytes -= gone.nbytes
