"""Watanabe et al., section 4: where training on few samples ends, and the error of ridge regression."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import ridge
from linnet_papers.reproduction import Estimate, Rows, Trial, above, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import exponent, highest, largest_t_by_chance, slopes
from linnet_papers.watanabe.settings import FINITE_SIZE, JOINT, SLOPE
from linnet_papers.watanabe.training.few_samples import FewSamples
from linnet_papers.watanabe.training.samples import spiked_inputs, target

SAMPLES = 12  # of 30 inputs, for the claims on solutions


@claim(
    "eq21",
    says="From a small initialization, training ends close to the minimum-norm solution.",
    assumes="small Gaussian initialization, fewer samples than inputs",
    tried="$d = m = 60$, $n = 30$, spike 20, $A = 0.5$, four networks, trained to $10^{-15}$ of the first loss",
)
def min_norm(trial: Trial) -> Rows:
    distances = {}
    for s in [1e-1, 1e-2, 1e-3, 1e-4] if trial.quick else [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]:
        network = FewSamples(60, 30, 60, 20.0, 0.5, scale=s, loss=1e-15)
        distances[s] = np.mean([network.flow_end(seed)["distance"] for seed in range(trial.seed, trial.seed + 4)])
    least = slopes(list(distances), list(distances.values()))[1]
    yield printed("least slope in $s$ of the distance from the minimum-norm solution", least, SLOPE)
    yield fact("that distance, by $s$", distances)


@claim(
    "interpolators",
    says="With fewer samples than inputs the regression problem admits infinitely many solutions of the optimal loss.",
    assumes="$d/n > 1$",
    tried="$d = 30$, $n = 12$: the minimum-norm solution moved by 0.1 and 10 along directions the samples do not see",
)
def interpolators(trial: Trial) -> Rows:
    X, y = small_sample(trial, SAMPLES)
    ends = np.linalg.lstsq(X, y, rcond=None)[0]
    free = np.linalg.svd(X)[2][np.linalg.matrix_rank(X) :]
    losses = [np.mean((X @ (ends + size * v) - y) ** 2) for v in free for size in (0.1, 10.0)]
    zero = below(1e-20, "zero, up to the square of the rounding")
    yield printed("training loss of the moved solutions", losses, zero)
    each = above(0.5, "one direction for each missing sample, where a count of none would be 0")
    yield printed("number of free directions over $d - n$", len(free) / (X.shape[1] - len(X)), each)
    yield fact("number of free directions", len(free))


def small_sample(trial: Trial, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return few samples, X and y, of 30 inputs, spike 20, alignment 0.5."""
    X = spiked_inputs(generator(trial.seed, 22), samples, 20.0)
    return X, X @ target(0.5)


