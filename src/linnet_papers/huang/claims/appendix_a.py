"""Lemma 5.1 and Lemmas A.1 to A.4 on data and start, over many draws: which constants they need, how they scale."""

from __future__ import annotations

from itertools import product

import numpy as np

import linnet as ln
from linnet._randomness import Key, generator
from linnet_papers.huang.grids import lemmas
from linnet_papers.reproduction import Range, Rows, Trial, at_least, at_most, below, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import highest, lowest, relative_distance

DRAWS = "$n = 10, 20, 40$, $d = 1000$, unit signal, 1000 draws at each of three noises (quick: $d = 400$, 300 draws)"
CHANCE = 2.0  # standard errors by which a share of draws may miss its probability
STD = 0.01  # of the first layer: the lemmas are in units of it


@claim(
    "lemma5.1",
    says=r"The Gram matrix of the inputs is $\mathrm{tr}(\Sigma)$ times the identity, up to $C (n \lvert \Sigma \rvert "
    r"+ \sqrt{n}\, \lvert \Sigma \rvert_F)$ with an absolute constant $C$ and probability at least $1 - n^{-2}$.",
    assumes="sub-Gaussian entries",
    tried="$d = 400$, $n = 5, 10, 20$ (quick: 5, 10), three distributions, two spectra, 200 draws each",
)
def gram_matrix(trial: Trial) -> Rows:
    spectra = {"flat": np.ones(400), "power": 1 / np.arange(1, 401)}
    laws = ("gaussian", "rademacher", "uniform")
    sizes = (5, 10) if trial.quick else (5, 10, 20)
    shares = {
        (n, law, name): [_gram_distance_over_bound(n, values, law, [trial.seed, n, draw]) for draw in range(200)]
        for n, law, (name, values) in product(sizes, laws, spectra.items())
    }
    needed = {f"$n = {n}$, {law}, {name}": np.quantile(own, 1 - n**-2.0) for (n, law, name), own in shares.items()}
    absolute = below(
        5.0, "an absolute constant: Gaussian inputs need 2.2, and entries of other laws no more than about that"
    )
    yield printed("constant needed by a fraction $1 - n^{-2}$ of 200 draws", needed, absolute)
    yield fact("fraction of all draws in which $C = 1$ is enough", np.mean(np.array(list(shares.values())) <= 1))


def _gram_distance_over_bound(n: int, values: np.ndarray, law: str, key: Key) -> float:
    """Return the distance of a Gram matrix from tr(Sigma) times the identity over the lemma's bound."""
    data = ln.problems.subgaussian_regression(
        key=key, samples=n, covariance=values, teacher=np.ones(values.size), entries=law
    )
    gap = np.linalg.norm(data.inputs @ data.inputs.T - values.sum() * np.eye(n), 2)
    return gap / (n * values.max() + np.sqrt(n) * np.linalg.norm(values))


@claim(
    "lemmaA1",
    says=r"The start's overlaps with the feature are below $\sigma_0 \sqrt{2 \log(8m/\delta) \gamma}$, their maximum "
    r"above half of $\sigma_0 \sqrt{\gamma}$, with probability $1 - \delta$.",
    assumes=r"$m = \Omega(\log(1/\delta))$",
    tried=r"$m$ = 1 to 64 and 1024, $\delta$ = 0.3, 0.1, 0.01, 400 draws of data ($n = 10$, $d = 60$) and start "
    f"($m = 1024$: 100); both bounds hold with that probability, or {CHANCE:g} standard errors less",
)
def overlaps_of_the_start(trial: Trial) -> Rows:
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

    constants = {rf"$\delta = {delta:g}$": least_width(delta) / np.log(1 / delta) for delta in (0.3, 0.1, 0.01)}
    enough = at_most(6.0, "$P(N > 1/2) = 0.31$ for one neuron asks for 2.7, and the grid of $m$ doubles")
    yield printed(r"$m/\log(1/\delta)$ needed", constants, enough)
    yield fact(r"fraction of the draws in which a single neuron satisfies both, $\delta = 0.01$", share_held(1, 0.01))


