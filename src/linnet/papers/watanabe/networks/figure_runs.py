"""One network of Figures 1 to 3, by gradient flow and by gradient descent, with its predictions beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.papers.watanabe.networks.phases import gaussian_start, growth_direction, moments
from linnet.papers.watanabe.settings import DELTA, RunSettings
from linnet.theories.spiked import TwoPhase

STEP = 0.03  # the largest learning rate of the figures' descent, times the largest variance


@dataclass(frozen=True)
class FigureRun:
    r"""One trained network of Figures 1 to 3 on the times asked for, and its predictions: `components` are
    $\hat r_1^T W_1 (v_1, v_2)$ (time, 2) and `plane` those along the spike and across it; `reduced` is eqs. (18)-(19),
    `aligned` the sampled problem's aligned flow in the basis; `descent` the same network trained by gradient descent,
    as the paper trains it."""

    times: np.ndarray
    loss: np.ndarray
    components: np.ndarray
    descent: np.ndarray
    descent_plane: np.ndarray
    descent_loss: np.ndarray
    learning_rate: float
    plane: np.ndarray
    reduced: np.ndarray
    aligned: np.ndarray
    early: np.ndarray
    u0: float


def figure_run(
    settings: RunSettings, spike: float, alignment: float, times: np.ndarray, *, samples: int | None
) -> FigureRun:
    """Train one network on `samples` samples (None: on the population) and lay the predictions beside it.

    The basis, the reduced dynamics and the early phase are the population's, as in the paper; the direction along
    which the layers grow and its start u(0) are the sampled problem's own.
    """
    theory = TwoPhase(spike, alignment)
    key = None if samples is None else settings.seed
    problem = ln.problems.spiked_covariance(settings.dim, spike=spike, alignment=alignment, samples=samples, key=key)
    weights = gaussian_start(settings.seed + 1, settings.dim, settings.width, settings.scale)
    flow = ln.gradient_flow(problem, weights, times=times)
    gap, largest = times[1] - times[0], STEP / (1 + spike)
    between = int(np.ceil(gap / largest))  # steps from one saved time to the next
    descent = ln.gradient_descent(
        problem, weights, learning_rate=gap / between, steps=between * (times.size - 1), save_every=between
    )
    start_size, direction = growth_direction(problem, weights)
    u0, row = float(start_size), direction @ flow.weights.first
    basis = moments(problem).basis[:2]
    return FigureRun(
        times=times,
        loss=flow.loss,
        components=row @ basis.T,
        descent=direction @ descent.weights.first @ basis.T,
        descent_plane=(direction @ descent.weights.first)[:, :2],
        descent_loss=descent.loss,
        learning_rate=float(gap / between),
        plane=row[:, :2],
        reduced=theory.reduced(u0, times),
        aligned=ln.theories.reduced.aligned_flow(problem, u0, times) @ basis.T,
        early=theory.early(u0, times),
        u0=u0,
    )


def phase_times(
    times: np.ndarray, components: np.ndarray, plateau: float, limit: float, delta: float = DELTA
) -> tuple[float, float]:
    """Return when w1^2 passes half of `plateau`^2, and w2 passes (1 - e^-delta) of `limit`; NaN where it never
    happens."""
    w1, w2 = components.T
    half, nearly = 0.5 * plateau**2, -np.expm1(-delta) * limit
    return ln.observables.crossing_time(times, w1**2, half), ln.observables.crossing_time(times, w2, nearly)


def directed_hausdorff(curve: np.ndarray, other: np.ndarray) -> float:
    """Return the farthest that a point of `curve` (time, 2) is from the polyline through `other`, at any time."""
    ahead = np.diff(other, axis=0)
    shares = np.einsum("pqk,qk->pq", curve[:, None] - other[:-1], ahead) / np.maximum((ahead**2).sum(-1), 1e-300)
    nearest = other[:-1] + np.clip(shares, 0, 1)[..., None] * ahead
    return float(np.linalg.norm(curve[:, None] - nearest, axis=-1).min(1).max())
