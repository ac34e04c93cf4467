"""One output over time: the test error from one SVD, in the proportional limit, and what the start's scale does."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np

import linnet as ln
from linnet.reproduction import Above, AllOf, AtLeast, Below, Numbers, Trial, Within, claim
from linnet.reproduction.fits import highest, lowest
from linnet.theories.one_output import LearningCurve

WHERE = "docs/open_questions.md"
SPIKES = {(0.0, 0.5), (20.0, 0.3), (20.0, 0.9)}  # with their alignments
SMALL, LARGE = 1e-4, 1e3  # thresholds far on either side of the solution's size


@claim(
    "over-time",
    where=WHERE,
    says="With one output, training and test error over time follow from one SVD, at any scale of the start.",
    assumes="gradient flow; a first layer with equal singular values and a product that starts at zero",
    tried="d = 40, n = 25 and 80, label noise 0.5; spikes 0 and 20, alignments 0.3 to 0.9; thresholds 0.01, 0.3 and 3 "
    "(quick: 0.01 and 3); orthogonal starts, and Gaussian ones ten million units wide",
    holds=AllOf(
        Below(
            1e-6,
            what="largest relative gap in the errors of orthogonal starts",
            form=".1e",
            because="a hundred times the integrator's relative tolerance; the formula is exact",
        ),
        Below(
            0.03,
            "wide",
            what="largest relative gap of a Gaussian start ten million units wide",
            form=".2%",
            because="its product starts at sqrt(d/w) of the threshold and its singular values differ by as much; at "
            " the threshold 3 that is a percent of the least test error",
        ),
    ),
    reads="{runs} networks of each kind, 40 times each",
)
def over_time(trial: Trial) -> Numbers:
    times, exact, wide = np.linspace(0, 6, 40), list[float](), list[float]()
    thresholds = (0.01, 3.0) if trial.quick else (0.01, 0.3, 3.0)
    width = 10**7
    for (spike, alignment), samples, g in itertools.product(sorted(SPIKES), (25, 80), thresholds):
        problem = ln.problems.spiked_covariance(
            40, spike=spike, alignment=alignment, samples=samples, noise_std=0.5, key=[trial.seed, samples]
        )
        curve = ln.theories.one_output.learning_curve(problem, g, times)
        std = np.sqrt(g / width)
        starts = (
            ln.inits.orthogonal(key=trial.seed, in_dim=40, out_dim=1, width=60, scale=g),
            ln.inits.reduced_gaussian(key=trial.seed, in_dim=40, out_dim=1, width=width, first_std=std, second_std=std),
        )
        for start, gaps in zip(starts, (exact, wide), strict=True):
            run = ln.gradient_flow(problem, start, times=times)
            gaps.append(float(np.abs(run.test_loss / curve.test_loss - 1).max()))
            gaps.append(float(np.abs((run.loss - curve.loss) / curve.loss[0]).max()))
    return {"value": highest(exact), "wide": highest(wide), "runs": len(exact) // 2}


@claim(
    "any-spectrum",
    where=WHERE,
    says="Multiple spikes and power laws are no harder: the same formula gives the errors over time, and its limit of "
    "many samples ends at the ridgeless risk.",
    assumes="as over-time",
    tried="d = 40, n = 30: spikes 100 and 10 with the target mostly on the second; eigenvalues i^-1.5 with overlaps "
    "i^-1 and equal ones; thresholds 0.01 and 3",
    holds=AllOf(
        Below(
            1e-6,
            what="largest relative gap in the errors of trained networks",
            form=".1e",
            because="a hundred times the integrator's relative tolerance; the formula is exact",
        ),
        Below(
            1e-4,
            "end",
            what="largest relative gap between the limit at t = 10^9 and the ridgeless risk",
            form=".1e",
            because="two formulas of one number; the slowest mode of a power law is not quite learned at that time",
        ),
    ),
    reads="{runs} networks, 40 times each",
)
def any_spectrum(trial: Trial) -> Numbers:
    index = np.arange(1, 41.0)
    spikes = np.ones(40)
    spikes[:2] = 100.0, 10.0
    mostly = np.full(40, 0.1 / 38)
    mostly[:2] = 0.1, 0.8
    cases = ((spikes, mostly), (index**-1.5, 1 / index), (index**-1.5, np.full(40, 1 / 40)))
    times, gaps, ends = np.linspace(0, 8, 40), [], []
    for (values, overlaps), g in itertools.product(cases, (0.01, 3.0)):
        problem = ln.problems.spectrum(values, overlaps, samples=30, noise_std=0.3, key=trial.seed)
        start = ln.inits.orthogonal(key=trial.seed, in_dim=40, out_dim=1, width=60, scale=g)
        curve = ln.theories.one_output.learning_curve(problem, g, times)
        run = ln.gradient_flow(problem, start, times=times)
        gaps.append(float(np.abs(run.test_loss / curve.test_loss - 1).max()))
        limit = ln.theories.one_output.asymptotic(
            values, overlaps, 30, noise_variance=0.09, threshold=g, times=[0.0, 1e9]
        )
        risk = ln.theories.ridge.risk(values, overlaps, 30, noise_variance=0.09)
        ends.append(abs(2 * np.asarray(limit.test_loss)[-1] / risk - 1))
    return {"value": highest(gaps), "end": highest(ends), "runs": len(gaps)}


@claim(
    "over-time-limit",
    where=WHERE,
    says="Where inputs and samples are many, both errors over time follow without data, from two resolvents.",
    assumes="Gaussian inputs, a target independent of them given its overlaps",
    tried="d/n = 1.5, 1 and 0.5 with n = 120 (full: 240), spike 20 at alignment 0.7, label noise 0.5, thresholds 0.02 "
    "and 2, 16 draws of the data (full: 40), 8 times from 0.05 to 20",
    holds=AllOf(
        Below(
            6,
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
    spike, alignment, noise, times = 20.0, 0.7, 0.25, np.array([0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
    overlaps = [alignment**2, 1 - alignment**2]
    away, control, last = [], [], {}
    for ratio, g in itertools.product((1.5, 1.0, 0.5), (0.02, 2.0)):
        dim = round(ratio * n)
        curves = []
        for draw in range(draws):
            problem = ln.problems.spiked_covariance(
                dim, spike=spike, alignment=alignment, samples=n, noise_std=noise**0.5, key=[trial.seed, dim, draw]
            )
            curve = ln.theories.one_output.learning_curve(problem, g, times)
            curves.append([curve.loss, np.asarray(curve.test_loss)])
        mean, error = np.mean(curves, axis=0), np.std(curves, axis=0, ddof=1) / np.sqrt(draws)
        laws = []
        for factor in (1.0, 2.0):
            law = ln.theories.one_output.asymptotic(
                [1 + spike, 1.0], overlaps, n, multiplicities=[1, dim - 1], noise_variance=noise,
                threshold=factor * g, times=times,
            )  # fmt: skip
            laws.append(np.array([law.loss, law.test_loss]))
        beyond = [np.maximum(np.abs(mean - law) - 3 / n * law, 0) / error for law in laws]
        away.append(float(beyond[0].max()))
        control.append(float(beyond[1].max()))
        last[f"d/n = {ratio:g}, threshold {g:g}"] = float(mean[1, -1] / laws[0][1, -1])
    return {"value": highest(away), "control": lowest(control), "last": last}


@claim(
    "two-phases",
    where=WHERE,
    says="The two phases of paper 1 show in the test error: from a small start it falls to a shoulder, at the share of "
    "the loss that the early phase leaves, and on from there in the later phase; few samples and label noise leave the "
    "shoulder where it is and limit the later phase.",
    assumes="gradient flow from a small start (threshold 1e-6), one strong spike that holds two thirds of the signal",
    tried="spikes 50 and 200 (full: 100 too), alignment (2/spike)^(1/2); population covariance, and in the "
    "proportional limit n/d = 4 and 2, from spike 100 on 1/2 too, noise variance 0.5",
    holds=AllOf(
        Within(
            0.1,
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
    levels, pauses, shares = {}, {}, {}
    for spike in (50.0, 200.0) if trial.quick else (50.0, 100.0, 200.0):
        alignment = (2 / spike) ** 0.5
        left = ln.theories.spiked.TwoPhase(spike, alignment).early_loss
        for ratio in (np.inf, 4.0, 2.0, 0.5)[: 3 if spike < 100 else 4]:
            times = np.linspace(0, 5, 250)
            errors = _small_start(spike, alignment, ratio, times)
            fall = -np.gradient(np.log(errors), times)
            fastest = int(np.argmax(fall[errors > left * errors[0]]))
            shoulder = fastest + int(np.argmax(np.diff(fall[fastest:]) > 0))
            name = f"spike {spike:g}, " + ("population" if np.isinf(ratio) else f"n/d = {ratio:g}")
            levels[name] = float(errors[shoulder] / errors[0] / left)
            pauses[name] = float(fall[shoulder] / fall[fastest])
            shares[name] = float(errors.min() / errors[shoulder])
    return {
        "value": levels,
        "pause": pauses,
        "share": shares,
        "later": highest(share for name, share in shares.items() if "population" in name),
        "limited": lowest(share for name, share in shares.items() if "n/d = 0.5" in name),
    }


def _small_start(spike: float, alignment: float, samples_by_inputs: float, times: np.ndarray) -> np.ndarray:
    """Test error over time from a small start; label noise where there are samples."""
    if np.isinf(samples_by_inputs):
        problem = ln.problems.spiked_covariance(12, spike=spike, alignment=alignment)
        return np.asarray(ln.theories.one_output.learning_curve(problem, 1e-6, times).test_loss)
    dim = 200
    curve = ln.theories.one_output.asymptotic(
        [1 + spike, 1.0], [alignment**2, 1 - alignment**2], round(samples_by_inputs * dim),
        multiplicities=[1, dim - 1], noise_variance=0.5, threshold=1e-6, times=times,
    )  # fmt: skip
    return np.asarray(curve.test_loss)


@claim(
    "start-scale",
    where=WHERE,
    says="With one output the scale of the start hardly changes the least test error at high signal to noise; where "
    "the target lies along a spike in much noise, a small start has the lower one.",
    assumes="gradient flow, stopped at the least test error; proportional limit, and drawn data",
    tried="spikes 0 and 20 at alignment 0.5, signal to noise 25, d/n = 2; spike 20 at alignment 0.9, signal to noise 1 "
    "and 0.2, d/n = 1/2; thresholds 1e-4 and 1e3",
    holds=AllOf(
        Within(
            0.01,
            "high",
            of=1,
            what="least error of a large start over that of a small one, high signal to noise",
            form=".4f",
            because="less than one percent is what 'hardly' means here",
        ),
        Above(
            1.15,
            "noisy",
            what="the same for the aligned spike in noise",
            form=".3f",
            because="a gain that a practitioner would notice: a seventh of the error",
        ),
        Above(
            1.1,
            "drawn",
            what="the same, mean over drawn data sets",
            form=".2f",
            because="what holds in the limit must be seen on data: less than half of the gain may be lost",
        ),
    ),
    reads="misaligned spikes at the same noise: {across:.3f}",
)
def start_scale(trial: Trial) -> Numbers:
    high = {f"spike {spike:g}": limit_ratio(spike, 0.5, 300, 150, 25.0) for spike in (0.0, 20.0)}
    noisy = {f"signal to noise {power:g}": limit_ratio(20.0, 0.9, 100, 200, power) for power in (1.0, 0.2)}
    across = {f"alignment {alignment:g}": limit_ratio(20.0, alignment, 100, 200, 0.2) for alignment in (0.3,)}
    drawn, draws = [], 8 if trial.quick else 40
    for draw in range(draws):
        noise = np.sqrt((1 + 20 * 0.9**2) / 0.2)
        problem = ln.problems.spiked_covariance(
            100, spike=20.0, alignment=0.9, samples=200, noise_std=noise, key=[trial.seed, draw]
        )
        curve = partial(ln.theories.one_output.learning_curve, problem)
        drawn.append(_least(curve, LARGE) / _least(curve, SMALL))
    return {
        "value": lowest(noisy.values()),
        "high": high,
        "noisy": noisy,
        "across": across,
        "drawn": float(np.mean(drawn)),
    }


def _least(curve: Callable[[float, np.ndarray], LearningCurve], threshold: float) -> float:
    """The least test error over time: on a coarse grid, then between the neighbours of its best time."""
    times = np.append(0.0, np.geomspace(1e-4, 200, 90)) / max(1.0, threshold)
    for _ in range(2):
        best = int(np.searchsorted(times, curve(threshold, times).best_time))
        times = np.linspace(times[max(best - 1, 0)], times[min(best + 1, times.size - 1)], 30)
    return curve(threshold, times).best_test


def limit_ratio(spike: float, alignment: float, dim: int, samples: int, signal_to_noise: float) -> float:
    """Least test error of a large start over that of a small one, in the proportional limit."""
    noise = (1 + spike * alignment**2) / signal_to_noise
    model = [1 + spike, 1.0], [alignment**2, 1 - alignment**2], samples

    def curve(threshold: float, times: np.ndarray) -> LearningCurve:
        return ln.theories.one_output.asymptotic(
            *model, multiplicities=[1, dim - 1], noise_variance=noise, threshold=threshold, times=times
        )

    return _least(curve, LARGE) / _least(curve, SMALL)


@claim(
    "layer-scales",
    where=WHERE,
    says="With one output only the sum of the two layers' scales matters, if the product starts at zero; if it does "
    "not, the start's own predictor remains.",
    assumes="gradient flow, a first layer with equal singular values",
    tried="d = 5, n = 8, width 12; first-layer scale p and squared second-layer length m with p + m = 0.8, from all in "
    "the first layer to nearly all in the second; then the second layer turned into the span of the first",
    holds=AllOf(
        Below(
            1e-7,
            what="largest difference between the predictors",
            form=".1e",
            because="a hundred times the relative tolerance of the flow's integrator",
        ),
        Above(
            0.05,
            "turned",
            what="difference once the product does not start at zero",
            form=".2f",
            because="a start of 1/20 of the solution or less could not be told from none",
        ),
        Below(
            0.05,
            "gone",
            what="the same once every error has fallen, relative to its largest",
            form=".2g",
            because="more samples than inputs have one solution, which every start ends in",
        ),
    ),
    reads="predictors of five starts over 30 times",
)
def layer_scales(trial: Trial) -> Numbers:
    random = np.random.default_rng([trial.seed, 11])
    X = random.normal(size=(8, 5)) * np.array([2.0, 1.0, 1.0, 0.7, 0.5])
    problem = ln.Problem.from_data(X, X @ random.normal(size=5))
    times = np.append(np.linspace(0, 6, 29), 400.0)
    paths = [
        ln.gradient_flow(problem, _layered(p, 0.8 - p, 5, 12, key=trial.seed), times=times).products
        for p in (0.8, 0.5, 0.1, 0.01)
    ]
    turned = ln.gradient_flow(problem, _layered(0.5, 0.3, 5, 12, key=trial.seed, turned=True), times=times).products
    gaps = np.abs(turned - paths[1]).max(axis=(1, 2))
    return {
        "value": highest(np.abs(path - paths[0]).max() for path in paths[1:]),
        "turned": float(gaps.max()),
        "gone": float(gaps[-1] / gaps.max()),
    }


@claim(
    "no-shortcut",
    where=WHERE,
    says="At the largest stable constant step no scale of the start reaches a given test error in fewer steps than a "
    "large start, which is plain descent on the predictor: anisotropy is exploited for the error, not for speed.",
    assumes="population covariance with one spike; steps are the flow's time times the largest curvature on the way",
    tried="spikes 5 and 20, alignments 0.1, 0.5 and 0.9 (quick: the ends); test error of 10% and 1% of the "
    "signal's power; thresholds 1e-4 to 3 against 1e3",
    holds=AllOf(
        AtLeast(
            0.97,
            what="fewest steps of any smaller start over those of the large one",
            form=".3f",
            because="curvature and crossing are read off a grid of times, worth up to 3%",
        ),
        Above(
            2,
            "dearest",
            what="steps of the smallest start over those of the large one, at the most",
            form=".1f",
            because="a small start waits on its plateau: where that doubles the steps, anisotropy bought no speed",
        ),
    ),
    reads="steps of the smallest start over those of the large one: at least {smallest:.2f}",
)
def no_shortcut(trial: Trial) -> Numbers:
    cases = itertools.product((5.0, 20.0), (0.1, 0.9) if trial.quick else (0.1, 0.5, 0.9), (0.1, 0.01))
    ratios, smallest = [], []
    for spike, alignment, level in cases:
        problem = ln.problems.spiked_covariance(12, spike=spike, alignment=alignment)
        steps = {g: _steps(problem, g, level) for g in (1e-4, 0.1, 1.0, 3.0, LARGE)}
        plain = steps.pop(LARGE)
        ratios.append(lowest(steps.values()) / plain)
        smallest.append(steps[1e-4] / plain)
    return {"value": lowest(ratios), "smallest": lowest(smallest), "dearest": highest(smallest)}


def _steps(problem: ln.Problem, threshold: float, level: float) -> float:
    """Time to the level times the largest curvature of the loss until then."""
    times = np.append(0.0, np.geomspace(1e-3, 400, 400)) / max(1.0, threshold)
    path = ln.theories.one_output.flow(problem, threshold, times)
    errors = np.asarray(problem.test_loss(path[:, None]))
    end = int(np.argmax(errors < level * errors[0]))
    curvature = 0.0
    for b in path[: end + 1][:: max(1, end // 25)]:
        size = float(np.linalg.norm(b))
        q, along = np.hypot(threshold, size), b / (size or 1.0)
        metric = (q + threshold) * np.eye(b.size) + (q - threshold) * np.outer(along, along)
        curvature = max(curvature, float(np.linalg.eigvals(metric @ problem.cov).real.max()))
    return float(times[end] * curvature)


def _layered(first: float, second: float, dim: int, width: int, *, key: int, turned: bool = False) -> ln.Weights:
    """A first layer of scale `first`, a second of squared length `second`: outside the first's span, or along it."""
    frame, _ = np.linalg.qr(np.random.default_rng([key, 5]).normal(size=(width, dim + 1)))
    direction = frame[:, 0] if turned else frame[:, dim]
    return ln.Weights(np.sqrt(first) * frame[:, :dim], np.sqrt(second) * direction[None])
