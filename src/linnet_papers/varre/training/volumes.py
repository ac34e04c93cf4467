"""How lengths and areas grow under noise alone, over times at which paths themselves cannot be sampled.

A neuron (w_i, a_i) moves by dw_i = a_i D dB, da_i = w_i . D dB: all neurons by the same linear maps. In Stratonovich's
form these are hyperbolic rotations of one input and a, and a shrinking by D^2/2 of the inputs and tr(D^2)/2 of a. Each
step applies them one after the other and back again, by halves: a symmetric splitting, of weak order two. It shares
nothing with Euler's scheme of `noise_sde`, nor with the theory.
"""

from __future__ import annotations

import numpy as np

from linnet_papers.reproduction.cells import Block, cell_by_cell
from linnet_papers.varre.settings import BURN_IN_TIME

QR_INTERVAL_TIME = 0.2  # how often neurons are made orthogonal, and q looked at


@cell_by_cell
def growth_cells(key: int, *, dim: int, paths: int, step: float, time: float) -> Block:
    """Return the growth rates of lengths, areas and outgoing weights, for the identity as D, each with its standard
    error."""
    return growth_rates(np.ones(dim), key, paths=paths, step=step, time=time)


def growth_rates(
    scales: np.ndarray, seed: int | list[int], *, paths: int, step: float, time: float, burn_in: float = BURN_IN_TIME
) -> dict[str, float]:
    """Return the mean growth per unit of time from `burn_in` to `time`, and standard errors (`..._error`).

    `length` is that of ln|w_1|, `second` that of ln(area of w_1 and w_2) less that of the length, `outgoing` that of
    ln|(a_1, a_2)|.
    """
    process = Process(scales, seed, neurons=2, paths=paths, step=step)
    seen = []
    for until in (burn_in, time):
        process.advance(until)
        seen.append(_log_sizes(process.first, process.second))
    gained = (seen[1] - seen[0]) / (time - burn_in)
    rates = {"length": gained[0], "second": gained[1] - gained[0], "outgoing": gained[2]}
    return {
        **{name: float(rate.mean()) for name, rate in rates.items()},
        **{f"{name}_error": float(rate.std(ddof=1) / np.sqrt(paths)) for name, rate in rates.items()},
    }


def log_second_values(dim: int, seed: list[int], *, paths: int) -> np.ndarray:
    """Return ln sigma_2(W1) at t = 4, 16 and 40 from W1 = I, by singular value decompositions (time, path)."""
    process = Process(np.ones(dim), seed, neurons=dim, paths=paths, step=0.05)
    logs = []
    for until in (BURN_IN_TIME, 16.0, 40.0):
        process.advance(until)
        logs.append(np.log(np.linalg.svd(np.moveaxis(process.first, 2, 0), compute_uv=False)[:, 1]))
    return np.array(logs)


class Process:
    """Paths of neurons from unit vectors and a = 0: `first` (input, neuron, path), `second` (neuron, path)."""

    def __init__(self, scales: np.ndarray, seed: int | list[int], *, neurons: int, paths: int, step: float) -> None:
        d = scales.size
        self.random = np.random.default_rng(seed)
        self.step = step
        self.taken = 0
        self.first, self.second = np.zeros((d, neurons, paths)), np.zeros((neurons, paths))
        self.first[range(neurons), range(neurons)] = 1.0
        self.order = [*range(d), *range(d - 2, -1, -1)]
        self.spread = scales[self.order] * np.sqrt(step / 2)
        self.spread[d - 1] *= np.sqrt(2)  # the last input is turned once, by a whole step
        self.inner = np.exp(-step / 4 * scales**2)[:, None, None]
        self.outer = np.exp(-step / 4 * (scales**2).sum())

    def advance(self, until: float) -> None:
        """Step all paths to the time `until`."""
        first, a = self.first, self.second
        while self.taken < round(until / self.step):
            self.taken += 1
            angle = np.exp(self.spread[:, None] * self.random.standard_normal((len(self.order), a.shape[1])))
            cosh = 0.5 * (angle + 1 / angle)
            sinh = angle - cosh
            first *= self.inner
            a *= self.outer
            for w, c, s in zip((first[i] for i in self.order), cosh, sinh, strict=True):
                from_w, from_a = s * w, s * a
                w *= c
                w += from_a
                a *= c
                a += from_w
            first *= self.inner
            a *= self.outer


