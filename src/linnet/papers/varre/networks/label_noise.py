"""Descent with noisy labels and with mini-batches, and the stochastic equation of the former: what is trained."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.settings import NOISY_INPUTS, WIDTH


def noisy_cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, rate: float, steps: int, seed: int
) -> dict[str, Any]:
    """Networks one after the other, each on the data and from the start of its replicate, with noise of its own.

    `start_values` and `end_values` are the singular values of the first layer before and after, `loss` that of the
    clean labels at the end.
    """
    values, losses = [], []
    for delta, replicate, key in zip(points["delta"], points["replicate"].tolist(), seeds.tolist(), strict=True):
        problem = ln.problems.orthogonal_regression(key=[seed, replicate], in_dim=NOISY_INPUTS)
        weights = ln.inits.orthogonal(key=[seed, replicate], in_dim=NOISY_INPUTS, out_dim=1, width=WIDTH, scale=1.0)
        run = ln.label_noise_descent(
            problem,
            weights,
            learning_rate=rate,
            steps=steps,
            noise_std=float(delta) * np.sqrt(NOISY_INPUTS),
            key=key,
            save_every=ln.trajectories.last(),
        )
        values.append(np.linalg.svd(run.reduced.first, compute_uv=False))
        losses.append(run.loss[-1])
    start, end = np.moveaxis(np.array(values), 1, 0)
    return {
        "start_values": (("value",), start),
        "end_values": (("value",), end),
        "loss": np.array(losses),
        "time": np.full(len(seeds), rate * steps),
    }


def small_after_descent(
    problem: ln.Problem, start: ln.Weights, *, rate: float, time: float, noise: float, paths: int, key: list[int]
) -> np.ndarray:
    """Mean of ln of the singular values of W1 but the largest, of those that the data reach, after label-noise descent
    (path,).

    `noise` is s of the equation's noise s dB on the canonical clock: labels divided by sqrt(n), as the paper has them,
    get noise of standard deviation s/sqrt(rate).
    """
    many = ln.Weights(np.repeat(start.first[None], paths, 0), np.repeat(start.second[None], paths, 0))
    steps = round(time / rate)
    std = noise * np.sqrt(np.asarray(problem.inputs).shape[0] / rate)
    run = ln.label_noise_descent(
        problem, many, learning_rate=rate, steps=steps, noise_std=std, key=key, save_every=ln.trajectories.last()
    )
    return _small(run.reduced.first[-1], problem.in_dim)


def small_by_equation(
    problem: ln.Problem, start: ln.Weights, *, step: float, time: float, noise: float, paths: int, key: list[int]
) -> np.ndarray:
    """The same after the stochastic equation, by Euler-Maruyama with steps far below those of the descent."""
    run = ln.noise_sde(problem, start, times=[time], step=step, key=key, paths=paths, noise_std=noise)
    return _small(run.reduced.first[-1], problem.in_dim)


def _small(first: np.ndarray, inputs: int) -> np.ndarray:
    # together, as each on its own has a corner where two of them meet, which schemes of first order see
    return np.log(np.linalg.svd(first, compute_uv=False)[..., 1:inputs]).mean(axis=-1)


def minibatch_shares(seed: int, *, noisy: bool, networks: int, rate: float, steps: int) -> np.ndarray:
    """What is left of the small singular values of W1 after descent with batches of one sample (network, value).

    20 samples of 5 whitened inputs, one output, from the large start gamma = 1; the labels can be fitted, or (`noisy`)
    carry noise of unit variance, which is drawn once.
    """
    samples, found = 4 * NOISY_INPUTS, []
    for network in range(networks):
        random = np.random.default_rng([seed, network, 5])
        inputs = np.sqrt(samples) * np.linalg.qr(random.standard_normal((samples, NOISY_INPUTS)))[0]
        truth = random.standard_normal((NOISY_INPUTS, 1))
        labels = inputs @ (truth / np.linalg.norm(truth)) + noisy * random.standard_normal((samples, 1))
        problem = ln.Problem.from_data(inputs, labels)
        start = ln.inits.orthogonal(key=[seed, network], in_dim=NOISY_INPUTS, out_dim=1, width=WIDTH, scale=1.0)
        run = ln.stochastic_descent(
            problem,
            start,
            learning_rate=rate,
            steps=steps,
            batch_size=1,
            key=[seed, network],
            save_every=ln.trajectories.last(),
        )
        ends = np.linalg.svd(run.reduced.first, compute_uv=False)
        found.append(ends[-1, 1:NOISY_INPUTS] / ends[0, 1:NOISY_INPUTS])
    return np.array(found)
