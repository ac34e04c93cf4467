"""How the process driven by noise alone grows in the limit: Proposition 4.1(b) and the sentences after it."""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction import Estimate, Range, Rows, Trial, claim
from linnet_papers.reproduction.rows import above, at_least, at_most, below, both, corrected, fact, printed, within
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
from linnet_papers.varre.training import noise_process, volumes

IN_ALL_DIMS = f"{RATES}, $d = {GROWTH_DIMS[0]}$ to {GROWTH_DIMS[-1]}"

GROWS = above(
    0.0,
    "with a positive rate every mean power $p$ diverges: by Jensen it is at least "
    r"$e^{p \mathrm{E} \ln \lvert W \rvert}$",
    errors=ERRORS,
)
LENGTH = r"rate of $\ln \lvert w \rvert$"
OUTGOING = r"rate of $\ln \lvert a \rvert$"
SECOND = r"rate of $\ln$ of the area of two rows over the length of one"
MORE_INPUTS = {"inputs": Range(3, 30, log=True, whole=True)}


def _rates_in_region(trial: Trial, name: str) -> dict[str, Estimate]:
    """Return one growth rate at the numbers of inputs of the claim's region."""
    rates = {label: growth.rates_at(int(at["inputs"]), trial.seed) for label, at in trial.region(3).items()}
    return {label: Estimate(rate[name], rate[f"{name}_error"]) for label, rate in rates.items()}


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
        first = SCHEME(of=rates[f"{name}_theory"])
        yield printed(f"{quantity}, compared with the first Lyapunov exponent", rates[name], first)


FIRST_ORDER_DRIFT = below(0.02, "a step of $10^{-5}$ has second orders of a thousandth where rows are not short")
ITS_BOUND = at_most(1.1, r"sums of squared increments scatter by $\sqrt{2 h t}$, up to 0.04: two and a half of it")
NOT_NEGATIVE = at_least(-1e-12, "an inequality, up to rounding")
POSITIVE = above(0.0, "the proof of Proposition 4.1(b) needs the sign of $c_0$, and nothing else of it")


@claim(
    "constant-c0",
    says=r"From $d = 5$ on $\sqrt{d} + (\alpha - 1) (\sqrt{d} + 1)^2/(2 \sqrt{d})$ is above a positive "
    r"$c_0$, for $0 < \alpha < 1$.",
    assumes="none: an inequality",
    tried=r"$\alpha$ from 0.001 to 0.999 at $d = 5$; the region, and 10 settings inside it",
    correction=r"from $d = 6$ on; at $d = 5$ it is negative for small $\alpha$",
    region={"inputs": Range(6, 600, log=True, whole=True), "power": Range(0.0001, 0.9999)},
)
def constant(trial: Trial) -> Rows:
    powers = np.linspace(0.001, 0.999, 999)
    at_five = np.array([misprints.scale_constant(5, power) for power in powers])
    yield printed(r"smallest value over $\alpha$ at $d = 5$", at_five.min(), POSITIVE)
    constants = {
        label: misprints.scale_constant(int(at["inputs"]), at["power"]) for label, at in trial.region(10).items()
    }
    yield corrected(r"value from $d = 6$ on", constants, POSITIVE)
    yield fact(r"$\alpha$ from which on it is positive at $d = 5$", powers[np.argmax(at_five > 0)])
    yield from _drift_rows(trial)


def _drift_rows(trial: Trial) -> Rows:
    """Yield rows of (D.3), from a step of the equations themselves, and of its bound after (D.3)."""
    random = np.random.default_rng([trial.seed, 48])
    step, errors, slacks = 1e-5, [], []
    for dim in (2, 5, 30):
        for power in (0.1, 0.5, 0.9):
            w, a = random.standard_normal(dim), random.standard_normal()
            size = np.sqrt(dim) * a**2 + w @ w
            # the mean over the noise by a rule that is exact for polynomials of degree five
            nodes, weights = np.polynomial.hermite_e.hermegauss(9)
            moved_a = a + np.sqrt(step) * nodes * np.linalg.norm(w)
            moved_w = w @ w + 2 * a * np.sqrt(step) * nodes * np.linalg.norm(w) + a**2 * step * (nodes**2 + dim - 1)
            powers = (moved_w + np.sqrt(dim) * moved_a**2) ** power
            drift = float((weights @ powers / weights.sum() - size**power) / step)
            formula, bound = misprints.power_drift(dim, power, float(w @ w), float(a**2))
            errors.append(abs(drift / formula - 1))
            slacks.append((formula - bound) / size**power)
    yield both("error of the drift of (D.3), against a step of (D.1)", errors, FIRST_ORDER_DRIFT)
    yield both("drift above its lower bound after (D.3), over the power itself", slacks, NOT_NEGATIVE)
    sizes = {f"$d = {dim}$": noise_process.size_over_bound(dim, [trial.seed, 49], paths=50) for dim in (3, 5, 30)}
    yield both("largest $C(t)$ of a path over its bound by the moving average, $t = 0.1$ to 3", sizes, ITS_BOUND)


