"""The runs on which the claims of Varre et al. are measured: each is computed once and shared by many claims.

One batched gradient flow holds the paper's regression (n = 5, d = 10, k = 3, width 200), the same with one output (two of the
three labels are zero, so those outputs never move), orthonormal samples, and Gaussian starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.claims.registry import Trial, Verdict
from linnet.randomness import generator

if TYPE_CHECKING:
    from linnet.trajectories.trajectory import Trajectory

SAMPLES, INPUTS, OUTPUTS, WIDTH = 5, 10, 3, 200
NOISE = {True: (6000, 0.02), False: (60_000, 0.005)}  # paths and step of the noise process, quick or not


def corrected(printed: bool, right: bool) -> Verdict:
    """Holds as printed, holds with the correction, or neither."""
    return Verdict.HOLDS if printed else Verdict.CORRECTED if right else Verdict.REFUTED


@dataclass(frozen=True)
class Path:
    """One flow in the eigenbasis of its data: `first` (time, hidden, direction), `second` (time, output, hidden)."""

    kind: str
    seed: int
    gamma: float
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cov: np.ndarray
    cross: np.ndarray
    values: np.ndarray
    loss: np.ndarray

    @property
    def product(self) -> np.ndarray:
        return self.second @ self.first

    @property
    def solution(self) -> np.ndarray:
        """The minimum-norm solution in these coordinates."""
        return self.cross / np.diag(self.cov)

    @property
    def residual(self) -> np.ndarray:
        """R = Gamma - A Sigma along the flow."""
        return self.cross - self.product @ self.cov

    @property
    def velocity(self) -> np.ndarray:
        """dA/dt = W2 W2^T R + R W1^T W1 along the flow."""
        r = self.residual
        return self.second @ np.swapaxes(self.second, -1, -2) @ r + r @ np.swapaxes(self.first, -1, -2) @ self.first


def paths(trial: Trial, *kinds: str) -> Iterator[Path]:
    """The flows of these kinds: "regression", "scalar", "white" or "gaussian"."""
    for members, run in _flows(trial.quick, trial.seed):
        values = ln.observables.first_layer_values(run)
        scales, target = run.reduction.full_problem.factor.scales, run.reduction.full_problem.factor.target
        for i, (kind, seed, gamma) in enumerate(members):
            if kind not in kinds:
                continue
            outputs = slice(0, 1 if kind == "scalar" else OUTPUTS)
            yield Path(
                kind, seed, gamma, run.times, run.reduced.first[:, i], run.reduced.second[:, i, outputs],
                np.diag(scales[i] ** 2), (target[i] * scales[i])[outputs], values[:, i], run.loss[:, i],
            )  # fmt: skip


def span_leak(trial: Trial) -> float:
    """The largest part of the trained alpha outside the span of the data, of its norm, on the lifted networks."""
    worst = 0.0
    for members, run in _flows(trial.quick, trial.seed):
        whole, basis = run.weights_at(-1), run.reduction.basis
        assert basis is not None
        gram = np.swapaxes(whole.first, -1, -2) @ whole.first
        a = whole.product @ np.linalg.inv(gram)
        outside = np.linalg.norm(a - a @ basis @ np.swapaxes(basis, -1, -2), axis=(-1, -2))
        shares = outside / np.linalg.norm(a, axis=(-1, -2))
        for (kind, _, gamma), share in zip(members, shares, strict=True):
            if kind != "gaussian" and gamma >= 1e-3:  # the inverse is as badly conditioned as gamma is small
                worst = max(worst, float(share))
    return worst


@cache
def _flows(quick: bool, seed: int) -> list[tuple[list[tuple[str, int, float]], Trajectory]]:
    seeds = range(seed, seed + 12)
    if quick:
        two = seeds[:2]
        members = [("regression", s, g) for s in two for g in (1e-6, 1e-2, 1.0)] + [
            ("regression", s, 1e-4) for s in seeds
        ]
        members += [("scalar", s, g) for s in two for g in (1e-6, 1e-4, 1e-2, 1.0)]
        members += [("white", seed, g) for g in (1.0, 1e-6, 1e-12)]
        members += [("gaussian", s, g) for s in seeds[:6] for g in (1.0, 1e-2)]
        return [(members, _flow(members, 200.0))]
    members = [("regression", s, g) for s in seeds for g in (1e-6, 1e-4, 1e-2, 1.0)]
    members += [("scalar", s, g) for s in seeds[:6] for g in (1e-6, 1e-4, 1e-2, 1.0)]
    members += [("white", s, g) for s in seeds[:3] for g in (1.0, 1e-3, 1e-6, 1e-9, 1e-12)]
    members += [("gaussian", s, g) for s in seeds for g in (1.0, 1e-2)]
    lazy = [("regression", s, 10.0) for s in seeds] + [("scalar", s, 10.0) for s in seeds[:6]]
    return [(members, _flow(members, 400.0)), (lazy, _flow(lazy, 60.0))]


def _flow(members: list[tuple[str, int, float]], end: float) -> Trajectory:
    problems = [_data(kind, seed) for kind, seed, _ in members]
    starts = [_start(kind, seed, gamma) for kind, seed, gamma in members]
    inputs, outputs = (np.stack([pair[i] for pair in problems]) for i in (0, 1))
    weights = ln.Weights.stack(starts)
    times = np.geomspace(0.01, end, 100)
    # an absolute tolerance for the smallest start: W1 of 1e-6
    return ln.gradient_flow(ln.Problem.from_data(inputs, outputs), weights, times=times, rtol=1e-11, atol=1e-17)


def _data(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    problem = ln.problems.gaussian_regression(seed, samples=SAMPLES, in_dim=INPUTS, out_dim=OUTPUTS)
    inputs, truth = np.asarray(problem.inputs), np.asarray(problem.truth)
    if kind == "scalar":
        truth = truth * np.array([[1.0], [0.0], [0.0]])
    if kind == "white":
        inputs = np.sqrt(SAMPLES) * np.linalg.qr(inputs.T)[0].T  # orthonormal samples, in the span of the old ones
    return inputs, inputs @ truth.T


def _start(kind: str, seed: int, gamma: float) -> Any:
    shape: dict[str, int] = {"in_dim": INPUTS, "out_dim": OUTPUTS, "width": WIDTH}
    if kind == "gaussian":  # of effective scale gamma
        return ln.inits.gaussian(seed, first_std=float(np.sqrt(2 * gamma / WIDTH)), second_std=0.0, **shape)
    return ln.inits.orthogonal(seed, scale=gamma, **shape)


@cache
def noise_paths(quick: bool, seed: int, dim: int, tilted: bool) -> Trajectory:
    """Paths of the noise process from W1 = I and a = 0, or, tilted, from a random a of unit length."""
    a = np.zeros((1, dim))
    if tilted:
        a = generator(seed, 7).standard_normal((1, dim))
        a /= np.linalg.norm(a)
    start = ln.Weights(np.eye(dim), a)
    number, step = NOISE[quick]
    return ln.noise_sde(start, times=np.linspace(0, 6, 61), step=step, key=seed, paths=number)
