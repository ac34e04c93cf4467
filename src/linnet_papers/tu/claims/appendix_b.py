"""Appendix B: what the proof of Theorem 1 is made of: imbalance, projections, the cubic equations, their Jacobian."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import AllOf, AtLeast, AtMost, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.tu import misprints
from linnet_papers.tu.tables import widths
from linnet_papers.tu.tables.widths import GAUSSIAN, TRIED
from linnet_papers.tu.training.starts import gaussian_start

HALF_POWER = Limit(0.1, "of an exponent of -1/2, fitted over w/d = 4 .. 16384: the next order is (w/d)^-1")
EXACT = Limit(1e-7, "the flow of a network against the closed form, integrated to 1e-9")
ROUNDING = Limit(1e-10, "a balanced start has the Gram matrices it was built with")


@claim(
    "lemma-b2",
    says="The imbalance of the layers is conserved by gradient flow for every cost.",
    assumes="gradient flow",
    tried=TRIED + "; matrix completion 4 x 5",
    holds=Below(
        1e-6,
        what="largest relative change",
        form=".1e",
        because="the flow is integrated to 1e-9 of the weights' entries",
    ),
    reads="largest relative change of the imbalance: {square:.1e} (square loss), {masked:.1e} (matrix completion)",
)
def conserved_imbalance(trial: Trial) -> Numbers:
    draw = generator(key=trial.seed)
    values, mask = draw.normal(size=(4, 5)), draw.random((4, 5)) < 0.7
    weights = ln.inits.gaussian(key=trial.seed, in_dim=5, out_dim=4, width=9, stds=0.5)
    run = ln.gradient_flow(ln.problems.matrix_completion(values, mask), weights, times=[0.0, 1.0, 5.0])
    square, masked = (
        np.abs(imbalance - imbalance[0]).max() / np.abs(imbalance[0]).max()
        for imbalance in (widths.TABLE.rows(trial).weights.imbalance, run.weights.imbalance)
    )
    return {"square": square, "masked": masked, "value": highest(square, masked)}


def projections(weights: ln.Weights) -> tuple[np.ndarray, np.ndarray]:
    """Return the projections P1 onto the span of W1, and P2 onto what W2 has outside it: orthogonal to each other."""
    basis, second = np.linalg.qr(weights.first)[0], weights.second.T
    one = basis @ basis.T
    rest = np.linalg.qr(second - one @ second)[0]
    return one, rest @ rest.T


@claim(
    "lemma-b3",
    says="At initialization W1 W1^T and W2^T W2 are within O(sigma^2 sqrt(wd) log d) of sigma^2 w times two orthogonal "
    "projections.",
    assumes="iid Gaussian weights",
    tried="d = 20 (full: 60), w/d = 4 .. 4096",
    holds=AllOf(
        Within(HALF_POWER, "rates", of=-0.5, what="exponent in w/d of the distance over sigma^2 w"),
        Below(2.0, "constants", times="log", what="constant", because="a constant of two in O(sigma^2 sqrt(wd) log d)"),
    ),
    reads="(5) and (6): |W1 W1^T - sigma^2 w P1| and |W2^T W2 - sigma^2 w P2| over sigma^2 w change like w/d to the "
    "powers {rates:.3f} and are at most {constants:.2f} sigma^2 sqrt(wd); log d is {log:.1f}",
)
def projections_of_the_start(trial: Trial) -> Numbers:
    dim, seeds = (20, 3) if trial.quick else (60, 6)
    ratios = 4.0 ** np.arange(1, 7)
    gaps = np.zeros((2, ratios.size, seeds))
    for i, ratio in enumerate(ratios):
        for j in range(seeds):
            w = gaussian_start(dim, ratio * dim, std=float((ratio * dim) ** -0.5), key=[trial.seed, i, j])
            one, two = projections(w)
            apart = w.first @ w.first.T - one, w.second.T @ w.second - two
            gaps[:, i, j] = np.linalg.norm(apart, 2, axis=(1, 2))
    constants = (gaps * np.sqrt(ratios)[:, None]).max(axis=(1, 2))
    return {"rates": [exponent(ratios, gap)[0] for gap in gaps], "constants": constants, "log": np.log(dim)}


@claim(
    "cubic",
    says="The self-consistent Gram matrices solve the cubic equations, which the network's own miss by "
    "O(sqrt(d/w)) sigma^4 w^2 |C1|.",
    assumes=GAUSSIAN,
    tried=TRIED,
    holds=AllOf(
        Below(
            1e-12,
            "own",
            what="residual of Chat",
            form=".0e",
            because="the matrices solve the cubic equations up to rounding",
        ),
        Within(HALF_POWER, of=-0.5, what="exponent in w/d of the networks' own residual"),
    ),
    reads="Chat solves both cubic equations to {own:.0e}; at the networks' own C they miss by at most {constant:.2f} "
    "sqrt(d/w) sigma^4 w^2 |C1|, changing like (w/d)^{value:.3f}",
)
def cubic_equations(trial: Trial) -> Numbers:
    runs = widths.TABLE.rows(trial)
    g, product = runs.threshold, runs.weights[-1, -1, 0].product
    one, two = lazy_active.gram_matrices(product, g)
    residuals = lazy_active.gram_cubic(one, two, product, g), lazy_active.gram_cubic(two, one, product.T, g)
    own = np.linalg.norm(residuals, 2, axis=(1, 2)).max() / np.linalg.norm(one, 2) ** 3
    misses = runs.cubic_misses  # claimed: sqrt(d/w) up to a constant
    rate, error = exponent(runs.ratios, misses)
    return {"own": own, "constant": (misses * np.sqrt(runs.ratios)).max(), "value": rate, "uncertainty": error}


def jacobian(weights: ln.Weights, gap: np.ndarray, ratio: float) -> np.ndarray:
    """Return the block matrix of B.2 for a singular value of `ratio` times the threshold: (inputs +
    outputs) by as many; `gap` is P1 - P2."""
    first, second, root = weights.first, weights.second, np.hypot(ratio, 1.0)
    upper = root * first.T @ first + first.T @ gap @ first
    lower = root * second @ second.T - second @ gap @ second.T
    return np.block([[upper, ratio * weights.product.T], [ratio * weights.product, lower]])


@claim(
    "jacobian",
    says="The 'Jacobian' of the cubic equations is positive definite, with eigenvalues of at least sigma^2 w.",
    assumes=GAUSSIAN,
    tried=TRIED + ", w >= 64 d",
    holds=AtLeast(
        0.8,
        what="least eigenvalue over sigma^2 w",
        because="sigma^2 w up to O(sigma^2 sqrt(wd)), an eighth at w = 64 d",
    ),
    reads="its least eigenvalue is at least {value:.3f} sigma^2 w over {cases} networks, times and singular values",
)
def positive_jacobian(trial: Trial) -> Numbers:
    runs = widths.TABLE.rows(trial)
    least = []
    for width in np.flatnonzero(runs.ratios >= 64):
        gap = np.subtract(*projections(runs.weights[0, width, 0]))
        for state in (0, len(runs.times) // 2, -1):
            weights = runs.weights[state, width, 0]
            values = ln.observables.singular_values(weights.product) / runs.threshold
            for ratio in values[[0, len(values) // 2, -1]]:
                least.append(np.linalg.eigvalsh(jacobian(weights, gap, ratio))[0] / runs.threshold)
    return {"value": lowest(least), "cases": len(least)}


FOLLOWS = AtMost(EXACT, what="distance of the network from eq. (1)", form=".0e")


@claim(
    "isotropic",
    says="A network with imbalance 2 sigma^2 w I follows eq. (1) exactly, with C1 = -sigma^2 w + Chat1.",
    assumes="imbalance a multiple of the identity: 2 sigma^2 w for more outputs than inputs, -2 sigma^2 w for fewer",
    tried="3 x 5, gradient flow; Gram matrices of 5 x 3; sigma^2 w = 0.3",
    holds=FOLLOWS & Below(ROUNDING, "printed", what="distance of C1 from -sigma^2 w + Chat1", form=".0e"),
    corrected=FOLLOWS & Below(ROUNDING, "right", what="distance of C1 from +sigma^2 w + Chat1", form=".0e"),
    correction="C1 = +sigma^2 w + Chat1 for an imbalance of +2 sigma^2 w: the print exchanges C1 and C2",
    reads="networks of this imbalance follow eq. (1) to {value:.0e}; C1 is {right:.0e} from +sigma^2 w + Chat1 and "
    "{printed:.2f} from the printed -sigma^2 w + Chat1",
)
def isotropic_imbalance(trial: Trial) -> Numbers:
    draw = generator(key=trial.seed)
    threshold = 0.3
    times = [0.3, 1.0, 4.0]
    gaps, printed, right = [], [], []
    for shape, sign in (((5, 3), 1), ((3, 5), -1)):
        target, start = draw.normal(size=shape), 0.5 * draw.normal(size=shape)
        weights = ln.inits.balanced(start, 2 * sign * threshold)
        run = ln.gradient_flow(ln.Problem.from_target(target), weights, times=times)
        gaps.append(np.abs(run.products - lazy_active.self_consistent(target, start, threshold, times)).max())
        grams = weights.first.T @ weights.first, weights.second @ weights.second.T
        for hat, gram, plus in zip(lazy_active.gram_matrices(start, threshold), grams, (sign, -sign)):
            if plus == sign or len(hat) == min(shape):  # the other layer's Gram matrix has a null space of its own
                shift = plus * threshold * np.eye(len(hat))
                right.append(np.abs(gram - (hat + shift)).max())
                printed.append(np.abs(gram - (hat + misprints.EXCHANGED * shift)).max())
    return {"right": highest(right), "printed": lowest(printed), "value": highest(gaps)}
