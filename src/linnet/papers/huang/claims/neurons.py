"""Lemmas 5.2 and 5.3 and what is said of every neuron: all inside the printed assumption, with one t1 and one t2."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang import settings
from linnet.papers.huang.claims.rules import (
    ASSUMED,
    RATIOS,
    by_ratio,
    holds_if,
    printed_or_corrected,
)
from linnet.papers.huang.tables import neurons
from linnet.reproduction import Claim, Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest

CORRECTED = ASSUMED + " (corrected: and v_0 well above sigma_0 sqrt(log m))"

SPREAD = Limit(10.0, "of order 1 for every neuron: none ten times above or below the median one")
HALF = Limit(0.5, "the lemma's own 1/2")
KERNEL = Limit(1.0, "half of what a kernel of zero would need: a larger constant says nothing")
ALL = Limit(0.999, "one neuron in a thousand may be caught while it turns")
KEPT_PREDICTED = Limit(4.0, "standard errors of the share, neurons being drawn independently")
FALLING = Limit(0.001, "the share of all neurons that may be caught while they turn")
ROUNDING = Limit(0.05, "the part of the difference that decays, e^(-2 t1), is a few percent of c_r at these scales")
ALIGNED = Limit(0.98, "XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: a cosine of about 0.995")
SETTLED = Limit(0.95, "a ratio of layers that has come within 5% of its end")


def _rows(trial: Trial) -> list[neurons.Neurons]:
    return neurons.read(neurons.TABLE.results(trial))


def _above(values: dict[float, float]) -> list[float]:
    """Those at ratios where v_0 dominates: the correction's part."""
    return [value for ratio, value in values.items() if ratio >= settings.DOMINANT]


