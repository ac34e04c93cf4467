"""One mode of a wide network: a network of one input and one output whose hidden units are words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

MAX_UNITS = 400  # of one hidden layer
MAX_STEPS = 20_000
ARRIVED = (
    20.0  # times the tolerance from its value, a network has arrived; steps at the boundary of stability stay closer
)
# Dormand and Prince 1980: the last row is the step of order five itself, and its slope the first one of the next step
STAGE_WEIGHTS = (
    np.array([1 / 5]),
    np.array([3 / 40, 9 / 40]),
    np.array([44 / 45, -56 / 15, 32 / 9]),
    np.array([19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    np.array([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
ERROR_WEIGHTS = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@lru_cache(maxsize=64)
def couplings(depth: int, order: int) -> tuple[np.ndarray, ...]:
    """Which hidden units are coupled at infinite width, of words up to `order`: 0 or 1, layers W1 to WL.

    The roots are the image of the input in the first hidden layer and the row of the last layer in the last one. A unit
    has one child through the layer above and one through the transpose of the layer below.
    """
    spaces = depth - 1
    links: list[list[tuple[int, int]]] = [[] for _ in range(spaces - 1)]  # (unit above, unit below) of inner layers
    held = [0] * spaces
    fresh: list[tuple[int, int]] = []  # space and unit
    for space in (0, spaces - 1):
        fresh.append((space, held[space]))
        held[space] += 1
    for _ in range(order):
        grown: list[tuple[int, int]] = []
        for space, unit in fresh:
            for to, layer in ((space + 1, space), (space - 1, space - 1)):
                if 0 <= to < spaces:
                    pair = (held[to], unit) if to > space else (unit, held[to])
                    links[layer].append(pair)
                    grown.append((to, held[to]))
                    held[to] += 1
        fresh = grown
        if max(held) > MAX_UNITS or not fresh:
            break
    first, last = np.zeros((held[0], 1)), np.zeros((1, held[-1]))
    first[0, 0] = 1.0
    last[0, 1 if spaces == 1 else 0] = 1.0
    inner = []
    for layer, pairs in enumerate(links):
        matrix = np.zeros((held[layer + 1], held[layer]))
        for above, below in pairs:
            matrix[above, below] = 1.0
        inner.append(matrix)
    return first, *inner, last


def integrate_products(values: np.ndarray, start: list[np.ndarray], times: np.ndarray, rtol: float) -> np.ndarray:
    """Products of the flows of many small networks, each towards its own value, (time, mode).

    `start` are layers (mode, to, from), `times` (time, mode). Every network has separate steps, of Dormand and Prince
    5(4); one that has arrived, or whose times are over, takes no more.
    """
    shapes, modes = [layer.shape[1:] for layer in start], len(values)
    state = np.concatenate([layer.reshape(modes, -1) for layer in start], axis=1)
    slope = _slope(state, values, shapes)
    products = np.full(times.shape, np.nan)
    clock, saved = np.zeros(modes), np.zeros(modes, dtype=int)
    step = 1e-3 / np.maximum(_fastest_rate(values, start), np.finfo(float).tiny)
    size = np.maximum(np.abs(state).max(axis=1), values ** (1 / len(start)))
    alive = np.arange(modes)
    for _ in range(MAX_STEPS):
        now = _product(state[alive], shapes)
        due = times[saved[alive], alive] <= clock[alive]
        while due.any():
            products[saved[alive[due]], alive[due]] = now[due]
            saved[alive[due]] += 1
            over = saved[alive] >= len(times)
            due = ~over & (times[np.minimum(saved[alive], len(times) - 1), alive] <= clock[alive])
        arrived = (saved[alive] < len(times)) & (np.abs(values[alive] - now) <= ARRIVED * rtol * values[alive])
        for mode, at in zip(alive[arrived], now[arrived], strict=True):
            products[saved[mode] :, mode] = at
            saved[mode] = len(times)
        alive = alive[saved[alive] < len(times)]
        if not alive.size:
            return products
        length = np.minimum(step[alive], times[saved[alive], alive] - clock[alive])
        moved, slope_then, error = _take_step(state[alive], slope[alive], values[alive], length, shapes)
        share = np.sqrt(((error / (rtol * (size[alive, None] + np.abs(moved)))) ** 2).mean(axis=1))
        share = np.where(np.isfinite(share), share, 1e6)
        good = share <= 1
        state[alive[good]], slope[alive[good]] = moved[good], slope_then[good]
        reached = np.isclose(clock[alive] + length, times[saved[alive], alive], rtol=1e-14, atol=0)
        clock[alive[good]] = np.where(reached, times[saved[alive], alive], clock[alive] + length)[good]
        factor = np.clip(0.9 * np.maximum(share, 1e-10) ** -0.2, 0.2, 5.0)
        clipped = good & (length < step[alive])  # ended at a time asked for: the step itself was not at fault
        step[alive] = np.where(clipped, np.maximum(step[alive], length * factor), length * factor)
    return products


def _fastest_rate(values: np.ndarray, start: list[np.ndarray]) -> np.ndarray:
    """Return a bound of the fastest rate of each network, which limits its first step."""
    norms = np.array([np.sqrt((layer**2).sum(axis=(1, 2))) for layer in start]) + values ** (1 / len(start))
    return np.sum([np.prod(np.delete(norms, at, axis=0), axis=0) ** 2 for at in range(len(start))], axis=0)


def _layer_views(state: np.ndarray, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Return the layers of all networks, which are views of their states, one row of numbers each."""
    layers, begin = [], 0
    for rows, columns in shapes:
        end = begin + rows * columns
        layers.append(state[:, begin:end].reshape(len(state), rows, columns))
        begin = end
    return layers


def _product(state: np.ndarray, shapes: list[tuple[int, ...]]) -> np.ndarray:
    """Return the products of all networks, each a number."""
    layers = _layer_views(state, shapes)
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product[:, 0, 0]


def _slope(state: np.ndarray, values: np.ndarray, shapes: list[tuple[int, ...]]) -> np.ndarray:
    """Return the velocity of all networks' states under gradient flow."""
    layers = _layer_views(state, shapes)
    below = [layers[0]]
    for layer in layers[1:]:
        below.append(layer @ below[-1])
    pull = values[:, None, None] - below[-1]
    velocity = np.empty_like(state)
    pushes = _layer_views(velocity, shapes)
    for index in range(len(layers) - 1, 0, -1):
        np.matmul(pull, below[index - 1].mT, out=pushes[index])
        pull = layers[index].mT @ pull
    pushes[0][:] = pull
    return velocity


def _take_step(
    state: np.ndarray, slope: np.ndarray, values: np.ndarray, length: np.ndarray, shapes: list[tuple[int, ...]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states one step later, their slopes, and the difference to the embedded method of order four."""
    slopes = np.empty((len(ERROR_WEIGHTS), state.size))
    slopes[0] = slope.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        for stage, row in enumerate(STAGE_WEIGHTS, start=1):
            moved = state + length[:, None] * (row @ slopes[:stage]).reshape(state.shape)
            last = _slope(moved, values, shapes)
            slopes[stage] = last.ravel()
        error = length[:, None] * (ERROR_WEIGHTS @ slopes).reshape(state.shape)
    return moved, last, error
