"""The scale of the start with one output: when it matters for the least test error, and what it does for speed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import LARGE, gain_in_the_limit, gain_on_data
from linnet_papers.own.settings import SAME
from linnet_papers.reproduction import Rows, Trial, above, at_least, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import highest

LEVELS = 0.1, 0.01  # test errors that a run is to reach, over the signal's power
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


@claim(
    "no-shortcut",
    says="At the largest stable constant step no scale of the start reaches a given test error in fewer steps than a "
    "large start, which is plain descent on the predictor: anisotropy is exploited for the error, not for speed.",
    assumes="population covariance with one spike; steps are the flow's time times the largest curvature on the way",
    tried="spikes 5 and 20, alignments 0.1, 0.5 and 0.9 (quick: the ends); test error of 10% and 1% of the "
    "signal's power; thresholds $10^{-4}$ to 3 against $10^3$",
)
def no_shortcut(trial: Trial) -> Rows:
    cases = itertools.product((5.0, 20.0), (0.1, 0.9) if trial.quick else (0.1, 0.5, 0.9))
    ratios, smallest = [], []
    for spike, alignment in cases:
        problem = ln.problems.spiked_covariance(12, spike=spike, alignment=alignment)
        steps = {g: _steps_to_levels(problem, g) for g in (1e-4, 0.1, 1.0, 3.0, LARGE)}
        plain = steps.pop(LARGE)
        ratios += list(np.min(list(steps.values()), axis=0) / plain)
        smallest += list(steps[1e-4] / plain)
    grid = at_least(0.97, "curvature and crossing are read off a grid of times, worth up to 3%")
    waits = above(2, "a small start waits on its plateau: where that doubles the steps, anisotropy bought no speed")
    yield printed("fewest steps of any smaller start over those of the large one", ratios, grid)
    yield printed("steps of the smallest start over those of the large one, at the most", highest(smallest), waits)
    yield fact("steps of the smallest start over those of the large one", smallest)


def _steps_to_levels(problem: ln.Problem, threshold: float) -> np.ndarray:
    """Return the time to each of the `LEVELS` times the largest curvature of the loss until then."""
    times = np.append(0.0, np.geomspace(1e-3, 400, 400)) / max(1.0, threshold)
    path = ln.theories.one_output.product_over_time(problem, threshold, times)
    errors = np.asarray(problem.test_loss(path[:, None]))
    ends = [int(np.argmax(errors < level * errors[0])) for level in LEVELS]
    return np.array([times[end] * _largest_curvature(problem, threshold, path, end) for end in ends])


def _largest_curvature(problem: ln.Problem, threshold: float, path: np.ndarray, end: int) -> float:
    """Return the largest curvature of the loss at some 25 states of the path until `end`."""
    states = path[: end + 1][:: max(1, end // 25)]
    sizes = np.linalg.norm(states, axis=1)
    along = states / np.where(sizes > 0, sizes, 1.0)[:, None]
    q = np.hypot(threshold, sizes)[:, None, None]
    metric = (q + threshold) * np.eye(path.shape[1]) + (q - threshold) * along[:, :, None] * along[:, None]
    return float(np.linalg.eigvals(metric @ problem.cov).real.max())
