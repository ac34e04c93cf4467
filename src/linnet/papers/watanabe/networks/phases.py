"""What the paper trains: small networks through both phases (Figures 1 to 3), and on few samples (Figure 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.watanabe.settings import (
    ALIGNMENT,
    CORNERS,
    DELTA,
    DIM,
    POINTS,
    SCALE,
    SEEDS,
    SPIKE,
    WIDTH,
    RunSettings,
)
from linnet.reproduction import Trial
from linnet.reproduction.fits import lowest, slopes
from linnet.theories.spiked import TwoPhase

LATER = 10.0  # how long the later phase is followed: w2 is then within e^-8 of its limit at every pair tried
STEP = 0.03  # the largest learning rate of the figures' descent, times the largest variance

# ----------------------------------------------------------------------------------------------- both phases


@dataclass(frozen=True)
class Moments:
    r"""The population's moments in the adapted basis, straight from the covariance matrix.

    `basis` has $v_1, \dots, v_d$ in its rows: $v_1 = \Sigma\beta/|\Sigma\beta|$, $v_2$ orthogonal to it in the plane of
    $\Sigma\beta$ and $\beta$ with $v_1^T\Sigma v_2 \le 0$, and any completion. `cov` and `cross` are $\Sigma$ and
    $\Sigma\beta$ in it, `limit` is $\beta$.
    """

    basis: np.ndarray
    cov: np.ndarray
    cross: np.ndarray
    limit: np.ndarray

    @property
    def plateau(self) -> float:
        r"""$\sqrt{|\Sigma_{xy}|/\lambda_1}$, where $w_1$ would rest if $w_2$ were kept at zero."""
        return float(np.sqrt(self.cross[0] / self.cov[0, 0]))

    def early_time(self, scale: float) -> float:
        """About when a start of this scale has grown, for a grid of times."""
        return float(np.log(self.plateau / scale) / self.cross[0])


def moments(problem: ln.Problem) -> Moments:
    """The population's adapted basis of section 3.2, with matrices: no formula of Appendix A has a part in it."""
    covariance, beta = problem.test_cov, np.asarray(problem.truth).reshape(-1)
    v1 = covariance @ beta
    v1 = v1 / np.linalg.norm(v1)
    rest = beta - v1 * (v1 @ beta)
    if np.linalg.norm(rest) < 1e-9:  # parallel: any direction will do
        rest = np.eye(beta.size)[np.argmin(np.abs(v1))]
        rest = rest - v1 * (v1 @ rest)
    v2 = rest / np.linalg.norm(rest)
    plane = np.stack([v1, -v2 if v1 @ covariance @ v2 > 0 else v2])
    basis = np.concatenate([plane, np.linalg.svd(plane)[2][2:]])
    return Moments(basis, basis @ covariance @ basis.T, basis @ covariance @ beta, basis @ beta)


def pair_moments(spike: float, alignment: float, dim: int = DIM) -> Moments:
    """The moments of the population with one spike."""
    problem = ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment)
    return moments(problem)


@dataclass(frozen=True)
class Networks:
    r"""Several networks on one problem: `first` (time, seed, hidden, input) in the adapted basis, its columns the
    paper's $w_1, w_2, \dots$, `second` (time, seed, hidden), the growth directions `r` (seed, hidden) and starts `u0`
    (seed,); `moments` are the population's, also where the network was trained on a sample."""

    spike: float
    alignment: float
    moments: Moments
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
    def overlaps(self) -> np.ndarray:
        r"""$a^T w_i$ (time, seed, input): the network's predictor in the adapted basis."""
        return np.einsum("tsh,tshi->tsi", self.second, self.first)

    @property
    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        r"""What is orthogonal to $\hat r_1$ in $a$ (time, seed, hidden) and the $w_i$ (time, seed, hidden, input)."""
        return self.across(self.second), self.across(self.first)

    @property
    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """da/dt (time, seed, hidden) and dW/dt (time, seed, hidden, input) by (6)-(7), with the covariance matrix."""
        residual = self.moments.cross - self.overlaps @ self.moments.cov
        return np.einsum("tshi,tsi->tsh", self.first, residual), self.second[..., None] * residual[:, :, None, :]

    def across(self, vectors: np.ndarray) -> np.ndarray:
        """The part of hidden vectors (time, seed, hidden[, input]) orthogonal to r1."""
        if vectors.ndim == 3:
            return vectors - self.r * np.einsum("sh,tsh->ts", self.r, vectors)[..., None]
        return vectors - self.r[None, :, :, None] * np.einsum("sh,tshi->tsi", self.r, vectors)[:, :, None, :]


