"""What the scale of the start decides about the end: norms, rank and alignment, from vanishing to large."""

from __future__ import annotations

from functools import partial

import numpy as np

from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.settings import (
    FLOWS,
    INPUTS,
    INTERPOLATED,
    ONE_OUTPUT,
    OUTPUTS,
    REGRESSION,
    SAMPLES,
    STATIONARITY,
)
from linnet_papers.varre.tables import flows
from linnet_papers.varre.training.path import by_gamma

of_regression = partial(claim, assumes=INTERPOLATED, tried=REGRESSION)
of_one_output = partial(claim, assumes=f"{INTERPOLATED}, one output", tried=ONE_OUTPUT)


EXCESS = Limit(1e-4, "what Corollary 3.1 leaves at gamma = 1e-6 is d gamma over the nuclear norm, about 1e-5")
FAR = Limit(0.1, "at gamma >= 1 the norms must lie well above the nuclear norm, or the limit says nothing")


@of_regression(
    "nuclear-norm",
    says="As gamma tends to 0 the trained layers have the least squared norms, twice the nuclear norm of the solution.",
    holds=AllOf(
        Below(EXCESS, what="excess at the least gamma", form=".1e"),
        Above(FAR, "largest", what="excess at the largest gamma"),
    ),
    reads="squared norms over twice the nuclear norm, minus 1, by gamma: {by_gamma:.1e}",
)
def nuclear_norm(trial: Trial) -> Numbers:
    """Half the squared norms minus the nuclear norm, against gamma: it must vanish with it."""
    rows = by_gamma(flows.LIMITS.rows(trial))
    worst = {gamma: highest(abs(path.nuclear_norm_excess) for path in row) for gamma, row in rows.items()}
    return {"value": worst[min(worst)], "largest": worst[max(worst)], "by_gamma": worst}


NOT_LESS = Limit(1, "the sentence says that no interpolator has less")


@claim(
    "nuclear-minimum",
    says="The minimum-norm solution is also the interpolator of least nuclear norm.",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}; a dual certificate, and 20 other interpolators for each flow",
    holds=AllOf(
        Below(STATIONARITY, what="part of the certificate U V^T outside the span of the samples", form=".1e"),
        Above(
            NOT_LESS,
            "least_ratio",
            what="least nuclear norm of another interpolator, over the trained one's",
            form=".3f",
        ),
    ),
    reads="the trained predictor, and 20 other interpolators per flow",
)
def nuclear_minimum(trial: Trial) -> Numbers:
    """A certificate that no interpolator has a smaller nuclear norm, and interpolators drawn at random."""
    outside, ratios = [], []
    random = np.random.default_rng([trial.seed, 11])
    for path in flows.LIMITS.rows(trial):
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
    return {"value": highest(outside), "least_ratio": lowest(ratios)}


FALL = Limit(
    0.25, "half the exponent 1/2 of sqrt(2 gamma/|beta|): a neuron that starts within 1e-4 of across is still turning"
)


@of_one_output(
    "one-output-aligns",
    says="With one output and a small start, every neuron of the first layer aligns with the predictor.",
    holds=Above(FALL, what="least power of gamma with which the tangent of a neuron's angle falls", form=".3f"),
    reads="tangents of the angles of {neurons} neurons and the predictor fall with gamma to a power of {value:.3f} to "
    "{most:.3f} (1/2 by Corollary 3.1); median sine by gamma: {median:.1e}; largest: {worst:.1e}",
)
def alignment(trial: Trial) -> Numbers:
    """The angle of every neuron with the predictor, one output: how its tangent falls between the two least gammas.

    A neuron that starts nearly across the predictor aligns later than the others, so that the worst angle at one gamma
    is a matter of luck; its fall with gamma is not.
    """
    rows = by_gamma(flows.ONE_OUTPUT.rows(trial))
    least, next_least = sorted(rows)[:2]
    falls = np.concatenate(
        [
            np.log(two.neuron_tangents / one.neuron_tangents) / np.log(next_least / least)
            for one, two in zip(rows[least], rows[next_least], strict=True)
        ]
    )
    return {
        "value": lowest(falls),
        "most": highest(falls),
        "worst": {gamma: highest(path.neuron_sines.max() for path in row) for gamma, row in rows.items()},
        "median": {gamma: np.median([path.neuron_sines for path in row]) for gamma, row in rows.items()},
        "neurons": falls.size,
    }


RANK_K = Limit(0.02, "sigma_(k+1)/sigma_k is sqrt(2 gamma/sigma_k(beta)) at small gamma, about 1e-3 at 1e-6")
ISOTROPIC = Limit(1.2, "sigma_1/sigma_d tends to 1; at gamma = 10 and |beta| <= 10 Corollary 3.1 has at most 1.1")


