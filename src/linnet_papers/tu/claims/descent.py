"""Claims on discrete steps and on the start: descent against flow, its size, and its distance to eq. (1)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest, relative_distance
from linnet_papers.reproduction.rows import Estimate, above, at_most, below, both, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import regions
from linnet_papers.tu.settings import BOUND, GAMMAS
from linnet_papers.tu.training.starts import active_start, gaussian_start, threshold_of

LEAST_C = 2.0  # that the paper names: its largest step
EDGE = 1.05  # c of a step a twentieth below the one at which the leading mode no longer converges
FIRST_ORDER = within(0.1, "the next order between 200 and 400 steps", of=1)


@claim(
    "lemma-f1",
    says=r"Descent stays within $((1 + \eta C_1)^{k - 1} - 1) \eta C_0/2$ of the flow after $k$ steps.",
    assumes=r"$\lvert F \rvert \le C_0$, $\lvert \nabla F \rvert \le C_1$",
    tried=r"59 steps of $da/dt = C_0 \cos(C_1 a/C_0)$, of which the flow is known; a $6 \times 6$ network with 200 and "
    "400 steps; size: $C_0$, slope: $C_1$",
    correction="the bound with $k$ for $k - 1$",
    region={"step": Range(0.005, 0.5, log=True), "size": Range(0.1, 10, log=True), "slope": Range(0.1, 1, log=True)},
)
def descent_near_flow(trial: Trial) -> Rows:
    found = {name: errors_and_bounds(**setting) for name, setting in trial.region(4).items()}
    excess = {name: highest((gaps - early) / late) for name, (gaps, early, late) in found.items()}
    shares = {name: highest(gaps / late) for name, (gaps, _, late) in found.items()}
    draw = generator(key=trial.seed)
    target = draw.normal(size=(6, 6))
    start = 0.3 * draw.normal(size=(6, 6))
    exact = lazy_active.self_consistent(target, start, 0.2, [1.0])[0]
    problem = ln.Problem.from_target(target)
    weights = ln.inits.balanced(start, 0.4)
    ends = [descent_to_time_one(problem, weights, steps).product for steps in (200, 400)]
    order = np.log2(np.linalg.norm(ends[0] - exact) / np.linalg.norm(ends[1] - exact))
    beyond = "largest error beyond the printed bound, over the bound with $k$"
    yield printed(beyond, excess, at_most(0.0, BOUND.because))
    yield corrected("largest error over the bound with $k$", shares, BOUND)
    yield both("order in the step of a network's distance from its flow", order, FIRST_ORDER)


def errors_and_bounds(step: float, size: float, slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distance of Euler's steps from the flow, its bound as printed, and that with k for k - 1, by step."""
    place, gaps = 0.0, []
    counts = range(1, 60)
    for k in counts:
        place += step * size * np.cos(slope * place / size)
        flow = 2 * np.arctan(np.tanh(slope * k * step / 2)) * size / slope  # the Gudermannian
        gaps.append(abs(place - flow))
    early, late = (np.array([misprints.descent_bound(step, k + more, size, slope) for k in counts]) for more in (0, 1))
    return np.array(gaps), early, late


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


MOMENTS = within(0.0, "the largest of a few draws; products of Gaussians have heavier tails than these", of=1, errors=5)


@claim(
    "start",
    says=r"Entries of $A(0)$ have infinite variance for $2 \gamma_{\sigma^2} + \gamma_w + 1 > 0$; the variance is "
    r"$\sigma^2 \sqrt{w}$.",
    assumes="iid Gaussian weights",
    tried=r"$d = 8$, 200 draws; std: $\sigma$",
    correction=r"the variance is $\sigma^4 w$, infinite for $2 \gamma_{\sigma^2} + \gamma_w > 0$, without the "
    r"introduction's $+ 1$; $\sigma^2 \sqrt{w}$ is the standard deviation, not (E.3) the variance",
    region={"width": Range(30, 10_000, log=True, whole=True), "std": Range(0.03, 3, log=True)},
)
def variance_of_the_start(trial: Trial) -> Rows:
    dim, draws = 8, 200
    error = np.sqrt(2 / (draws * dim**2)) * 1.5  # entries of a product have heavier tails
    as_printed, right = {}, {}
    for name, setting in trial.region(2).items():
        width, std = setting["width"], setting["std"]
        weights = gaussian_start(dim, width, std=std, key=[trial.seed, int(width)], batch=draws)
        variance = float((weights.product**2).mean())
        as_printed[name] = Estimate(variance / misprints.start_variance(std, width), error)
        right[name] = Estimate(variance / (std**4 * width), error)
    yield printed(r"variance of an entry of $A(0)$ over $\sigma^2 \sqrt{w}$", as_printed, MOMENTS)
    yield corrected(r"variance of an entry of $A(0)$ over $\sigma^4 w$", right, MOMENTS)


