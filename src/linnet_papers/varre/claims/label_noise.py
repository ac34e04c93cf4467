"""Descent with label noise: what it does to small singular values, its stochastic equation, and mini-batches."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Above, AllOf, Below, Estimate, Falls, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.datasets import Dataset, by_name
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.varre.settings import ERRORS, NOISY_INPUTS, NOISY_RATE
from linnet_papers.varre.tables import label_noise
from linnet_papers.varre.training import label_noise as networks
from linnet_papers.varre.training import noise_process
from linnet_papers.varre.training.noise_process import mean_of_paths

LEFT = Limit(0.5, "share of a small singular value that may be left where it is said to decay; exp(-2) is predicted")
NOISE = 0.3  # of the equation
TIME = 4.0  # up to which it is followed
STEPS = (0.08, 0.04, 0.02)  # of the descents that approach it
FINE = 8  # the equation's own step is that many times finer than the least step


KEPT = Limit(0.99, "share that descent without noise must keep of what it does not touch")
RATE = Limit(0.02, "second orders of eta and of eta delta^2, up to 0.08 squared, a few times over")


@claim(
    "label-noise-decays",
    says="From a large start, descent with label noise decays the small singular values, and descent does not.",
    assumes="one output, whitened data",
    tried="n = d = 5, width 200, gamma = 1, delta = 0, 0.5 and 1 at the steps 0.02 and 0.08, 10 seeds each",
    holds=AllOf(
        Below(LEFT, what="largest share left with label noise"),
        Above(KEPT, "plain", what="least share left without", form=".6f"),
        Within(RATE, "rates", of="formula", errors=ERRORS, what="late rate over eta delta^2/2", form=".3f"),
    ),
    reads="late rate of the small singular values over eta delta^2/2: {rates:.3f}; to second order (ours, "
    "theories.label_noise) it is {formula:.3f}; data sets left out of it, too weak for any such law: {out}",
)
def decays(trial: Trial) -> Numbers:
    rows = label_noise.TABLE.rows(trial)

    def late_rate(delta: float, rate: float, networks: Dataset) -> Numbers:
        """Return the rate in the second half of the time over eta delta^2/2, measured and to second order."""
        half = float(networks["time"].max()) / 2
        each = np.log(networks["late"].values).mean(axis=1) / np.log(label_noise.predicted_decay(delta, rate, half))
        leading, second = label_noise.predicted_rates(trial.seed, rate, delta)
        known = np.isfinite(second)
        formula = second[known].mean() / leading[known].mean()
        return {"rates": Estimate.of_mean(each[known]), "formula": formula, "out": (~known).sum()}

    noisy = {place: networks for place, networks in rows.items() if place[0] > 0}
    numbers = by_name({f"delta = {d:g}, eta = {r:g}": late_rate(d, r, cell) for (d, r), cell in noisy.items()})
    return {
        "value": highest(networks["left"].max() for networks in noisy.values()),
        "plain": lowest(networks["left"].min() for (delta, _), networks in rows.items() if delta == 0),
        **numbers,
        "out": sum(numbers["out"].values()),
    }


DECAYED = Limit(0.5, "exp(-1) = 0.37 is left on average; single values of networks with small labels leave up to 0.7")


@claim(
    "noise-any-start",
    says="The noise carries the spectral bias for any initialization: it relaxes the role of the start.",
    assumes="one output, whitened data, label noise",
    tried="n = d = 5, width 200, delta = 1, step 0.02: orthogonal starts of scale 0.01, 1 and 10, Gaussian layers of "
    "std 0.1, a second layer of ten times the first; 10 networks each, from t = 100 to 200",
    holds=Below(DECAYED, "left", errors=ERRORS, what="mean share left of the small singular values", form=".3f"),
    reads="mean share left from t = 100 to 200, where exp(-1) = 0.37: {left:.3f}; the largest of a single value is "
    "{largest:.2f}",
)
def any_start(trial: Trial) -> Numbers:
    left = networks.late_shares_by_start(trial.seed, networks=10, rate=NOISY_RATE, time=200.0)
    return {  # a mean for each network first, as its values share their noise
        "left": {name: Estimate.of_mean(shares.mean(axis=1)) for name, shares in left.items()},
        "largest": highest(shares.max() for shares in left.values()),
    }


STILL = Limit(0.1, "no trend: paths fluctuate by a tenth to a half, the more the smaller the target")
BOUNDED = Limit(3.0, "the largest value of the flattest solution and fluctuations of half of it")
UNBOUNDED = Limit(3.0, "noise alone grows at 0.142 delta^2 for three inputs: by 10 from t = 100 to 400, within 3 of it")


@claim(
    "drift-bounds",
    says="The drift terms prevent the weights from growing unbounded.",
    assumes="one output, whitened data, the stochastic equation",
    tried="d = 3, noise 0.5, gamma = 1, t = 100, 200 and 400, 100 paths, with the drift and of noise alone",
    holds=AllOf(
        Within(
            STILL, of=0, errors=ERRORS, what="mean growth of ln|W1| from t = 100 to 400 with the drift", form="+.3f"
        ),
        Below(BOUNDED, "largest", what="largest |W1| of all paths and times over its start", form=".2f"),
        Above(UNBOUNDED, "alone", what="growth of the median without the drift", form="+.1f"),
    ),
    reads="medians of |W1| at t = 100, 200 and 400: {with_drift:.2f} with the drift, {without:.2g} without",
)
def drift_bounds(trial: Trial) -> Numbers:
    bound, alone = (
        networks.sizes_under_noise(trial.seed, noise=0.5, times=(100.0, 200.0, 400.0), paths=100, drift=drift)
        for drift in (True, False)
    )
    with_drift, without = (np.median(sizes, axis=1) for sizes in (bound, alone))
    return {
        "value": Estimate.of_mean(np.log(bound[-1] / bound[0])),
        "largest": bound.max() / np.sqrt(6.0),  # three singular values of sqrt(2) at the start
        "alone": np.log(without[-1] / without[0]),
        "with_drift": with_drift,
        "without": without,
    }


FIRST_ORDER = Limit(0.1, "the drift is of first order in 1/delta^2; its square is a few percent at 64")
SMALL = Limit(5e-3, "a thousandth of a drift of about one, over a time of one")


@claim(
    "large-noise",
    says="In the regime of large noise the diffusion dominates: with its scale in the clock the process is (4.1).",
    assumes="one output, whitened data",
    tried="d = 3, delta^2 = 64, 256 and 1024, the same noise with and without the drift, to delta^2 t = 1, 500 paths",
    holds=AllOf(
        Within(FIRST_ORDER, of=-1, what="power of delta^2 with which the drift's effect on ln|W1| falls", form=".3f"),
        Below(SMALL, "last", what="median effect at the largest noise", form=".1e"),
    ),
    reads="median effect of the drift on ln|W1|, by delta^2: {effects:.1e}",
)
def large_noise(trial: Trial) -> Numbers:
    problem = ln.problems.orthogonal_regression(key=[trial.seed, 8], in_dim=3)
    strengths = (64.0, 256.0, 1024.0)
    alone, *with_drift = noise_process.log_norms_with_drift(
        problem, trial.seed, strengths=(float("inf"), *strengths), time=1.0, paths=500
    )
    effects = [np.median(np.abs(one - alone)) for one in with_drift]
    slope, _ = exponent(strengths, effects)
    return {"value": slope, "last": effects[-1], "effects": dict(zip(strengths, effects, strict=True))}


SEEN = Limit(6, "a difference must be seen to be seen to vanish")
VANISHES = Limit(0.75, "a quarter for first order, and standard errors")
WRONG = Limit(10, "the equation must differ visibly with the other scale")


@claim(
    "noise-equation",
    says="Descent with label noise follows a stochastic equation, with noise of scale eta delta if time counts steps: "
    "they have one law as eta tends to 0.",
    assumes="small steps",
    tried="n = d = 3, gamma = 1, sqrt(eta) delta = 0.3, eta = 0.08, 0.04, 0.02; the equation in steps of 0.0025",
    holds=AllOf(
        Above(SEEN, "seen", what="difference at the largest eta in standard errors", form=".0f"),
        Below(VANISHES, "remaining", what="difference at the least eta over that at the largest", form=".2f"),
        Within(ERRORS, of=0, what="difference extrapolated to eta = 0 in standard errors", form="+.1f"),
        Above(
            WRONG, "wrong", what="standard errors from the equation with eta delta on the canonical clock", form=".0f"
        ),
    ),
    reads="mean of ln of the small singular values at t = 4, {paths} paths each, descent minus equation: {gaps:+.4f}; "
    "extrapolated to eta = 0 {extrapolated:+.4f} ± {error:.4f}",
)
def equation(trial: Trial) -> Numbers:
    """One equation, and descents of falling step whose label noise s/sqrt(eta) has it for a limit.

    The equation is integrated with steps far finer than any of the descents, so its scheme is not their recursion.
    """
    paths = 600 if trial.quick else 8000
    problem = ln.problems.orthogonal_regression(key=trial.seed, in_dim=3)
    start = ln.inits.orthogonal(key=trial.seed, in_dim=3, out_dim=1, width=20, scale=1.0)
    by_equation = partial(networks.mean_log_by_equation, problem, start, step=STEPS[-1] / FINE, time=TIME, paths=paths)
    by_descent = partial(networks.mean_log_after_descent, problem, start, noise=NOISE, time=TIME, paths=paths)
    scales = (NOISE, NOISE * np.sqrt(STEPS[-1]))  # and eta delta in place of sqrt(eta) delta
    limit, wrong = (mean_of_paths(by_equation(noise=s, key=[trial.seed, i])) for i, s in enumerate(scales))
    means = [mean_of_paths(by_descent(rate=rate, key=[trial.seed, 2 + i])) for i, rate in enumerate(STEPS)]
    gaps = [mean.minus(limit) for mean in means]
    # to step zero by all three; the equation's own first-order error, 1/FINE of theirs, is taken out too
    weights = np.array([1.0, -6.0, 8.0]) / 3 + np.array([0.0, 1.0, -1.0]) / FINE
    extrapolated = float(weights @ [mean.value for mean in means]) - limit.value
    error = float(np.linalg.norm([*(weights * [mean.error for mean in means]), limit.error]))
    return {
        "value": extrapolated / error,
        "gaps": {f"eta = {rate:g}": gap for rate, gap in zip(STEPS, gaps, strict=True)},
        "seen": abs(gaps[0].errors_above(0)),
        "remaining": abs(gaps[-1].value / gaps[0].value),
        "extrapolated": extrapolated,
        "error": error,
        "wrong": abs(means[-1].minus(wrong).errors_above(0)),
        "paths": paths,
    }


AT_ALL = Limit(1e-3, "a step that did nothing would leave the same share")


@claim(
    "minibatch",
    says="The noise of stochastic gradient descent itself biases the hidden layer towards low rank: small singular "
    "values decay.",
    assumes="large start, batches of one sample",
    tried="d = 5, k = 1, width 200, gamma = 1, 10 networks (4 if quick), to t = 600: n = 5 as in the paper (labels "
    "can be fitted, as for every d >= n) at the steps 0.02, 0.1 and 0.15 (0.2 is unstable); n = 20 with labels that "
    "cannot be fitted at 0.02",
    holds=AllOf(
        Below(LEFT, "by_step", what="share left in the paper's setting", form=".3f"),
        Below(LEFT, what="share left where labels cannot be fitted"),
    ),
    corrected=AllOf(
        Falls(AT_ALL, "by_step", what="share left in the paper's setting", form=".4f"),
        Below(LEFT, what="share left where labels cannot be fitted"),
    ),
    correction="where labels can be fitted, as for every d >= n, the noise ends with the loss and what it does grows "
    "with the step; where they cannot it goes on",
    reads="median of the small singular values at t = 600 over the start, by step: {by_step:.4f}; the largest is "
    "{worst:.2g} where the labels cannot be fitted",
)
def minibatch(trial: Trial) -> Numbers:
    shares = partial(networks.minibatch_shares, trial.seed, networks=4 if trial.quick else 10, time=600.0)
    fitted = {rate: shares(samples=NOISY_INPUTS, noisy=False, rate=rate) for rate in (0.02, 0.1, 0.15)}
    noisy = shares(samples=4 * NOISY_INPUTS, noisy=True, rate=NOISY_RATE)
    return {
        "value": np.median(noisy),
        "worst": noisy.max(),
        "by_step": {f"eta = {rate:g}": np.median(left) for rate, left in fitted.items()},
    }
