"""Under label noise networks of one output tend to the flattest interpolator, and at which rate."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.own.settings import NORMAL_ERRORS
from linnet_papers.reproduction import Estimate, Rows, Trial, above, claim, fact, printed, within

INPUTS, WIDTH, RATE, NETWORKS = 5, 60, 0.02, 40
SECOND_ORDER = within(
    0.01, r"the third order in $\eta \delta^2/s$, a tenth of the second, which is 4% here", of=1, errors=NORMAL_ERRORS
)
SEEN = above(3, "three standard errors: a correction that is not seen is not confirmed")
LARGEST = within(0.05, "the noise itself moves the largest value by about one percent around its mean", of=1)


@claim(
    "flattest",
    says="Under label noise on whitened data with one output the small singular values fall at the rate "
    r"$(\eta \delta^2/2) (1 + \eta s/2 - c \eta \delta^2/s)$, $s = \lvert \beta \rvert/\sqrt{d}$, "
    "$c = (d - 1)(d + 3)/(2d + 4)$, and the largest tends to that of the flattest interpolator, "
    r"$(\sqrt{d} \lvert \beta \rvert)^{1/2}$.",
    assumes="whitened data, one output, small step",
    tried=rf"{NETWORKS} networks of {INPUTS} inputs, {WIDTH} hidden units, orthogonal initialization of scale 1, step "
    rf"{RATE}, $\delta = 1$",
)
def flattest_interpolator(trial: Trial) -> Rows:
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
    yield printed("late rate of the small singular values over the predicted one", ratio, SECOND_ORDER)
    beyond = abs(Estimate.of_mean(late / (RATE / 2)).errors_above(1))
    yield printed(r"standard errors between the rate and $\eta \delta^2/2$", beyond, SEEN)
    largest = (values[60:, :, 0] / flattest).mean()
    yield printed("largest singular value over the flattest interpolator's", largest, LARGEST)
    yield fact("number of steps", steps)
