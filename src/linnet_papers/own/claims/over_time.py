"""One output over time: the test error from one SVD, in the proportional limit, and its two phases."""

from __future__ import annotations

import itertools

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import small_start, spiked_limit
from linnet_papers.own.settings import EXACT
from linnet_papers.reproduction import Above, AllOf, Below, Numbers, Trial, Within, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest


@claim(
    "over-time",
    says="With one output, training and test error over time follow from one SVD, at any scale of the start.",
    assumes="gradient flow; a first layer with equal singular values and a product that starts at zero",
    tried="d = 40, n = 25 and 80, label noise 0.5; spikes 0 and 20, alignments 0.3 to 0.9; thresholds 0.01, 0.3 and 3 "
    "(quick: 0.01 and 3); orthogonal starts, and Gaussian ones ten million units wide",
    holds=AllOf(
        Below(EXACT, "orthogonal", what="largest relative gap in the errors of orthogonal starts", form=".1e"),
        Below(
            0.03,
            "wide",
            what="largest relative gap of a Gaussian start ten million units wide",
            form=".2%",
            because="its product starts at sqrt(d/w) of the threshold and its singular values differ by as much; at "
            "the threshold 3 that is a percent of the least test error",
        ),
    ),
    reads="{wide.count} networks of each kind, 40 times each",
)
def over_time(trial: Trial) -> Numbers:
    times = np.linspace(0, 6, 40)
    width = 10**7

    def largest_gaps(spike: float, alignment: float, samples: int, threshold: float) -> Numbers:
        """Return the largest relative gap of either error over time, from both kinds of start."""
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
        runs = {name: ln.gradient_flow(problem, start, times=times) for name, start in starts.items()}
        return {
            name: highest(
                np.abs(run.test_loss / curve.test_loss - 1).max(), np.abs(run.loss - curve.loss).max() / curve.loss[0]
            )
            for name, run in runs.items()
        }

    spikes = ((0.0, 0.5), (20.0, 0.3), (20.0, 0.9))  # with their alignments
    thresholds = (0.01, 3.0) if trial.quick else (0.01, 0.3, 3.0)
    cases = itertools.product(spikes, (25, 80), thresholds)
    return by_name(largest_gaps(*spike, samples, threshold) for spike, samples, threshold in cases)


@claim(
    "any-spectrum",
    says="Multiple spikes and power laws are no harder: the same formula gives the errors over time, and its limit of "
    "many samples ends at the ridgeless risk.",
    assumes="as over-time",
    tried="d = 40, n = 30: spikes 100 and 10 with the target mostly on the second; eigenvalues i^-1.5 with overlaps "
    "i^-1 and equal ones; thresholds 0.01 and 3",
    holds=AllOf(
        Below(EXACT, "gap", what="largest relative gap in the errors of trained networks", form=".1e"),
        Below(
            1e-4,
            "end",
            what="largest relative gap between the limit at t = 10^9 and the ridgeless risk",
            form=".1e",
            because="two formulas of one number; the slowest mode of a power law is not quite learned at that time",
        ),
    ),
    reads="{gap.count} networks, 40 times each",
)
def any_spectrum(trial: Trial) -> Numbers:
    index = np.arange(1, 41.0)
    times = np.linspace(0, 8, 40)
    cases = (
        (np.array([100.0, 10.0, *np.ones(38)]), np.array([0.1, 0.8, *np.full(38, 0.1 / 38)])),
        (index**-1.5, 1 / index),
        (index**-1.5, np.full(40, 1 / 40)),
    )

    def measure_gaps(values: np.ndarray, overlaps: np.ndarray, threshold: float) -> Numbers:
        """Return the largest relative gap of the test error over time, and that of its limit at the end."""
        problem = ln.problems.spectrum(values, overlaps, samples=30, noise_std=0.3, key=trial.seed)
        start = ln.inits.orthogonal(key=trial.seed, in_dim=40, out_dim=1, width=60, scale=threshold)
        curve = ln.theories.one_output.error_over_time(problem, threshold, times)
        run = ln.gradient_flow(problem, start, times=times)
        limit = ln.theories.one_output.asymptotic(
            values, overlaps, 30, noise_variance=0.09, threshold=threshold, times=[0.0, 1e9]
        )
        risk = ln.theories.ridge.risk(values, overlaps, 30, noise_variance=0.09)
        gap = np.abs(run.test_loss / curve.test_loss - 1).max()
        return {"gap": gap, "end": abs(2 * np.asarray(limit.test_loss)[-1] / risk - 1)}

    return by_name(measure_gaps(values, overlaps, g) for (values, overlaps), g in itertools.product(cases, (0.01, 3.0)))


