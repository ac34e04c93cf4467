"""Lemma 5.2: every neuron, and the kernel, at the end t1 of the first stage."""

from __future__ import annotations

import numpy as np

from linnet.problems.subgaussian import Regression
from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, region, starts
from linnet_papers.huang.training.runs import FeatureRun, train_inside
from linnet_papers.reproduction import Numbers, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.reproduction.rows import Estimate, Verdict, at_least, at_most, below, corrected, fact, printed

SPREAD = at_most(10.0, "of order 1 for every neuron: none ten times above or below the median one")
EVERY = at_least(1.0, "the lemma speaks of $t_1$ for every initialization that is admitted")
SIGNALS = (1.0, 1.5, 2.0, 3.0)


@claim(
    "lemma5.2",
    says=r"At $t_1$ every alignment is of order 1 and every magnitude of order "
    r"$1/(\sqrt{n\,\mathrm{tr}}\, \lvert \beta \rvert)$.",
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_RATIOS}; and {settings.OVER_SIGNALS}; {starts.OVER_ALIKE}; "
    r"$t_1$ is where the median $\lvert \rho_r \rvert$ is 1",
    correction=rf"{starts.IF_ALIKE}, with $\lvert \beta \rvert^2 + \sigma_y^2$, the power of a label, for $\lvert "
    r"\beta \rvert^2$ in the order of the magnitudes",
    region=starts.ALIKE,
)
def end_of_the_first_stage(trial: Trial) -> Rows:
    rows, corners = neurons.rows(trial), region.rows(trial)
    least, most, sizes = rows["least"], rows["most"], rows["magnitudes"]
    worst = {key: highest(most[key], 1 / least[key], sizes[key][1], 1 / sizes[key][0]) for key in least}
    off = "factor by which an alignment or a magnitude is off its order"
    yield printed(f"{off}, by {settings.RATIO} or signal", worst | region.where_reached(corners, "worst"), SPREAD)
    reached = {key: reached / corners["networks"][key] for key, reached in corners["reached"].items()}
    yield printed("fraction of the networks that come to $t_1$, by signal", reached, EVERY)
    yield corrected(
        f"{off}, with the power of a label, over the region", starts.read_over_region(trial, _factor_off), SPREAD
    )
    noisy = starts.network(trial, strength=4e4, start=1e-3, ratio=30.0, noise=1.0)
    unit = noisy.inverse_magnitude_unit * np.median(np.abs(noisy.history_at(noisy.first_time()).magnitudes))
    yield fact("median magnitude over the printed order, noise at the limit of (5)", unit)
    alignment = rf"$\lvert \rho_r(t_1) \rvert$ over its median, by {settings.RATIO}"
    yield fact(f"smallest {alignment}", least)
    yield fact(f"largest {alignment}", most)


def _factor_off(run: FeatureRun) -> float:
    """Return the factor by which an alignment or a magnitude is off its order at t1, by the power of a label."""
    data, stage = run.data, run.stage
    unit = np.sqrt(data.samples * data.trace * _label_power(data))
    sizes = np.abs([stage.alignments[0], stage.magnitudes[0] * unit])
    return highest(sizes.max(), 1 / sizes.min())


def _label_power(data: Regression) -> float:
    """Return |beta|^2 + sigma_y^2."""
    return data.signal**2 + data.noise_variance


@claim(
    "lemma5.2-kernel",
    says=r"At $t_1$ the kernel is within $C/(m n^3 \lvert \beta \rvert^6 \mathrm{tr})$ of the target-aligned one, $C$ "
    "an absolute constant.",
    assumes=settings.ASSUMED,
    tried=rf"{settings.INSIDE}; $\lvert \beta \rvert$ = 1, 1.5, 2, 3 with 3 draws of each (quick: 2), $v_0$ and "
    r"$\sigma_0$ 1 and 1/1000 times the admissible ones, every step kept, at the best time of all",
    expected=Verdict.REFUTED,
)
def kernel_at_the_end_of_the_first_stage(trial: Trial) -> Rows:
    starts = {
        "admissible initialization": _kernel_constants(trial, 1.0),
        "1/1000 of it": _kernel_constants(trial, 1e-3),
    }
    means = {name: np.exp(np.log(each["constants"]).mean(axis=1)) for name, each in starts.items()}  # by signal
    powers = {name: Estimate(*exponent(SIGNALS, starts[name]["constants"])) for name in starts}
    absolute = below(
        0.5,
        "an absolute constant has power 0; the terms of the distance give 4 for $v_0$ in proportion to its limit and 1 "
        "for $v_0$ to 0: half of the smaller tells them apart",
    )
    least = lowest(power.value for power in powers.values())
    power = r"power of $\lvert \beta \rvert$ by which $C$ must grow, from the initialization where it is least"
    yield printed(power, least, absolute)
    yield fact("that power, with its standard error", powers)
    for name, each in means.items():
        constants = {f"{signal:g}": constant for signal, constant in zip(SIGNALS, each, strict=True)}
        yield fact(rf"$C$ needed at the best time, by $\lvert \beta \rvert$, {name}", constants)
    relative = starts["admissible initialization"]["relative"]
    yield fact("distance relative to the kernel, admissible initialization", [relative.min(), relative.max()])
    laws = relative / starts["admissible initialization"]["law"]
    yield fact(r"that distance over $v_0^2 \gamma$", [laws.min(), laws.max()])


def _kernel_constants(trial: Trial, smaller: float) -> dict[str, np.ndarray]:
    """Return the constant C that the lemma needs, the distance relative to the kernel, and v_0^2 gamma ("law"),
    (signal, draw) each."""

    def kernel_constant(signal: float, draw: int) -> Numbers:
        """Train one network and return these numbers at its best time."""
        size = settings.size(trial.quick)
        run = train_inside([trial.seed, draw], **size, signal=signal, smaller=smaller, growth_times=1.0, states=100_000)
        m = run.scales["width"]
        n = run.data.samples
        data = run.data
        gamma = run.history.gamma
        kernels = run.history.kernels / m
        target = run.history.target / (m * gamma)
        distance = _least_distance(kernels, target)  # the lemma says that there is such a time
        return {
            "constants": distance * m * n**3 * data.signal**6 * data.trace,
            "relative": distance / np.linalg.norm(target, 2),
            "law": run.scales["magnitude"] ** 2 * gamma,
        }

    draws = range(2 if trial.quick else 3)
    columns = by_name(kernel_constant(signal, draw) for signal in SIGNALS for draw in draws)
    return {name: np.reshape(column, (len(SIGNALS), len(draws))) for name, column in columns.items()}


def _least_distance(kernels: np.ndarray, target: np.ndarray) -> float:
    """Return the least distance of the kernels to the target, also between steps: a parabola through the three
    nearest."""
    from scipy.optimize import minimize_scalar

    distances = np.abs(np.linalg.eigvalsh(kernels - target)).max(axis=1)  # operator norms of symmetric matrices
    best = int(np.clip(distances.argmin(), 1, len(kernels) - 2))
    before, at, after = kernels[best - 1 : best + 2]

    def distance(t: float) -> float:
        """Return the relative distance to the target `t` steps after the nearest kernel."""
        between = at + t * (after - before) / 2 + t**2 * (after - 2 * at + before) / 2
        return float(np.linalg.norm(between - target, 2) / np.linalg.norm(target, 2))

    least = minimize_scalar(distance, bounds=(-1, 1), method="bounded", options={"xatol": 1e-9})
    return float(least.fun * np.linalg.norm(target, 2))
