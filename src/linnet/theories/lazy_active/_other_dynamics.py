"""Cells of the phase diagram under weight decay, spectral descent or Muon: wide networks alone have a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet._arguments import shown
from linnet.theories.lazy_active._decaying_threshold import decaying_modes
from linnet.theories.lazy_active._wide_cells import drawn_cells, wide_error, wide_errors
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

MUON_UNCERTAINTY = 0.15  # more than spectral descent: at most 13% seen, as Newton and Schulz's values are not all 1
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
    cells = np.full((5, *thresholds.shape), np.nan)
    values, counted = spectrum.values, spectrum.multiplicities

    def losses(s: np.ndarray) -> np.ndarray:
        return 0.5 * ((s**2) @ counted - 2 * s @ (counted * spectrum.overlaps) + spectrum.truth_power)

    for cell in np.ndindex(thresholds.shape):
        g, width = float(thresholds[cell]), np.array([float(widths[cell[0]])])
        cells[(4, *cell)] = np.inf
        if drawn_cells(spectrum, width, np.array([g]), np.zeros(1))[0]:
            continue
        early, late = 0.01 / np.hypot(values[0], g), 40 / min(decay, float(np.hypot(values[-1], g)))
        for _ in range(1 + REFINEMENTS):
            times = np.append(np.geomspace(early, late, TIMES), np.inf)
            modes = decaying_modes(values, g, times, decay)
            path = losses(modes)
            at_end = path[-1] <= (1 + SAME) * path.min()
            best = TIMES if at_end else int(np.argmin(path))
            early, late = times[max(best - 1, 0)], times[min(best + 1, TIMES - 1)]
            if at_end:
                break
        s, time = modes[best], times[best]
        before = wide_errors(spectrum, np.array([g]), width, np.array([[min(time, times[-2])]]))
        model = spectrum, width, np.array([g]), before.own[:, 0] / (2 * path[best])
        if drawn_cells(*model)[0]:
            continue
        largest = max(float(s.max()) ** 2, np.finfo(float).tiny)
        rank, train = float(counted @ s**2) / largest, 0.5 * float(counted @ (values - s) ** 2)
        cells[(slice(None), *cell)] = path[best], time, rank, train, float((wide_error(*model) + model[3])[0])
    return tuple(cells)
