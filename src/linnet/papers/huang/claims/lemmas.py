"""The lemmas on data and start, over many draws: how large their constants have to be, and how they scale."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.huang.claims.rules import holds_if
from linnet.papers.huang.tables import lemmas
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

DRAWS = "n = 10, 20, 40, d = 1000, unit signal, 1000 draws at each of three noises (quick: d = 400, 300 draws)"

SPECTRUM = Limit(
    5.0, "an absolute constant: Gaussian inputs need 2.2, and entries of other laws no more than about that"
)
WIDTH = Limit(6.0, "m/log(1/delta): P(N > 1/2) = 0.31 for one neuron asks for 2.7, and the grid of m doubles")
NORMS = Limit(40.0, "d/log(4m/delta): the chi-squared law asks for 16 to 20, and the grid of d doubles")
NORMS_SPREAD = Limit(2.5, "one constant for all widths: the grid of d doubles")
SCALING = Limit(2.0, "failures of O(n^-2): n^2 times their share at n = 40 at most this times that at n = 10")
SHARE = Limit(0.8, "probability 1 - O(n^-2), at n = 40 with a generous constant")


def measure_spectrum(trial: Trial) -> Numbers:
    needed, everything = {}, []
    for n in (5, 10) if trial.quick else (5, 10, 20):
        for law in ("gaussian", "rademacher", "uniform"):
            for spectrum, values in (("flat", np.ones(400)), ("power", 1 / np.arange(1, 401))):
                shares = []
                for draw in range(200):
                    data = ln.problems.subgaussian_regression(
                        [trial.seed, n, draw], samples=n, covariance=values, teacher=np.ones(400), entries=law
                    )
                    gap = np.linalg.norm(data.inputs @ data.inputs.T - values.sum() * np.eye(n), 2)
                    shares.append(gap / (n * values.max() + np.sqrt(n) * np.linalg.norm(values)))
                everything += shares
                needed[f"n = {n}, {law}, {spectrum}"] = float(np.quantile(shares, 1 - n**-2.0))
    return {
        "value": highest(needed.values()),
        "least": lowest(needed.values()),
        "where": max(needed, key=lambda setting: needed[setting]),
        "within_one": float(np.mean(np.array(everything) <= 1)),
    }


def judge_spectrum(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] < SPECTRUM)


def tell_spectrum(numbers: Numbers) -> str:
    return (
        f"the constant that holds in a share 1 - n^-2 of 200 draws lies between {numbers['least']:.2f} and "
        f"{numbers['value']:.2f} over n, three laws and two spectra (worst: {numbers['where']}); with C = 1 the bound "
        f"holds in {numbers['within_one']:.0%} of all draws"
    )


WIDTHS, DELTAS = (1, 2, 4, 8, 16, 32, 64, 1024), (0.3, 0.1, 0.01)


def measure_overlaps(trial: Trial) -> Numbers:
    std, draws = 0.01, 400
    upper, lower = {}, {}
    for width in WIDTHS:
        most, top = [], []
        for draw in range(draws if width < 1024 else 100):
            data = ln.problems.gaussian_teacher([trial.seed, draw], dim=60)
            start = ln.inits.signed([trial.seed, draw, 1], in_dim=60, width=width, first_std=std, magnitude=0.001)
            feature = data.inputs.T @ data.outputs
            overlaps = np.sqrt(width) * start.first @ feature / (std * np.linalg.norm(feature))
            most.append(np.abs(overlaps).max())
            top.append(overlaps.max())
        upper[width], lower[width] = np.array(most), np.array(top)
    constants, shares = {}, {}
    for delta in DELTAS:
        held = {}
        for width in WIDTHS:
            bound = np.sqrt(2 * np.log(8 * width / delta))
            held[width] = float(((upper[width] <= bound) & (lower[width] >= 0.5)).mean())
        enough = [width for width in WIDTHS if all(held[w] >= 1 - delta for w in WIDTHS if w >= width)]
        constants[delta] = enough[0] / np.log(1 / delta) if enough else np.inf
        shares[delta] = held
    return {"value": highest(constants.values()), "constants": constants, "narrow": shares[0.01][1]}


def judge_overlaps(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= WIDTH)


def tell_overlaps(numbers: Numbers) -> str:
    text = ", ".join(f"{constant:.1f} at delta = {delta:g}" for delta, constant in numbers["constants"].items())
    return (
        f"both bounds hold with probability 1 - delta from a width m on that is log(1/delta) times {text} (m = 1, 2, 4 "
        f".. 1024); a single neuron satisfies them in {numbers['narrow']:.0%} of the draws"
    )


DIMS = (16, 32, 64, 128, 256, 512)


def measure_norms(trial: Trial) -> Numbers:
    std, delta, draws = 0.01, 0.1, 60 if trial.quick else 200
    constants = {}
    for width in (16, 128, 1024):
        enough = []
        for dim in DIMS:
            inside = 0
            for draw in range(draws):
                start = ln.inits.signed([trial.seed, dim, draw], in_dim=dim, width=width, first_std=std, magnitude=1e-3)
                norms = width * (start.first**2).sum(axis=1) / (std**2 * dim)  # |w_r(0)|^2/(sigma_0^2 d)
                inside += bool(((norms >= 0.5) & (norms <= 1.5)).all())
            enough.append(inside / draws >= 1 - delta)
        first = enough.index(True) if any(enough) else -1
        constants[width] = DIMS[first] / np.log(4 * width / delta) if any(enough) else np.inf
    return {"value": highest(constants.values()), "least": lowest(constants.values()), "constants": constants}


def judge_norms(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= NORMS and numbers["value"] <= NORMS_SPREAD * numbers["least"])


def tell_norms(numbers: Numbers) -> str:
    text = ", ".join(f"{constant:.0f} at m = {width}" for width, constant in numbers["constants"].items())
    return (
        f"all neurons are inside with probability 0.9 from a dimension on that is log(4m/delta) times {text} (delta = "
        "0.1, d doubled from 16)"
    )


def measure_quadratic(trial: Trial) -> Numbers:
    rows = lemmas.read(lemmas.TABLE.results(trial))
    failing = lemmas.failures(rows)
    draws = sum(row.draws for row in rows if row.n == rows[0].n)
    return {
        "value": failing[10],
        "uncertainty": float(np.sqrt(failing[10] * (1 - failing[10]) / draws)),
        "constants": {n: n**2 * failure for n, failure in failing.items()},
        "laws": {row.n: row.n**2 * (1 - row.form_law) for row in rows},
        "falls": failing[40] < failing[20] < failing[10],
        "draws": draws,
    }


def judge_quadratic(numbers: Numbers) -> Verdict:
    constants = numbers["constants"]
    return holds_if(numbers["falls"] and constants[40] < SCALING * constants[10])


def tell_quadratic(numbers: Numbers) -> str:
    text = ", ".join(
        f"{constant:.1f}/n^2 at n = {n} (chi-squared law {numbers['laws'][n]:.1f}/n^2)"
        for n, constant in numbers["constants"].items()
    )
    return f"of {numbers['draws']} draws a share fails of {text}: a constant over n^2, or less"


def measure_gamma(trial: Trial) -> Numbers:
    rows = lemmas.read(lemmas.TABLE.results(trial))
    at = {(row.n, row.noise): row for row in rows}
    most = at[40, 8.0]
    return {
        "value": most.gamma,
        "uncertainty": most.error(most.gamma),
        "shares": {noise: {n: at[n, noise].gamma for n in lemmas.SAMPLES} for noise in lemmas.NOISES},
        "medians": {noise: at[40, noise].median for noise in lemmas.NOISES},
        "proof": {n: at[n, 1e-7].proof for n in lemmas.SAMPLES},
        "draws": most.draws,
    }


def judge_gamma(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= SHARE)


def tell_gamma(numbers: Numbers) -> str:
    words = {8.0: "the limit 8n|beta|^2", 0.8: "a tenth of it", 1e-7: "hardly any"}
    text = "; ".join(
        f"{words[noise]}: " + ", ".join(f"{share:.0%} at n = {n}" for n, share in shares.items())
        for noise, shares in numbers["shares"].items()
    )
    proof = ", ".join(f"{share:.0%}" for share in numbers["proof"].values())
    return (
        f"share of {numbers['draws']} draws inside, by noise: {text}; the median of gamma/(tr n |beta|^2) is "
        f"{numbers['medians'][8.0]:.2g} at the limit and n = 40; with the 1/8 and 9/4 that the proof arrives at, and "
        f"hardly any noise: {proof}"
    )


SPECTRUM_CLAIM = Claim(
    name="lemma5.1",
    number="Lemma 5.1",
    sentence="The Gram matrix of the inputs is tr(Sigma) times the identity, up to n|Sigma| + sqrt(n)|Sigma|_F.",
    assumptions="sub-Gaussian entries",
    setting="d = 400, n = 5, 10, 20, three laws, two spectra, 200 draws each",
    claimed="an absolute constant C, with probability at least 1 - n^-2",
    expected=Verdict.HOLDS,
    measure=measure_spectrum,
    judge=judge_spectrum,
    tell=tell_spectrum,
    limits={"constant": SPECTRUM},
)
OVERLAPS = Claim(
    name="lemmaA1",
    number="Lemma A.1",
    sentence=(
        "The start's overlaps with the feature are below sigma_0 sqrt(2 log(8m/delta) gamma), their maximum above half."
    ),
    assumptions="m = Omega(log(1/delta))",
    setting=(
        "m = 1 to 64 and 1024, delta = 0.3, 0.1, 0.01, 400 draws of data (n = 10, d = 60) and start (m = 1024: 100)"
    ),
    claimed="probability at least 1 - delta once m exceeds a constant times log(1/delta)",
    expected=Verdict.HOLDS,
    measure=measure_overlaps,
    judge=judge_overlaps,
    tell=tell_overlaps,
    limits={"width": WIDTH},
)
NORMS_CLAIM = Claim(
    name="lemmaA2",
    number="Lemma A.2",
    sentence="The squared norm of each neuron at the start is within a half of sigma_0^2 d.",
    assumptions="d = Omega(log(4m/delta))",
    setting="m = 16, 128, 1024, d = 16 to 512, 200 starts of each (quick: 60)",
    claimed="probability at least 1 - delta = 0.9 once d exceeds one constant times log(4m/delta)",
    expected=Verdict.HOLDS,
    measure=measure_norms,
    judge=judge_norms,
    tell=tell_norms,
    limits={"constant": NORMS, "spread": NORMS_SPREAD},
)
QUADRATIC = Claim(
    name="lemmaA3",
    number="Lemma A.3",
    sentence="The empirical quadratic form of a vector is between half and twice n times its population form.",
    assumptions="sub-Gaussian entries",
    setting=DRAWS,
    claimed="probability at least 1 - O(n^-2)",
    expected=Verdict.HOLDS,
    measure=measure_quadratic,
    judge=judge_quadratic,
    tell=tell_quadratic,
    limits={"scaling": SCALING},
)
GAMMA = Claim(
    name="lemmaA4",
    number="Lemma A.4",
    sentence="gamma is between 1/2 and 3/2 of tr(Sigma) n |beta|^2.",
    assumptions="noise variance at most 8n|beta|^2",
    setting=DRAWS,
    claimed="probability at least 1 - O(n^-2) (judged: at least 80% of the draws at n = 40)",
    expected=Verdict.REFUTED,
    measure=measure_gamma,
    judge=judge_gamma,
    tell=tell_gamma,
    limits={"share": SHARE},
)
