"""How lengths and areas grow under noise alone, over times at which paths themselves cannot be sampled.

A neuron (w_i, a_i) moves by dw_i = a_i D dB, da_i = w_i . D dB: all neurons by the same linear maps. In Stratonovich's
form these are hyperbolic rotations of one input and a, and a shrinking by D^2/2 of the inputs and tr(D^2)/2 of a. Each
step applies them one after the other and back again, by halves: a symmetric splitting, of weak order two. It shares
nothing with Euler's scheme of `noise_sde`, nor with the theory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

BURN_IN = 4.0  # the angles that decide the growth forget their start within a time of about one


def growth_cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, paths: int, step: float, time: float
) -> dict[str, Any]:
    """Growth rates of lengths, areas and outgoing weights, for the identity as D, each with its standard error."""
    found = [
        growth(np.ones(int(dim)), seed, paths=paths, step=step, time=time)
        for dim, seed in zip(points["dim"], seeds.tolist(), strict=True)
    ]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def growth(scales: np.ndarray, seed: int, *, paths: int, step: float, time: float) -> dict[str, float]:
    """Mean growth per unit of time from `BURN_IN` to `time`, and standard errors (`..._error`).

    `length` is that of ln|w_1|, `second` that of ln(area of w_1 and w_2) less that of the length, `outgoing` that of
    ln|(a_1, a_2)|; `ended` the mean of ln|w_1| at the end.
    """
    random, d = np.random.default_rng(seed), scales.size
    first, a = np.zeros((d, 2, paths)), np.zeros((2, paths))
    first[0, 0] = first[1, 1] = 1.0
    order = [*range(d), *range(d - 2, -1, -1)]
    spread = scales[order] * np.sqrt(step / 2)
    spread[d - 1] *= np.sqrt(2)  # the last input is turned once, by a whole step
    inner, outer = np.exp(-step / 4 * scales**2)[:, None, None], np.exp(-step / 4 * (scales**2).sum())
    early, last = round(BURN_IN / step), round(time / step)
    seen = []
    for number in range(1, last + 1):
        angle = np.exp(spread[:, None] * random.standard_normal((len(order), paths)))
        cosh = 0.5 * (angle + 1 / angle)
        sinh = angle - cosh
        first *= inner
        a *= outer
        for turn, i in enumerate(order):
            turned = first[i] * cosh[turn] + a * sinh[turn]
            a = first[i] * sinh[turn] + a * cosh[turn]
            first[i] = turned
        first *= inner
        a *= outer
        if number in (early, last):
            seen.append(_sizes(first, a))
    gained = (seen[1] - seen[0]) / (time - BURN_IN)
    rates = {"length": gained[0], "second": gained[1] - gained[0], "outgoing": gained[2]}
    error = np.sqrt(paths)
    return {
        **{name: float(rate.mean()) for name, rate in rates.items()},
        **{f"{name}_error": float(rate.std() / error) for name, rate in rates.items()},
    }


def _sizes(first: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Logarithms of the length of w_1, of the area of w_1 and w_2, and of |a| (3, path)."""
    length = np.linalg.norm(first[:, 0], axis=0)
    along = first[:, 0] / length
    across = first[:, 1] - (along * first[:, 1]).sum(axis=0) * along
    return np.log(np.stack([length, length * np.linalg.norm(across, axis=0), np.linalg.norm(a, axis=0)]))


def sampled_moments(scales: np.ndarray, seed: int, *, paths: int, steps: int, time: float) -> dict[str, np.ndarray]:
    """Plain Euler-Maruyama with noise of scales D, from W = I and a tilted: per path at `time`, |W|^2 and the signed
    commutators of every row with a over their starts (input, path)."""
    random, d, h = np.random.default_rng([seed, 3]), scales.size, time / steps
    start = random.standard_normal(d)
    start /= np.linalg.norm(start)
    first, a = np.repeat(np.eye(d)[:, :, None], paths, 2), np.repeat(start[:, None], paths, 1)
    for _ in range(steps):
        push = np.sqrt(h) * scales[:, None] * random.standard_normal((d, paths))
        first, a = first + push[:, None] * a[None], a + np.einsum("ihp,ip->hp", first, push)
    ratios = []
    for i in range(d):
        at_start = np.outer(np.eye(d)[i], start) - np.outer(start, np.eye(d)[i])
        now = first[i][:, None] * a[None] - a[:, None] * first[i][None]
        ratios.append((now * at_start[..., None]).sum(axis=(0, 1)) / (at_start**2).sum())
    return {"first_square": (first**2).sum(axis=(0, 1)), "signed": np.array(ratios)}
