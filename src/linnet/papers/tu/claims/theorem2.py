"""Claims of Tu et al. on the phase diagram: Theorem 2, its borders, and what it costs to learn well."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.tu.tables import active_region as tu_active_region
from linnet.papers.tu.tables import border as tu_border
from linnet.papers.tu.tables import regions as tu_regions
from linnet.papers.tu.tables import timeline as tu_timeline
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest


def measure_lazy_bound(trial: Trial) -> Measurement:
    dim, found = tu_regions.diagram(trial)
    lazy = found["lazy"]
    share = lazy.best_test / (3 * lazy.lazy_bound)
    return Measurement(
        Verdict.HOLDS if (lazy.best_test >= lazy.lazy_bound).all() else Verdict.REFUTED,
        f"least test error over any run and task of the lazy region: {share.min():.3f} of min(|A*|^2, |E|^2)/d^2 "
        f"(bound 1/3), median {np.median(share):.3f}; d = {dim}, descent",
        float(share.min()),
    )


def measure_active(trial: Trial) -> Measurement:
    spectra = tu_active_region.SPECTRA
    rows = tu_active_region.table(trial)
    misses = [np.abs(row.end / row.predicted - 1).max() for row in rows]
    needed, ratios = [], []
    for spectrum in spectra.values():
        large = np.geomspace(1e2, 1e14, 100)
        found = [_asymptotic(d, spectrum) for d in large]
        small = [d for d, (error, _) in zip(large, found, strict=True) if error < 0.1]
        needed.append(min(small) if small else np.inf)
        ratios.append([ratio for _, ratio in found])
    growth = float(np.max(np.array(ratios)[:, -1] / np.array(ratios).max(axis=1)))
    worst = float(np.max(misses))
    fastest = [row.end.mean() for row in rows if row.name == next(iter(spectra))]
    good = worst < 0.15 and fastest[-1] < fastest[0] and np.isfinite(needed).all() and growth < 0.5
    sentence = "; ".join(
        f"d={row.dim} a={row.name}: {row.third.mean():.2f}/{row.least.mean():.2f}/{row.end.mean():.2f}" for row in rows
    )
    return Measurement(
        Verdict.HOLDS if good else Verdict.REFUTED,
        f"test error at T3 / its least / at T*: {sentence}. At T* it is what lazy noise predicts to {worst:.2f}, so it "
        f"falls below 0.1 from d = {', '.join(f'{d:.0e}' for d in needed)} on; it stays within {np.max(ratios):.0f} "
        "times the sum "
        f"of the bound's terms, and is {growth:.0e} of the largest such multiple at d = 1e14",
        float(max(needed)),
    )


def _asymptotic(dim: float, spectrum: tuple[float, ...]) -> tuple[float, float]:
    """Predicted test error at T* in a dimension too large to train, and its ratio to the sum of the theorem's terms."""
    gammas = tu_active_region.GAMMAS
    time = ln.theories.mixed.stopping_time(spectrum, *gammas, dim=int(dim))
    error = tu_active_region.predicted_error(dim, len(spectrum), dim ** sum(gammas), time)
    return error, error / sum(ln.theories.mixed.error_terms(*gammas, dim=int(dim)).values())


def measure_border(trial: Trial) -> Measurement:
    low, full = tu_border.table(trial)
    slopes = [line.growth[0] for line in (low, full)]
    near = all(abs(line.growth[0] - line.claimed) < 0.25 for line in (low, full))
    sizes = ", ".join(
        f"{one:.1f} and {two:.1f} at d = {dim:.0f}"
        for dim, one, two in zip(low.dims, low.middle, full.middle, strict=True)
    )
    return Measurement(
        Verdict.HOLDS if near and slopes[0] - slopes[1] > 0.25 else Verdict.REFUTED,
        f"sigma^2 w where the leading mode is {tu_border.PREFERRED} times as far as the median one when half is "
        "learned: "
        f"{sizes} (low rank, full rank); it grows like d^{slopes[0]:.2f} and d^{slopes[1]:.2f} (claimed 1 and 1/2)",
        *low.growth,
    )


def measure_growth(trial: Trial) -> Measurement:
    gammas = tu_timeline.GAMMAS
    rows = [row for row in tu_timeline.table(trial) if row.name == "(1)"]
    ratios, own = (
        [float(row.growth.mean() / row.printed) for row in rows],
        [float((row.growth / row.own).mean()) for row in rows],
    )
    printed = ln.theories.mixed.stopping_time([1.0, 0.5], *gammas, dim=100, printed=True)
    right = ln.theories.mixed.stopping_time([1.0, 0.5], *gammas, dim=100)
    near = ln.theories.mixed.stage_lengths([1.0, 0.5], -1.6, 2.4, dim=100, printed=True)["settling"]
    if abs(ratios[-1] - 1) < 0.2:
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.CORRECTED if abs(ratios[-1] - 0.5) < 0.2 and abs(own[-1] - 1) < 0.06 else Verdict.REFUTED
    return Measurement(
        verdict,
        f"T3 - T1 over d log(a_K d/sigma^2 w)/a_K: {', '.join(f'{r:.2f}' for r in ratios)} at d = "
        f"{', '.join(str(row.dim) for row in rows)} (printed 1, its own ODE 1/2), and {own[-1]:.2f} of the ODE's own "
        "time. max for "
        "min in the two last terms: for a = (1, 1/2), Delta = 0.2 the printed settling stage is "
        f"{near / ln.theories.mixed.stage_lengths([1.0, 0.5], -1.6, 2.4, dim=100)['settling']:.1f} times as long; T* "
        f"at Delta = 0.6 is {printed / right:.2f} of the corrected; for one singular value or equal ones the printed "
        "c(a) is undefined",
        float(ratios[-1]),
    )


