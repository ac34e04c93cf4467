"""Descent with label noise: what it does to small singular values, its stochastic equation, and mini-batches."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.claims.dynamics import corrected
from linnet.papers.varre.networks import label_noise as networks
from linnet.papers.varre.settings import NOISY_RATE
from linnet.papers.varre.tables.label_noise import LABEL_NOISE, NETWORKS, decay, shares
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim

LEFT = Limit(0.5, "share of a small singular value that may be left where it is said to decay; exp(-2) is predicted")
KEPT = Limit(0.99, "share that descent without noise must keep of what it does not touch")
RATE = Limit(0.1, "deviation of the median's rate: 40 values fluctuate by about 5%, and eta corrections add 2%")
ERRORS = Limit(4.5, "standard errors: one in 150 000 draws of a normal number lies beyond")
WRONG = Limit(10.0, "standard errors by which the equation must differ with the scale eta delta on the canonical clock")
VANISHES = Limit(0.75, "difference at the least rate over that at the largest, a quarter for first order; with errors")
SEEN = Limit(6.0, "standard errors of the difference at the largest rate: it must be seen to be seen to vanish")

NOISE, TIME, RATES = 0.3, 4.0, (0.08, 0.04, 0.02)  # of the equation; rates of the descents that approach it
FINE = 8  # the equation's own step is that many times finer than the least rate


def measure_label_noise(trial: Trial) -> dict[str, Any]:
    found = LABEL_NOISE.results(trial)
    noisy, plain = shares(found, 1.0), shares(found, 0.0)
    middle, predicted = float(np.median(noisy)), decay(found, 1.0)
    return {
        "value": float(noisy.max()),
        "median": middle,
        "plain": float(plain.min()),
        "predicted": predicted,
        "rate": float(np.log(middle) / np.log(predicted)),  # of the decay, over eta delta^2/2
    }


def judge_label_noise(numbers: Numbers) -> Verdict:
    holds = numbers["value"] < LEFT and numbers["plain"] > KEPT and abs(numbers["rate"] - 1) < RATE
    return Verdict.HOLDS if holds else Verdict.REFUTED


def tell_label_noise(numbers: Numbers) -> str:
    return (
        f"small singular values at the end over the start, {NETWORKS} seeds, gamma = 1: {numbers['median']:.2g} (worst "
        f"{numbers['value']:.2g}) with label noise, {numbers['plain']:.6f} with descent; exp(-eta delta^2 t/2) = "
        f"{numbers['predicted']:.2g}, the median's rate is {numbers['rate']:.3f} of that (limit {RATE:.0%})"
    )


def measure_equation(trial: Trial) -> dict[str, Any]:
    """One equation, and descents of falling rate whose label noise s/sqrt(eta) has it for a limit.

    The equation is integrated with steps far finer than any of the descents, so its scheme is not their recursion.
    """
    paths = 600 if trial.quick else 8000
    problem = ln.problems.orthogonal_regression(trial.seed, in_dim=3)
    start = ln.inits.orthogonal(trial.seed, in_dim=3, out_dim=1, width=20, scale=1.0)
    fixed: dict[str, Any] = {"time": TIME, "paths": paths}
    step = RATES[-1] / FINE
    limit = networks.small_by_equation(problem, start, step=step, noise=NOISE, key=[trial.seed, 0], **fixed)
    wrong = networks.small_by_equation(
        problem, start, step=step, noise=NOISE * np.sqrt(RATES[-1]), key=[trial.seed, 1], **fixed
    )  # eta delta in place of sqrt(eta) delta
    means, errors = [], []
    for number, rate in enumerate(RATES):
        descent = networks.small_after_descent(
            problem, start, rate=rate, noise=NOISE, key=[trial.seed, 2 + number], **fixed
        )
        means.append(float(descent.mean()))
        errors.append(float(descent.std() / np.sqrt(paths)))
    base, base_error = float(limit.mean()), float(limit.std() / np.sqrt(paths))
    gaps = [mean - base for mean in means]
    gap_errors = [float(np.hypot(error, base_error)) for error in errors]
    # to rate zero by all three rates; the equation's own first-order error, 1/FINE of theirs, is taken out too
    weights = np.array([1.0, -6.0, 8.0]) / 3 + np.array([0.0, 1.0, -1.0]) / FINE
    extrapolated = float(weights @ means) - base
    error = float(np.linalg.norm([*(weights * errors), base_error]))
    wrong_error = float(np.hypot(errors[-1], wrong.std() / np.sqrt(paths)))
    return {
        "value": extrapolated / error,
        "uncertainty": 1.0,
        "gaps": gaps,
        "gap_errors": gap_errors,
        "extrapolated": extrapolated,
        "error": error,
        "wrong": abs(means[-1] - float(wrong.mean())) / wrong_error,
        "paths": paths,
    }


def judge_equation(numbers: Numbers) -> Verdict:
    gaps, errors = numbers["gaps"], numbers["gap_errors"]
    seen = abs(gaps[0]) > SEEN * errors[0]
    vanishes = abs(gaps[-1]) < VANISHES * abs(gaps[0]) and abs(numbers["value"]) < ERRORS
    return Verdict.HOLDS if seen and vanishes and numbers["wrong"] > WRONG else Verdict.REFUTED


def tell_equation(numbers: Numbers) -> str:
    words = ", ".join(
        f"{gap:+.4f} ± {error:.4f} at eta = {rate:g}"
        for rate, gap, error in zip(RATES, numbers["gaps"], numbers["gap_errors"], strict=True)
    )
    return (
        f"mean of ln of the small singular values at t = {TIME:g}, {numbers['paths']} paths each, descent minus "
        f"equation (of step {RATES[-1] / FINE:g}): {words}; extrapolated to eta = 0 {numbers['extrapolated']:+.4f} ± "
        f"{numbers['error']:.4f}; with eta delta on the canonical clock {numbers['wrong']:.0f} standard errors apart"
    )


def measure_minibatch(trial: Trial) -> dict[str, Any]:
    steps = 30_000 if trial.quick else 60_000
    options: dict[str, Any] = {"networks": 4 if trial.quick else 10, "rate": NOISY_RATE, "steps": steps}
    fitted = networks.minibatch_shares(trial.seed, noisy=False, **options)
    noisy = networks.minibatch_shares(trial.seed, noisy=True, **options)
    return {
        "value": float(np.median(noisy)),
        "worst": float(noisy.max()),
        "fitted": float(np.median(fitted)),
        "time": steps * NOISY_RATE,
    }


def judge_minibatch(numbers: Numbers) -> Verdict:
    return corrected(highest(numbers["fitted"], numbers["value"]) < LEFT, numbers["value"] < LEFT)


def tell_minibatch(numbers: Numbers) -> str:
    return (
        f"small singular values at t = {numbers['time']:g} over the start, batches of one of 20 samples, gamma = 1: "
        f"{numbers['value']:.2g} (worst {numbers['worst']:.2g}) where the labels cannot be fitted, "
        f"{numbers['fitted']:.2g} where they can and the noise ends with the loss"
    )


CLAIMS = [
    Claim(
        name="label-noise-decays",
        number="Figure 1b, section 4.1",
        sentence="From a large start, descent with label noise decays the small singular values, and descent does not.",
        assumptions="one output, whitened data",
        setting="n = d = 5, width 200, gamma = 1, delta = 1, step 0.02, 10 seeds",
        claimed="decay (ours: as exp(-eta delta^2 t/2), the median's rate within 10%)",
        expected=Verdict.HOLDS,
        measure=measure_label_noise,
        judge=judge_label_noise,
        tell=tell_label_noise,
        limits={"left with noise": LEFT, "kept without": KEPT, "rate": RATE},
    ),
    Claim(
        name="noise-equation",
        number="Appendix D",
        sentence="Descent with label noise follows a stochastic equation, with noise of scale eta delta if time "
        "counts steps.",
        assumptions="small steps",
        setting="n = d = 3, gamma = 1, sqrt(eta) delta = 0.3, eta = 0.08, 0.04, 0.02; the equation in steps of 0.0025",
        claimed="the same law as eta tends to 0",
        expected=Verdict.HOLDS,
        measure=measure_equation,
        judge=judge_equation,
        tell=tell_equation,
        limits={"seen": SEEN, "vanishes": VANISHES, "extrapolated": ERRORS, "wrong scale": WRONG},
    ),
    Claim(
        name="minibatch",
        number="after Proposition 4.1",
        sentence="The noise of stochastic gradient descent itself biases the hidden layer towards low rank.",
        assumptions="large start; with the correction: labels that cannot be fitted, so that the noise does not end",
        setting="batches of one of 20 samples, d = 5, k = 1, width 200, gamma = 1, step 0.02, 10 networks (4 if quick)",
        claimed="small singular values decay",
        expected=Verdict.CORRECTED,
        measure=measure_minibatch,
        judge=judge_minibatch,
        tell=tell_minibatch,
        limits={"left": LEFT},
    ),
]
