"""One output over time: the test error from one SVD, in the proportional limit, and its two phases."""

from __future__ import annotations

import itertools

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import LARGE, small_start, spiked_limit
from linnet_papers.own.settings import EXACT
from linnet_papers.reproduction import Range, Rows, Trial, above, at_most, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import highest

WIDE = below(
    0.03,
    r"its product starts at $\sqrt{d/w}$ of the threshold and its singular values differ by as much; at the "
    "threshold 3 that is a percent of the minimum test error",
)


@claim(
    "over-time",
    says="With one output, training and test error over time follow from one SVD, at any scale of the initialization.",
    assumes="gradient flow; a first layer with equal singular values and a product that starts at zero",
    tried="$d = 40$, $n = 25$ and 80, label noise 0.5; spikes 0 and 20, alignments 0.3 to 0.9; thresholds 0.01, 0.3 "
    "and 3 (quick: 0.01 and 3); orthogonal initializations, and Gaussian ones ten million units wide; 40 times",
)
def over_time(trial: Trial) -> Rows:
    times = np.linspace(0, 6, 40)
    width = 10**7
    spikes = ((0.0, 0.5), (20.0, 0.3), (20.0, 0.9))  # with their alignments
    thresholds = (0.01, 3.0) if trial.quick else (0.01, 0.3, 3.0)
    gaps: dict[str, dict[str, float]] = {"orthogonal": {}, "wide": {}}
    for (spike, alignment), samples, threshold in itertools.product(spikes, (25, 80), thresholds):
        problem = ln.problems.spiked_covariance(
            40, spike=spike, alignment=alignment, samples=samples, noise_std=0.5, key=[trial.seed, samples]
        )
        curve = ln.theories.one_output.error_over_time(problem, threshold, times)
        std = np.sqrt(threshold / width)
        shape = {"in_dim": 40, "out_dim": 1}
        starts = {
            "orthogonal": ln.inits.orthogonal(key=trial.seed, **shape, width=60, scale=threshold),
            "wide": ln.inits.reduced_gaussian(key=trial.seed, **shape, width=width, stds=std),
        }
        for kind, start in starts.items():
            run = ln.gradient_flow(problem, start, times=times)
            test_gap = np.abs(run.test_loss / curve.test_loss - 1).max()
            train_gap = np.abs(run.loss - curve.loss).max() / curve.loss[0]
            name = f"spike {spike:g}, alignment {alignment:g}, $n = {samples}$, threshold {threshold:g}"
            gaps[kind][name] = highest(test_gap, train_gap)
    yield printed("relative gap in the errors of orthogonal initializations", gaps["orthogonal"], EXACT)
    yield printed("relative gap of a Gaussian initialization ten million units wide", gaps["wide"], WIDE)


RIDGELESS = below(1e-4, "two formulas of one number; the slowest mode of a power law is not quite learned at that time")


@claim(
    "any-spectrum",
    says="Multiple spikes and power laws are no harder: the same formula gives the errors over time, and its limit of "
    "many samples ends at the ridgeless risk.",
    assumes="as `over-time`",
    tried="$d = 40$, $n = 30$: spikes 100 and 10 with the target mostly on the second; eigenvalues $i^{-1.5}$ with "
    "overlaps $i^{-1}$ and equal ones; thresholds 0.01 and 3; 40 times",
)
def any_spectrum(trial: Trial) -> Rows:
    index = np.arange(1, 41.0)
    times = np.linspace(0, 8, 40)
    cases = {
        "two spikes": (np.array([100.0, 10.0, *np.ones(38)]), np.array([0.1, 0.8, *np.full(38, 0.1 / 38)])),
        "power law": (index**-1.5, 1 / index),
        "power law, equal overlaps": (index**-1.5, np.full(40, 1 / 40)),
    }
    gaps, ends = {}, {}
    for (words, (values, overlaps)), threshold in itertools.product(cases.items(), (0.01, 3.0)):
        problem = ln.problems.spectrum(values, overlaps, samples=30, noise_std=0.3, key=trial.seed)
        start = ln.inits.orthogonal(key=trial.seed, in_dim=40, out_dim=1, width=60, scale=threshold)
        curve = ln.theories.one_output.error_over_time(problem, threshold, times)
        run = ln.gradient_flow(problem, start, times=times)
        limit = ln.theories.one_output.asymptotic(
            values, overlaps, 30, noise_variance=0.09, threshold=threshold, times=[0.0, 1e9]
        )
        risk = ln.theories.ridge.risk(values, overlaps, 30, noise_variance=0.09)
        name = f"{words}, threshold {threshold:g}"
        gaps[name] = np.abs(run.test_loss / curve.test_loss - 1).max()
        ends[name] = abs(2 * np.asarray(limit.test_loss)[-1] / risk - 1)
    yield printed("relative gap in the test error of trained networks", gaps, EXACT)
    yield printed("relative gap between the limit at $t = 10^9$ and the ridgeless risk", ends, RIDGELESS)


