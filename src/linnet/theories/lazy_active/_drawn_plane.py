"""Rows of the phase diagram that follow drawn starts, on threads; on request only some, and others between them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._workers import cores
from linnet.theories.lazy_active._drawn_rows import thinly
from linnet.theories.lazy_active._interpolation import between, between_error

_MOST_THREADS = 8
_MORE_THAN_SIGNALS = 3  # units up to which every width is followed
_GAP = np.log(4)  # between logarithms of other widths that are followed

Row = tuple[np.ndarray, ...]


def fill(
    cells: list[np.ndarray],
    drawn: np.ndarray,
    widths: np.ndarray,
    follow: Callable[[int], Row],
    *,
    signals: int,
    coarse: bool,
) -> None:
    """Puts what drawn starts say into the cells that are `drawn`, (width, variance).

    `cells` are test, time, rank and train, by the wide formula so far, then the errors of test and time and the
    scatter; `follow` returns these of one row. If `coarse`, widths far from the number of `signals` are followed where
    they must be, and between them the logarithm of what they change in the wide formula is interpolated.
    """
    rows = np.flatnonzero(drawn.any(axis=1))
    if not rows.size:
        return
    followed = rows
    if coarse:  # the first widths beyond the signals are no smooth continuation of those below
        few = int((widths[rows] <= signals + _MORE_THAN_SIGNALS).sum())
        narrow, rows = rows[:few], rows[few:]
        rows = np.append(rows, np.arange(rows[-1] + 1, widths.size)[:1]) if rows.size else rows  # the next is wide
        followed = np.concatenate([narrow, rows[thinly(np.log(widths[rows]), _GAP)]])
    plain = [part[rows] for part in cells[:4]]
    _put(cells, drawn, followed[drawn[followed].any(axis=1)], follow)
    others = np.flatnonzero(~np.isin(rows, followed))
    if not others.size:
        return
    known, places = np.flatnonzero(np.isin(rows, followed)), np.log(widths[rows])
    changes = _changes(cells, plain, rows, known)
    here, asked, at = drawn[rows[others]], places[known], places[others]
    for whole, first, change in zip(cells[:4], plain, changes, strict=True):
        whole[rows[others]] = np.where(here, first[others] * np.exp(between(asked, change, at)), first[others])
    off = between_error(asked, changes[0], at)
    right = np.searchsorted(asked, at)
    beside = rows[known[right - 1]], rows[known[right]]
    errors = np.hypot(np.maximum(cells[4][beside[0]], cells[4][beside[1]]), off)
    moments = np.hypot(np.maximum(cells[5][beside[0]], cells[5][beside[1]]), np.sqrt(off))
    scatter = (cells[6][beside[0]] + cells[6][beside[1]]) / 2
    for whole, part in zip(cells[4:], (errors, moments, scatter), strict=True):
        whole[rows[others]] = np.where(here, part, whole[rows[others]])


def _changes(cells: list[np.ndarray], plain: list[np.ndarray], rows: np.ndarray, known: np.ndarray) -> list[np.ndarray]:
    """Logarithms of what followed starts change in the wide formula, (known row, variance) of each quantity."""
    tiny = np.finfo(float).tiny
    return [
        np.log(np.maximum(part[rows[known]], tiny) / np.maximum(first[known], tiny))
        for part, first in zip(cells[:4], plain, strict=True)
    ]


def _put(cells: list[np.ndarray], drawn: np.ndarray, rows: np.ndarray, follow: Callable[[int], Row]) -> None:
    """Follows rows, a few at once: NumPy's loops over stacks of matrices let other threads run.

    The widest come first, as they take longest. BLAS has one thread for each: its own would wait for each other.
    """
    threads = max(1, min(cores(), _MOST_THREADS, rows.size))
    with ONE_BLAS_THREAD, ThreadPoolExecutor(threads) as pool:
        for row, found in zip(rows[::-1], pool.map(follow, rows[::-1].tolist()), strict=True):
            for whole, part in zip(cells, found, strict=True):
                whole[row, drawn[row]] = part
