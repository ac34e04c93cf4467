"""Random problems and weights on which predictions are compared with exact training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from reference import flowing_products

TWO_LAYERS = ("gaussian", "unequal gaussian", "orthogonal", "balanced", "lambda-balanced", "hand-made")
DEEP = ("deep gaussian", "deep orthogonal", "deep balanced")
DIMS = (1, 2, 3, 4, 6, 10, 16, 30, 60)


@dataclass(frozen=True)
class Drawn:
    """A problem, weights and times, and what kind of initialization it is."""

    problem: ln.Problem
    weights: ln.Weights
    times: np.ndarray
    kind: str
    inputs: str


def draw(seed: int, kind: str | None = None, most_inputs: int = 60) -> Drawn:
    """A problem of two to four layers; the seed chooses everything that is not asked for."""
    random = np.random.default_rng([51, seed])
    if kind is None:
        kind = str(random.choice(TWO_LAYERS if random.random() < 0.75 else DEEP))
    k, d = int(random.integers(1, 6)), min(int(random.choice(DIMS)), most_inputs)
    inputs = "whitened" if kind in DEEP else str(random.choice(["whitened", "covariance", "data", "few samples"]))
    problem = draw_problem(random, k, d, inputs)
    strengths = np.linalg.svd(problem.cross, compute_uv=False)
    strength = float(np.median(strengths[strengths > 1e-9 * strengths[0]]))
    solution = float(np.linalg.norm(problem.min_norm_solution(), 2))
    if kind in DEEP:
        weights, tau = draw_deep(random, kind, k, d, strength)
    else:
        weights = draw_two_layers(random, kind, k, d, solution * 10 ** random.uniform(-3, 1))
        level = 0.5 * ((weights.first**2).sum() / d + (weights.second**2).sum() / k)
        spread = np.mean(np.linalg.eigvalsh(problem.cov))
        tau = np.arcsinh(strength / level) / strength + 1 / (spread * (level + solution))
    times = np.linspace(0, tau * 10 ** random.uniform(-0.3, 0.7), int(random.integers(5, 13)))
    return Drawn(problem, weights, times, kind, inputs)


def draw_problem(random: np.random.Generator, k: int, d: int, inputs: str) -> ln.Problem:
    """A target of full or of lower rank, on inputs that are whitened, correlated, or few."""
    rank = int(random.integers(1, min(k, d) + 1)) if random.random() < 0.3 else min(k, d)
    target = random.normal(size=(k, rank)) @ random.normal(size=(rank, d)) * 10 ** random.uniform(-0.5, 1) / d**0.5
    if inputs == "whitened":
        return ln.Problem.from_target(target, truth=target)
    variances = 10 ** random.uniform(-0.7, 0.7, size=d)
    basis = np.linalg.qr(random.normal(size=(d, d)))[0]
    if inputs == "covariance":
        cov = (basis * variances) @ basis.T
        return ln.Problem.from_moments((cov + cov.T) / 2, target @ cov, truth=target)
    samples = int(random.integers(1, d + 1)) if inputs == "few samples" else int(random.integers(d, 4 * d + 2))
    X = random.normal(size=(samples, d)) * np.sqrt(variances) @ basis.T
    Y = X @ target.T + 0.3 * np.abs(target).max() * random.normal(size=(samples, k))
    return ln.Problem.from_data(X, Y)


def draw_two_layers(random: np.random.Generator, kind: str, k: int, d: int, level: float) -> ln.Weights:
    """Two layers whose Gram matrices are about `level` times the identity, where the kind has such a thing."""
    seed = int(random.integers(2**31))
    if kind in ("gaussian", "unequal gaussian"):
        width = int(10 ** random.uniform(0, 9))
        shares = np.array([1.0, 1.0]) if kind == "gaussian" else 2 * random.dirichlet([0.7, 0.7])
        if kind == "unequal gaussian" and random.random() < 0.3:
            shares = np.array([2.0, 0.0])[:: int(random.choice([-1, 1]))]
        stds = np.sqrt(level * shares / width)
        return ln.inits.reduced_gaussian(key=seed, in_dim=d, out_dim=k, width=width, stds=stds)
    if kind == "orthogonal":
        width = d + int(10 ** random.uniform(0, 2.5)) - 1
        return ln.inits.orthogonal(key=seed, in_dim=d, out_dim=k, width=width, scale=level)
    small = min(k, d)
    product = random.normal(size=(k, d)) * level / d**0.5
    if kind == "balanced":
        width = small + int(random.integers(0, 20))
        weights = ln.inits.balanced(product, width=width)
    elif kind == "lambda-balanced":
        positive = random.random() < 0.5
        width = int(random.integers(1, (d if positive else k) + 1))
        left, values, right = np.linalg.svd(product, full_matrices=False)
        values[width:] = 0
        weights = ln.inits.balanced((left * values) @ right, imbalance=(2 if positive else -2) * level, width=width)
    else:
        return draw_by_hand(random, k, d, level)
    turn = np.linalg.qr(random.normal(size=(weights.width, weights.width)))[0]
    return ln.Weights(turn @ weights.first, weights.second @ turn.T)


def draw_by_hand(random: np.random.Generator, k: int, d: int, level: float) -> ln.Weights:
    """Weights of no particular kind: sparse, rank one, graded columns, or of very different layers."""
    width = int(10 ** random.uniform(0, 2))
    first, second = random.normal(size=(width, d)), random.normal(size=(k, width))
    choice = int(random.integers(4))
    if choice == 0:
        first, second = (layer * (random.random(layer.shape) < 0.3) for layer in (first, second))
        first[0, 0] = second[0, 0] = 1.0
    elif choice == 1:
        first = np.outer(first[:, 0], random.normal(size=d))
    elif choice == 2:
        first = first * 10 ** random.uniform(-1, 0.5, size=d)
    else:
        first, second = np.abs(first) * 10 ** random.uniform(-1, 1), random.choice([-1.0, 1.0], size=second.shape)
    size = np.sqrt(level / width)
    return ln.Weights(size * first, size * second)


def draw_deep(random: np.random.Generator, kind: str, k: int, d: int, strength: float) -> tuple[ln.Weights, float]:
    """Three or four layers, and the time that a mode of strength 1 needs."""
    depth, seed = int(random.integers(3, 5)), int(random.integers(2**31))
    coupling = strength ** (1 / depth) * 10 ** random.uniform(-0.6, 0.3)
    if kind == "deep balanced":
        product = random.normal(size=(k, d)) * coupling**depth / d**0.5
        if random.random() < 0.5:
            product = product * 0.1
        weights = ln.inits.balanced(product, depth=depth, width=min(k, d) + int(random.integers(0, 4)))
    elif kind == "deep orthogonal":
        width = 2 * (d + k) + int(10 ** random.uniform(0, 2))
        weights = ln.inits.orthogonal_layers(key=seed, in_dim=d, out_dim=k, width=width, scales=coupling, depth=depth)
    else:
        width = int((d + k) * 10 ** random.uniform(1.5, 7))
        weights = ln.inits.reduced_gaussian(
            key=seed, in_dim=d, out_dim=k, width=width, stds=coupling / width**0.5, depth=depth
        )
    kappa = coupling * strength ** (-1 / depth)
    wait = kappa ** (2 - depth) + 1 / (depth * max(kappa, 1) ** (2 * depth - 2))
    return weights, strength ** (2 / depth - 2) * wait


def exact_products(drawn: Drawn) -> np.ndarray:
    """The products of the network under gradient flow, by SciPy: slow, and independent of every trainer."""
    problem, layers = drawn.problem, list(drawn.weights.layers)
    if len(layers) == 2 and drawn.weights.width > problem.in_dim + problem.out_dim:
        frame = np.linalg.qr(np.concatenate([layers[0], layers[1].T], axis=1))[0]
        layers = [frame.T @ layers[0], layers[1] @ frame]
    return flowing_products(problem.cov, problem.cross, layers, drawn.times, tolerance=1e-12)
