"""Networks over the regions in which the corrected statements hold: scales in units of the data, each trained once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.training.runs import FeatureRun, Scales, relative_output, signed_start, train
from linnet_papers.reproduction import Range, Trial

DRAWS = 3  # settings inside a region, besides its corners
GROWTH = 0.04  # of rho in a step
STRENGTH, NOISE, SAMPLES = Range(40, 4e4, log=True), Range(0, 1), Range(5, 20, whole=True)
# where each neuron is at t1 as Lemma 5.2 has it, and has v_r(0) for its sign
ALIKE = {
    "strength": STRENGTH,
    "start": Range(1e-6, 0.1, log=True),
    "ratio": Range(3, 300, log=True),
    "noise": NOISE,
    "samples": SAMPLES,
}
# the same at n = 10 from any ratio, and from strengths at which little is learned at t1 where sigma_0 leads
ANY_RATIO = {
    "strength": Range(100, 1e5, log=True),
    "start": ALIKE["start"],
    "ratio": Range(0.03, 300, log=True),
    "noise": NOISE,
}
# where the layers have settled when 5% of the loss is lost: variances of both layers over the square of v at the end
SETTLED = {
    "second_layer": Range(1e-6, 1e-3, log=True),
    "first_layer": Range(1e-8, 2.5e-5, log=True),
    "noise": NOISE,
    "samples": SAMPLES,
}
_DATA = (
    r"noise of 0 to 1 times the limit of (5), $n$ = 5 to 20; held fixed: $\Sigma = I$, $d = 10\,000$, $m = 1024$ "
    r"(quick: 2000, 128), $\rho$ grows by 0.04 a step"
)
OVER_ALIKE = (
    r"corrected: strength $\gamma^{3/2}/\mathrm{tr}$ = 40 to 40 000 (the $\rho^2$ at the end), start $(v_0^2 + "
    rf"\sigma_0^2) \gamma = 10^{{-6}}$ to 0.1, ratio {settings.RATIO} = 3 to 300, {_DATA}"
)
OVER_SETTLED = (
    r"corrected: $v_0^2$ and $\sigma_0^2$ over $\sqrt{\gamma}/\mathrm{tr}$ (second and first layer) of $10^{-6}$ to "
    rf"$10^{{-3}}$ and $10^{{-8}}$ to $2.5 \cdot 10^{{-5}}$, {_DATA}"
)
IF_ALIKE = (
    r"it holds for every neuron where $v_0 \ge 3 \sigma_0 \sqrt{\log m}$, $v_0^2 \gamma \le 0.1$ and $\gamma^{3/2}/"
    r"\mathrm{tr} \ge 40$"
)
FIRST_OUTPUTS = 7  # draws of a start whose output is read: at a corner one in fifty has a label near zero


@lru_cache(maxsize=256)
def network(
    trial: Trial,
    *,
    strength: float = 1.0,
    start: float = 0.0,
    ratio: float = 0.0,
    second_layer: float = 0.0,
    first_layer: float = 0.0,
    noise: float = 0.0,
    samples: float = settings.SAMPLES,
) -> FeatureRun:
    """Train a network of one setting until 1e-6 of its loss or less is left, once in a process.

    **Arguments:**

    - `strength`: of the data, gamma^(3/2)/tr, where rho^2 ends from a small initialization
    - `start`, `ratio`: (v_0^2 + sigma_0^2) gamma and v_0/(sigma_0 sqrt(log m)); or
    - `second_layer`, `first_layer`: v_0^2 and sigma_0^2 over sqrt(gamma)/tr, the square of v at the end
    - `noise`: variance of the labels' noise over condition (5)'s limit, 8n|beta|^2
    - `samples`: number n of samples
    """
    if start:
        other = ratio**2 * np.log(_width(trial))
        second_layer, first_layer = (start / strength * share / (1 + other) for share in (other, 1.0))
    key = [trial.seed, int(samples), round(1e6 * noise), 7]
    data, scales = _drawn(trial, key, strength, second_layer, first_layer, noise, int(samples))
    steps = int((np.arcsinh(1 / np.sqrt(second_layer + first_layer)) + 14.0) / GROWTH)
    return train(data, key, steps=steps, save_every=max(1, steps // 120), **scales)


def _width(trial: Trial) -> int:
    """Return the width m of all networks."""
    return 128 if trial.quick else settings.WIDTH


def _drawn(
    trial: Trial, key: list[int], strength: float, second: float, first: float, noise: float, samples: int
) -> tuple[ln.problems.Regression, Scales]:
    """Return data of that strength, and the scales of a start and a step in units of them."""
    dim = 2000 if trial.quick else settings.DIM
    drawn = ln.problems.gaussian_teacher(
        key=key, samples=samples, dim=dim, signal=1.0, noise_variance=8 * samples * noise
    )
    feature = float(np.linalg.norm(drawn.inputs.T @ drawn.outputs))
    scale = (strength * drawn.trace) ** (1 / 3) / feature  # of the labels, which sets gamma
    data = replace(
        drawn,
        outputs=scale * drawn.outputs,
        teacher=scale * drawn.teacher,
        signal=scale * drawn.signal,
        noise_variance=scale**2 * drawn.noise_variance,
    )
    root = scale * feature  # sqrt(gamma)
    return data, {
        "width": _width(trial),
        "learning_rate": GROWTH * samples / root,
        "first_std": float(np.sqrt(first * root / data.trace)),
        "magnitude": float(np.sqrt(second * root / data.trace)),
    }


def first_outputs(trial: Trial) -> dict[str, float]:
    """Return the largest |f(x_i)| of the start over the least |y_i|, the median of draws, over the region of the claim,
    by its setting."""

    def median(second_layer: float, first_layer: float, noise: float, samples: float) -> float:
        """Return that of one setting."""
        number, found = int(samples), []
        for draw in range(FIRST_OUTPUTS):
            key = [trial.seed, number, round(1e6 * noise), 8, draw]
            data, scales = _drawn(trial, key, 1.0, second_layer, first_layer, noise, number)
            found.append(relative_output(data, data.inputs @ signed_start(data, key, scales).product[0]))
        return float(np.median(found))

    return {label: median(**setting) for label, setting in trial.region(DRAWS).items()}


def read_over_region(trial: Trial, read: Callable[[FeatureRun], Any]) -> dict[str, Any]:
    """Return what is read of each network over the region of the claim, by its setting."""
    return {label: read(network(trial, **setting)) for label, setting in trial.region(DRAWS).items()}
