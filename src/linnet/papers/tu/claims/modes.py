"""Claims on single modes: lazy, balanced and mixed dynamics (sections 1.4, 1.5 and 2, appendix D)."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu import misprints
from linnet.papers.tu.tables import widths
from linnet.randomness import generator
from linnet.reproduction import Claim, Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest

RECURSION = Limit(
    0.05, "of the largest entry of the target, at sigma^2 w = 100 |Y|, where |A|/sigma^2 w is a hundredth"
)
FLOOR = Limit(0.1, "of the floor: the start's own product, and E, are one draw each")
APART = Limit(2.0, "the printed formula is off by at least twice what the right one is")
SECOND = Limit(0.1, "of an exponent of 2, between steps that differ by factors of two")
FROZEN = Limit(0.2, "of an exponent of -2, over thresholds of 10 to 100 times the target")
ARRIVED = Limit(0.9, "of the target's norm: the product has nearly arrived while its kernel stays")
STEP = Limit(0.02, "one step at rate 2 eta/d^2, whose second-order term is a quarter of a per cent")
STANDARD = Limit(4.0, "standard errors of a share")
LEARNED = Limit(1e-3, "of the largest singular value, at the end of a long flow")
ONE_MODE = Limit(0.01, "the next singular value of what is missing, where one mode is stuck")
EXPLAINED = Limit(0.98, "a share of networks: those whose determinant is nearly zero may not have decided yet")
SPEED = Limit(0.15, "of the mode's own speed, at w = 1024 d: five times sqrt(d/w)")
FASTER = Limit(3.0, "the threshold is a tenth of the target's norm: modes speed up to ten times the lazy rate")
COSINE = Limit(0.1, "of a cosine, at w = 1024 d: three times sqrt(d/w)")
LAZY = Limit(0.2, "cosines of lazy modes: 'close to zero'")
ACTIVE = Limit(0.9, "cosines of active modes: 'close to one'")


def measure_lazy(trial: Trial) -> dict[str, Any]:
    dim, draws, steps = (10, 8, 30) if trial.quick else (30, 8, 30)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    size, truth = float(np.linalg.norm(problem.cross, 2)), np.asarray(problem.truth)
    gaps, floors = [], []
    for power in (1, 2):
        threshold, width = 10.0**power * size, dim * 10**11
        std = float(np.sqrt(threshold / width))
        weights = ln.inits.reduced_gaussian(
            trial.seed, in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std, batch=draws
        )
        rate = 0.05 / threshold  # small enough that both layers' second-order term is small too
        run = ln.gradient_descent(problem, weights, learning_rate=rate, steps=steps, keep="products")
        lazy = [
            ln.theories.mixed.lazy_descent(problem.cross, start, threshold, rate, run.steps)
            for start in weights.product
        ]
        gaps.append(float(np.abs(run.products - np.stack(lazy, axis=1)).max() / np.abs(problem.cross).max()))
        remaining = (1 - 2 * rate * threshold) ** np.arange(steps + 1)
        measured = 2 * run.test_loss.mean(axis=1)
        right = ln.theories.mixed.lazy_error_floor(truth, problem.cross - truth, remaining)
        printed = misprints.lazy_mean(truth, problem.cross - truth, remaining)
        floors.append([float(np.abs(measured / floor - 1)[1:].max()) for floor in (right, printed)])
    return {
        "gaps": gaps,
        "order": float(np.log10(gaps[0] / gaps[1])),
        "right": floors[1][0],
        "printed": floors[1][1],
        "draws": draws,
        "value": gaps[1],
    }


def judge_lazy(numbers: Numbers) -> Verdict:
    if numbers["value"] > RECURSION or numbers["right"] > FLOOR:
        return Verdict.REFUTED
    return Verdict.CORRECTED if numbers["printed"] > APART * numbers["right"] else Verdict.HOLDS


def tell_lazy(numbers: Numbers) -> str:
    return (
        f"products of {numbers['draws']} networks follow the recursion with 1 - 4 d^-2 eta sigma^2 w to "
        f"{numbers['gaps'][0]:.1e} and {numbers['gaps'][1]:.1e} at sigma^2 w = 10 and 100 |Y| (order "
        f"{numbers['order']:.1f}); the mean test error is |-q^t A* + (1 - q^t) E|^2 to {numbers['right']:.1e}, and "
        f"misses the printed +q^t A* by {numbers['printed']:.2f}"
    )


def measure_frozen(trial: Trial) -> dict[str, Any]:
    dim = 10 if trial.quick else 30
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    size, shares = float(np.linalg.norm(problem.cross, 2)), np.array([10.0, 30.0, 100.0])
    changes, moved = [], []
    for share in shares:
        threshold, width = share * size, dim * 10**11
        std = float(np.sqrt(threshold / width))
        weights = ln.inits.reduced_gaussian(
            trial.seed, in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std
        )
        run = ln.gradient_descent(problem, weights, learning_rate=0.05 / threshold, steps=60, save_every=60)
        first = run.reduced.first
        grams = np.swapaxes(first, -1, -2) @ first
        changes.append(float(np.linalg.norm(grams[-1] - grams[0], 2) / np.linalg.norm(grams[0], 2)))
        moved.append(float(np.linalg.norm(run.products[-1] - run.products[0], 2) / size))
    rate, error = exponent(shares, changes)
    return {"changes": changes, "moved": moved, "value": rate, "uncertainty": error}


def judge_frozen(numbers: Numbers) -> Verdict:
    learned = min(numbers["moved"]) > ARRIVED
    return Verdict.HOLDS if learned and abs(numbers["value"] + 2) < FROZEN else Verdict.REFUTED


def tell_frozen(numbers: Numbers) -> str:
    changes = ", ".join(f"{change:.1e}" for change in numbers["changes"])
    return (
        f"while the product moves by {min(numbers['moved']):.2f} of |Y|, C1 changes by {changes} of itself at sigma^2 "
        f"w = 10, 30, 100 |Y|: like the power {numbers['value']:.2f} of it (to first order not at all)"
    )


def measure_step(trial: Trial) -> dict[str, Any]:
    draw = generator(trial.seed)
    problem = ln.Problem.from_target(draw.normal(size=(5, 4)))
    weights = ln.inits.gaussian(trial.seed, in_dim=4, out_dim=5, width=9, first_std=0.5, second_std=0.5)
    start, rates = weights.product, np.array([0.04, 0.02, 0.01, 0.005])
    pull = problem.cross - start
    kernel = tangent(weights.first, weights.second, pull)
    left = []
    for rate in rates:
        moved = ln.gradient_descent(problem, weights, learning_rate=float(rate), steps=1).products[-1] - start
        left.append(float(np.linalg.norm(moved - rate * kernel)))
    order, error = exponent(rates, left)
    return {"rest": left, "first": float(np.linalg.norm(rates[0] * kernel)), "value": order, "uncertainty": error}


def tangent(first: np.ndarray, second: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Theta(G) = C2 G + G C1, the tangent kernel of the network."""
    return second @ second.T @ direction + direction @ first.T @ first


