"""Varre et al., descent with label noise: what it does to small singular values, and its stochastic equation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

INPUTS, WIDTH, RATE, NETWORKS = 5, 200, 0.02, 10


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, rate: float, steps: int, seed: int) -> dict[str, Any]:
    """Networks one after the other, each on the data and from the start of its replicate, with noise of its own.

    `start_values` and `end_values` are the singular values of the first layer before and after, `loss` that of the
    clean labels at the end.
    """
    values, losses = [], []
    for delta, replicate, key in zip(points["delta"], points["replicate"].tolist(), seeds.tolist(), strict=True):
        problem = ln.problems.orthogonal_regression([seed, replicate], in_dim=INPUTS)
        weights = ln.inits.orthogonal([seed, replicate], in_dim=INPUTS, out_dim=1, width=WIDTH, scale=1.0)
        run = ln.label_noise_descent(
            problem,
            weights,
            learning_rate=rate,
            steps=steps,
            noise_std=float(delta) * np.sqrt(INPUTS),
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


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Networks with label noise and without, the same data and starts for both."""
    return ln.sweeps.Sweep(
        name="varre-label-noise",
        function=cells,
        axes={"delta": [0.0, 1.0], "replicate": list(range(NETWORKS))},
        seed=trial.seed,
        fixed={"rate": RATE, "steps": 10_000 if trial.quick else 40_000, "seed": trial.seed},
        block=NETWORKS,
        apart=["delta"],
    )


def shares(networks: xr.Dataset, delta: float) -> np.ndarray:
    """Small singular values at the end over the start (replicate, value)."""
    chosen = networks.sel(delta=delta).isel(value=slice(1, None))
    return (chosen["end_values"] / chosen["start_values"]).transpose("replicate", "value").values


def decay(networks: xr.Dataset, delta: float) -> float:
    """The predicted share exp(-eta delta^2 t/2)."""
    return float(np.exp(-RATE * delta**2 * float(networks["time"].isel(delta=0, replicate=0)) / 2))


def columns(networks: xr.Dataset) -> Columns:
    """What is left of the small singular values."""
    deltas = networks["delta"].values.tolist()
    found = {delta: shares(networks, delta) for delta in deltas}
    return {
        "label noise delta": [f"{delta:g}" for delta in deltas],
        "networks": [str(len(found[delta])) for delta in deltas],
        "training time": [f"{float(networks['time'].sel(delta=delta)[0]):g}" for delta in deltas],
        "largest final loss": [f"{networks['loss'].sel(delta=delta).values.max():.0e}" for delta in deltas],
        "small values, end / start: median": [f"{np.median(found[delta]):.2g}" for delta in deltas],
        "smallest": [f"{found[delta].min():.2g}" for delta in deltas],
        "largest": [f"{found[delta].max():.2g}" for delta in deltas],
        "exp(-eta delta^2 t/2)": [f"{decay(networks, delta):.2g}" for delta in deltas],
    }


def measure_label_noise(trial: Trial) -> Measurement:
    networks = TABLES[0].results(trial)
    noisy, plain = shares(networks, 1.0), shares(networks, 0.0)
    middle, predicted = float(np.median(noisy)), decay(networks, 1.0)
    rate = float(np.log(middle) / np.log(predicted))  # of the decay, over eta delta^2/2
    holds = noisy.max() < 0.5 and plain.min() > 0.99 and abs(rate - 1) < 0.1
    verdict = Verdict.HOLDS if holds else Verdict.REFUTED
    text = (
        f"small singular values at the end over the start, {NETWORKS} seeds, gamma = 1: {middle:.2g} (worst "
        f"{noisy.max():.2g}) with label noise, {plain.min():.6f} with descent; exp(-eta delta^2 t/2) = "
        f"{predicted:.2g}, "
        f"the median's rate is {rate:.3f} of that (limit 10%)"
    )
    return Measurement(verdict, text, float(noisy.max()))


def measure_equation(trial: Trial) -> Measurement:
    """Label-noise descent against the equation with drift, at the scale of Appendix D carried to the canonical
    clock."""
    number = 2000 if trial.quick else 20_000
    problem = ln.problems.orthogonal_regression(trial.seed, in_dim=3)
    start = ln.inits.orthogonal(trial.seed, in_dim=3, out_dim=1, width=20, scale=1.0)
    rate, steps, delta = 0.02, 500, 2.0
    many = ln.Weights(np.repeat(start.first[None], number, 0), np.repeat(start.second[None], number, 0))
    descent = ln.label_noise_descent(
        problem, many, learning_rate=rate, steps=steps, noise_std=delta * np.sqrt(3), key=trial.seed, save_every=steps
    )
    small = _least(descent.reduced.first[-1])
    distance = {}
    for name, scale in (("right", np.sqrt(rate) * delta), ("unscaled", rate * delta)):
        run = ln.noise_sde(
            start,
            times=[0.0, rate * steps],
            step=rate,
            key=trial.seed + 1,
            paths=number,
            problem=problem,
            noise_std=scale,
        )
        other = _least(run.reduced.first[-1])
        distance[name] = abs(small.mean() - other.mean()) / np.sqrt((small.var() + other.var()) / number)
    verdict = Verdict.HOLDS if distance["right"] < 4.5 and distance["unscaled"] > 10 else Verdict.REFUTED
    text = (
        f"mean of ln of the least singular value at t = 10, {number} paths each: descent and equation "
        f"{distance['right']:.1f} "
        f"standard errors apart with sqrt(eta) delta on the canonical clock ({distance['unscaled']:.0f} with eta "
        "delta on it)"
    )
    return Measurement(verdict, text, float(distance["right"]), 1.0)


def _least(first: np.ndarray) -> np.ndarray:
    """ln of the least of the three singular values that the data reach."""
    return np.log(np.linalg.svd(first, compute_uv=False)[..., 2])


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
    ),
    Claim(
        name="noise-equation",
        number="Appendix D",
        sentence="Descent with label noise follows a stochastic equation, with noise of scale eta delta if time "
        "counts steps.",
        assumptions="small steps",
        setting="n = d = 3, gamma = 1, step 0.02, delta = 2, to t = 10",
        claimed="the same law",
        expected=Verdict.HOLDS,
        measure=measure_equation,
    ),
]

TABLES = [
    Table(
        name="label-noise",
        title="Label noise from a large start: what is left of the small singular values",
        sweep=sweep,
        columns=columns,
        note="Singular values of W1 but the largest, at the end over the start.",
    ),
]
