"""Claims on balanced dynamics (section 1.5): modes that decouple, get stuck, and are learned one by one."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Above, AllOf, AtLeast, AtMost, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import exponent, highest, relative_distance
from linnet_papers.tu import misprints

STEP = Limit(0.02, "one step at rate 2 eta/d^2, whose second-order term is a quarter of a per cent")
ALL = Limit(1.0, "the sentence says that all of them converge")
LEARNED = 1e-3  # of the largest singular value: what is left of a target that was reached
DECOUPLED = Below(
    1e-10,
    "off",
    what="largest entry off the diagonal after 300 steps",
    form=".0e",
    because="rounding, in modes of 1 to 3",
)


@claim(
    "balanced-step",
    says="Aligned starts stay aligned: modes decouple, and balanced ones move by 2 eta |s| (s* - s) a step.",
    assumes="balanced and aligned",
    tried="6 modes in random singular vectors, one step of descent on the paper's loss, and 300",
    holds=Within(STEP, "printed", of=1, what="one step over 2 eta |s| (s* - s)", form=".4g") & DECOUPLED,
    corrected=Within(STEP, "right", of=1, what="one step over 4 eta/d^2 |s| (s* - s)", form=".4g") & DECOUPLED,
    correction="4 eta/d^2 |s| (s* - s), for the loss |A - Y|^2/d^2",
    reads="one step moves aligned balanced modes by {right.lowest:.4f} to {right.highest:.4f} of 4 eta/d^2 |s| (s* - "
    "s); after 300 steps they are {off:.0e} off the diagonal",
)
def balanced_step(trial: Trial) -> Numbers:
    dim, eta = 6, 0.05
    goals, starts = np.linspace(1, 3, dim), np.full(dim, 0.2)
    rate = 2 * eta / dim**2  # the paper's step for its loss |A - Y|^2/d^2
    draw = generator(key=trial.seed)
    left, right = (np.linalg.qr(draw.normal(size=(dim, dim)))[0] for _ in range(2))
    target, start = ((left * values) @ right.T for values in (goals, starts))
    run = ln.gradient_descent(ln.Problem.from_target(target), ln.inits.balanced(start), learning_rate=rate, steps=300)
    modes = left.T @ run.products @ right
    printed = (np.diag(modes[1]) - starts) / misprints.balanced_step(eta, starts, goals)
    off = np.abs(modes[-1] - np.diag(np.diag(modes[-1]))).max()
    return {"right": printed * dim**2 / 2, "printed": printed, "off": off}


@claim(
    "stuck-modes",
    says="Of balanced modes with random signs half get stuck at zero; the mixed dynamics converges from any start.",
    assumes="balanced start; the half is for aligned starts",
    tried="400 aligned modes (full: 4000); 60 square starts of size 3 (full: 300)",
    holds=AllOf(
        Within(
            4.0,
            of=0.5,
            times="uncertainty",
            what="share of aligned modes stuck at 0",
            because="standard errors of a share: one run in 16000 exceeds it by chance",
        ),
        AtLeast(ALL, "freed", what="share of aligned modes that converge with sigma^2 w = 1e-4"),
        AtLeast(ALL, "healed", what="share of random starts that converge with sigma^2 w = 0.01"),
        Above(
            0.98,
            "explained",
            what="share of random starts whose determinants tell whether they miss the target",
            because="those whose determinant is nearly zero may not have decided yet",
            then="networks miss the target where the determinants have other signs",
        ),
        Below(
            0.01,
            "second",
            what="second singular value of what is missing",
            form=".0e",
            because="small beside the missing mode, 1 to 3, where one mode is stuck",
            then="each misses one mode only",
        ),
    ),
    reads="aligned with random signs: {value:.3f} of the modes stuck at 0 (standard error {uncertainty:.3f}), "
    "{freed:.3f} of them converge with sigma^2 w = 1e-4. Random square starts, not aligned: {missing:.2f} of {total} "
    "trained networks miss the target, {healed:.2f} reach it with sigma^2 w = 0.01",
)
def stuck_modes(trial: Trial) -> Numbers:
    draws = 400 if trial.quick else 4000
    draw = generator(key=trial.seed)
    goals, starts = draw.uniform(1, 3, size=draws), draw.normal(size=draws)
    balanced = lazy_active.balanced_modes(goals, starts, [60.0])[0]
    freed = lazy_active.aligned_modes(goals, starts, 1e-4, [60.0])[0]
    # starts that are not aligned: trained, one network for each of many random square starts
    total, dim = (60 if trial.quick else 300), 3
    left, _, right = np.linalg.svd(draw.normal(size=(total, dim, dim)))
    targets, begins = (left * [3.0, 2.0, 1.0]) @ right, draw.normal(size=(total, dim, dim))
    whole = ln.Problem.from_target(targets)
    ends = ln.gradient_flow(whole, ln.inits.balanced(begins), times=[10.0]).products[-1]
    missing = np.linalg.norm(ends - targets, 2, axis=(1, 2)) > 0.5
    wrong = np.linalg.det(targets) * np.linalg.det(begins) < 0
    cured = ln.gradient_flow(whole, ln.inits.balanced(begins, 2e-2), times=[30.0]).products[-1]
    return {
        "freed": (np.abs(freed - goals) < LEARNED * goals).mean(),
        "missing": missing.mean(),
        "explained": (missing == wrong).mean(),
        "second": np.linalg.svd(ends - targets, compute_uv=False)[:, 1].max(),
        "healed": (np.linalg.norm(cured - targets, 2, axis=(1, 2)) < LEARNED * 3).mean(),
        "total": total,
        "value": (np.abs(balanced) < LEARNED).mean(),
        "uncertainty": 0.5 / np.sqrt(draws),
    }


@claim(
    "balanced-flow",
    says="Balanced layers have C1 = sqrt(A^T A) and C2 = sqrt(A A^T), and A follows the balanced dynamics, eq. (1) "
    "with sigma^2 w = 0.",
    assumes="balanced start",
    tried="three random starts and targets of 6 outputs and 4 inputs, gradient flow",
    holds=AllOf(
        Below(
            1e-7, "grams", what="largest distance of the Gram matrices", form=".0e", because="a flow integrated to 1e-9"
        ),
        Below(
            1e-4,
            what="distance of the flow's velocity from the balanced one, relative",
            form=".0e",
            because="central differences over 2e-4 of a smooth flow",
        ),
    ),
    reads="Gram matrices are sqrt(A^T A) and sqrt(A A^T) to {grams:.0e} along the flow; its velocity is sqrt(AA^T) G "
    "+ G sqrt(A^T A) to {value:.0e}",
)
def balanced_flow(trial: Trial) -> Numbers:
    from scipy.linalg import polar

    step = 1e-4
    grams, apart = [], []
    targets, starts = generator(key=trial.seed).normal(size=(2, 3, 6, 4))
    problem = ln.Problem.from_target(targets)
    times = [0.3 - step, 0.3, 0.3 + step]
    run = ln.gradient_flow(problem, ln.inits.balanced(starts), times=times, rtol=1e-10)
    for i, target in enumerate(targets):
        before, product, after = run.products[:, i]
        roots = polar(product.T)[1], polar(product)[1]  # sqrt(A A^T) and sqrt(A^T A)
        first, second = run.weights.first[1, i], run.weights.second[1, i]
        grams += [np.abs(first.T @ first - roots[1]).max(), np.abs(second @ second.T - roots[0]).max()]
        velocity = roots[0] @ (target - product) + (target - product) @ roots[1]
        apart.append(relative_distance((after - before) / (2 * step), velocity))
    return {"grams": highest(grams), "value": highest(apart)}


@claim(
    "monotone-modes",
    says="Aligned balanced modes that start in (0, s*] grow monotonically to s*, those above s* fall monotonically to "
    "it, and those that start below 0 rise to 0.",
    assumes="balanced and aligned, small step",
    tried="targets 1, 2, 3 and 4, starts of -2, -1, -0.1, 0.01, 0.5, 1 and 2 times each: 1400 steps of descent (t = 7)",
    holds=AllOf(
        AtMost(
            1e-6,
            "backward",
            what="largest step away from the end",
            form=".0e",
            because="a monotone sequence has none, up to rounding that the saddle at 0 has amplified e^28-fold",
        ),
        Below(
            1e-3,
            what="largest distance from the end that is claimed, over the target",
            form=".0e",
            because="what is left of an exponential after a long descent",
        ),
    ),
    reads="{modes} modes: the largest step away from the claimed end is {backward:.0e}, and at most {value:.0e} of the "
    "target is left at the end",
)
def monotone_modes(trial: Trial) -> Numbers:
    goals, shares = np.meshgrid(np.arange(1.0, 5.0), [-2.0, -1.0, -0.1, 0.01, 0.5, 1.0, 2.0])
    goals, starts = goals.ravel(), (shares * goals).ravel()
    problem = ln.Problem.from_target(np.diag(goals))
    weights = ln.inits.balanced(np.diag(starts))
    run = ln.gradient_descent(problem, weights, learning_rate=0.005, steps=1400, save_every=10)
    modes = np.einsum("tii->ti", run.products)
    left = np.abs(modes - np.where(starts > 0, goals, 0.0)) / goals
    return {"modes": goals.size, "backward": max(np.diff(left, axis=0).max(), 0.0), "value": left[-1].max()}


@claim(
    "one-by-one",
    says="From equal small starts the modes are learned one by one, the largest first: it converges while the others "
    "are still basically zero.",
    assumes="balanced and positively aligned, small start",
    tried="targets 4, 3, 2, 1 (ratios 0.75, 0.67, 0.5), starts 1e-4, 1e-8, 1e-12, gradient flow",
    holds=AllOf(
        Below(
            0.05,
            "next",
            what="share of the next mode when one has nine tenths of its target, from 1e-12",
            because="'basically zero': a twentieth",
        ),
        Above(
            0.0,
            "margin",
            what="least excess of the exponent in the start over half of 1 - s*_(i+1)/s*_i",
            because="s_(i+1) is about s0^(1 - s*_(i+1)/s*_i), whatever the constant",
        ),
    ),
    reads="when a mode has nine tenths of its target, the next one has {next:.1e} of its own, from 1e-12; from 1e-4, "
    "{early:.1e}",
)
def modes_one_by_one(trial: Trial) -> Numbers:
    goals, starts = np.array([4.0, 3.0, 2.0, 1.0]), (1e-4, 1e-8, 1e-12)
    problem = ln.Problem.from_target(np.diag(goals))
    next_shares: dict[str, list[float]] = {f"s* = {goal:g}": [] for goal in goals[1:]}  # of each mode, by start
    for start in starts:
        times = np.linspace(0.0, 1.3 * np.log(1 / start) / 2, 65)[1:]
        run = ln.gradient_flow(problem, ln.inits.balanced(start * np.eye(4)), times=times)
        shares = np.clip(np.einsum("tii->ti", run.products) / goals, 1e-300, 1 - 1e-12)
        logit = np.log(shares / (1 - shares))  # a mode's own is straight in time
        for i, own in enumerate(next_shares.values()):
            reached = np.interp(np.log(9), logit[:, i], times)
            own.append(np.exp(np.interp(reached, times, np.log(shares[:, i + 1]))))
    slopes = [exponent(starts, own)[0] for own in next_shares.values()]
    return {
        "next": {name: own[-1] for name, own in next_shares.items()},
        "early": {name: own[0] for name, own in next_shares.items()},
        "margin": slopes - 0.5 * (1 - goals[1:] / goals[:-1]),
    }
