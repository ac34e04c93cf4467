"""The mirror flows of training: Theorem 3.2, the rates that follow from it, and what is said not to be a gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre import misprints
from linnet.papers.varre.claims.dynamics import corrected
from linnet.papers.varre.networks.path import Path, by_gamma
from linnet.papers.varre.tables.flows import bound_share, paths
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

START = "orthogonal start of scale gamma"
SETTING = "gradient flow, n = 5, d = 10, k = 3, width 200, gamma from 1e-6 to 10"
SCALAR = "gradient flow, n = 5, d = 10, k = 1, width 200, gamma from 1e-10 to 1 (10 in full mode)"

MIRROR = Limit(1e-6, "the velocity of the mirror image is a central difference, of relative error 1e-10 and rounding")
WARPED = Limit(1e-2, "without the warp the mirror flow must fail visibly")
BOUND = Limit(1.0, "the bound itself")
QUARTER = Limit(0.25, "the constant of |beta|^2/(4 gamma t), which Lemma C.8's own bound implies")
GRADIENT = Limit(1e-6, "asymmetry of a Jacobian by central differences of width 1e-5")
NO_GRADIENT = Limit(1e-2, "an asymmetry far above the differences' error")


def measure_mirror(trial: Trial) -> dict[str, Any]:
    theory = ln.theories.spectral_bias
    right, printed = 0.0, 0.0
    for path in paths(trial, "regression"):
        right = highest(right, _mirror_error(path, theory.mirror))
        printed = highest(printed, _mirror_error(path, misprints.mirror))
    values, tiny = np.array([1.0, 2.0]), 1e-200
    ratio = float(theory.potential(values, tiny)) / (-np.log(tiny) * values.sum())
    return {"value": right, "uncertainty": float(MIRROR), "printed": printed, "nuclear": ratio}


def judge_mirror(numbers: Numbers) -> Verdict:
    return corrected(numbers["printed"] < MIRROR, numbers["value"] < MIRROR)


def tell_mirror(numbers: Numbers) -> str:
    return (
        f"velocity of the mirror image against the gradient in the singular basis: {numbers['value']:.1e} of the "
        f"gradient with 1/2 on both terms of the potential, {numbers['printed']:.2f} with the printed one; at gamma = "
        f"1e-200 the potential is {numbers['nuclear']:.3f} ln(1/gamma) nuclear norms"
    )


def _mirror_error(path: Path, image: Callable[[np.ndarray, float], np.ndarray]) -> float:
    """Velocity of `image` along the flow's own velocity, against diag(U^T R V), relative to the first residual."""
    left, values, right = np.linalg.svd(path.product, full_matrices=False)
    speeds = np.einsum("tki,tkd,tid->ti", left, path.velocity, right)
    wanted = np.einsum("tki,tkd,tid->ti", left, path.residual, right)
    stride = 1e-5 * (values + path.gamma) / np.maximum(np.abs(speeds), 1e-300)
    ahead, behind = (image(np.abs(values + sign * stride * speeds), path.gamma) for sign in (1, -1))
    slopes = (ahead - behind) / (2 * stride)
    moving = np.abs(wanted) > 1e-7 * np.abs(wanted[0]).max()  # beyond it the residual is rounding
    return float((np.abs(slopes - wanted) * moving).max() / np.abs(wanted[0]).max())


def measure_predictor_mirror(trial: Trial) -> dict[str, Any]:
    theory = ln.theories.spectral_bias
    error, plain = 0.0, 0.0
    for path in paths(trial, "scalar"):
        beta, speed, residual = path.product[:, 0], path.velocity[:, 0], path.residual[:, 0]
        stride = 1e-5 * (np.linalg.norm(beta, axis=1) + path.gamma) / np.maximum(np.linalg.norm(speed, axis=1), 1e-300)
        nudge = stride[:, None] * speed
        ahead, behind = (theory.predictor_mirror(beta + sign * nudge, path.gamma) for sign in (1, -1))
        slope = (ahead - behind) / (2 * stride[:, None])
        expected = theory.predictor_warp(beta, path.gamma)[:, None] * residual
        keep = np.linalg.norm(residual, axis=1) > 1e-7 * np.linalg.norm(residual[0])
        size = np.abs(expected).max()
        error = highest(error, float(np.abs((slope - expected)[keep]).max() / size))
        plain = highest(plain, float(np.abs((slope - residual)[keep]).max() / size))
    return {"value": error, "uncertainty": float(MIRROR), "plain": plain}


