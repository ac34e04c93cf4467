"""Huang et al.: Assumption 4.1, and the lemmas on data and start, over many draws."""

from __future__ import annotations

import linnet as ln
from linnet.papers.huang.tables import draws as huang_draws
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest, lowest

DRAWS = "n = 10, 20, 40, d = 1000, unit signal, 1000 draws at each of three noises (quick: d = 400, 300 draws)"


def measure_assumption(trial: Trial) -> Measurement:
    fa, epsilon = ln.theories.feature_learning.assumptions, 0.01
    own = fa.assumption(
        ln.problems.gaussian_teacher(trial.seed),
        width=1024,
        learning_rate=0.1 / 1024,
        first_std=0.01,
        magnitude=0.001,
        epsilon=epsilon,
    )
    unit = ln.problems.gaussian_teacher(trial.seed, signal=1.0)
    scales = fa.admissible(unit, width=1024, epsilon=epsilon)
    other = fa.assumption(
        unit,
        width=1024,
        learning_rate=scales["learning_rate"],
        first_std=scales["first_std"],
        magnitude=scales["magnitude"],
        epsilon=epsilon,
        corrected=True,
    )
    failing = "; ".join(str(c) for c in own.conditions if not c.holds)
    return Measurement(
        Verdict.OUTSIDE if own.broken else Verdict.HOLDS,
        f"section 6 breaks {', '.join(own.broken) or 'nothing'} with all constants 1: {failing}; a unit-signal "
        "version with "
        f"sigma_0 = {scales['first_std']:.2g}, v_0 = {scales['magnitude']:.2g} satisfies "
        f"{'all' if other.holds else 'not all'} of them, printed and corrected",
        float(len(own.broken)),
    )


def measure_spectrum(trial: Trial) -> Measurement:
    import numpy as np

    fa = ln.theories.feature_learning.assumptions
    needed, everything = {}, []
    for n in (5, 10, 20):
        for law in ("gaussian", "rademacher", "uniform"):
            for spectrum, values in (("flat", np.ones(400)), ("power", 1 / np.arange(1, 401))):
                shares = []
                for draw in range(200):
                    data = ln.problems.subgaussian_regression(
                        [trial.seed, n, draw], samples=n, covariance=values, teacher=np.ones(400), entries=law
                    )
                    gap, bound = fa.spectrum_gap(data)
                    shares.append(gap / bound)
                everything += shares
                needed[n, law, spectrum] = float(np.quantile(shares, 1 - n**-2.0))
        if trial.quick and n == 10:
            break
    low, high = lowest(needed.values()), highest(needed.values())
    where = max(needed, key=lambda setting: needed[setting])
    return Measurement(
        Verdict.HOLDS if high < 5 else Verdict.REFUTED,
        f"the constant that holds in a share 1 - n^-2 of 200 draws lies between {low:.2f} and {high:.2f} over n, "
        "three laws and "
        f"two spectra (worst: n = {where[0]}, {where[1]}, {where[2]}); with C = 1 the bound holds in "
        f"{np.mean(np.array(everything) <= 1):.0%} of all draws, with C = 3 in "
        f"{np.mean(np.array(everything) <= 3):.1%}",
        high,
    )


def measure_overlaps(trial: Trial) -> Measurement:
    import numpy as np

    fa, width, delta, std = ln.theories.feature_learning.assumptions, 1024, 0.01, 0.01
    shares, lower = [], []
    for draw in range(200):
        data = ln.problems.gaussian_teacher([trial.seed, draw], dim=60)
        start = ln.inits.signed([trial.seed, draw, 1], in_dim=60, width=width, first_std=std, magnitude=0.001)
        feature = data.inputs.T @ data.outputs
        overlaps, gamma = np.sqrt(width) * start.first @ feature, float(feature @ feature)
        shares.append(np.abs(overlaps).max() / fa.overlap_bound(gamma, first_std=std, width=width, delta=delta))
        lower.append(overlaps.max() / (std * np.sqrt(gamma)))
    held = (np.array(shares) <= 1) & (np.array(lower) >= 0.5)
    return Measurement(
        Verdict.HOLDS if held.mean() >= 1 - delta else Verdict.REFUTED,
        f"both bounds hold in {held.mean():.1%} of 200 draws (claimed at least {1 - delta:.0%} for delta = {delta}); "
        "the largest "
        f"overlap reaches {highest(shares):.0%} of its bound, and the maximum is never below {lowest(lower):.2f} "
        "where 1/2 is "
        "claimed",
        float(held.mean()),
        float(np.sqrt(max(held.mean() * (1 - held.mean()), 1 / 200) / 200)),
    )


def measure_norms(trial: Trial) -> Measurement:
    import numpy as np

    width, std, shares = 1024, 0.01, {}
    sizes = {30: 50, 100: 50, 10_000: 2} if trial.quick else {30: 200, 100: 200, 10_000: 20}
    for dim, draws in sizes.items():
        inside = []
        for draw in range(draws):
            start = ln.inits.signed([trial.seed, dim, draw], in_dim=dim, width=width, first_std=std, magnitude=0.001)
            norms = width * (start.first**2).sum(axis=1) / (std**2 * dim)  # |w_r(0)|^2/(sigma_0^2 d)
            inside.append(bool(((norms >= 0.5) & (norms <= 1.5)).all()))
        shares[dim] = float(np.mean(inside))
    text = ", ".join(f"d = {dim}: {share:.1%} of {sizes[dim]}" for dim, share in shares.items())
    return Measurement(
        Verdict.HOLDS if shares[10_000] >= 0.99 else Verdict.REFUTED,
        f"all {width} neurons inside in this share of starts: {text} (log(4m/delta) = {np.log(4 * width / 0.01):.0f})",
        shares[10_000],
    )


