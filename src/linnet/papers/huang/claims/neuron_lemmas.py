"""Lemmas 5.2 and 5.3, for every neuron: all inside the printed assumption, with one t1 and one t2."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang.claims.neurons import CORRECTED, dominant, table
from linnet.papers.huang.claims.rules import (
    ASSUMED,
    RATIOS,
    by_ratio,
    printed_or_corrected,
)
from linnet.papers.huang.tables import neurons
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

SPREAD = Limit(10.0, "of order 1 for every neuron: none ten times above or below the median one")
HALF = Limit(0.5, "the lemma's own 1/2")
KERNEL = Limit(1.0, "half of what a kernel of zero would need: a larger constant says nothing")


def measure_end_of_first_stage(trial: Trial) -> Numbers:
    rows = table(trial)
    least, most = {row.ratio: row.least for row in rows}, {row.ratio: row.most for row in rows}
    worst = {row.ratio: highest(row.most, 1 / row.least) for row in rows}
    magnitudes = {row.ratio: (row.magnitude_least, row.magnitude_most) for row in rows}
    return {"value": highest(dominant(worst)), "least": least, "most": most, "worst": worst, "magnitudes": magnitudes}


def judge_end_of_first_stage(numbers: Numbers) -> Verdict:
    return printed_or_corrected(highest(numbers["worst"].values()) <= SPREAD, numbers["value"] <= SPREAD)


def tell_end_of_first_stage(numbers: Numbers) -> str:
    text = ", ".join(f"{r:g}: {low:.2g} to {numbers['most'][r]:.2g}" for r, low in numbers["least"].items())
    last = numbers["magnitudes"][max(numbers["magnitudes"])]
    return (
        f"|rho_r(t1)| over all neurons in units of their median, which is 1, by v_0/(sigma_0 sqrt(log m)): {text}; "
        f"|v_r(t1)| sqrt(n tr)|beta| from {last[0]:.2f} to {last[1]:.2f} at the largest ratio"
    )


def measure_deviation(trial: Trial) -> Numbers:
    rows = table(trial)
    results = neurons.TABLE.results(trial)
    gammas = np.array([(results["values"] ** 2 * results["coefficients"] ** 2).sum("mode").values])
    # printed, the feature is not divided by gamma: what is left has the length rho (1 - 1/gamma) sqrt(gamma)
    printed = float(((1 - 1 / gammas) * gammas).min())
    return {"value": highest(dominant({r.ratio: r.across for r in rows})), "printed": printed} | {
        "across": {row.ratio: row.across for row in rows}
    }


def judge_deviation(numbers: Numbers) -> Verdict:
    return printed_or_corrected(numbers["printed"] <= HALF, numbers["value"] <= HALF)


def tell_deviation(numbers: Numbers) -> str:
    return (
        "the constant needed in place of 1/2, worst neuron of stage 2, with X'y/gamma and by v_0/(sigma_0 sqrt(log "
        f"m)): {by_ratio(numbers['across'])} (a neuron that turns within stage 2 can need any); as printed, "
        f"{numbers['printed']:.1g} and more"
    )


def measure_layer_gap(trial: Trial) -> Numbers:
    rows = table(trial)
    gaps = {row.ratio: row.gap for row in rows}
    return {
        "value": highest(dominant(gaps)),
        "gaps": gaps,
        "shares": {row.ratio: row.gap_share for row in rows},
        "networks": {row.ratio: row.gap_networks for row in rows},
        "of": rows[0].networks,
    }


def judge_layer_gap(numbers: Numbers) -> Verdict:
    return printed_or_corrected(highest(numbers["gaps"].values()) <= HALF, numbers["value"] <= HALF)


def tell_layer_gap(numbers: Numbers) -> str:
    return (
        "the largest |rho - v sqrt(gamma)|/|rho| of any neuron from t1 on, by v_0/(sigma_0 sqrt(log m)): "
        f"{by_ratio(numbers['gaps'])}; networks with a neuron above 1/2, of {numbers['of']}: "
        f"{by_ratio(numbers['networks'], 'd')}; share of neurons below: {lowest(numbers['shares'].values()):.2%} "
        "or more"
    )


def measure_kernel_gap(trial: Trial) -> Numbers:
    rows = table(trial)
    each = {row.ratio: max(row.kernel[0], row.kernel[1]) for row in rows}
    means = {row.ratio: row.kernel[2] for row in rows}
    return {
        "value": highest(means.values()),
        "each": each,
        "means": means,
        "none": lowest(row.kernel[3] for row in rows),
    }


def judge_kernel_gap(numbers: Numbers) -> Verdict:
    return printed_or_corrected(highest(numbers["each"].values()) <= KERNEL, numbers["value"] <= KERNEL)


def tell_kernel_gap(numbers: Numbers) -> str:
    return (
        "the constant C needed in stage 2 for every neuron's v_r^2, by v_0/(sigma_0 sqrt(log m)): "
        f"{by_ratio(numbers['each'])}; with the mean over neurons of v_r^2: {by_ratio(numbers['means'])}; "
        f"a kernel of zero would need {numbers['none']:.2f}"
    )


LEMMA_52 = Claim(
    name="lemma5.2",
    number="Lemma 5.2 (i), (ii)",
    sentence="At t1 every alignment is of order 1 and every magnitude of order 1/(sqrt(n tr)|beta|).",
    assumptions=CORRECTED,
    setting=RATIOS,
    claimed="every neuron within a factor 10 of the median (our reading of Theta(1)), at the t1 where that is 1",
    expected=Verdict.CORRECTED,
    measure=measure_end_of_first_stage,
    judge=judge_end_of_first_stage,
    tell=tell_end_of_first_stage,
    limits={"spread": SPREAD},
)
LEMMA_53_WEIGHTS = Claim(
    name="lemma5.3-weights",
    number="Lemma 5.3, first line",
    sentence="In stage 2 the weights have moved along the feature, up to half of rho/(sqrt(n tr)|beta|).",
    assumptions=CORRECTED,
    setting=RATIOS,
    claimed="|w - w(0) - rho X'y| (printed), with X'y/gamma (corrected), against 1/2, for every neuron",
    expected=Verdict.CORRECTED,
    measure=measure_deviation,
    judge=judge_deviation,
    tell=tell_deviation,
    limits={"half": HALF},
)
LEMMA_53_LAYERS = Claim(
    name="lemma5.3-layers",
    number="Lemma 5.3, second line",
    sentence="In stage 2 alignment and sqrt(gamma) times magnitude differ by at most half the alignment.",
    assumptions=CORRECTED,
    setting=RATIOS,
    claimed="|rho - v sqrt(gamma)| <= rho/2 for every neuron, from the t1 of Lemma 5.2 on",
    expected=Verdict.CORRECTED,
    measure=measure_layer_gap,
    judge=judge_layer_gap,
    tell=tell_layer_gap,
    limits={"half": HALF},
)
LEMMA_53_KERNEL = Claim(
    name="lemma5.3-kernel",
    number="Lemma 5.3, third line",
    sentence="In stage 2 the kernel is within C v_r^2 tr/m of the target-aligned one.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="an absolute constant C for every neuron r (printed), with the mean of v_r^2 (corrected)",
    expected=Verdict.CORRECTED,
    measure=measure_kernel_gap,
    judge=judge_kernel_gap,
    tell=tell_kernel_gap,
    limits={"constant": KERNEL},
)
