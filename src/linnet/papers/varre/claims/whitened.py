"""Whitened data: singular vectors that stay, singular values with a formula, and modes that are learned in order."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.path import Path, transposed
from linnet.papers.varre.tables.flows import evolution_error, paths
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

START = "orthogonal start of scale gamma, whitened data"
SETTING = "gradient flow, n = 5, d = 10, k = 3, width 200, gamma from 1e-12 to 1, orthonormal samples"

STILL = Limit(1e-8, "the flow's own tolerance of 1e-11, over modes that are a millionth of the largest")
MOVING = Limit(1e-2, "on data that are not whitened the vectors must turn visibly, or the claim says nothing")
SHARED = Limit(1e-8, "commutators in units of their factors: the flow's own tolerance")
FORMULA = Limit(1e-9, "singular values of about one, integrated to a relative tolerance of 1e-11")
IDENTITY = Limit(1e-6, "alpha is divided by gamma >= 1e-6 in the inverse of W1^T W1, which leaves about seven digits")
BROKEN = Limit(1e-2, "on data that are not whitened the identities must fail visibly")
SHARP = Limit(0.02, "at gamma = 1e-24, a fifth of a time before or after: gamma^(1/5) is 1.6e-5 of the height")
AT_JUMP = Limit(1e-5, "the value at the very jump; corrections are of order gamma ln(1/gamma)")


def measure_vectors(trial: Trial) -> dict[str, Any]:
    others = [path.turn for path in paths(trial, "regression")]
    return {
        "value": highest(path.turn for path in paths(trial, "white")),
        "uncertainty": float(STILL),
        "least_turn": lowest(others),
        "most_turn": highest(others),
        "shared": highest(_commutators(path) for path in paths(trial, "regression", "white")),
    }


def judge_vectors(numbers: Numbers) -> Verdict:
    holds = numbers["value"] < STILL and numbers["least_turn"] > MOVING and numbers["shared"] < SHARED
    return Verdict.HOLDS if holds else Verdict.REFUTED


def tell_vectors(numbers: Numbers) -> str:
    return (
        f"largest sine of the angle to the final singular vectors, on either side: {numbers['value']:.1e} for whitened "
        f"data (limit {STILL:.0e}), {numbers['least_turn']:.2f} to {numbers['most_turn']:.2f} for others; both layers "
        f"share the predictor's vectors to {numbers['shared']:.0e} on any data"
    )


def _commutators(path: Path) -> float:
    """How far W1^T W1 from commuting with A^T A, and W2 W2^T with A A^T, in units of the product of their norms."""
    worst = 0.0
    for left, right in ((path.first, path.product), (transposed(path.second), transposed(path.product))):
        one, two = transposed(left) @ left, transposed(right) @ right
        worst = highest(worst, float((_norm(one @ two - two @ one) / (_norm(one) * _norm(two))).max()))
    return worst


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, axis=(-1, -2))


def measure_identities(trial: Trial) -> dict[str, Any]:
    """Eqs. (C.17)-(C.22) and (C.28)-(C.30) along the flows, as asymmetries in units of their terms."""
    white = [_asymmetry(path) for path in paths(trial, "white") if path.gamma >= 1e-6]
    other = [_asymmetry(path) for path in paths(trial, "regression") if path.gamma >= 1e-6]
    velocity = [_velocity_error(path) for path in paths(trial, "white", "regression") if path.gamma >= 1e-3]
    return {
        "value": highest(white),
        "uncertainty": float(IDENTITY),
        "other": lowest(other),
        "velocity": highest(velocity),
        "flows": len(white),
    }


def _asymmetry(path: Path) -> float:
    """The largest of R^T alpha, R alpha^T, Z1^T R Z2^T and of the same with beta_* for R, minus its own transpose,
    over times while more than a millionth of the residual is left."""
    a, r = path.alpha, path.residual
    keep = _norm(r) > 1e-6 * _norm(r[0])
    a, r, first, second = a[keep], r[keep], path.first[keep], path.second[keep]
    target = np.broadcast_to(path.solution, r.shape)
    worst = 0.0
    for x in (r, target):
        pairs = (transposed(x) @ a, x @ transposed(a), first @ transposed(x) @ second)
        sizes = (_norm(x) * _norm(a), _norm(x) * _norm(a), _norm(first) * _norm(x) * _norm(second))
        for matrix, size in zip(pairs, sizes, strict=True):
            worst = highest(worst, float((_norm(matrix - transposed(matrix)) / size).max()))
    return worst


def _velocity_error(path: Path) -> float:
    """Eq. (C.21) against the velocity of the predictor, on any data, in units of the largest velocity."""
    a, r = path.alpha, path.residual
    gram = np.linalg.inv(np.eye(a.shape[-2]) - a @ transposed(a))
    outer = np.linalg.inv(np.eye(a.shape[-1]) - transposed(a) @ a)
    formula = 2 * path.gamma * (a @ outer @ transposed(a) @ r + r @ outer)
    same = 2 * path.gamma * ((gram - np.eye(a.shape[-2])) @ r + r @ outer)  # by the push-through identity
    error = highest(np.abs(formula - path.velocity).max(), np.abs(same - path.velocity).max())
    return error / float(np.abs(path.velocity).max())


def judge_identities(numbers: Numbers) -> Verdict:
    holds = highest(numbers["value"], numbers["velocity"]) < IDENTITY and numbers["other"] > BROKEN
    return Verdict.HOLDS if holds else Verdict.REFUTED


def tell_identities(numbers: Numbers) -> str:
    return (
        f"asymmetry of R^T alpha, R alpha^T, Z1^T R Z2^T and of the same with beta_*: {numbers['value']:.1e} at most "
        f"on {numbers['flows']} flows of whitened data (limit {IDENTITY:.0e}), {numbers['other']:.2f} or more on "
        f"others; (C.21) is {numbers['velocity']:.0e} off on any data"
    )


def measure_evolution(trial: Trial) -> dict[str, Any]:
    found = list(paths(trial, "white"))
    gammas = {path.gamma for path in found}
    return {
        "value": highest(evolution_error(path) for path in found),
        "uncertainty": float(FORMULA),
        "least": min(gammas),
        "most": max(gammas),
    }


def judge_evolution(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < FORMULA else Verdict.REFUTED


def tell_evolution(numbers: Numbers) -> str:
    return (
        f"trained singular values {numbers['value']:.1e} from the formula at most, gamma from {numbers['most']:g} to "
        f"{numbers['least']:g}"
    )


def measure_jump(trial: Trial) -> dict[str, Any]:
    """Trained modes a fifth of a time before, at and a fifth after their activation, and the order of three modes."""
    gamma, sizes = 1e-24, np.array([3.0, 1.5, 0.7])
    at = ln.theories.spectral_bias.activation_times(sizes, gamma)
    heights = np.array([one_mode(s, gamma, [0.8 * t, t, 1.2 * t]) for s, t in zip(sizes, at, strict=True)])
    middles = [_half_time(s, 1e-6) for s in sizes]
    return {
        "value": float(np.abs(heights[:, 1] - sizes / (1 + 2 * sizes)).max()),
        "before": float((heights[:, 0] / sizes).max()),
        "after": float((heights[:, 2] / sizes).min()),
        "at": float(heights[0, 1]),
        "ordered": bool((np.diff(middles) > 0).all()),
        "delay": float(_half_time(3.0, gamma) - at[0]),
    }


def judge_jump(numbers: Numbers) -> Verdict:
    sharp = numbers["before"] < SHARP and numbers["after"] > 1 - SHARP
    return Verdict.HOLDS if sharp and numbers["value"] < AT_JUMP and numbers["ordered"] else Verdict.REFUTED


def tell_jump(numbers: Numbers) -> str:
    order = "in the order of their size" if numbers["ordered"] else "not in the order of their size"
    return (
        f"modes of size 3, 1.5 and 0.7, gamma = 1e-24: {numbers['before']:.1e} of their height a fifth before the "
        f"jump, {numbers['after']:.4f} a fifth after, {order}; at the jump {numbers['value']:.0e} from s/(1 + 2s) of "
        f"the proof ({numbers['at']:.6f} for s = 3), half height {numbers['delay']:.4f} later"
    )


def one_mode(s: float, gamma: float, times: list[float]) -> np.ndarray:
    """A network with one mode of size s, integrated by SciPy: dw1/dt = w2 (s - w1 w2), dw2/dt = w1 (s - w1 w2)."""
    run = _mode_flow(s, gamma, times[-1])
    return np.prod(run(np.array(times)), axis=0)


def _half_time(s: float, gamma: float) -> float:
    """When the trained mode stands at half its height."""
    from scipy.optimize import brentq

    end = 2 * float(np.log(1 / gamma)) / s
    run = _mode_flow(s, gamma, end)
    return float(brentq(lambda t: float(np.prod(run(t))) - s / 2, 0.0, end, xtol=1e-12))


def _mode_flow(s: float, gamma: float, end: float) -> Any:
    from scipy.integrate import solve_ivp

    def velocity(_: float, w: np.ndarray) -> np.ndarray:
        return w[::-1] * (s - w[0] * w[1])

    start = np.array([np.sqrt(2 * gamma), 0.0])
    run = solve_ivp(velocity, (0, end), start, dense_output=True, method="DOP853", rtol=1e-12, atol=1e-24)
    return run.sol


CLAIMS = [
    Claim(
        name="theorem-C.11",
        number="Theorem C.11",
        sentence="For whitened data the singular vectors of the predictor do not move, on either side.",
        assumptions=START,
        setting=SETTING + "; against Gaussian samples",
        claimed="no motion",
        expected=Verdict.HOLDS,
        measure=measure_vectors,
        judge=judge_vectors,
        tell=tell_vectors,
        limits={"motion": STILL, "motion on other data": MOVING, "shared vectors": SHARED},
    ),
    Claim(
        name="theorem-C.11-identities",
        number="Theorem C.11, eqs. (C.17)-(C.30)",
        sentence="For whitened data R^T alpha, alpha R^T, Z1^T R Z2^T and the same with the solution are symmetric at "
        "all times.",
        assumptions=START,
        setting=SETTING + ", of them gamma >= 1e-6; against Gaussian samples",
        claimed="symmetric",
        expected=Verdict.HOLDS,
        measure=measure_identities,
        judge=judge_identities,
        tell=tell_identities,
        limits={"asymmetry": IDENTITY, "asymmetry on other data": BROKEN},
    ),
    Claim(
        name="theorem-C.12",
        number="Theorem C.12",
        sentence="For whitened data each singular value of the predictor evolves by a closed formula.",
        assumptions=START,
        setting=SETTING,
        claimed="error 0",
        expected=Verdict.HOLDS,
        measure=measure_evolution,
        judge=judge_evolution,
        tell=tell_evolution,
        limits={"error": FORMULA},
    ),
    Claim(
        name="jump",
        number="Theorem C.12, section 3.2",
        sentence="As gamma tends to 0 a mode of size s jumps from 0 to s at ln(1/gamma)/(2 s), the largest first.",
        assumptions=START,
        setting="gradient flow, modes of size 3, 1.5 and 0.7, gamma = 1e-24",
        claimed="0 before, s after; in the proof s/(1 + 2s) at the jump",
        expected=Verdict.HOLDS,
        measure=measure_jump,
        judge=judge_jump,
        tell=tell_jump,
        limits={"before and after": SHARP, "at the jump": AT_JUMP},
    ),
]