def judge_predictor_mirror(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < MIRROR and numbers["plain"] > WARPED else Verdict.REFUTED


def tell_predictor_mirror(numbers: Numbers) -> str:
    return (
        f"velocity of the mirror image against the warped gradient: {numbers['value']:.1e} of it (limit {MIRROR:.0e}); "
        f"unwarped: {numbers['plain']:.2f}"
    )


def measure_bound(trial: Trial) -> dict[str, Any]:
    tight = {g: highest(bound_share(path) for path in row) for g, row in by_gamma(paths(trial, "scalar")).items()}
    return {"value": highest(tight.values()), "uncertainty": 1.0, "by_gamma": tight}


def judge_bound(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] <= BOUND else Verdict.REFUTED


def tell_bound(numbers: Numbers) -> str:
    text = ", ".join(f"{value:.2g} at gamma {gamma:g}" for gamma, value in numbers["by_gamma"].items())
    return f"loss over its bound, at the time at which it is largest: {text}"


def measure_gamma_rate(trial: Trial) -> dict[str, Any]:
    """gamma t L/|beta_*|^2 along the flows, and the same of Lemma C.8's own bound."""
    theory = ln.theories.spectral_bias
    losses, bounds = [], []
    for path in paths(trial, "scalar"):
        unit = (path.solution[0] ** 2).sum() / (path.gamma * path.times)
        losses.append(float((path.loss / unit).max()))
        bounds.append(float((theory.convergence_bound(path.solution[0], path.gamma, path.times) / unit).max()))
    return {"value": highest(losses), "bound": highest(bounds), "least_bound": lowest(bounds), "flows": len(losses)}


def judge_gamma_rate(numbers: Numbers) -> Verdict:
    holds = numbers["value"] <= QUARTER and numbers["bound"] <= QUARTER
    return Verdict.HOLDS if holds else Verdict.REFUTED


def tell_gamma_rate(numbers: Numbers) -> str:
    return (
        f"gamma t L/|beta|^2 is {numbers['value']:.3f} at most on {numbers['flows']} flows, the bound of Lemma C.8 "
        f"{numbers['least_bound']:.1e} to {numbers['bound']:.3f} in that unit (limit {QUARTER:g})"
    )


def measure_hessian(trial: Trial) -> dict[str, Any]:
    """Third derivatives of the two would-be Hessians of Lemma C.7: a Hessian's are symmetric in all indices."""
    random = np.random.default_rng([trial.seed, 31])
    plain, warped = np.inf, 0.0
    for _ in range(5):
        point = random.standard_normal(4)
        point *= 0.7 / np.linalg.norm(point)
        plain = min(plain, _third_asymmetry(lambda a: _metric(a, 0.0), point))
        warped = highest(warped, _third_asymmetry(lambda a: _metric(a, 0.5), point))
    return {"value": warped, "plain": plain}


def _metric(a: np.ndarray, power: float) -> np.ndarray:
    """(I + a a^T/(1 - |a|^2)) (1 - |a|^2)^-power."""
    rest = 1 - a @ a
    return (np.eye(a.size) + np.outer(a, a) / rest) / rest**power


def _third_asymmetry(field: Callable[[np.ndarray], np.ndarray], point: np.ndarray, width: float = 1e-5) -> float:
    """The largest difference of d_k H_ij and d_j H_ik, over the largest derivative."""
    steps = width * np.eye(point.size)
    slopes = np.stack([(field(point + step) - field(point - step)) / (2 * width) for step in steps], axis=-1)
    return float(np.abs(slopes - np.swapaxes(slopes, 1, 2)).max() / np.abs(slopes).max())


def judge_hessian(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < GRADIENT and numbers["plain"] > NO_GRADIENT else Verdict.REFUTED


def tell_hessian(numbers: Numbers) -> str:
    return (
        f"asymmetry of the third derivatives: {numbers['plain']:.2f} or more as it stands, {numbers['value']:.0e} at "
        f"most after the factor (1 - |alpha|^2)^-1/2 (limit {GRADIENT:.0e})"
    )


def measure_potential(trial: Trial) -> dict[str, Any]:
    """Jacobians of Z - Z^-T D and Z - D Z^-T, which are symmetric exactly if these are gradients."""
    random = np.random.default_rng([trial.seed, 32])
    isotropic, others = 0.0, np.inf
    for _ in range(5):
        point = random.standard_normal((3, 3)) + 2 * np.eye(3)
        for imbalance in (0.6 * np.eye(3), np.diag(random.uniform(0.2, 0.5, 3)) + np.diag([0.0, 0.4, 0.8])):
            for on_left in (False, True):
                found = _jacobian_asymmetry(partial(_without_imbalance, imbalance=imbalance, on_left=on_left), point)
                if np.ptp(np.diag(imbalance)) == 0:
                    isotropic = highest(isotropic, found)
                else:
                    others = min(others, found)
    return {"value": others, "isotropic": isotropic}


def _without_imbalance(first: np.ndarray, *, imbalance: np.ndarray, on_left: bool) -> np.ndarray:
    """Z - Z^-T D, or Z - D Z^-T as printed."""
    inverse = np.linalg.inv(first).T
    return first - (imbalance @ inverse if on_left else inverse @ imbalance)


def _jacobian_asymmetry(field: Callable[[np.ndarray], np.ndarray], point: np.ndarray, width: float = 1e-5) -> float:
    columns = []
    for place in np.ndindex(*point.shape):
        step = np.zeros(point.shape)
        step[place] = width
        columns.append(((field(point + step) - field(point - step)) / (2 * width)).ravel())
    jacobian = np.array(columns)
    return float(np.abs(jacobian - jacobian.T).max() / np.abs(jacobian).max())


def judge_potential(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] > NO_GRADIENT and numbers["isotropic"] < GRADIENT else Verdict.REFUTED


def tell_potential(numbers: Numbers) -> str:
    return (
        f"asymmetry of the Jacobian: {numbers['isotropic']:.0e} at most for 2 gamma I (limit {GRADIENT:.0e}), "
        f"{numbers['value']:.3f} or more for other diagonal imbalances (limit {NO_GRADIENT:g})"
    )


CLAIMS = [
    Claim(
        name="theorem-3.2a",
        number="Theorem 3.2(a), Lemma C.13",
        sentence="The singular values of the predictor follow a mirror flow with the hyperbolic entropy as potential.",
        assumptions=START,
        setting=SETTING,
        claimed="potential D asinh(D/gamma)/2 - sqrt(D^2 + gamma^2)",
        expected=Verdict.CORRECTED,
        measure=measure_mirror,
        judge=judge_mirror,
        tell=tell_mirror,
        limits={"velocity": MIRROR},
    ),
    Claim(
        name="theorem-3.2b",
        number="Theorem 3.2(b), Lemma C.7",
        sentence="With one output the predictor itself follows a mirror flow in a warped time.",
        assumptions=START + ", one output",
        setting=SCALAR,
        claimed="a mirror flow",
        expected=Verdict.HOLDS,
        measure=measure_predictor_mirror,
        judge=judge_predictor_mirror,
        tell=tell_predictor_mirror,
        limits={"velocity": MIRROR, "unwarped": WARPED},
    ),
    Claim(
        name="lemma-C.7-hessian",
        number="Lemma C.7, its proof",
        sentence="I + alpha alpha^T/(1 - |alpha|^2) is no Hessian of a function of alpha; times (1 - |alpha|^2)^-1/2 "
        "it is.",
        assumptions="|alpha| < 1",
        setting="third derivatives at five points of length 0.7 in four dimensions",
        claimed="not symmetric, and symmetric",
        expected=Verdict.HOLDS,
        measure=measure_hessian,
        judge=judge_hessian,
        tell=tell_hessian,
        limits={"symmetric": GRADIENT, "not symmetric": NO_GRADIENT},
    ),
    Claim(
        name="lemma-C.4-potential",
        number="Lemma C.4, its proof",
        sentence="If the imbalance is diagonal but no multiple of the identity, there is no potential for the first "
        "layer.",
        assumptions="an invertible first layer",
        setting="Jacobians at five points, 3 x 3, with the imbalance on either side",
        claimed="not a gradient",
        expected=Verdict.HOLDS,
        measure=measure_potential,
        judge=judge_potential,
        tell=tell_potential,
        limits={"gradient": GRADIENT, "no gradient": NO_GRADIENT},
    ),
    Claim(
        name="lemma-C.8",
        number="Lemma C.8",
        sentence="With one output the loss is at most a Bregman divergence over sqrt(2 gamma) t, whatever the data.",
        assumptions=START + ", one output",
        setting=SCALAR,
        claimed="loss / bound <= 1",
        expected=Verdict.HOLDS,
        measure=measure_bound,
        judge=judge_bound,
        tell=tell_bound,
        limits={"share": BOUND},
    ),
    Claim(
        name="gamma-rate",
        number="section 3.2",
        sentence="With one output the loss falls like O(1/(gamma t)), whatever the conditioning of the data.",
        assumptions=START + ", one output",
        setting=SCALAR,
        claimed="gamma t L bounded",
        expected=Verdict.HOLDS,
        measure=measure_gamma_rate,
        judge=judge_gamma_rate,
        tell=tell_gamma_rate,
        limits={"constant": QUARTER},
    ),
]
