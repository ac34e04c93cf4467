"""Watanabe et al., sections 2 and 3.2, Appendix A: the flow, its form in the adapted basis, and the constants of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Estimate, Rows, Trial, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import exponent, highest
from linnet_papers.watanabe.settings import ALIGNMENT, AT_PAIR, DIM, NETWORK, PAIR, SCALE, SPIKE, WIDTH, pair_name
from linnet_papers.watanabe.training.phases import (
    gaussian_start,
    pair_moments,
    paper_starts,
    train_batch,
    trained_networks,
)
from linnet_papers.watanabe.training.samples import spiked_inputs, target


def paper_loss(first: np.ndarray, second: np.ndarray, cov: np.ndarray, target: np.ndarray) -> np.ndarray:
    """(5) in the limit of many samples, without the canonical half; `first` (..., h, d), `second` (..., h)."""
    miss = np.einsum("...h,...hi->...i", second, first) - target
    return np.einsum("...i,ij,...j->...", miss, cov, miss)


def numeric_gradient(
    first: np.ndarray, second: np.ndarray, cov: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of `paper_loss` in W and a by central differences: exact but for rounding, as the loss is
    quadratic in each weight alone."""
    step = 1e-2

    def slope(loss: Callable[[np.ndarray], np.ndarray], weights: np.ndarray) -> np.ndarray:
        nudges = step * np.eye(weights.size).reshape(weights.size, *weights.shape)
        return ((loss(weights + nudges) - loss(weights - nudges)) / (2 * step)).reshape(weights.shape)

    return (
        slope(lambda moved: paper_loss(moved, second, cov, target), first),
        slope(lambda moved: paper_loss(first, moved, cov, target), second),
    )


