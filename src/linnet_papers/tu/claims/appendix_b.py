"""Appendix B: what the proof of Theorem 1 is made of: imbalance, projections, the cubic equations, their Jacobian."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.reproduction.rows import at_least, at_most, below, both, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import widths
from linnet_papers.tu.grids.widths import GAUSSIAN, TRIED
from linnet_papers.tu.training.starts import gaussian_start

HALF_POWER = within(0.1, "fitted over $w/d$ from 4 to 16384, where the next order is $(w/d)^{-1}$", of=-0.5)
CONSERVED = below(1e-6, "the flow is integrated to $10^{-9}$ of the weights' entries")


@claim(
    "lemma-b2",
    says="The imbalance of the layers is conserved by gradient flow for every cost.",
    assumes="gradient flow",
    tried=rf"{TRIED}; matrix completion $4 \times 5$",
)
def conserved_imbalance(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    values, mask = draw.normal(size=(4, 5)), draw.random((4, 5)) < 0.7
    weights = ln.inits.gaussian(key=trial.seed, in_dim=5, out_dim=4, width=9, stds=0.5)
    run = ln.gradient_flow(ln.problems.matrix_completion(values, mask), weights, times=[0.0, 1.0, 5.0])
    both_costs = {"square loss": widths.flows(trial).weights.imbalance, "matrix completion": run.weights.imbalance}
    changes = {name: np.abs(own - own[0]).max() / np.abs(own[0]).max() for name, own in both_costs.items()}
    yield printed("largest change of the imbalance over its largest entry", changes, CONSERVED)


def projections(weights: ln.Weights) -> tuple[np.ndarray, np.ndarray]:
    """Return the projections P1 onto the span of W1, and P2 onto what W2 has outside it: orthogonal to each other."""
    basis, second = np.linalg.qr(weights.first)[0], weights.second.T
    one = basis @ basis.T
    rest = np.linalg.qr(second - one @ second)[0]
    return one, rest @ rest.T


@claim(
    "lemma-b3",
    says=r"At initialization $W_1 W_1^\top$ and $W_2^\top W_2$ are within $O(\sigma^2 \sqrt{w d} \log d)$ of "
    r"$\sigma^2 w$ times two orthogonal projections.",
    assumes="iid Gaussian weights",
    tried="$d = 20$ (full: 60), $w/d$ from 4 to 4096",
)
def projections_of_the_start(trial: Trial) -> Rows:
    dim, seeds = (20, 3) if trial.quick else (60, 6)
    ratios = 4.0 ** np.arange(1, 7)
    gaps = np.zeros((2, ratios.size, seeds))
    for i, ratio in enumerate(ratios):
        for j in range(seeds):
            w = gaussian_start(dim, ratio * dim, std=float((ratio * dim) ** -0.5), key=[trial.seed, i, j])
            one, two = projections(w)
            apart = w.first @ w.first.T - one, w.second.T @ w.second - two
            gaps[:, i, j] = np.linalg.norm(apart, 2, axis=(1, 2))
    gap = r"$\lvert W_1 W_1^\top - \sigma^2 w P_1 \rvert$ and $\lvert W_2^\top W_2 - \sigma^2 w P_2 \rvert$"
    powers = [exponent(ratios, own)[0] for own in gaps]
    yield printed(rf"powers of $w/d$ with which {gap} over $\sigma^2 w$ change", powers, HALF_POWER)
    yield printed(
        rf"largest {gap} over $\sigma^2 \sqrt{{w d}} \log d$",
        (gaps * np.sqrt(ratios)[:, None]).max(axis=(1, 2)) / np.log(dim),
        below(2.0, r"the edge of the spectrum, $2 \sigma^2 \sqrt{w d}$, without its $\log d$"),
    )


SOLVED = below(1e-12, "the matrices solve the equations up to the rounding of a cube")


@claim(
    "cubic",
    says="The self-consistent Gram matrices solve the cubic equations, which the network's own miss by "
    r"$O(\sqrt{d/w}) \sigma^4 w^2 \lvert C_1 \rvert$.",
    assumes=GAUSSIAN,
    tried=TRIED,
)
def cubic_equations(trial: Trial) -> Rows:
    runs = widths.flows(trial)
    g, product = runs.threshold, runs.weights[-1, -1, 0].product
    one, two = lazy_active.gram_matrices(product, g)
    residuals = lazy_active.gram_cubic(one, two, product, g), lazy_active.gram_cubic(two, one, product.T, g)
    own = np.linalg.norm(residuals, 2, axis=(1, 2)).max() / np.linalg.norm(one, 2) ** 3
    misses = runs.cubic_misses  # claimed: sqrt(d/w) up to a constant
    missed = r"residual of the network's own $C$ over $\sigma^4 w^2 \lvert C_1 \rvert$"
    yield printed(r"largest residual of $\hat C$ over $\lvert \hat C_1 \rvert^3$", own, SOLVED)
    yield printed(
        f"power of $w/d$ with which the largest {missed} changes", exponent(runs.ratios, misses)[0], HALF_POWER
    )
    yield fact(rf"largest {missed}, over $\sqrt{{d/w}}$", (misses * np.sqrt(runs.ratios)).max())


def jacobian(weights: ln.Weights, gap: np.ndarray, ratio: float) -> np.ndarray:
    """Return the block matrix of B.2 for a singular value of `ratio` times the threshold: (inputs +
    outputs) by as many; `gap` is P1 - P2."""
    first, second, root = weights.first, weights.second, np.hypot(ratio, 1.0)
    upper = root * first.T @ first + first.T @ gap @ first
    lower = root * second @ second.T - second @ gap @ second.T
    return np.block([[upper, ratio * weights.product.T], [ratio * weights.product, lower]])


POSITIVE = at_least(0.8, r"$\sigma^2 w$ up to $O(\sigma^2 \sqrt{w d})$, which is an eighth of it at $w = 64 d$")


@claim(
    "jacobian",
    says="The 'Jacobian' of the cubic equations is positive definite, with eigenvalues of at least $\\sigma^2 w$.",
    assumes=GAUSSIAN,
    tried=rf"{TRIED}, $w \ge 64 d$",
)
def positive_jacobian(trial: Trial) -> Rows:
    runs = widths.flows(trial)
    least = []
    for width in np.flatnonzero(runs.ratios >= 64):
        gap = np.subtract(*projections(runs.weights[0, width, 0]))
        for state in (0, len(runs.times) // 2, -1):
            weights = runs.weights[state, width, 0]
            values = ln.observables.singular_values(weights.product) / runs.threshold
            for ratio in values[[0, len(values) // 2, -1]]:
                least.append(np.linalg.eigvalsh(jacobian(weights, gap, ratio))[0] / runs.threshold)
    yield printed(r"least eigenvalue over $\sigma^2 w$", lowest(least), POSITIVE)
    yield fact("networks, times and singular values looked at", len(least))


FOLLOWS = at_most(1e-7, "the flow of a network, integrated to $10^{-9}$, against the closed form")
BUILT = below(1e-10, "a balanced initialization has the Gram matrices it was built with, up to rounding")


@claim(
    "isotropic",
    says=r"A network with imbalance $2 \sigma^2 w I$ follows eq. (1) exactly, with $C_1 = -\sigma^2 w + \hat C_1$.",
    assumes=r"imbalance a multiple of the identity: $2 \sigma^2 w$ for more outputs than inputs, $-2 \sigma^2 w$ for "
    "fewer",
    tried=r"$3 \times 5$ and $5 \times 3$, gradient flow; size: root mean square entry of the target",
    correction=r"$C_1 = +\sigma^2 w + \hat C_1$ for an imbalance of $+2 \sigma^2 w$: the print exchanges $C_1$ and "
    "$C_2$",
    region={"threshold": Range(0.03, 3, log=True), "size": Range(0.1, 10, log=True)},
)
def isotropic_imbalance(trial: Trial) -> Rows:
    found = {name: gaps_at_isotropic_imbalance(**setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    follows, exchanged, right = ({name: own[i] for name, own in found.items()} for i in range(3))
    yield both("largest distance of the network from eq. (1), over the size of the target", follows, FOLLOWS)
    yield printed(r"distance of $C_1$ from $-\sigma^2 w + \hat C_1$, over $\sigma^2 w$", exchanged, BUILT)
    yield corrected(r"distance of $C_1$ from $+\sigma^2 w + \hat C_1$, over $\sigma^2 w$", right, BUILT)


def gaps_at_isotropic_imbalance(threshold: float, size: float, seed: int) -> tuple[float, float, float]:
    """Return the largest distance of two networks from eq. (1); the lowest of their Gram matrices from those with the
    signs exchanged; and the largest from those with the right signs."""
    draw = generator(key=seed)
    times = np.array([0.3, 1.0, 4.0]) / max(size, threshold)
    gaps, exchanged, right = [], [], []
    for shape, sign in (((5, 3), 1), ((3, 5), -1)):
        target, start = size * draw.normal(size=shape), 0.5 * size * draw.normal(size=shape)
        weights = ln.inits.balanced(start, 2 * sign * threshold)
        run = ln.gradient_flow(ln.Problem.from_target(target), weights, times=times)
        theory = lazy_active.self_consistent(target, start, threshold, times)
        gaps.append(np.abs(run.products - theory).max() / size)
        grams = weights.first.T @ weights.first, weights.second @ weights.second.T
        for hat, gram, plus in zip(lazy_active.gram_matrices(start, threshold), grams, (sign, -sign)):
            if plus == sign or len(hat) == min(shape):  # the other layer's Gram matrix has a null space of its own
                shift = plus * threshold * np.eye(len(hat))
                right.append(np.abs(gram - (hat + shift)).max() / threshold)
                exchanged.append(np.abs(gram - (hat + misprints.EXCHANGED * shift)).max() / threshold)
    return highest(gaps), lowest(exchanged), highest(right)