def _largest_overlaps(feature: np.ndarray, width: int, key: Key) -> tuple[float, float]:
    """Return the largest size of an overlap of a start's neurons with the feature, and the largest overlap with its
    sign, in units of sigma_0 sqrt(gamma)."""
    start = ln.inits.signed(key=key, in_dim=feature.size, width=width, first_std=STD, magnitude=0.001)
    overlaps = np.sqrt(width) * start.first @ feature / (STD * np.linalg.norm(feature))
    return np.abs(overlaps).max(), overlaps.max()


@claim(
    "lemmaA2",
    says=r"The squared norm of each neuron at initialization is within a half of $\sigma_0^2 d$, with probability "
    r"$1 - \delta$.",
    assumes=r"$d = \Omega(\log(4m/\delta))$",
    tried=r"$m = 16, 128, 1024$, $d$ doubled from 16 to 512, 200 starts of each (quick: 60), $\delta = 0.1$",
)
def norms_of_the_start(trial: Trial) -> Rows:
    delta = 0.1
    draws = range(60 if trial.quick else 200)
    constants = {}
    for width in (16, 128, 1024):
        shares = {
            dim: np.mean([_norms_within_half(dim, width, [trial.seed, dim, draw]) for draw in draws])
            for dim in (16, 32, 64, 128, 256, 512)
        }
        least = min((dim for dim, share in shares.items() if share >= 1 - delta), default=np.inf)
        constants[f"$m = {width}$"] = least / np.log(4 * width / delta)
    spread = highest(constants.values()) / lowest(constants.values())
    enough = at_most(40.0, "the chi-squared law asks for 16 to 20, and the grid of $d$ doubles")
    yield printed(r"$d/\log(4m/\delta)$ needed", constants, enough)
    yield printed(
        "its largest over its least", spread, at_most(2.5, "one constant for all widths: the grid of $d$ doubles")
    )


def _norms_within_half(dim: int, width: int, key: Key) -> bool:
    """Return whether the squared norms of all neurons of a start are within a half of sigma_0^2 d."""
    start = ln.inits.signed(key=key, in_dim=dim, width=width, first_std=STD, magnitude=1e-3)
    norms = width * (start.first**2).sum(axis=1) / (STD**2 * dim)  # |w_r(0)|^2/(sigma_0^2 d)
    return bool(((norms >= 0.5) & (norms <= 1.5)).all())


@claim(
    "lemmaA3",
    says="The empirical quadratic form of a vector is between half and twice $n$ times its population form, with "
    "probability at least $1 - O(n^{-2})$.",
    assumes="sub-Gaussian entries",
    tried=DRAWS,
)
def quadratic_form(trial: Trial) -> Rows:
    rows = lemmas.rows(trial)
    n = lemmas.SAMPLES
    # over all noises: they are no part of it
    failing = {each: np.mean([1 - rows["form"][each, noise] for noise in lemmas.NOISES]) for each in n}
    constants = {each: each**2 * failure for each, failure in failing.items()}
    falls = below(0, "a fraction of the order $n^{-2}$ falls with $n$")
    no_growth = below(
        2.0 * constants[10], "failures of $O(n^{-2})$: no more than twice $n^2$ times their fraction at $n = 10$"
    )
    yield printed(
        "change of the failing fraction of draws from one $n$ to the next", np.diff(list(failing.values())), falls
    )
    yield printed("$n^2$ times that fraction at $n = 40$", constants[40], no_growth)
    yield fact("$n^2$ times that fraction, by $n$", constants)
    laws = {each: each**2 * (1 - rows["form_law"][each, 1e-7]) for each in n}
    yield fact("the same by the chi-squared law", laws)
    yield fact("number of draws at each $n$", sum(rows["draws"][n[0], noise] for noise in lemmas.NOISES))