def printed_flow(theory: TwoPhase, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dW/dt (hidden, input) and da/dt (hidden,) by (9)-(12), in the adapted basis; tau = 1."""
    along = second @ first
    one = theory.lambda1 * along[0] - theory.nu * along[1]
    two = -theory.nu * along[0] + theory.lambda2 * along[1]
    rest = theory.variance * along[2:]
    scalars = np.concatenate([[theory.correlation - one, -two], -rest])
    others = first[:, 2:] @ rest
    return np.outer(second, scalars), (theory.correlation - one) * first[:, 0] - two * first[:, 1] - others


def sample_descent(
    X: np.ndarray, y: np.ndarray, weights: ln.Weights, eta: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return W and a after full-batch gradient descent on (5), sample by sample, with the paper's learning rate."""
    first, second = np.array(weights.first), np.array(weights.second[0])
    for _ in range(steps):
        miss = 2 * (X @ first.T @ second - y) / len(X)  # dL/df at every sample
        first, second = first - eta * np.outer(second, miss @ X), second - eta * (first @ (miss @ X))
    return first, second


def empirical_moments(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (8): the empirical covariance and input-output correlation."""
    return X.T @ X / len(X), y @ X / len(X)


def time_constant(eta: float) -> float:
    """Return tau of (6)-(7)."""
    return 1 / (2 * eta)


def label_power(spike: float, alignment: float) -> float:
    """Return E[y^2] by the line below (27), unit variance."""
    return 1 + spike * alignment**2


@claim(
    "eq6",
    says=r"For an infinitesimal learning rate $\eta$, gradient descent on (5) is the gradient flow (6)-(7) of the "
    r"empirical moments (8), with $\tau = 1/(2 \eta)$ steps.",
    tried=f"{NETWORK}, $s = 0.3$, $n = 200$ samples, {AT_PAIR}; descent sample by sample, to $t = 0.8$",
)
def flow(trial: Trial) -> Rows:
    X = spiked_inputs(generator(trial.seed, 6), 200, SPIKE)
    y = X @ target(ALIGNMENT)
    weights = gaussian_start(trial.seed + 1, DIM, WIDTH, 0.3)
    covariance, cross = empirical_moments(X, y)
    data = ln.Problem.from_moments(covariance, cross[None], truth=target(ALIGNMENT)[None])
    gaps = {}
    for eta, number in zip((0.002, 0.001, 0.0005), (200, 400, 800), strict=True):
        first, second = sample_descent(X, y, weights, eta, number)
        end = ln.gradient_flow(data, weights, times=[0.0, number / time_constant(eta)], rtol=1e-11).weights
        gaps[eta] = highest(np.abs(first - end.first[-1]).max(), np.abs(second - end.second[-1, 0]).max())
    order = within(0.1, "Euler's method is of order 1: the slope in its step is 1 up to the next order", of=1)
    yield printed(
        r"slope in $\eta$ of the distance of descent from the flow", exponent(list(gaps), list(gaps.values()))[0], order
    )
    yield fact(r"that distance, by $\eta$", gaps)


@claim(
    "samples",
    says=r"For many samples the empirical moments (8) tend to $\Sigma$ and $\Sigma \beta$, the mean square of the "
    r"labels to $1 + \rho A^2$, and a network's trajectory to the population's.",
    assumes="Gaussian inputs by (1), labels by (2), finite $d$",
    tried=r"moments at three pairs of spike and alignment, 100 data sets of $n$ = 100, 1000, 10 000; networks of "
    rf"{NETWORK}, $s = 10^{{-5}}$ at {AT_PAIR} with $n$ = 1000 and 100 000, six data sets each",
)
def many_samples(trial: Trial) -> Rows:
    random = generator(trial.seed, 8)
    sizes = [100, 1000, 10_000]
    exponents, away = {}, {}
    for spike, alignment in ((20.0, 0.3), (1.0, 0.8), (5.0, 0.0)):
        moments = pair_moments(spike, alignment, dim=6)
        beta = target(alignment, 6)
        sigma = moments.basis.T @ moments.cov @ moments.basis
        wanted = {"covariance": sigma, "correlation": sigma @ beta, "power": np.array(label_power(spike, alignment))}
        gaps: dict[str, list[float]] = {name: [] for name in wanted}
        for n in sizes:
            inputs = [spiked_inputs(random, n, spike, 6) for _ in range(100)]
            draws = [(*empirical_moments(X, X @ beta), np.mean((X @ beta) ** 2)) for X in inputs]
            drawn = dict(zip(wanted, map(np.array, zip(*draws)), strict=True))
            for name, limit in wanted.items():
                gaps[name].append(np.sqrt(np.mean((drawn[name] - limit) ** 2)))
        for name, limit in wanted.items():
            along = [np.sum(value * limit) for value in drawn[name]]  # one number of each, at the largest n
            at = f"{name}, {pair_name(spike, alignment)}"
            away[at] = abs(Estimate.of_mean(along).errors_above(np.sum(limit * limit)))
            exponents[at] = exponent(sizes, gaps[name])[0]
    ideal = trained_networks(trial)
    weights = paper_starts(trial.seed, SCALE)
    few, many = (
        [
            np.abs(train_batch(PAIR, weights, ideal.times, samples=n, key=key).components - ideal.components).max()
            for key in range(6 * trial.seed, 6 * trial.seed + 6)
        ]
        for n in (1000, 100_000)
    )
    yield printed(
        "exponent of $n$ in the distance of each moment from its limit",
        exponents,
        within(0.1, "means of $n$ independent terms; 100 data sets leave a scatter of 0.02", of=-0.5),
    )
    yield printed(
        "distance of the mean at the largest $n$ from its limit, in standard errors",
        away,
        below(4.5, "the largest of nine: one run in 10 000 exceeds it by chance"),
    )
    yield printed(
        r"distance of the trajectory from the population's, $n = 100\,000$ over $n = 1000$",
        np.mean(many) / np.mean(few),
        below(0.4, "a tenth by the square root of $n$, and four times that for the scatter of six data sets"),
    )


@claim(
    "eq9",
    says="In the adapted basis the gradient flow reads (9)-(12).",
    assumes="population covariance",
    tried="random states of networks with $d = 8$, $m = 10$ at three pairs of spike and alignment",
)
def adapted_flow(trial: Trial) -> Rows:
    random = generator(trial.seed, 5)
    errors = {}
    for spike, alignment in ((20.0, 0.3), (1.0, 0.8), (100.0, 0.1)):
        moments = pair_moments(spike, alignment, dim=8)
        first, second = random.standard_normal((10, 8)) / 3, random.standard_normal(10) / 3
        gradient = numeric_gradient(first, second, moments.cov, moments.limit)
        formulas = printed_flow(TwoPhase(spike, alignment), first, second)
        for layer, part, formula in zip(("$W$", "$a$"), gradient, formulas, strict=True):
            error = np.abs(-0.5 * part - formula).max() / np.abs(0.5 * part).max()
            errors[f"{layer}, {pair_name(spike, alignment)}"] = error
    identity = below(1e-8, "an identity, up to the rounding of central differences of a loss of size 10")
    yield printed(
        "relative distance of (9)-(12) from minus half the numerical gradient of the loss (5)", errors, identity
    )


@claim(
    "appA",
    says="The constants of the flow have the closed forms of Appendix A.",
    assumes="positive spike, $0 < A < 1$",
    tried="spikes from 0.01 to 1000, alignments from 0.01 to 0.999, 25 pairs",
)
def constants(trial: Trial) -> Rows:
    names = (
        r"$\lvert \Sigma_{xy} \rvert$",
        r"$\lambda_1$",
        r"$\lambda_2$",
        r"$\nu$",
        "cosine with $v_1$",
        "cosine with $v_2$",
    )
    errors = dict.fromkeys(names, 0.0)
    for spike in (0.01, 0.5, 3.0, 20.0, 1e3):
        for alignment in (0.01, 0.3, 0.5, 0.9, 0.999):
            moments, theory = pair_moments(spike, alignment, dim=4), TwoPhase(spike, alignment)
            true = [moments.cross[0], moments.cov[0, 0], moments.cov[1, 1], -moments.cov[0, 1], *moments.basis[:2, 0]]
            closed = [theory.correlation, theory.lambda1, theory.lambda2, theory.nu, *theory.basis[:, 0]]
            for name, a, b in zip(names, true, closed, strict=True):
                errors[name] = highest(errors[name], abs(b / a - 1))
    yield printed(
        "largest relative distance of each constant from the product of matrices",
        errors,
        below(
            1e-6,
            "closed forms against matrices, in which cosines of $10^{-3}$ and less lose digits: $10^{-8}$ is found",
        ),
    )