AT_EDGE = below(0.3, r"several times the edge's next order, $d^{-2/3}$")
RANDOM = above(0.8, "singular vectors in random directions have $1 - O(1/d)$")
DENSE = below(0.25, "$d$ values share one range: gaps are of order $d^{-2/3}$ of it at its edge")
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
    edges, medians, defects, gaps = [], [], [], []
    for dim in (50, 100) if trial.quick else (100, 200, 400):
        for ratio in (10, 1000):
            width = dim * ratio
            weights = gaussian_start(dim, width, std=std, key=[trial.seed, dim, ratio])
            values = np.linalg.svd(weights.product, compute_uv=False) / (std**2 * np.sqrt(width * dim))
            edges.append(values[0])
            truth = np.diag(np.append([1.0, 0.5], np.zeros(dim - 2)))
            defects.append(float(lazy_active.alignment_defect(weights.product, truth, 2)) / 8)
            gaps.append(np.abs(np.diff(values)).max() / values[0])
            medians.append(np.median(values))
    edge = r"largest singular value of $A(0)$ over $2 \sigma^2 \sqrt{w d}$"
    yield printed(f"distance from 1 of the {edge}", highest(abs(one / 2 - 1) for one in edges), AT_EDGE)
    spread = highest(medians) / lowest(medians)
    yield printed(r"largest over least median singular value, over $\sigma^2 \sqrt{w d}$", spread, ONE_LAW)
    yield fact(r"median singular values over $\sigma^2 \sqrt{w d}$", medians)
    yield printed("least alignment measure $x$ of $A(0)$ over $4 K$, its value without any alignment", defects, RANDOM)
    yield printed("largest gap between neighboring singular values of $A(0)$ over the largest value", gaps, DENSE)


PAST = above(1.0, r"active: above $\sigma^2 w$")
SHORT = below(1.0, r"lazy: below $\sigma^2 w$")


@claim(
    "all-lazy",
    says="With $w > d$ all singular values are lazy for at least a short time; a pure balanced regime needs fewer "
    "units than $d$, or a balanced initialization.",
    assumes="iid Gaussian weights",
    tried="$d = 64$ (full: 256), $w/d = 1/16$, 1/8, 1.5, 2, 4; ratio: $w/d$",
    correction=r"$w$ well above $d$, from $8 d$ on: the largest is about $2 \sigma^2 \sqrt{w d}$, above $\sigma^2 w$ "
    "up to $w = 4 d$",
    region={"dim": Range(32, 256, log=True, whole=True), "ratio": Range(8, 80, log=True)},
)
def lazy_at_first(trial: Trial) -> Rows:
    dim = 64 if trial.quick else 256
    narrow = {f"$w = d/{below:g}$": start_values(dim, 1 / below, trial.seed)[-1] for below in (16, 8)}
    wide = {f"$w = {ratio:g} d$": start_values(dim, ratio, trial.seed)[0] for ratio in (1.5, 2.0, 4.0)}
    wider = {name: start_values(**setting, seed=trial.seed)[0] for name, setting in trial.region(2).items()}
    over = r"largest singular value of $A(0)$ over $\sigma^2 w$"
    yield both(r"least of the $w$ singular values of $A(0)$ over $\sigma^2 w$, $w < d$", narrow, PAST)
    yield printed(f"{over}, $w > d$", wide, SHORT)
    yield corrected(rf"{over}, $w \ge 8 d$", wider, SHORT)