ERRORS = "standard errors of 16 draws: Student's t lies beyond 6 once in 40 000, one of 100 means once in 400 runs"
TOLD_APART = above(6, "the same distance: means that could not tell a threshold from twice it would confirm anything")


@claim(
    "over-time-limit",
    says="Where inputs and samples are many, both errors over time follow without data, from two resolvents.",
    assumes="Gaussian inputs, a target independent of them given its overlaps",
    tried="$d/n = 1.5$, 1 and 0.5 with $n = 120$ (full: 240), spike 20 at alignment 0.7, label noise 0.5, thresholds "
    "0.02 and 2, 16 draws of the data (full: 40), 8 times from 0.05 to 20",
)
def over_time_limit(trial: Trial) -> Rows:
    n, draws = (120, 16) if trial.quick else (240, 40)
    spike, alignment = 20.0, 0.7
    noise = 0.25  # its variance
    times = np.array([0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
    away, control, last = {}, {}, {}
    for ratio in (1.5, 1.0, 0.5):
        dim = round(ratio * n)
        model = {"spike": spike, "alignment": alignment, "samples": n, "noise_std": noise**0.5}
        problems = [ln.problems.spiked_covariance(dim, **model, key=[trial.seed, dim, draw]) for draw in range(draws)]
        for threshold in (0.02, 2.0):
            curves = [ln.theories.one_output.error_over_time(problem, threshold, times) for problem in problems]
            losses = [[curve.loss, np.asarray(curve.test_loss)] for curve in curves]
            mean = np.mean(losses, axis=0)
            error = np.std(losses, axis=0, ddof=1) / np.sqrt(draws)
            limits = [spiked_limit(spike, alignment, dim, n, noise, k * threshold, times) for k in (1.0, 2.0)]
            laws = [np.array([limit.loss, limit.test_loss]) for limit in limits]
            name = f"$d/n = {ratio:g}$, threshold {threshold:g}"
            away[name], control[name] = (np.max((np.abs(mean - law) - 3 / n * law) / error) for law in laws)
            last[name] = mean[1, -1] / laws[0][1, -1]
    off = "standard errors between a mean and the limit, beyond $3/n$ of it"
    yield printed(off, away, below(6, ERRORS + "; a finite problem is $O(1/n)$ off"))
    yield printed("the same for the limit at twice the threshold", control, TOLD_APART)
    yield fact("test error at the last time over the limit's", last)


LEVEL = within(
    0.1,
    "the phases overlap by a time of order one over the spike; a shoulder at the end or at the beginning would be two "
    "thirds off, or more",
    of=1,
)
RESTS = below(0.1, "ten times slower than in the fall before: there the error nearly rests")
LATER = below(0.2, "the later phase learns at least four fifths of what the early one has left")
LIMITED = above(0.5, "more than half of what the early phase left stays where samples are few")


@claim(
    "two-phases",
    says="The two phases of Watanabe et al. show in the test error: from a small initialization it falls to a "
    "shoulder, at the fraction of the loss that the early phase leaves, and on from there in the later phase; few "
    "samples and label noise leave the shoulder where it is and limit the later phase.",
    assumes="gradient flow from a small initialization (threshold $10^{-6}$), one strong spike that holds two thirds "
    "of the signal",
    tried=r"spikes 50 and 200 (full: 100 too), alignment $(2/\rho)^{1/2}$; population covariance, and in the "
    "proportional limit $n/d = 4$ and 2, from spike 100 on 1/2 too, noise variance 0.5",
)
def two_phases(trial: Trial) -> Rows:
    times = np.linspace(0, 5, 250)
    levels, pauses, left = {}, {}, {}
    for spike in (50.0, 200.0) if trial.quick else (50.0, 100.0, 200.0):
        for ratio in (np.inf, 4.0, 2.0) if spike < 100 else (np.inf, 4.0, 2.0, 0.5):
            alignment = (2 / spike) ** 0.5
            early = ln.theories.spiked.TwoPhase(spike, alignment).early_loss
            errors = small_start(spike, alignment, ratio, times)
            fall = -np.gradient(np.log(errors), times)
            fastest = int(np.argmax(fall[errors > early * errors[0]]))
            shoulder = fastest + int(np.argmax(np.diff(fall[fastest:]) > 0))
            name = f"spike {spike:g}, " + ("population" if np.isinf(ratio) else f"$n/d = {ratio:g}$")
            levels[name] = errors[shoulder] / errors[0] / early
            pauses[name] = fall[shoulder] / fall[fastest]
            left[name] = errors.min() / errors[shoulder]

    def chosen(words: str) -> dict[str, float]:
        return {name: value for name, value in left.items() if words in name}

    yield printed("error at the shoulder over what the early phase leaves of it", levels, LEVEL)
    yield printed("relative speed of the error at the shoulder over that before it", pauses, RESTS)
    smallest = "minimum of the error over the shoulder's"
    yield printed(f"{smallest}, population covariance", chosen("population"), LATER)
    yield printed(f"{smallest}, half as many samples as inputs", chosen("n/d = 0.5"), LIMITED)
    yield fact(smallest, left)


RIDGE = at_most(1.69, "1.6862 is the constant that Ali, Kolter and Tibshirani prove, for every spectrum and noise")
CLOCK = above(1.69, "another clock must break the bound at some setting, or the bound says nothing of ours")


@claim(
    "flow-ridge",
    says="From a large initialization descent is gradient flow on the predictor: for a target that prefers no "
    r"direction its excess test error at time $\tau$ is at most 1.69 times that of ridge regression with "
    r"$\lambda = 1/\tau$, as Ali, Kolter and Tibshirani (2019) prove. The formulas without data obey this bound.",
    assumes=r"one output, a threshold of 1000, where $\tau$ is 2000 times the canonical time, equal overlaps of the "
    "target with all eigenvectors, the proportional limit",
    tried=r"60 inputs with eigenvalues $i^{-p}$, $\tau$ from 0.1 to $10^4$",
    region={
        "inputs_over_samples": Range(0.2, 5.0, log=True),
        "noise_variance": Range(0.01, 10.0, log=True),
        "power": Range(0.0, 1.5),
    },
)
def flow_against_ridge(trial: Trial) -> Rows:
    settings = trial.region(1 if trial.quick else 30)
    curves = {name: _flow_and_ridge(**setting) for name, setting in settings.items()}
    ratios = {name: (flow / ridge).max() for name, (flow, ridge) in curves.items()}
    yield printed("largest excess error of the flow over that of ridge at the same time", ratios, RIDGE)
    other = highest((flow[12:] / ridge[:-12]).max() for flow, ridge in curves.values())
    yield printed(r"the same for ridge with $\lambda = 10.2/\tau$, largest of all settings", other, CLOCK)
    best = {name: flow.min() / ridge.min() for name, (flow, ridge) in curves.items()}
    yield fact("the flow at its best time over ridge at its best strength", best)


def _flow_and_ridge(inputs_over_samples: float, noise_variance: float, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the excess test error of the flow at 60 times, and of ridge regression at the same."""
    values, overlaps = np.arange(1, 61.0) ** -power, np.full(60, 1 / 60)
    samples, clock = 60 / inputs_over_samples, np.geomspace(0.1, 1e4, 60)
    curve = ln.theories.one_output.asymptotic(
        values,
        overlaps,
        samples,
        noise_variance=noise_variance,
        threshold=LARGE,
        times=np.append(0, clock / (2 * LARGE)),
    )
    model = {"noise_variance": noise_variance}
    ridge = [ln.theories.ridge.risk(values, overlaps, samples, ridge=1 / time, **model) for time in clock]
    return 2 * np.asarray(curve.test_loss)[1:], np.array(ridge)
