"""Lemma 5.1 and Lemmas A.1 to A.4 on data and start, over many draws: which constants they need, how they scale."""

from __future__ import annotations

from itertools import product

import numpy as np

import linnet as ln
from linnet._randomness import Key, generator
from linnet_papers.huang.tables import lemmas
from linnet_papers.reproduction import AtLeast, AtMost, Below, Falls, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest, relative_distance

DRAWS = "n = 10, 20, 40, d = 1000, unit signal, 1000 draws at each of three noises (quick: d = 400, 300 draws)"
CHANCE = 2.0  # standard errors by which a share of draws may miss its probability


@claim(
    "lemma5.1",
    says="The Gram matrix of the inputs is tr(Sigma) times the identity, up to C (n|Sigma| + sqrt(n)|Sigma|_F) with an "
    "absolute constant C and probability at least 1 - n^-2.",
    assumes="sub-Gaussian entries",
    tried="d = 400, n = 5, 10, 20 (quick: 5, 10), three laws, two spectra, 200 draws each",
    holds=Below(
        5.0,
        what="largest constant needed",
        form=".2f",
        because="an absolute constant: Gaussian inputs need 2.2, and entries of other laws no more than about that",
    ),
    reads="the constant that holds in a share 1 - n^-2 of 200 draws lies between {least:.2f} and {value:.2f} over n, "
    "three laws and two spectra (worst: {where}); with C = 1 the bound holds in {within_one:.0%} of all draws",
)
def gram_matrix(trial: Trial) -> Numbers:
    spectra = {"flat": np.ones(400), "power": 1 / np.arange(1, 401)}
    laws = ("gaussian", "rademacher", "uniform")
    sizes = (5, 10) if trial.quick else (5, 10, 20)
    shares = {
        (n, law, name): [_gram_distance_over_bound(n, values, law, [trial.seed, n, draw]) for draw in range(200)]
        for n, law, (name, values) in product(sizes, laws, spectra.items())
    }
    needed = {f"n = {n}, {law}, {name}": np.quantile(own, 1 - n**-2.0) for (n, law, name), own in shares.items()}
    return {
        "value": highest(needed.values()),
        "least": lowest(needed.values()),
        "where": max(needed, key=lambda setting: needed[setting]),
        "within_one": np.mean(np.array(list(shares.values())) <= 1),
    }


def _gram_distance_over_bound(n: int, values: np.ndarray, law: str, key: Key) -> float:
    """Return the distance of a Gram matrix from tr(Sigma) times the identity over the lemma's bound."""
    data = ln.problems.subgaussian_regression(
        key=key, samples=n, covariance=values, teacher=np.ones(values.size), entries=law
    )
    gap = np.linalg.norm(data.inputs @ data.inputs.T - values.sum() * np.eye(n), 2)
    return gap / (n * values.max() + np.sqrt(n) * np.linalg.norm(values))


@claim(
    "lemmaA1",
    says="The start's overlaps with the feature are below sigma_0 sqrt(2 log(8m/delta) gamma), their maximum above "
    "half of sigma_0 sqrt(gamma), with probability 1 - delta.",
    assumes="m = Omega(log(1/delta))",
    tried="m = 1 to 64 and 1024, delta = 0.3, 0.1, 0.01, 400 draws of data (n = 10, d = 60) and start (m = 1024: 100)",
    holds=AtMost(
        6.0,
        "constants",
        what="m/log(1/delta) needed",
        form=".1f",
        because="m/log(1/delta): P(N > 1/2) = 0.31 for one neuron asks for 2.7, and the grid of m doubles",
    ),
    reads=f"both bounds hold with probability 1 - delta (or {CHANCE:g} standard errors less) from a width m on that is "
    "log(1/delta) times, by delta, "
    "{constants:.1f} (m = 1, 2, 4 .. 1024); a single neuron satisfies them in {narrow:.0%} of the draws",
)
def overlaps_of_the_start(trial: Trial) -> Numbers:
    data = [ln.problems.gaussian_teacher(key=[trial.seed, draw], dim=60) for draw in range(400)]
    features = [each.inputs.T @ each.outputs for each in data]
    seen = {}  # (2, draw) by width
    for width in (1, 2, 4, 8, 16, 32, 64, 1024):
        own = range(400 if width < 1024 else 100)
        seen[width] = np.array([_largest_overlaps(features[draw], width, [trial.seed, draw, 1]) for draw in own]).T

    def share_held(width: int, delta: float) -> float:
        """Return the share of draws in which both bounds hold."""
        largest, top = seen[width]
        return ((largest <= np.sqrt(2 * np.log(8 * width / delta))) & (top >= 0.5)).mean()

    def least_width(delta: float) -> float:
        """Return the width from which on they hold often enough; infinite where they do not at the largest."""
        wanted = {
            width: 1 - delta - CHANCE * np.sqrt(delta * (1 - delta) / top.size) for width, (_, top) in seen.items()
        }
        too_narrow = [width for width in seen if share_held(width, delta) < wanted[width]]
        return min((width for width in seen if width > max(too_narrow, default=0)), default=np.inf)

    constants = {delta: least_width(delta) / np.log(1 / delta) for delta in (0.3, 0.1, 0.01)}
    return {"constants": constants, "narrow": share_held(1, 0.01)}


