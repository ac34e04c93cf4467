"""The networks on which the claims of Watanabe et al. are tried: the paper's size and start, trained by gradient
flow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import linnet as ln
from linnet.theories.spiked import TwoPhase

DIM, WIDTH, SCALE, SEEDS, POINTS = 30, 50, 1e-5, 4, 240
SETTING = f"d = {DIM}, m = {WIDTH}, s = {SCALE:g}, population covariance, gradient flow, {SEEDS} seeds"


@dataclass(frozen=True)
class Networks:
    r"""Several networks on one problem: `first` (time, seed, hidden, input) in the adapted basis, its columns the
    paper's
    $w_1, w_2, \dots$, `second` (time, seed, hidden), the growth directions `r` (seed, hidden) and starts `u0`
    (seed,)."""

    theory: TwoPhase
    problem: ln.Problem
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    loss: np.ndarray
    r: np.ndarray
    u0: np.ndarray

    @property
    def components(self) -> np.ndarray:
        r"""$\hat r_1^T (w_1, w_2)$ (time, seed, 2)."""
        return np.einsum("sh,tshk->tsk", self.r, self.first[..., :2])

    @property
    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        r"""What is orthogonal to $\hat r_1$ in $a$ (time, seed, hidden) and in the $w_i$ (time, seed, hidden,
        input)."""
        along_first = np.einsum("sh,tshi->tsi", self.r, self.first)
        along_second = np.einsum("sh,tsh->ts", self.r, self.second)
        first = self.first - self.r[None, :, :, None] * along_first[:, :, None, :]
        return self.second - self.r * along_second[..., None], first


def phase_grid(theory: TwoPhase, scale: float, stretch: float = 2.0) -> np.ndarray:
    """Times that resolve both phases: half of them to twice t1, half to `stretch` times the end of the later one."""
    t1 = theory.early_time(scale)
    later = theory.later_bound() if theory.has_second_phase else 3 / theory.lambda2
    half = POINTS // 2
    return np.concatenate([np.linspace(0, 2 * t1, half), np.linspace(2 * t1, 2 * t1 + stretch * later, half + 1)[1:]])


@lru_cache(maxsize=64)
def trained(
    spike: float,
    alignment: float,
    scale: float = SCALE,
    seed: int = 0,
    samples: int | None = None,
    stretch: float = 2.0,
) -> Networks:
    """Trains `SEEDS` networks from Gaussian starts of the paper's scaling, once for all claims that look at them."""
    theory = TwoPhase(spike, alignment)
    key = None if samples is None else seed
    problem = ln.problems.spiked_covariance(DIM, spike=spike, alignment=alignment, samples=samples, key=key)
    return follow(theory, problem, start(seed, DIM, WIDTH, scale, batch=SEEDS), phase_grid(theory, scale, stretch))


def start(key: int, dim: int, width: int, scale: float, batch: int | None = None) -> ln.Weights:
    """The Gaussian start of the paper, of scale s."""
    return ln.inits.gaussian(
        key, in_dim=dim, out_dim=1, width=width, first_std=scale / dim**0.5, second_std=scale / width**0.5, batch=batch
    )


def follow(
    theory: TwoPhase, problem: ln.Problem, weights: ln.Weights, times: np.ndarray, rtol: float = 1e-10
) -> Networks:
    """Trains a batch of networks and writes the first layer in the adapted basis, completed to all inputs."""
    # The moments alone, without a test covariance of their own: one compiled flow then serves every run of these
    # claims.
    moments = ln.Problem.from_moments(problem.cov, problem.cross, truth=problem.truth)
    run = ln.gradient_flow(moments, weights, times=times, rtol=rtol)
    growth = [ln.theories.reduced.growth_direction(problem, weights[i]) for i in range(weights.first.shape[0])]
    plane = ln.theories.spiked.adapted_basis(problem.test_cov, problem.truth)
    rest = np.linalg.svd(plane)[2][2:]
    return Networks(
        theory=theory,
        problem=problem,
        times=times,
        first=run.weights.first @ np.concatenate([plane, rest]).T,
        second=run.weights.second[..., 0, :],
        loss=run.loss,
        r=np.stack([r for _, r in growth]),
        u0=np.array([u0 for u0, _ in growth]),
    )
