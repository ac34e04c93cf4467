"""What is said of every neuron in the first stage and after: signs, growth, two stages."""

from __future__ import annotations

from linnet.papers.huang import settings
from linnet.papers.huang.claims.rules import (
    ASSUMED,
    RATIOS,
    by_ratio,
    holds_if,
    printed_or_corrected,
)
from linnet.papers.huang.tables import neurons
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.old_claim import old as Claim

CORRECTED = ASSUMED + " (corrected: and v_0 well above sigma_0 sqrt(log m))"
ALL = Limit(0.999, "one neuron in a thousand may be caught while it turns")
KEPT_PREDICTED = Limit(4.0, "standard errors of the share, neurons being drawn independently")
FALLING = Limit(0.001, "the share of all neurons that may be caught while they turn")
ROUNDING = Limit(0.05, "the part of the difference that decays, e^(-2 t1), is a few percent of c_r at these scales")
ALIGNED = Limit(0.98, "XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: a cosine of about 0.995")
SETTLED = Limit(0.95, "a ratio of layers that has come within 5% of its end")


def table(trial: Trial) -> list[neurons.Neurons]:
    return neurons.read(neurons.TABLE.results(trial))


def dominant(values: dict[float, float]) -> list[float]:
    """Those at ratios where v_0 dominates: the correction's part."""
    return [value for ratio, value in values.items() if ratio >= settings.DOMINANT]


def measure_signs(trial: Trial) -> Numbers:
    rows = table(trial)
    kept = {row.ratio: row.kept for row in rows}
    off = highest(row.kept_off for row in rows)
    return {"value": lowest(dominant(kept)), "kept": kept, "off": off, "count": rows[0].count}


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
    rows = table(trial)
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
    return _falling({row.ratio: row.rising for row in table(trial)}, trial)


def measure_products(trial: Trial) -> Numbers:
    return _falling({row.ratio: row.multiplying for row in table(trial)}, trial)


def _falling(falling: dict[float, int], trial: Trial) -> Numbers:
    count = sum(row.count for row in table(trial))
    return {"value": sum(falling.values()) / count, "falling": falling, "count": count}


def judge_falling(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= FALLING)


def tell_falling(numbers: Numbers) -> str:
    return (
        f"neurons in which it falls between two saved states of stage 2, of {numbers['count']} in all, by "
        f"v_0/(sigma_0 sqrt(log m)): {by_ratio(numbers['falling'], 'd')}"
    )


def measure_difference(trial: Trial) -> Numbers:
    rows = table(trial)
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
    rows = table(trial)
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
    rows = table(trial)
    return {"value": lowest(row.output[1] for row in rows), "start": highest(row.output[0] for row in rows)}


def judge_output(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] >= ALIGNED)


def tell_output(numbers: Numbers) -> str:
    return (
        f"the cosine of X'X W v to X'y is {numbers['value']:.4f} or more at t1, where the median network's is "
        f"{numbers['start']:.3f} or less at the first saved state"
    )


def measure_two_stages(trial: Trial) -> Numbers:
    rows = table(trial)
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