def _largest_overlaps(feature: np.ndarray, width: int, key: Key) -> tuple[float, float]:
    """Return the largest size of an overlap of a start's neurons with the feature, and the largest overlap with its
    sign, in units of sigma_0 sqrt(gamma)."""
    std = 0.01
    start = ln.inits.signed(key=key, in_dim=feature.size, width=width, first_std=std, magnitude=0.001)
    overlaps = np.sqrt(width) * start.first @ feature / (std * np.linalg.norm(feature))
    return np.abs(overlaps).max(), overlaps.max()


@claim(
    "lemmaA2",
    says="The squared norm of each neuron at the start is within a half of sigma_0^2 d, with probability 1 - delta.",
    assumes="d = Omega(log(4m/delta))",
    tried="m = 16, 128, 1024, d = 16 to 512, 200 starts of each (quick: 60), delta = 0.1",
    holds=AtMost(
        40.0,
        what="d/log(4m/delta) needed",
        form=".0f",
        because="d/log(4m/delta): the chi-squared law asks for 16 to 20, and the grid of d doubles",
    )
    & AtMost(
        2.5,
        times="least",
        what="its largest over m",
        form=".0f",
        because="one constant for all widths: the grid of d doubles",
    ),
    reads="all neurons are inside with probability 0.9 from a dimension on that is log(4m/delta) times, by m, "
    "{constants:.0f} (d doubled from 16)",
)
def norms_of_the_start(trial: Trial) -> Numbers:
    delta = 0.1
    draws = range(60 if trial.quick else 200)
    constants = {}
    for width in (16, 128, 1024):
        shares = {
            dim: np.mean([_norms_within_half(dim, width, [trial.seed, dim, draw]) for draw in draws])
            for dim in (16, 32, 64, 128, 256, 512)
        }
        least = min((dim for dim, share in shares.items() if share >= 1 - delta), default=np.inf)
        constants[width] = least / np.log(4 * width / delta)
    return {"value": highest(constants.values()), "least": lowest(constants.values()), "constants": constants}


def _norms_within_half(dim: int, width: int, key: Key) -> bool:
    """Return whether the squared norms of all neurons of a start are within a half of sigma_0^2 d."""
    std = 0.01
    start = ln.inits.signed(key=key, in_dim=dim, width=width, first_std=std, magnitude=1e-3)
    norms = width * (start.first**2).sum(axis=1) / (std**2 * dim)  # |w_r(0)|^2/(sigma_0^2 d)
    return bool(((norms >= 0.5) & (norms <= 1.5)).all())


@claim(
    "lemmaA3",
    says="The empirical quadratic form of a vector is between half and twice n times its population form, with "
    "probability at least 1 - O(n^-2).",
    assumes="sub-Gaussian entries",
    tried=DRAWS,
    holds=Falls(0, "failing", what="share that fails, by n", form=".2%", because="O(n^-2) falls with n")
    & Below(
        2.0,
        "last",
        times="first",
        what="n^2 times that share at n = 40",
        form=".1f",
        because="failures of O(n^-2): n^2 times their share at n = 40 at most this times that at n = 10",
    ),
    reads="of {draws} draws a share fails, in units of n^-2 and by n, of {constants:.1f} (chi-squared law: {laws:.1f})",
)
def quadratic_form(trial: Trial) -> Numbers:
    rows = lemmas.TABLE.rows(trial)
    n = lemmas.SAMPLES
    # over all noises: they are no part of it
    failing = {each: np.mean([1 - rows["form"][each, noise] for noise in lemmas.NOISES]) for each in n}
    draws = sum(rows["draws"][n[0], noise] for noise in lemmas.NOISES)
    constants = {each: each**2 * failure for each, failure in failing.items()}
    return {
        "failing": failing,
        "constants": constants,
        "first": constants[10],
        "last": constants[40],
        "laws": {each: each**2 * (1 - rows["form_law"][each, 1e-7]) for each in n},
        "draws": draws,
    }


