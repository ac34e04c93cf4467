"""At which rates label noise forgets the start, for any covariance and several outputs, and in which region."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import linnet as ln
from linnet_papers.own.settings import NORMAL_ERRORS
from linnet_papers.reproduction import Estimate, Rows, Trial, above, at_most, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import highest

RATE, DELTA, LONG_STEPS = 0.02, 0.6, 30_000
EACH_NETWORKS, NETWORKS = 16, 10  # where each rate is read, and where their mean is
SKEWED = (2.0, 1.0, 0.5, 0.25)


class Corner(NamedTuple):
    """One end of the region in which the rates are claimed."""

    name: str
    outputs: int = 1
    eigenvalues: tuple[float, ...] = SKEWED
    values: tuple[float, ...] = (2.0,)  # singular values of the solution, the last one repeated
    learning_rate: float = RATE
    noise_std: float = DELTA
    width: int = 8
    scale: float = 1.0  # of the initialization
    fitted: bool = False  # start at the flattest interpolator: weak directions take long to fit and to balance


PLAIN = Corner("plain")
CORNERS = (
    Corner("two nearly equal singular values", outputs=2, values=(2.02, 2.0)),
    Corner("two singular values ten times apart", outputs=2, values=(3.0, 0.3), fitted=True),
    Corner("three outputs of four inputs", outputs=3, fitted=True),
    Corner("condition number $10^4$", eigenvalues=(10.0, 1.0, 0.1, 0.001), fitted=True),
    Corner("two units, whitened inputs", eigenvalues=(1.0,) * 4, width=2, noise_std=1.0),
    Corner("200 units", width=200),
    Corner("an initialization 1000 times smaller", scale=1e-3),
    Corner("an initialization 10 times larger", scale=10.0, noise_std=1.5),
    Corner("large noise", values=(2.8,), noise_std=2.0),
    Corner("long steps", values=(2.8,), learning_rate=0.12, noise_std=0.3),
)
BORDER = Corner("noise at the boundary", eigenvalues=(1.0,) * 4, values=(2.8,), noise_std=5.6)

MEAN = within(
    0.05,
    r"the second order, about $2 \eta \delta^2/s$, $s$ the second layer's smallest squared singular value",
    of=1,
    errors=NORMAL_ERRORS,
)
RESOLVED = 1.3  # factor between singular values halfway: those closer together have mixed, and are averaged
EACH = within(
    0.15,
    "rates of different directions mix until the singular values lie far apart",
    of=1,
    errors=NORMAL_ERRORS,
)
APART = above(1.5, "three times the deviation that a single rate is allowed: rates all alike would not show it")


@claim(
    "label-noise-rates",
    says="Under label noise the small singular values fall at rates that follow from the covariance of the inputs and "
    r"the number of outputs: $k \eta \delta^2/2$ times the smallest eigenvalues of $\Sigma + (\mathrm{tr} \Sigma/k) "
    r"\Pi$, with $\Pi$ the projector onto the rows of $A \Sigma^{1/2}$.",
    assumes=r"a covariance of full rank, a solution of rank $k$, $\eta \delta^2$ small against the square of the "
    "smallest singular value of the second layer",
    tried=r"4 inputs: one output at eigenvalues 2, 1, 1/2, 1/4; two outputs there and whitened; $\eta = 0.02$, "
    rf"$\delta = 0.6$; {EACH_NETWORKS} networks each, second half of {LONG_STEPS:,} steps (full: twice as long)",
)
def label_noise_rates(trial: Trial) -> Rows:
    steps = LONG_STEPS if trial.quick else 2 * LONG_STEPS
    means, each, apart = {}, {}, {}
    for outputs, eigenvalues in ((1, SKEWED), (2, SKEWED), (2, (1.0,) * 4)):
        problem = _skewed_problem(outputs, eigenvalues, (np.sqrt(8 / outputs),), key=[trial.seed, 32, outputs])
        rates = _late_rates(problem, steps, EACH_NETWORKS, key=[trial.seed, 33, outputs], corner=PLAIN)
        predicted = ln.theories.label_noise.decay_rates(problem, learning_rate=RATE, noise_std=DELTA)
        name = f"{outputs} output{'s' * (outputs > 1)}, eigenvalues {eigenvalues[0]:g} to {eigenvalues[-1]:g}"
        means[name] = Estimate.of_mean(rates.mean(1) / predicted.mean())
        halfway = RATE * (steps // 2)
        gaps = np.diff(predicted) * halfway > np.log(RESOLVED)
        for modes in np.split(np.arange(len(predicted)), np.flatnonzero(gaps) + 1):
            values = " and ".join(f"{outputs + mode + 1}" for mode in modes)
            each[f"{name}, value {values}"] = Estimate.of_mean(rates[:, modes].mean(1) / predicted[modes].mean())
        apart[outputs] = predicted[-1] / predicted[0]
    yield printed("mean rate over the predicted mean", means, MEAN)
    yield printed("each rate over its prediction, neighbors that have mixed together", each, EACH)
    yield printed("largest over smallest predicted rate of one output", apart[1], APART)


OUTSIDE = at_most(NORMAL_ERRORS, "one in 150 000 draws of a normal number lies beyond")
KNOWN = below(0.5, "a mean that is not known to half of what is allowed could not be refused")
ENDS = below(0.7, "a third less than the law: a region without an end would say nothing")


@claim(
    "label-noise-corners",
    says="The rates of `label-noise-rates` hold where two numbers are small: their mean is between $1 - 2.5 x$ and "
    r"$1 + 0.6 y$ of the law, $x = \eta \delta^2 \mathrm{tr} \Sigma/(2 s_{\min})$ and $y = \eta s_{\max} (\lVert "
    r"\Sigma \rVert + \mathrm{tr} \Sigma/k)/2$, with $s$ the eigenvalues of $W_2 W_2^\top$ at the flattest "
    "interpolator; where $x$ is 1 the law does not hold.",
    assumes="a covariance of full rank, a solution of rank $k$, $x$ up to 0.2, $y$ up to 0.7, a run whose second layer "
    "has settled",
    tried="4 inputs; "
    + "; ".join(corner.name + ", from the flattest interpolator" * corner.fitted for corner in CORNERS)
    + "; and $x = 0.9$",
)
def label_noise_corners(trial: Trial) -> Rows:
    law = ln.theories.label_noise
    means, noises, steps, outside, bars = {}, {}, {}, {}, {}
    for number, corner in enumerate((*CORNERS, BORDER)):
        problem = _skewed_problem(corner.outputs, corner.eigenvalues, corner.values, key=[trial.seed, 34, number])
        rate, noise = corner.learning_rate, corner.noise_std
        predicted = law.decay_rates(problem, learning_rate=rate, noise_std=noise)
        length = int(min(24 / (predicted.max() * rate), (1 if trial.quick else 3) * LONG_STEPS))
        rates = _late_rates(problem, length, NETWORKS, key=[trial.seed, 35, number], corner=corner)
        name = corner.name
        means[name] = mean = Estimate.of_mean(rates.mean(1) / predicted[: rates.shape[1]].mean())
        noises[name], steps[name] = x, y = law.expansion_parameters(problem, learning_rate=rate, noise_std=noise)
        outside[name] = highest(mean.errors_above(1 + 0.6 * y), -mean.errors_above(1 - 2.5 * x))
        bars[name] = mean.error / (2.5 * x + 0.6 * y)
    border = means.pop(BORDER.name)
    for numbers in (outside, bars, noises, steps):
        del numbers[BORDER.name]
    yield printed(
        "standard errors by which the mean rate over the law is outside $1 - 2.5 x$ to $1 + 0.6 y$", outside, OUTSIDE
    )
    yield printed("standard error of that mean over the width of what is allowed", bars, KNOWN)
    yield printed("mean rate over the law at $x = 0.9$", border, ENDS)
    yield fact("mean rate over the law", means)
    yield fact("$x$", noises)
    yield fact("$y$", steps)


def _skewed_problem(
    outputs: int, eigenvalues: tuple[float, ...], values: tuple[float, ...], *, key: list[int]
) -> ln.Problem:
    """Return a problem with these eigenvalues of its covariance and singular values of its solution.

    It has as many samples as inputs.
    """
    random = np.random.default_rng(key)
    d = len(eigenvalues)
    left, right = (np.linalg.qr(random.normal(size=(d, d)))[0] for _ in range(2))
    X = np.sqrt(d) * left @ (right * np.sqrt(eigenvalues) @ right.T)
    solution = np.linalg.qr(random.normal(size=(d, outputs)))[0].T
    sizes = np.pad(values, (0, outputs - len(values)), mode="edge")
    return ln.Problem.from_data(X, X @ solution.T * sizes)


def _late_rates(problem: ln.Problem, steps: int, networks: int, *, key: list[int], corner: Corner) -> np.ndarray:
    """Return the rates of the small singular values of W1 over the second half of the run (network, value)."""
    d, k = problem.in_dim, problem.out_dim
    run = ln.label_noise_descent(
        problem,
        ln.Weights.stack([_start(problem, corner, key)] * networks),
        learning_rate=corner.learning_rate,
        steps=steps,
        noise_std=corner.noise_std * np.sqrt(d),
        key=key,
        save_every=steps // 2,
    )
    _, half, end = np.log(np.linalg.svd(run.reduced.first, compute_uv=False))[:3]
    return (half - end)[:, k : min(d, corner.width)] / (corner.learning_rate * (steps // 2))


def _start(problem: ln.Problem, corner: Corner, key: list[int]) -> ln.Weights:
    """Return the start of a corner: Gaussian where narrow, else orthogonal, or nearly the flattest interpolator."""
    sizes = {"in_dim": problem.in_dim, "out_dim": problem.out_dim, "width": corner.width}
    if corner.width < problem.in_dim:
        return ln.inits.gaussian(key=key, stds=corner.scale, **sizes)
    start = ln.inits.orthogonal(key=key, scale=corner.scale, **sizes)
    if not corner.fitted:
        return start
    fitted = _flattest_interpolator(problem)
    rest = 0.01 * start.first[: corner.width - fitted.width]
    return ln.Weights(np.vstack([fitted.first, rest]), np.pad(fitted.second, ((0, 0), (0, len(rest)))))


def _flattest_interpolator(problem: ln.Problem) -> ln.Weights:
    """Return the layers that fit every label and minimize the Hessian's trace, tr Sigma |W2|^2 + k tr W1 Sigma W1^T."""
    values, vectors = np.linalg.eigh(problem.cov)
    root = vectors * np.sqrt(values) @ vectors.T
    whitened = ln.inits.balanced(problem.min_norm_solution() @ root)
    share = (problem.out_dim / np.trace(problem.cov)) ** 0.25
    return ln.Weights(whitened.first @ np.linalg.inv(root) / share, share * whitened.second)