@of_regression(
    "rank-by-scale",
    says="From a vanishing start the first layer resembles a matrix of rank k, from a large one an isotropic matrix.",
    holds=AllOf(
        Below(RANK_K, what="largest sigma_4/sigma_3 of W1 at the least gamma", form=".1e"),
        Below(ISOTROPIC, "large", what="largest sigma_1/sigma_10 at the largest gamma"),
    ),
    reads="gamma = {least:g} and {most:g}",
)
def rank_by_scale(trial: Trial) -> Numbers:
    """sigma_(k+1)/sigma_k at the smallest scale, sigma_1/sigma_d at the largest."""
    rows = by_gamma(flows.LIMITS.rows(trial))
    small = highest(path.values[OUTPUTS] / path.values[OUTPUTS - 1] for path in rows[min(rows)])
    large = highest(path.values[0] / path.values[-1] for path in rows[max(rows)])
    return {"value": small, "large": large, "least": min(rows), "most": max(rows)}


MORE = Limit(0.0, "the sentence says that it increases")


@of_regression(
    "log-det",
    says="With increasing gamma the trained layers have a larger log det(W1 W1^T).",
    holds=Above(MORE, what="least increase of it between two gammas, same data", form=".2f"),
    reads="mean of log det(W1 W1^T) by gamma: {by_gamma:.1f}",
)
def log_det(trial: Trial) -> Numbers:
    rows = by_gamma(flows.LIMITS.rows(trial))
    log_dets = np.array([[2 * np.log(path.values).sum() for path in row] for row in rows.values()])
    means = dict(zip(rows, log_dets.mean(axis=1), strict=True))
    return {"value": np.diff(log_dets, axis=0).min(), "by_gamma": means}


APPROXIMATE = Limit(0.15, "where gamma = |beta|/100 the ratio is sqrt(2/100) = 0.14")
NO_STRUCTURE = Limit(0.9, "where gamma = 3 |beta| the ratio is 0.987")
NEVER_LESS = Limit(-1e-8, "flows of nearly one gamma/|beta| may fall by their own tolerance")


@of_one_output(
    "crossover",
    says="With one output the first layer is approximately of rank one where gamma is far below |beta|, and the "
    "low-rank structure disappears where gamma is of the order of |beta| or above.",
    holds=AllOf(
        Below(APPROXIMATE, "small", what="largest sigma_2/sigma_1 where gamma < |beta|/100", form=".3f"),
        Above(NO_STRUCTURE, "large", what="least sigma_2/sigma_1 where gamma > 3 |beta|", form=".3f"),
        Above(
            NEVER_LESS, "rises", what="least increase of sigma_2/sigma_1 from one gamma/|beta| to the next", form=".1e"
        ),
    ),
    reads="{scales.count} flows, gamma/|beta| from {scales.first:.0e} to {scales.last:.0f}",
)
def crossover(trial: Trial) -> Numbers:
    rows = flows.ONE_OUTPUT.rows(trial)
    pairs = sorted((path.gamma / path.modes[0], path.values[1] / path.values[0]) for path in rows)
    scales, ratios = (np.array(each) for each in zip(*pairs, strict=True))
    small, large = ratios[scales < 0.01], ratios[scales > 3]
    return {"small": small, "large": large, "rises": np.diff(ratios), "scales": scales}


MAJORITY = Limit(0.5, "the paper shows one run: the rank it names must be that of most draws")


@claim(
    "gaussian-variance",
    says="From a Gaussian first layer of variance 0.01 and width 200 the final first layer has rank about k = 3.",
    assumes="second layer at zero",
    tried=f"{FLOWS}, Gaussian starts, 48 seeds (24 in quick mode)",
    holds=Above(MAJORITY, what="share of seeds of rank 3 with variance 0.01", form=".0%"),
    corrected=Above(MAJORITY, "right", what="share of seeds of rank 3 with standard deviation 0.01", form=".0%"),
    correction="a standard deviation of 0.01 in place of the variance",
    reads="values above 10% of the largest count; with variance 0.01 all of {ranks.count} seeds have rank "
    "{ranks.lowest:.0f} to {ranks.highest:.0f}",
)
def gaussian_variance(trial: Trial) -> Numbers:
    """Variance 0.01 at width 200 is an effective gamma of 1; standard deviation 0.01 is 0.01."""
    rows = by_gamma(flows.GAUSSIAN_STARTS.rows(trial))
    other, printed = (np.array([path.rank for path in row]) for row in rows.values())
    return {"value": np.mean(printed == OUTPUTS), "right": np.mean(other == OUTPUTS), "ranks": printed}