def start(key: int, dim: int, width: int, scale: float, batch: int | None = None) -> ln.Weights:
    """The Gaussian start of the paper, of scale s."""
    return ln.inits.gaussian(
        key=key,
        in_dim=dim,
        out_dim=1,
        width=width,
        first_std=scale / dim**0.5,
        second_std=scale / width**0.5,
        batch=batch,
    )


def phase_grid(found: Moments, scale: float) -> np.ndarray:
    """Times that resolve both phases: half of them to twice the early time, half over `LATER` more."""
    early, half = 2 * found.early_time(scale), POINTS // 2
    return np.concatenate([np.linspace(0, early, half), np.linspace(early, early + LATER, half + 1)[1:]])


@lru_cache(maxsize=32)
def trained(
    spike: float, alignment: float, scale: float = SCALE, seed: int = 0, samples: int | None = None
) -> Networks:
    """Trains `SEEDS` networks from Gaussian starts of the paper's scaling, once for all claims that look at them."""
    key = None if samples is None else seed
    problem = ln.problems.spiked_covariance(DIM, spike=spike, alignment=alignment, samples=samples, key=key)
    times = phase_grid(pair_moments(spike, alignment), scale)
    return follow(spike, alignment, problem, start(seed, DIM, WIDTH, scale, batch=SEEDS), times)


