"""Where training ends: Theorem 3.1, Corollary 3.1 and what they say of small and large starts."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.path import by_gamma
from linnet.papers.varre.settings import INPUTS, OUTPUTS, SAMPLES
from linnet.papers.varre.tables.flows import limit_error, paths
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

FLOWS = "gradient flow until 1e-21 of the loss is left, n = 5, d = 10, k = 3, width 200"
SETTING = f"{FLOWS}, orthogonal starts of scale 1e-6 to 10"
SCALAR = f"{FLOWS}, orthogonal starts of scale 1e-10 to 1 (10 in full mode)".replace("k = 3", "k = 1")
START = "orthogonal start of scale gamma, data that can be interpolated"

ERROR = Limit(1e-8, "the flows are integrated to a relative tolerance of 1e-11 and end at 1e-21 of their loss")
LOSS = Limit(1e-16, "a loss that is zero but for rounding; flows end at 1e-21 of theirs")
STATIONARITY = Limit(1e-7, "at gamma = 1e-6 the inverse of W1^T W1 loses six of the sixteen digits")
EXCESS = Limit(1e-4, "what Corollary 3.1 leaves at gamma = 1e-6 is d gamma over the nuclear norm, about 1e-5")
FAR = Limit(0.1, "at gamma >= 1 the norms must lie well above the nuclear norm, or the limit says nothing")
FALL = Limit(
    0.25, "half the exponent 1/2 of sqrt(2 gamma/|beta|): a neuron that starts within 1e-4 of across is still turning"
)
RANK_K = Limit(0.02, "sigma_(k+1)/sigma_k is sqrt(2 gamma/sigma_k(beta)) at small gamma, about 1e-3 at 1e-6")
ISOTROPIC = Limit(1.2, "sigma_1/sigma_d tends to 1; at gamma = 10 and |beta| <= 10 Corollary 3.1 has at most 1.1")
MAJORITY = Limit(0.5, "the paper shows one run: the rank it names must be that of most draws")


def measure_solution(trial: Trial) -> dict[str, Any]:
    found = list(paths(trial, "regression", "scalar"))
    error = highest(path.solution_error for path in found)
    return {"value": error, "loss": highest(float(path.loss[-1]) for path in found), "flows": len(found)}


def judge_solution(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < ERROR and numbers["loss"] < LOSS else Verdict.REFUTED


def tell_solution(numbers: Numbers) -> str:
    return (
        f"predictor to minimum-norm solution: {numbers['value']:.1e} at most over {numbers['flows']} flows "
        f"(limit {ERROR:.0e}); loss {numbers['loss']:.1e}"
    )


def measure_singular_values(trial: Trial) -> dict[str, Any]:
    found = list(paths(trial, "regression"))
    return {"value": highest(limit_error(path) for path in found), "flows": len(found)}


def judge_singular_values(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < ERROR else Verdict.REFUTED


def tell_singular_values(numbers: Numbers) -> str:
    return (
        f"singular values of both trained layers: {numbers['value']:.1e} from the formula at most, "
        f"{numbers['flows']} flows (limit {ERROR:.0e})"
    )


def measure_variational(trial: Trial) -> dict[str, Any]:
    """On all 10 inputs and 200 hidden units, where the multiplier could leave the span of the 5 samples."""
    theory = ln.theories.spectral_bias
    residual, gap, count = 0.0, 0.0, 0
    for path in paths(trial, "regression"):
        state = (path.whole_first, path.whole_second, path.whole_cov, path.whole_cross, path.gamma)
        residual = highest(residual, theory.kkt_residual(*state))
        size = 1 + abs(theory.variational_potential(*state[:2], path.gamma))
        gap = highest(gap, abs(theory.duality_gap(*state)) / size)
        count += 1
    return {"value": residual, "gap": gap, "flows": count}


def judge_variational(numbers: Numbers) -> Verdict:
    certified = numbers["value"] < STATIONARITY and numbers["gap"] < STATIONARITY
    return Verdict.HOLDS if certified else Verdict.REFUTED


def tell_variational(numbers: Numbers) -> str:
    return (
        f"KKT residual of the trained layers {numbers['value']:.1e} (limit {STATIONARITY:.0e}); value above the dual "
        f"bound of the convex form {numbers['gap']:.1e} of its size (the same limit): a global minimum, "
        f"{numbers['flows']} flows"
    )


def measure_nuclear(trial: Trial) -> dict[str, Any]:
    """Half the squared norms minus the nuclear norm, against gamma: it must vanish with it."""
    rows = by_gamma(paths(trial, "regression"))
    worst = {gamma: highest(abs(path.excess) for path in row) for gamma, row in rows.items()}
    return {"value": worst[min(worst)], "largest": worst[max(worst)], "by_gamma": worst}


def judge_nuclear(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < EXCESS and numbers["largest"] > FAR else Verdict.REFUTED


def tell_nuclear(numbers: Numbers) -> str:
    text = ", ".join(f"{value:.1e} at gamma {gamma:g}" for gamma, value in numbers["by_gamma"].items())
    return f"squared norms over twice the nuclear norm, minus 1: {text}"


def measure_minimum(trial: Trial) -> dict[str, Any]:
    """A certificate that no interpolator has a smaller nuclear norm, and interpolators drawn at random."""
    outside, lowest_ratio, draws = 0.0, np.inf, 20
    random = np.random.default_rng([trial.seed, 11])
    for path in paths(trial, "regression"):
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


def judge_minimum(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < STATIONARITY and numbers["least_ratio"] > 1 else Verdict.REFUTED


def tell_minimum(numbers: Numbers) -> str:
    return (
        f"the certificate U V^T of the trained predictor leaves the span of the samples by {numbers['value']:.1e} "
        f"(limit {STATIONARITY:.0e}); {numbers['draws']} other interpolators per flow have at least "
        f"{numbers['least_ratio']:.3f} of its nuclear norm"
    )


def measure_alignment(trial: Trial) -> dict[str, Any]:
    """The angle of every neuron with the predictor, one output: how its tangent falls between the two least gammas.

    A neuron that starts nearly across the predictor aligns later than the others, so that the worst angle at one gamma
    is a matter of luck; its fall with gamma is not.
    """
    rows = by_gamma(paths(trial, "scalar"))
    least, next_least = sorted(rows)[:2]
    falls = [
        np.log(two.neuron_tangents / one.neuron_tangents) / np.log(next_least / least)
        for one, two in zip(rows[least], rows[next_least], strict=True)
    ]
    return {
        "value": lowest(np.concatenate(falls)),
        "most": highest(np.concatenate(falls)),
        "worst": {gamma: highest(path.neuron_sines.max() for path in row) for gamma, row in rows.items()},
        "median": {gamma: float(np.median([path.neuron_sines for path in row])) for gamma, row in rows.items()},
        "neurons": sum(fall.size for fall in falls),
    }


def judge_alignment(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] > FALL else Verdict.REFUTED


def tell_alignment(numbers: Numbers) -> str:
    median, worst = numbers["median"], numbers["worst"]
    text = ", ".join(f"{median[gamma]:.1e} and {worst[gamma]:.1e} at gamma {gamma:g}" for gamma in worst)
    return (
        f"tangents of the angles of {numbers['neurons']} neurons and the predictor fall with gamma to a power of "
        f"{numbers['value']:.3f} to {numbers['most']:.3f}, each of them (limit {FALL:g}; 1/2 by Corollary 3.1); median "
        f"and largest sine: {text}"
    )


def measure_scale(trial: Trial) -> dict[str, Any]:
    """sigma_(k+1)/sigma_k at the smallest scale, sigma_1/sigma_d at the largest."""
    rows = by_gamma(paths(trial, "regression"))
    small = highest(path.values[OUTPUTS] / path.values[OUTPUTS - 1] for path in rows[min(rows)])
    large = highest(path.values[0] / path.values[-1] for path in rows[max(rows)])
    return {"value": small, "large": large, "least": min(rows), "most": max(rows)}


def judge_scale(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < RANK_K and numbers["large"] < ISOTROPIC else Verdict.REFUTED


def tell_scale(numbers: Numbers) -> str:
    return (
        f"sigma_4/sigma_3 of W1 is {numbers['value']:.1e} at most at gamma = {numbers['least']:g} (limit {RANK_K:g}); "
        f"sigma_1/sigma_10 is {numbers['large']:.2f} at most at gamma = {numbers['most']:g} (limit {ISOTROPIC:g})"
    )


def measure_variance(trial: Trial) -> dict[str, Any]:
    """Variance 0.01 at width 200 is an effective gamma of 1; standard deviation 0.01 is 0.01."""
    ranks = {gamma: [path.rank for path in row] for gamma, row in by_gamma(paths(trial, "gaussian")).items()}
    printed, other = ranks[max(ranks)], ranks[min(ranks)]
    return {
        "value": float(np.mean(np.array(printed) == OUTPUTS)),
        "right": float(np.mean(np.array(other) == OUTPUTS)),
        "draws": len(printed),
        "least_rank": min(printed),
        "most_rank": max(printed),
    }


def judge_variance(numbers: Numbers) -> Verdict:
    # a majority of the seeds, for the one as for the other: with standard deviation 0.01 it is about three in four
    if numbers["value"] > MAJORITY:
        return Verdict.HOLDS
    return Verdict.CORRECTED if numbers["right"] > MAJORITY else Verdict.REFUTED


def tell_variance(numbers: Numbers) -> str:
    return (
        f"rank 3 (values above 10% of the largest) in {numbers['value']:.0%} of {numbers['draws']} seeds with variance "
        f"0.01, where all have rank {numbers['least_rank']} to {numbers['most_rank']}; in {numbers['right']:.0%} with "
        "standard deviation 0.01"
    )


CLAIMS = [
    Claim(
        name="theorem-3.1-limit",
        number="Theorem 3.1(i)-(ii), Lemma C.6",
        sentence="Gradient flow interpolates the data, and the predictor tends to the minimum-norm solution at any "
        "scale.",
        assumptions=START,
        setting=SETTING,
        claimed="error 0",
        expected=Verdict.HOLDS,
        measure=measure_solution,
        judge=judge_solution,
        tell=tell_solution,
        limits={"error": ERROR, "loss": LOSS},
    ),
    Claim(
        name="theorem-3.1-variational",
        number="Theorem 3.1(iii), Lemma C.4, Proposition C.5",
        sentence="The trained layers minimise the sum of their squared norms minus gamma times a log-determinant.",
        assumptions=START,
        setting=SETTING + "; on all 10 inputs and 200 hidden units",
        claimed="a minimum of (3.1)",
        expected=Verdict.HOLDS,
        measure=measure_variational,
        judge=judge_variational,
        tell=tell_variational,
        limits={"KKT residual and duality gap": STATIONARITY},
    ),
    Claim(
        name="corollary-3.1",
        number="Corollary 3.1, Lemma C.10",
        sentence="The final singular values of both layers follow from those of the solution and from gamma.",
        assumptions=START,
        setting=SETTING,
        claimed="error 0",
        expected=Verdict.HOLDS,
        measure=measure_singular_values,
        judge=judge_singular_values,
        tell=tell_singular_values,
        limits={"error": ERROR},
    ),
    Claim(
        name="nuclear-norm",
        number="after Theorem 3.1",
        sentence="As gamma tends to 0 the trained layers have the least squared norms, twice the nuclear norm of the "
        "solution.",
        assumptions=START,
        setting=SETTING,
        claimed="excess 0 at gamma 0",
        expected=Verdict.HOLDS,
        measure=measure_nuclear,
        judge=judge_nuclear,
        tell=tell_nuclear,
        limits={"excess at the least gamma": EXCESS, "excess at the largest": FAR},
    ),
    Claim(
        name="nuclear-minimum",
        number="after Theorem 3.1",
        sentence="The minimum-norm solution is also the interpolator of least nuclear norm.",
        assumptions=START,
        setting=SETTING + "; a dual certificate, and 20 other interpolators for each flow",
        claimed="no interpolator has less",
        expected=Verdict.HOLDS,
        measure=measure_minimum,
        judge=judge_minimum,
        tell=tell_minimum,
        limits={"certificate": STATIONARITY},
    ),
    Claim(
        name="one-output-aligns",
        number="after Theorem 3.1",
        sentence="With one output and a small start, every neuron of the first layer aligns with the predictor.",
        assumptions=START + ", one output",
        setting=SCALAR,
        claimed="rank one as gamma tends to 0",
        expected=Verdict.HOLDS,
        measure=measure_alignment,
        judge=judge_alignment,
        tell=tell_alignment,
        limits={"exponent of every neuron": FALL},
    ),
    Claim(
        name="rank-by-scale",
        number="after Corollary 3.1",
        sentence="From a vanishing start the first layer resembles a matrix of rank k, from a large one an isotropic "
        "matrix.",
        assumptions=START,
        setting=SETTING,
        claimed="k values against d equal ones",
        expected=Verdict.HOLDS,
        measure=measure_scale,
        judge=judge_scale,
        tell=tell_scale,
        limits={"gap at the least gamma": RANK_K, "spread at the largest": ISOTROPIC},
    ),
    Claim(
        name="gaussian-variance",
        number="Figure 1a, section 4",
        sentence="From a Gaussian first layer of variance 0.01 and width 200 the final first layer has rank about k = "
        "3.",
        assumptions="second layer at zero",
        setting=f"{FLOWS}, Gaussian starts, 48 seeds (24 in quick mode)",
        claimed="rank 3",
        expected=Verdict.CORRECTED,
        measure=measure_variance,
        judge=judge_variance,
        tell=tell_variance,
        limits={"share of draws": MAJORITY},
    ),
]
