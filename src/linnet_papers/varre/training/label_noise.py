"""Descent with noisy labels and with mini-batches, and the stochastic equation of the former: what is trained."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

import linnet as ln
from linnet_papers.reproduction.cells import Block, cell_by_cell
from linnet_papers.varre.settings import NOISY_INPUTS, WIDTH


def noisy_problem(seed: int, replicate: int) -> ln.Problem:
    """Draw the data of one replicate: orthogonal inputs, one output."""
    return ln.problems.orthogonal_regression(key=[seed, replicate], in_dim=NOISY_INPUTS)


@cell_by_cell
def noisy_cells(key: int, *, delta: float, rate: float, replicate: int, time: float, seed: int) -> Block:
    """Train a network on the data and from the initialization of its replicate, with label noise of its own.

    `start_values`, `half_values` and `end_values` are the singular values of the first layer before, halfway and after,
    `loss` that of the clean labels at the end.
    """
    run = ln.label_noise_descent(
        noisy_problem(seed, replicate),
        ln.inits.orthogonal(key=[seed, replicate], in_dim=NOISY_INPUTS, out_dim=1, width=WIDTH, scale=1.0),
        learning_rate=rate,
        steps=round(time / rate),
        noise_std=delta * np.sqrt(NOISY_INPUTS),
        key=key,
        save_every=round(time / rate / 2),
    )
    values = zip(("start", "half", "end"), np.linalg.svd(run.reduced.first, compute_uv=False), strict=True)
    return {**{f"{name}_values": ("value", own) for name, own in values}, "loss": run.loss[-1], "time": time}


def mean_log_after_descent(
    problem: ln.Problem, weights: ln.Weights, *, rate: float, time: float, noise: float, paths: int, key: list[int]
) -> np.ndarray:
    """Return the mean of ln of the singular values of W1 but the largest, of those that the data reach, after
    label-noise descent (path,).

    `noise` is s of the equation's noise s dB on the canonical clock: labels divided by sqrt(n), as the paper has them,
    get noise of standard deviation s/sqrt(rate).
    """
    many = ln.Weights.stack([weights] * paths)
    steps = round(time / rate)
    std = noise * np.sqrt(np.asarray(problem.inputs).shape[0] / rate)
    run = ln.label_noise_descent(
        problem, many, learning_rate=rate, steps=steps, noise_std=std, key=key, save_every=ln.trajectories.last()
    )
    return _mean_log_small_values(run.reduced.first[-1], problem.in_dim)


def mean_log_by_equation(
    problem: ln.Problem, weights: ln.Weights, *, step: float, time: float, noise: float, paths: int, key: list[int]
) -> np.ndarray:
    """Return the same mean after the stochastic equation, by Euler-Maruyama with steps far below those of the
    descent."""
    run = ln.noise_sde(problem, weights, times=[time], step=step, key=key, paths=paths, noise_std=noise)
    return _mean_log_small_values(run.reduced.first[-1], problem.in_dim)


def _mean_log_small_values(first: np.ndarray, inputs: int) -> np.ndarray:
    """Return the mean logarithm of the singular values but the largest, of those that the data reach."""
    # together, as each on its own has a corner where two of them meet, which schemes of first order see
    return np.log(np.linalg.svd(first, compute_uv=False)[..., 1:inputs]).mean(axis=-1)


class MinibatchRun(NamedTuple):
    """What descent with batches of one sample leaves of the small singular values of W1 (network, value): of those at
    first (`left`), and of those at half of the time (`late`); and the mean loss of the networks at the end."""

    left: np.ndarray
    late: np.ndarray
    loss: float


@cache
def minibatch_run(seed: int, *, samples: int, noise: float, networks: int, rate: float, time: float) -> MinibatchRun:
    """Train networks with batches of one of `samples` samples of 5 whitened inputs, one output, from the large start
    gamma = 1; labels carry noise of that standard deviation, which is drawn once."""
    problems, starts = [], []
    for network in range(networks):
        random = np.random.default_rng([seed, network, 5])
        inputs = np.sqrt(samples) * np.linalg.qr(random.standard_normal((samples, NOISY_INPUTS)))[0]
        truth = random.standard_normal((NOISY_INPUTS, 1))
        labels = inputs @ (truth / np.linalg.norm(truth)) + noise * random.standard_normal((samples, 1))
        problems.append(ln.Problem.from_data(inputs, labels))
        shape: dict[str, int] = {"in_dim": NOISY_INPUTS, "out_dim": 1, "width": WIDTH}
        starts.append(ln.inits.orthogonal(key=[seed, network], scale=1.0, **shape))
    run = ln.stochastic_descent(
        ln.Problem.stack(problems),
        ln.Weights.stack(starts),
        learning_rate=rate,
        steps=2 * round(time / rate / 2),
        batch_size=1,
        key=[seed, 5],
        save_every=round(time / rate / 2),
    )
    start, half, end = np.linalg.svd(run.reduced.first, compute_uv=False)[..., 1:NOISY_INPUTS]
    return MinibatchRun(end / start, end / half, float(run.loss[-1].mean()))


def late_shares_by_start(seed: int, *, networks: int, rate: float, time: float) -> dict[str, np.ndarray]:
    """Return what label noise of delta = 1 leaves of the small singular values of W1 from time/2 to `time`, by the
    start (network, value).

    One output and 5 whitened inputs at width 200, as in figure 1b: orthogonal starts of three scales, Gaussian layers
    of standard deviation 0.1, and Gaussian ones with a second layer of ten times the first.
    """
    shape = {"in_dim": NOISY_INPUTS, "out_dim": 1, "width": WIDTH}
    keys = [[seed, network, 6] for network in range(networks)]
    problems = [ln.problems.orthogonal_regression(key=key, in_dim=NOISY_INPUTS) for key in keys]
    starts: dict[str, list[ln.Weights]] = {
        f"orthogonal, gamma = {scale:g}": [ln.inits.orthogonal(key=key, scale=scale, **shape) for key in keys]
        for scale in (0.01, 1.0, 10.0)
    }
    for name, first, second in (("Gaussian, std 0.1", 0.1, 0.1), ("second layer ten times the first", 0.02, 0.2)):
        starts[name] = [ln.inits.gaussian(key=key, stds=(first, second), **shape) for key in keys]
    run = ln.label_noise_descent(
        ln.Problem.stack([problem for _ in starts for problem in problems]),
        ln.Weights.stack([start for group in starts.values() for start in group]),
        learning_rate=rate,
        steps=round(time / rate),
        noise_std=np.sqrt(NOISY_INPUTS),
        key=[seed, 6],
        save_every=round(time / rate / 2),
    )
    values = np.linalg.svd(run.reduced.first, compute_uv=False)[1:, :, 1:NOISY_INPUTS]  # halfway and at the end
    return dict(zip(starts, (values[1] / values[0]).reshape(len(starts), networks, -1), strict=True))


def sizes_under_noise(seed: int, *, noise: float, times: tuple[float, ...], paths: int, drift: bool) -> np.ndarray:
    """Return |W1| by the stochastic equation at each time, three inputs and one output, with the drift or of noise
    alone, from the orthogonal initialization gamma = 1 (time, path)."""
    problem = ln.problems.orthogonal_regression(key=[seed, 7], in_dim=3)
    start = ln.inits.orthogonal(key=[seed, 7], in_dim=3, out_dim=1, width=3, scale=1.0)
    run = ln.noise_sde(
        problem if drift else None, start, times=times, step=0.05, key=[seed, 7], paths=paths, noise_std=noise
    )
    return np.linalg.norm(run.reduced.first, axis=(-1, -2))
