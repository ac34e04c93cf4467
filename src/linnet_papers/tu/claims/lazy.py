"""Claims on lazy dynamics (section 1.4, appendix D): the recursion, the kernel that stays, any convex cost."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Rows,
    Trial,
    Verdict,
    above,
    at_most,
    below,
    both,
    claim,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import exponent, relative_distance
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import AS_GOOD
from linnet_papers.tu.training.starts import threshold_start

WIDE = 10**11  # w/d of networks whose sigma^2 w is far above the target
FIRST_ORDER = at_most(0.05, r"$\lvert A \rvert/\sigma^2 w$ is a hundredth: five times that")
ONE_DRAW = at_most(0.1, "the start's own product, and $E$, are one draw each")


@claim(
    "lazy",
    says=r"Far above the product, $\sigma^2 w$ makes descent a linear recursion, and the mean test error stays above "
    r"$\lvert q^t A^* + (1 - q^t) E \rvert^2$.",
    assumes=r"$w$ and $\sigma^2 w$ large",
    tried=r"$d = 10$ (full: 30), 8 draws, $w = 10^{11} d$, $\sigma^2 w = 10$ and $100 \lvert Y \rvert$, 30 steps of "
    "descent",
    correction="$-q^t A^*$ in place of $+q^t A^*$",
)
def lazy_recursion(trial: Trial) -> Rows:
    dim, draws, steps = (10, 8, 30) if trial.quick else (30, 8, 30)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    size = float(np.linalg.norm(problem.cross, 2))
    gaps = []
    for share in (10.0, 100.0):
        threshold = share * size
        weights = threshold_start(dim, dim * WIDE, threshold, key=trial.seed, batch=draws)
        rate = 0.05 / threshold  # small enough that both layers' second-order term is small too
        run = ln.gradient_descent(problem, weights, learning_rate=rate, steps=steps, keep="products")
        lazy = [lazy_active.lazy_descent(problem.cross, start, threshold, rate, run.steps) for start in weights.product]
        gaps.append(np.abs(run.products - np.stack(lazy, axis=1)).max() / np.abs(problem.cross).max())
    truth = np.asarray(problem.truth)
    noise = problem.cross - truth
    remaining = (1 - 2 * rate * threshold) ** np.arange(steps + 1)  # at the larger threshold, the last
    floors = lazy_active.lazy_error_floor(truth, noise, remaining), misprints.lazy_mean(truth, noise, remaining)
    right, wrong = (np.abs(2 * run.test_loss.mean(axis=1) / floor - 1)[1:].max() for floor in floors)
    apart = "distance from the recursion over the target's largest entry"
    off = "distance of the mean test error from {} over it"
    plus, minus = r"$\lvert q^t A^* + (1 - q^t) E \rvert^2$", r"$\lvert {-q^t A^*} + (1 - q^t) E \rvert^2$"
    yield printed(f"{off.format(plus)}, over the same with $-q^t A^*$", wrong / right, AS_GOOD)
    yield both(rf"{apart}, $\sigma^2 w = 100 \lvert Y \rvert$", gaps[1], FIRST_ORDER)
    yield both(off.format(minus), right, ONE_DRAW)
    yield fact(rf"{apart}, $\sigma^2 w = 10 \lvert Y \rvert$", gaps[0])
    yield fact(off.format(plus), wrong)


ARRIVED = above(0.9, "the product has nearly arrived at the target while its kernel stays")
SECOND_ORDER = within(0.2, r"fitted over $\sigma^2 w$ from 10 to 100 times the target, with its next order", of=-2)


@claim(
    "lazy-grams",
    says="In the lazy regime the parameters move enough to change $A$, but not enough to change $C_1$ and $C_2$ (to "
    r"first order in $\lvert A \rvert/\sigma^2 w$); what changes these is nearly orthogonal to what changes $A$.",
    assumes=r"$\sigma^2 w \gg \lvert Y \rvert$, $w \gg d$",
    tried=r"$d = 10$ (full: 30), $w = 10^{11} d$, $\sigma^2 w = 10$, 30, $100 \lvert Y \rvert$, 60 steps of descent",
)
def frozen_grams(trial: Trial) -> Rows:
    dim = 10 if trial.quick else 30
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    size = float(np.linalg.norm(problem.cross, 2))
    shares = np.array([10.0, 30.0, 100.0])
    changes, moved = [], []
    for share in shares:
        threshold = share * size
        weights = threshold_start(dim, dim * WIDE, threshold, key=trial.seed)
        run = ln.gradient_descent(problem, weights, learning_rate=0.05 / threshold, steps=60, save_every=60)
        before, after = (first.T @ first for first in run.reduced.first)
        changes.append(relative_distance(after, before, 2))
        moved.append(np.linalg.norm(run.products[-1] - run.products[0], 2) / size)
    yield printed(r"how far the product moves, over $\lvert Y \rvert$", moved, ARRIVED)
    yield printed(
        r"power of $\sigma^2 w$ with which the relative change of $C_1$ falls",
        exponent(shares, changes)[0],
        SECOND_ORDER,
    )
    yield fact(
        "relative change of $C_1$",
        {rf"$\sigma^2 w = {share:g} \lvert Y \rvert$": change for share, change in zip(shares, changes, strict=True)},
    )


@claim(
    "eq2",
    says=r"A step moves $A$ by $-\eta \Theta(\nabla C)$ with $\Theta(G) = C_2 G + G C_1$, the tangent kernel, up to "
    r"$O(\eta^2)$.",
    tried=r"$5 \times 4$, width 9, one step of descent at four rates",
)
def step_of_the_product(trial: Trial) -> Rows:
    problem = ln.Problem.from_target(generator(key=trial.seed).normal(size=(5, 4)))
    weights = ln.inits.gaussian(key=trial.seed, in_dim=4, out_dim=5, width=9, stds=0.5)
    kernel = ln.observables.ntk_operator(weights, problem.cross - weights.product)
    rates = [0.04, 0.02, 0.01, 0.005]
    rest = []
    for rate in rates:
        start, end = ln.gradient_descent(problem, weights, learning_rate=rate, steps=1).products
        rest.append(np.linalg.norm(end - start - rate * kernel))
    yield printed(
        r"power of $\eta$ with which the step less $\eta (C_2 G + G C_1)$ changes",
        exponent(rates, rest)[0],
        within(0.1, "fitted over a factor of eight in the step, with its next order", of=2),
    )
    share = rest[0] / np.linalg.norm(rates[0] * kernel)
    yield fact(r"at the largest $\eta$: this rest over $\eta (C_2 G + G C_1)$", share)


def fourth_powers(gap: Any) -> Any:
    """Return the sum of fourth powers over 4: a cost that is convex, but not strongly convex."""
    return (gap**4).sum() / 4


EXPONENTIAL = below(-5.0, "an exponential falls faster than any power: its slope goes on falling, a power's stays")


@claim(
    "convex-cost",
    says="In the lazy regime convergence is exponential for any convex cost.",
    assumes=r"$\sigma^2 w$ far above the product, $w \gg d$",
    tried=r"$d = 4$, $w = 10^{11} d$, $\sigma^2 w = 1000 \lvert Y \rvert$, gradient flow to $2 \sigma^2 w t = 3000$ on "
    "the sum of the fourth powers of $A - Y$, which is convex, and on that of the squares, which is strongly so",
    expected=Verdict.REFUTED,
)
def convergence_of_convex_costs(trial: Trial) -> Rows:
    dim = 4
    target = generator(key=trial.seed).normal(size=(dim, dim))
    threshold = 1000 * float(np.linalg.norm(target, 2))
    weights = threshold_start(dim, dim * WIDE, threshold, key=trial.seed)
    quartic = ln.Problem.from_cost(lambda a: fourth_powers(a - target), in_dim=dim, out_dim=dim)
    times = np.geomspace(300, 3000, 5) / (2 * threshold)
    left = np.linalg.norm(ln.gradient_flow(quartic, weights, times=times).products - target, axis=(1, 2))
    square = ln.gradient_flow(ln.Problem.from_target(target), weights, times=[12 / (2 * threshold)]).products[-1]
    yield printed(
        r"fourth powers: late slope of $\ln \lvert A - Y \rvert$ in $\ln t$", exponent(times, left)[0], EXPONENTIAL
    )
    yield fact("the slope of $dA/dt = -2 \\sigma^2 w (A - Y)^3$, which is $t^{-1/2}$", -0.5)
    share = np.linalg.norm(square - target) / np.linalg.norm(weights.product - target)
    yield fact(r"squares: $\lvert A - Y \rvert$ over that of the start at $2 \sigma^2 w t = 12$", share)