def ridge_solution(X: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    """Return the second line of (22)."""
    n, d = X.shape
    return np.linalg.solve(X.T @ X + strength * n * np.eye(d), X.T @ y)


@claim(
    "eq22",
    says="The minimum-norm solution is the limit of ridge regression for a vanishing ridge.",
    assumes="fewer samples than inputs",
    tried="one data set, $d = 30$, $n = 12$, spike 20, $A = 0.5$; ridges from $10^{-2}$ to $10^{-5}$",
)
def ridgeless(trial: Trial) -> Rows:
    gaps, slants = {}, []
    X, y = small_sample(trial, SAMPLES)
    ends = ln.Problem.from_data(X, y).min_norm_solution().ravel()
    for strength in (1e-2, 1e-3, 1e-4, 1e-5):
        fit = ridge_solution(X, y, strength)
        gaps[strength] = np.linalg.norm(fit - ends)
        slants.append(np.abs(2 / 12 * X.T @ (X @ fit - y) + 2 * strength * fit).max())
    least = slopes(list(gaps), list(gaps.values()))[1]
    yield printed(r"least slope in $\lambda$ of the distance of (22) from the minimum-norm solution", least, SLOPE)
    identity = below(1e-12, "an algebraic identity, up to rounding")
    yield printed("largest gradient of the ridge loss at its closed form", highest(slants), identity)
    yield fact(r"that distance, by $\lambda$", gaps)


@claim(
    "eq23",
    says="The risk of ridge regression is (23) in the proportional limit, for any spectrum.",
    assumes="$n$ and $d$ large",
    tried="ridge regression on drawn data, one spike and a power law, two ridges each; $n = d/2$, $d = 500$, 100 data "
    "sets (150, 60 quick), allowance $3/d$",
)
def ridge_risk(trial: Trial) -> Rows:
    dim, trials = (150, 60) if trial.quick else (500, 100)
    n = dim // 2
    ranks = np.arange(1.0, dim + 1)
    scored = {}
    spectra = {
        "one spike": (np.where(ranks == 1, 21.0, 1.0), np.where(ranks == 1, 0.25, np.where(ranks == 2, 0.75, 0.0))),
        "power law": (ranks**-1.2, 1 / ranks / (1 / ranks).sum()),
    }
    for place, (name, (values, overlaps)) in enumerate(spectra.items()):
        target = np.sqrt(overlaps)
        random = generator(trial.seed, 9, place)
        for strength in (0.05, 0.5):
            risks = []
            for _ in range(trials):
                X = random.standard_normal((n, dim)) * np.sqrt(values)
                fit = X.T @ np.linalg.solve(X @ X.T + strength * n * np.eye(n), X @ target)
                risks.append(values @ (fit - target) ** 2)
            wanted = float(ridge.risk(values, overlaps, n, ridge=strength))
            mean = Estimate.of_mean(risks)
            t = max(abs(mean.value - wanted) - FINITE_SIZE / dim * wanted, 0) / mean.error
            scored[f"{name}, ridge {strength:g}"] = t
    limit = below(largest_t_by_chance(len(scored), trials), JOINT)
    yield printed(r"$\lvert t \rvert$ of the mean risk beyond the allowance", scored, limit)


def ridgeless_limits(ratio: float) -> tuple[float, float]:
    """Return, by (26), kappa and its derivative in lambda as lambda falls to zero, unit variance."""
    return ratio - 1, ratio / (ratio - 1)


def solved_kappa(dim: int, ratio: float, spike: float, strength: float) -> float:
    """Return kappa of (24) for the spiked spectrum of finite size, by Brent's method.

    It shares nothing with `theories.ridge`, on purpose. A strength of 0 needs a ratio above 1.
    """
    from scipy.optimize import brentq

    n = dim / ratio

    def excess(kappa: float) -> float:
        part = (1 + spike) / (kappa + 1 + spike) + (dim - 1) / (kappa + 1)
        return 1 - strength / kappa - part / n

    return float(brentq(excess, 1e-12, 1e6, xtol=1e-14, rtol=1e-14))


@claim(
    "eq26",
    says=r"The spike drops out of (24) as $d$ grows, and $\kappa$ tends to $\gamma - 1$, its derivative to "
    r"$\gamma/(\gamma - 1)$.",
    assumes=r"$d \to \infty$ at fixed $d/n > 1$",
    tried="(24) solved for $d$ = 100, 1000, 10 000 at $d/n$ = 1.5, 2, 6 with a spike of 20",
)
def kappa_limits(trial: Trial) -> Rows:
    step = 1e-4
    misses = {}
    for dim in (100, 1000, 10_000):
        errors = []
        for ratio in (1.5, 2.0, 6.0):
            kappa, slope = ridgeless_limits(ratio)
            solved = [solved_kappa(dim, ratio, 20.0, k * step) for k in (0, 1, 2)]
            derivative = (-3 * solved[0] + 4 * solved[1] - solved[2]) / (2 * step)
            errors += [abs(solved[0] / kappa - 1), abs(derivative / slope - 1)]
        misses[f"$d = {dim}$"] = highest(errors)
    yield printed(
        "exponent of $d$ in the largest relative distance from both limits",
        exponent((100, 1000, 10_000), list(misses.values()))[0],
        within(0.1, "the spike is one of $d$ eigenvalues: its part in (24) falls as $1/d$", of=-1),
    )
    yield fact("largest relative distance from both limits", misses)


def ridge_effect(trial: Trial, dim: int, strength: float) -> float:
    """Return how far a ridge moves the predictor at d/n = 2, in root mean square over that of the labels."""
    random = generator(trial.seed, 33, dim)
    beta, root = target(0.5, dim), np.sqrt(np.where(np.arange(dim) == 0, 21.0, 1.0))
    moved = []
    for _ in range(4800 // dim):
        X = spiked_inputs(random, dim // 2, 20.0, dim)
        without = X.T @ np.linalg.solve(X @ X.T, X @ beta)
        moved.append(
            np.linalg.norm(root * (ridge_solution(X, X @ beta, strength) - without)) / np.linalg.norm(root * beta)
        )
    return float(np.mean(moved))


@claim(
    "limits",
    says=r"The limit $\lambda \to 0$ of (22) may be taken after $n, d \to \infty$, as (23)-(27) do.",
    assumes=r"$d/n > 1$",
    tried=r"ridge regression at spike 20, $A = 0.5$, $d/n = 2$, $d$ = 60, 120, 240, with 80, 40 and 20 data sets",
)
def limits(trial: Trial) -> Rows:
    dims, used = (60, 120, 240), (1e-2, 1e-3, 1e-4)
    moved = np.array([[ridge_effect(trial, dim, strength) for dim in dims] for strength in used])
    linear = within(0.1, "the motion by a ridge is of first order in it; the second is 6% at the largest", of=1)
    by_dim = {f"$d = {dim}$": slopes(used, column)[1] for dim, column in zip(dims, moved.T, strict=True)}
    yield printed(r"least slope in $\lambda$ of how far the predictor moves", by_dim, linear)
    bounded = below(0.2, "bounded as $d$ grows, so that both limits agree; four times the scatter of these data sets")
    exponents = {rf"$\lambda = {one:g}$": exponent(dims, row)[0] for one, row in zip(used, moved, strict=True)}
    yield printed("exponent of $d$ in that distance", exponents, bounded)
