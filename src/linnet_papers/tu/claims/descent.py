"""Claims on discrete steps and on the start: descent against flow, its size, and its distance to eq. (1)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Estimate,
    Rows,
    Trial,
    above,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import exponent, highest, lowest, relative_distance
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import regions
from linnet_papers.tu.settings import BOUND
from linnet_papers.tu.training.starts import active_start, gaussian_start, threshold_of

LEAST_C = 2.0  # that the paper names: its largest step
EDGE = 1.05  # c of a step a twentieth below the one at which the leading mode no longer converges
FIRST_ORDER = within(0.1, "the next order between 200 and 400 steps", of=1)


@claim(
    "lemma-f1",
    says=r"Descent stays within $((1 + \eta C_1)^{k - 1} - 1) \eta C_0/2$ of the flow after $k$ steps.",
    assumes=r"$\lvert F \rvert \le C_0$, $\lvert \nabla F \rvert \le C_1$",
    tried=r"$da/dt = \cos a$ with three steps; a $6 \times 6$ network with 200 and 400 steps",
    correction="the bound with $k$ for $k - 1$",
)
def descent_near_flow(trial: Trial) -> Rows:
    # |cos| <= 1 and |sin| <= 1 are the constants of the lemma; the flow of da/dt = cos a from 0 is the Gudermannian
    excess, shares = [], []
    for step in (0.5, 0.1, 0.02):
        place = 0.0
        for k in range(1, 60):
            place += step * np.cos(place)
            gap = abs(place - 2 * np.arctan(np.tanh(k * step / 2)))
            excess.append(gap - misprints.descent_bound(step, k))
            shares.append(gap / misprints.descent_bound(step, k + 1))  # k in place of k - 1
    draw = generator(key=trial.seed)
    target = draw.normal(size=(6, 6))
    start = 0.3 * draw.normal(size=(6, 6))
    exact = lazy_active.self_consistent(target, start, 0.2, [1.0])[0]
    problem = ln.Problem.from_target(target)
    weights = ln.inits.balanced(start, 0.4)
    ends = [descent_to_time_one(problem, weights, steps).product for steps in (200, 400)]
    order = np.log2(np.linalg.norm(ends[0] - exact) / np.linalg.norm(ends[1] - exact))
    yield printed("largest error beyond the bound, $da/dt = \\cos a$", highest(excess), at_most(0.0, BOUND.because))
    yield corrected("largest error over the bound with $k$", highest(shares), BOUND)
    yield both("order in the step of a network's distance from its flow", order, FIRST_ORDER)


def descent_to_time_one(problem: ln.Problem, weights: ln.Weights, steps: int) -> ln.Weights:
    """Return the weights at t = 1, reached in so many steps: the learning rate is 1/steps."""
    return ln.gradient_descent(problem, weights, learning_rate=1 / steps, steps=steps, save_every=steps).weights[-1]


@claim(
    "lemma-f2",
    says=r"$\lvert A \rvert^2$ stays below $10 (\lvert A^* \rvert^2 + \lvert E \rvert^2)$ in both regimes.",
    assumes="step small",
    tried="200 steps of descent at $d = 40$ (full: 100), $a = (1, 1/2)$, at the paper's largest step, $c = 2$, and at "
    "the edge of stability",
)
def bounded_descent(trial: Trial) -> Rows:
    dim = 40 if trial.quick else 100
    task = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed, spectrum=[1.0, 0.5])
    truth = np.asarray(task.truth)
    limit = 10 * ((truth**2).sum() + ((task.cross - truth) ** 2).sum())
    size = np.linalg.norm(task.cross, 2)
    shares = {}
    for name, gammas in (("active", (-1.85, 2.25)), ("lazy", (-1.25, 2.4))):
        weights = active_start(dim, gammas, key=trial.seed + 1)
        fastest = np.hypot(size, threshold_of(dim, gammas))  # the leading mode converges below a rate of one over this
        for c in (LEAST_C, EDGE):
            rate = 1 / (c * fastest)
            run = ln.gradient_descent(task, weights, learning_rate=rate, steps=200, keep="products", throw=False)
            shares[f"{name}, $c = {c:g}$"] = (run.products**2).sum(axis=(1, 2)).max() / limit
    bound = r"largest $\lvert A \rvert^2$ over $10 (\lvert A^* \rvert^2 + \lvert E \rvert^2)$"
    yield printed(bound, shares, BOUND)


IN_WIDTH = below(-0.7, "$O(d/w)$ is $-1$; an exponent over widths from $d^{1.3}$ on, where $w/d$ is 3 only")
NEAR = below(0.05, r"a twentieth of $\lvert Y \rvert$ at a width of $d^{2.8}$, where $\sqrt{d/w}$ is a twentieth too")


@claim(
    "eq1",
    says="Descent of a wide Gaussian network follows the self-consistent dynamics.",
    assumes=r"$w \gg d$, small step",
    tried=r"$d = 30$ (full: 100), rank 3, $\sigma^2 w = d^{0.4}$, $c = 50$, $w = d^{1.3}$ to $d^{2.8}$; the largest "
    "distance over the run, median of the tasks",
)
def distance_to_equation(trial: Trial) -> Rows:
    wide = regions.groups(trial)["powers"]
    squared = wide.distance.median("replicate", skipna=False).values
    powers = wide.gamma_width.values
    yield printed(
        "power of $w$ with which the squared distance between descent and eq. (1) changes",
        exponent(wide.dim.item() ** powers, squared)[0],
        IN_WIDTH,
    )
    relative = np.sqrt(squared / 2)  # |Y|^2/d^2 is about 2
    yield printed(r"distance over $\lvert Y \rvert$ at the largest width", relative[-1], NEAR)
    sizes = {f"$w = d^{{{power:g}}}$": size for power, size in zip(powers.tolist(), relative, strict=True)}
    yield fact(r"distance over $\lvert Y \rvert$", sizes)


MOMENTS = within(0.0, "the largest of three draws; products of Gaussians have heavier tails than these", of=1, errors=5)


@claim(
    "start",
    says=r"Entries of $A(0)$ have infinite variance for $2 \gamma_{\sigma^2} + \gamma_w + 1 > 0$; the variance is "
    r"$\sigma^2 \sqrt{w}$.",
    assumes="iid Gaussian weights",
    tried="$d = 8$, 200 draws at $w = 100$, 1000, 10000",
    correction=r"the variance is $\sigma^4 w$, infinite for $2 \gamma_{\sigma^2} + \gamma_w > 0$, without the "
    r"introduction's $+ 1$; $\sigma^2 \sqrt{w}$ is the standard deviation, not (E.3) the variance",
)
def variance_of_the_start(trial: Trial) -> Rows:
    dim = 8
    std = 0.3
    draws = 200
    widths = np.array([100, 1000, 10_000])
    starts = [gaussian_start(dim, w, std=std, key=[trial.seed, w], batch=draws) for w in widths.tolist()]
    variances = np.array([(weights.product**2).mean() for weights in starts])
    error = np.sqrt(2 / (draws * dim**2)) * 1.5  # entries of a product have heavier tails

    def over(expected: np.ndarray) -> dict[str, Estimate]:
        shares = variances / expected
        return {f"$w = {w}$": Estimate(share, error) for w, share in zip(widths.tolist(), shares, strict=True)}

    as_printed = over(misprints.start_variance(std, widths))
    yield printed(r"variance of an entry of $A(0)$ over $\sigma^2 \sqrt{w}$", as_printed, MOMENTS)
    yield corrected(r"variance of an entry of $A(0)$ over $\sigma^4 w$", over(std**4 * widths), MOMENTS)
    yield fact("power of $w$ with which it grows", exponent(widths, variances)[0])


AT_EDGE = below(0.3, r"several times the edge's next order, $d^{-2/3}$")
ONE_LAW = below(1.25, "the law of the singular values still changes at $w = 10 d$")


@claim(
    "start-values",
    says=r"At initialization the singular values are of size $\sigma^2 \sqrt{w d}$, far below $\sigma^2 w$ for "
    r"$w \gg d$: all lazy.",
    assumes=r"iid Gaussian weights, $w \gg d$",
    tried="$d = 50$, 100 (full: 100, 200, 400), $w = 10 d$ and $1000 d$",
)
def values_of_the_start(trial: Trial) -> Rows:
    std = 0.01
    edges, medians = [], []
    for dim in (50, 100) if trial.quick else (100, 200, 400):
        for ratio in (10, 1000):
            width = dim * ratio
            weights = gaussian_start(dim, width, std=std, key=[trial.seed, dim, ratio])
            values = np.linalg.svd(weights.product, compute_uv=False) / (std**2 * np.sqrt(width * dim))
            edges.append(values[0])
            medians.append(np.median(values))
    edge = r"largest singular value of $A(0)$ over $2 \sigma^2 \sqrt{w d}$"
    yield printed(f"distance from 1 of the {edge}", highest(abs(one / 2 - 1) for one in edges), AT_EDGE)
    spread = highest(medians) / lowest(medians)
    yield printed(r"largest over least median singular value, over $\sigma^2 \sqrt{w d}$", spread, ONE_LAW)
    yield fact(r"median singular values over $\sigma^2 \sqrt{w d}$", medians)


PAST = above(1.0, r"active: above $\sigma^2 w$")
SHORT = below(1.0, r"lazy: below $\sigma^2 w$")


@claim(
    "all-lazy",
    says="With $w > d$ all singular values are lazy for at least a short time; a pure balanced regime needs fewer "
    "units than $d$, or a balanced start.",
    assumes="iid Gaussian weights",
    tried="$d = 64$ (full: 256), $w/d = 1/16$, 1/8, 1.5, 2, 4, 8, 16, 64",
    correction=r"$w$ well above $d$, here $8 d$: the largest is about $2 \sigma^2 \sqrt{w d}$, above $\sigma^2 w$ up "
    "to $w = 4 d$",
)
def lazy_at_first(trial: Trial) -> Rows:
    dim = 64 if trial.quick else 256
    values = {}
    for ratio in (1 / 16, 1 / 8, 1.5, 2.0, 4.0, 8.0, 16.0, 64.0):
        width = round(ratio * dim)
        product = gaussian_start(dim, width, std=width**-0.5, key=[trial.seed, width]).product
        values[ratio] = np.linalg.svd(product, compute_uv=False)[: min(dim, width)]
    largest = {ratio: own[0] for ratio, own in values.items() if ratio > 1}
    least = {f"$w = d/{1 / ratio:g}$": own[-1] for ratio, own in values.items() if ratio < 1}
    over = r"largest singular value of $A(0)$ over $\sigma^2 w$"
    yield both(r"least of the $w$ singular values of $A(0)$ over $\sigma^2 w$, $w < d$", least, PAST)
    yield printed(f"{over}, $w > d$", {f"$w = {ratio:g} d$": own for ratio, own in largest.items()}, SHORT)
    wide = {f"$w = {ratio:g} d$": own for ratio, own in largest.items() if ratio >= 8}
    yield corrected(rf"{over}, $w \ge 8 d$", wide, SHORT)


@claim(
    "imbalance-descent",
    says=r"Gradient descent with a small enough step keeps the imbalance $W_1 W_1^\top - W_2^\top W_2$ approximately.",
    tried=r"$6 \times 5$, width 9, to $t = 1$ in 50, 100, 200, 400 steps",
)
def imbalance_under_descent(trial: Trial) -> Rows:
    target = generator(key=trial.seed).normal(size=(6, 5))
    weights = ln.inits.gaussian(key=trial.seed, in_dim=5, out_dim=6, width=9, stds=0.5)
    problem = ln.Problem.from_target(target)
    steps = np.array([50, 100, 200, 400])
    ends = [descent_to_time_one(problem, weights, count) for count in steps.tolist()]
    changes = [relative_distance(end.imbalance, weights.imbalance) for end in ends]
    yield printed(
        "power of the step with which the relative change of the imbalance goes",
        exponent(1 / steps, changes)[0],
        within(0.15, "a first order, fitted over a factor of eight in the step", of=1),
    )
    sizes = {f"{count} steps": change for count, change in zip(steps.tolist(), changes, strict=True)}
    yield fact("relative change of the imbalance", sizes)


FITTED = below(0.05, "the network has fitted $A^* + E$, as the lazy one does")


@claim(
    "lazy-below",
    says=r"In the lazy region all singular values stay below $\sigma^2 w$ throughout training.",
    assumes=r"$\gamma_{\sigma^2} + \gamma_w > 1$, $2 \gamma_{\sigma^2} + \gamma_w < 0$",
    tried=r"$(\gamma_{\sigma^2}, \gamma_w) = (-1.35, 2.6), (-1.2, 2.35), (-1.3, 2.35)$, $a = (1, 1/2)$, $d = 40$, 80 "
    "(full: 50, 100, 200), 400 steps of descent at $c = 25$, past the fit of $A^* + E$",
)
def lazy_throughout(trial: Trial) -> Rows:
    shares, left = {}, {}
    for gammas in ((-1.35, 2.6), (-1.2, 2.35), (-1.3, 2.35)):
        for dim in (40, 80) if trial.quick else (50, 100, 200):
            task = ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, dim], spectrum=[1.0, 0.5])
            weights = active_start(dim, gammas, key=[trial.seed, dim, 1])
            threshold = threshold_of(dim, gammas)
            rate = 1 / (25 * threshold)
            run = ln.gradient_descent(task, weights, learning_rate=rate, steps=400, save_every=10, keep="products")
            place = f"${gammas}$, $d = {dim}$"
            shares[place] = np.linalg.norm(run.products, 2, axis=(1, 2)).max() / threshold
            left[place] = run.loss[-1] / run.loss[0]
    yield printed(r"largest singular value over the run over $\sigma^2 w$", shares, SHORT)
    yield printed("part of the loss that is left at the end", left, FITTED)