def volume_growth(
    scales: np.ndarray, seed: list[int], *, paths: int, step: float, time: float
) -> dict[str, np.ndarray]:
    """Return, for k = 1 to d neurons and with u = D^-1 w, the "growth" per unit of time of ln(volume of u_1, ..., u_k)
    and the "clock", the mean of q_k = a^T (U^T U)^-1 a, both from `BURN_IN_TIME` to `time` (k, path).

    Neurons are made orthogonal again and again, which changes neither volumes, once counted, nor q_k.
    """
    process = Process(scales, seed, neurons=scales.size, paths=paths, step=step)
    logs = np.zeros((scales.size, paths))
    clocks = []
    start = np.zeros(0)
    for at in np.arange(QR_INTERVAL_TIME, time + QR_INTERVAL_TIME / 2, QR_INTERVAL_TIME):
        process.advance(at)
        both = np.concatenate([process.first / scales[:, None, None], process.second[None]])
        logs += np.log(_orthonormalize(both))
        # What is orthonormal is (u, a): the volume of u alone is the root of det(1 - a a^T) = 1 - |a|^2.
        without_a = 1 - (both[-1] ** 2).cumsum(axis=0)
        sizes = logs.cumsum(axis=0) + 0.5 * np.log(without_a)
        if at > BURN_IN_TIME - QR_INTERVAL_TIME / 2:
            start = sizes if not start.size else start
            clocks.append(1 / without_a - 1)
        process.first[...] = both[:-1] * scales[:, None, None]
        process.second[...] = both[-1]
    return {"growth": (sizes - start) / (time - BURN_IN_TIME), "clock": np.mean(clocks, axis=0)}


def _orthonormalize(columns: np.ndarray) -> np.ndarray:
    """Make the columns of every path (entry, column, path) orthonormal by Gram and Schmidt's method, in place; return
    the lengths of what each adds to those before it (column, path)."""
    lengths = np.empty(columns.shape[1:])
    for k in range(columns.shape[1]):
        column = columns[:, k]
        for j in range(k):
            column -= (columns[:, j] * column).sum(axis=0) * columns[:, j]
        lengths[k] = np.linalg.norm(column, axis=0)
        column /= lengths[k]
    return lengths


def _log_sizes(first: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the logarithms of the length of w_1, of the area of w_1 and w_2, and of |a| (3, path)."""
    length = np.linalg.norm(first[:, 0], axis=0)
    along = first[:, 0] / length
    across = first[:, 1] - (along * first[:, 1]).sum(axis=0) * along
    return np.log(np.stack([length, length * np.linalg.norm(across, axis=0), np.linalg.norm(a, axis=0)]))


def sampled_moments(scales: np.ndarray, seed: int, *, paths: int, steps: int, time: float) -> dict[str, np.ndarray]:
    """Sample paths by plain Euler-Maruyama with noise of scales D, from W = I and a random a of unit length: |W|^2 at
    `time` (path,), and the signed commutators of every row with a over their starts (input, path)."""
    random = np.random.default_rng([seed, 3])
    d = scales.size
    h = time / steps
    start = random.standard_normal(d)
    start /= np.linalg.norm(start)
    first, a = np.repeat(np.eye(d)[:, :, None], paths, 2), np.repeat(start[:, None], paths, 1)
    for _ in range(steps):
        increment = np.sqrt(h) * scales[:, None] * random.standard_normal((d, paths))
        first, a = first + increment[:, None] * a[None], a + np.einsum("ihp,ip->hp", first, increment)
    ratios = []
    for i in range(d):
        at_start = np.outer(np.eye(d)[i], start) - np.outer(start, np.eye(d)[i])
        now = first[i][:, None] * a[None] - a[:, None] * first[i][None]
        ratios.append((now * at_start[..., None]).sum(axis=(0, 1)) / (at_start**2).sum())
    return {"first_square": (first**2).sum(axis=(0, 1)), "signed": np.array(ratios)}
