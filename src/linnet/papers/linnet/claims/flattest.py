"""Under label noise a network with one output tends to the flattest interpolator, and at which rate."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim

RATE_ERROR = Limit(
    0.12, "the argument neglects terms of the order of the step, a few percent at this one, and 10 networks"
)
LARGEST_ERROR = Limit(0.05, "the noise itself moves the largest value by about one percent around its mean")
INPUTS, WIDTH, RATE, NETWORKS = 5, 60, 0.02, 10


def measure(trial: Trial) -> Numbers:
    """Singular values of the first layer after training with label noise of unit scale, over those at the start."""
    steps = 10_000 if trial.quick else 30_000
    rates, largest = [], []
    for network in range(NETWORKS):
        key = [trial.seed, 31, network]
        problem = ln.problems.orthogonal_regression(key, in_dim=INPUTS)
        run = ln.label_noise_descent(
            problem,
            ln.inits.orthogonal(key, in_dim=INPUTS, out_dim=1, width=WIDTH, scale=1.0),
            learning_rate=RATE,
            steps=steps,
            noise_std=np.sqrt(INPUTS),
            key=network + 1000 * trial.seed,
            save_every=steps // 100,
        )
        values = np.linalg.svd(run.reduced.first, compute_uv=False)
        rates.append(-np.log(values[-1, 1:] / values[0, 1:]) / (RATE * RATE * steps / 2))
        flattest = np.sqrt(np.sqrt(INPUTS) * np.linalg.norm(problem.min_norm_solution()))
        largest.append(values[60:, 0].mean() / flattest)
    return {"value": float(np.median(rates)), "largest": float(np.mean(largest)), "networks": NETWORKS, "steps": steps}


def judge(numbers: Numbers) -> Verdict:
    """The median rate, and the late mean of the largest value."""
    close = abs(numbers["value"] - 1) < RATE_ERROR and abs(numbers["largest"] - 1) < LARGEST_ERROR
    return Verdict.HOLDS if close else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """Both ratios."""
    return (
        f"small singular values fall at {numbers['value']:.3f} of the rate eta delta^2/2 in the median (limit "
        f"{RATE_ERROR:.0%}); the largest is {numbers['largest']:.3f} of the flattest interpolator's (limit "
        f"{LARGEST_ERROR:.0%}), {numbers['networks']} networks"
    )


FLATTEST = Claim(
    name="flattest",
    number="an argument from the trace of the Hessian",
    sentence=(
        "Under label noise on whitened data with one output the small singular values fall like exp(-eta delta^2 t/2), "
        "and the largest tends to that of the flattest interpolator, (sqrt(d) |beta|)^(1/2)."
    ),
    assumptions="whitened data, one output, small step",
    setting=f"{INPUTS} inputs, {WIDTH} hidden units, orthogonal start of scale 1, step {RATE}, delta = 1",
    claimed="these rates and this limit",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"rate": RATE_ERROR, "largest value": LARGEST_ERROR},
)
