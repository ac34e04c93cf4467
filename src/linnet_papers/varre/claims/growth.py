"""How the process driven by noise alone grows in the limit: Proposition 4.1(b) and the sentences after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet_papers.reproduction import Rows, Trial, above, below, both, claim, corrected, fact, printed, within
from linnet_papers.reproduction.fits import lowest
from linnet_papers.varre import misprints
from linnet_papers.varre.grids import growth, noise
from linnet_papers.varre.settings import (
    BEYOND_SCHEME,
    ERRORS,
    EULER,
    EULER_STEPS,
    GROWTH_DIMS,
    LOG_STEP,
    MANY_ERRORS,
    NOISE_ALONE,
    RATES,
    SCHEME,
)
from linnet_papers.varre.training import noise_process

IN_ALL_DIMS = f"{RATES}, $d = {GROWTH_DIMS[0]}$ to {GROWTH_DIMS[-1]}"

GROWS = above(
    0.0,
    "with a positive rate every mean power $p$ diverges: by Jensen it is at least "
    r"$e^{p \mathrm{E} \ln \lvert W \rvert}$",
    errors=ERRORS,
)
LENGTH = r"rate of $\ln \lvert w \rvert$"
OUTGOING = r"rate of $\ln \lvert a \rvert$"
SECOND = r"rate of $\ln \sigma_2$"


def _without(rates: dict[str, Any], dim: int) -> dict[str, Any]:
    """Return the rates but for those of one number of inputs."""
    return {label: rate for label, rate in rates.items() if label != f"$d = {dim}$"}


@claim(
    "proposition-4.1b",
    says="From five inputs on, every mean power of the scale of both layers diverges under noise alone.",
    assumes=r"no drift, $d \ge 5$",
    tried=IN_ALL_DIMS,
)
def scale(trial: Trial) -> Rows:
    rates = growth.rates(trial)
    layers = (("length", "w", LENGTH), ("outgoing", "a", OUTGOING))
    large = {f"${layer}$, {dim}": rates[name][dim] for name, layer, _ in layers for dim in ("$d = 5$", "$d = 6$")}
    yield printed(r"rate of $\ln \lvert w \rvert$ and $\ln \lvert a \rvert$ at $d = 5$ and 6", large, GROWS)
    for name, _, quantity in layers:
        yield printed(
            f"{quantity}, compared with the first Lyapunov exponent", rates[name], SCHEME(of=rates[f"{name}_theory"])
        )


POSITIVE = above(0.0, "the proof of Proposition 4.1(b) needs the sign of $c_0$, and nothing else of it")


@claim(
    "constant-c0",
    says=r"From $d = 5$ on $\sqrt{d} + (\alpha - 1) (\sqrt{d} + 1)^2/(2 \sqrt{d})$ is above a positive "
    r"$c_0$, for $0 < \alpha < 1$.",
    assumes="none: an inequality",
    tried=r"$\alpha$ from 0.001 to 0.999, $d = 5$ to 50",
    correction=r"from $d = 6$ on; at $d = 5$ it is negative for small $\alpha$",
)
def constant(trial: Trial) -> Rows:
    powers = np.linspace(0.001, 0.999, 999)
    constants = {dim: np.array([misprints.scale_constant(dim, power) for power in powers]) for dim in range(5, 51)}
    yield printed(r"smallest value over $\alpha$ at $d = 5$", constants[5].min(), POSITIVE)
    least = lowest(constants[dim].min() for dim in constants if dim > 5)
    yield corrected(r"smallest value over $\alpha$ and $d \ge 6$", least, POSITIVE)
    yield fact(r"$\alpha$ from which on it is positive at $d = 5$", powers[np.argmax(constants[5] > 0)])


@claim(
    "two-inputs-grow",
    says="From two inputs on the weights grow towards infinity.",
    assumes=r"no drift, $d \ge 2$",
    tried=IN_ALL_DIMS,
    correction="from three inputs on; at $d = 2$ the exponent is 0, and typical weights do not grow",
)
def two_inputs(trial: Trial) -> Rows:
    rates = growth.rates(trial)
    yield printed(f"{LENGTH} at $d = 2$", rates["length"]["$d = 2$"], BEYOND_SCHEME)
    yield both(f"{LENGTH} from $d = 3$ on", _without(rates["length"], 2), BEYOND_SCHEME)
    yield corrected(
        f"{LENGTH}, compared with the first Lyapunov exponent", rates["length"], SCHEME(of=rates["length_theory"])
    )


UNBOUNDED = above(0, "what grows without bound grows between two late times", errors=ERRORS)


@claim(
    "top-value-grows",
    says="Under noise alone the largest singular value of the first layer grows without bound.",
    assumes="no drift",
    tried=f"{RATES}, $d = 3$ to 6; $d = 2$ by Euler-Maruyama to $t = 24$",
    correction=r"from $d = 3$ on; for $d = 2$ its logarithm has a mean that tends to $\ln 2$",
)
def top_value(trial: Trial) -> Rows:
    """The mean of ln sigma_1 for d = 2 at two times, and the growth rates."""
    early, late = noise_process.mean_log_top(trial.seed, times=(12.0, 24.0), paths=4000 if trial.quick else 20_000)
    rates = growth.rates(trial)
    yield printed(r"growth of the mean of $\ln \sigma_1$ from $t = 12$ to 24 at $d = 2$", late.minus(early), UNBOUNDED)
    yield both(f"{LENGTH} from $d = 3$ on", _without(rates["length"], 2), BEYOND_SCHEME)
    near_its_limit = within(EULER_STEPS * LOG_STEP, EULER, of=np.log(2), errors=ERRORS)
    yield corrected(r"mean of $\ln \sigma_1$ at $d = 2$, $t = 24$, compared with $\ln 2$", late, near_its_limit)
    yield fact(r"mean of $\ln \sigma_1$ at $d = 2$, $t = 12$", early)


@claim(
    "coarse-steps",
    says="In the runs drawn for $d = 2$ the largest singular value increases.",
    assumes="no drift, Euler's scheme",
    tried="$d = 2$, Euler-Maruyama with steps of 0.5, 0.2, 0.1 and 0.02 to $t = 40$, 2 000 paths (10 000 in full mode)",
    correction="coarse steps of Euler's scheme make it grow",
)
def coarse_steps(trial: Trial) -> Rows:
    steps = (0.5, 0.2, 0.1, 0.02)
    rates = noise_process.euler_rates(trial.seed, steps=steps, time=40.0, paths=2000 if trial.quick else 10_000)
    rate = r"rate of $\ln \lvert W \rvert$ of Euler's scheme itself"
    yield printed(rate, {f"step {step:g}": rates[step] for step in steps}, GROWS)
    yield corrected(f"{rate} at the two coarsest steps", {f"step {step:g}": rates[step] for step in (0.5, 0.2)}, GROWS)
    yield corrected(f"{rate} at the finest step", rates[0.02], SCHEME(of=0))


FALLING = above(0, "rows that align are at smaller angles late than early", errors=MANY_ERRORS)


@claim(
    "rows-align",
    says="Under noise alone all rows of the first layer align with the second layer.",
    assumes="no drift",
    tried=f"{NOISE_ALONE}, $d = 2$, 3, 5, also from $a$ of unit length; {IN_ALL_DIMS}",
)
def angle(trial: Trial) -> Rows:
    """The largest sine of all rows with a, and the rate at which angles fall in the limit."""
    rates = growth.rates(trial)
    rows = noise.paths(trial)
    starts = {"zero": "$a = 0$", "tilted": r"$\lvert a \rvert = 1$"}
    several = {f"$d = {dim}$, {starts[start]}": paths for (dim, start), paths in rows.items() if dim > 1}
    drops = {name: noise.sampled_mean(paths, "worst_sine_drop") for name, paths in several.items()}
    yield printed("fall of the mean of the largest sine of a row and $a$, from $t = 1$ to 6", drops, FALLING)
    gaps = {dim: length.minus(rates["second"][dim]) for dim, length in rates["length"].items()}
    yield printed("rate at which angles fall in the limit", gaps, BEYOND_SCHEME)
    for name, quantity, exponent in (("length", LENGTH, "first"), ("second", SECOND, "second")):
        yield printed(
            f"{quantity}, compared with the {exponent} Lyapunov exponent",
            rates[name],
            SCHEME(of=rates[f"{name}_theory"]),
        )
    for at in (1.0, 6.0):
        sines = {name: noise.sampled_mean(paths, "worst_sine", at).value for name, paths in several.items()}
        yield fact(f"mean over paths of the largest sine of a row and $a$ at $t = {at:g}$", sines)


DECAYS = below(0, "the second exponent is the largest of the lower ones: all decay where it is negative", errors=ERRORS)
SECOND_GROWS = above(0, "a positive second exponent makes the second singular value grow", errors=ERRORS)


@claim(
    "lower-values-decay",
    says="Under noise alone all singular values of the first layer but the largest decay to zero, in every dimension.",
    assumes="no drift",
    tried=IN_ALL_DIMS,
    correction="all lower values decay up to $d = 5$, the second grows from $d = 6$ on",
)
def lower_values(trial: Trial) -> Rows:
    rates = growth.rates(trial)
    second, exponents = rates["second"], rates["second_theory"]
    yield printed(SECOND, second, DECAYS)
    yield corrected(f"{SECOND} up to $d = 5$", _without(second, 6), DECAYS)
    yield corrected(f"{SECOND} at $d = 6$", second["$d = 6$"], SECOND_GROWS)
    yield corrected(f"{SECOND}, compared with the second Lyapunov exponent", second, SCHEME(of=exponents))
