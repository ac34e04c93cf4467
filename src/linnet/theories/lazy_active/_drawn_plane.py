"""Rows of the phase diagram that follow drawn starts, on threads; of close widths only some, others between them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._workers import cores
from linnet.theories.lazy_active._drawn_rows import thinly
from linnet.theories.lazy_active._interpolation import between, between_error

_MOST_THREADS = 8
_MORE_THAN_SIGNALS = 3  # units up to which every width is followed: the next ones are no smooth continuation
_GAP = np.log(2.5)  # between logarithms of other widths that are followed
_LEFT = 0.01  # relative error that interpolation may leave anywhere

Row = tuple[np.ndarray, ...]


def fill(
    cells: list[np.ndarray], drawn: np.ndarray, widths: np.ndarray, follow: Callable[[int], Row], *, signals: int
) -> None:
    """Puts what drawn starts say into the cells that are `drawn`, (width, variance).

    `cells` are test, time, rank and train, by the wide formula so far, then the errors of test and time and the
    scatter; `follow` returns these of one row. Of widths that are close to each other and beyond the number of
    `signals`, only some are followed: between them the logarithm of what they change in the wide formula is
    interpolated.
    """
    rows = np.flatnonzero(drawn.any(axis=1))
    beyond = rows[widths[rows] > signals + _MORE_THAN_SIGNALS]
    beyond = (
        np.append(beyond, np.arange(beyond[-1] + 1, widths.size)[:1]) if beyond.size else beyond
    )  # the next is wide
    places, plain = np.log(widths[beyond]), [part[beyond] for part in cells[:4]]
    known = np.zeros(beyond.size, dtype=bool)
    known[thinly(places, _GAP)] = True
    _follow(cells, drawn, np.setdiff1d(rows, beyond[~known]), follow)
    if not known.all():
        _interpolate(cells, drawn, beyond, known, places, plain)


def _interpolate(
    cells: list[np.ndarray],
    drawn: np.ndarray,
    rows: np.ndarray,
    known: np.ndarray,
    places: np.ndarray,
    plain: list[np.ndarray],
) -> None:
    """Put what is between followed rows into the others; `plain` are the wide formula's cells of all of them."""
    tiny, others, asked, at = np.finfo(float).tiny, rows[~known], places[known], places[~known]
    here = drawn[others]
    logs = [
        np.log(np.maximum(whole[rows[known]], tiny) / np.maximum(first[known], tiny))
        for whole, first in zip(cells[:4], plain, strict=True)
    ]
    for whole, first, change in zip(cells[:4], plain, logs, strict=True):
        whole[others] = np.where(here, first[~known] * np.exp(between(asked, change, at)), first[~known])
    off = np.hypot(between_error(asked, logs[0], at), _LEFT)
    right = np.searchsorted(asked, at)
    lower, upper = rows[known][right - 1], rows[known][right]
    errors = np.hypot(np.maximum(cells[4][lower], cells[4][upper]), off)
    moments = np.hypot(np.maximum(cells[5][lower], cells[5][upper]), np.sqrt(off))
    scatter = (cells[6][lower] + cells[6][upper]) / 2
    for whole, part in zip(cells[4:], (errors, moments, scatter), strict=True):
        whole[others] = np.where(here, part, whole[others])


def _follow(cells: list[np.ndarray], drawn: np.ndarray, rows: np.ndarray, follow: Callable[[int], Row]) -> None:
    """Follow rows, a few at once: NumPy's loops over stacks of matrices let other threads run.

    The widest come first, as they take longest. BLAS has one thread for each: its own would wait for each other.
    """
    rows = rows[drawn[rows].any(axis=1)]
    threads = max(1, min(cores(), _MOST_THREADS, rows.size))
    with ONE_BLAS_THREAD, ThreadPoolExecutor(threads) as pool:
        for row, found in zip(rows[::-1], pool.map(follow, rows[::-1].tolist()), strict=True):
            for whole, part in zip(cells, found, strict=True):
                whole[row, drawn[row]] = part
