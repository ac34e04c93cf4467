"""Claims on balanced dynamics (section 1.5): modes that decouple, get stuck, and are learned one by one."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Estimate,
    Range,
    Rows,
    Trial,
    above,
    at_least,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import exponent, highest, relative_distance
from linnet_papers.tu import misprints

STEP = within(0.02, "one step at rate $2 \\eta/d^2$, whose second-order term is a quarter of a per cent", of=1)
ALL = at_least(1.0, "the sentence says that all of them converge")
DIM = 6  # of the network whose steps are compared with one step of each mode
LEARNED = 1e-3  # of the largest singular value: what is left of a target that was reached
DECOUPLED = below(1e-10, "rounding in 300 steps of modes of one size")


@claim(
    "balanced-step",
    says=r"Aligned starts stay aligned: modes decouple, and balanced ones move by $2 \eta \lvert s \rvert (s^* - s)$ a "
    "step.",
    assumes="balanced and aligned, small step",
    tried=r"6 modes in random singular vectors, one step of descent on the paper's loss, and 300; $s^*$ up to the "
    r"largest, $\eta s^*$ up to eta, $s$ from start $\cdot s^*$",
    correction=r"$4 \eta d^{-2} \lvert s \rvert (s^* - s)$, for the loss $\lvert A - Y \rvert^2/d^2$",
    region={
        "eta": Range(0.005, 0.05, log=True),
        "largest": Range(0.3, 30, log=True),
        "start": Range(0.01, 2.5, log=True),
    },
)
def balanced_step(trial: Trial) -> Rows:
    found = {name: decoupled_steps(**setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    share, off = ({name: own[i] for name, own in found.items()} for i in range(2))
    step = r"one step over {} $\lvert s \rvert (s^* - s)$, of the mode farthest off"
    yield printed(step.format(r"$2 \eta$"), {name: one * 2 / DIM**2 for name, one in share.items()}, STEP)
    yield corrected(step.format(r"$4 \eta d^{-2}$"), share, STEP)
    yield both("largest entry off the diagonal after 300 steps, over the largest singular value", off, DECOUPLED)


def decoupled_steps(eta: float, largest: float, start: float, seed: int) -> tuple[float, float]:
    """Return the step of a mode over 4 eta/d^2 |s| (s* - s), and what is off the diagonal after 300 steps."""
    goals = largest * np.linspace(0.3, 1, DIM)
    starts = start * goals
    rate = 2 * eta / largest / DIM**2  # the paper's step for its loss |A - Y|^2/d^2
    draw = generator(key=seed)
    left, right = (np.linalg.qr(draw.normal(size=(DIM, DIM)))[0] for _ in range(2))
    target, product = ((left * values) @ right.T for values in (goals, starts))
    run = ln.gradient_descent(ln.Problem.from_target(target), ln.inits.balanced(product), learning_rate=rate, steps=300)
    modes = left.T @ run.products @ right
    shares = (np.diag(modes[1]) - starts) / misprints.balanced_step(eta / largest, starts, goals) * DIM**2 / 2
    off = np.abs(modes[-1] - np.diag(np.diag(modes[-1]))).max() / largest
    return float(shares[np.abs(shares - 1).argmax()]), float(off)


HALF = within(0.0, "one draw in 16 000 lies beyond so many standard errors of a share", of=0.5, errors=4)
TELLS = above(0.98, "a start whose determinant is nearly zero may not have decided yet")
ONE_MODE = below(0.01, "small beside the missing mode, 1 to 3: each network that fails misses one mode only")


@claim(
    "stuck-modes",
    says="Of balanced modes with random signs half get stuck at zero; the mixed dynamics converges from any "
    "initialization.",
    assumes="balanced initialization; the half is for aligned initializations",
    tried="400 aligned modes (full: 4000); 60 random square starts of size 3 (full: 300), not aligned",
)
def stuck_modes(trial: Trial) -> Rows:
    draws = 400 if trial.quick else 4000
    draw = generator(key=trial.seed)
    goals, starts = draw.uniform(1, 3, size=draws), draw.normal(size=draws)
    balanced = lazy_active.balanced_modes(goals, starts, [60.0])[0]
    freed = lazy_active.aligned_modes(goals, starts, 1e-4, [60.0])[0]
    # starts that are not aligned: trained, one network for each of many random square initializations
    total, dim = (60 if trial.quick else 300), 3
    left, _, right = np.linalg.svd(draw.normal(size=(total, dim, dim)))
    targets, begins = (left * [3.0, 2.0, 1.0]) @ right, draw.normal(size=(total, dim, dim))
    whole = ln.Problem.from_target(targets)
    ends = ln.gradient_flow(whole, ln.inits.balanced(begins), times=[10.0]).products[-1]
    missing = np.linalg.norm(ends - targets, 2, axis=(1, 2)) > 0.5
    wrong = np.linalg.det(targets) * np.linalg.det(begins) < 0
    cured = ln.gradient_flow(whole, ln.inits.balanced(begins, 2e-2), times=[30.0]).products[-1]
    stuck = Estimate((np.abs(balanced) < LEARNED).mean(), 0.5 / np.sqrt(draws))
    yield printed("share of aligned modes that get stuck at 0", stuck, HALF)
    converged = (np.abs(freed - goals) < LEARNED * goals).mean()
    yield printed(r"share of aligned modes that converge with $\sigma^2 w = 10^{-4}$", converged, ALL)
    healed = (np.linalg.norm(cured - targets, 2, axis=(1, 2)) < LEARNED * 3).mean()
    yield printed(r"share of random square initializations that converge with $\sigma^2 w = 0.01$", healed, ALL)
    yield printed(
        r"share of square initializations that miss the target just if $\det A(0)$ and $\det A^*$ have other signs",
        (missing == wrong).mean(),
        TELLS,
    )
    second = np.linalg.svd(ends - targets, compute_uv=False)[:, 1].max()
    yield printed("largest second singular value of what is missing", second, ONE_MODE)
    yield fact("share of random square initializations that miss the target", missing.mean())


GRAMS = below(1e-7, "the flow is integrated to $10^{-9}$ of the weights")
VELOCITY = below(1e-4, r"central differences over $2 \cdot 10^{-4}$ of a smooth flow")


@claim(
    "balanced-flow",
    says=r"Balanced layers have $C_1 = \sqrt{A^\top A}$ and $C_2 = \sqrt{A A^\top}$, and $A$ follows the balanced "
    r"dynamics, eq. (1) with $\sigma^2 w = 0$.",
    assumes="balanced initialization",
    tried="three random initializations and targets of 6 outputs and 4 inputs, gradient flow",
)
def balanced_flow(trial: Trial) -> Rows:
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
    yield printed(
        r"largest distance of the Gram matrices from $\sqrt{A^\top A}$ and $\sqrt{A A^\top}$", highest(grams), GRAMS
    )
    yield printed(
        r"relative distance of the flow's velocity from $\sqrt{A A^\top} G + G \sqrt{A^\top A}$",
        highest(apart),
        VELOCITY,
    )


BACKWARD = at_most(1e-6, "none but rounding, which the saddle at 0 has amplified by up to $e^{28}$")
ARRIVED = below(1e-3, "what is left of an exponential that falls like $e^{-t}$ or faster to $t = 7$")


@claim(
    "monotone-modes",
    says="Aligned balanced modes that start in $(0, s^*]$ grow monotonically to $s^*$, those above $s^*$ fall "
    "monotonically to it, and those that start below 0 rise to 0.",
    assumes="balanced and aligned, small step",
    tried="targets 1, 2, 3 and 4, starts of $-2$, $-1$, $-0.1$, 0.01, 0.5, 1 and 2 times each: 1400 steps of descent "
    "($t = 7$)",
)
def monotone_modes(trial: Trial) -> Rows:
    goals, shares = np.meshgrid(np.arange(1.0, 5.0), [-2.0, -1.0, -0.1, 0.01, 0.5, 1.0, 2.0])
    goals, starts = goals.ravel(), (shares * goals).ravel()
    problem = ln.Problem.from_target(np.diag(goals))
    weights = ln.inits.balanced(np.diag(starts))
    run = ln.gradient_descent(problem, weights, learning_rate=0.005, steps=1400, save_every=10)
    modes = np.einsum("tii->ti", run.products)
    left = np.abs(modes - np.where(starts > 0, goals, 0.0)) / goals
    yield printed(
        "largest step of a mode away from its end, over its target", max(np.diff(left, axis=0).max(), 0.0), BACKWARD
    )
    yield printed("largest distance from the end that is claimed, over the target", left[-1].max(), ARRIVED)


ZERO = below(0.05, "'basically zero': a twentieth of its target")


@claim(
    "one-by-one",
    says="From equal small initializations the modes are learned one by one, the largest first: it converges "
    "while the others "
    "are still basically zero.",
    assumes="balanced and positively aligned, small initialization",
    tried="targets 4, 3, 2, 1 (ratios 0.75, 0.67, 0.5), starts $10^{-4}$, $10^{-8}$, $10^{-12}$, gradient flow",
)
def modes_one_by_one(trial: Trial) -> Rows:
    goals, starts = np.array([4.0, 3.0, 2.0, 1.0]), (1e-4, 1e-8, 1e-12)
    problem = ln.Problem.from_target(np.diag(goals))
    next_shares: dict[str, list[float]] = {f"$s^* = {goal:g}$": [] for goal in goals[1:]}  # of each mode, by start
    for start in starts:
        times = np.linspace(0.0, 1.3 * np.log(1 / start) / 2, 65)[1:]
        run = ln.gradient_flow(problem, ln.inits.balanced(start * np.eye(4)), times=times)
        shares = np.clip(np.einsum("tii->ti", run.products) / goals, 1e-300, 1 - 1e-12)
        logit = np.log(shares / (1 - shares))  # a mode's own is straight in time
        for i, own in enumerate(next_shares.values()):
            reached = np.interp(np.log(9), logit[:, i], times)
            own.append(np.exp(np.interp(reached, times, np.log(shares[:, i + 1]))))
    slopes = [exponent(starts, own)[0] for own in next_shares.values()]
    why = "half of what follows from $s_0^{1 - s^*_{i + 1}/s^*_i}$, whatever the constant"
    following = "share of its target that the next mode has when one has nine tenths of its own"
    yield printed(f"{following}, from $10^{{-12}}$", {name: own[-1] for name, own in next_shares.items()}, ZERO)
    yield printed(
        "excess of its power of $s_0$ over $(1 - s^*_{i + 1}/s^*_i)/2$",
        slopes - 0.5 * (1 - goals[1:] / goals[:-1]),
        above(0.0, why),
    )
    yield fact(f"{following}, from $10^{{-4}}$", {name: own[0] for name, own in next_shares.items()})