def measure_end_of_first_stage(trial: Trial) -> Numbers:
    rows = _rows(trial)
    least, most = {row.ratio: row.least for row in rows}, {row.ratio: row.most for row in rows}
    worst = {row.ratio: highest(row.most, 1 / row.least) for row in rows}
    magnitudes = {row.ratio: (row.magnitude_least, row.magnitude_most) for row in rows}
    return {"value": highest(_above(worst)), "least": least, "most": most, "worst": worst, "magnitudes": magnitudes}


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
    rows = _rows(trial)
    results = neurons.TABLE.results(trial)
    gammas = np.array([(results["values"] ** 2 * results["coefficients"] ** 2).sum("mode").values])
    # printed, the feature is not divided by gamma: what is left has the length rho (1 - 1/gamma) sqrt(gamma)
    printed = float(((1 - 1 / gammas) * gammas).min())
    return {"value": highest(_above({r.ratio: r.across for r in rows})), "printed": printed} | {
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
    rows = _rows(trial)
    gaps = {row.ratio: row.gap for row in rows}
    return {
        "value": highest(_above(gaps)),
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
    rows = _rows(trial)
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


def measure_signs(trial: Trial) -> Numbers:
    rows = _rows(trial)
    kept = {row.ratio: row.kept for row in rows}
    off = highest(row.kept_off for row in rows)
    return {"value": lowest(_above(kept)), "kept": kept, "off": off, "count": rows[0].count}


def judge_signs(numbers: Numbers) -> Verdict:
    corrected = numbers["value"] >= ALL and numbers["off"] <= KEPT_PREDICTED
    return printed_or_corrected(lowest(numbers["kept"].values()) >= ALL, corrected)


def tell_signs(numbers: Numbers) -> str:
    return (
        "neurons whose rho and v keep the sign of v(0), by v_0/(sigma_0 sqrt(log m)): "
        f"{by_ratio(numbers['kept'], '.1%')}; the normal law's Phi(v_0/sigma_0) is within {numbers['off']:.1f} "
        f"standard errors of each ({numbers['count']} neurons each)"
    )


def measure_determined(trial: Trial) -> Numbers:
    rows = _rows(trial)
    told = {row.ratio: row.determined for row in rows}
    return {"value": lowest(told.values()), "told": told, "count": sum(row.count for row in rows)}


def judge_determined(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= ALL)


def tell_determined(numbers: Numbers) -> str:
    return (
        f"the sign of v_r at the end is that of sqrt(gamma) v_r(0) + <w_r(0), X'y> for {numbers['value']:.2%} or more "
        f"at every ratio ({numbers['count']} neurons in all)"
    )


def measure_rising(trial: Trial) -> Numbers:
    return _falling({row.ratio: row.rising for row in _rows(trial)}, trial)


def measure_products(trial: Trial) -> Numbers:
    return _falling({row.ratio: row.multiplying for row in _rows(trial)}, trial)


def _falling(falling: dict[float, int], trial: Trial) -> Numbers:
    count = sum(row.count for row in _rows(trial))
    return {"value": sum(falling.values()) / count, "falling": falling, "count": count}


def judge_falling(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= FALLING)


def tell_falling(numbers: Numbers) -> str:
    return (
        f"neurons in which it falls between two saved states of stage 2, of {numbers['count']} in all, by "
        f"v_0/(sigma_0 sqrt(log m)): {by_ratio(numbers['falling'], 'd')}"
    )


def measure_difference(trial: Trial) -> Numbers:
    rows = _rows(trial)
    # where v_0 dominates, what has not yet decayed at t1 outweighs <w_r(0), X'y>
    return {
        "value": highest(row.difference for row in rows if row.ratio < settings.DOMINANT),
        "grown": {row.ratio: row.grown for row in rows},
    }


def judge_difference(numbers: Numbers) -> Verdict:
    vanishes = highest(numbers["grown"].values()) <= 1 - ALL
    return printed_or_corrected(vanishes, numbers["value"] <= ROUNDING)


def tell_difference(numbers: Numbers) -> str:
    return (
        f"rho_r - sqrt(gamma) v_r at t1 is -<w_r(0), X'y> to {numbers['value']:.2%} (median neuron, worst ratio below "
        "3), not 0; it is larger in size than at the start, by v_0/(sigma_0 sqrt(log m)), for "
        f"{by_ratio(numbers['grown'], '.0%')} of the neurons"
    )


def measure_limit(trial: Trial) -> Numbers:
    rows = _rows(trial)
    return {
        "value": highest(abs(row.limit - 1) for row in rows),
        "means": {row.ratio: row.limit for row in rows},
        "spread": {row.ratio: row.spread for row in rows},
    }


LIMIT = Limit(0.02, "XX' is a multiple of the identity to a few percent, and the limit assumes that it is one exactly")


def judge_limit(numbers: Numbers) -> Verdict:
    return printed_or_corrected(highest(numbers["spread"].values()) <= LIMIT, numbers["value"] <= LIMIT)


def tell_limit(numbers: Numbers) -> str:
    return (
        "the mean over neurons of rho_r^2 phi/gamma^(5/2) at the end, by v_0/(sigma_0 sqrt(log m)): "
        f"{by_ratio(numbers['means'], '.4f')}; the median neuron is off it by {by_ratio(numbers['spread'], '.0%')}"
    )


def measure_output(trial: Trial) -> Numbers:
    rows = _rows(trial)
    return {"value": lowest(row.output[1] for row in rows), "start": highest(row.output[0] for row in rows)}


def judge_output(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= ALIGNED)


def tell_output(numbers: Numbers) -> str:
    return (
        f"the cosine of X'X W v to X'y is {numbers['value']:.4f} or more at t1, where the median network's is "
        f"{numbers['start']:.3f} or less at the first saved state"
    )


def measure_two_stages(trial: Trial) -> Numbers:
    rows = _rows(trial)
    return {
        "value": lowest(row.settled for row in rows),
        "share": lowest(row.share for row in rows),
        "ratios": {row.ratio: row.settled for row in rows},
    }


def judge_two_stages(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= SETTLED)


def tell_two_stages(numbers: Numbers) -> str:
    return (
        "where the loss has lost 5%, the median rho/(v sqrt(gamma)) is, by v_0/(sigma_0 sqrt(log m)): "
        f"{by_ratio(numbers['ratios'], '.4f')}; at t1 the loss is still {numbers['share']:.2%} of its start or more"
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
SIGNS = Claim(
    name="signs",
    number="below Eq. (9)",
    sentence="Each neuron's alignment and magnitude maintain consistent signs throughout the training.",
    assumptions=CORRECTED,
    setting=RATIOS,
    claimed="all neurons keep their sign; corrected: a share Phi(v_0/sigma_0) does",
    expected=Verdict.CORRECTED,
    measure=measure_signs,
    judge=judge_signs,
    tell=tell_signs,
    limits={"all": ALL, "predicted": KEPT_PREDICTED},
)
SIGNS_DETERMINED = Claim(
    name="signs-determined",
    number="below Eq. (9)",
    sentence="The signs of alignment and magnitude are determined by the initial <w_r(0), X'y> and v_r(0).",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="the sign at the end is that of sqrt(gamma) v_r(0) + <w_r(0), X'y>",
    expected=Verdict.HOLDS,
    measure=measure_determined,
    judge=judge_determined,
    tell=tell_determined,
    limits={"all": ALL},
)
RISING = Claim(
    name="rising",
    number="below Eq. (11)",
    sentence="Every |rho_r| consistently increases during the second stage.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="all neurons between saved states (judged: all but one in a thousand)",
    expected=Verdict.HOLDS,
    measure=measure_rising,
    judge=judge_falling,
    tell=tell_falling,
    limits={"falling": FALLING},
)
PRODUCTS = Claim(
    name="products",
    number="Section 5.1, phase 2",
    sentence="rho_r(t) v_r(t) is monotone in the second stage.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="all neurons between saved states (judged: all but one in a thousand)",
    expected=Verdict.HOLDS,
    measure=measure_products,
    judge=judge_falling,
    tell=tell_falling,
    limits={"falling": FALLING},
)
DIFFERENCE = Claim(
    name="difference",
    number="Section 5.1, phase 1",
    sentence="Over time the difference between rho_r and sqrt(gamma) v_r diminishes.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="to nothing (printed); to -<w_r(0), X'y>, so that only the relative difference vanishes (corrected)",
    expected=Verdict.CORRECTED,
    measure=measure_difference,
    judge=judge_difference,
    tell=tell_difference,
    limits={"rest": ROUNDING, "all": ALL},
)
LIMIT_CLAIM = Claim(
    name="limit",
    number="below Eq. (11)",
    sentence="The squared alignment tends to gamma^(5/2)/phi.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="for each neuron (printed); for the mean over neurons (corrected), within 2%",
    expected=Verdict.CORRECTED,
    measure=measure_limit,
    judge=judge_limit,
    tell=tell_limit,
    limits={"off": LIMIT},
)
OUTPUT = Claim(
    name="output-aligns",
    number="below Lemma 5.1",
    sentence="X'X W v tends to align closely with the direction of X'y.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="a cosine near 1 at t1",
    expected=Verdict.HOLDS,
    measure=measure_output,
    judge=judge_output,
    tell=tell_output,
    limits={"cosine": ALIGNED},
)
TWO_STAGES = Claim(
    name="two-stages",
    number="below Assumption 4.1, Theorem 4.1",
    sentence="Conditions (2) and (3) ensure two stages: the layers settle while the loss remains high.",
    assumptions=ASSUMED,
    setting=RATIOS,
    claimed="the ratio of the layers is within 5% of its end while the loss is above 95%",
    expected=Verdict.HOLDS,
    measure=measure_two_stages,
    judge=judge_two_stages,
    tell=tell_two_stages,
    limits={"settled": SETTLED},
)