def measure_tradeoff(trial: Trial) -> Measurement:
    from scipy.stats import spearmanr

    _, found = tu_regions.diagram(trial)
    depths = found["depths"].gamma_variance
    steps, tests = found["depths"].best_step, found["depths"].best_test
    depth = -depths
    rises = [float(spearmanr(depth, column).statistic) for column in steps.T]
    falls = [float(spearmanr(depth, column).statistic) for column in tests.T]
    good = np.mean(rises) > 0.9 and np.mean(falls) < -0.5
    return Measurement(
        Verdict.HOLDS if good else Verdict.REFUTED,
        f"at w = d^2, gamma_sigma2 from {depths[-1]} to {depths[0]}: least test error {np.median(tests[-1]):.3f} -> "
        f"{np.median(tests[0]):.3f}, iterations {np.median(steps[-1]):.0f} -> {np.median(steps[0]):.0f}; rank "
        f"correlations {np.mean(falls):.2f} and {np.mean(rises):.2f}; the gain ends at {np.median(tests[1]):.3f} -> "
        f"{np.median(tests[0]):.3f}",
        float(np.mean(rises)),
    )


def measure_narrow(trial: Trial) -> Measurement:
    dim, found = tu_regions.diagram(trial)
    tests, wider = found["narrow"].best_test, np.median(found["wide"].best_test, axis=1)
    wide = float(wider[1])
    middle = dict(zip(tu_regions.NARROW, np.median(tests, axis=1).tolist(), strict=True))
    good = highest(middle[width] for width in (3, 4, 6, 12)) < 1.5 * wide
    sentence = ", ".join(f"{error:.2f} at w = {width}" for width, error in middle.items())
    return Measurement(
        Verdict.HOLDS if good and middle[2] > middle[6] else Verdict.REFUTED,
        f"median least test error for rank {tu_regions.RANK}: {sentence}; {wider[0]:.2f} at w = d = {dim}, {wide:.2f} "
        f"at w = d^2. At w = K the worst task has {tests[1].max():.2f}",
        middle[3] / wide,
    )


CELLS = "cells of the phase diagram at d = 30 (full: 100), rank 3, 3 tasks (full: 8), descent with c = 50"

CLAIMS = [
    Claim(
        name="thm2-lazy",
        number="Theorem 2 (lazy), Proposition D.1",
        sentence="In the lazy region the test error never falls below a third of min(|A*|^2, |E|^2).",
        assumptions="gamma_w > 1, 2 gamma_sigma2 + gamma_w < 0, gamma_sigma2 + gamma_w > 1",
        setting=CELLS,
        claimed="at least 1/3",
        expected=Verdict.HOLDS,
        measure=measure_lazy_bound,
    ),
    Claim(
        name="thm2-active",
        number="Theorem 2 (active), Theorem E.5, (41)",
        sentence="In the active region the test error at T* is of the order of terms that vanish as d grows.",
        assumptions="gamma_w > 1, gamma_sigma2 + gamma_w < 1; T* corrected, leading order",
        setting="descent at d = 30, 100 (full: 50 .. 400), gamma = (-1.85, 2.25), spectra (1), (1, 1), (1, 1/2), 2 "
        "tasks each "
        "(full: 3); prediction to d = 1e14",
        claimed="O(sigma^4 w + (sigma^2 w log d/d)^2 + d^-1/2 + sigma^2 w/d)",
        expected=Verdict.HOLDS,
        measure=measure_active,
    ),
    Claim(
        name="thm2-time",
        number="Theorem 2, E.3 (T1 to T5), Theorem E.5",
        sentence="From the threshold to half its target a singular value takes d log(a_K d/sigma^2 w)/a_K; T* has "
        "max(1, 2 Delta).",
        assumptions="active region",
        setting="descent at d = 40, 80 (full: 50, 100, 200), 2 tasks each (full: 3), a = (1), gamma = (-1.85, 2.25)",
        claimed="ratio 1",
        expected=Verdict.CORRECTED,
        measure=measure_growth,
    ),
    Claim(
        name="border",
        number="section 2.1, last remark",
        sentence="Training is lazy above sigma^2 w ~ |B|_op: gamma_sigma2 + gamma_w = 1 for low rank, 1/2 for full "
        "rank.",
        assumptions="w >> d",
        setting="descent at w = d^3, d = 16, 48 (full: 20 .. 160), 5 targets, 13 thresholds",
        claimed="exponents 1 and 1/2",
        expected=Verdict.HOLDS,
        measure=measure_border,
    ),
    Claim(
        name="tradeoff",
        number="end of section 2.1, Figure 2",
        sentence="Deeper in the active region the test error is smaller and training takes longer.",
        assumptions="active region",
        setting=CELLS,
        claimed="error falls, iterations rise",
        expected=Verdict.HOLDS,
        measure=measure_tradeoff,
    ),
    Claim(
        name="narrow",
        number="section 2.1, Figure 2",
        sentence="Good generalization is seen for widths below d, down to w near the rank of A*.",
        assumptions="none proved",
        setting=CELLS,
        claimed="within 1.5 of a wide network's error from w = K on",
        expected=Verdict.HOLDS,
        measure=measure_narrow,
    ),
]
