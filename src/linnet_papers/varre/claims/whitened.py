"""Whitened data: singular vectors that stay, singular values with a formula, and modes that are learned in order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Range, Rows, Trial, above, below, both, claim, corrected, fact, printed
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.grids import flows
from linnet_papers.varre.grids.flows import evolution_error
from linnet_papers.varre.settings import SIZES, START, WIDTH
from linnet_papers.varre.training.path import Path, transposed

if TYPE_CHECKING:
    from scipy.integrate import OdeSolution

on_whitened = partial(claim, assumes=f"{START}, whitened data")
TRIED = rf"gradient flow, {SIZES}, width {WIDTH}, $\gamma$ from $10^{{-12}}$ to 1, orthonormal samples"


STILL = below(1e-8, "the flow's own tolerance of $10^{-11}$, over modes that are a millionth of the largest")
MOVING = above(1e-2, "a million times the tolerance: where vectors are free to turn, the measurement sees it")
SHARED = below(1e-8, "commutators in units of their factors: the flow's own tolerance")


@on_whitened(
    "theorem-C.11",
    says="For whitened data the singular vectors of the predictor do not move, on either side.",
    tried=f"{TRIED}; against Gaussian samples",
)
def vectors(trial: Trial) -> Rows:
    white, others = flows.whitened(trial), flows.regression(trial)
    still, turns = ([path.largest_turn for path in paths] for paths in (white, others))
    commutators = [_largest_commutator(path) for path in [*others, *white]]
    yield printed("largest sine of the angle to a final singular vector", highest(still), STILL)
    yield printed("smallest of these sines on data that are not whitened", lowest(turns), MOVING)
    commuting = "largest commutator of a layer's Gram matrix with the predictor's, over their norms, on any data"
    yield printed(commuting, highest(commutators), SHARED)
    yield fact("largest of these sines on data that are not whitened", highest(turns))


def _largest_commutator(path: Path) -> float:
    """Return how far W1^T W1 is from commuting with A^T A, and W2 W2^T with A A^T: the largest norm of a commutator
    along the flow, in units of the product of the norms."""
    pairs = ((path.first, path.product), (transposed(path.second), transposed(path.product)))
    grams = [(transposed(left) @ left, transposed(right) @ right) for left, right in pairs]
    return highest((_norms(one @ two - two @ one) / (_norms(one) * _norms(two))).max() for one, two in grams)


def _norms(matrices: np.ndarray) -> np.ndarray:
    """Return the Frobenius norm of each matrix."""
    return np.linalg.norm(matrices, axis=(-1, -2))


IDENTITY = below(
    1e-6,
    r"$\alpha$ is divided by $\gamma \ge 10^{-6}$ in the inverse of $W_1^\top W_1$, which leaves about seven digits",
)
BROKEN = above(1e-2, "ten thousand times what is left of it on whitened data: the measurement sees asymmetry")


@on_whitened(
    "theorem-C.11-identities",
    says=r"For whitened data $R^\top \alpha$, $\alpha R^\top$, $Z_1^\top R Z_2^\top$ and the same with "
    "the solution are symmetric at all times.",
    tried=rf"{TRIED}, of these the ones with $\gamma \ge 10^{{-6}}$; against Gaussian samples",
)
def identities(trial: Trial) -> Rows:
    """Eqs. (C.17)-(C.22) and (C.28)-(C.30) along the flows, as asymmetries in units of their terms."""
    white, others = flows.whitened(trial), flows.regression(trial)
    asymmetries, broken = ([_asymmetry(path) for path in paths if path.gamma >= 1e-6] for paths in (white, others))
    errors = [_velocity_error(path) for path in [*white, *others] if path.gamma >= 1e-3]
    yield printed("largest asymmetry on whitened data", highest(asymmetries), IDENTITY)
    yield printed(r"error of (C.21) on any data, $\gamma \ge 10^{-3}$", highest(errors), IDENTITY)
    yield printed("smallest asymmetry on data that are not whitened", lowest(broken), BROKEN)
    yield fact("number of flows on whitened data", len(asymmetries))


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


FORMULA = below(1e-9, "singular values of about one, integrated to a relative tolerance of $10^{-11}$")


@on_whitened(
    "theorem-C.12",
    says="For whitened data each singular value of the predictor evolves by a closed formula.",
    tried=TRIED,
)
def evolution(trial: Trial) -> Rows:
    errors = [evolution_error(path) for path in flows.whitened(trial)]
    yield printed("largest distance of a trained singular value from the formula", highest(errors), FORMULA)


SHARP = (
    r"$\gamma^{1/5} = 1.6 \cdot 10^{-5}$ of the height is left a fifth of a time before the jump or missing after it"
)
AT_JUMP = below(
    1e-5, r"corrections to the height at the jump are of order $\gamma \ln(1/\gamma)$, far below the flow's tolerance"
)


@on_whitened(
    "jump",
    says=r"As $\gamma$ tends to 0 a mode of strength $s$ jumps from 0 to $s$ at $\ln(1/\gamma)/(2 s)$, the "
    "largest first; at the jump itself it stands at 0 (section 3.2) or $s$ (Theorem C.12).",
    tried=r"gradient flow of a mode, a fifth before the jump, at it and a fifth after it; the order at strengths 3, "
    "1.5 and 0.7",
    correction="before and after it is as said; at the jump itself it stands at $s/(1 + 2 s)$, as in the proof",
    region={"strength": Range(0.3, 3.0, log=True), "exponent": Range(-30, -24)},
)
def jump(trial: Trial) -> Rows:
    """Trained modes a fifth of a time before, at and a fifth after their activation, and the order of three modes."""

    def heights(strength: float, exponent: float) -> dict[str, float]:
        """Return the fractions of its strength that a mode has, and how far they are from what is said at the jump."""
        gamma = 10.0**exponent
        moments = np.array([0.8, 1.0, 1.2]) * ln.theories.spectral_bias.activation_times([strength], gamma)
        early, at, late = np.prod(_mode_flow(strength, gamma, moments[-1])(moments), axis=0) / strength
        away = abs(at - 1 / (1 + 2 * strength))
        return {"early": early, "late": late, "printed": min(abs(at), abs(at - 1)), "corrected": away}

    found = by_name({label: heights(**setting) for label, setting in trial.region(3).items()})
    fraction = "fraction of its strength that a mode has a fifth"
    yield both(f"{fraction} before the jump", found["early"], below(0.02, SHARP))
    yield both(f"{fraction} after it", found["late"], above(0.98, SHARP))
    distance = "distance of that fraction from"
    yield printed(f"{distance} 0 and from 1 at the jump, the smaller one", found["printed"], AT_JUMP)
    yield corrected(f"{distance} $1/(1 + 2 s)$ at the jump", found["corrected"], AT_JUMP)
    waits = np.diff([_half_time(s, 1e-6) for s in (3.0, 1.5, 0.7)])
    later = above(0, "the larger mode is first if the smaller one is later")
    yield both(
        r"time from the half height of a mode to that of the next smaller one, at $\gamma = 10^{-6}$", waits, later
    )


def _half_time(s: float, gamma: float) -> float:
    """Return the time at which the trained mode stands at half its height."""
    from scipy.optimize import brentq

    end = 2 * float(np.log(1 / gamma)) / s
    run = _mode_flow(s, gamma, end)
    return float(brentq(lambda t: float(np.prod(run(t))) - s / 2, 0.0, end, xtol=1e-12))


def _mode_flow(s: float, gamma: float, end: float) -> OdeSolution:
    """Integrate both layers of a mode of size s by SciPy, from the orthogonal initialization: dw1/dt = w2 (s - w1 w2),
    dw2/dt = w1 (s - w1 w2); the solution is a function of time."""
    from scipy.integrate import solve_ivp

    def velocity(_: float, w: np.ndarray) -> np.ndarray:
        return w[::-1] * (s - w[0] * w[1])

    start = np.array([np.sqrt(2 * gamma), 0.0])
    run = solve_ivp(velocity, (0, end), start, dense_output=True, method="DOP853", rtol=1e-12, atol=1e-30)
    return run.sol
