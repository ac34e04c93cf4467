r"""Flows of two layers from tiny initializations, with a separate scale for every direction that grows.

Stacked, both layers follow a linear equation with a symmetric matrix that depends on their product alone,

$$ \dot Z = \begin{pmatrix} 0 & R^\top \\ R & 0 \end{pmatrix} Z, \qquad
   Z = \begin{pmatrix} W_1^\top \\ W_2 \end{pmatrix}, \qquad R = -\partial L / \partial A, \quad A = W_2 W_1. $$

While a first mode is learned, others may still be at $10^{-40}$: its rounding, $10^{-16}$, would take their place. So
$Z = Y T$ is kept as a factor $Y$ with orthonormal columns and a triangular one, $T$, whose rows have separate scales,
by logarithms. $Y$ alone is integrated, for so short a time that its columns grow by a few thousand at most; then $Y =
Y' B$ with triangular $B$ (QR) and $T' = B T$. A row of $T'$ is made of rows below it, never of the larger ones above.
What rounding adds to a column of $Y$ is a rotation of a mode that is learned, which the flow itself takes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import DOP853

MAX_LOG_GROWTH = 8.0  # of a column between two decompositions
# Once all errors grow by less than this, the rest is left to the solver of all other flows, which is faster at the end.
NEGLIGIBLE_LOG_GROWTH = 5.0

Residual = Callable[[np.ndarray], np.ndarray]


class GradedResult(NamedTuple):
    """Both layers at the first of the times, the time to which it went, the layers there, and the steps taken."""

    first: np.ndarray
    second: np.ndarray
    time: float
    end: tuple[np.ndarray, np.ndarray]
    steps: int


def graded_flow(
    residual: Residual,
    first: np.ndarray,
    second: np.ndarray,
    times: np.ndarray,
    *,
    rtol: float,
    decay: float = 0.0,
    max_steps: int,
) -> GradedResult:
    """Follow a flow until rounding is harmless for the rest of it, or to the last of `times`, in at most about
    `max_steps` steps. `first` (h, d) and `second` (k, h) are the initial layers, `residual` takes the product."""
    inputs = first.shape[1]
    stacked = np.concatenate([first.T, second])
    unit = np.abs(stacked).max()
    Y, rows = np.linalg.qr(stacked / unit)
    rows, logs = _scaled_rows(rows, np.full(len(rows), np.log(unit)))
    saved: list[np.ndarray] = []
    time, steps, length = 0.0, 0, None

    def weights(Y: np.ndarray) -> np.ndarray:
        return Y @ (np.exp(logs)[:, None] * rows)

    def residual_at(Y: np.ndarray) -> np.ndarray:
        Z = weights(Y)
        return residual(Z[inputs:] @ Z[:inputs].T)

    def slope(_: float, entries: np.ndarray) -> np.ndarray:
        Y = entries.reshape(-1, len(rows))
        R = residual_at(Y)
        return (np.concatenate([R.T @ Y[inputs:], R @ Y[:inputs]]) - decay * Y).ravel()

    while len(saved) < len(times) and steps < max_steps:
        if times[len(saved)] <= time:
            saved.append(stacked if not time else weights(Y))
            continue
        rate = float(np.linalg.norm(residual_at(Y), 2)) + decay
        if not np.isfinite(rate) or rate * (times[-1] - time) < NEGLIGIBLE_LOG_GROWTH:
            break
        until = min(times[len(saved)], time + MAX_LOG_GROWTH / rate)
        first_step = None if length is None else min(length, until - time)
        solver = DOP853(slope, time, Y.ravel(), until, rtol=rtol, atol=rtol, first_step=first_step)
        while solver.status == "running":
            solver.step()
            steps += 1
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            break
        length = max(length or 0.0, solver.h_previous or 0.0) if until < times[len(saved)] else length
        time = until
        Y, triangle = np.linalg.qr(solver.y.reshape(-1, len(rows)))
        rows, logs = _scaled_rows(rows, logs, triangle)
    states = np.array(saved).reshape(len(saved), *stacked.shape)
    end = weights(Y) if time else stacked
    return GradedResult(
        np.swapaxes(states[:, :inputs], 1, 2), states[:, inputs:], time, (end[:inputs].T, end[inputs:]), steps
    )


def _scaled_rows(
    rows: np.ndarray, logs: np.ndarray, triangle: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a triangular matrix times these rows, each of length one, and the logarithms of their lengths:
    rows may differ by more than numbers can."""
    size = len(rows)
    triangle = np.eye(size) if triangle is None else triangle
    largest = np.maximum.accumulate(logs[::-1])[::-1]  # of this row and those below it
    reference = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(under="ignore"):
        shares = np.triu(triangle * np.exp(np.minimum(logs[None] - reference[:, None], 0.0)))
    made = shares @ rows
    lengths = np.linalg.norm(made, axis=1)
    there = lengths > 0
    with np.errstate(divide="ignore"):
        return made / np.where(there, lengths, 1.0)[:, None], np.where(there, reference + np.log(lengths), -np.inf)