def judge_step(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if abs(numbers["value"] - 2) < SECOND else Verdict.REFUTED


def tell_step(numbers: Numbers) -> str:
    return (
        f"a step of descent differs from eta (C2 G + G C1) by {numbers['rest'][0]:.1e} (itself "
        f"{numbers['first']:.1e}), which falls like eta^{numbers['value']:.3f} (claimed 2)"
    )


def measure_balanced(trial: Trial) -> dict[str, Any]:
    dim, eta = 6, 0.05
    goals, starts = np.linspace(1, 3, dim), np.full(dim, 0.2)
    rate = 2 * eta / dim**2  # the paper's step for its loss |A - Y|^2/d^2
    run = ln.gradient_descent(
        ln.Problem.from_target(np.diag(goals)), ln.inits.balanced(np.diag(starts)), learning_rate=rate, steps=1
    )
    move = np.diag(run.products[1]) - starts
    printed = misprints.balanced_step(eta, starts, goals)
    right, wrong = move / (printed * 2 / dim**2), move / printed
    return {
        "right": float(np.abs(right - 1).max()),
        "printed": float(np.abs(wrong - 1).max()),
        "share": float(wrong.mean()),
        "value": float(right.mean()),
        "uncertainty": float(np.abs(right - 1).max()),
    }


def judge_balanced(numbers: Numbers) -> Verdict:
    if numbers["printed"] < STEP:
        return Verdict.HOLDS
    return Verdict.CORRECTED if numbers["right"] < STEP else Verdict.REFUTED


def tell_balanced(numbers: Numbers) -> str:
    return (
        f"one step moves aligned balanced modes by {numbers['value']:.4f} of 4 eta/d^2 |s| (s* - s), and by "
        f"{numbers['share']:.4f} of the printed 2 eta |s| (s* - s)"
    )


def measure_stuck(trial: Trial) -> dict[str, Any]:
    draws = 400 if trial.quick else 4000
    draw = generator(trial.seed)
    goals, starts = draw.uniform(1, 3, size=draws), draw.normal(size=draws)
    balanced = ln.theories.mixed.balanced_modes(goals, starts, [60.0])[0]
    mixed = ln.theories.mixed.aligned_modes(goals, starts, 1e-4, [60.0])[0]
    # starts that are not aligned: trained, one network for each of many random square starts
    total, dim = (60 if trial.quick else 300), 3
    targets = draw.normal(size=(total, dim, dim))
    targets = np.stack([(u * np.array([3.0, 2.0, 1.0])) @ v for u, _, v in map(np.linalg.svd, targets)])
    begins = draw.normal(size=(total, dim, dim))
    whole = ln.Problem.from_target(targets)
    ends = ln.gradient_flow(whole, ln.inits.balanced(begins), times=[10.0]).products[-1]
    missing = np.linalg.norm(ends - targets, 2, axis=(1, 2)) > 0.5
    wrong = np.linalg.det(targets) * np.linalg.det(begins) < 0
    cured = ln.gradient_flow(whole, ln.inits.balanced(begins, 2e-2), times=[30.0]).products[-1]
    return {
        "freed": float((np.abs(mixed - goals) < LEARNED * goals).mean()),
        "missing": float(missing.mean()),
        "explained": float((missing == wrong).mean()),
        "second": float(np.linalg.svd(ends - targets, compute_uv=False)[:, 1].max()),
        "healed": float((np.linalg.norm(cured - targets, 2, axis=(1, 2)) < LEARNED * 3).mean()),
        "total": total,
        "value": float((np.abs(balanced) < LEARNED).mean()),
        "uncertainty": 0.5 / np.sqrt(draws),
    }


def judge_stuck(numbers: Numbers) -> Verdict:
    half = abs(numbers["value"] - 0.5) < STANDARD * numbers["uncertainty"]
    free = numbers["freed"] == 1 and numbers["healed"] == 1
    good = half and free and numbers["explained"] > EXPLAINED and numbers["second"] < ONE_MODE
    return Verdict.HOLDS if good else Verdict.REFUTED


def tell_stuck(numbers: Numbers) -> str:
    return (
        f"aligned with random signs: {numbers['value']:.3f} of the modes stuck at 0 (claimed 1/2, standard error "
        f"{numbers['uncertainty']:.3f}), {1 - numbers['freed']:.3f} with sigma^2 w = 1e-4. Random square starts, not "
        f"aligned: {numbers['missing']:.2f} of {numbers['total']} trained networks miss the target, those whose "
        f"determinant has the other sign ({numbers['explained']:.2f} of them), each by one mode only (the next error "
        f"is {numbers['second']:.0e}); {numbers['healed']:.2f} reach it with sigma^2 w = 0.01"
    )


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
    expected = ln.theories.mixed.mode_alignment(values, runs.threshold)
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
        name="lazy",
        number="section 1.4, D.1",
        sentence="Far above the product, sigma^2 w makes descent a linear recursion, and the mean test error stays "
        "above |q^t A* + (1 - q^t) E|^2.",
        assumptions="w and sigma^2 w large",
        setting="d = 10 (full: 30), 8 draws, w = 1e11 d, sigma^2 w = 10 and 100 |Y|, 30 steps of descent",
        claimed="the recursion, and the floor as printed",
        expected=Verdict.CORRECTED,
        measure=measure_lazy,
        judge=judge_lazy,
        tell=tell_lazy,
        limits={"recursion": RECURSION, "floor": FLOOR, "apart": APART},
    ),
    Claim(
        name="lazy-grams",
        number="section 1.4, footnote 1",
        sentence="In the lazy regime the parameters move enough to change A, but not enough to change C1 and C2; what "
        "changes these is nearly orthogonal to what changes A.",
        assumptions="sigma^2 w >> |Y|, w >> d",
        setting="d = 10 (full: 30), w = 1e11 d, sigma^2 w = 10, 30, 100 |Y|, 60 steps of descent",
        claimed="no change to first order in |A|/sigma^2 w",
        expected=Verdict.HOLDS,
        measure=measure_frozen,
        judge=judge_frozen,
        tell=tell_frozen,
        limits={"exponent": FROZEN, "arrived": ARRIVED},
    ),
    Claim(
        name="eq2",
        number="eq. (2), remark of section 1.5",
        sentence="A step moves A by -eta Theta(grad C) with Theta(G) = C2 G + G C1, the tangent kernel, up to "
        "O(eta^2).",
        assumptions="none",
        setting="5 x 4, width 9, one step of descent at four rates",
        claimed="a remainder of second order",
        expected=Verdict.HOLDS,
        measure=measure_step,
        judge=judge_step,
        tell=tell_step,
        limits={"order": SECOND},
    ),
    Claim(
        name="balanced-step",
        number="section 1.5",
        sentence="Aligned balanced modes move by 2 eta |s| (s* - s) a step.",
        assumptions="balanced and aligned",
        setting="6 modes, one step of descent on the paper's loss",
        claimed="2 eta |s| (s* - s)",
        expected=Verdict.CORRECTED,
        measure=measure_balanced,
        judge=judge_balanced,
        tell=tell_balanced,
        limits={"step": STEP},
    ),
    Claim(
        name="stuck-modes",
        number="section 1.5, abstract",
        sentence="Of balanced modes with random signs half get stuck at zero; the mixed dynamics converges from any "
        "start.",
        assumptions="balanced start; the half is for aligned starts",
        setting="400 aligned modes (full: 4000); 60 square starts of size 3 (full: 300)",
        claimed="half stuck, none in the mixed dynamics",
        expected=Verdict.HOLDS,
        measure=measure_stuck,
        judge=judge_stuck,
        tell=tell_stuck,
        limits={"half": STANDARD, "learned": LEARNED, "one mode": ONE_MODE, "explained": EXPLAINED},
    ),
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
