"""How the times t1 and t2 of Theorem 4.1 scale, fitted over runs, and whether the loss gets to 4 epsilon by then."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang import misprints, settings
from linnet.papers.huang.claims.rules import ASSUMED, INSIDE, holds_if, listed, printed_or_corrected
from linnet.papers.huang.networks import inside
from linnet.papers.huang.tables import convergence, scalings
from linnet.papers.huang.tables.scalings import DROP, SETTING, TAIL, WHOLE, WORDS, rounded
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest, line, lowest
from linnet.reproduction.old_claim import old as Claim

FIRST_OFF = Limit(
    0.15, "the median of 128 normal numbers scatters by 10%, and t1 is 2.5 growth times where sigma_0 leads"
)
EXPONENT = Limit(0.02, "an exponent is the printed one within this, or within three standard errors")
STRAIGHT = Limit(0.02, "the relative standard error of the slope of a straight line through the tail")
CONSTANT = Limit(4.0, "one constant for all cases: the largest that is needed is at most this times the least")
ORDER = Limit(10.0, "t1 + t2 is an order of magnitude: within ten times above or below")
LEFT = Limit(0.5, "half of the loss: stage 2 is well under way once it is gone")


def measure_first_time(trial: Trial) -> Numbers:
    results = scalings.TABLE.results(trial)
    rows, starts = scalings.read(results), scalings.start_times(results)
    return {
        "value": highest(*(row.worst for row in rows), *(ours for ours, _ in starts.values())),
        "leading": highest(row.leading for row in rows),
        "measured": {row.name: row.alignment for row in rows},
        "by_loss": {row.name: row.loss for row in rows},
        "printed": {row.name: row.printed for row in rows},
        "starts": {ratio: ours for ratio, (ours, _) in starts.items()},
        "asinh": {ratio: alone for ratio, (_, alone) in starts.items()},
    }


def judge_first_time(numbers: Numbers) -> Verdict:
    differs = any(
        abs(value - numbers["printed"][name]) > max(EXPONENT, 3 * error)
        for name, (value, error) in numbers["measured"].items()
    )
    good = bool(numbers["value"] < FIRST_OFF)
    return printed_or_corrected(good and not differs, good)


def tell_first_time(numbers: Numbers) -> str:
    text = "; ".join(
        f"{WORDS[name] if name != 'v0' else 'slope in log(1/v₀)'} {rounded(fit)} | {rounded(numbers['by_loss'][name])} "
        f"| {numbers['printed'][name]:g}"
        for name, fit in numbers["measured"].items()
    )
    found = f"within {numbers['value']:.2%} of the measured t1 in all runs"
    if numbers["value"] != numbers["value"]:
        found = "not to be compared, as some run never reaches |rho| = 1"
    ratios = ", ".join(f"{ratio:g}: {alone:.0%}" for ratio, alone in numbers["asinh"].items())
    return (
        f"the time at which the median |rho| of Eq. (9), corrected, is 1 is {found}; asinh(1/(v_0 sqrt(gamma))), which "
        f"does not know sigma_0, is off by v_0/sigma_0 = {ratios}; exponents by median |rho| = 1 | by 5% of the loss | "
        f"printed: {text}"
    )


def measure_second_time(trial: Trial) -> Numbers:
    results = scalings.TABLE.results(trial)
    later = scalings.second_times(results)
    base = later["base"]
    tail = base.between(*TAIL)
    bends = [error / slope for slope, error in (line(-np.log(base.shares[tail]), row[tail]) for row in base.times)]
    chosen = {case: found.constants[:, found.between(*WHOLE)] for case, found in later.items()}
    needed = np.concatenate([constants.ravel() for constants in chosen.values()])
    exponents = scalings.second_exponents(results, 1e-2)
    return {
        "value": highest(needed) / lowest(needed),
        "least": lowest(needed),
        "most": highest(needed),
        "bend": highest(bends),
        "slopes": {name: base.slope(*window) for name, window in (("drop", DROP), ("tail", TAIL), ("whole", WHOLE))},
        "exponents": {name: fit for name, (fit, _) in exponents.items()},
        "stated": {name: stated for name, (_, stated) in exponents.items()},
        "cases": len(chosen),
    }


def judge_second_time(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= CONSTANT and numbers["bend"] < STRAIGHT)


def tell_second_time(numbers: Numbers) -> str:
    text = "; ".join(
        f"{WORDS[name]} {rounded(fit)} ({numbers['stated'][name]:.2f} of the stated time)"
        for name, fit in numbers["exponents"].items()
    )
    slopes = {name: rounded(fit) for name, fit in numbers["slopes"].items()}
    return (
        f"(t2 - t1) over the stated time is {numbers['least']:.2f} to {numbers['most']:.2f} in all {numbers['cases']} "
        f"cases and for shares of the loss from 1e-2 to 1e-9: one constant within a factor {numbers['value']:.1f}; "
        f"exponents at a share of 1e-2: {text}; slope in log(1/epsilon) {slopes['whole']} growth times, "
        f"{slopes['drop']} in the drop (aligned mode: 1/4), {slopes['tail']} in the tail (other directions: 1/2), "
        f"straight to {numbers['bend']:.1%}"
    )


def measure_convergence(trial: Trial) -> Numbers:
    rows = convergence.read(convergence.TABLE.results(trial))
    constants = [row.constant for row in rows]
    return {
        "value": highest(constants),
        "least": lowest(constants),
        "reached": sum(row.constant == row.constant for row in rows),
        "rows": len(rows),
        "highest": highest(row.highest for row in rows),
        "last": highest(row.last for row in rows),
        "first_off": highest(abs(row.first_off) for row in rows),
    }


def judge_convergence(numbers: Numbers) -> Verdict:
    reached = numbers["reached"] == numbers["rows"] and numbers["highest"] <= 4 * settings.EPSILON
    return holds_if(reached and numbers["value"] <= ORDER and numbers["least"] >= 1 / ORDER)


def tell_convergence(numbers: Numbers) -> str:
    return (
        f"{numbers['reached']} of {numbers['rows']} runs, normal, sign, uniform and sloped inputs, starts over a "
        f"factor 1000, reach 4 epsilon = {4 * settings.EPSILON:g} at {numbers['least']:.2f} to {numbers['value']:.2f} "
        f"times the stated time and stay below it, down to {numbers['last']:.1g} of the first loss; their t1 is the "
        f"predicted one to {numbers['first_off']:.1%}"
    )


def measure_unit_constant(trial: Trial) -> Numbers:
    size = settings.SMALL if trial.quick else settings.LARGE
    shares, alignments, ours = [], [], []
    for draw in range(3):
        run = inside([trial.seed, draw], **size)
        stated = misprints.first_time(run.stages)
        shares.append(float(np.interp(stated, run.history.times, run.share)))
        alignments.append(float(np.median(np.abs(run.moment(stated).alignments))))
        ours.append(stated / run.first_time())
    return {"value": highest(shares), "alignments": alignments, "times": ours}


def judge_unit_constant(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] > LEFT)


def tell_unit_constant(numbers: Numbers) -> str:
    return (
        f"at log(1/v_0) m sqrt(n)/(eta sqrt(tr)|beta|) the median |rho| is {listed(numbers['alignments'], '.0f')} and "
        f"at most {numbers['value']:.1%} of the loss is left: training is over; it is "
        f"{listed(numbers['times'], '.1f')} times the measured t1"
    )


T1 = Claim(
    name="t1",
    number="Theorem 4.1, Lemma 5.2",
    sentence="The first stage ends at t1 = C1 m sqrt(n) log(1/v_0)/(eta sqrt(tr(Sigma)) |beta|).",
    assumptions="Assumption 4.1",
    setting=SETTING,
    claimed=(
        "exponents 1, 1/2, -1/2, -1, -1 and log(1/v_0) (printed); median |rho| of Eq. (9) is 1, within 15% (corrected)"
    ),
    expected=Verdict.CORRECTED,
    measure=measure_first_time,
    judge=judge_first_time,
    tell=tell_first_time,
    limits={"off": FIRST_OFF, "exponent": EXPONENT},
)
T2 = Claim(
    name="t2",
    number="Theorem 4.1, Lemma 5.3",
    sentence="The second stage takes of the order of m sqrt(n)/(eta |beta| sqrt(tr)) log(n |beta| tr/epsilon).",
    assumptions="Assumption 4.1",
    setting=SETTING,
    claimed=(
        "one constant for all m, n, tr, beta, eta, v_0 and epsilon (judged: within a factor 4), linear in "
        "log(1/epsilon)"
    ),
    expected=Verdict.HOLDS,
    measure=measure_second_time,
    judge=judge_second_time,
    tell=tell_second_time,
    limits={"constant": CONSTANT, "straight": STRAIGHT},
)
THEOREM = Claim(
    name="theorem4.1",
    number="Theorem 4.1",
    sentence="There is a time of the stated order at which the loss is below 4 epsilon.",
    assumptions=ASSUMED,
    setting=INSIDE
    + "; also entries of +-1, uniform entries and a sloped covariance; epsilon = 0.01, 5 draws (quick: 3)",
    claimed="L <= 4 epsilon at a time t = Omega(t1 + t2); judged: reached, kept, and within a factor 10 of t1 + t2",
    expected=Verdict.HOLDS,
    measure=measure_convergence,
    judge=judge_convergence,
    tell=tell_convergence,
    limits={"order": ORDER},
)
UNIT_CONSTANT = Claim(
    name="lemmaB1-time",
    number="Lemma B.1",
    sentence="t1 = log(1/v_0) m sqrt(n)/(eta sqrt(tr)|beta|), without a constant, ends the first stage.",
    assumptions=ASSUMED,
    setting=INSIDE + ", 3 draws",
    claimed="|rho| = Theta(1) and a loss that has not begun to fall (judged: more than half of it left)",
    expected=Verdict.REFUTED,
    measure=measure_unit_constant,
    judge=judge_unit_constant,
    tell=tell_unit_constant,
    limits={"left": LEFT},
)
