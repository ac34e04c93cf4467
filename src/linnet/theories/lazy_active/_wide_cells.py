"""Cells of the phase diagram wider than their target: the spectral flow, and the contribution of the initial
product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linnet.theories.lazy_active._parabolas import vertex_of_even_places
from linnet.theories.lazy_active.task_spectra import TaskSpectrum
from linnet.theories.noise_bulk import ratio_of

_WIDE = 2.0  # from this many times the larger side on a network may be wide: its imbalance is close to its limit
_MOST_ERROR = 0.01  # that the initialization's own product may leave in the wide formula; above it, starts are drawn
_FLUCTUATIONS = 0.05  # over d: what is left of an initialization's own fluctuations in the mean over starts
_TIMES = 0.0005  # of looking at a grid of times
_COARSE = 20  # times looked at first; the bulk is in groups there
_COARSE_GROUPS = 24
_MOST_ENTRIES = 400_000  # of a block of cells, times and modes: what stays in the cache is what is fast


@dataclass(frozen=True)
class Errors:
    """Twice the canonical losses, squared norms of the product, and what the initialization's own product adds; (cell,
    time)."""

    test: np.ndarray
    train: np.ndarray
    power: np.ndarray
    largest: np.ndarray
    own: np.ndarray


def drawn_cells(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Which cells are not wide, and are predicted from drawn starts; arguments as in `wide_error`."""
    times = widths / max(spectrum.outputs, spectrum.inputs)
    return np.asarray((times < _WIDE) | (_left_out(spectrum, widths, thresholds, share) > _MOST_ERROR))


