"""Under label noise a network with one output tends to the flattest interpolator, and at which rate."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.reproduction import AllOf, Numbers, Trial, Within, claim

INPUTS, WIDTH, RATE, NETWORKS = 5, 60, 0.02, 10


@claim(
    "flattest",
    where="an argument from the trace of the Hessian",
    says="Under label noise on whitened data with one output the small singular values fall like exp(-eta delta^2 t/2) "
    "and the largest tends to that of the flattest interpolator, (sqrt(d) |beta|)^(1/2).",
    assumes="whitened data, one output, small step",
    tried=f"{INPUTS} inputs, {WIDTH} hidden units, orthogonal start of scale 1, step {RATE}, delta = 1",
    holds=AllOf(
        Within(
            0.12,
            of=1,
            what="median rate of the small singular values, over eta delta^2/2,",
            form=".3f",
            because="the argument neglects terms of the order of the step, a few percent at this one, and 10 networks",
        ),
        Within(
            0.05,
            "largest",
            of=1,
            what="largest singular value, over the flattest interpolator's,",
            form=".3f",
            because="the noise itself moves the largest value by about one percent around its mean",
        ),
    ),
    reads="singular values of the first layers of {networks} networks over {steps} steps with label noise",
)
def flattest_interpolator(trial: Trial) -> Numbers:
    steps = 10_000 if trial.quick else 30_000
    rates, largest = [], []
    for network in range(NETWORKS):
        key = [trial.seed, 31, network]
        problem = ln.problems.orthogonal_regression(key=key, in_dim=INPUTS)
        run = ln.label_noise_descent(
            problem,
            ln.inits.orthogonal(key=key, in_dim=INPUTS, out_dim=1, width=WIDTH, scale=1.0),
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
