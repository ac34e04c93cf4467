"""Values kept for a while, as many as fit into a total size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by key, the least recently used forgotten first; safe to use from several threads.

    `size_of` says how much of `max_size` a value takes: one, unless it is given. It is asked again when the value is
    forgotten: a kept value must not change. None cannot be kept: `get` returns it for what is not there.
    """

    def __init__(self, max_size: int, size_of: Callable[[T], int] = lambda value: 1) -> None:
        self.max_size = max_size
        self.size = 0
        self._size_of = size_of
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._kept)

    def get(self, key: Hashable) -> T | None:
        """Return what is kept under `key`, or None."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, value: T) -> None:
        """Keep `value`, unless it is larger than all that may be kept."""
        if self._size_of(value) > self.max_size:
            return
        with self._lock:
            if (old := self._kept.pop(key, None)) is not None:
                self.size -= self._size_of(old)
            self._kept[key] = value
            self.size += self._size_of(value)
            while self.size > self.max_size:
                _, oldest = self._kept.popitem(last=False)
                self.size -= self._size_of(oldest)
