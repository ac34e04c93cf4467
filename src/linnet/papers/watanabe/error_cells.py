"""Cells of networks trained on fewer samples than inputs: where each ends, and its error on new data."""

from __future__ import annotations

import numpy as np

from linnet.randomness import generator
from linnet.trainers.interpolation import interpolating_network


def cells(
    points: dict[str, np.ndarray],
    seeds: np.ndarray,
    *,
    dim: int,
    width: int,
    scale: float,
    loss: float,
    tolerance: float,
    dtype: str,
    spike: float | None = None,
    alignment: float | None = None,
) -> dict[str, np.ndarray]:
    """One block of networks, each on its own data from its own Gaussian start.

    `points` has `ratio`, the inputs per sample, and `spike` and `alignment` unless they are fixed. `error` is
    2 test_loss/E[y^2], `loss` the training loss over its start, `distance` that from the minimum-norm solution.
    """
    rows = []
    for i, seed in enumerate(seeds):
        rho = float(points["spike"][i] if spike is None else spike)
        cosine = float(points["alignment"][i] if alignment is None else alignment)
        samples = round(dim / float(points["ratio"][i]))
        rows.append(train(int(seed), dim, samples, width, rho, cosine, scale, loss, tolerance, dtype))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def train(
    seed: int,
    dim: int,
    samples: int,
    width: int,
    spike: float,
    alignment: float,
    scale: float,
    loss: float,
    tolerance: float,
    dtype: str,
) -> dict[str, float]:
    """Draws data, trains one network on them to the relative training `loss`, and measures its test error."""
    inputs = generator(seed, 0).standard_normal((samples, dim), dtype=np.dtype(dtype).type)
    inputs[:, 0] *= np.sqrt(1 + spike)
    target = np.zeros(dim, dtype=inputs.dtype)
    target[:2] = alignment, np.sqrt(1 - alignment**2)
    run = interpolating_network(
        inputs,
        inputs @ target,
        key=seed,
        width=width,
        first_std=scale / np.sqrt(dim),
        second_std=scale / np.sqrt(width),
        loss=loss,
        tolerance=tolerance,
        dtype=dtype,
    )
    miss = run.product.astype(np.float64) - target
    return {
        "error": float(miss @ miss + spike * miss[0] ** 2) / (1 + spike * alignment**2),
        "loss": run.loss,
        "time": run.time,
        "steps": float(run.steps),
        "distance": float(np.linalg.norm(run.product.astype(np.float64) - run.min_norm)),
    }
