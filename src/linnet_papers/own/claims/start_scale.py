"""The scale of the start with one output: when it matters for the least test error, and what it does for speed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import LARGE, gain_in_the_limit, gain_on_data, late_rates
from linnet_papers.own.settings import SAME
from linnet_papers.own.training.steps import steps_to_errors
from linnet_papers.reproduction import Range, Rows, Trial, above, at_least, below, claim, fact, printed, within

HARDLY = within(0.01, "one percent of an error is seldom known, let alone worth a search over scales", of=1)
GAIN = above(1.15, "a gain that a practitioner would notice: a seventh of the error")
NO_GAIN = below(1.15, "the same gain: what is smaller is not worth a claim")
DRAWN = within(
    0.25,
    "data of a hundred inputs gain 1.26 and 1.41 (24 of each); more than three standard errors of the mean of eight, "
    "0.03 and 0.05, fit in between, and no gain does not",
    of=1.4,
)


@claim(
    "start-scale",
    says="With one output the scale of the initialization hardly changes the minimum test error at high signal to "
    "noise; where the target lies along a spike of middling strength in much noise, a small initialization has the "
    "lower one. A weaker spike is lost in the noise and a stronger one is found from every initialization: there the "
    "scale matters less.",
    assumes="gradient flow, stopped at the minimum test error; proportional limit, and drawn data",
    tried="high: signal to noise 100, $d/n = 1/2$ and 2, spikes 0 to 20, alignments 0.1 to 0.9 (quick: spike 20, "
    "alignment 0.5); noisy: spikes 5 and 20, and 2 and 100 beside them, alignments 0.9 and 1, signal to noise 0.2 and "
    "1, $d/n = 1/2$ (quick: one of them for each spike); thresholds $10^{-4}$ and $10^3$",
)
def start_scale(trial: Trial) -> Rows:
    more_samples, more_inputs = (100, 200), (300, 150)  # inputs and samples
    if trial.quick:
        draws = 8
        high = [(20.0, 0.5, 100.0, more_samples), (20.0, 0.5, 100.0, more_inputs)]
        middling = [(5.0, 0.9, 1.0, more_samples), (20.0, 0.9, 0.2, more_samples)]
        beside = [(2.0, 0.9, 1.0, more_samples), (100.0, 0.9, 1.0, more_samples)]
    else:
        draws = 40
        both = (more_samples, more_inputs)
        high = list(itertools.product((0.0, 2.0, 5.0, 20.0), (0.1, 0.5, 0.9), (100.0,), both))
        middling = list(itertools.product((5.0, 20.0), (0.9, 1.0), (1.0, 0.2), (more_samples,)))
        beside = list(itertools.product((2.0, 100.0), (0.9, 1.0), (1.0, 0.2), (more_samples,)))
    gain = "minimum error of a large initialization over that of a small one"
    yield printed(f"{gain}, high signal to noise", _gains(high), HARDLY)
    yield printed(f"{gain}, spike of middling strength in noise", _gains(middling), GAIN)
    yield printed(f"{gain}, weaker and stronger spikes", _gains(beside), NO_GAIN)
    drawn = {
        f"signal to noise {power:g}": np.mean(
            [gain_on_data(20.0, 0.9, *more_samples, power, key=[trial.seed, draw]) for draw in range(draws)]
        )
        for power in (1.0, 0.2)
    }
    yield printed(f"{gain}, mean over drawn data sets with spike 20", drawn, DRAWN)
    yield fact(f"{gain}, spike across the target in noise", gain_in_the_limit(20.0, 0.3, *more_samples, 0.2))
    along = gain_in_the_limit(20.0, 1.0, *more_samples, 100.0)
    yield fact(f"{gain}, target wholly along the spike at high signal to noise", along)


def _gains(cells: Iterable[tuple[float, float, float, tuple[int, int]]]) -> dict[str, float]:
    """Return the gains in the limit by spike, alignment, signal to noise, and inputs with samples."""
    return {
        f"spike {spike:g}, alignment {alignment:g}, signal to noise {power:g}, $d/n = {dim / samples:g}$": (
            gain_in_the_limit(spike, alignment, dim, samples, power)
        )
        for spike, alignment, power, (dim, samples) in cells
    }


TURNED = above(0.05, "a start of 1/20 of the solution or less could not be told from none")
GONE = below(0.05, "more samples than inputs have one solution, which every initialization ends in")


@claim(
    "layer-scales",
    says="With one output only the sum of the two layers' scales matters, if the product starts at zero; if it does "
    "not, the predictor of the initialization remains.",
    assumes="gradient flow, a first layer with equal singular values",
    tried="$d = 5$, $n = 8$, width 12; first-layer scale $p$ and squared second-layer length $m$ with $p + m = 0.8$, "
    "from all in the first layer to nearly all in the second, 30 times; then the second layer turned into the span of "
    "the first",
)
def layer_scales(trial: Trial) -> Rows:
    random = np.random.default_rng([trial.seed, 11])
    X = random.normal(size=(8, 5)) * np.array([2.0, 1.0, 1.0, 0.7, 0.5])
    problem = ln.Problem.from_data(X, X @ random.normal(size=5))
    times = np.append(np.linspace(0, 6, 29), 400.0)
    starts = [_start_of_scales(p, 0.8 - p, key=trial.seed) for p in (0.8, 0.5, 0.1, 0.01)]
    starts.append(_start_of_scales(0.5, 0.3, key=trial.seed, turned=True))
    *paths, turned = (ln.gradient_flow(problem, start, times=times).products for start in starts)
    gaps = np.abs(turned - paths[1]).max(axis=(1, 2))
    yield printed("largest difference between the predictors", [np.abs(p - paths[0]).max() for p in paths[1:]], SAME)
    yield printed("largest difference once the product does not start at zero", gaps.max(), TURNED)
    yield printed("that difference at the end, over its largest", gaps[-1] / gaps.max(), GONE)


def _start_of_scales(first: float, second: float, *, key: int, turned: bool = False) -> ln.Weights:
    """Return a first layer of scale `first`, a second of squared length `second`: outside the first's span, or along
    it; 5 inputs and 12 hidden units."""
    frame, _ = np.linalg.qr(np.random.default_rng([key, 5]).normal(size=(12, 6)))
    direction = frame[:, 0 if turned else 5]
    return ln.Weights(np.sqrt(first) * frame[:, :5], np.sqrt(second) * direction[None])


SCALES = 0.1, 0.3, 1.0  # of moderate initializations
FRACTIONS = np.linspace(0.3, 1.0, 15)  # of the largest stable step at the solution, among which the best is taken
ERRORS = 1e-1, 1e-2, 1e-4, 1e-6, 1e-8
LATE = 1e-12, 1e-24  # fractions of the first loss, between which steps are counted at half of the largest step
LAW = within(0.1, "a finite step changes the imbalance of the layers, and with it the metric, by up to a tenth", of=1)
HALF = at_least(0.5, "the condition number of the metric $M$ is below 2, so no direction gains more")
SAVED = below(
    0.85,
    "a seventh of the steps is worth a search over scales, and more than the two steps by which counts are off",
)
MORE = below(0.0, "by the law, each further digit saves the same fraction of its steps: savings add up")


@claim(
    "steps-saved",
    says="Descent with one output at its best constant step reaches a small error in fewer steps from a moderate "
    "initialization than from a large one, which is plain descent on the predictor, if the target lies mostly across a "
    r"spike. At the end of training the number of steps for a further digit is proportional to the condition number of "
    r"$M \Sigma$ in the plane of spike and target, $M = I + \frac{q - g}{q + g} \beta \beta^\top/\lvert \beta "
    r"\rvert^2$, $q = \sqrt{g^2 + \lvert \beta \rvert^2}$, at threshold $g$. This is between a half and twice that of "
    r"$\Sigma$, so up to half of the steps are saved, the more the smaller the error; if the target lies along the "
    "spike, a small initialization needs more steps.",
    assumes=r"population covariance with one spike, a target of unit length, one output, an orthogonal initialization "
    "with a product of zero, steps at which the loss never rises",
    tried=r"descent in the plane of spike and target; large: scale 1000; the law at half of the largest stable step, "
    "from $10^{-12}$ to $10^{-24}$ of the first loss; savings with the best of 15 steps and of the scales 0.1, 0.3 and "
    "1, spikes 5 and 50, alignments 0.05 and 0.3",
    region={"spike": Range(5, 50, log=True), "alignment": Range(0.05, 0.95), "scale": Range(0.1, 1.0, log=True)},
)
def steps_saved(trial: Trial) -> Rows:
    settings = trial.region(2 if trial.quick else 20)
    law = {name: _late_steps_over_law(**setting) for name, setting in settings.items()}
    yield printed("late steps for a digit over those of a large initialization, over the same by the law", law, LAW)
    ratios = {
        rf"$\rho = {spike:g}$, $A = {alignment:g}$": _best_ratios(spike, alignment)
        for spike, alignment in itertools.product((5.0, 50.0), (0.05, 0.3, 0.95))
    }
    across = {name: ratio for name, ratio in ratios.items() if "0.95" not in name}
    fewest = "steps of the best moderate initialization over those of a large one"
    yield printed(f"{fewest}, error $10^{{-8}}$, target across the spike", {n: r[-1] for n, r in across.items()}, SAVED)
    yield printed(f"{fewest}, error $10^{{-8}}$, at any alignment", {n: r[-1] for n, r in ratios.items()}, HALF)
    falls = {name: np.diff(ratio[1::3])[0] for name, ratio in across.items()}
    yield printed("change of that ratio from an error of 1% to $10^{-8}$, target across the spike", falls, MORE)
    by_error = {
        f"error {error:g}": ratio for error, ratio in zip(ERRORS, ratios[r"$\rho = 50$, $A = 0.05$"], strict=True)
    }
    yield fact(rf"{fewest}, $\rho = 50$, $A = 0.05$", by_error)


def _in_plane(spike: float, alignment: float) -> tuple[np.ndarray, np.ndarray]:
    """Return covariance and target in their plane."""
    return np.diag([1 + spike, 1.0]), np.array([alignment, np.sqrt(1 - alignment**2)])


def _best_ratios(spike: float, alignment: float) -> np.ndarray:
    """Return the fewest steps of the moderate scales over those of a large one, for each error."""
    cov, target = _in_plane(spike, alignment)

    def fewest(scale: float) -> np.ndarray:
        rates = FRACTIONS * 2 / late_rates(cov, target, scale).max()
        return steps_to_errors(cov, target, scale, rates, ERRORS).min(axis=0)

    return np.min([fewest(scale) for scale in SCALES], axis=0) / fewest(LARGE)


def _late_steps_over_law(spike: float, alignment: float, scale: float) -> float:
    """Return how many times as many late steps are needed as from a large scale, over what the law says of that."""
    cov, target = _in_plane(spike, alignment)
    steps, law = [], []
    for one in (scale, LARGE):
        rates = late_rates(cov, target, one)
        early, late = steps_to_errors(cov, target, one, 1 / rates[-1:], LATE)[0]
        steps.append(late - early)
        law.append(1 / np.log1p(-rates[0] / rates[-1]))
    return float(steps[0] / steps[1] / (law[0] / law[1]))