def wide_error(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Relative error of the wide formula's minimum test error, from the neglected terms.

    `share` is the fraction of the error due to the initial product, `thresholds` are sigma^2 w.
    """
    floor = _FLUCTUATIONS / min(spectrum.outputs, spectrum.inputs) + _TIMES
    return floor + _left_out(spectrum, widths, thresholds, share)


def _left_out(spectrum: TaskSpectrum, widths: np.ndarray, thresholds: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Effect of a finite width on the initial product, and on the kernel of lazy networks.

    Measured on whole networks, 100 starts in each of 36 cells from w = 2d on: six kinds of task, 20 to 28 inputs.
    """
    part = max(spectrum.outputs, spectrum.inputs) / widths
    lazy = thresholds**2 / (thresholds**2 + spectrum.values[0] ** 2)
    return np.asarray(1.6 * part / (1 + 2 * part) * share + 0.08 * part**2 * lazy)


def wide_best(spectrum: TaskSpectrum, thresholds: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, ...]:
    """Time of the smallest test error, twice the losses then, stable rank, the initialization's part and bend; each
    (cell,)."""
    g, few = thresholds, spectrum.grouped(_COARSE_GROUPS)
    first, last = spectrum.values[0], spectrum.values[max(spectrum.num_outliers - 1, 0)]
    growth = np.log(2 + first / g) / 2
    start = g * g / widths * spectrum.outputs * spectrum.inputs
    early = 0.1 * growth / np.hypot(first, g)
    late = 4 * growth / np.hypot(last, g) + np.log1p(start / max(spectrum.truth_power, np.finfo(float).tiny)) / (2 * g)
    times = early[:, None] * (late / early)[:, None] ** np.linspace(0, 1, _COARSE)
    best = _least(lambda t: wide_errors(few, g, widths, t).test, times)
    step = np.log(1.03)  # the groups' best time is close: one parabola with all modes
    near = wide_errors(spectrum, g, widths, best[:, None] * np.exp(step * np.array([-1, 0, 1]))).test
    best = best * np.exp(vertex_of_even_places(near, step))
    bend = np.maximum(near[:, 0] - 2 * near[:, 1] + near[:, 2], 0) / step**2 / near[:, 1]
    at = wide_errors(spectrum, g, widths, best[:, None])
    return best, at.test[:, 0], at.train[:, 0], at.power[:, 0] / at.largest[:, 0], at.own[:, 0], bend


def wide_errors(spectrum: TaskSpectrum, thresholds: np.ndarray, widths: np.ndarray, times: np.ndarray) -> Errors:
    r"""$|A - A^*|_F^2$, $|A - Y|_F^2$, $|A|_F^2$ and $|A|_{op}^2$ of each cell at its own times, (cell, time).

    $A = U s(t) V^\top$ plus the initialization's own product, an independent matrix of squared norm

    $$ N(t) = \frac1w \Big(\sum_i c_i \rho_i\Big)^2, \qquad c_i = \sqrt{s_i^2 + g^2}, \qquad \rho_i = 1 - s_i/S_i $$

    (over all outputs times over all inputs). At $t = 0$ this is $\sigma^4 w\, k d$; it decays with the residual and
    grows as the layers grow.

    **Arguments:** `thresholds` $g > 0$ and `widths` $w$ (cell,), `times` (cell, time).
    """
    cells, points = times.shape
    block = max(1, _MOST_ENTRIES // (points * spectrum.values.size))
    parts = [
        _block(spectrum, thresholds[i : i + block], widths[i : i + block], times[i : i + block])
        for i in range(0, cells, block)
    ]
    return Errors(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _block(
    spectrum: TaskSpectrum, thresholds: np.ndarray, widths: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, ...]:
    S, g, t = spectrum.values, thresholds[:, None, None], times[:, :, None]
    s, left = modes(S, g, t)
    counted = spectrum.multiplicities
    learned = np.einsum("ctm,ctm,m->ct", s, s, counted)
    held = s @ (counted * spectrum.overlaps)
    missing = np.einsum("ctm,ctm,m->ct", left, left, counted * S * S)
    # the initialization's own product
    noise = np.hypot(s, g)
    noise *= left
    side = noise @ counted
    idle = abs(spectrum.outputs - spectrum.inputs)  # directions that only the larger side has
    other = side + idle * (thresholds[:, None] * np.exp(-2 * thresholds[:, None] * times)) if idle else side
    own = side * other / widths[:, None]
    largest = _with_noise(s.max(axis=-1), own, spectrum)
    return learned - 2 * held + spectrum.truth_power + own, missing + own, learned + own, largest, own


def modes(S: np.ndarray, g: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s(t) of `mode_values` and 1 - s(t)/S by plain products: fewer digits, at a fifth of the cost."""
    rho = np.hypot(S, g)
    a = (S + rho) / g
    q = (a - 1) / (a + 1)
    E = np.exp(-2 * rho * t)
    aq, qq, fall = a * q, q * q, q / a
    low = 1 + aq * E
    low *= 1 - fall * E
    # 1 - s/S: numerator of (1 + aqE)(1 - qE/a) - (1 - E)(1 + q^2 E) = E (1 + aq - q/a - q^2), as -q^2 E^2 cancels
    left = E * (1 + aq - fall - qq)
    left /= low
    return S * (1 - left), left


def _with_noise(spike: np.ndarray, power: np.ndarray, spectrum: TaskSpectrum) -> np.ndarray:
    """Squared largest singular value of a mode of that size in independent noise of that total power."""
    ratio = ratio_of(spectrum.outputs, spectrum.inputs)
    unit = np.sqrt(np.maximum(power, np.finfo(float).tiny) / min(spectrum.outputs, spectrum.inputs))
    x = np.maximum(spike / unit, ratio**0.25)  # a weaker mode is hidden: the edge of the noise is the largest
    return unit**2 * (x + 1 / x) * (x + ratio / x)


def _least(test: Callable[[np.ndarray], np.ndarray], times: np.ndarray, halvings: int = 2) -> np.ndarray:
    """The time of the smallest test error of each cell: a geometric grid, its best interval halved, then a parabola."""
    values = test(times)
    at = np.clip(np.argmin(values, axis=1), 1, times.shape[1] - 2)[:, None]
    middle = np.take_along_axis(times, at, axis=1)[:, 0]
    around = np.take_along_axis(values, at + np.array([-1, 0, 1]), axis=1)
    step = np.log(times[:, 1] / times[:, 0])
    for _ in range(halvings):
        step = step / 2
        between = test(middle[:, None] * np.exp(step[:, None] * np.array([-1, 1])))
        five = np.stack([around[:, 0], between[:, 0], around[:, 1], between[:, 1], around[:, 2]], axis=1)
        at = np.clip(np.argmin(five, axis=1), 1, 3)[:, None]
        around = np.take_along_axis(five, at + np.array([-1, 0, 1]), axis=1)
        middle = middle * np.exp(step * (at[:, 0] - 2))
    return middle * np.exp(vertex_of_even_places(around, step))
