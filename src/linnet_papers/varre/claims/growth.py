"""How the process driven by noise alone grows in the limit: Proposition 4.1(b) and the sentences after it."""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import lowest
from linnet_papers.varre import misprints
from linnet_papers.varre.settings import CLEAR, ERRORS, EULER, GROWTH_DIMS, LOG_STEP, NOISE_ALONE, RATES, SCHEME
from linnet_papers.varre.tables import growth, noise
from linnet_papers.varre.training import noise_process

IN_ALL_DIMS = f"{RATES}, d = {GROWTH_DIMS[0]} to {GROWTH_DIMS[-1]}"

GROWS = Limit(0.0, "a positive rate makes every mean power diverge: it is at least exp(power times the mean of ln|W|)")
LENGTHS = Within(SCHEME, "length", of="length_theory", errors=ERRORS, what="rate of ln|w|", form="+.3f")
OUTGOING = Within(SCHEME, "outgoing", of="outgoing_theory", errors=ERRORS, what="rate of ln|a|", form="+.3f")
SECONDS = Within(SCHEME, "second", of="second_theory", errors=ERRORS, what="rate of ln sigma_2", form="+.4f")
MORE_INPUTS = Above(SCHEME, "more_inputs", errors=ERRORS, what="least rate of ln|w| from d = 3 on", form="+.3f")


def _rates(trial: Trial, *names: str) -> growth.Rates:
    """Return the measured rates of these names, and the exponents that they should be."""
    rates = growth.TABLE.rows(trial)
    return {each: rates[each] for name in names for each in (name, f"{name}_theory")}


@claim(
    "proposition-4.1b",
    says="From five inputs on, every mean power of the scale of both layers diverges under noise alone.",
    assumes="no drift, d >= 5",
    tried=IN_ALL_DIMS,
    holds=AllOf(
        Above(GROWS, "five_inputs", errors=ERRORS, what="least rate of ln|w| and ln|a| at d = 5 and 6", form="+.3f"),
        LENGTHS,
        OUTGOING,
    ),
    reads="rates of ln|w|: {length:+.3f}; of ln|a|: {outgoing:+.3f}",
)
def scale(trial: Trial) -> Numbers:
    rates = _rates(trial, "length", "outgoing")
    large = {f"{rate}, {dim}": rates[rate][dim] for rate in ("length", "outgoing") for dim in ("d = 5", "d = 6")}
    return {**rates, "five_inputs": large}


POSITIVE = Limit(0.0, "the proof divides by nothing but needs its sign")


@claim(
    "constant-c0",
    says="From d = 5 on sqrt(d) + (alpha - 1)(sqrt(d) + 1)^2/(2 sqrt(d)) is above a positive c_0, for 0 < alpha < 1.",
    assumes="none: an inequality",
    tried="alpha from 0.001 to 0.999, d = 5 to 50",
    holds=Above(POSITIVE, "five", what="least of them at d = 5", form=".4f"),
    corrected=Above(POSITIVE, "six", what="least of them from d = 6 on", form=".4f"),
    correction="from d = 6 on; at d = 5 it is negative for alpha below {below:.3f}",
    reads="the least of the printed expression is {five:.4f} at d = 5 and {six:.4f} from d = 6 on",
)
def constant(trial: Trial) -> Numbers:
    powers = np.linspace(0.001, 0.999, 999)
    constants = {dim: np.array([misprints.scale_constant(dim, power) for power in powers]) for dim in range(5, 51)}
    return {
        "five": constants[5].min(),
        "six": lowest(constants[dim].min() for dim in constants if dim > 5),
        "below": powers[np.argmax(constants[5] > 0)],
    }


@claim(
    "two-inputs-grow",
    says="From two inputs on the weights grow towards infinity.",
    assumes="no drift, d >= 2",
    tried=IN_ALL_DIMS,
    holds=AllOf(Above(SCHEME, "two", errors=ERRORS, what="rate of ln|w| at d = 2", form="+.3f"), MORE_INPUTS),
    corrected=AllOf(MORE_INPUTS, LENGTHS),
    correction="from three inputs on; at d = 2 typical weights grow at {two:+.3f}, where the exponent is 0",
    reads="rate of ln|w|: {length:+.3f}",
)
def two_inputs(trial: Trial) -> Numbers:
    rates = _rates(trial, "length")
    more_inputs = {dim: rate for dim, rate in rates["length"].items() if dim != "d = 2"}
    return {**rates, "two": rates["length"]["d = 2"], "more_inputs": more_inputs}


UNBOUNDED = Limit(0, "growth without bound must be seen between two late times")


