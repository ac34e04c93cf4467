"""How the process driven by noise alone grows in the limit: Proposition 4.1(b) and the sentences after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.papers.varre import misprints
from linnet.papers.varre.claims.dynamics import corrected
from linnet.papers.varre.networks import noise_process
from linnet.papers.varre.tables.noise import process, rates, sampled
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim

DIMS = (2, 3, 5)
SETTING = "Euler-Maruyama from W1 = I and a = 0, unit noise, t up to 6, 6 000 paths (60 000 in full mode)"
GROWTH = (
    "growth rates of lengths and areas from t = 4 to 40, 4 000 paths (24 000 in full mode), by a scheme of "
    "weak order two"
)

ERRORS = Limit(4.5, "standard errors: one in 150 000 draws of a normal number lies beyond")
CLEAR = Limit(10.0, "standard errors that no heavy tail explains")
EULER = Limit(4.0, "steps: Euler's own mean squares leave the exact ones by about d/2 of a step")
SCHEME = Limit(0.002, "the splitting scheme's own error in a growth rate at step 0.05; four times less at 0.025")


def _agree(numbers: Numbers, name: str) -> bool:
    """Whether every measured rate is the exponent, within its standard error and the scheme's own."""
    return all(
        abs(rate - numbers[f"{name}_theory"][dim]) < ERRORS * error + SCHEME
        for dim, (rate, error) in numbers[name].items()
    )


def measured_growth(trial: Trial) -> dict[str, Any]:
    """Measured growth rates by dimension, and the exponents they should be."""
    from linnet.theories import noise

    found = {name: rates(trial, name) for name in ("length", "second", "outgoing")}
    exponents = {dim: noise.lyapunov_exponents(dim) for dim in found["length"]}
    theory = {"length": 0, "outgoing": 0, "second": 1}
    return {
        **found,
        **{f"{name}_theory": {d: float(exponents[d][at]) for d in exponents} for name, at in theory.items()},
    }


def listed(pairs: dict[int, tuple[float, float]], form: str = "{:+.3f} ± {:.3f}") -> str:
    return ", ".join(f"{form.format(*pair)} (d = {dim})" for dim, pair in pairs.items())


def measure_scale(trial: Trial) -> dict[str, Any]:
    found = measured_growth(trial)
    value, error = found["length"][5]
    constant = misprints.scale_constant(5, 0.04)
    return {**found, "value": value, "uncertainty": error, "printed_constant": constant}


def judge_scale(numbers: Numbers) -> Verdict:
    """Mean powers of |W| are at least exp(power times the mean of ln|W|): a positive rate makes all of them diverge."""
    large = [numbers[name][dim] for name in ("length", "outgoing") for dim in (5, 6)]
    grows = all(rate > ERRORS * error for rate, error in large)
    return Verdict.HOLDS if grows and _agree(numbers, "length") and _agree(numbers, "outgoing") else Verdict.REFUTED


def tell_scale(numbers: Numbers) -> str:
    return (
        f"growth rate of ln|w|: {listed(numbers['length'])}, of ln|a|: {listed(numbers['outgoing'])}: positive from "
        "d = 3 on, so that every mean power of both diverges, and equal to the Lyapunov exponent; the proof's c_0 is "
        f"{numbers['printed_constant']:.3f} at d = 5 for the power 0.04"
    )


def measure_two_inputs(trial: Trial) -> dict[str, Any]:
    found = measured_growth(trial)
    value, error = found["length"][2]
    return {**found, "value": value, "uncertainty": error}


def judge_two_inputs(numbers: Numbers) -> Verdict:
    grows = {dim: rate > ERRORS * error + SCHEME for dim, (rate, error) in numbers["length"].items()}
    others = all(grows[dim] for dim in grows if dim > 2)
    return corrected(grows[2] and others, others and _agree(numbers, "length"))


def tell_two_inputs(numbers: Numbers) -> str:
    return (
        f"growth rate of ln|w|: {listed(numbers['length'])}: typical weights neither grow nor shrink for d = 2, and "
        "grow from d = 3 on"
    )


def measure_top_value(trial: Trial) -> dict[str, Any]:
    """The mean of ln sigma_1 for d = 2 at two times, and the growth rates."""
    found = measured_growth(trial)
    early, late = noise_process.mean_log_top(trial.seed, times=(12.0, 24.0), paths=4000 if trial.quick else 20_000)
    return {**found, "value": late[0], "uncertainty": late[1], "early": early}


def judge_top_value(numbers: Numbers) -> Verdict:
    (early, early_error), late, error = numbers["early"], numbers["value"], numbers["uncertainty"]
    printed = late - early > ERRORS * np.hypot(early_error, error)
    saturates = abs(late - np.log(2)) < ERRORS * error + EULER * noise_process.LOG_STEP
    others = all(rate > ERRORS * err + SCHEME for dim, (rate, err) in numbers["length"].items() if dim > 2)
    return corrected(printed and others, saturates and others)


def tell_top_value(numbers: Numbers) -> str:
    return (
        f"mean of ln sigma_1 at d = 2: {numbers['early'][0]:.3f} ± {numbers['early'][1]:.3f} at t = 12, "
        f"{numbers['value']:.3f} ± {numbers['uncertainty']:.3f} at t = 24 (its limit is ln 2 = 0.693); rates "
        f"{listed({dim: pair for dim, pair in numbers['length'].items() if dim > 2})}: it grows without bound from "
        "d = 3 on"
    )


