"""Huang et al.: how the times t1 and t2 of Theorem 4.1 scale, fitted over runs."""

from __future__ import annotations

from linnet.papers.huang.runs import EPSILON
from linnet.papers.huang.tables import convergence as huang_convergence
from linnet.papers.huang.tables import scalings as huang_scalings
from linnet.papers.huang.tables.scalings import DROP, SETTING, TAIL, WHOLE, WORDS, Scaling, rounded
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest, line


def measure_first_time(trial: Trial) -> Measurement:
    rows = huang_scalings.read(huang_scalings.TABLES[0].results(trial))
    worst = highest(row.worst for row in rows)
    verdict = Verdict.REFUTED
    if worst < 0.02:
        verdict = Verdict.CORRECTED if any(_differs(row) for row in rows) else Verdict.HOLDS
    alone = highest(row.leading for row in rows)
    text = "; ".join(
        f"{WORDS[row.name] if row.name != 'v0' else 'slope in log(1/v₀)'} {rounded(row.alignment)} | "
        f"{rounded(row.loss)} | "
        f"{row.printed:g}"
        for row in rows
    )
    found = f"within {worst:.2%} of the measured t1 in all runs"
    if worst != worst:
        found = "not to be compared, as some run never reaches |rho| = 1"
    return Measurement(
        verdict,
        f"asinh(1/(v_0 sqrt(gamma))) mn/(eta sqrt(gamma)) is {found}, log(1/(v_0 sqrt(gamma))) alone {alone:.0%} off; "
        "exponents "
        f"by median |rho| = 1 | by 5% of the loss | printed: {text}",
        worst,
    )


def _differs(row: Scaling) -> bool:
    """Whether the measured exponent is not the printed one: by more than 0.02, and than three standard errors."""
    value, error = row.alignment
    return abs(value - row.printed) > max(0.02, 3 * error)


def measure_second_time(trial: Trial) -> Measurement:
    import numpy as np

    found = huang_scalings.second_times(huang_scalings.TABLES[0].results(trial))
    drop, tail, whole = (found.slope(*window) for window in (DROP, TAIL, WHOLE))
    late, shares = found.between(*TAIL), found.between(*WHOLE)
    bends = [error / slope for slope, error in (line(-np.log(found.shares[late]), row[late]) for row in found.times)]
    needed = ((found.times - found.first) / found.printed)[:, shares]
    bend = highest(bends)
    straight = bend < 0.02 and 0.2 < whole[0] < 1
    return Measurement(
        Verdict.HOLDS if straight else Verdict.REFUTED,
        f"slope of t2 in log(1/epsilon) {rounded(whole)} growth times mn/(eta sqrt(gamma)) over 7 decades, "
        f"{len(needed)} data "
        f"sets; {rounded(drop)} in the drop (aligned mode: 1/4), {rounded(tail)} in the tail (other directions: 1/2), "
        "straight "
        f"to {bend:.1%}; constant needed {needed.min():.2f} to {needed.max():.2f}",
        whole[0],
        whole[1],
    )


def measure_convergence(trial: Trial) -> Measurement:
    rows = huang_convergence.read(huang_convergence.TABLES[0].results(trial))
    constants = [row.constant for row in rows if row.constant == row.constant]  # NaN: never reached
    last = highest(row.last for row in rows)
    good = len(constants) == len(rows) and last < 1e-4 and max(constants) < 10
    return Measurement(
        Verdict.HOLDS if good else Verdict.REFUTED,
        f"{len(constants)} of {len(rows)} runs reach 4 epsilon = {4 * EPSILON} at {min(constants, default=0):.2f} to "
        f"{max(constants, default=0):.2f} times the printed time, and go on to at most {last:.1g} of the first loss",
        max(constants, default=float("inf")),
    )


CLAIMS = [
    Claim(
        name="t1",
        number="Theorem 4.1, Lemma 5.2",
        sentence="The first stage ends at t1 = C1 m sqrt(n) log(1/v_0)/(eta sqrt(tr(Sigma)) |beta|).",
        assumptions="Assumption 4.1",
        setting=SETTING,
        claimed="exponents 1, 1/2, -1/2, -1, -1 and log(1/v_0) (printed); asinh(1/(v_0 sqrt(gamma))) within 2% "
        "(corrected)",
        expected=Verdict.CORRECTED,
        measure=measure_first_time,
    ),
    Claim(
        name="t2",
        number="Theorem 4.1, Lemma 5.3",
        sentence="The second stage takes of the order of mn/(eta sqrt(gamma)) times log(1/epsilon).",
        assumptions="Assumption 4.1",
        setting=SETTING,
        claimed="linear in log(1/epsilon)",
        expected=Verdict.HOLDS,
        measure=measure_second_time,
    ),
    Claim(
        name="theorem4.1",
        number="Theorem 4.1",
        sentence="Under the assumption the loss falls below 4 epsilon within the stated time.",
        assumptions="Assumption 4.1",
        setting="unit-signal data inside it, epsilon = 0.01, 10 draws (quick: 3, d = 2000)",
        claimed="L(t) <= 4 epsilon at a constant times t1 + t2",
        expected=Verdict.HOLDS,
        measure=measure_convergence,
    ),
]