@claim(
    "over-time-limit",
    says="Where inputs and samples are many, both errors over time follow without data, from two resolvents.",
    assumes="Gaussian inputs, a target independent of them given its overlaps",
    tried="d/n = 1.5, 1 and 0.5 with n = 120 (full: 240), spike 20 at alignment 0.7, label noise 0.5, thresholds 0.02 "
    "and 2, 16 draws of the data (full: 40), 8 times from 0.05 to 20",
    holds=AllOf(
        Below(
            6,
            "away",
            what="largest distance of a mean from the limit in standard errors, beyond 3/n of it",
            form=".1f",
            because="standard errors of 16 draws: Student's t lies beyond 6 once in 40 000, one of 100 means once "
            "in 400 runs; a finite problem is O(1/n) off",
        ),
        Above(
            6,
            "control",
            what="the same for the limit at twice the threshold",
            form=".0f",
            because="means that could not tell a threshold from twice it would confirm anything",
        ),
    ),
    reads="test error at the last time over the limit's: {last:.3f}",
)
def over_time_limit(trial: Trial) -> Numbers:
    n, draws = (120, 16) if trial.quick else (240, 40)
    spike, alignment = 20.0, 0.7
    noise = 0.25  # its variance
    times = np.array([0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])

    def drawn_problems(dim: int) -> list[ln.Problem]:
        """Return the draws of the data with so many inputs."""
        model = {"spike": spike, "alignment": alignment, "samples": n, "noise_std": noise**0.5}
        return [ln.problems.spiked_covariance(dim, **model, key=[trial.seed, dim, draw]) for draw in range(draws)]

    def compare_with_limits(problems: list[ln.Problem], threshold: float) -> Numbers:
        """Return how many standard errors the means over the draws are off the limit, and off that of a control."""
        curves = [ln.theories.one_output.error_over_time(problem, threshold, times) for problem in problems]
        losses = [[curve.loss, np.asarray(curve.test_loss)] for curve in curves]
        mean = np.mean(losses, axis=0)
        error = np.std(losses, axis=0, ddof=1) / np.sqrt(draws)
        model = spike, alignment, problems[0].in_dim, n, noise
        limits = [spiked_limit(*model, factor * threshold, times) for factor in (1.0, 2.0)]
        laws = [np.array([limit.loss, limit.test_loss]) for limit in limits]
        away, control = (np.max((np.abs(mean - law) - 3 / n * law) / error) for law in laws)
        return {"away": away, "control": control, "last": mean[1, -1] / laws[0][1, -1]}

    problems = {ratio: drawn_problems(round(ratio * n)) for ratio in (1.5, 1.0, 0.5)}
    return by_name(
        {
            f"d/n = {ratio:g}, threshold {threshold:g}": compare_with_limits(problems[ratio], threshold)
            for ratio, threshold in itertools.product(problems, (0.02, 2.0))
        }
    )


@claim(
    "two-phases",
    says="The two phases of paper 1 show in the test error: from a small start it falls to a shoulder, at the share of "
    "the loss that the early phase leaves, and on from there in the later phase; few samples and label noise leave the "
    "shoulder where it is and limit the later phase.",
    assumes="gradient flow from a small start (threshold 1e-6), one strong spike that holds two thirds of the signal",
    tried="spikes 50 and 200 (full: 100 too), alignment (2/spike)^(1/2); population covariance, and in the "
    "proportional limit n/d = 4 and 2, from spike 100 on 1/2 too, noise variance 0.5",
    holds=AllOf(
        Within(
            0.1,
            "levels",
            of=1,
            what="error at the shoulder over what the early phase leaves of it",
            form=".3f",
            because="the phases overlap by a time of order 1/spike; a shoulder at the end or at the start would be "
            "two thirds off, or more",
        ),
        Below(
            0.1,
            "pause",
            what="relative speed of the error at the shoulder over that before it",
            form=".3f",
            because="a shoulder is where the error nearly rests: ten times slower than in the fall before",
        ),
        Below(
            0.2,
            "later",
            what="least error over the shoulder's, population covariance",
            form=".2g",
            because="the later phase learns what the early one has left",
        ),
        Above(
            0.5,
            "limited",
            what="least error over the shoulder's, half as many samples as inputs",
            form=".2f",
            because="more than half of what the early phase left stays where samples are few",
        ),
    ),
    reads="least error over the shoulder's by n/d: {share:.2f}",
)
def two_phases(trial: Trial) -> Numbers:
    times = np.linspace(0, 5, 250)

    def measure_shoulder(spike: float, ratio: float) -> Numbers:
        """Return the level of the shoulder, the speed at it over that before it, and the least error over its own."""
        alignment = (2 / spike) ** 0.5
        left = ln.theories.spiked.TwoPhase(spike, alignment).early_loss
        errors = small_start(spike, alignment, ratio, times)
        fall = -np.gradient(np.log(errors), times)
        fastest = int(np.argmax(fall[errors > left * errors[0]]))
        shoulder = fastest + int(np.argmax(np.diff(fall[fastest:]) > 0))
        return {
            "levels": errors[shoulder] / errors[0] / left,
            "pause": fall[shoulder] / fall[fastest],
            "share": errors.min() / errors[shoulder],
        }

    cases = {}
    for spike in (50.0, 200.0) if trial.quick else (50.0, 100.0, 200.0):
        cases[f"spike {spike:g}, population"] = spike, np.inf
        for ratio in (4.0, 2.0) if spike < 100 else (4.0, 2.0, 0.5):
            cases[f"spike {spike:g}, n/d = {ratio:g}"] = spike, ratio
    numbers = by_name({name: measure_shoulder(*case) for name, case in cases.items()})
    shares = numbers["share"].items()
    return {
        **numbers,
        "later": [share for name, share in shares if "population" in name],
        "limited": [share for name, share in shares if "n/d = 0.5" in name],
    }
