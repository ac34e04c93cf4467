"""One mode of a wide network: a network of one input and one output whose hidden units are words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

MOST_UNITS = 400  # of one hidden layer


@lru_cache(maxsize=64)
def couplings(depth: int, order: int) -> tuple[np.ndarray, ...]:
    """Which hidden units are coupled at infinite width, of words up to `order`: 0 or 1, layers W1 to WL.

    The roots are the image of the input in the first hidden layer and the row of the last layer in the last one. A unit
    has one child through the layer above and one through the layer below, unless it came from there.
    """
    spaces = depth - 1
    first, last = np.zeros(1), np.zeros(1)
    links: list[list[tuple[int, int]]] = [[] for _ in range(spaces - 1)]  # (unit above, unit below) of inner layers
    held = [0] * spaces
    fresh: list[tuple[int, int, int]] = []  # space, unit, the inner layer it came through (-1: a root)
    for space in (0, spaces - 1):
        fresh.append((space, held[space], -1))
        held[space] += 1
    for _ in range(order):
        grown: list[tuple[int, int, int]] = []
        for space, unit, through in fresh:
            for to, layer in ((space + 1, space), (space - 1, space - 1)):
                if 0 <= to < spaces and layer != through:
                    pair = (held[to], unit) if to > space else (unit, held[to])
                    links[layer].append(pair)
                    grown.append((to, held[to], layer))
                    held[to] += 1
        fresh = grown
        if max(held) > MOST_UNITS or not fresh:
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


def flowing(values: np.ndarray, start: list[np.ndarray], times: np.ndarray, rtol: float) -> np.ndarray:
    """Products of the flows of one network towards each of `values`, (time, mode)."""
    import jax.numpy as jnp

    from linnet.precision import computing

    with computing():
        batch = [jnp.broadcast_to(jnp.asarray(layer), (values.size, *layer.shape)) for layer in start]
        return np.asarray(_solved()(tuple(batch), jnp.asarray(values), jnp.asarray(times), rtol)).T


@lru_cache(maxsize=1)
def _solved() -> Any:
    import diffrax
    import jax
    import jax.numpy as jnp

    def slope(t: Any, layers: Any, target: Any) -> Any:
        below = [layers[0]]
        for layer in layers[1:]:
            below.append(layer @ below[-1])
        pull = target - below[-1]
        forces = []
        for index in range(len(layers) - 1, -1, -1):
            forces.append(pull @ below[index - 1].T if index else pull)
            pull = layers[index].T @ pull
        return tuple(forces[::-1])

    def one(layers: Any, target: Any, times: Any, rtol: Any) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            diffrax.Dopri8(),
            t0=0.0,
            t1=times[-1],
            dt0=None,
            y0=layers,
            args=target,
            saveat=diffrax.SaveAt(fn=lambda t, y, args: _product(y), ts=times),
            max_steps=100_000,
            throw=False,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol),
        )
        return jnp.where(jnp.isfinite(solution.ys), solution.ys, jnp.nan)

    def _product(layers: Any) -> Any:
        product = layers[0]
        for layer in layers[1:]:
            product = layer @ product
        return product[0, 0]

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None, None)))