@claim(
    "two-inputs-grow",
    says="From two inputs on the weights grow towards infinity.",
    assumes=r"no drift, $d \ge 2$",
    tried=f"{IN_ALL_DIMS}; the region with fewer paths",
    correction="from three inputs on; at $d = 2$ the exponent is 0, and typical weights do not grow",
    region=MORE_INPUTS,
)
def two_inputs(trial: Trial) -> Rows:
    rates = growth.rates(trial)
    yield printed(f"{LENGTH} at $d = 2$", rates["length"]["$d = 2$"], BEYOND_SCHEME)
    yield both(f"{LENGTH} from $d = 3$ on", _rates_in_region(trial, "length"), BEYOND_SCHEME)
    first = SCHEME(of=rates["length_theory"])
    yield corrected(f"{LENGTH}, compared with the first Lyapunov exponent", rates["length"], first)


UNBOUNDED = above(0, "what grows without bound grows between two late times", errors=ERRORS)


@claim(
    "top-value-grows",
    says="Under noise alone the largest singular value of the first layer grows without bound.",
    assumes="no drift",
    tried=f"{RATES}, $d = 3$ to 6; the region with fewer paths; $d = 2$ by Euler-Maruyama to $t = 24$",
    correction=r"from $d = 3$ on; for $d = 2$ its logarithm has a mean that tends to $\ln 2$",
    region=MORE_INPUTS,
)
def top_value(trial: Trial) -> Rows:
    """The mean of ln sigma_1 for d = 2 at two times, and the growth rates."""
    early, late = noise_process.mean_log_top(trial.seed, times=(12.0, 24.0), paths=4000 if trial.quick else 20_000)
    yield printed(r"growth of the mean of $\ln \sigma_1$ from $t = 12$ to 24 at $d = 2$", late.minus(early), UNBOUNDED)
    below_it = rf"{LENGTH}, below which that of $\ln \sigma_1$ cannot stay, from $d = 3$ on"
    yield both(below_it, _rates_in_region(trial, "length"), BEYOND_SCHEME)
    near_its_limit = within(EULER_STEPS * LOG_STEP, EULER, of=np.log(2), errors=ERRORS)
    yield corrected(r"mean of $\ln \sigma_1$ at $d = 2$, $t = 24$, compared with $\ln 2$", late, near_its_limit)
    yield fact(r"mean of $\ln \sigma_1$ at $d = 2$, $t = 12$", early)


RISES = above(0.02, "a seventh of what Euler's scheme gains at constant steps of one half", errors=ERRORS)
ENDED = within(0.02, "a seventh of what Euler's scheme gains at constant steps of one half", of=0, errors=ERRORS)
COARSE = above(0, "what the steps do is the difference of coarse and fine ones", errors=ERRORS)


