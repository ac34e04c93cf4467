"""Cells of the phase diagram wider than their target: the spectral flow, and what the start's own product adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet.theories.mixed.task_spectra import Spectrum
from linnet.theories.noise_bulk import ratio_of

# From this many times the larger side on a network is wide: its imbalance is close to its limit.
_WIDE, _WIDE_ALWAYS = 2.0, 12.0
# Between the two, drawn starts are better where the start's own product is more than this share of the error.
_SMALL_SHARE = 0.02
_MOST_ENTRIES = 400_000  # of a block of cells, times and modes: what stays in the cache is what is fast


@dataclass(frozen=True)
class Errors:
    """Twice the canonical losses, squared norms of the product, and what the start's own product adds; (cell, time)."""

    test: np.ndarray
    train: np.ndarray
    power: np.ndarray
    largest: np.ndarray
    own: np.ndarray


def drawn_cells(spectrum: Spectrum, widths: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Which cells are not wide, and are predicted from drawn starts; `share` is that of the start's own product."""
    times = widths / max(spectrum.outputs, spectrum.inputs)
    return (times < _WIDE) | ((times < _WIDE_ALWAYS) & (share > _SMALL_SHARE))


def wide_error(spectrum: Spectrum, widths: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Relative error of the wide formula's least test error, by what it leaves out; `share` as in `drawn_cells`."""
    small, large = sorted((spectrum.outputs, spectrum.inputs))
    return np.asarray(0.3 / small + 0.2 * large / widths * np.minimum(share / _SMALL_SHARE, 1.0))


def wide_errors(spectrum: Spectrum, thresholds: np.ndarray, widths: np.ndarray, times: np.ndarray) -> Errors:
    r"""$|A - A^*|_F^2$, $|A - Y|_F^2$, $|A|_F^2$ and $|A|_{op}^2$ of each cell at its own times, (cell, time).

    $A = U s(t) V^\top$ plus the start's own product, an independent matrix of squared norm

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


def _block(spectrum: Spectrum, thresholds: np.ndarray, widths: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, ...]:
    S, g, t = spectrum.values, thresholds[:, None, None], times[:, :, None]
    s, left = modes(S, g, t)
    counted = spectrum.multiplicities
    learned = np.einsum("ctm,ctm,m->ct", s, s, counted)
    held = s @ (counted * spectrum.overlaps)
    missing = np.einsum("ctm,ctm,m->ct", left, left, counted * S * S)
    # the start's own product
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


def _with_noise(spike: np.ndarray, power: np.ndarray, spectrum: Spectrum) -> np.ndarray:
    """Squared largest singular value of a mode of that size in independent noise of that total power."""
    ratio = ratio_of(spectrum.outputs, spectrum.inputs)
    unit = np.sqrt(np.maximum(power, np.finfo(float).tiny) / min(spectrum.outputs, spectrum.inputs))
    x = np.maximum(spike / unit, ratio**0.25)  # a weaker mode is hidden: the edge of the noise is the largest
    return unit**2 * (x + 1 / x) * (x + ratio / x)
