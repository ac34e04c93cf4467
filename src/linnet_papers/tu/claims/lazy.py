"""Claims on lazy dynamics (section 1.4, appendix D): the recursion, the kernel that stays, any convex cost."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Range,
    Rows,
    Trial,
    Verdict,
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
from linnet_papers.reproduction.fits import exponent, first_index, relative_distance
from linnet_papers.tu import misprints
from linnet_papers.tu.training.starts import threshold_start

WIDE = 10**11  # w/d of networks whose sigma^2 w is far above the target
FIRST_ORDER = at_most(0.05, r"$\lvert A \rvert/\sigma^2 w$ is a hundredth: five times that")
AS_GOOD = at_most(2.0, "if the printed formula were right, it would be as near as the other one, up to chance")
ONE_DRAW = at_most(0.1, "the initialization's own product, and $E$, are one draw each")


@claim(
    "lazy",
    says=r"Far above the product, $\sigma^2 w$ makes descent a linear recursion, and the mean test error stays above "
    r"$\lvert q^t A^* + (1 - q^t) E \rvert^2$.",
    assumes=r"$w$ and $\sigma^2 w$ large",
    tried=r"$d = 10$ (full: 30), 8 draws, $w = 10^{11} d$, 30 steps of descent; share: $\sigma^2 w/\lvert Y \rvert$",
    correction="$-q^t A^*$ in place of $+q^t A^*$",
    region={
        "share": Range(100, 1000, log=True),
        "noise_std": Range(0.1, 10, log=True),
        "rank": Range(1, 5, whole=True),
    },
)
def lazy_recursion(trial: Trial) -> Rows:
    dim = 10 if trial.quick else 30
    found = {name: lazy_distances(dim, **setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    apart, right, wrong = ({name: own[i] for name, own in found.items()} for i in range(3))
    off = "relative distance of the mean test error from"
    plus, minus = r"$\lvert q^t A^* + (1 - q^t) E \rvert^2$", r"$\lvert {-q^t A^*} + (1 - q^t) E \rvert^2$"
    yield both("distance of the products from the recursion over the target's largest entry", apart, FIRST_ORDER)
    over = {name: one / right[name] for name, one in wrong.items()}
    yield printed(f"{off} {plus}, over that from {minus}", over, AS_GOOD)
    yield corrected(f"{off} {minus}", right, ONE_DRAW)
    yield fact(f"{off} {plus}", wrong)


def lazy_distances(dim: int, share: float, noise_std: float, rank: int, seed: int) -> tuple[float, float, float]:
    """Return the distance of descents from the recursion, and that of their mean test error from both formulas."""
    problem = ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=noise_std, key=seed)
    threshold = share * float(np.linalg.norm(problem.cross, 2))
    weights = threshold_start(dim, dim * WIDE, threshold, key=seed, batch=8)
    rate = 0.05 / threshold  # small enough that both layers' second-order term is small too
    run = ln.gradient_descent(problem, weights, learning_rate=rate, steps=30, keep="products")
    lazy = [lazy_active.lazy_descent(problem.cross, start, threshold, rate, run.steps) for start in weights.product]
    apart = np.abs(run.products - np.stack(lazy, axis=1)).max() / np.abs(problem.cross).max()
    truth = np.asarray(problem.truth)
    of = truth, problem.cross - truth, (1 - 2 * rate * threshold) ** np.arange(31)
    right, wrong = (
        float(np.abs(2 * run.test_loss.mean(axis=1) / floor - 1)[1:].max())
        for floor in (lazy_active.lazy_error_floor(*of), misprints.lazy_mean(*of))
    )
    return float(apart), right, wrong


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
    yield fact(r"squares: $\lvert A - Y \rvert$ over that of the initialization at $2 \sigma^2 w t = 12$", share)


HALF = at_least(1.0, "the half that the proof has on the way to its third")
ROUNDED = at_least(0.99, "the share that the proof leaves for $B_0$")


@claim(
    "prop-d1-half",
    says=r"The linear dynamics stay at $\lvert B_t - A^* \rvert_F^2 \ge \frac{1}{2} \min(\lvert A^* \rvert_F^2, "
    r"\lvert E \rvert_F^2)$.",
    assumes=r"$\sigma^4 w \ll 1$; noise with independent entries",
    tried=r"the closed form at 400 times, 20 draws of rank 2 (60 at $d = 30$); size: $\lvert A^* \rvert_F/d$, as in "
    "section G at 1",
    correction=r"$\frac{1 - c}{2} \min$, $c$ the cosine between $A^*$ and $E$, which vanishes like $1/d$: the third of "
    "the proposition has room for it",
    region={"dim": Range(20, 80, whole=True), "size": Range(0.3, 3, log=True)},
)
def linear_error(trial: Trial) -> Rows:
    section_g = least_errors(30, 1.0, trial.seed, draws=60)
    found = {name: least_errors(**setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    error = r"least $\lvert B_t - A^* \rvert_F^2$ over"
    least = {"$d = 30$, section G": section_g[0]} | {name: own[0] for name, own in found.items()}
    yield printed(rf"{error} $\min(\lvert A^* \rvert_F^2, \lvert E \rvert_F^2)/2$", least, HALF)
    over = rf"{error} $(1 - c) \min(\lvert A^* \rvert_F^2, \lvert E \rvert_F^2)/2$"
    yield corrected(over, {name: own[1] for name, own in found.items()}, ROUNDED)
    yield corrected(f"{over}, section G, $d = 30$", section_g[1], ROUNDED)


def least_errors(dim: int, size: float, seed: int, draws: int = 20) -> tuple[float, float]:
    """Return the least of so many draws of `linear_errors`."""
    drawn = np.array([linear_errors(dim, size, [seed, draw]) for draw in range(draws)])
    return float(drawn[:, 0].min()), float(drawn[:, 1].min())


def linear_errors(dim: int, size: float, key: list[int]) -> tuple[float, float]:
    """Return the minimum error of the linear dynamics over both bounds, from a start with entries of variance 1e-4."""
    task = ln.problems.low_rank_plus_noise(dim, rank=2, key=key, spectrum=[size / np.sqrt(2)] * 2)
    truth = np.asarray(task.truth)
    noise, start = task.cross - truth, 0.01 * generator(key=[*key, 1]).normal(size=truth.shape)
    left = np.linspace(0, 1, 400)[:, None, None]
    errors = (((1 - left) * noise + left * (start - truth)) ** 2).sum(axis=(1, 2))
    sizes = np.linalg.norm(truth), np.linalg.norm(noise)
    cosine = abs((truth * noise).sum()) / np.prod(sizes)
    bound = min(sizes) ** 2 / 2
    return float(errors.min() / bound), float(errors.min() / bound / (1 - cosine))


FASTER = above(1.0, "faster convergence: fewer steps")


@claim(
    "lazy-faster",
    says="In the absence of low-rank structure lazy dynamics converge faster.",
    assumes=r"target of full rank; steps of $1/(c \sigma^2 w)$ and $1/(c \lvert B \rvert)$, as in section G",
    tried=r"Gaussian targets, $w = d^3$, $c = 10$, $\sigma^2 w = 3 \lvert B \rvert$ against $0.03 \lvert B \rvert$, to "
    "1% of the loss, 3 draws at $d = 20$ (full: 60)",
)
def faster_lazy_convergence(trial: Trial) -> Rows:
    dim = 20 if trial.quick else 60
    counts = {
        share: np.array([steps_to_learn(share, dim, [trial.seed, draw]) for draw in range(3)]) for share in (3.0, 0.03)
    }
    yield printed("steps of active descent over those of lazy descent", counts[0.03] / counts[3.0], FASTER)
    yield fact("steps of lazy descent", counts[3.0])


def steps_to_learn(share: float, dim: int, key: list[int]) -> int:
    """Return how many steps descent takes to 1% of the loss, with a threshold of this share of the target's norm."""
    target = generator(key=[*key, 0]).normal(size=(dim, dim))
    size = float(np.linalg.norm(target, 2))
    start = threshold_start(dim, dim**3, share * size, key=[*key, 1])
    rate = 1 / (10 * size * max(share, 1.0))
    run = ln.gradient_descent(ln.Problem.from_target(target), start, learning_rate=rate, steps=2000, keep="losses")
    return first_index(run.loss <= 0.01 * run.loss[0], "the loss does not fall to 1%")
