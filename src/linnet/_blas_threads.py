"""How many threads NumPy's BLAS takes for one product."""

from __future__ import annotations

import threading
from typing import Any


class _BlasThreads:
    """One thread of BLAS for each caller while anybody is inside, and afterwards what it was before."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limits: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                from threadpoolctl import threadpool_limits  # here: a benchmark runs where only NumPy and JAX are

                self.limits = threadpool_limits(1, user_api="blas")
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.limits.restore_original_limits()


ONE_BLAS_THREAD = _BlasThreads()