@claim(
    "lemmaA4",
    says=r"$\gamma$ is between 1/2 and 3/2 of $\mathrm{tr}(\Sigma) n \lvert \beta \rvert^2$, with probability at least "
    "$1 - O(n^{-2})$.",
    assumes=r"noise variance at most $8 n \lvert \beta \rvert^2$",
    tried=DRAWS,
    correction=r"it holds where the noise is well below $\lvert \beta \rvert^2$ (a twentieth of it at most): "
    r"$\lvert y \rvert^2$ is $\lvert \beta \rvert^2 + \sigma_y^2$ times a chi-squared number",
    region={"samples": Range(5, 1000, log=True, whole=True), "noise": Range(0, 0.05)},
)
def size_of_gamma(trial: Trial) -> Rows:
    rows = lemmas.rows(trial)
    shares, n = rows["gamma"], lemmas.SAMPLES
    draws = rows["draws"][40, 8.0]
    quiet = {each: shares[each, 1e-7] for each in n}
    law = {each: rows["gamma_law"][each, 1e-7] for each in n}
    off_law = {f"$n = {each}$": abs(quiet[each] - law[each]) / lemmas.share_error(law[each], draws) for each in n}

    def failing(*, samples: float, noise: float) -> float:
        """Return n^2 times the share that fails by the law of |y|^2, at a noise variance in units of |beta|^2."""
        return samples**2 * (1 - lemmas.chi_squared_share(int(samples), variance=1 + noise))

    over_region = {label: failing(**setting) for label, setting in trial.region(30).items()}
    inside = at_least(0.8, "probability $1 - O(n^{-2})$, at $n = 40$ with a generous constant")
    errors = at_most(4.0, "one fraction in 16 000 is farther away by chance")
    constant = "$1 - O(n^{-2})$ with a constant: by the law it is 65 at most, near $n = 43$, and goes to zero"
    yield printed("fraction of draws inside, at the limit of the noise and $n = 40$", shares[40, 8.0], inside)
    yield corrected("standard errors of that fraction, without noise, from the chi-squared law", off_law, errors)
    fails = "$n^2$ times the fraction that fails by the chi-squared law, over the region"
    yield corrected(fails, over_region, at_most(100.0, constant))
    for noise in lemmas.NOISES:
        words = rf"noise {noise:g} times $n \lvert \beta \rvert^2$"
        yield fact(f"fraction of {draws} draws inside, by $n$, {words}", {each: shares[each, noise] for each in n})
    medians = {f"noise {noise:g}": rows["median"][40, noise] for noise in lemmas.NOISES}
    yield fact(r"median of $\gamma/(\mathrm{tr}\, n \lvert \beta \rvert^2)$ at $n = 40$", medians)
    proof = {each: rows["proof"][each, 1e-7] for each in n}
    yield fact("fraction inside the 1/8 and 9/4 at which the proof arrives, by $n$, hardly any noise", proof)


@claim(
    "unit-variance",
    says=r"$z$ with independent sub-Gaussian components of mean zero ensures that $x$ has the covariance $\Sigma$.",
    assumes="none beyond",
    tried=r"uniform entries between -1 and 1, and the same with unit variance; $\Sigma = \mathrm{diag}(4, 1)$, 20 000 "
    "draws of $x$",
    correction="the components must also have unit variance",
    no_region="the covariance of x is that of z between two matrices, whatever the law of z",
)
def unit_variance(trial: Trial) -> Rows:
    good = below(0.1, "20 000 draws are good to 2%")

    def distance(scale: float) -> float:
        """Return the relative distance of the covariance from Sigma for uniform numbers of that scale."""
        x = scale * generator(trial.seed, 5).uniform(-1, 1, (20_000, 2)) * np.array([2.0, 1.0])
        return relative_distance(x.T @ x / len(x), np.diag([4.0, 1.0]), 2)

    yield printed(r"relative distance of the covariance from $\Sigma$, entries between -1 and 1", distance(1.0), good)
    yield corrected("that distance, entries of unit variance", distance(np.sqrt(3.0)), good)
