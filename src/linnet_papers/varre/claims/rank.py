"""What the scale of the initialization decides about the end: norms, rank and alignment, from vanishing to large."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Range, Rows, Trial, above, below, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.grids import flows
from linnet_papers.varre.settings import (
    INPUTS,
    INTERPOLATED,
    ONE_OUTPUT,
    OUTPUTS,
    REGRESSION,
    SAMPLES,
    SIZES,
    STATIONARITY,
    WIDTH,
)
from linnet_papers.varre.training.path import by_gamma
from linnet_papers.varre.training.regression import gaussian_ends

of_regression = partial(claim, assumes=INTERPOLATED, tried=REGRESSION)
of_one_output = partial(claim, assumes=f"{INTERPOLATED}, one output", tried=ONE_OUTPUT)


EXCESS = below(
    1e-4, r"what Corollary 3.1 leaves at $\gamma = 10^{-6}$ is $d \gamma$ over the nuclear norm, about $10^{-5}$"
)
FAR = above(0.1, r"at $\gamma \ge 1$ the norms lie well above the nuclear norm, so that the limit is one")


@of_regression(
    "nuclear-norm",
    says=r"As $\gamma$ tends to 0 the trained layers have the smallest squared norms, twice the nuclear "
    "norm of the solution.",
)
def nuclear_norm(trial: Trial) -> Rows:
    """Half the squared norms minus the nuclear norm, against gamma: it must vanish with it."""
    rows = by_gamma(flows.regression(trial))
    worst = {gamma: highest(abs(path.nuclear_norm_excess) for path in row) for gamma, row in rows.items()}
    excess = "half the squared norms over the nuclear norm, minus 1"
    yield printed(rf"{excess}, at the smallest $\gamma$", worst[min(worst)], EXCESS)
    yield printed(rf"{excess}, at the largest $\gamma$", worst[max(worst)], FAR)
    yield fact("the same at each scale", {rf"$\gamma = {gamma:g}$": one for gamma, one in worst.items()})


NOT_LESS = above(1, "an interpolator below the trained one would be the minimum in its place")


@claim(
    "nuclear-minimum",
    says="The minimum-norm solution is also the interpolator of smallest nuclear norm.",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}; a dual certificate, and 20 other interpolators for each flow",
)
def nuclear_minimum(trial: Trial) -> Rows:
    """A certificate that no interpolator has a smaller nuclear norm, and interpolators drawn at random."""
    outside, ratios = [], []
    random = np.random.default_rng([trial.seed, 11])
    for path in flows.regression(trial):
        trained = path.whole_second @ path.whole_first
        left, values, right = np.linalg.svd(trained, full_matrices=False)
        vectors = np.linalg.eigh(path.whole_cov)[1]
        basis, free = vectors[:, -SAMPLES:], vectors[:, :-SAMPLES]
        # <U V^T, .> is the nuclear norm at the trained predictor and at most it elsewhere: a certificate if the rows
        # of U V^T are in the span of the samples, as then it has one value on all interpolators
        certificate = left @ right
        outside.append(np.abs(certificate - certificate @ basis @ basis.T).max())
        others = trained + random.standard_normal((20, OUTPUTS, INPUTS - SAMPLES)) @ free.T
        ratios.append(np.linalg.norm(others, "nuc", axis=(1, 2)).min() / values.sum())
    yield printed(r"part of the certificate $U V^\top$ outside the span of the samples", highest(outside), STATIONARITY)
    others = "smallest nuclear norm of another interpolator over that of the trained one"
    yield printed(others, lowest(ratios), NOT_LESS)


FALL = above(
    0.25,
    r"half the exponent 1/2 of $\sqrt{2 \gamma/\lvert \beta \rvert}$: a neuron that starts within $10^{-4}$ of across "
    "the first gradient is still turning, and one data set in 200 has one, so that the median is judged",
)


@of_one_output(
    "one-output-aligns",
    says="With one output and a small initialization, every neuron of the first layer aligns with the predictor.",
)
def alignment(trial: Trial) -> Rows:
    """The angle of every neuron with the predictor, one output: how its tangent falls between the two least gammas.

    A neuron that starts nearly across the first gradient aligns later than the others, so that the worst angle at one
    gamma is a matter of luck. So is its fall with gamma where it is still turning at the least gamma, hence the median
    over the data sets of their slowest neurons.
    """
    rows = by_gamma(flows.one_output(trial))
    least, next_least = sorted(rows)[:2]
    one, two = (np.array([path.neuron_tangents for path in rows[gamma]]) for gamma in (least, next_least))
    falls = np.log(two / one) / np.log(next_least / least)  # of each data set and neuron
    power = r"smallest power of $\gamma$ with which the tangent of a neuron's angle to the predictor falls"
    yield printed(f"{power}, median over the data sets", np.median(falls.min(axis=1)), FALL)
    yield fact("powers of all neurons, 1/2 by Corollary 3.1", falls.ravel())
    median = {rf"$\gamma = {gamma:g}$": np.median([path.neuron_sines for path in row]) for gamma, row in rows.items()}
    yield fact("median sine of a neuron and the predictor", median)


RANK_K = below(
    0.02,
    r"$\sigma_{k + 1}/\sigma_k$ is $\sqrt{2 \gamma/\sigma_k(\beta)}$ at small $\gamma$, about $10^{-3}$ at $10^{-6}$",
)
ISOTROPIC = below(
    1.2,
    r"$\sigma_1/\sigma_d$ tends to 1; at $\gamma = 10$ and $\lvert \beta \rvert \le 10$ Corollary 3.1 has at most 1.1",
)


@of_regression(
    "rank-by-scale",
    says="From a vanishing initialization the first layer resembles a matrix of rank $k$, from a large one an "
    "isotropic matrix.",
)
def rank_by_scale(trial: Trial) -> Rows:
    """sigma_(k+1)/sigma_k at the smallest scale, sigma_1/sigma_d at the largest."""
    rows = by_gamma(flows.regression(trial))
    small = highest(path.values[OUTPUTS] / path.values[OUTPUTS - 1] for path in rows[min(rows)])
    large = highest(path.values[0] / path.values[-1] for path in rows[max(rows)])
    yield printed(r"largest $\sigma_4/\sigma_3$ of $W_1$ at $\gamma = 10^{-6}$", small, RANK_K)
    yield printed(r"largest $\sigma_1/\sigma_{10}$ of $W_1$ at $\gamma = 10$", large, ISOTROPIC)


MORE = above(0.0, "one data set at which it falls would refute it, so that the smallest increase is judged")


@of_regression("log-det", says=r"With increasing $\gamma$ the trained layers have a larger $\log \det(W_1 W_1^\top)$.")
def log_det(trial: Trial) -> Rows:
    rows = by_gamma(flows.regression(trial))
    log_dets = np.array([[2 * np.log(path.values).sum() for path in row] for row in rows.values()])
    means = {rf"$\gamma = {gamma:g}$": mean for gamma, mean in zip(rows, log_dets.mean(axis=1), strict=True)}
    increase = r"smallest increase of $\log \det(W_1 W_1^\top)$ from one $\gamma$ to the next, same data"
    yield printed(increase, np.diff(log_dets, axis=0).min(), MORE)
    yield fact("mean of it over the data sets", means)


APPROXIMATE = below(0.15, r"where $\gamma = \lvert \beta \rvert/100$ the ratio is $\sqrt{2/100} = 0.14$")
NO_STRUCTURE = above(0.9, r"where $\gamma = 3 \lvert \beta \rvert$ the ratio is 0.987")
NEVER_LESS = above(-1e-8, r"flows of nearly one $\gamma/\lvert \beta \rvert$ may fall by their own tolerance")


@of_one_output(
    "crossover",
    says=r"With one output the first layer is approximately of rank one where $\gamma$ is far below $\lvert \beta "
    r"\rvert$, and the low-rank structure disappears where $\gamma$ is of the order of $\lvert \beta \rvert$ or above.",
)
def crossover(trial: Trial) -> Rows:
    rows = flows.one_output(trial)
    pairs = sorted((path.gamma / path.modes[0], path.values[1] / path.values[0]) for path in rows)
    scales, ratios = (np.array(each) for each in zip(*pairs, strict=True))
    small, large = ratios[scales < 0.01], ratios[scales > 3]
    yield printed(r"largest $\sigma_2/\sigma_1$ where $\gamma < \lvert \beta \rvert/100$", small, APPROXIMATE)
    yield printed(r"smallest $\sigma_2/\sigma_1$ where $\gamma > 3 \lvert \beta \rvert$", large, NO_STRUCTURE)
    increase = r"increase of $\sigma_2/\sigma_1$ from one $\gamma/\lvert \beta \rvert$ to the next"
    yield printed(increase, np.diff(ratios), NEVER_LESS)
    yield fact(r"$\gamma/\lvert \beta \rvert$ of the flows", scales)


MAJORITY = above(0.5, "the paper shows one run: the rank it names must be that of most draws")


@claim(
    "gaussian-variance",
    says="From a Gaussian first layer of variance 0.01 and width 200 the final first layer has rank about $k = 3$.",
    assumes="second layer at zero; a truth whose entries have a standard deviation of 1 to 30 (not given in the paper)",
    tried=f"gradient flow to $t = 300$, {SIZES}, width {WIDTH}, 24 seeds",
    correction="a standard deviation of 0.01 in place of the variance; at variance 0.01 it takes a truth a hundred "
    "times as large, as scaling truth and variance together scales the layers and nothing else",
    region={"truth": Range(1.0, 30.0, log=True)},
)
def gaussian_variance(trial: Trial) -> Rows:
    """Variance 0.01 at width 200 is an effective gamma of 1; standard deviation 0.01 is 0.01."""
    region = trial.region(1)
    larger = [setting["truth"] for setting in region.values()]
    settings = [*((0.01, WIDTH, truth) for truth in larger), (0.1, WIDTH, 1.0), (0.1, WIDTH, 30.0)]
    ends = gaussian_ends(settings, seed=trial.seed, seeds=24)
    low = [float(np.mean(rank == OUTPUTS)) for rank in np.asarray(ln.observables.numerical_rank(ends.values))]
    at_variance = {"truth 1": low[-2], "truth 30": low[-1]}
    yield printed("fraction of seeds with rank 3, at variance 0.01", at_variance, MAJORITY)
    by_deviation = dict(zip(region, low, strict=False))
    yield corrected("fraction of seeds with rank 3, at standard deviation 0.01", by_deviation, MAJORITY)
    ranks = ln.observables.numerical_rank(ends.values[-2])
    yield fact("ranks at variance 0.01, truth 1: values above 10% of the largest", ranks)
