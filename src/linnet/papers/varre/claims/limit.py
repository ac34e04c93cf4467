"""Where training ends: Theorem 3.1, Corollary 3.1 and what they say of small and large starts."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.path import by_gamma
from linnet.papers.varre.settings import FLOWS, INPUTS, ONE_OUTPUT, OUTPUTS, REGRESSION, SAMPLES, START
from linnet.papers.varre.tables import gaussian_starts, limits, one_output
from linnet.papers.varre.tables.flows import limit_error
from linnet.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, Verdict, claim
from linnet.reproduction.fits import highest, lowest

ASSUMES = f"{START}, data that can be interpolated"

ERROR = Limit(1e-8, "the flows are integrated to a relative tolerance of 1e-11 and end at 1e-21 of their loss")
STATIONARITY = Limit(1e-7, "at gamma = 1e-6 the inverse of W1^T W1 loses six of the sixteen digits")
MAJORITY = Limit(0.5, "the paper shows one run: the rank it names must be that of most draws")
FALL = Limit(
    0.25, "half the exponent 1/2 of sqrt(2 gamma/|beta|): a neuron that starts within 1e-4 of across is still turning"
)
LOSS = Limit(1e-16, "a loss that is zero but for rounding; flows end at 1e-21 of theirs")
EXCESS = Limit(1e-4, "what Corollary 3.1 leaves at gamma = 1e-6 is d gamma over the nuclear norm, about 1e-5")
FAR = Limit(0.1, "at gamma >= 1 the norms must lie well above the nuclear norm, or the limit says nothing")
NOT_LESS = Limit(1, "the sentence says that no interpolator has less")
RANK_K = Limit(0.02, "sigma_(k+1)/sigma_k is sqrt(2 gamma/sigma_k(beta)) at small gamma, about 1e-3 at 1e-6")
ISOTROPIC = Limit(1.2, "sigma_1/sigma_d tends to 1; at gamma = 10 and |beta| <= 10 Corollary 3.1 has at most 1.1")


@claim(
    "theorem-3.1-limit",
    where="Theorem 3.1(i)-(ii), Lemma C.6",
    says="Gradient flow interpolates the data, and the predictor tends to the minimum-norm solution at any scale.",
    assumes=ASSUMES,
    tried=REGRESSION,
    holds=AllOf(
        Below(ERROR, what="largest distance of the predictor from the minimum-norm solution", form=".1e"),
        Below(LOSS, "loss", what="largest final loss", form=".1e"),
    ),
    reads="{flows} flows",
)
def solution(trial: Trial) -> Numbers:
    found = [*limits.TABLE.rows(trial), *one_output.TABLE.rows(trial)]
    error = highest(path.solution_error for path in found)
    return {"value": error, "loss": highest(float(path.loss[-1]) for path in found), "flows": len(found)}


@claim(
    "theorem-3.1-variational",
    where="Theorem 3.1(iii), Lemma C.4, Proposition C.5",
    says="The trained layers minimise the sum of their squared norms minus gamma times a log-determinant: (3.1).",
    assumes=ASSUMES,
    tried=f"{REGRESSION}; on all 10 inputs and 200 hidden units",
    holds=AllOf(
        Below(STATIONARITY, what="KKT residual of the trained layers", form=".1e"),
        Below(
            STATIONARITY,
            "gap",
            what="value above the dual bound of the convex form, of its size",
            form=".1e",
            then="a global minimum",
        ),
    ),
    reads="{flows} flows",
)
def variational(trial: Trial) -> Numbers:
    """On all 10 inputs and 200 hidden units, where the multiplier could leave the span of the 5 samples."""
    theory = ln.theories.spectral_bias
    residuals, gaps = [], []
    for path in limits.TABLE.rows(trial):
        state = (path.whole_first, path.whole_second, path.whole_cov, path.whole_cross, path.gamma)
        residuals.append(theory.kkt_residual(*state))
        size = 1 + abs(theory.variational_potential(*state[:2], path.gamma))
        gaps.append(abs(theory.duality_gap(*state)) / size)
    return {"value": highest(residuals), "gap": highest(gaps), "flows": len(gaps)}


@claim(
    "corollary-3.1",
    where="Corollary 3.1, Lemma C.10",
    says="The final singular values of both layers follow from those of the solution and from gamma.",
    assumes=ASSUMES,
    tried=REGRESSION,
    holds=Below(ERROR, what="largest distance of a singular value of either layer from the formula", form=".1e"),
    reads="{flows} flows",
)
def singular_values(trial: Trial) -> Numbers:
    found = limits.TABLE.rows(trial)
    return {"value": highest(limit_error(path) for path in found), "flows": len(found)}


@claim(
    "nuclear-norm",
    where="after Theorem 3.1",
    says="As gamma tends to 0 the trained layers have the least squared norms, twice the nuclear norm of the solution.",
    assumes=ASSUMES,
    tried=REGRESSION,
    holds=AllOf(
        Below(EXCESS, what="excess at the least gamma", form=".1e"),
        Above(FAR, "largest", what="excess at the largest gamma"),
    ),
    reads="squared norms over twice the nuclear norm, minus 1, by gamma: {by_gamma:.1e}",
)
def nuclear_norm(trial: Trial) -> Numbers:
    """Half the squared norms minus the nuclear norm, against gamma: it must vanish with it."""
    rows = by_gamma(limits.TABLE.rows(trial))
    worst = {gamma: highest(abs(path.excess) for path in row) for gamma, row in rows.items()}
    return {"value": worst[min(worst)], "largest": worst[max(worst)], "by_gamma": worst}


@claim(
    "nuclear-minimum",
    where="after Theorem 3.1",
    says="The minimum-norm solution is also the interpolator of least nuclear norm.",
    assumes=ASSUMES,
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
    reads="the trained predictor, and {draws} other interpolators per flow",
)
def nuclear_minimum(trial: Trial) -> Numbers:
    """A certificate that no interpolator has a smaller nuclear norm, and interpolators drawn at random."""
    outside, lowest_ratio, draws = 0.0, np.inf, 20
    random = np.random.default_rng([trial.seed, 11])
    for path in limits.TABLE.rows(trial):
        trained = path.whole_second @ path.whole_first
        left, values, right = np.linalg.svd(trained, full_matrices=False)
        vectors = np.linalg.eigh(path.whole_cov)[1]
        basis, free = vectors[:, -SAMPLES:], vectors[:, :-SAMPLES]
        # <U V^T, .> is the nuclear norm at the trained predictor and at most it elsewhere: a certificate if the rows
        # of U V^T are in the span of the samples, as then it has one value on all interpolators
        certificate = left @ right
        outside = highest(outside, float(np.abs(certificate - certificate @ basis @ basis.T).max()))
        for _ in range(draws):
            other = trained + random.standard_normal((OUTPUTS, INPUTS - SAMPLES)) @ free.T
            lowest_ratio = min(lowest_ratio, float(np.linalg.norm(other, "nuc") / values.sum()))
    return {"value": outside, "least_ratio": lowest_ratio, "draws": draws}


@claim(
    "one-output-aligns",
    where="after Theorem 3.1",
    says="With one output and a small start, every neuron of the first layer aligns with the predictor.",
    assumes=f"{ASSUMES}, one output",
    tried=ONE_OUTPUT,
    holds=Above(FALL, what="least power of gamma with which the tangent of a neuron's angle falls", form=".3f"),
    reads="tangents of the angles of {neurons} neurons and the predictor fall with gamma to a power of {value:.3f} to "
    "{most:.3f} (1/2 by Corollary 3.1); median sine by gamma: {median:.1e}; largest: {worst:.1e}",
)
def alignment(trial: Trial) -> Numbers:
    """The angle of every neuron with the predictor, one output: how its tangent falls between the two least gammas.

    A neuron that starts nearly across the predictor aligns later than the others, so that the worst angle at one gamma
    is a matter of luck; its fall with gamma is not.
    """
    rows = by_gamma(one_output.TABLE.rows(trial))
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
        "median": {gamma: float(np.median([path.neuron_sines for path in row])) for gamma, row in rows.items()},
        "neurons": falls.size,
    }


@claim(
    "rank-by-scale",
    where="after Corollary 3.1",
    says="From a vanishing start the first layer resembles a matrix of rank k, from a large one an isotropic matrix.",
    assumes=ASSUMES,
    tried=REGRESSION,
    holds=AllOf(
        Below(RANK_K, what="largest sigma_4/sigma_3 of W1 at the least gamma", form=".1e"),
        Below(ISOTROPIC, "large", what="largest sigma_1/sigma_10 at the largest gamma"),
    ),
    reads="gamma = {least:g} and {most:g}",
)
def rank_by_scale(trial: Trial) -> Numbers:
    """sigma_(k+1)/sigma_k at the smallest scale, sigma_1/sigma_d at the largest."""
    rows = by_gamma(limits.TABLE.rows(trial))
    small = highest(path.values[OUTPUTS] / path.values[OUTPUTS - 1] for path in rows[min(rows)])
    large = highest(path.values[0] / path.values[-1] for path in rows[max(rows)])
    return {"value": small, "large": large, "least": min(rows), "most": max(rows)}


@claim(
    "gaussian-variance",
    where="Figure 1a, section 4",
    says="From a Gaussian first layer of variance 0.01 and width 200 the final first layer has rank about k = 3.",
    assumes="second layer at zero",
    tried=f"{FLOWS}, Gaussian starts, 48 seeds (24 in quick mode)",
    holds=Above(MAJORITY, what="share of seeds of rank 3 with variance 0.01", form=".0%"),
    corrected=Above(MAJORITY, "right", what="share of seeds of rank 3 with standard deviation 0.01", form=".0%"),
    correction="a standard deviation of 0.01 in place of the variance",
    expected=Verdict.CORRECTED,
    reads="values above 10% of the largest count; with variance 0.01 all of {draws} seeds have rank {least_rank} to "
    "{most_rank}",
)
def gaussian_variance(trial: Trial) -> Numbers:
    """Variance 0.01 at width 200 is an effective gamma of 1; standard deviation 0.01 is 0.01."""
    rows = by_gamma(gaussian_starts.TABLE.rows(trial))
    ranks = {gamma: np.array([path.rank for path in row]) for gamma, row in rows.items()}
    printed, other = ranks[max(ranks)], ranks[min(ranks)]
    return {
        "value": float(np.mean(printed == OUTPUTS)),
        "right": float(np.mean(other == OUTPUTS)),
        "draws": len(printed),
        "least_rank": int(printed.min()),
        "most_rank": int(printed.max()),
    }
