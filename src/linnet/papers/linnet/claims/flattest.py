"""Under label noise networks tend to the flattest interpolator, and at which rates they forget the start."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet.reproduction import Above, AllOf, Estimate, Limit, Numbers, Trial, Within, claim

INPUTS, WIDTH, RATE, NETWORKS = 5, 60, 0.02, 10
MANY, DELTA, LONG = 40, 0.6, 30_000
SKEWED = (2.0, 1.0, 0.5, 0.25)
ERRORS = Limit(4.5, "standard errors: one in 150 000 draws of a normal number lies beyond")


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
            errors=ERRORS,
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
    reads="singular values of the first layers of {networks} networks over {steps} steps with label noise",
)
def flattest_interpolator(trial: Trial) -> Numbers:
    steps = 20_000 if trial.quick else 60_000
    keys = [[trial.seed, 31, network] for network in range(MANY)]
    problems = [ln.problems.orthogonal_regression(key=key, in_dim=INPUTS) for key in keys]
    starts = [ln.inits.orthogonal(key=key, in_dim=INPUTS, out_dim=1, width=WIDTH, scale=1.0) for key in keys]
    run = ln.label_noise_descent(
        ln.Problem.stack(problems),
        ln.Weights(*(np.array([getattr(start, layer) for start in starts]) for layer in ("first", "second"))),
        learning_rate=RATE,
        steps=steps,
        noise_std=np.sqrt(INPUTS),
        key=[trial.seed, 31],
        save_every=steps // 100,
    )
    values = np.linalg.svd(run.reduced.first, compute_uv=False)  # (time, network, value)
    late = np.log(values[50, :, 1:INPUTS] / values[-1, :, 1:INPUTS]).mean(1) / (RATE * steps / 2)
    rates = partial(ln.theories.label_noise.decay_rates, learning_rate=RATE, noise_std=1.0, order=2)
    predicted = [rates(problem).mean() for problem in problems]
    flattest = [np.sqrt(np.sqrt(INPUTS) * np.linalg.norm(problem.min_norm_solution())) for problem in problems]
    ratio, leading = (Estimate.of_mean(late / of) for of in (np.array(predicted), RATE / 2))
    return {
        "value": ratio.value,
        "uncertainty": ratio.error,
        "seen": abs(leading.value - 1) / leading.error,
        "largest": float((values[60:, :, 0] / flattest).mean()),
        "networks": MANY,
        "steps": steps,
    }


@claim(
    "label-noise-rates",
    says="Under label noise the small singular values fall at rates that follow from the covariance of the inputs and "
    "the number of outputs: (k eta delta^2/2) times the least eigenvalues of Sigma + (tr Sigma/k) Pi, with Pi the "
    "projector onto the rows of A Sigma^(1/2).",
    assumes="a covariance of full rank, a solution of rank k, eta delta^2 small against the square of the least "
    "singular value of the second layer",
    tried="4 inputs: one output at eigenvalues 2, 1, 1/2, 1/4; two outputs there and whitened; eta = 0.02, "
    f"delta = 0.6; {NETWORKS} networks each, second half of {LONG:,} steps (full: twice as long)",
    holds=AllOf(
        Within(
            0.05,
            of=1,
            errors=ERRORS,
            what="mean rate over the predicted mean",
            form=".3f",
            because="the second order, about 2 eta delta^2/s, s the second layer's least squared singular value",
        ),
        Within(
            0.15,
            "each",
            of=1,
            errors=ERRORS,
            what="each rate over its prediction",
            form=".2f",
            because="rates of different directions mix until the singular values lie apart",
        ),
        Above(
            1.5,
            "apart",
            what="predicted rates of one output, largest over smallest",
            form=".1f",
            because="rates that were all alike would not show the covariance",
        ),
    ),
    reads="rates of {networks} networks in each of {cases} cases",
)
def label_noise_rates(trial: Trial) -> Numbers:
    steps = LONG if trial.quick else 2 * LONG
    means, each, apart = {}, {}, np.nan
    for outputs, eigenvalues in ((1, SKEWED), (2, SKEWED), (2, (1.0,) * 4)):
        problem = _skewed_problem(outputs, eigenvalues, key=[trial.seed, 32, outputs])
        rates = _late_rates(problem, steps, key=[trial.seed, 33, outputs])
        predicted = ln.theories.label_noise.decay_rates(problem, learning_rate=RATE, noise_std=DELTA)
        name = f"{outputs} output(s), eigenvalues {eigenvalues[0]:g} to {eigenvalues[-1]:g}"
        means[name] = Estimate.of_mean(rates.mean(1) / predicted.mean())
        for mode, ratios in enumerate((rates / predicted).T):
            each[f"{name}, value {outputs + mode + 1}"] = Estimate.of_mean(ratios)
        if outputs == 1:
            apart = float(predicted[-1] / predicted[0])
    return {"value": means, "each": each, "apart": apart, "networks": NETWORKS, "cases": len(means)}


def _skewed_problem(outputs: int, eigenvalues: tuple[float, ...], *, key: list[int]) -> ln.Problem:
    """As many samples as inputs, a covariance with these eigenvalues, a solution of equal singular values whose squares
    add up to 2d: so the second layer has no small one."""
    random, d = np.random.default_rng(key), len(eigenvalues)
    left, right = (np.linalg.qr(random.normal(size=(d, d)))[0] for _ in range(2))
    X = np.sqrt(d) * left @ (right * np.sqrt(eigenvalues) @ right.T)
    solution = np.linalg.qr(random.normal(size=(d, outputs)))[0].T
    return ln.Problem.from_data(X, X @ solution.T * np.sqrt(2 * d / outputs))


def _late_rates(problem: ln.Problem, steps: int, *, key: list[int]) -> np.ndarray:
    """Rates of the small singular values of W1 over the second half of the run (network, value)."""
    d, k = problem.in_dim, problem.out_dim
    start = ln.inits.orthogonal(key=key, in_dim=d, out_dim=k, width=2 * d, scale=1.0)
    run = ln.label_noise_descent(
        problem,
        ln.Weights(*(np.repeat(layer[None], NETWORKS, 0) for layer in (start.first, start.second))),
        learning_rate=RATE,
        steps=steps,
        noise_std=DELTA * np.sqrt(d),
        key=key,
        save_every=steps // 2,
    )
    _, half, end = np.log(np.linalg.svd(run.reduced.first, compute_uv=False))
    return (half - end)[:, k:d] / (RATE * steps / 2)
