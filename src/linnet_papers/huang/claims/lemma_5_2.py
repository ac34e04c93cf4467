"""Lemma 5.2: every neuron, and the kernel, at the end t1 of the first stage."""

from __future__ import annotations

import numpy as np

from linnet_papers.huang import settings
from linnet_papers.huang.tables import neurons, region
from linnet_papers.huang.tables.neurons import where_dominant
from linnet_papers.huang.training.runs import train_inside
from linnet_papers.reproduction import AtMost, Below, Estimate, Limit, Numbers, Trial, Verdict, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent, highest, lowest

SPREAD = Limit(10.0, "of order 1 for every neuron: none ten times above or below the median one")
STRONG = 40.0  # of n^(3/2)|beta|^3 sqrt(tr): at t1 1/40 of the output is learned, and 95% of the loss is left
SIGNALS = (1.0, 1.5, 2.0, 3.0)


@claim(
    "lemma5.2",
    says="At t1 every alignment is of order 1 and every magnitude of order 1/(sqrt(n tr)|beta|).",
    assumes=settings.ASSUMED_AND_DOMINANT + "; and n^(3/2)|beta|^3 sqrt(tr) well above 1",
    tried=settings.OVER_RATIOS + "; and " + settings.OVER_SIGNALS + "; t1 is where the median |rho_r| is 1",
    holds=AtMost(SPREAD, "worst", what="factor by which an alignment or a magnitude is off its order"),
    corrected=AtMost(SPREAD, what="that factor where v_0 dominates and n^(3/2)|beta|^3 sqrt(tr) is above 40"),
    correction="it holds for every neuron where v_0 is well above sigma_0 sqrt(log m) and n^(3/2)|beta|^3 sqrt(tr), "
    "the square of the alignment at the end, well above 1",
    reads="|rho_r(t1)| over all neurons in units of their median, which is 1, by v_0/(sigma_0 sqrt(log m)): least "
    "{least:.2g}; largest {most:.2g}; the factor off its order of any |rho_r| or |v_r| sqrt(n tr)|beta|: {worst:.2g} "
    "(inf: the median |rho| never reaches 1)",
)
def end_of_the_first_stage(trial: Trial) -> Numbers:
    rows, corners = neurons.TABLE.rows(trial), region.TABLE.rows(trial)
    least, most, sizes = rows["least"], rows["most"], rows["magnitudes"]
    worst = {key: highest(most[key], 1 / least[key], sizes[key][1], 1 / sizes[key][0]) for key in least}
    trace = settings.size(trial.quick)["dim"]
    strengths = {name: settings.SAMPLES**1.5 * signal**3 * np.sqrt(trace) for name, signal in corners["signal"].items()}
    far = [corners["worst"][name] for name, strength in strengths.items() if strength >= STRONG]
    return {
        "value": highest([*where_dominant(worst).values(), *far]),
        "least": least,
        "most": most,
        "worst": worst | corners["worst"],
    }


@claim(
    "lemma5.2-kernel",
    says="At t1 the kernel is within C/(m n^3 |beta|^6 tr) of the target-aligned one, C an absolute constant.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE + "; |beta| = 1, 1.5, 2, 3 with 3 draws of each (quick: 2), v_0 and sigma_0 1 and 1/1000 "
    "times the admissible ones, every step kept, at the best time of all",
    holds=Below(
        0.5,
        what="least power of |beta| by which C must grow",
        form=".2f",
        because="an absolute constant has power 0; the terms of the distance give 4 for v_0 in proportion to its limit "
        "and 1 for v_0 to 0: half of the smaller tells them apart",
    ),
    expected=Verdict.REFUTED,
    reads="C needed at the best time for |beta| = 1, 1.5, 2, 3: {constants:.2g} from the admissible start, "
    "{vanishing:.2g} from one 1/1000 of it; powers of |beta|: {powers:.2f}; relative to the kernel the distance is "
    "{relative.lowest:.1%} to {relative.highest:.1%}, {shares.lowest:.2f} to {shares.highest:.2f} times v_0^2 gamma",
)
def kernel_at_the_end_of_the_first_stage(trial: Trial) -> Numbers:
    admissible, vanishing = (_kernel_constants(trial, smaller) for smaller in (1.0, 1e-3))
    constants = {"admissible": admissible["constants"], "vanishing": vanishing["constants"]}
    means = {name: np.exp(np.mean(np.log(each), axis=1)) for name, each in constants.items()}  # over draws, by signal
    powers = {name: Estimate(*exponent(SIGNALS, each)) for name, each in means.items()}
    return {
        "value": lowest(power.value for power in powers.values()),
        "powers": powers,
        "constants": means["admissible"],
        "vanishing": means["vanishing"],
        "relative": admissible["relative"].ravel(),
        "shares": (admissible["relative"] / admissible["law"]).ravel(),
    }


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
