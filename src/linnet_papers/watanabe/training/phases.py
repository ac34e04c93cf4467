"""Small networks through both phases: the population's moments, networks by gradient flow, the cells of their sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import linnet as ln
from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Numbers, Trial
from linnet_papers.reproduction.cells import Block, Points, one_of_each
from linnet_papers.reproduction.fits import lowest, slopes
from linnet_papers.watanabe.settings import CORNERS, DIM, PAIR, POINTS, SCALE, SEEDS, WIDTH

SCAN_DIM, SCAN_WIDTH = (
    6,
    10,
)  # of the networks that scan a region: both phases stand in a plane, whatever the other inputs
LATER_PHASE_TIME = 10.0  # how long the later phase is followed: w2 is then within e^-8 of its limit at every pair tried


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
        """Return about when a start of this scale has grown to the plateau, to lay a grid of times."""
        return float(np.log(self.plateau / scale) / self.cross[0])


def moments(problem: ln.Problem) -> Moments:
    """Return the population's adapted basis of section 3.2, with matrices: no formula of Appendix A has a part in
    it."""
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
    """Return the moments of the population with one spike."""
    return moments(ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment))


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
    def scale(self) -> float:
        """Scale s of the initialization, from the size of the second layers: about 1 in its square."""
        return float(np.sqrt((self.second[0] ** 2).sum(-1).mean()))

    @property
    def theory(self) -> TwoPhase:
        """What is predicted at this spike and alignment."""
        return TwoPhase(self.spike, self.alignment)

    @property
    def components(self) -> np.ndarray:
        r"""$\hat r_1^T (w_1, w_2)$ (time, seed, 2)."""
        return np.einsum("sh,tshk->tsk", self.r, self.first[..., :2])

    @property
    def w1(self) -> np.ndarray:
        r"""$\hat r_1^T w_1$ (time, seed)."""
        return self.components[..., 0]

    @property
    def w2(self) -> np.ndarray:
        r"""$\hat r_1^T w_2$ (time, seed)."""
        return self.components[..., 1]

    @property
    def overlaps(self) -> np.ndarray:
        r"""$a^T w_i$ (time, seed, input): the network's predictor in the adapted basis."""
        return np.einsum("tsh,tshi->tsi", self.second, self.first)

    @property
    def imbalance(self) -> np.ndarray:
        """a a^T - W W^T (time, seed, hidden, hidden), which the flow conserves."""
        return self.second[..., None] * self.second[..., None, :] - self.first @ self.first.swapaxes(-1, -2)

    @property
    def orthogonal_parts(self) -> tuple[np.ndarray, np.ndarray]:
        r"""What is orthogonal to $\hat r_1$ in $a$ (time, seed, hidden) and the $w_i$ (time, seed, hidden, input)."""
        return self.orthogonal_part(self.second), self.orthogonal_part(self.first)

    @property
    def energy(self) -> np.ndarray:
        """E of (46), of the deviations of a, w1 and w2 (time, seed)."""
        second, first = self.orthogonal_parts
        return 0.5 * ((second**2).sum(-1) + (first[..., :2] ** 2).sum((-1, -2)))

    @property
    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """da/dt (time, seed, hidden) and dW/dt (time, seed, hidden, input) by (6)-(7), with the covariance matrix."""
        residual = self.moments.cross - self.overlaps @ self.moments.cov
        return np.einsum("tshi,tsi->tsh", self.first, residual), self.second[..., None] * residual[:, :, None, :]

    @property
    def w2_velocity(self) -> np.ndarray:
        r"""$\hat r_1^T dw_2/dt$ (time, seed)."""
        return np.einsum("sh,tsh->ts", self.r, self.velocities[1][..., 1])

    def predicted(self, law: Callable[[float, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a law of u(0) and the times from each network's own u(0) (time, seed, ...)."""
        return np.stack([law(u0, self.times) for u0 in self.u0], axis=1)

    def orthogonal_part(self, vectors: np.ndarray) -> np.ndarray:
        """Return the part of hidden vectors (time, seed, hidden[, input]) orthogonal to r1."""
        along = np.einsum("sh,tsh...->ts...", self.r, vectors)
        return vectors - np.einsum("sh,ts...->tsh...", self.r, along)


def gaussian_start(key: int, dim: int, width: int, scale: float, batch: int | None = None) -> ln.Weights:
    """Return the Gaussian start of the paper, of scale s."""
    return ln.inits.gaussian(
        key=key,
        in_dim=dim,
        out_dim=1,
        width=width,
        stds=(scale / dim**0.5, scale / width**0.5),
        batch=batch,
    )


def paper_starts(seed: int, scale: float) -> ln.Weights:
    """Return `SEEDS` starts of the network of Figures 1 and 2."""
    return gaussian_start(seed, DIM, WIDTH, scale, batch=SEEDS)


def phase_grid(moments: Moments, scale: float, later: float = LATER_PHASE_TIME) -> np.ndarray:
    """Return times that resolve both phases: half of them to twice the early time, half over the `later` phase."""
    early = 2 * moments.early_time(scale)
    half = POINTS // 2
    return np.concatenate([np.linspace(0, early, half), np.linspace(early, early + later, half + 1)[1:]])


def trained_networks(
    trial: Trial, pair: tuple[float, float] | None = None, *, scale: float = SCALE, samples: int | None = None
) -> Networks:
    """Train `SEEDS` networks from Gaussian starts of the paper's scaling, once for all claims that look at them.

    `pair` is spike and alignment, those of Figures 1 and 2 unless given.
    """
    return trained_networks_once(trial.seed, *(pair or PAIR), scale, samples)


@lru_cache(maxsize=64)
def trained_networks_once(seed: int, spike: float, alignment: float, scale: float, samples: int | None) -> Networks:
    """Return the networks of `trained_networks`, cached: the same objects for the same arguments."""
    times = phase_grid(pair_moments(spike, alignment), scale)
    return train_batch((spike, alignment), paper_starts(seed, scale), times, samples=samples, key=seed)


def coupled_networks(
    trial: Trial,
    pair: tuple[float, float],
    *,
    scale: float = SCALE,
    ratio: float = WIDTH / DIM,
    dim: int = SCAN_DIM,
    end: float = LATER_PHASE_TIME,
) -> Networks:
    """Train `SEEDS` networks that start at every pair from the same weights in its adapted basis, once in a process.

    What differs between pairs is then what spike and alignment do, and nothing that the draw does. The width is `ratio`
    times `dim`, by the exact reduction of wide networks; `end` is for how long the later phase is followed.
    """
    return coupled_networks_once(trial.seed, *pair, scale, round(ratio * dim), dim, end)


@lru_cache(maxsize=256)
def coupled_networks_once(
    seed: int, spike: float, alignment: float, scale: float, width: int, dim: int, end: float
) -> Networks:
    """Return the networks of `coupled_networks`, cached: the same objects for the same arguments."""
    found = pair_moments(spike, alignment, dim)
    stds = (scale / dim**0.5, scale / width**0.5)
    drawn = ln.inits.reduced_gaussian(key=seed, in_dim=dim, out_dim=1, width=width, stds=stds, batch=SEEDS)
    idle = max(round(WIDTH / DIM * dim) - drawn.width, 0)  # hidden units of weight 0: one compiled flow for all widths
    first = np.pad(drawn.first @ found.basis, ((0, 0), (0, idle), (0, 0)))
    weights = ln.Weights(first, np.pad(drawn.second, ((0, 0), (0, 0), (0, idle))))
    return train_batch((spike, alignment), weights, phase_grid(found, scale, end))


def runs_by_scale(trial: Trial, largest: float = 1e-2) -> dict[float, Networks]:
    """Return the networks of Figures 1 and 2 by the scale of their start, from the `largest` to 1e-6."""
    scales = (1e-2, 1e-4, 1e-6) if trial.quick else (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    return {scale: trained_networks(trial, scale=scale) for scale in scales if scale <= largest}


def scale_exponents(trial: Trial, size: Callable[[Networks], float]) -> Numbers:
    """Return the power of the start's scale that a size follows, `slope`; the `least` between neighboring scales and
    at the corners of the plane of spike and alignment; and its `last` value, at the smallest `scale`."""
    sizes = {scale: size(run) for scale, run in runs_by_scale(trial).items()}
    slope, least = slopes(list(sizes), list(sizes.values()))
    small = (1e-3, 1e-5)
    corners = [
        slopes(small, [size(trained_networks(trial, pair, scale=scale)) for scale in small])[0]
        for pair in CORNERS[: 2 if trial.quick else 4]
    ]
    scale, last = list(sizes.items())[-1]
    return {"slope": slope, "least": lowest(least, *corners), "last": last, "scale": scale}


def train_batch(
    pair: tuple[float, float],
    weights: ln.Weights,
    times: np.ndarray,
    *,
    samples: int | None = None,
    key: int | None = None,
    rtol: float = 1e-10,
) -> Networks:
    """Train a batch of networks by gradient flow at a spike and alignment, and write their first layers in the adapted
    basis; on the population, or on `samples` samples drawn with `key`, which is not used without them.

    With samples, `moments` and the basis are still the population's; the growth directions `r` and their starts `u0`
    are the sampled problem's own.
    """
    spike, alignment = pair
    dim = weights.first.shape[-1]
    drawn = None if samples is None else key
    problem = ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment, samples=samples, key=drawn)
    # The moments alone, without a test covariance of their own: one compiled flow then serves every run of these
    # claims.
    data = ln.Problem.from_moments(problem.cov, problem.cross, truth=problem.truth)
    run = ln.gradient_flow(data, weights, times=times, rtol=rtol)
    own = moments(problem)
    u0, r = growth_direction(problem, weights)
    return Networks(
        spike=spike,
        alignment=alignment,
        moments=own,
        problem=problem,
        times=times,
        first=run.weights.first @ own.basis.T,
        second=run.weights.second[..., 0, :],
        loss=run.loss,
        r=r,
        u0=u0,
    )


def growth_direction(problem: ln.Problem, weights: ln.Weights) -> tuple[np.ndarray, np.ndarray]:
    r"""Return $u(0) = |r_1|$ and $\hat r_1$ of (15), $r_1 = (w_1(0) + a(0))/2$, of one network or of a batch."""
    cross = problem.cross.reshape(-1)
    r1 = 0.5 * (weights.first @ (cross / np.linalg.norm(cross)) + weights.second[..., 0, :])
    u0 = np.linalg.norm(r1, axis=-1)
    return u0, r1 / u0[..., None]


def phase_cells(points: Points, seeds: np.ndarray, *, dim: int, width: int, scale: float) -> Block:
    """Networks of one spike and alignment: both components along the flow.

    `u0` is the initialization's own part along the direction that grows; the paper's times take s for it.
    """
    spike, alignment = one_of_each(points, "spike", "alignment")
    weights = ln.Weights.stack([gaussian_start(seed, dim, width, scale) for seed in seeds.tolist()])
    run = train_batch((spike, alignment), weights, phase_grid(pair_moments(spike, alignment, dim), scale))
    curves = {"times": np.tile(run.times, (len(seeds), 1)), "w1": run.w1.T, "w2": run.w2.T, "loss": run.loss.T}
    return {"u0": run.u0, **{name: (("state",), curve) for name, curve in curves.items()}}