def start_values(dim: int, ratio: float, seed: int) -> np.ndarray:
    """Return the singular values of A(0) over sigma^2 w, as many as the network has units if these are fewer than d."""
    width = round(ratio * dim)
    product = gaussian_start(dim, width, std=width**-0.5, key=[seed, width]).product
    return np.linalg.svd(product, compute_uv=False)[: min(dim, width)]


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
    assumes=r"$\gamma_{\sigma^2} + \gamma_w > 1$, $2 \gamma_{\sigma^2} + \gamma_w < 0$; $d$ large, that is "
    r"$a_1 d < \sigma^2 w$: from $d = a_1^{1/(\gamma_{\sigma^2} + \gamma_w - 1)}$ on",
    tried=r"$2 \gamma_{\sigma^2} + \gamma_w = -0.1$, $a = (a_1, a_1/2)$, 200 steps of descent at $c = 25$, past the "
    r"fit of $A^* + E$; share: $a_1 d/\sigma^2 w$, total: $\gamma_{\sigma^2} + \gamma_w$",
    region={"dim": Range(30, 80, whole=True), "total": Range(1.05, 1.5), "share": Range(0.05, 0.9, log=True)},
)
def lazy_throughout(trial: Trial) -> Rows:
    runs = {
        name: lazy_run(**setting, seed=trial.seed) for name, setting in trial.region(0 if trial.quick else 4).items()
    }
    over = r"largest singular value over the run over $\sigma^2 w$"
    yield printed(over, {name: largest for name, (largest, _) in runs.items()}, SHORT)
    yield printed("part of the loss that is left at the end", {name: left for name, (_, left) in runs.items()}, FITTED)
    yield fact(f"{over}, just outside, at $a_1 d = 1.2 \\sigma^2 w$", lazy_run(30, 1.05, 1.2, seed=trial.seed)[0])


def lazy_run(dim: int, total: float, share: float, seed: int) -> tuple[float, float]:
    """Return the largest singular value of a descent in the lazy region over the threshold, and what is left of its
    loss."""
    gammas = (-0.1 - total, 2 * total + 0.1)
    threshold = threshold_of(dim, gammas)
    spectrum = [share * threshold / dim, share * threshold / (2 * dim)]
    task = ln.problems.low_rank_plus_noise(dim, rank=2, key=[seed, dim], spectrum=spectrum)
    start, rate = active_start(dim, gammas, key=[seed, dim, 1]), 1 / (25 * threshold)
    run = ln.gradient_descent(task, start, learning_rate=rate, steps=200, save_every=10, keep="products")
    return float(np.linalg.norm(run.products, 2, axis=(1, 2)).max() / threshold), float(run.loss[-1] / run.loss[0])


ORDER_ETA = below(
    1.0, "an $O(.)$ in the paper's units: ten times what several draws have, and it may not grow with $d$"
)


@claim(
    "descent-distance",
    says=r"Descent with $\eta \ll d$ stays within $O(\eta \log d)$ of the flow up to $T^*$, which adds "
    r"$O(\eta^2 \log^2 d/d^2)$ to the test error.",
    assumes="active region",
    tried=r"$d = 15$, 30 (full: 60 too) to $t = 4 \log(d)/d$, $a = (1, 1/2)$, $c = 20$ and 40: "
    r"$\eta = d^2/(2 c \lvert A^* \rvert)$",
)
def distance_from_the_flow(trial: Trial) -> Rows:
    dims = (15, 30) if trial.quick else (15, 30, 60)
    gaps = {(dim, c): flow_distance(dim, c, trial.seed) for dim, c in [*((dim, 20) for dim in dims), (15, 40)]}
    scaled = {f"$d = {dim}$, $c = {c}$": gap / (dim / (2 * c) * np.log(dim)) for (dim, c), gap in gaps.items()}
    yield printed(r"largest Frobenius distance over $\eta \log d$", scaled, ORDER_ETA)
    order = np.log2(gaps[15, 20] / gaps[15, 40])
    yield printed("power of the step with which it changes, $d = 15$", order, FIRST_ORDER)


def flow_distance(dim: int, c: int, seed: int) -> float:
    """Return the largest distance of descent with a step of 1/(c |A*|) from its flow."""
    task = ln.problems.low_rank_plus_noise(dim, rank=2, key=[seed, dim], spectrum=[1.0, 0.5])
    start, steps = active_start(dim, GAMMAS, key=[seed, dim, 1]), round(4 * np.log(dim) * c)
    run = ln.gradient_descent(task, start, learning_rate=1 / (c * dim), steps=steps, save_every=c // 5, keep="products")
    flow = ln.gradient_flow(task, start, times=run.times)
    return float(np.linalg.norm(run.products - flow.products, axis=(1, 2)).max())
