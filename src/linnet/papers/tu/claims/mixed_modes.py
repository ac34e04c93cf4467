"""Claims on single modes of mixed dynamics: their speed, their layers (section 2, appendix D)."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu import misprints
from linnet.papers.tu.claims.lazy_modes import APART
from linnet.papers.tu.tables import widths
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim

SPEED = Limit(0.15, "of the mode's own speed, at w = 1024 d: five times sqrt(d/w)")
FASTER = Limit(3.0, "the threshold is a tenth of the target's norm: modes speed up to ten times the lazy rate")
COSINE = Limit(0.1, "of a cosine, at w = 1024 d: three times sqrt(d/w)")
LAZY = Limit(0.2, "cosines of lazy modes: 'close to zero'")
ACTIVE = Limit(0.9, "cosines of active modes: 'close to one'")


def layers(trial: Trial) -> tuple[widths.Widths, np.ndarray, np.ndarray, float]:
    """A flow at w = 1024 d: first and second layer at every time, and w/d."""
    runs = widths.widths(trial)
    width = int(np.argmax(runs.ratios >= 1024))
    return runs, runs.first[:, width, 0], runs.second[:, width, 0], float(runs.ratios[width])


def measure_speed(trial: Trial) -> dict[str, Any]:
    runs, first, second, ratio = layers(trial)
    product = second @ first
    left, values, right = np.linalg.svd(product)
    pull = runs.problem.cross - product
    flow = second @ np.swapaxes(second, -1, -2) @ pull + pull @ np.swapaxes(first, -1, -2) @ first
    moving = np.einsum("tim,tij,tmj->tm", left, flow, right)  # ds/dt along each singular pair
    aim = np.einsum("tim,tij,tmj->tm", left, pull, right)
    expected = ln.theories.mixed.mode_speed(values, runs.threshold)
    strength = np.linalg.norm(pull, 2, axis=(1, 2))[:, None]
    # where a mode is pulled at all: elsewhere its speed is that of the others' leftovers
    pulled = (np.abs(aim) > 0.2 * strength) & (strength > 1e-3 * strength[0])
    apart = np.abs(moving / np.where(pulled, expected * aim, 1.0) - 1)[pulled]
    leading = (moving[:, 0] / np.where(pulled[:, 0], aim[:, 0], 1.0))[pulled[:, 0]] / (2 * runs.threshold)
    return {
        "cases": int(pulled.sum()),
        "modes": int(pulled.any(axis=0).sum()),
        "slow": float(leading.min()),
        "fast": float(leading.max()),
        "ratio": ratio,
        "value": float(apart.max()),
        "uncertainty": float(1 / np.sqrt(ratio)),
    }


def judge_speed(numbers: Numbers) -> Verdict:
    good = numbers["value"] < SPEED and numbers["fast"] > FASTER * numbers["slow"]
    return Verdict.HOLDS if good else Verdict.REFUTED


def tell_speed(numbers: Numbers) -> str:
    return (
        f"speed of {numbers['modes']} modes ({numbers['cases']} modes and times that are pulled by a fifth of the "
        f"gradient's norm or more): within {numbers['value']:.3f} of 2 sqrt(s^2 + sigma^4 w^2) times their own "
        f"gradient at w = {numbers['ratio']:.0f} d; the leading mode speeds up from {numbers['slow']:.2f} to "
        f"{numbers['fast']:.1f} times the lazy rate"
    )


def measure_alignment(trial: Trial) -> dict[str, Any]:
    runs, first, second, _ = layers(trial)
    left, values, right = np.linalg.svd(second @ first)
    gram1, gram2 = np.swapaxes(first, -1, -2) @ first, second @ np.swapaxes(second, -1, -2)
    own = np.einsum("tmj,tjk,tmk->tm", right, gram1, right)
    other = np.einsum("tim,tij,tjm->tm", left, gram2, left)
    expected = ln.theories.mixed.predicted_alignment(values, runs.threshold)
    cosine, printed = values / np.sqrt(own * other), misprints.mode_cosine(values, gram1, gram2, left)
    return {
        "printed": float(np.abs(printed - expected).max()),
        "start": float(cosine[0].max()),
        "end": float(cosine[-1].max()),
        "value": float(np.abs(cosine - expected).max()),
    }


def judge_alignment(numbers: Numbers) -> Verdict:
    if numbers["value"] > COSINE or numbers["start"] > LAZY or numbers["end"] < ACTIVE:
        return Verdict.REFUTED
    return Verdict.CORRECTED if numbers["printed"] > APART * numbers["value"] else Verdict.HOLDS


def tell_alignment(numbers: Numbers) -> str:
    return (
        f"cosine of W1 v and W2^T u is s/sqrt(s^2 + sigma^4 w^2) to {numbers['value']:.3f}: at most "
        f"{numbers['start']:.2f} at the start, {numbers['end']:.3f} for active modes, which become parallel (printed: "
        f"perpendicular); with the printed u^T C1 u it would be off by {numbers['printed']:.2f}"
    )


def measure_linear(trial: Trial) -> dict[str, Any]:
    dim, times = 10 if trial.quick else 20, np.linspace(0.05, 4.0, 20)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    threshold, ratios = 3.0 * dim, 10.0 ** np.array([4, 6, 8, 10])
    starts = []
    for i, ratio in enumerate(ratios):
        std = float(np.sqrt(threshold / (ratio * dim)))
        starts.append(
            ln.inits.reduced_gaussian(
                [trial.seed, i], in_dim=dim, out_dim=dim, width=int(ratio * dim), first_std=std, second_std=std
            )
        )
    run = ln.gradient_flow(problem, ln.Weights.stack(starts), times=times / (2 * threshold))
    apart = []
    for i, start in enumerate(starts):
        lazy = ln.theories.mixed.lazy_flow(problem.cross, start.product, threshold, run.times)
        apart.append(float(np.linalg.norm(run.products[:, i] - lazy, axis=(1, 2)).max() / dim))
    printed = [misprints.lazy_distance(dim, ratio * dim, threshold) for ratio in ratios]
    mended = [float(np.sqrt(1 / ratio) + (dim / threshold) ** 2) for ratio in ratios]
    return {
        "apart": apart,
        "printed": [one / two for one, two in zip(apart, printed, strict=True)],
        "mended": [one / two for one, two in zip(apart, mended, strict=True)],
        "value": apart[-1],
    }


def judge_linear(numbers: Numbers) -> Verdict:
    grows = numbers["printed"][-1] / numbers["printed"][0]
    if grows < APART:
        return Verdict.HOLDS
    return Verdict.CORRECTED if highest(numbers["mended"]) < APART else Verdict.REFUTED


def tell_linear(numbers: Numbers) -> str:
    apart, ratios = ", ".join(f"{x:.3f}" for x in numbers["apart"]), ", ".join(f"{x:.0f}" for x in numbers["printed"])
    return (
        f"|A - B|_F/d is {apart} at w/d = 1e4, 1e6, 1e8, 1e10 and sigma^2 w = 3 d: {ratios} times the printed "
        f"d/(sigma^2 w) sqrt(d/w), and at most {highest(numbers['mended']):.2f} times sqrt(d/w) + (d/sigma^2 w)^2. The "
        "conclusion stands, as both vanish where sigma^2 w >> d"
    )


CLAIMS = [
    Claim(
        name="mode-speed",
        number="section 2, Figure 1",
        sentence="The effective learning rate along a singular value is 2 sqrt(s^2 + sigma^4 w^2): modes speed up "
        "as they pass sigma^2 w.",
        assumptions="Gaussian start, w >> d",
        setting="flow at d = 12 (full: 40), w = 1024 d, sigma^2 w = |Y|/10",
        claimed="2 sqrt(s^2 + sigma^4 w^2)",
        expected=Verdict.HOLDS,
        measure=measure_speed,
        judge=judge_speed,
        tell=tell_speed,
        limits={"speed": SPEED, "speed-up": FASTER},
    ),
    Claim(
        name="mode-alignment",
        number="remark before section 2.1",
        sentence="The hidden vectors of a mode have the cosine s/sqrt(s^2 + sigma^4 w^2).",
        assumptions="Gaussian start, w >> d",
        setting="flow at d = 12 (full: 40), w = 1024 d",
        claimed="0 when lazy, 1 when active",
        expected=Verdict.CORRECTED,
        measure=measure_alignment,
        judge=judge_alignment,
        tell=tell_alignment,
        limits={"cosine": COSINE, "lazy": LAZY, "active": ACTIVE},
    ),
    Claim(
        name="prop-d1-distance",
        number="proof of Proposition D.1",
        sentence="In the lazy regime |A - B|_F is at most d O(d/(sigma^2 w) sqrt(d/w)), B being the linear dynamics.",
        assumptions="sigma^2 w >> d, w >> d",
        setting="flow at d = 10 (full: 20), sigma^2 w = 3 d, w/d = 1e4 .. 1e10",
        claimed="as printed",
        expected=Verdict.CORRECTED,
        measure=measure_linear,
        judge=judge_linear,
        tell=tell_linear,
        limits={"constant": APART},
    ),
]
