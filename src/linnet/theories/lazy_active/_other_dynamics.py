"""Cells of the phase diagram under weight decay, spectral descent or Muon: wide networks alone have a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet._arguments import shown
from linnet.theories.lazy_active._decaying_threshold import decaying_modes
from linnet.theories.lazy_active._wide_cells import drawn_cells, wide_error, wide_errors
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

MUON_UNCERTAINTY = 0.15  # more than spectral descent: at most 13% seen, as Newton and Schulz's values are not all 1
MOST_ENTRIES = 2**20  # numbers of a block: times, modes and cells
TIMES = 48  # looked at first, and again between the neighbors of the best
REFINEMENTS = 2
SAME = 1e-9  # of the loss: a minimum that is less below the end is at the end
Cells = tuple[np.ndarray, ...]  # minimum test loss, its time, stable rank, training loss, uncertainty


def spectral_cells(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, update: Any) -> Cells:
    """Return the cells (width, variance) for `trainers.updates.SpectralDescent` or `Muon`; NaN, with infinite
    uncertainty, where the network is narrower than its target."""
    from linnet.theories.spectral_descent import minimum

    kind = type(update).__name__
    if kind not in ("SpectralDescent", "Muon") or update.weight_decay:
        raise ValueError(
            "`update` must be `trainers.updates.SpectralDescent()` or `Muon(...)` without weight decay: no formula is "
            f"known for {shown(update) if isinstance(update, str) else repr(update)}."
        )
    values, counted = spectrum.values, spectrum.multiplicities
    found = np.full((5, *thresholds.shape), np.nan)
    for cell in np.ndindex(thresholds.shape):
        best = minimum(spectrum, float(thresholds[cell]), width=int(widths[cell[0]]))
        clipped = np.minimum(values, best.level)
        train = 0.5 * float(counted @ (values - clipped) ** 2)
        largest = max(float(clipped.max()) ** 2, np.finfo(float).tiny)
        more, time = 0.0, best.time
        if kind == "Muon":
            more, time = MUON_UNCERTAINTY, np.nan  # its steps are neither of length 1 nor without delay
        found[(slice(None), *cell)] = (
            best.test_loss, time, float(counted @ clipped**2) / largest, train, best.uncertainty + more,
        )  # fmt: skip
    return tuple(found)


def decaying_cells(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, decay: float) -> Cells:
    """Return the cells (width, variance) under weight decay, the end included; NaN, with infinite uncertainty, for
    networks that are not wide. The initial product is left out, and counted as uncertainty."""
    wide, g = np.broadcast_to(widths[:, None], thresholds.shape).ravel().astype(float), thresholds.ravel()
    cells = np.full((5, g.size), np.nan)
    cells[4] = np.inf
    known = np.flatnonzero(~drawn_cells(spectrum, wide, g, np.zeros(g.size)))
    block = max(1, MOST_ENTRIES // (TIMES * spectrum.values.size))
    for part in (known[begin : begin + block] for begin in range(0, known.size, block)):
        cells[:, part] = _decaying_block(spectrum, wide[part], g[part], decay)
    return tuple(cells.reshape(5, *thresholds.shape))


def _decaying_block(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, decay: float) -> np.ndarray:
    """Return the quantities of `Cells`, one of them a row, of cells with these widths and thresholds, (cell,) each."""
    values, counted = spectrum.values, spectrum.multiplicities
    early = 0.01 / np.hypot(values[0], thresholds)
    late = 40 / np.minimum(decay, np.hypot(values[-1], thresholds))
    least, time, last = (np.empty(thresholds.size) for _ in range(3))
    s = np.empty((thresholds.size, values.size))
    left = np.arange(thresholds.size)  # the cells whose best time is not found yet
    for _ in range(1 + REFINEMENTS):
        times = np.pad(np.geomspace(early, late, TIMES, axis=1), ((0, 0), (0, 1)), constant_values=np.inf)
        modes = decaying_modes(values, thresholds[left], times, decay)
        path = 0.5 * ((modes**2) @ counted - 2 * modes @ (counted * spectrum.overlaps) + spectrum.truth_power)
        at_end = path[:, -1] <= (1 + SAME) * path.min(axis=1)
        best, rows = np.where(at_end, TIMES, path.argmin(axis=1)), np.arange(left.size)
        least[left], time[left], last[left], s[left] = (
            path[rows, best],
            times[rows, best],
            times[:, -2],
            modes[rows, best],
        )
        early, late = (
            times[rows, np.maximum(best - 1, 0)][~at_end],
            times[rows, np.minimum(best + 1, TIMES - 1)][~at_end],
        )
        left = left[~at_end]
        if not left.size:
            break
    share = wide_errors(spectrum, thresholds, widths, np.minimum(time, last)[:, None]).own[:, 0] / (2 * least)
    model = spectrum, widths, thresholds, share
    largest = np.maximum(s.max(axis=1) ** 2, np.finfo(float).tiny)
    found = np.stack(
        [least, time, s**2 @ counted / largest, 0.5 * (values - s) ** 2 @ counted, wide_error(*model) + share]
    )
    found[:, drawn_cells(*model)] = np.array([[np.nan]] * 4 + [[np.inf]])
    return found