@lru_cache(maxsize=64)
def loss_curves(spike: float, alignment: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the loss of the networks of `trained` at them (time, seed)."""
    run = trained.__wrapped__(spike, alignment, SCALE, seed)
    return run.times, run.loss


def scales(trial: Trial) -> list[float]:
    """The scales of the start over which slopes are taken."""
    return [1e-2, 1e-4, 1e-6] if trial.quick else [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]


def runs_by_scale(trial: Trial) -> list[Networks]:
    """The networks of Figures 1 and 2 from starts of each of the `scales`."""
    return [trained(SPIKE, ALIGNMENT, s, trial.seed) for s in scales(trial)]


def slopes_everywhere(trial: Trial, size: Callable[[Networks], float]) -> tuple[float, float, list[float]]:
    """The power of the start's scale that a size follows, the least between neighbouring scales and at the corners of
    the plane of spike and alignment, and the sizes."""
    sizes = [size(run) for run in runs_by_scale(trial)]
    overall, least = slopes(scales(trial), sizes)
    small = (1e-3, 1e-5)
    corners = [
        slopes(small, [size(trained(*pair, s, trial.seed)) for s in small])[0]
        for pair in CORNERS[: 2 if trial.quick else 4]
    ]
    return overall, lowest(least, *corners), sizes


def follow(
    spike: float, alignment: float, problem: ln.Problem, weights: ln.Weights, times: np.ndarray, rtol: float = 1e-10
) -> Networks:
    """Trains a batch of networks and writes the first layer in the adapted basis, completed to all inputs."""
    # The moments alone, without a test covariance of their own: one compiled flow then serves every run of these
    # claims.
    data = ln.Problem.from_moments(problem.cov, problem.cross, truth=problem.truth)
    run = ln.gradient_flow(data, weights, times=times, rtol=rtol)
    found = moments(problem)
    u0, r = growth(problem, weights)
    return Networks(
        spike=spike,
        alignment=alignment,
        moments=found,
        problem=problem,
        times=times,
        first=run.weights.first @ found.basis.T,
        second=run.weights.second[..., 0, :],
        loss=run.loss,
        r=r,
        u0=u0,
    )


def growth(problem: ln.Problem, weights: ln.Weights) -> tuple[np.ndarray, np.ndarray]:
    r"""$u(0) = |r_1|$ and $\hat r_1$ of (15), $r_1 = (w_1(0) + a(0))/2$, of one network or of a batch."""
    cross = problem.cross.reshape(-1)
    r1 = 0.5 * (weights.first @ (cross / np.linalg.norm(cross)) + weights.second[..., 0, :])
    u0 = np.linalg.norm(r1, axis=-1)
    return u0, r1 / u0[..., None]


def phase_cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, width: int, scale: float
) -> dict[str, Any]:
    """Networks of one spike and alignment, or of several pairs one after the other: both components along the flow.

    `u0` is the start's own part along the direction that grows; the paper's times take s for it.
    """
    pairs = np.stack([points["spike"], points["alignment"]], axis=1)
    found = {name: np.empty((len(seeds), POINTS)) for name in ("times", "w1", "w2", "loss")}
    starts = np.empty(len(seeds))
    for spike, alignment in np.unique(pairs, axis=0).tolist():
        members = np.flatnonzero((pairs == (spike, alignment)).all(axis=1))
        batch = members[np.minimum(np.arange(len(seeds)), len(members) - 1)]  # always of one size: always the same bits
        problem = ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment)
        weights = ln.Weights.stack([start(int(seeds[cell]), dim, width, scale) for cell in batch])
        run = follow(spike, alignment, problem, weights, phase_grid(pair_moments(spike, alignment, dim), scale))
        values = {"w1": run.components[..., 0], "w2": run.components[..., 1], "loss": run.loss}
        found["times"][members] = run.times
        starts[members] = run.u0[: len(members)]
        for name, value in values.items():
            found[name][members] = value[:, : len(members)].T
    return {"u0": starts, **{name: (("state",), value) for name, value in found.items()}}


def phase_times(
    times: np.ndarray, components: np.ndarray, plateau: float, limit: float, delta: float = DELTA
) -> tuple[float, float]:
    """When w1^2 passes half of `plateau`^2, and w2 passes (1 - e^-delta) of `limit`; NaN where it never happens."""
    w1, w2 = components.T
    half, nearly = 0.5 * plateau**2, -np.expm1(-delta) * limit
    return ln.observables.crossing_time(times, w1**2, half), ln.observables.crossing_time(times, w2, nearly)


def plane_distance(curve: np.ndarray, other: np.ndarray) -> float:
    """The farthest that a point of `curve` (time, 2) is from the line through `other`, whatever the times."""
    ahead = np.diff(other, axis=0)
    shares = np.einsum("pqk,qk->pq", curve[:, None] - other[:-1], ahead) / np.maximum((ahead**2).sum(-1), 1e-300)
    nearest = other[:-1] + np.clip(shares, 0, 1)[..., None] * ahead
    return float(np.linalg.norm(curve[:, None] - nearest, axis=-1).min(1).max())


@dataclass(frozen=True)
class Run:
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


def figure_run(settings: RunSettings, spike: float, alignment: float, times: np.ndarray, *, samples: int | None) -> Run:
    """Trains one network on `samples` samples (None: on the population) and lays the predictions beside it.

    The basis, the reduced dynamics and the early phase are the population's, as in the paper; the direction along
    which the layers grow and its start u(0) are the sampled problem's own.
    """
    theory = TwoPhase(spike, alignment)
    key = None if samples is None else settings.seed
    problem = ln.problems.spiked_covariance(settings.dim, spike=spike, alignment=alignment, samples=samples, key=key)
    weights = start(settings.seed + 1, settings.dim, settings.width, settings.scale)
    flow = ln.gradient_flow(problem, weights, times=times)
    gap, largest = times[1] - times[0], STEP / (1 + spike)
    between = int(np.ceil(gap / largest))  # steps from one saved time to the next
    descent = ln.gradient_descent(
        problem, weights, learning_rate=gap / between, steps=between * (times.size - 1), save_every=between
    )
    start_size, direction = growth(problem, weights)
    u0, row = float(start_size), direction @ flow.weights.first
    basis = moments(problem).basis[:2]
    return Run(
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


# ----------------------------------------------------------------------------------------------- few samples


def error_cells(
    points: dict[str, np.ndarray],
    seeds: np.ndarray,
    *,
    dim: int,
    width: int,
    scale: float,
    loss: float,
    tolerance: float,
    dtype: str,
    spike: float | None = None,
    alignment: float | None = None,
) -> dict[str, np.ndarray]:
    """One block of networks on fewer samples than inputs, each on its own data from its own Gaussian start.

    `points` has `ratio`, the inputs per sample, and `spike` and `alignment` unless they are fixed. `error` is
    2 test_loss/E[y^2], `loss` the training loss over its start, `distance` that from the minimum-norm solution.
    """
    rows = []
    for i, seed in enumerate(seeds):
        rho = float(points["spike"][i] if spike is None else spike)
        cosine = float(points["alignment"][i] if alignment is None else alignment)
        samples = round(dim / float(points["ratio"][i]))
        rows.append(interpolated(int(seed), dim, samples, width, rho, cosine, scale, loss, tolerance, dtype))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def few_samples(
    seed: int, dim: int, samples: int, spike: float, alignment: float, dtype: str = "float64"
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (sample, input) with the spike along the first axis, and the target."""
    inputs = generator(seed, 0).standard_normal((samples, dim), dtype=np.dtype(dtype).type)
    inputs[:, 0] *= np.sqrt(1 + spike)
    target = np.zeros(dim, dtype=inputs.dtype)
    target[:2] = alignment, np.sqrt(1 - alignment**2)
    return inputs, target


def descended(
    seed: int, dim: int, samples: int, width: int, spike: float, alignment: float, scale: float, loss: float
) -> float:
    """The normalised test error of one network on few samples trained by gradient descent, as the paper trains it."""
    inputs, target = few_samples(seed, dim, samples, spike, alignment)
    problem = ln.Problem.from_data(inputs, inputs @ target)
    run = ln.gradient_descent(
        problem,
        start(seed + 1, dim, width, scale),
        learning_rate=0.2 / float(np.linalg.eigvalsh(inputs @ inputs.T / samples)[-1]),
        steps=50_000,
        stop=loss * float(problem.loss(np.zeros((1, dim)))),
        save_every=ln.trajectories.last(),
        keep="products",
    )
    miss = run.products[-1].reshape(-1) - target
    return float(miss @ miss + spike * miss[0] ** 2) / (1 + spike * alignment**2)


def interpolated(
    seed: int,
    dim: int,
    samples: int,
    width: int,
    spike: float,
    alignment: float,
    scale: float,
    loss: float,
    tolerance: float,
    dtype: str,
) -> dict[str, float]:
    """Draws data, trains one network on them to the relative training `loss`, and measures its test error."""
    from linnet.trainers.interpolation import interpolating_network

    inputs, target = few_samples(seed, dim, samples, spike, alignment, dtype)
    run = interpolating_network(
        inputs,
        inputs @ target,
        key=seed,
        width=width,
        first_std=scale / np.sqrt(dim),
        second_std=scale / np.sqrt(width),
        loss=loss,
        tolerance=tolerance,
        dtype=dtype,
    )
    miss = run.product.astype(np.float64) - target
    return {
        "error": float(miss @ miss + spike * miss[0] ** 2) / (1 + spike * alignment**2),
        "loss": run.loss,
        "time": run.time,
        "steps": float(run.steps),
        "distance": float(np.linalg.norm(run.product.astype(np.float64) - run.min_norm)),
    }