@claim(
    "top-value-grows",
    says="Under noise alone the largest singular value of the first layer grows without bound.",
    assumes="no drift",
    tried=f"{RATES}, d = 3 to 6; d = 2 by Euler-Maruyama to t = 24",
    holds=AllOf(
        Above(
            UNBOUNDED,
            "gain",
            errors=ERRORS,
            what="growth of the mean of ln sigma_1 from t = 12 to 24 at d = 2",
            form="+.3f",
        ),
        MORE_INPUTS,
    ),
    corrected=AllOf(
        Within(
            EULER * LOG_STEP,
            "late",
            of=float(np.log(2)),
            errors=ERRORS,
            what="mean of ln sigma_1 at d = 2, t = 24",
            form=".3f",
            because=EULER.reason,
        ),
        MORE_INPUTS,
    ),
    correction="from d = 3 on; for d = 2 its logarithm has a mean that tends to ln 2",
    reads="mean of ln sigma_1 at d = 2: {early:.3f} at t = 12, {late:.3f} at t = 24",
)
def top_value(trial: Trial) -> Numbers:
    """The mean of ln sigma_1 for d = 2 at two times, and the growth rates."""
    early, late = noise_process.mean_log_top(trial.seed, times=(12.0, 24.0), paths=4000 if trial.quick else 20_000)
    more_inputs = {dim: rate for dim, rate in _rates(trial, "length")["length"].items() if dim != "d = 2"}
    return {"early": early, "late": late, "gain": late.minus(early), "more_inputs": more_inputs}


@claim(
    "coarse-steps",
    says="In the runs drawn for d = 2 the largest singular value increases.",
    assumes="no drift, Euler's scheme",
    tried="d = 2, Euler-Maruyama with steps of 0.5, 0.2, 0.1 and 0.02 to t = 40, 2 000 paths (10 000 in full mode)",
    holds=Above(GROWS, "rates", errors=ERRORS, what="least rate of ln|W| of all steps", form="+.3f"),
    corrected=AllOf(
        Above(GROWS, "coarse", errors=ERRORS, what="least rate at the two coarsest steps", form="+.3f"),
        Within(SCHEME, "fine", of=0, errors=ERRORS, what="rate at the finest step", form="+.3f"),
    ),
    correction="coarse steps of Euler's scheme make it grow, at the rates {rates:+.3f}",
    reads="rate of ln|W| of Euler's scheme itself, by its step: {rates:+.3f}",
)
def coarse_steps(trial: Trial) -> Numbers:
    steps = (0.5, 0.2, 0.1, 0.02)
    rates = noise_process.euler_rates(trial.seed, steps=steps, time=40.0, paths=2000 if trial.quick else 10_000)
    return {"rates": rates, "fine": rates[0.02], "coarse": [rates[0.5], rates[0.2]]}


FALLING = Limit(0, "angles that tend to 0 must be seen to fall")


@claim(
    "rows-align",
    says="Under noise alone all rows of the first layer align with the second layer.",
    assumes="no drift",
    tried=f"{NOISE_ALONE}, d = 2, 3, 5, also from a of unit length; {IN_ALL_DIMS}",
    holds=AllOf(
        Above(
            FALLING, "drops", errors=CLEAR, what="least fall of the mean of the largest sine of a row and a", form=".3f"
        ),
        Above(SCHEME, "gaps", errors=ERRORS, what="least rate at which angles fall in the limit", form="+.3f"),
        LENGTHS,
        SECONDS,
    ),
    reads="mean over paths of the largest sine of a row and a, at t = 1 and 6: {courses:.2f}; angles fall in the limit "
    "at these rates: {gaps:+.3f}",
)
def angle(trial: Trial) -> Numbers:
    """The largest sine of all rows with a, and the rate at which angles fall in the limit."""
    rates = _rates(trial, "length", "second")
    rows = noise.TABLE.rows(trial)
    starts = {"zero": "a = 0", "tilted": "a of length 1"}
    several = {f"d = {dim}, {starts[start]}": paths for (dim, start), paths in rows.items() if dim > 1}
    return {
        **rates,
        "gaps": {dim: length.minus(rates["second"][dim]) for dim, length in rates["length"].items()},
        "drops": {name: noise.sampled_mean(paths, "worst_sine_drop") for name, paths in several.items()},
        "courses": {
            name: [noise.sampled_mean(paths, "worst_sine", at).value for at in (1.0, 6.0)]
            for name, paths in several.items()
        },
    }


DECAYS = Limit(0, "the second exponent is the largest of the lower ones: all decay where it is negative")
SECOND_GROWS = Limit(0, "it must be seen to grow from d = 6 on")


@claim(
    "lower-values-decay",
    says="Under noise alone all singular values of the first layer but the largest decay to zero, in every dimension.",
    assumes="no drift",
    tried=IN_ALL_DIMS,
    holds=Below(DECAYS, "second", errors=ERRORS, what="largest rate of ln sigma_2", form="+.4f"),
    corrected=AllOf(
        Below(DECAYS, "to_five", errors=ERRORS, what="largest rate up to d = 5", form="+.4f"),
        Above(SECOND_GROWS, "six", errors=ERRORS, what="rate at d = 6", form="+.4f"),
        SECONDS,
    ),
    correction="all lower values decay up to d = 5, the second grows from d = 6 on",
    reads="rate of ln sigma_2: {second:+.4f}; exponents: {second_theory:+.4f}",
)
def lower_values(trial: Trial) -> Numbers:
    rates = _rates(trial, "second")
    to_five = {dim: rate for dim, rate in rates["second"].items() if dim != "d = 6"}
    return {**rates, "to_five": to_five, "six": rates["second"]["d = 6"]}
