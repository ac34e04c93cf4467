"""Descent with label noise: what it does to small singular values, its stochastic equation, and mini-batches."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.networks import label_noise as networks
from linnet.papers.varre.settings import ERRORS, NOISY_RATE
from linnet.papers.varre.tables import label_noise
from linnet.reproduction import Above, AllOf, Below, Estimate, Limit, Numbers, Trial, Verdict, Within, claim

LEFT = Limit(0.5, "share of a small singular value that may be left where it is said to decay; exp(-2) is predicted")
NOISE, TIME, STEPS = 0.3, 4.0, (0.08, 0.04, 0.02)  # of the equation; steps of the descents that approach it
FINE = 8  # the equation's own step is that many times finer than the least step
KEPT = Limit(0.99, "share that descent without noise must keep of what it does not touch")
RATE = Limit(0.1, "40 values fluctuate by about 5%, and eta corrections add 2%")
SEEN = Limit(6, "a difference must be seen to be seen to vanish")
VANISHES = Limit(0.75, "a quarter for first order, and standard errors")
WRONG = Limit(10, "the equation must differ visibly with the other scale")


@claim(
    "label-noise-decays",
    where="Figure 1b, section 4.1",
    says="From a large start, descent with label noise decays the small singular values, and descent does not.",
    assumes="one output, whitened data",
    tried="n = d = 5, width 200, gamma = 1, delta = 1, step 0.02, 10 seeds",
    holds=AllOf(
        Below(LEFT, what="largest share left with label noise"),
        Above(KEPT, "plain", what="least share left without", form=".6f"),
        Within(RATE, "rate", of=1, what="rate of the median over eta delta^2/2 (ours)", form=".3f"),
    ),
    reads="small singular values at the end over the start: median {median:.2g} with label noise, where "
    "exp(-eta delta^2 t/2) = {predicted:.2g}",
)
def decays(trial: Trial) -> Numbers:
    networks = label_noise.TABLE.results(trial)
    noisy, plain = (label_noise.shares(networks, delta) for delta in (1.0, 0.0))
    middle, predicted = float(np.median(noisy)), label_noise.decay(networks, 1.0)
    return {
        "value": float(noisy.max()),
        "median": middle,
        "plain": float(plain.min()),
        "predicted": predicted,
        "rate": float(np.log(middle) / np.log(predicted)),  # of the decay, over eta delta^2/2
    }


@claim(
    "noise-equation",
    where="Appendix D",
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
    common: dict[str, Any] = {"time": TIME, "paths": paths}

    def estimate(values: np.ndarray) -> Estimate:
        return Estimate(float(values.mean()), float(values.std() / np.sqrt(paths)))

    limit, wrong = (
        estimate(
            networks.small_by_equation(
                problem, start, step=STEPS[-1] / FINE, noise=noise, key=[trial.seed, number], **common
            )
        )
        for number, noise in enumerate((NOISE, NOISE * np.sqrt(STEPS[-1])))  # eta delta in place of sqrt(eta) delta
    )
    means = [
        estimate(
            networks.small_after_descent(problem, start, rate=rate, noise=NOISE, key=[trial.seed, 2 + number], **common)
        )
        for number, rate in enumerate(STEPS)
    ]
    gaps = [Estimate(mean.value - limit.value, float(np.hypot(mean.error, limit.error))) for mean in means]
    # to step zero by all three; the equation's own first-order error, 1/FINE of theirs, is taken out too
    weights = np.array([1.0, -6.0, 8.0]) / 3 + np.array([0.0, 1.0, -1.0]) / FINE
    extrapolated = float(weights @ [mean.value for mean in means]) - limit.value
    error = float(np.linalg.norm([*(weights * [mean.error for mean in means]), limit.error]))
    return {
        "value": extrapolated / error,
        "gaps": {f"eta = {rate:g}": gap for rate, gap in zip(STEPS, gaps, strict=True)},
        "seen": abs(gaps[0].value) / gaps[0].error,
        "remaining": abs(gaps[-1].value / gaps[0].value),
        "extrapolated": extrapolated,
        "error": error,
        "wrong": abs(means[-1].value - wrong.value) / float(np.hypot(means[-1].error, wrong.error)),
        "paths": paths,
    }


@claim(
    "minibatch",
    where="after Proposition 4.1",
    says="The noise of stochastic gradient descent itself biases the hidden layer towards low rank: small singular "
    "values decay.",
    assumes="large start; with the correction: labels that cannot be fitted, so that the noise does not end",
    tried="batches of one of 20 samples, d = 5, k = 1, width 200, gamma = 1, step 0.02, 10 networks (4 if quick)",
    holds=AllOf(
        Below(LEFT, "fitted", what="share left where the labels can be fitted"),
        Below(LEFT, what="share left where they cannot"),
    ),
    corrected=Below(LEFT, what="share left where they cannot be fitted"),
    correction="labels that cannot be fitted: where they can, the noise ends with the loss",
    expected=Verdict.CORRECTED,
    reads="small singular values at t = {time:g} over the start, median; the largest is {worst:.2g} where the labels "
    "cannot be fitted",
)
def minibatch(trial: Trial) -> Numbers:
    steps = 30_000 if trial.quick else 60_000
    options: dict[str, Any] = {"networks": 4 if trial.quick else 10, "rate": NOISY_RATE, "steps": steps}
    fitted, noisy = (networks.minibatch_shares(trial.seed, noisy=noisy, **options) for noisy in (False, True))
    return {
        "value": float(np.median(noisy)),
        "worst": float(noisy.max()),
        "fitted": float(np.median(fitted)),
        "time": steps * NOISY_RATE,
    }
