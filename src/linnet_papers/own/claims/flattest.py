"""Under label noise networks of one output tend to the flattest interpolator, and at which rate."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.own.settings import NORMAL_ERRORS
from linnet_papers.reproduction import Above, AllOf, Estimate, Numbers, Trial, Within, claim

INPUTS, WIDTH, RATE, NETWORKS = 5, 60, 0.02, 40


@claim(
    "flattest",
    says="Under label noise on whitened data with one output the small singular values fall at the rate "
    "(eta delta^2/2) (1 + eta s/2 - c eta delta^2/s), s = |beta|/sqrt(d), c = (d - 1)(d + 3)/(2d + 4), and the largest "
    "tends to that of the flattest interpolator, (sqrt(d) |beta|)^(1/2).",
    assumes="whitened data, one output, small step",
    tried=f"{INPUTS} inputs, {WIDTH} hidden units, orthogonal start of scale 1, step {RATE}, delta = 1",
    holds=AllOf(
        Within(
            0.01,
            of=1,
            errors=NORMAL_ERRORS,
            what="late rate of the small singular values over the predicted one",
            form=".4f",
            because="the third order in eta delta^2/s, a tenth of the second, which is 4% here",
        ),
        Above(
            3,
            "seen",
            what="standard errors between the rate and eta delta^2/2",
            form=".0f",
            because="a correction that is not seen is not confirmed",
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
    reads=f"singular values of the first layers of {NETWORKS} networks over {{steps}} steps with label noise",
)
def flattest_interpolator(trial: Trial) -> Numbers:
    steps = 20_000 if trial.quick else 60_000
    keys = [[trial.seed, 31, network] for network in range(NETWORKS)]
    problems = [ln.problems.orthogonal_regression(key=key, in_dim=INPUTS) for key in keys]
    run = ln.label_noise_descent(
        ln.Problem.stack(problems),
        ln.Weights.stack(
            ln.inits.orthogonal(key=key, in_dim=INPUTS, out_dim=1, width=WIDTH, scale=1.0) for key in keys
        ),
        learning_rate=RATE,
        steps=steps,
        noise_std=np.sqrt(INPUTS),
        key=[trial.seed, 31],
        save_every=steps // 100,
    )
    values = np.linalg.svd(run.reduced.first, compute_uv=False)  # (time, network, value)
    late = np.log(values[50, :, 1:INPUTS] / values[-1, :, 1:INPUTS]).mean(1) / (RATE * steps / 2)
    rates = partial(ln.theories.label_noise.decay_rates, learning_rate=RATE, noise_std=1.0, order=2)
    ratio = Estimate.of_mean(late / [rates(problem).mean() for problem in problems])
    flattest = [np.sqrt(np.sqrt(INPUTS) * np.linalg.norm(problem.min_norm_solution())) for problem in problems]
    return {
        "value": ratio.value,
        "uncertainty": ratio.error,
        "seen": abs(Estimate.of_mean(late / (RATE / 2)).errors_above(1)),
        "largest": (values[60:, :, 0] / flattest).mean(),
        "steps": steps,
    }