def measure_angle(trial: Trial) -> dict[str, Any]:
    """The largest sine of all rows with a, and the rate at which angles fall in the limit."""
    drops, courses = {}, {}
    for dim in DIMS:
        for tilted in (False, True):
            paths = process(trial, dim, tilted=tilted)
            drops[dim, tilted] = sampled(paths, "worst_sine_drop")
            courses[dim, tilted] = tuple(sampled(paths, "worst_sine", moment)[0] for moment in (1.0, 6.0))
    growth = measured_growth(trial)
    gaps = {
        dim: (
            growth["length"][dim][0] - growth["second"][dim][0],
            float(np.hypot(growth["length"][dim][1], growth["second"][dim][1])),
        )
        for dim in growth["length"]
    }
    least = min(gaps, key=lambda dim: gaps[dim][0])
    return {
        **growth,
        "value": gaps[least][0],
        "uncertainty": gaps[least][1],
        "gaps": gaps,
        "drops": drops,
        "courses": courses,
    }


def judge_angle(numbers: Numbers) -> Verdict:
    falls = all(drop > CLEAR * error for drop, error in numbers["drops"].values())
    falls &= all(gap > ERRORS * error + SCHEME for gap, error in numbers["gaps"].values())
    explained = _agree(numbers, "length") and _agree(numbers, "second")
    return Verdict.HOLDS if falls and explained else Verdict.REFUTED


def tell_angle(numbers: Numbers) -> str:
    words = ", ".join(
        f"{first:.2f} to {last:.2f} (d = {dim}, a {'≠' if tilted else '='} 0)"
        for (dim, tilted), (first, last) in numbers["courses"].items()
    )
    return (
        f"mean over paths of the largest sine of a row and a, t = 1 to t = 6: {words}; in the limit angles fall at the "
        f"rate {listed(numbers['gaps'])}"
    )


def measure_lower_values(trial: Trial) -> dict[str, Any]:
    found = measured_growth(trial)
    value, error = found["second"][5]
    return {**found, "value": value, "uncertainty": error}


def judge_lower_values(numbers: Numbers) -> Verdict:
    """The second exponent is the largest of the lower ones: all decay where it is negative."""
    falls = {dim: rate < -ERRORS * error for dim, (rate, error) in numbers["second"].items()}
    rises = {dim: rate > ERRORS * error for dim, (rate, error) in numbers["second"].items()}
    right = all(falls[dim] for dim in falls if dim <= 5) and rises[6]
    return corrected(all(falls.values()), right and _agree(numbers, "second"))


def tell_lower_values(numbers: Numbers) -> str:
    return (
        f"rate of ln sigma_2: {listed(numbers['second'], '{:+.4f} ± {:.4f}')}; exponents "
        f"{', '.join(f'{rate:+.4f}' for rate in numbers['second_theory'].values())}: all lower values decay up to "
        "d = 5, the second grows from d = 6 on"
    )


CLAIMS = [
    Claim(
        name="proposition-4.1b",
        number="Proposition 4.1(b)",
        sentence="From five inputs on, every mean power of the scale of both layers diverges under noise alone.",
        assumptions="no drift, d >= 5",
        setting=GROWTH + ", d = 2 to 6",
        claimed="growth for d >= 5",
        expected=Verdict.HOLDS,
        measure=measure_scale,
        judge=judge_scale,
        tell=tell_scale,
        limits={"standard errors": ERRORS, "scheme": SCHEME},
    ),
    Claim(
        name="two-inputs-grow",
        number="after Proposition 4.1",
        sentence="From two inputs on the weights grow towards infinity.",
        assumptions="no drift, d >= 2",
        setting=GROWTH + ", d = 2 to 6",
        claimed="growth from d = 2 on",
        expected=Verdict.CORRECTED,
        measure=measure_two_inputs,
        judge=judge_two_inputs,
        tell=tell_two_inputs,
        limits={"standard errors": ERRORS, "scheme": SCHEME},
    ),
    Claim(
        name="top-value-grows",
        number="after Proposition 4.1, Figure 3a",
        sentence="Under noise alone the largest singular value of the first layer grows without bound.",
        assumptions="no drift",
        setting=GROWTH + ", d = 3 to 6; d = 2 by Euler-Maruyama to t = 24",
        claimed="growth, shown for d = 2",
        expected=Verdict.CORRECTED,
        measure=measure_top_value,
        judge=judge_top_value,
        tell=tell_top_value,
        limits={"standard errors": ERRORS, "scheme": SCHEME, "Euler's bias in steps": EULER},
    ),
    Claim(
        name="rows-align",
        number="after Proposition 4.1",
        sentence="Under noise alone all rows of the first layer align with the second layer.",
        assumptions="no drift",
        setting=SETTING + f", d = 2, 3, 5, also from a of unit length; {GROWTH}, d = 2 to 6",
        claimed="angles tend to 0",
        expected=Verdict.HOLDS,
        measure=measure_angle,
        judge=judge_angle,
        tell=tell_angle,
        limits={"fall of the worst sine": CLEAR, "standard errors": ERRORS, "scheme": SCHEME},
    ),
    Claim(
        name="lower-values-decay",
        number="after Proposition 4.1, Figure 3a",
        sentence="Under noise alone all singular values of the first layer but the largest decay to zero.",
        assumptions="no drift",
        setting=GROWTH + ", d = 2 to 6",
        claimed="decay in every dimension",
        expected=Verdict.CORRECTED,
        measure=measure_lower_values,
        judge=judge_lower_values,
        tell=tell_lower_values,
        limits={"standard errors": ERRORS, "scheme": SCHEME},
    ),
]
