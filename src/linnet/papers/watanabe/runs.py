"""The runs behind Figures 1 to 3 of Watanabe et al.: small networks trained on sampled spiked data, and their
predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import linnet as ln
from linnet.reproduction.figure import Settings

if TYPE_CHECKING:
    import numpy as np


class RunSettings(Settings):
    """The paper's network and data."""

    dim: int = 30
    width: int = 50
    samples: int = 10_000
    scale: float = 1e-5
    delta: float = 3.0


@dataclass(frozen=True)
class Run:
    r"""One trained network on the times asked for: `components` are $\hat r_1^T W_1 (v_1, v_2)$ (time, 2) and `plane`
    those
    along the spike and across it; `reduced` is eqs. (18)-(19), `aligned` the sampled problem's aligned flow in the
    basis."""

    times: np.ndarray
    loss: np.ndarray
    components: np.ndarray
    plane: np.ndarray
    reduced: np.ndarray
    aligned: np.ndarray
    early: np.ndarray
    u0: float


def train(settings: RunSettings, spike: float, alignment: float, times: np.ndarray, *, samples: int | None) -> Run:
    """Trains one network on `samples` samples (None: on the population) and lays the predictions beside it.

    The basis, the reduced dynamics and the early phase are the population's, as in the paper; the direction along
    which the layers grow and its start u(0) are the sampled problem's own.
    """
    theory = ln.theories.spiked.TwoPhase(spike, alignment)
    key = None if samples is None else settings.seed
    problem = ln.problems.spiked_covariance(settings.dim, spike=spike, alignment=alignment, samples=samples, key=key)
    start = ln.inits.gaussian(
        settings.seed + 1,
        in_dim=settings.dim,
        out_dim=1,
        width=settings.width,
        first_std=settings.scale / settings.dim**0.5,
        second_std=settings.scale / settings.width**0.5,
    )
    flow = ln.gradient_flow(problem, start, times=times)
    u0, direction = ln.theories.reduced.growth_direction(problem, start)
    row = direction @ flow.weights.first
    basis = ln.theories.spiked.adapted_basis(problem.test_cov, problem.truth)
    return Run(
        times=times,
        loss=flow.loss,
        components=row @ basis.T,
        plane=row[:, :2],
        reduced=theory.reduced(u0, times),
        aligned=ln.theories.reduced.aligned_flow(problem, u0, times) @ basis.T,
        early=theory.early(u0, times),
        u0=u0,
    )


def phase_times(
    times: np.ndarray, components: np.ndarray, plateau: float, limit: float, delta: float = 3.0
) -> tuple[float, float]:
    """When w1^2 passes half of `plateau`^2, and when w2 passes (1 - e^-delta) of `limit`; NaN where it never
    happens."""
    import numpy as np

    w1, w2 = components.T
    half, nearly = 0.5 * plateau**2, -np.expm1(-delta) * limit
    return ln.observables.crossing_time(times, w1**2, half), ln.observables.crossing_time(times, w2, nearly)