def measure_quadratic(trial: Trial) -> Measurement:
    import numpy as np

    rows = huang_draws.read(huang_draws.TABLES[0].results(trial))
    failing = huang_draws.failures(rows)
    draws = sum(row.draws for row in rows if row.n == rows[0].n)
    laws = {row.n: 1 - row.form_law for row in rows}
    constants = {n: n**2 * failure for n, failure in failing.items()}
    falls = failing[40] < failing[20] < failing[10] and constants[40] < 2 * constants[10]
    text = ", ".join(
        f"n = {n}: {1 - f:.1%} inside (failures {constants[n]:.1f}/n^2, by the chi-squared law "
        f"{n**2 * laws[n]:.1f}/n^2)"
        for n, f in failing.items()
    )
    return Measurement(
        Verdict.HOLDS if falls else Verdict.REFUTED,
        f"over {draws} draws {text}: a constant over n^2, or less",
        failing[10],
        float(np.sqrt(failing[10] * (1 - failing[10]) / draws)),
    )


def measure_gamma(trial: Trial) -> Measurement:
    rows = huang_draws.read(huang_draws.TABLES[0].results(trial))
    words = {8.0: "the limit 8n|beta|^2", 0.8: "a tenth of it", 1e-7: "hardly any"}
    text = "; ".join(
        f"{words[noise]}: "
        + ", ".join(f"{row.gamma:.0%} at n = {row.n} ({row.median:.2g})" for row in rows if row.noise == noise)
        for noise in words
    )
    # with few samples |y|^2 itself scatters: at n = 40 nine draws in ten or more are inside where the noise is harmless
    most = next(row for row in rows if (row.n, row.noise) == (40, 8.0))
    return Measurement(
        Verdict.HOLDS if most.gamma >= 0.8 else Verdict.REFUTED,
        f"share of {most.draws} draws inside, by noise: {text} (median of gamma/(tr(Sigma) n |beta|^2)); judged at "
        "the limit "
        f"and n = 40: {most.gamma:.0%}, where 80% would do",
        most.gamma,
        most.error(most.gamma),
    )


CLAIMS = [
    Claim(
        name="assumption",
        number="Assumption 4.1",
        sentence="The experiments illustrate the theorem, so their settings satisfy its assumption.",
        assumptions="all unnamed constants 1",
        setting="section 6 and a unit-signal version, epsilon = 0.01",
        claimed="seven inequalities on width, scales, step, noise and covariance",
        expected=Verdict.OUTSIDE,
        measure=measure_assumption,
    ),
    Claim(
        name="lemma5.1",
        number="Lemma 5.1",
        sentence="The Gram matrix of the inputs is tr(Sigma) times the identity, up to n|Sigma| + sqrt(n)|Sigma|_F.",
        assumptions="sub-Gaussian entries",
        setting="d = 400, n = 5, 10, 20, three laws, two spectra, 200 draws each",
        claimed="an absolute constant C, with probability at least 1 - n^-2",
        expected=Verdict.HOLDS,
        measure=measure_spectrum,
    ),
    Claim(
        name="lemmaA1",
        number="Lemma A.1",
        sentence="The start's overlaps with the feature are below sigma_0 sqrt(2 log(8m/delta) gamma), their maximum "
        "above half.",
        assumptions="m = Omega(log(1/delta))",
        setting="m = 1024, delta = 0.01, 200 draws of data (n = 10, d = 60) and start",
        claimed="probability at least 1 - delta",
        expected=Verdict.HOLDS,
        measure=measure_overlaps,
    ),
    Claim(
        name="lemmaA2",
        number="Lemma A.2",
        sentence="The squared norm of each neuron at the start is within a half of sigma_0^2 d.",
        assumptions="d = Omega(log(4m/delta))",
        setting="m = 1024, 20 starts at d = 10 000, 200 at d = 30, 100 (quick: 2 and 50)",
        claimed="probability at least 1 - delta, delta = 0.01",
        expected=Verdict.HOLDS,
        measure=measure_norms,
    ),
    Claim(
        name="lemmaA3",
        number="Lemma A.3",
        sentence="The empirical quadratic form of a vector is between half and twice n times its population form.",
        assumptions="sub-Gaussian entries",
        setting=DRAWS,
        claimed="probability at least 1 - O(n^-2)",
        expected=Verdict.HOLDS,
        measure=measure_quadratic,
    ),
    Claim(
        name="lemmaA4",
        number="Lemma A.4",
        sentence="gamma is between 1/2 and 3/2 of tr(Sigma) n |beta|^2.",
        assumptions="noise variance at most 8n|beta|^2",
        setting=DRAWS,
        claimed="probability at least 1 - O(n^-2) (judged: at least 80% of the draws at n = 40)",
        expected=Verdict.REFUTED,
        measure=measure_gamma,
    ),
]
