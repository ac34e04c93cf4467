"""Varre et al., the mirror flows of training: Theorem 3.2, and the rate that follows from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet.papers.varre.paths import Path, by_gamma
from linnet.papers.varre.runs import corrected, paths
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest

START = "orthogonal start of scale gamma"
SETTING = "gradient flow, n = 5, d = 10, k = 3, width 200, gamma from 1e-6 to 1 (10 in full mode)"


def measure_mirror(trial: Trial) -> Measurement:
    theory = ln.theories.spectral_bias
    right, printed = 0.0, 0.0
    for path in paths(trial, "regression"):
        right = highest(right, _mirror_error(path, theory.mirror))
        printed = highest(printed, _mirror_error(path, _printed_mirror))
    verdict = corrected(printed < 1e-6, right < 1e-6)
    text = (
        f"velocity of the mirror image against the gradient in the singular basis: {right:.1e} of the gradient with "
        "1/2 on "
        f"both terms of the potential, {printed:.2f} with the printed one"
    )
    return Measurement(verdict, text, right, 1e-6)


def _printed_mirror(values: np.ndarray, gamma: float) -> np.ndarray:
    """Gradient of tr(D asinh(D/gamma)/2 - sqrt(D^2 + gamma^2)), the potential as printed."""
    return 0.5 * np.arcsinh(values / gamma) - 0.5 * values / np.hypot(values, gamma)


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


def measure_predictor_mirror(trial: Trial) -> Measurement:
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
    verdict = Verdict.HOLDS if error < 1e-6 and plain > 1e-2 else Verdict.REFUTED
    text = (
        f"velocity of the mirror image against the warped gradient: {error:.1e} of it (limit 1e-6); unwarped: "
        f"{plain:.2f}"
    )
    return Measurement(verdict, text, error, 1e-6)


def measure_bound(trial: Trial) -> Measurement:
    rows = by_gamma(paths(trial, "scalar"))
    tight = {gamma: highest(path.bound_share for path in row) for gamma, row in rows.items()}
    worst = highest(tight.values())
    verdict = Verdict.HOLDS if worst <= 1 else Verdict.REFUTED
    text = ", ".join(f"{value:.2g} at gamma {gamma:g}" for gamma, value in tight.items())
    return Measurement(verdict, f"loss over its bound, at the time at which it is largest: {text}", worst, 1.0)


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
    ),
    Claim(
        name="theorem-3.2b",
        number="Theorem 3.2(b), Lemma C.7",
        sentence="With one output the predictor itself follows a mirror flow in a warped time.",
        assumptions=START + ", one output",
        setting=SETTING.replace("k = 3", "k = 1"),
        claimed="a mirror flow",
        expected=Verdict.HOLDS,
        measure=measure_predictor_mirror,
    ),
    Claim(
        name="lemma-C.8",
        number="Lemma C.8",
        sentence="With one output the loss is at most a Bregman divergence over sqrt(2 gamma) t, whatever the data.",
        assumptions=START + ", one output",
        setting=SETTING.replace("k = 3", "k = 1"),
        claimed="loss / bound <= 1",
        expected=Verdict.HOLDS,
        measure=measure_bound,
    ),
]
