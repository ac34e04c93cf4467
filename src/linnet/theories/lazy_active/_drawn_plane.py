"""Rows of the phase diagram that follow drawn starts, on threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._workers import cores

_MOST_THREADS = 8

Row = tuple[np.ndarray, ...]


def fill(cells: list[np.ndarray], drawn: np.ndarray, follow: Callable[[int], Row]) -> None:
    """Puts what drawn starts say into the cells that are `drawn`, (width, variance).

    `cells` are test, time, rank and train, by the wide formula so far, then the errors of test and time and the
    scatter; `follow` returns these of one row. Rows are followed a few at once: NumPy's loops over stacks of matrices
    let other threads run. The widest come first, as they take longest. BLAS has one thread for each: its own would wait
    for each other.
    """
    rows = np.flatnonzero(drawn.any(axis=1))
    threads = max(1, min(cores(), _MOST_THREADS, rows.size))
    with ONE_BLAS_THREAD, ThreadPoolExecutor(threads) as pool:
        for row, found in zip(rows[::-1], pool.map(follow, rows[::-1].tolist()), strict=True):
            for whole, part in zip(cells, found, strict=True):
                whole[row, drawn[row]] = part
