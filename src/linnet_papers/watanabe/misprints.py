"""Formulas as printed, where they differ from ours (docs/errata.md); what trained networks are held against."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def generalization_error(alignment: ArrayLike, ratio: ArrayLike) -> np.ndarray:
    r"""(27) letter by letter, unit variance: with $\kappa = \gamma - 1$ in its bracket the spike has no part in it."""
    gamma, A = np.asarray(ratio, dtype=float), np.asarray(alignment, dtype=float)
    kappa = gamma - 1
    return (1 - 1 / gamma) * (1 - A**2 * (1 - (1 + kappa) / (1 + kappa / gamma) ** 2))


def growth_rate(bracket1: np.ndarray, bracket2: np.ndarray, rest: np.ndarray) -> np.ndarray:
    r"""$C(t)$ of (49), of the brackets of (43) and (44) and of $\sigma^2 a^T w_i$ for $i \ge 3$ (last axis)."""
    return bracket1 + np.abs(bracket2) + 0.5 * rest.sum(-1)


def deviation_rest(rest: np.ndarray) -> np.ndarray:
    """Return the sum over i >= 3 in (45) and (47), with the sign it carries there: a minus belongs before it."""
    return rest


LOSS_RATE = -1.0  # of (51): dL/dt over |grad L|^2 in units of 1/tau, where the flow (6)-(7) has -1/2
