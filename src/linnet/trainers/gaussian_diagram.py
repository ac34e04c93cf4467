"""Descents from Gaussian starts of many widths and variances, drawn where they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet._arguments import count, real_array
from linnet._randomness import Key, key_data
from linnet.inits._compiled import diagonal_roots, padded_gaussian
from linnet.precision import resolve
from linnet.problems.problem import Problem
from linnet.trainers import _loop as loop
from linnet.trainers import crew, lanes
from linnet.trainers._narrow import narrow_network
from linnet.trainers.beside import Best, bind, layers, noted, updates
from linnet.trainers.pairs import PairedRuns, carried
from linnet.trainers.stopping import rule_of


def gaussian_diagram(
    problems: Sequence[Problem],
    *,
    keys: Sequence[Key],
    widths: Sequence[int],
    variances: Any,
    learning_rates: Any,
    tasks: Sequence[int] | None = None,
    steps: int,
    stop: Any = None,
    update: str = "simultaneous",
    dtype: Any = None,
    tf32: bool = False,
    slots: int | None = None,
    device: str | None = None,
) -> PairedRuns:
    r"""`paired_descent` of networks with Gaussian weights of variance $\sigma^2$ in both layers; $g = \sigma^2 w$.

    Starts have the law of `inits.reduced_gaussian` and are fixed by their keys, on every device up to rounding. They
    are drawn, and stable ranks found, where the runs are trained; nothing but numbers leaves the device.

    - `problems`: whitened ones of one shape, with a `truth`
    - `keys`, `widths`, `variances`, `learning_rates`: one for each run
    - `tasks`: which of the problems each run learns; the first by default
    - `tf32`: lets an accelerator shorten the factors of products to 10 bits of mantissa
    - `slots`: runs carried at once; by default as many as fill the device
    - other arguments: as in `paired_descent`
    """
    for problem in problems:
        if not problem.whitened or problem.truth is None or problem.batch:
            raise ValueError("`problems` must be single ones made by `Problem.from_target`, with a `truth`.")
    total = len(widths)
    task = np.zeros(total, dtype=int) if tasks is None else np.asarray(tasks, dtype=int)
    sizes = np.array([float(count("widths", width)) for width in widths])
    variance = np.broadcast_to(real_array("variances", variances), total)
    rates = np.broadcast_to(real_array("learning_rates", learning_rates), total)
    for name, values in (("keys", keys), ("tasks", task)):
        if len(values) != total:
            raise ValueError(f"`{name}` must be one for each of the {total} runs: got {len(values)}.")
    targets, truths = (np.stack([getattr(p, part) for p in problems]) for part in ("cross", "truth"))
    out_dim, in_dim = targets.shape[1:]
    data = np.stack([key_data(key) for key in keys])
    number = resolve(dtype)
    several = len(problems) > 1
    shared = {"target": targets.astype(number), "truth": truths.astype(number)}
    if not several:
        shared = {name: array[0] for name, array in shared.items()}

    def orders(runs: list[int], rows: int) -> dict[str, np.ndarray]:
        roots = [diagonal_roots(keys[run], in_dim=in_dim, out_dim=out_dim, width=widths[run]) for run in runs]
        return {
            "key": data[runs],
            "roots": np.stack(roots),
            "width": sizes[runs],
            "variance": variance[runs],
            "rate": rates[runs],
            "task": task[runs],
        }

    def start(run: int) -> crew.Start:
        roots = diagonal_roots(keys[run], in_dim=in_dim, out_dim=out_dim, width=widths[run])
        both = _gaussian(data[run], roots, sizes[run], np.sqrt(variance[run]), in_dim=in_dim, out_dim=out_dim)
        first, second = (np.asarray(layer)[: min(widths[run], in_dim + out_dim)] for layer in both)
        chosen = task[run]
        return crew.Start(
            first, second.T, targets[chosen], truths[chosen], rates[run], threshold=variance[run] * sizes[run]
        )

    plan = loop.Plan(updates(update), rule_of(stop), record=Best())
    # How long a run is: its modes grow to the target from the threshold, of a narrow network from that of a square one.
    scale = np.sqrt((targets**2).sum(axis=(1, 2)) / min(in_dim, out_dim))[task]
    expected = np.log1p(scale / (variance * np.maximum(sizes, in_dim)))
    return carried(
        lambda rows: lanes.Kind(plan, Drawn(in_dim, out_dim, rows, number.name, several), bind, noted),
        orders,
        start,
        widths,
        shared=shared,
        sequential=update == "sequential",
        products=False,
        in_dim=in_dim,
        out_dim=out_dim,
        steps=count("steps", steps),
        slots=slots,
        dtype=number,
        device=device,
        expected=expected,
        tf32=tf32,
    )


@partial(jax.jit, static_argnames=("in_dim", "out_dim"))
def _gaussian(key: Any, roots: Any, width: Any, std: Any, *, in_dim: int, out_dim: int) -> tuple[jax.Array, jax.Array]:
    """First and transposed second layer with all rows that any width can need: one compilation serves all."""
    typed = jax.random.wrap_key_data(key, impl="threefry2x32")
    whole = in_dim + out_dim
    first, second = padded_gaussian(typed, roots, in_dim=in_dim, out_dim=out_dim, rows=whole, width=width, std=std)
    return first, second.T


@dataclass(frozen=True)
class Drawn:
    """Both networks of a run, from the numbers that describe it; drawn and made narrow in float64."""

    in_dim: int
    out_dim: int
    rows: int
    dtype: str
    several: bool

    def __call__(self, shared: dict[str, Any], order: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        key = jax.random.wrap_key_data(order["key"], impl="threefry2x32")
        first, second = padded_gaussian(
            key,
            order["roots"],
            in_dim=self.in_dim,
            out_dim=self.out_dim,
            rows=self.rows,
            width=order["width"],
            std=jnp.sqrt(order["variance"]),
        )
        narrow = narrow_network(second @ first, order["variance"] * order["width"])
        params = layers((first, second), narrow)
        lane = {"rate": order["rate"]}
        if self.several:
            lane |= {name: shared[name][order["task"]] for name in ("target", "truth")}
        return jax.tree.map(lambda array: array.astype(self.dtype), (lane, params))