@claim(
    "lemmaA4",
    says="gamma is between 1/2 and 3/2 of tr(Sigma) n |beta|^2, with probability at least 1 - O(n^-2).",
    assumes="noise variance at most 8n|beta|^2",
    tried=DRAWS,
    holds=AtLeast(
        0.8,
        what="share of draws inside at the limit of the noise and n = 40",
        form=".0%",
        because="probability 1 - O(n^-2), at n = 40 with a generous constant",
    ),
    corrected=AtMost(
        4.0,
        "off_law",
        what="standard errors of the share without noise from the chi-squared law",
        form=".1f",
        because="one share in 16 000 is further away by chance",
    )
    & AtMost(
        60.0,
        "law_constant",
        what="largest n^2 times the share that fails by that law, n = 10 to 1000",
        form=".0f",
        because="1 - O(n^-2) with a constant: it is largest, 45, near n = 27, and goes to zero",
    ),
    correction="it holds where the noise is well below |beta|^2: |y|^2 is (|beta|^2 + sigma_y^2) chi-squared",
    reads="share of {draws} draws inside, by noise in units of n|beta|^2 and by n: {shares:.0%}; the median of "
    "gamma/(tr n |beta|^2) at n = 40, by noise: {medians:.2g}; without noise n^2 times the share outside, by n: "
    "{constants:.0f}; with the 1/8 and 9/4 that the proof arrives at, and hardly any noise: {proof:.0%}",
)
def size_of_gamma(trial: Trial) -> Numbers:
    rows = lemmas.TABLE.rows(trial)
    shares = rows["gamma"]
    draws = rows["draws"][40, 8.0]
    quiet = {n: shares[n, 1e-7] for n in lemmas.SAMPLES}
    law = {n: rows["gamma_law"][n, 1e-7] for n in lemmas.SAMPLES}
    return {
        "value": shares[40, 8.0],
        "shares": {noise: {n: shares[n, noise] for n in lemmas.SAMPLES} for noise in lemmas.NOISES},
        "medians": {noise: rows["median"][40, noise] for noise in lemmas.NOISES},
        "off_law": {n: abs(quiet[n] - law[n]) / lemmas.share_error(law[n], draws) for n in lemmas.SAMPLES},
        "law_constant": highest(n**2 * (1 - lemmas.chi_squared_share(n)) for n in range(10, 1001)),
        "constants": {n: n**2 * (1 - quiet[n]) for n in lemmas.SAMPLES},
        "proof": {n: rows["proof"][n, 1e-7] for n in lemmas.SAMPLES},
        "draws": draws,
    }


@claim(
    "unit-variance",
    says="z with independent sub-Gaussian components of mean zero ensures that x has the covariance Sigma.",
    assumes="none beyond",
    tried="uniform entries between -1 and 1, and the same with unit variance; Sigma = diag(4, 1), 20 000 draws of x",
    holds=Below(
        0.1,
        "plain",
        what="relative distance of the covariance from Sigma",
        form=".2f",
        because="20 000 draws are good to 2%",
    ),
    corrected=Below(0.1, what="that distance with unit variance", form=".3f", because="20 000 draws are good to 2%"),
    correction="the components must also have unit variance",
    reads="the covariance of x is off Sigma by {plain:.2f} for z uniform between -1 and 1, by {value:.3f} for z of "
    "unit variance",
)
def unit_variance(trial: Trial) -> Numbers:
    wanted = np.diag([4.0, 1.0])
    off = {}
    for scale in (1.0, np.sqrt(3.0)):
        z = scale * generator(trial.seed, 5).uniform(-1, 1, (20_000, 2))
        x = z * np.array([2.0, 1.0])
        off[scale] = relative_distance(x.T @ x / len(x), wanted, 2)
    return {"value": off[np.sqrt(3.0)], "plain": off[1.0]}
