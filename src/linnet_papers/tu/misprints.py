"""Formulas as printed, where they differ from ours (docs/errata.md); what trained networks are held against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linnet.inits import Weights
from linnet.theories import lazy_active


def alignment_bound(product: np.ndarray, reference: np.ndarray, rank: int) -> float:
    """Lemma A.4 without the factor 4 that its proof loses."""
    return lazy_active.alignment_bound(product, reference, rank) / 4


def spectrum_constant(spectrum: Sequence[float]) -> float:
    """c(a) with the signal's own values alone: undefined for K = 1 and for equal ones."""
    values = np.unique(np.asarray(spectrum, dtype=float))
    if values.size < 2:
        raise ValueError("`spectrum` needs two different values: the printed constant has nothing to minimize over.")
    return float(np.diff(values).min() * values[0] ** 2 / (values[-1] ** 2 - values[0] ** 2))


def stage_lengths(
    spectrum: Sequence[float], gamma_variance: float, gamma_width: float, *, dim: int
) -> dict[str, float]:
    r"""Canonical lengths of the stages of E.3 with $\max(1, 2\Delta)$, and a growth twice that of its own equation."""
    gap, slowest = 1 - gamma_variance - gamma_width, float(np.min(spectrum))
    tight, unit = max(1.0, 2 * gap), np.log(dim) / dim
    return {
        "growth": float(gap / slowest * unit),
        "alignment": float(2 * tight / spectrum_constant(spectrum) * unit),
        "settling": float(tight / (2 * slowest) * unit),
    }


def final_alignment(gap: float) -> float:
    r"""E.3: at $T^*$ the singular vectors are aligned to $x \le C d^{-\max(1, 2\Delta)}$."""
    return max(1.0, 2 * gap)


def lazy_mean(truth: np.ndarray, noise: np.ndarray, remaining: np.ndarray) -> np.ndarray:
    r"""1.4 and D.1: $|q^t A^* + (1 - q^t) E|^2$, without the minus before $A^*$."""
    q = np.asarray(remaining)[:, None, None]
    return ((q * truth + (1 - q) * noise) ** 2).sum(axis=(1, 2))


def lazy_distance(dim: int, width: float, threshold: float) -> float:
    r"""D.1's $|A_\theta - B|_F/d$ up to its constant, $\frac{d}{\sigma^2 w}\sqrt{d/w}$: it takes $|C_1|$ for $d$."""
    return float(dim / threshold * np.sqrt(dim / width))


def balanced_step(rate: float, values: np.ndarray, goals: np.ndarray) -> np.ndarray:
    r"""1.5: $2\eta|s|(s^* - s)$, without the $2/d^2$ of the loss it is for."""
    return 2 * rate * np.abs(values) * (goals - values)


def descent_bound(step: float, k: int, size: float = 1.0, slope: float = 1.0) -> float:
    r"""Lemma F.1: $((1 + \eta C_1)^{k-1} - 1)\,\eta C_0/2$, which is 0 after one step."""
    return ((1 + step * slope) ** (k - 1) - 1) * 0.5 * step * size


def start_variance(std: float, width: float) -> float:
    r"""E.3: $\sigma^2\sqrt w$ for the variance of an entry of $A(0)$, whose standard deviation it is."""
    return float(std**2 * np.sqrt(width))


def mode_cosine(values: np.ndarray, weights: Weights, left: np.ndarray) -> np.ndarray:
    r"""Remark before 2.1: $s_i/\sqrt{u_i^\top C_2 u_i\; u_i^\top C_1 u_i}$, with $u_i$ where $v_i$ belongs."""
    first, second = weights.first @ left, weights.second.swapaxes(1, 2) @ left
    return values / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))


ROTATION = 1.0  # Lemma C.5: d/dt tr(U_kk' U_kk) over its right side, where the proof has 2
EXCHANGED = -1.0  # end of B.2: the sign of sigma^2 w in C1, for an imbalance of +2 sigma^2 w
