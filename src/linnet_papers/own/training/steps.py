"""Steps of gradient descent to a given error with one output, for several constant steps at once."""

from __future__ import annotations

import numpy as np

MOST_STEPS = 5000


def steps_to_errors(
    cov: np.ndarray, target: np.ndarray, scale: float, rates: np.ndarray, errors: tuple[float, ...]
) -> np.ndarray:
    """Return after how many steps the loss is below each fraction of its first value, (rate, error).

    Networks start from equal singular values of the first layer, sqrt(2 scale), and a second layer of zero. A run whose
    loss rises at one step counts as infinitely long, and so does one that does not get there.
    """
    dim = len(target)
    first = np.zeros((len(rates), dim, dim)) + np.sqrt(2 * scale) * np.eye(dim)
    second = np.zeros((len(rates), 1, dim))
    by = rates[:, None, None]
    left = np.broadcast_to(target, (len(rates), dim))
    loss = np.einsum("ri,ij,rj->r", left, cov, left)
    goals = loss[:, None] * errors
    steps = np.full(goals.shape, np.inf)
    falls = np.ones(len(rates), dtype=bool)
    for step in range(1, MOST_STEPS):
        push = by * (left @ cov)[:, None, :]
        first, second = first + second.mT @ push, second + push @ first.mT
        left = target - (second @ first)[:, 0]
        now = np.einsum("ri,ij,rj->r", left, cov, left)
        falls &= now <= loss
        first[~falls] = second[~falls] = 0.0
        loss = now
        reached = (now[:, None] < goals) & np.isinf(steps) & falls[:, None]
        steps[reached] = step
        if np.isfinite(steps[falls]).all():
            break
    return np.where(falls[:, None], steps, np.inf)
