"""Descent with label noise: what it does to small singular values, its stochastic equation, and mini-batches."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import Dataset, by_name
from linnet_papers.reproduction.fits import exponent, highest, lowest
from linnet_papers.reproduction.rows import Estimate, above, below, both, corrected, fact, printed, within
from linnet_papers.varre.grids import label_noise
from linnet_papers.varre.settings import ERRORS, NOISY_INPUTS, NOISY_RATE
from linnet_papers.varre.training import label_noise as networks
from linnet_papers.varre.training import noise_process

LEFT = below(0.5, r"what decays loses half at least: a fraction of $\exp(-2)$ is predicted to be left")
NOISE = 0.3  # of the equation
TIME = 4.0  # up to which it is followed
STEPS = (0.08, 0.04, 0.02)  # of the descents that approach it
FINE = 8  # the equation's own step is that many times finer than the least step


KEPT = above(0.99, "descent without noise does not touch these values: 1% is far above its rounding")
RATE = partial(
    within, 0.02, r"second orders of $\eta$ and of $\eta \delta^2$, up to 0.08 squared, a few times over", errors=ERRORS
)


@claim(
    "label-noise-decays",
    says="From a large initialization, descent decays the small singular values with label noise, and not without it.",
    assumes="one output, whitened data",
    tried=r"$n = d = 5$, width 200, $\gamma = 1$, $\delta = 0$, 0.5 and 1 at the steps 0.02 and 0.08, 10 seeds each",
)
def decays(trial: Trial) -> Rows:
    rows = label_noise.networks(trial)

    def late_rate(delta: float, rate: float, networks: Dataset) -> dict[str, Any]:
        """Return the rate in the second half of the time over eta delta^2/2, measured and to second order."""
        half = float(networks["time"].max()) / 2
        each = np.log(networks["late"].values).mean(axis=1) / np.log(label_noise.predicted_decay(delta, rate, half))
        leading, second = label_noise.predicted_rates(trial.seed, rate, delta)
        known = np.isfinite(second)
        formula = second[known].mean() / leading[known].mean()
        return {"rates": Estimate.of_mean(each[known]), "formula": formula, "out": (~known).sum()}

    noisy = {place: networks for place, networks in rows.items() if place[0] > 0}
    numbers = by_name({rf"$\delta = {d:g}$, $\eta = {r:g}$": late_rate(d, r, cell) for (d, r), cell in noisy.items()})
    left = highest(networks["left"].max() for networks in noisy.values())
    yield printed("largest fraction of a small singular value left with label noise", left, LEFT)
    plain = lowest(networks["left"].min() for (delta, _), networks in rows.items() if delta == 0)
    yield printed("smallest fraction of a small singular value left without label noise", plain, KEPT)
    late = r"late rate over $\eta \delta^2/2$, compared with the second-order formula (ours)"
    yield printed(late, numbers["rates"], RATE(of=list(numbers["formula"].values())))
    yield fact("late rate by the second-order formula", numbers["formula"])
    yield fact("data sets left out of it, too weak for either formula", sum(numbers["out"].values()))


DECAYED = below(
    0.5,
    r"$\exp(-1) = 0.37$ is left on average; single values of networks with small labels leave up to 0.7",
    errors=ERRORS,
)


@claim(
    "noise-any-start",
    says="The noise carries the spectral bias for any initialization: it relaxes the role of the initialization.",
    assumes="one output, whitened data, label noise",
    tried=r"$n = d = 5$, width 200, $\delta = 1$, step 0.02: orthogonal initializations of scale 0.01, 1 and 10, "
    "Gaussian layers of std 0.1, a second layer of ten times the first; 10 networks each, from $t = 100$ to 200",
)
def any_start(trial: Trial) -> Rows:
    left = networks.late_shares_by_start(trial.seed, networks=10, rate=NOISY_RATE, time=200.0)
    means = {name: Estimate.of_mean(shares.mean(axis=1)) for name, shares in left.items()}
    fraction = r"mean fraction of the small singular values left, where $e^{-1} = 0.37$ is predicted"
    yield printed(fraction, means, DECAYED)
    yield fact("largest fraction of a single value left", highest(shares.max() for shares in left.values()))


STILL = within(0.1, "paths fluctuate by a tenth to a half, the more the smaller the target", of=0, errors=ERRORS)
BOUNDED = below(3.0, "the largest value of the flattest solution and fluctuations of half of it")
UNBOUNDED = above(
    3.0, r"noise alone grows at $0.142 \delta^2$ for three inputs: by 10 from $t = 100$ to 400, within 3 of it"
)


@claim(
    "drift-bounds",
    says="The drift terms prevent the weights from growing unbounded.",
    assumes="one output, whitened data, the stochastic equation",
    tried=r"$d = 3$, noise 0.5, $\gamma = 1$, $t = 100$, 200 and 400, 100 paths, with the drift and of noise alone",
)
def drift_bounds(trial: Trial) -> Rows:
    bound, alone = (
        networks.sizes_under_noise(trial.seed, noise=0.5, times=(100.0, 200.0, 400.0), paths=100, drift=drift)
        for drift in (True, False)
    )
    with_drift, without = (np.median(sizes, axis=1) for sizes in (bound, alone))
    mean = r"mean growth of $\ln \lvert W_1 \rvert$ from $t = 100$ to 400 with the drift"
    largest = r"largest $\lvert W_1 \rvert$ of all paths and times over that of the initialization"
    median = r"growth of $\ln$ of the median $\lvert W_1 \rvert$ from $t = 100$ to 400 without the drift"
    yield printed(mean, Estimate.of_mean(np.log(bound[-1] / bound[0])), STILL)
    yield printed(largest, bound.max() / np.sqrt(6.0), BOUNDED)
    yield printed(median, np.log(without[-1] / without[0]), UNBOUNDED)
    yield fact(r"median $\lvert W_1 \rvert$ at $t = 100$, 200 and 400 with the drift", with_drift)
    yield fact(r"median $\lvert W_1 \rvert$ at $t = 100$, 200 and 400 without the drift", without)


FIRST_ORDER = within(
    0.1, r"the drift is of first order in $1/\delta^2$; its square, a few percent at 64, is extrapolated away", of=-1
)
SMALL = below(
    0.05, r"what the diffusion dominates changes by less than a twentieth of its logarithm's own scatter of one"
)


@claim(
    "large-noise",
    says="In the regime of large noise the diffusion dominates: with its scale in the clock the process is (4.1).",
    assumes="one output, whitened data, $W_1 = I$, $a = 0$",
    tried=r"the same noise with and without the drift, 300 paths; powers from $\delta^2$ to $16 \delta^2$; at late "
    r"times $d = 3$, $\delta^2 = 1024$",
    correction=r"it is at any fixed $\delta^2 t$ as $\delta$ grows; at every $\delta$ the drift takes over at a "
    r"$\delta^2 t$ of some $\ln \delta^2$, so that (4.1) has no limit of late times in common with descent",
    region={
        "noise": Range(64, 1024, log=True),
        "time": Range(0.1, 1.0, log=True),
        "inputs": Range(2, 10, whole=True),
        "target": Range(0.3, 3.0, log=True),
    },
)
def large_noise(trial: Trial) -> Rows:
    def effects(strengths: tuple[float, ...], times: tuple[float, ...], inputs: int, target: float) -> np.ndarray:
        """Return by how much the drift changes ln |W1|, a median for each strength, and last the scatter of ln |W1|
        without it, (strength, time)."""
        draw = ln.problems.orthogonal_regression(key=[trial.seed, 8], in_dim=inputs)
        problem = ln.Problem.from_target(target * draw.min_norm_solution())
        alone, *others = noise_process.log_norms_with_drift(
            problem, trial.seed, strengths=(float("inf"), *strengths), times=times, paths=300
        )
        return np.array([*np.median(np.abs(np.array(others) - alone), axis=-1), np.std(alone, axis=-1, ddof=1)])

    def first_order(noise: float, time: float, inputs: int, target: float) -> dict[str, float]:
        """Return the power of the noise with which the effect falls, and the effect carried to 1024."""
        noises = (noise, 4 * noise, 16 * noise)
        *sizes, _ = effects(noises, (time,), inputs, target)[:, 0]
        near, far = (exponent(noises[i : i + 2], sizes[i : i + 2])[0] for i in (0, 1))
        # the second order is four times smaller far away
        return {"power": far + (far - near) / 3, "effect": sizes[0] * noise / 1024}

    found = by_name({label: first_order(**setting) for label, setting in trial.region(4).items()})
    times = (1.0, 20.0, 40.0)
    late, scatter = effects((1024.0,), times, 3, 1.0)
    by_time = {rf"$\delta^2 t = {time:g}$": effect for time, effect in zip(times, late, strict=True)}
    yield printed(r"median effect of the drift on $\ln \lvert W_1 \rvert$ at $\delta^2 = 1024$", by_time, SMALL)
    power = r"power of $\delta^2$ with which the effect falls from one noise to 4 and 16 times it"
    yield corrected(power, found["power"], FIRST_ORDER)
    yield corrected(r"median effect of the drift, carried to $\delta^2 = 1024$", found["effect"], SMALL)
    yield fact(r"standard deviation of $\ln \lvert W_1 \rvert$ over the paths at $\delta^2 t = 40$", scatter[-1])


SEEN = above(6, "a difference of six standard errors at the largest step can be seen to vanish")
AT_ZERO = within(ERRORS, "one in 150 000 draws of a normal number lies beyond so many standard errors", of=0)
VANISHES = below(0.75, "first order leaves a quarter; twice the standard errors of the ratio are added")
WRONG = above(10, "with the other scale of the noise the equation has another distribution: no heavy tail hides it")


@claim(
    "noise-equation",
    says=r"Descent with label noise follows a stochastic equation, with noise of scale $\eta \delta$ "
    r"if time counts steps: they have one distribution as $\eta$ tends to 0.",
    assumes="small steps",
    tried=r"$n = d = 3$, $\gamma = 1$, $\sqrt{\eta} \delta = 0.3$, $\eta = 0.08$, 0.04, 0.02; the "
    "equation in steps of 0.0025",
)
def equation(trial: Trial) -> Rows:
    """One equation, and descents of falling step whose label noise s/sqrt(eta) has it for a limit.

    The equation is integrated with steps far finer than any of the descents, so its scheme is not their recursion.
    """
    paths = 600 if trial.quick else 8000
    problem = ln.problems.orthogonal_regression(key=trial.seed, in_dim=3)
    start = ln.inits.orthogonal(key=trial.seed, in_dim=3, out_dim=1, width=20, scale=1.0)
    by_equation = partial(networks.mean_log_by_equation, problem, start, step=STEPS[-1] / FINE, time=TIME, paths=paths)
    by_descent = partial(networks.mean_log_after_descent, problem, start, noise=NOISE, time=TIME, paths=paths)
    scales = (NOISE, NOISE * np.sqrt(STEPS[-1]))  # and eta delta in place of sqrt(eta) delta
    limit, wrong = (Estimate.of_mean(by_equation(noise=s, key=[trial.seed, i])) for i, s in enumerate(scales))
    means = [Estimate.of_mean(by_descent(rate=rate, key=[trial.seed, 2 + i])) for i, rate in enumerate(STEPS)]
    gaps = [mean.minus(limit) for mean in means]
    # to step zero by all three; the equation's own first-order error, 1/FINE of theirs, is taken out too
    weights = np.array([1.0, -6.0, 8.0]) / 3 + np.array([0.0, 1.0, -1.0]) / FINE
    extrapolated = float(weights @ [mean.value for mean in means]) - limit.value
    error = float(np.linalg.norm([*(weights * [mean.error for mean in means]), limit.error]))
    seen, away = (abs(one.errors_above(0)) for one in (gaps[0], means[-1].minus(wrong)))
    smaller = abs(gaps[-1].value / gaps[0].value)
    by_step = {rf"$\eta = {rate:g}$": gap for rate, gap in zip(STEPS, gaps, strict=True)}
    yield printed(r"difference of descent and equation at $\eta = 0.08$, in standard errors", seen, SEEN)
    yield printed(r"that difference at $\eta = 0.02$ over the one at $\eta = 0.08$", smaller, VANISHES)
    yield printed(r"that difference extrapolated to $\eta = 0$, in standard errors", extrapolated / error, AT_ZERO)
    other = r"distance from the equation with noise $\eta \delta$ in canonical time, in standard errors"
    yield printed(other, away, WRONG)
    yield fact(r"mean of $\ln$ of the small singular values at $t = 4$, descent minus equation", by_step)
    yield fact(r"the same extrapolated to $\eta = 0$", Estimate(extrapolated, error))


GROWS_WITH_THE_STEP = below(-1e-3, "a step that did nothing would leave the same fraction")
ENDED = within(1e-6, "once the labels are fitted, batches of one sample have the gradient of all, which is zero", of=1)
GOES_ON = above(
    0.25,
    r"to leading order it is 1, as label noise of that power decays them; second orders of the noise take up to half",
)


@claim(
    "minibatch",
    says="The noise of stochastic gradient descent itself biases the hidden layer towards low rank: "
    "small singular values decay.",
    assumes="large initialization, batches of one sample",
    tried=r"$d = 5$, $k = 1$, width 200, $\gamma = 1$, $\lvert \beta \rvert = 1$, 4 networks (10 in full mode): "
    r"$n = 5$ as in the paper (labels can be fitted, as for every $d \ge n$) at the steps 0.02 and 0.15 (0.2 is "
    "unstable) to $t = 600$; $n = 20$ with noisy labels, which cannot be fitted; the region to $t = 160$",
    correction=r"where labels can be fitted, as for every $d \ge n$, the noise ends with the loss and what "
    "it does grows with the step; where they cannot it goes on",
    region={"rate": Range(0.003, 0.03, log=True), "noise": Range(0.2, 2.0, log=True)},
)
def minibatch(trial: Trial) -> Rows:
    run = partial(networks.minibatch_run, trial.seed, networks=4 if trial.quick else 10)
    paper = {rate: run(samples=NOISY_INPUTS, noise=0.0, rate=rate, time=600.0).left for rate in (NOISY_RATE, 0.15)}
    noisy = run(samples=4 * NOISY_INPUTS, noise=1.0, rate=NOISY_RATE, time=600.0).left

    def late(rate: float, noise: float) -> dict[str, float]:
        """Return the fraction that the second half of the time leaves where labels can be fitted, and where they cannot
        its decay over step, loss and time."""
        fitted = run(samples=NOISY_INPUTS, noise=0.0, rate=rate, time=160.0)
        not_fitted = run(samples=4 * NOISY_INPUTS, noise=noise, rate=rate, time=160.0)
        decay = -np.log(np.median(not_fitted.late)) / (rate * not_fitted.loss * 80.0)
        return {"left": float(fitted.late.min()), "decay": float(decay)}

    found = by_name({label: late(**setting) for label, setting in trial.region(1).items()})
    by_step = {rf"$\eta = {rate:g}$": np.median(left) for rate, left in paper.items()}
    change = "change of that fraction in the paper's setting, from one step to the next larger one"
    decays = r"rate of decay from $t = 80$ to 160 where they cannot, over $\eta$ and the loss"
    yield printed("median fraction left in the paper's setting", by_step, LEFT)
    yield both("median fraction left where labels cannot be fitted", np.median(noisy), LEFT)
    yield corrected(change, np.diff(list(by_step.values())), GROWS_WITH_THE_STEP)
    yield corrected("smallest fraction left from $t = 80$ to 160 where labels can be fitted", found["left"], ENDED)
    yield corrected(decays, found["decay"], GOES_ON)
    yield fact("largest fraction left where labels cannot be fitted", noisy.max())
