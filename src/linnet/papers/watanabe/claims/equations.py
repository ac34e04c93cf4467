"""Watanabe et al., sections 2 and 3.2, Appendix A: the flow, its form in the adapted basis, and the constants of it."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.watanabe.networks import pair_moments, start
from linnet.papers.watanabe.settings import ALIGNMENT, DIM, SPIKE, WIDTH
from linnet.reproduction import Below, Numbers, Trial, claim
from linnet.reproduction.fits import highest, slopes
from linnet.theories.spiked import TwoPhase


def paper_loss(first: np.ndarray, second: np.ndarray, cov: np.ndarray, target: np.ndarray) -> np.ndarray:
    """(5) in the limit of many samples, without the canonical half; `first` (..., h, d), `second` (..., h)."""
    miss = np.einsum("...h,...hi->...i", second, first) - target
    return np.einsum("...i,ij,...j->...", miss, cov, miss)


def numeric_gradient(
    first: np.ndarray, second: np.ndarray, cov: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of `paper_loss` in W and a by central differences: exact but for rounding, as the loss is quadratic
    in each weight alone."""
    step = 1e-2
    parts = []
    for layer in (0, 1):
        weights = (first, second)[layer]
        nudges = step * np.eye(weights.size).reshape(weights.size, *weights.shape)
        sides = []
        for sign in (1, -1):
            moved = weights + sign * nudges
            one, two = (moved, second[None]) if layer == 0 else (first[None], moved)
            sides.append(paper_loss(one, two, cov, target))
        parts.append(((sides[0] - sides[1]) / (2 * step)).reshape(weights.shape))
    return parts[0], parts[1]


def printed_flow(theory: TwoPhase, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dW/dt (hidden, input) and da/dt (hidden,) by (9)-(12), in the adapted basis; tau = 1."""
    along = second @ first
    one = theory.lambda1 * along[0] - theory.nu * along[1]
    two = -theory.nu * along[0] + theory.lambda2 * along[1]
    rest = theory.variance * along[2:]
    scalars = np.concatenate([[theory.correlation - one, -two], -rest])
    others = first[:, 2:] @ rest
    return np.outer(second, scalars), (theory.correlation - one) * first[:, 0] - two * first[:, 1] - others


@claim(
    "eq6",
    where="Eqs. (5)-(8)",
    says="For an infinitesimal learning rate, gradient descent is the gradient flow (6)-(7), tau = 1/(2 eta).",
    tried=f"d = {DIM}, m = {WIDTH}, s = 0.3, n = 200 samples, spike 20, alignment 0.3",
    holds=Below(
        0.1,
        what="the slope's distance from 1",
        because="Euler's method is of order 1: the slope in the learning rate is 1 up to the next order",
    ),
    reads="distance of descent from the flow at t = 0.8: slope {slope:.3f} in the learning rate, {gap:.1e} at {rate:g}",
)
def flow(trial: Trial) -> Numbers:
    problem = ln.problems.spiked_covariance(DIM, spike=SPIKE, alignment=ALIGNMENT, samples=200, key=trial.seed)
    weights, until = start(trial.seed + 1, DIM, WIDTH, 0.3), 0.8
    end = ln.gradient_flow(problem, weights, times=[0.0, until], rtol=1e-11).weights.first[-1]
    rates, gaps = [0.004, 0.002, 0.001], []
    for rate in rates:
        run = ln.gradient_descent(problem, weights, learning_rate=rate, steps=round(until / rate), save_every=100)
        gaps.append(float(np.abs(run.weights.first[-1] - end).max()))
    overall, _ = slopes(rates, gaps)
    return {"value": abs(overall - 1), "slope": overall, "gap": gaps[-1], "rate": rates[-1]}


@claim(
    "eq9",
    where="Eqs. (9)-(12)",
    says="In the adapted basis the gradient flow reads (9)-(12).",
    assumes="population covariance",
    tried="random states of networks with d = 8, m = 10",
    holds=Below(
        1e-8,
        what="largest relative error",
        form=".1e",
        because="an identity, up to the rounding of central differences of a loss of size 10",
    ),
    reads="(9)-(12) against minus half the numerical gradient of the loss (5), at {states} states and pairs",
)
def adapted_flow(trial: Trial) -> Numbers:
    random, errors = generator(trial.seed, 5), []
    for spike, alignment in ((20.0, 0.3), (1.0, 0.8), (100.0, 0.1)):
        found = pair_moments(spike, alignment, dim=8)
        first, second = random.standard_normal((10, 8)) / 3, random.standard_normal(10) / 3
        gradient = numeric_gradient(first, second, found.cov, found.limit)
        wanted = [-0.5 * part for part in gradient]
        for true, formula in zip(wanted, printed_flow(TwoPhase(spike, alignment), first, second), strict=True):
            errors.append(float(np.abs(true - formula).max() / np.abs(true).max()))
    return {"value": highest(errors), "states": len(errors) // 2}


@claim(
    "appA",
    where="Eqs. (28)-(33)",
    says="The constants of the flow have the closed forms of Appendix A.",
    assumes="positive spike, 0 < A < 1",
    tried="spikes from 0.01 to 1000, alignments from 0.01 to 0.999",
    holds=Below(
        1e-6,
        what="largest relative error",
        form=".1e",
        because="closed forms against matrices, in which cosines of 1e-3 and less lose digits: 1e-8 is found",
    ),
    reads="|Sigma_xy|, lambda1, lambda2, nu and the cosines of mu with v1 and v2 against matrix products over {pairs} "
    "pairs",
)
def constants(trial: Trial) -> Numbers:
    errors = []
    for spike in (0.01, 0.5, 3.0, 20.0, 1e3):
        for alignment in (0.01, 0.3, 0.5, 0.9, 0.999):
            found, theory = pair_moments(spike, alignment, dim=4), TwoPhase(spike, alignment)
            true = [found.cross[0], found.cov[0, 0], found.cov[1, 1], -found.cov[0, 1], *found.basis[:2, 0]]
            closed = [theory.correlation, theory.lambda1, theory.lambda2, theory.nu, *theory.basis[:, 0]]
            errors += [abs(b / a - 1) for a, b in zip(true, closed, strict=True)]
    return {"value": highest(errors), "pairs": 25}
