"""Whitened data: singular vectors that stay, singular values with a formula, and modes that are learned in order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Rises, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.settings import SIZES, START, WIDTH
from linnet_papers.varre.tables import flows
from linnet_papers.varre.tables.flows import evolution_error
from linnet_papers.varre.training.path import Path, transposed

if TYPE_CHECKING:
    from scipy.integrate import OdeSolution

on_whitened = partial(claim, assumes=f"{START}, whitened data")
TRIED = f"gradient flow, {SIZES}, width {WIDTH}, gamma from 1e-12 to 1, orthonormal samples"


STILL = Limit(1e-8, "the flow's own tolerance of 1e-11, over modes that are a millionth of the largest")
MOVING = Limit(1e-2, "on data that are not whitened the vectors must turn visibly, or the claim says nothing")
SHARED = Limit(1e-8, "commutators in units of their factors: the flow's own tolerance")


@on_whitened(
    "theorem-C.11",
    says="For whitened data the singular vectors of the predictor do not move, on either side.",
    tried=f"{TRIED}; against Gaussian samples",
    holds=AllOf(
        Below(STILL, what="largest sine of the angle to a final singular vector", form=".1e"),
        Above(MOVING, "least_turn", what="least on data that are not whitened", form=".2f"),
        Below(
            SHARED,
            "shared",
            what="part of the layers' singular vectors that is not the predictor's, on any data",
            form=".0e",
        ),
    ),
    reads="on data that are not whitened the vectors turn by sines of {least_turn:.2f} to {most_turn:.2f}",
)
def vectors(trial: Trial) -> Numbers:
    white, others = flows.WHITENED.rows(trial), flows.LIMITS.rows(trial)
    turns = [path.largest_turn for path in others]
    return {
        "value": highest(path.largest_turn for path in white),
        "least_turn": lowest(turns),
        "most_turn": highest(turns),
        "shared": highest(_largest_commutator(path) for path in [*others, *white]),
    }


def _largest_commutator(path: Path) -> float:
    """Return how far W1^T W1 is from commuting with A^T A, and W2 W2^T with A A^T: the largest norm of a commutator
    along the flow, in units of the product of the norms."""
    pairs = ((path.first, path.product), (transposed(path.second), transposed(path.product)))
    grams = [(transposed(left) @ left, transposed(right) @ right) for left, right in pairs]
    return highest((_norms(one @ two - two @ one) / (_norms(one) * _norms(two))).max() for one, two in grams)


def _norms(matrices: np.ndarray) -> np.ndarray:
    """Return the Frobenius norm of each matrix."""
    return np.linalg.norm(matrices, axis=(-1, -2))


IDENTITY = Limit(1e-6, "alpha is divided by gamma >= 1e-6 in the inverse of W1^T W1, which leaves about seven digits")
BROKEN = Limit(1e-2, "on data that are not whitened the identities must fail visibly")


@on_whitened(
    "theorem-C.11-identities",
    says="For whitened data R^T alpha, alpha R^T, Z1^T R Z2^T and the same with the solution are symmetric at all "
    "times.",
    tried=f"{TRIED}, of them gamma >= 1e-6; against Gaussian samples",
    holds=AllOf(
        Below(IDENTITY, what="largest asymmetry on whitened data", form=".1e"),
        Below(IDENTITY, "velocity", what="error of (C.21) on any data", form=".0e"),
        Above(BROKEN, "other", what="least asymmetry on other data", form=".2f"),
    ),
    reads="{flows} flows of whitened data",
)
def identities(trial: Trial) -> Numbers:
    """Eqs. (C.17)-(C.22) and (C.28)-(C.30) along the flows, as asymmetries in units of their terms."""
    white, others = flows.WHITENED.rows(trial), flows.LIMITS.rows(trial)
    asymmetries = [_asymmetry(path) for path in white if path.gamma >= 1e-6]
    return {
        "value": highest(asymmetries),
        "other": lowest(_asymmetry(path) for path in others if path.gamma >= 1e-6),
        "velocity": highest(_velocity_error(path) for path in [*white, *others] if path.gamma >= 1e-3),
        "flows": len(asymmetries),
    }


def _asymmetry(path: Path) -> float:
    """Return the largest asymmetry of R^T alpha, R alpha^T, Z1^T R Z2^T and of the same with beta_* for R, in units of
    the product of the norms, over times while more than a millionth of the residual is left."""
    a, r = path.alpha, path.residual
    keep = _norms(r) > 1e-6 * _norms(r[0])
    a, r, first, second = a[keep], r[keep], path.first[keep], path.second[keep]
    asymmetries = []
    for x in (r, np.broadcast_to(path.solution, r.shape)):
        pairs = (transposed(x) @ a, x @ transposed(a), first @ transposed(x) @ second)
        sizes = (_norms(x) * _norms(a), _norms(x) * _norms(a), _norms(first) * _norms(x) * _norms(second))
        for matrix, size in zip(pairs, sizes, strict=True):
            asymmetries.append((_norms(matrix - transposed(matrix)) / size).max())
    return highest(asymmetries)


def _velocity_error(path: Path) -> float:
    """Return the error of Eq. (C.21) against the velocity of the predictor, on any data, in units of the largest
    velocity."""
    a, r = path.alpha, path.residual
    gram = np.linalg.inv(np.eye(a.shape[-2]) - a @ transposed(a))
    outer = np.linalg.inv(np.eye(a.shape[-1]) - transposed(a) @ a)
    formula = 2 * path.gamma * (a @ outer @ transposed(a) @ r + r @ outer)
    same = 2 * path.gamma * ((gram - np.eye(a.shape[-2])) @ r + r @ outer)  # by the push-through identity
    error = highest(np.abs(formula - path.velocity).max(), np.abs(same - path.velocity).max())
    return error / float(np.abs(path.velocity).max())


FORMULA = Limit(1e-9, "singular values of about one, integrated to a relative tolerance of 1e-11")


@on_whitened(
    "theorem-C.12",
    says="For whitened data each singular value of the predictor evolves by a closed formula.",
    tried=TRIED,
    holds=Below(FORMULA, what="largest distance of a trained singular value from the formula", form=".1e"),
    reads="gamma from {most:g} to {least:g}, at all times",
)
def evolution(trial: Trial) -> Numbers:
    rows = flows.WHITENED.rows(trial)
    gammas = [path.gamma for path in rows]
    return {"value": highest(evolution_error(path) for path in rows), "least": min(gammas), "most": max(gammas)}


SHARP = Limit(0.02, "at gamma = 1e-24, a fifth of a time before or after: gamma^(1/5) is 1.6e-5 of the height")
AT_JUMP = Limit(1e-5, "the value at the very jump; corrections are of order gamma ln(1/gamma)")


@on_whitened(
    "jump",
    says="As gamma tends to 0 a mode of size s jumps from 0 to s at ln(1/gamma)/(2 s), the largest first; at the jump "
    "it stands at s/(1 + 2s) (proof).",
    tried="gradient flow, modes of size 3, 1.5 and 0.7, gamma = 1e-24",
    holds=AllOf(
        Below(SHARP, "before", what="largest share of the height a fifth before the jump", form=".1e"),
        Above(1 - SHARP, "after", what="least share a fifth after it", form=".4f", because=SHARP.reason),
        Below(AT_JUMP, what="distance from s/(1 + 2s) at the jump", form=".0e"),
        Rises(0, "half_times", what="times of half height, from the largest mode on", because="the sentence says so"),
    ),
    reads="at the jump the mode of size 3 stands at {at:.6f}; half height comes {delay:.4f} later",
)
def jump(trial: Trial) -> Numbers:
    """Trained modes a fifth of a time before, at and a fifth after their activation, and the order of three modes."""
    gamma = 1e-24
    sizes = np.array([3.0, 1.5, 0.7])
    at = ln.theories.spectral_bias.activation_times(sizes, gamma)
    moments = np.outer(at, [0.8, 1.0, 1.2])
    runs = [_mode_flow(s, gamma, times[-1]) for s, times in zip(sizes, moments, strict=True)]
    heights = np.array([np.prod(run(times), axis=0) for run, times in zip(runs, moments, strict=True)])
    return {
        "value": np.abs(heights[:, 1] - sizes / (1 + 2 * sizes)).max(),
        "before": (heights[:, 0] / sizes).max(),
        "after": (heights[:, 2] / sizes).min(),
        "at": heights[0, 1],
        "half_times": [_half_time(s, 1e-6) for s in sizes],
        "delay": _half_time(3.0, gamma) - at[0],
    }


def _half_time(s: float, gamma: float) -> float:
    """Return the time at which the trained mode stands at half its height."""
    from scipy.optimize import brentq

    end = 2 * float(np.log(1 / gamma)) / s
    run = _mode_flow(s, gamma, end)
    return float(brentq(lambda t: float(np.prod(run(t))) - s / 2, 0.0, end, xtol=1e-12))


def _mode_flow(s: float, gamma: float, end: float) -> OdeSolution:
    """Integrate both layers of a mode of size s by SciPy, from the orthogonal start: dw1/dt = w2 (s - w1 w2),
    dw2/dt = w1 (s - w1 w2); the solution is a function of time."""
    from scipy.integrate import solve_ivp

    def velocity(_: float, w: np.ndarray) -> np.ndarray:
        return w[::-1] * (s - w[0] * w[1])

    start = np.array([np.sqrt(2 * gamma), 0.0])
    run = solve_ivp(velocity, (0, end), start, dense_output=True, method="DOP853", rtol=1e-12, atol=1e-24)
    return run.sol
