"""Claims on discrete steps and on the start: descent against flow, its size, and its distance to eq. (1)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest, relative_distance
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import BOUND
from linnet_papers.tu.tables import regions
from linnet_papers.tu.training.starts import active_start, gaussian_start, threshold_of

LEAST_C = 2.0  # that the paper names: its largest step
EDGE = 1.05  # c of a step a twentieth below the one at which the leading mode no longer converges
STANDARD = Limit(5.0, "standard errors of a variance, the largest of three")

RIGHT = AllOf(
    AtMost(BOUND, "right", what="error over the bound with k"),
    Within(0.1, of=1, what="order of descent", because="of an order of 1, between 200 and 400 steps"),
)


@claim(
    "lemma-f1",
    says="Descent stays within ((1 + eta C1)^(k-1) - 1) eta C0/2 of the flow after k steps.",
    assumes="|F| <= C0, |grad F| <= C1",
    tried="da/dt = cos a with three steps; a 6 x 6 network with 200 and 400 steps",
    holds=AtMost(0.0, "printed", what="error beyond the printed bound", because=BOUND.reason) & RIGHT,
    corrected=RIGHT,
    correction="the bound with k for k - 1",
    reads="for da/dt = cos a the error exceeds the printed bound by up to {printed:.3f} and is at most {right:.2f} of "
    "that with k; descent on a network approaches its flow with order {value:.3f}",
)
def descent_near_flow(trial: Trial) -> Numbers:
    # |cos| <= 1 and |sin| <= 1 are the constants of the lemma; the flow of da/dt = cos a from 0 is the Gudermannian
    printed, right = [], []
    for step in (0.5, 0.1, 0.02):
        place = 0.0
        for k in range(1, 60):
            place += step * np.cos(place)
            gap = abs(place - 2 * np.arctan(np.tanh(k * step / 2)))
            printed.append(gap - misprints.descent_bound(step, k))
            right.append(gap / misprints.descent_bound(step, k + 1))  # k in place of k - 1
    draw = generator(key=trial.seed)
    target = draw.normal(size=(6, 6))
    start = 0.3 * draw.normal(size=(6, 6))
    exact = lazy_active.self_consistent(target, start, 0.2, [1.0])[0]
    problem = ln.Problem.from_target(target)
    weights = ln.inits.balanced(start, 0.4)
    ends = [descent_to_time_one(problem, weights, steps).product for steps in (200, 400)]
    order = np.log2(np.linalg.norm(ends[0] - exact) / np.linalg.norm(ends[1] - exact))
    return {"printed": highest(printed), "right": highest(right), "value": order}


def descent_to_time_one(problem: ln.Problem, weights: ln.Weights, steps: int) -> ln.Weights:
    """Return the weights at t = 1, reached in so many steps: the learning rate is 1/steps."""
    return ln.gradient_descent(problem, weights, learning_rate=1 / steps, steps=steps, save_every=steps).weights[-1]


@claim(
    "lemma-f2",
    says="|A|^2 stays below 10 (|A*|^2 + |E|^2) in both regimes.",
    assumes="step small",
    tried="200 steps of descent at d = 40 (full: 100), a = (1, 1/2), at c = 2 and at the edge of stability",
    holds=AtMost(BOUND, "shares", what="largest |A|^2 over 10 (|A*|^2 + |E|^2)"),
    reads="largest |A|^2 over descent at the paper's largest step, c = 2, and at the edge of what converges, of "
    "10 (|A*|^2 + |E|^2): {shares:.3f}",
)
def bounded_descent(trial: Trial) -> Numbers:
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
            shares[f"{name}, c = {c:g}"] = (run.products**2).sum(axis=(1, 2)).max() / limit
    return {"shares": shares}


@claim(
    "eq1",
    says="Descent of a wide Gaussian network follows the self-consistent dynamics.",
    assumes="w >> d, small step",
    tried="d = 30 (full: 100), rank 3, sigma^2 w = d^0.4, c = 50, w = d^1.3 .. d^2.8",
    holds=AllOf(
        Below(-0.7, what="exponent in w of the squared distance", because="claimed O(d/w), that is -1"),
        Below(0.05, "widest", what="largest distance over |Y| at the largest width", because="a twentieth of |Y|"),
    ),
    reads="largest distance between descent and eq. (1) over the run: {relative:.1%} of |Y| at w = d to the power "
    "{powers} (d = {dim}, sigma^2 w = d^0.4); its square changes like w^{value:.2f}",
)
def distance_to_equation(trial: Trial) -> Numbers:
    wide = regions.TABLE.rows(trial)["powers"]
    squared = wide.distance.median("replicate", skipna=False).values
    powers = wide.gamma_width.values
    rate, error = exponent(wide.dim.item() ** powers, squared)
    relative = np.sqrt(squared / 2)  # |Y|^2/d^2 is about 2
    return {
        "dim": wide.dim.item(),
        "powers": powers,
        "relative": relative,
        "widest": relative[-1],
        "value": rate,
        "uncertainty": error,
    }


@claim(
    "start",
    says="Entries of A(0) have infinite variance for 2 gamma_sigma2 + gamma_w + 1 > 0; the variance is sigma^2 "
    "sqrt(w).",
    assumes="iid Gaussian weights",
    tried="d = 8, 200 draws at w = 100, 1000, 10000",
    holds=Within(STANDARD, "printed", of=1, times="standard_error", what="variance over sigma^2 sqrt(w)"),
    corrected=Within(STANDARD, "ratios", of=1, times="standard_error", what="variance over sigma^4 w"),
    correction="the variance is sigma^4 w, infinite for 2 gamma_sigma2 + gamma_w > 0, without the introduction's + 1; "
    "sigma^2 sqrt(w) is the standard deviation, not (E.3) the variance",
    reads="variance of an entry of A(0) over sigma^4 w: {ratios:.3f} (standard error {standard_error:.3f}), over "
    "sigma^2 sqrt(w): {printed:.3f}; it grows like w^{rate:.3f}",
)
def variance_of_the_start(trial: Trial) -> Numbers:
    dim = 8
    std = 0.3
    draws = 200
    widths = np.array([100, 1000, 10_000])
    starts = [gaussian_start(dim, w, std=std, key=[trial.seed, w], batch=draws) for w in widths.tolist()]
    variances = np.array([(weights.product**2).mean() for weights in starts])
    return {
        "ratios": variances / (std**4 * widths),
        "printed": variances / misprints.start_variance(std, widths),
        "rate": exponent(widths, variances)[0],
        "standard_error": np.sqrt(2 / (draws * dim**2)) * 1.5,  # entries of a product have heavier tails
    }


@claim(
    "start-values",
    says="At initialization the singular values are of size sigma^2 sqrt(wd), far below sigma^2 w for w >> d: all "
    "lazy.",
    assumes="iid Gaussian weights, w >> d",
    tried="d = 50, 100 (full: 100, 200, 400), w = 10 d and 1000 d",
    holds=AllOf(
        Below(
            0.3,
            what="distance of the largest from the edge, 2 sigma^2 sqrt(wd)",
            because="of that edge: several times its next order, d^(-2/3)",
        ),
        Below(
            1.25,
            "spread",
            what="largest over least median",
            because="the law of the singular values still changes at w = 10 d",
        ),
    ),
    reads="largest singular value of A(0) over sigma^2 sqrt(wd): {edges.lowest:.2f} to {edges.highest:.2f} (2 for w >> "
    "d), median {medians.lowest:.2f} to {medians.highest:.2f}, at w = 10 d and 1000 d",
)
def values_of_the_start(trial: Trial) -> Numbers:
    std = 0.01
    edges, medians = [], []
    for dim in (50, 100) if trial.quick else (100, 200, 400):
        for ratio in (10, 1000):
            width = dim * ratio
            weights = gaussian_start(dim, width, std=std, key=[trial.seed, dim, ratio])
            values = np.linalg.svd(weights.product, compute_uv=False) / (std**2 * np.sqrt(width * dim))
            edges.append(values[0])
            medians.append(np.median(values))
    off = highest(abs(edge / 2 - 1) for edge in edges)
    return {"edges": edges, "medians": medians, "spread": highest(medians) / lowest(medians), "value": off}


NARROW = Above(
    1.0, "narrow", what="least of the w singular values over sigma^2 w, for w < d", because="active: above it"
)


@claim(
    "all-lazy",
    says="With w > d all singular values are lazy for at least a short time; a pure balanced regime needs fewer units "
    "than d, or a balanced start.",
    assumes="iid Gaussian weights",
    tried="d = 64 (full: 256), w/d = 1/16, 1/8, 1.5, 2, 4, 8, 16, 64",
    holds=Below(1.0, "wide", what="largest singular value of A(0) over sigma^2 w, for w > d", because="lazy: below it")
    & NARROW,
    corrected=Below(1.0, "wider", what="largest over sigma^2 w, for w >= 8 d", because="lazy: below it") & NARROW,
    correction="w well above d, here 8 d: the largest is about 2 sigma^2 sqrt(wd), above sigma^2 w up to w = 4 d",
    reads="largest singular value of A(0) over sigma^2 w at w > d: {wide:.2f}; least of them at w < d: {narrow:.1f}",
)
def lazy_at_first(trial: Trial) -> Numbers:
    dim = 64 if trial.quick else 256
    values = {}
    for ratio in (1 / 16, 1 / 8, 1.5, 2.0, 4.0, 8.0, 16.0, 64.0):
        width = round(ratio * dim)
        product = gaussian_start(dim, width, std=width**-0.5, key=[trial.seed, width]).product
        values[ratio] = np.linalg.svd(product, compute_uv=False)[: min(dim, width)]
    return {
        "wide": {f"w = {ratio:g} d": own[0] for ratio, own in values.items() if ratio > 1},
        "wider": {f"w = {ratio:g} d": own[0] for ratio, own in values.items() if ratio >= 8},
        "narrow": {f"w = d/{1 / ratio:g}": own[-1] for ratio, own in values.items() if ratio < 1},
    }


@claim(
    "imbalance-descent",
    says="Gradient descent with a small enough step keeps the imbalance W1 W1^T - W2^T W2 approximately.",
    tried="6 x 5, width 9, to t = 1 in 50, 100, 200, 400 steps",
    holds=Within(0.15, of=1, what="order in the step of the change of the imbalance", because="a first order"),
    reads="the imbalance changes by {changes:.1e} of itself over t = 1 in 50, 100, 200, 400 steps: like the step to "
    "the power {value:.2f}",
)
def imbalance_under_descent(trial: Trial) -> Numbers:
    target = generator(key=trial.seed).normal(size=(6, 5))
    weights = ln.inits.gaussian(key=trial.seed, in_dim=5, out_dim=6, width=9, stds=0.5)
    problem = ln.Problem.from_target(target)
    steps = np.array([50, 100, 200, 400])
    ends = [descent_to_time_one(problem, weights, count) for count in steps.tolist()]
    changes = [relative_distance(end.imbalance, weights.imbalance) for end in ends]
    rate, error = exponent(1 / steps, changes)
    return {"changes": changes, "value": rate, "uncertainty": error}


@claim(
    "lazy-below",
    says="In the lazy region all singular values stay below sigma^2 w throughout training.",
    assumes="gamma_sigma2 + gamma_w > 1, 2 gamma_sigma2 + gamma_w < 0",
    tried="(gamma_sigma2, gamma_w) = (-1.35, 2.6), (-1.2, 2.35), (-1.3, 2.35), a = (1, 1/2), d = 40, 80 (full: 50, "
    "100, 200), 400 steps of descent at c = 25, past the fit of A* + E",
    holds=AllOf(
        Below(1.0, "shares", what="largest singular value over sigma^2 w", because="lazy: below the threshold"),
        Below(
            0.05, "left", what="what is left of the loss", because="the network has fitted A* + E, as the lazy one does"
        ),
    ),
    reads="largest singular value over the run, over sigma^2 w: {shares:.2f}; {left.highest:.0e} of the loss is left",
)
def lazy_throughout(trial: Trial) -> Numbers:
    shares, left = {}, {}
    for gammas in ((-1.35, 2.6), (-1.2, 2.35), (-1.3, 2.35)):
        for dim in (40, 80) if trial.quick else (50, 100, 200):
            task = ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, dim], spectrum=[1.0, 0.5])
            weights = active_start(dim, gammas, key=[trial.seed, dim, 1])
            threshold = threshold_of(dim, gammas)
            rate = 1 / (25 * threshold)
            run = ln.gradient_descent(task, weights, learning_rate=rate, steps=400, save_every=10, keep="products")
            place = f"{gammas}, d = {dim}"
            shares[place] = np.linalg.norm(run.products, 2, axis=(1, 2)).max() / threshold
            left[place] = run.loss[-1] / run.loss[0]
    return {"shares": shares, "left": left}