@claim(
    "coarse-steps",
    says="In the runs drawn for $d = 2$, with steps of about $1/\\sqrt{t}$, the largest singular value increases.",
    assumes=r"no drift, Euler's scheme with the steps $c/\sqrt{n}$",
    tried="$d = 2$, Euler-Maruyama to $t = 32$, 2 000 paths (10 000 in full mode)",
    correction="it does at first, and by more the coarser the first steps are; then it stops",
    region={"first_step": Range(0.1, 1.0, log=True, paper=(1.0,))},
)
def coarse_steps(trial: Trial) -> Rows:
    def logs(first_step: float) -> np.ndarray:
        paths = 2000 if trial.quick else 10_000
        return noise_process.mean_logs_by_steps(trial.seed, first_step=first_step, times=(8.0, 16.0, 32.0), paths=paths)

    drawn = {label: logs(**setting) for label, setting in trial.region(1).items()}
    rates = {label: Estimate.of_mean((one[2] - one[1]) / 16.0) for label, one in drawn.items()}
    fine, coarse, *_ = drawn.values()
    _, paper, *_ = rates.values()
    rate = r"rate of the mean of $\ln \sigma_1$ from $t = 16$ to 32"
    yield printed(f"{rate}, steps $1/\\sqrt{{n}}$", paper, RISES)
    yield corrected(rate, rates, ENDED)
    growth = Estimate.of_mean(coarse[0]).minus(Estimate.of_mean(fine[0]))
    yield corrected(r"mean of $\ln \sigma_1$ at $t = 8$, steps $1/\sqrt{n}$ less steps $0.1/\sqrt{n}$", growth, COARSE)
    for words, one in ((r"$1/\sqrt{n}$", coarse), (r"$0.1/\sqrt{n}$", fine)):
        means = {f"$t = {t}$": Estimate.of_mean(at) for t, at in zip((8, 16, 32), one, strict=True)}
        yield fact(rf"mean of $\ln \sigma_1$, steps {words}, where $\ln 2 = 0.69$ is its limit without them", means)


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
    several = {f"$d = {dim}$, {starts[start]}": paths for (dim, start), paths in rows.items()}
    drops = {name: noise.sampled_mean(paths, "worst_sine_drop") for name, paths in several.items()}
    yield printed("fall of the mean of the largest sine of a row and $a$, from $t = 1$ to 6", drops, FALLING)
    gaps = {dim: length.minus(rates["second"][dim]) for dim, length in rates["length"].items()}
    yield printed("rate at which angles fall in the limit", gaps, BEYOND_SCHEME)
    for name, quantity, exponent in (("length", LENGTH, "first"), ("second", SECOND, "second")):
        limit = SCHEME(of=rates[f"{name}_theory"])
        yield printed(f"{quantity}, compared with the {exponent} Lyapunov exponent", rates[name], limit)
    for at in (1.0, 6.0):
        sines = {name: noise.sampled_mean(paths, "worst_sine", at).value for name, paths in several.items()}
        yield fact(f"mean over paths of the largest sine of a row and $a$ at $t = {at:g}$", sines)


DECAYS = below(0, "the second exponent is the largest of the lower ones: all decay where it is negative", errors=ERRORS)
SECOND_GROWS = above(0, "a positive second exponent makes the second singular value grow", errors=ERRORS)
BY_SVD = r"rate of the mean of $\ln \sigma_2$ from $t = 16$ to 40"


@claim(
    "lower-values-decay",
    says="Under noise alone all singular values of the first layer but the largest decay to zero (shown for $d = 2$).",
    assumes="no drift",
    tried=f"{IN_ALL_DIMS}; singular values of 1 000 paths (4 000 in full mode) from $t = 4$ to 40; the region with "
    "fewer paths",
    correction="all lower values decay up to $d = 5$, there after a rise to $t$ of about 12 to 16; the second grows "
    "from $d = 6$ on",
    region={"inputs": Range(6, 60, log=True, whole=True)},
)
def lower_values(trial: Trial) -> Rows:
    rates = growth.rates(trial)
    second, exponents = rates["second"], rates["second_theory"]
    logs = {
        f"$d = {dim}$": volumes.log_second_values(dim, [trial.seed, dim, 9], paths=1000 if trial.quick else 4000)
        for dim in GROWTH_DIMS
    }
    late = {dim: Estimate.of_mean((at[2] - at[1]) / 24.0) for dim, at in logs.items()}
    yield printed(BY_SVD, late, DECAYS)
    yield corrected(f"{BY_SVD}, up to $d = 4$", {dim: late[dim] for dim in list(late)[:3]}, DECAYS)
    yield corrected(f"{SECOND}, whose limit is the second exponent, at $d = 5$", second["$d = 5$"], DECAYS)
    yield corrected(f"{SECOND}, from $d = 6$ on", _rates_in_region(trial, "second"), SECOND_GROWS)
    yield corrected(f"{SECOND}, compared with the second Lyapunov exponent", second, SCHEME(of=exponents))
    for place, at in enumerate((4, 16, 40)):
        means = {dim: Estimate.of_mean(one[place]) for dim, one in logs.items()}
        yield fact(rf"mean of $\ln \sigma_2$ at $t = {at}$", means)
