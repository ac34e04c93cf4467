r"""All modes of one depth as one family of curves.

The flow keeps its form under $S \to \lambda S$, $c \to \lambda^{1/L} c$, $t \to \lambda^{-(2-2/L)} t$, so
$s(t; S, c) = S f(S^{2-2/L} t,\ c\,S^{-1/L})$: the times at which $f$ passes given levels are tabulated over the one
parameter $\kappa = c S^{-1/L}$, where they are smooth, however sharp the transition is in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from linnet.theories.deep._trees import couplings, integrate_products

MAX_LETTERS = {
    2: 0,
    3: 5,
    4: 6,
}  # the longest word; 5 from depth 5 on. It moves the smallest test error by 1e-4 and less
LEVELS = np.linspace(-12.0, 12.0, 73)  # log(f/(1 - f))
FINE_LEVELS = np.linspace(-12.0, 12.0, 577)  # between which a straight line is good to 1e-5
LARGEST, POINTS = 4.0, 64  # of kappa; beyond it the lazy limit
MIN_KAPPA = {2: 0.02, 3: 0.02, 4: 0.02, 5: 0.05, 6: 0.1}  # of kappa, by depth; below it the active limit's shape
RTOL = 1e-7


@dataclass(frozen=True)
class ModeTimes:
    """Logarithms of the times at which modes S pass every fine level, (mode, level)."""

    S: np.ndarray
    clocks: np.ndarray

    def values(self, times: np.ndarray) -> np.ndarray:
        """s at all times, (time, mode)."""
        at = np.log(times)
        z = np.stack([np.interp(at, clock, FINE_LEVELS, left=-np.inf, right=np.inf) for clock in self.clocks], axis=1)
        return self.S / (1 + np.exp(-z))


@dataclass(frozen=True)
class Family:
    """Logarithms of the times at which every level is passed, (kappa, level)."""

    depth: int
    clocks: np.ndarray

    def modes(self, S: np.ndarray, coupling: float) -> ModeTimes:
        """The modes of singular values S > 0 from one initialization."""
        clocks = np.empty((S.size, FINE_LEVELS.size))
        power = 2 - 2 / self.depth
        for mode, top in enumerate(S):
            kappa = coupling * top ** (-1 / self.depth)
            if kappa >= LARGEST:  # f = 1 - exp(-rate t)
                clocks[mode] = np.log(np.logaddexp(0, FINE_LEVELS)) - np.log(self.depth * kappa ** (2 * self.depth - 2))
            else:
                held = max(kappa, MIN_KAPPA[self.depth])
                clocks[mode] = self._log_times_at(np.log(held))
                if kappa < held:  # the plateau ends at a multiple of kappa^(2 - L)
                    clocks[mode] += (self.depth - 2) * np.log(held / kappa)
            clocks[mode] -= power * np.log(top)
        return ModeTimes(S, clocks)

    def _log_times_at(self, log_kappa: float) -> np.ndarray:
        """The times at one kappa, by a cubic through four neighbors."""
        least = np.log(MIN_KAPPA[self.depth])
        place = (log_kappa - least) / (np.log(LARGEST) - least) * (POINTS - 1)
        first = min(max(int(place) - 1, 0), POINTS - 4)
        x = place - first
        weights = (
            -(x - 1) * (x - 2) * (x - 3) / 6,
            x * (x - 2) * (x - 3) / 2,
            -x * (x - 1) * (x - 3) / 2,
            x * (x - 1) * (x - 2) / 6,
        )
        return np.asarray(weights @ self.clocks[first : first + 4])


@lru_cache(maxsize=8)
def family(depth: int) -> Family:
    """The family of one depth: computed once, in a second."""
    from scipy.interpolate import PchipInterpolator

    kappas = np.geomspace(MIN_KAPPA[depth], LARGEST, POINTS)
    start = [layer[None] * kappas[:, None, None] for layer in couplings(depth, MAX_LETTERS.get(depth, 5))]
    ones = np.ones(POINTS)
    plateau = np.log(2 + 1 / kappas**2) if depth == 2 else kappas ** (2.0 - depth)
    unit = 1 / (depth * np.maximum(kappas ** (2 * depth - 2), 1.0)) + plateau / np.maximum(1.0, kappas**depth)
    times = unit * np.geomspace(1e-7, 40.0, 120)[:, None]
    for _ in range(depth):  # again at times that are dense where the levels are passed: within about kappa^(L - 2)
        z = _logit(integrate_products(ones, start, times, RTOL))
        rising = [_rising_points(np.maximum.accumulate(one), np.log(times[:, k])) for k, one in enumerate(z.T)]
        clocks = np.stack([PchipInterpolator(*one)(LEVELS) for one in rising])
        times = np.exp(clocks).T
        times = np.maximum.accumulate(times * (1 + 1e-12 * np.arange(len(times))[:, None]), axis=0)
    return Family(depth, PchipInterpolator(LEVELS, clocks, axis=1)(FINE_LEVELS))


def _logit(share: np.ndarray) -> np.ndarray:
    """Return log(f/(1 - f)) of shares, which are kept away from 0 and 1."""
    inside = np.clip(share, 1e-9, 1 - 1e-12)
    return np.log(inside) - np.log1p(-inside)


def _rising_points(z: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points at which z rises."""
    kept = np.concatenate([[True], np.diff(z) > 0])
    return z[kept], logs[kept]
