"""Claims on discrete steps and on the start: descent against flow, its size, and its distance to eq. (1)."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu import misprints
from linnet.papers.tu.tables import regions
from linnet.randomness import generator
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest, lowest
from linnet.reproduction.old_claim import old as Claim

BOUND = Limit(1.0, "a bound is kept or it is not")
FIRST = Limit(0.1, "of an order of 1, between 200 and 400 steps")
LARGEST = 2.0  # the least c the paper names: its largest step
EDGE = 1.05  # c of a step a twentieth below the one at which the leading mode no longer converges
POWER = Limit(-0.7, "of the squared distance in w: claimed O(d/w), that is -1")
CLOSE = Limit(0.05, "of |Y|, at the largest width")
STANDARD = Limit(5.0, "standard errors of a variance")
EDGES = Limit(0.3, "of the edge of the singular values, 2 sigma^2 sqrt(wd): several times its next order, d^(-2/3)")
SAME_MEDIAN = Limit(1.25, "largest over least median: the law of the singular values still changes at w = 10 d")


def right_bound(step: float, k: int) -> float:
    """Lemma F.1 with k for k - 1, C0 = C1 = 1."""
    return misprints.descent_bound(step, k + 1)


def measure_steps(trial: Trial) -> dict[str, Any]:
    # |cos| <= 1 and |sin| <= 1 are the constants of the lemma; the flow of da/dt = cos a from 0 is the Gudermannian
    printed, right = [], []
    for step in (0.5, 0.1, 0.02):
        place = 0.0
        for k in range(1, 60):
            place += step * np.cos(place)
            gap = abs(place - 2 * np.arctan(np.tanh(k * step / 2)))
            printed.append(gap - misprints.descent_bound(step, k))
            right.append(gap / right_bound(step, k))
    draw = generator(trial.seed)
    target, start = draw.normal(size=(6, 6)), 0.3 * draw.normal(size=(6, 6))
    exact = ln.theories.mixed.self_consistent(target, start, 0.2, [1.0])[0]
    errors = []
    for steps in (100, 200, 400):
        run = ln.gradient_descent(
            ln.Problem.from_target(target),
            ln.inits.balanced(start, 0.4),
            learning_rate=1 / steps,
            steps=steps,
            save_every=steps,
        )
        errors.append(float(np.linalg.norm(run.products[-1] - exact)))
    return {"printed": highest(printed), "right": highest(right), "value": float(np.log2(errors[1] / errors[2]))}


def judge_steps(numbers: Numbers) -> Verdict:
    if numbers["right"] > BOUND or abs(numbers["value"] - 1) > FIRST:
        return Verdict.REFUTED
    return Verdict.CORRECTED if numbers["printed"] > 0 else Verdict.HOLDS


def tell_steps(numbers: Numbers) -> str:
    return (
        f"for da/dt = cos a the printed bound, with k - 1, is exceeded by up to {numbers['printed']:.3f} (it is 0 "
        f"after one step), with k the error is at most {numbers['right']:.2f} of it; descent on a network approaches "
        f"its flow with order {numbers['value']:.3f}"
    )


def measure_bounded(trial: Trial) -> dict[str, Any]:
    dim = 40 if trial.quick else 100
    task = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed, spectrum=[1.0, 0.5])
    truth = np.asarray(task.truth)
    limit = 10 * float((truth**2).sum() + ((task.cross - truth) ** 2).sum())
    size, shares = float(np.linalg.norm(task.cross, 2)), {}
    for name, gammas in (("active", (-1.85, 2.25)), ("lazy", (-1.25, 2.4))):
        std, width = float(dim ** (gammas[0] / 2)), round(dim ** gammas[1])
        weights = ln.inits.reduced_gaussian(
            trial.seed + 1, in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std
        )
        fastest = float(np.hypot(size, std**2 * width))  # the leading mode converges below a rate of one over this
        for c in (LARGEST, EDGE):
            run = ln.gradient_descent(
                task, weights, learning_rate=1 / (c * fastest), steps=200, keep="products", throw=False
            )
            shares[f"{name}, c = {c:g}"] = float((run.products**2).sum(axis=(1, 2)).max()) / limit
    return {"shares": shares, "value": highest(shares.values())}


def judge_bounded(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] <= BOUND else Verdict.REFUTED


def tell_bounded(numbers: Numbers) -> str:
    parts = ", ".join(f"{share:.3f} ({name})" for name, share in numbers["shares"].items())
    return (
        f"largest |A|^2 over descent at the paper's largest step, c = 2, and at the edge of what converges: {parts}, "
        "of 10 (|A*|^2 + |E|^2)"
    )


def measure_distance(trial: Trial) -> dict[str, Any]:
    dim, found = regions.diagram(trial)
    powers, squared = found["powers"].gamma_width, np.median(found["powers"].distance, axis=1)
    rate, error = exponent(dim**powers, squared)
    return {
        "dim": dim,
        "powers": powers.tolist(),
        "relative": np.sqrt(squared / 2).tolist(),  # |Y|^2/d^2 is about 2
        "value": rate,
        "uncertainty": error,
    }


def judge_distance(numbers: Numbers) -> Verdict:
    good = numbers["value"] < POWER and numbers["relative"][-1] < CLOSE
    return Verdict.HOLDS if good else Verdict.REFUTED


def tell_distance(numbers: Numbers) -> str:
    relative = ", ".join(f"{r:.1%}" for r in numbers["relative"])
    return (
        f"largest distance between descent and eq. (1) over the run: {relative} of |Y| at w = "
        f"d^{', d^'.join(map(str, numbers['powers']))} (d = {numbers['dim']}, sigma^2 w = d^0.4); its square falls "
        f"like w^{numbers['value']:.2f}"
    )


def measure_start(trial: Trial) -> dict[str, Any]:
    dim, std, draws = 8, 0.3, 200
    widths = (100, 1000, 10_000)
    ratios, printed = [], []
    for width in widths:
        weights = ln.inits.reduced_gaussian(
            [trial.seed, width], in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std, batch=draws
        )
        variance = float((weights.product**2).mean())
        ratios.append(variance / (std**4 * width))
        printed.append(variance / misprints.start_variance(std, width))
    rate, _ = exponent(np.array(widths, dtype=float), np.array(ratios) * np.array(widths))
    return {
        "ratios": ratios,
        "printed": printed,
        "rate": rate,
        "value": float(np.mean(ratios)),
        "uncertainty": float(np.sqrt(2 / (draws * dim**2)) * 1.5),  # entries of a product have heavier tails
    }


def judge_start(numbers: Numbers) -> Verdict:
    near = {
        part: highest(abs(ratio - 1) for ratio in numbers[part]) < STANDARD * numbers["uncertainty"]
        for part in ("ratios", "printed")
    }
    return Verdict.HOLDS if near["printed"] else Verdict.CORRECTED if near["ratios"] else Verdict.REFUTED


def tell_start(numbers: Numbers) -> str:
    return (
        f"variance of an entry of A(0) over sigma^4 w: {', '.join(f'{r:.3f}' for r in numbers['ratios'])} (standard "
        f"error {numbers['uncertainty']:.3f}; it grows like w^{numbers['rate']:.3f}), so it is infinite for 2 "
        "gamma_sigma2 + gamma_w > 0, without the introduction's + 1; sigma^2 sqrt(w) is the standard deviation, not "
        "(E.3) the variance"
    )


def measure_values(trial: Trial) -> dict[str, Any]:
    edges, medians = [], []
    for dim in (50, 100) if trial.quick else (100, 200, 400):
        for ratio in (10, 1000):
            width, std = dim * ratio, 0.01
            weights = ln.inits.reduced_gaussian(
                [trial.seed, dim, ratio], in_dim=dim, out_dim=dim, width=width, first_std=std, second_std=std
            )
            values = np.linalg.svd(weights.product, compute_uv=False) / (std**2 * np.sqrt(width * dim))
            edges.append(float(values[0]))
            medians.append(float(np.median(values)))
    return {"edges": edges, "medians": medians, "value": highest(abs(edge / 2 - 1) for edge in edges)}


def judge_values(numbers: Numbers) -> Verdict:
    same = highest(numbers["medians"]) < SAME_MEDIAN * lowest(numbers["medians"])
    return Verdict.HOLDS if numbers["value"] < EDGES and same else Verdict.REFUTED


def tell_values(numbers: Numbers) -> str:
    return (
        f"largest singular value of A(0) over sigma^2 sqrt(wd): {lowest(numbers['edges']):.2f} to "
        f"{highest(numbers['edges']):.2f} (2 for w >> d), median {lowest(numbers['medians']):.2f} to "
        f"{highest(numbers['medians']):.2f}, at w = 10 d and 1000 d: all below sigma^2 w, so all lazy"
    )


CLAIMS = [
    Claim(
        name="lemma-f1",
        number="Lemma F.1",
        sentence="Descent stays within ((1 + eta C1)^(k-1) - 1) eta C0/2 of the flow after k steps.",
        assumptions="|F| <= C0, |grad F| <= C1",
        setting="da/dt = cos a with three steps; a 6 x 6 network with 100 .. 400 steps",
        claimed="with k - 1",
        expected=Verdict.CORRECTED,
        measure=measure_steps,
        judge=judge_steps,
        tell=tell_steps,
        limits={"bound": BOUND, "order": FIRST},
    ),
    Claim(
        name="lemma-f2",
        number="Lemma F.2",
        sentence="|A|^2 stays below 10 (|A*|^2 + |E|^2) in both regimes.",
        assumptions="step small",
        setting="200 steps of descent at d = 40 (full: 100), a = (1, 1/2), at c = 2 and at the edge of stability",
        claimed="at most 1",
        expected=Verdict.HOLDS,
        measure=measure_bounded,
        judge=judge_bounded,
        tell=tell_bounded,
        limits={"bound": BOUND},
    ),
    Claim(
        name="eq1",
        number="eq. (1), Figures 1 and 2",
        sentence="Descent of a wide Gaussian network follows the self-consistent dynamics.",
        assumptions="w >> d, small step",
        setting="d = 30 (full: 100), rank 3, sigma^2 w = d^0.4, c = 50, w = d^1.3 .. d^2.8",
        claimed="a small distance",
        expected=Verdict.HOLDS,
        measure=measure_distance,
        judge=judge_distance,
        tell=tell_distance,
        limits={"power of w": POWER, "close": CLOSE},
    ),
    Claim(
        name="start",
        number="introduction, section 2.1, E.3",
        sentence="Entries of A(0) have infinite variance for 2 gamma_sigma2 + gamma_w + 1 > 0; the variance is "
        "sigma^2 sqrt(w).",
        assumptions="iid Gaussian weights",
        setting="d = 8, 200 draws at w = 100, 1000, 10000",
        claimed="as printed",
        expected=Verdict.CORRECTED,
        measure=measure_start,
        judge=judge_start,
        tell=tell_start,
        limits={"standard errors": STANDARD},
    ),
    Claim(
        name="start-values",
        number="section 2, C.2",
        sentence="At initialization the singular values are of size sigma^2 sqrt(wd), far below sigma^2 w for w >> d.",
        assumptions="iid Gaussian weights, w >> d",
        setting="d = 50, 100 (full: 100, 200, 400), w = 10 d and 1000 d",
        claimed="of order one",
        expected=Verdict.HOLDS,
        measure=measure_values,
        judge=judge_values,
        tell=tell_values,
        limits={"edge": EDGES, "medians": SAME_MEDIAN},
    ),
]
