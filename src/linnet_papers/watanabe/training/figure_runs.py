"""One network of Figures 1 to 3, by gradient flow and by gradient descent, with its predictions beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.theories.spiked import TwoPhase
from linnet_papers.watanabe.settings import DELTA, RunSettings
from linnet_papers.watanabe.training.phases import gaussian_start, growth_direction, moments

STEP = 0.03  # the largest learning rate of the figures' descent, times the largest variance


@dataclass(frozen=True)
class FigureRun:
    r"""One trained network of Figures 1 to 3 on the times asked for: `components` are $\hat r_1^T W_1 (v_1, v_2)$
    (time, 2), `descent` those of the same network trained by gradient descent, as the paper trains it; `reduced`, from
    the network's own `u0`, are those of eqs. (18)-(19), and `aligned` of the sampled problem's aligned flow."""

    loss: np.ndarray
    components: np.ndarray
    descent: np.ndarray
    descent_loss: np.ndarray
    learning_rate: float
    reduced: np.ndarray
    aligned: np.ndarray
    u0: float


def figure_run(
    settings: RunSettings, spike: float, alignment: float, times: np.ndarray, *, samples: int | None
) -> FigureRun:
    """Train one network on `samples` samples (None: on the population) and lay the predictions beside it.

    The basis and the reduced dynamics are the population's, as in the paper; the direction along which the layers
    grow and its start u(0) are the sampled problem's own.
    """
    key = None if samples is None else settings.seed
    problem = ln.problems.spiked_covariance(settings.dim, spike=spike, alignment=alignment, samples=samples, key=key)
    weights = gaussian_start(settings.seed + 1, settings.dim, settings.width, settings.scale)
    # The moments alone, without a test covariance of their own: sample and population share the compiled programs.
    data = ln.Problem.from_moments(problem.cov, problem.cross)
    flow = ln.gradient_flow(data, weights, times=times)
    gap = times[1] - times[0]
    largest = STEP / (1 + spike)
    between = int(np.ceil(gap / largest))  # steps from one saved time to the next
    descent = ln.gradient_descent(
        data, weights, learning_rate=gap / between, steps=between * (times.size - 1), save_every=between
    )
    u0, direction = growth_direction(problem, weights)
    basis = moments(problem).basis[:2]
    return FigureRun(
        loss=flow.loss,
        components=direction @ flow.weights.first @ basis.T,
        descent=direction @ descent.weights.first @ basis.T,
        descent_loss=descent.loss,
        learning_rate=float(gap / between),
        reduced=TwoPhase(spike, alignment).reduced(u0, times),
        aligned=ln.theories.aligned_flow.aligned_flow(problem, float(u0), times) @ basis.T,
        u0=float(u0),
    )


def phase_times(
    times: np.ndarray, components: np.ndarray, plateau: float, limit: float, delta: float = DELTA
) -> tuple[float, float]:
    """Return when w1^2 passes half of `plateau`^2, and w2 passes (1 - e^-delta) of `limit`; NaN where it never
    happens."""
    w1, w2 = components.T
    half, nearly = 0.5 * plateau**2, -np.expm1(-delta) * limit
    return ln.observables.crossing_time(times, w1**2, half), ln.observables.crossing_time(times, w2, nearly)


def hausdorff(curve: np.ndarray, other: np.ndarray) -> float:
    """Return the farthest that a point of one of two curves (time, 2) is from the other curve, at any time."""
    return max(directed_hausdorff(curve, other), directed_hausdorff(other, curve))


def directed_hausdorff(curve: np.ndarray, other: np.ndarray) -> float:
    """Return the farthest that a point of `curve` (time, 2) is from the polyline through `other`, at any time."""
    ahead = np.diff(other, axis=0)
    shares = np.einsum("pqk,qk->pq", curve[:, None] - other[:-1], ahead) / np.maximum((ahead**2).sum(-1), 1e-300)
    nearest = other[:-1] + np.clip(shares, 0, 1)[..., None] * ahead
    return float(np.linalg.norm(curve[:, None] - nearest, axis=-1).min(1).max())
