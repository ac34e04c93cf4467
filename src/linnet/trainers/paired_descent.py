"""Many descents, each beside its self-consistent prediction stepped at the same rate, in one compiled loop.

The two sides never have to be stored to be compared: the loop keeps what a phase diagram shows of each run. Runs wait
for a free slot of the batch, so that one that stops early makes room for the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet.arguments import count
from linnet.inits.weights import Weights
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.progress import bar
from linnet.reductions.reduction import reduce
from linnet.trainers.stopping import Rule, rule_of

CHUNK = 20  # steps between two looks at which runs have stopped


@dataclass(frozen=True)
class Pair:
    """One run: a problem with whitened inputs and a truth, a start, the threshold of its prediction, and its step size."""

    problem: Problem
    weights: Weights
    threshold: float
    learning_rate: float


@dataclass(frozen=True)
class PairedRuns:
    """What is kept of each run, the runs along the first axis.

    `best_test` is the least test loss of the run, reached first at `best_step` with the product `best_product`;
    `largest_distance` is the greatest $|A - \\hat A|_F^2$ between training and prediction at any step, `loss` the
    last train loss. `reason` and `steps` say how and when the run ended.
    """

    reason: np.ndarray
    steps: np.ndarray
    loss: np.ndarray
    best_test: np.ndarray
    best_step: np.ndarray
    best_product: np.ndarray
    largest_distance: np.ndarray


def paired_descent(
    make: Callable[[int], Pair],
    widths: Sequence[int],
    *,
    in_dim: int,
    out_dim: int,
    steps: int,
    stop: Any = None,
    update: str = "simultaneous",
    dtype: Any = None,
    slots: int | None = None,
    device: str | None = None,
) -> PairedRuns:
    r"""Gradient descent on networks beside gradient descent on the narrow network of the self-consistent dynamics.

    The prediction is stepped by the scheme "network": plain descent, at the run's own step size, on the network of
    width $\min(k, d)$ that has the same product and the imbalance $\pm 2g I$, whose flow is the self-consistent
    dynamics exactly. It differs from an Euler step of that equation by $\mathrm{lr}^2 R A^\top R$.

    **Arguments:** `make(i)` draws the i-th `Pair`, when its turn comes; `widths[i]` is the width of its network
    (which is reduced first, so it costs no more than $d + k$). `stop` is a rule as in `gradient_descent`;
    `update="sequential"` lets the network's second layer see the new first one, as there; the prediction is always
    stepped simultaneously. `slots` runs are carried at once.
    """
    if update not in ("simultaneous", "sequential"):
        raise ValueError(f"`update` must be 'simultaneous' or 'sequential': got {update!r}.")
    steps = count("steps", steps)
    rule = rule_of(stop)
    outcome = _Outcome(len(widths), (out_dim, in_dim))
    padded = np.array([padded_width(width, in_dim, out_dim) for width in widths], dtype=int)
    with computing(dtype, device) as resolved, bar("descent beside its prediction", len(widths)) as advance:
        for size in np.unique(padded):
            members = np.flatnonzero(padded == size)
            lanes = min(len(members), slots or _lanes(in_dim, out_dim))
            compiled = partial(_advance, rule=rule, sequential=update == "sequential")
            _run_pool(members, make, int(size), lanes, steps, resolved, compiled, rule, outcome, advance)
    return outcome.collected(rule)


def padded_width(width: int, in_dim: int, out_dim: int) -> int:
    """The width a network is trained at: reduced, then filled with silent units to one of few sizes (one compilation each)."""
    whole = in_dim + out_dim
    # small networks, and any on an accelerator, cost less than their compilation
    parts = (1, 2, 4, 6, 8) if whole > 160 and jax.default_backend() == "cpu" else (8,)
    return next(size for size in (-(-whole * part // 8) for part in parts) if size >= min(width, whole))


def _lanes(in_dim: int, out_dim: int) -> int:
    """Runs carried at once: enough to fill the device; on a CPU few, so that no slot idles long at the end."""
    if jax.default_backend() != "cpu":
        return 4096
    return min(32, max(8, 160_000 // ((in_dim + out_dim) * max(in_dim, out_dim))))


class _Outcome:
    """Results of all runs, filled as they end."""

    names = ("code", "step", "best_step", "loss", "best_test", "distance", "best_product")

    def __init__(self, runs: int, shape: tuple[int, int]):
        self.code, self.step, self.best_step = (np.zeros(runs, dtype=np.int64) for _ in range(3))
        self.loss, self.best_test, self.distance = (np.full(runs, np.nan) for _ in range(3))
        self.best_product = np.full((runs, *shape), np.nan)

    def take(self, run: int | None, place: int, kept: dict[str, np.ndarray]) -> None:
        for name in self.names:
            getattr(self, name)[run] = kept[name][place]

    def collected(self, rule: Rule) -> PairedRuns:
        reasons = np.array(["completed", "diverged", *rule.reasons])
        return PairedRuns(
            reasons[self.code],
            self.step,
            self.loss,
            self.best_test,
            self.best_step,
            self.best_product,
            self.distance,
        )


def _run_pool(
    members: np.ndarray,
    make: Callable[[int], Pair],
    width: int,
    lanes: int,
    steps: int,
    dtype: np.dtype,
    compiled: Callable[..., Any],
    rule: Rule,
    outcome: _Outcome,
    advance: Callable[[int], None],
) -> None:
    """Carries the runs of one width through `lanes` slots, refilling each slot as its run ends."""
    waiting = [int(member) for member in members]
    occupants: list[int | None] = [waiting.pop(0) for _ in range(lanes)]
    fixed, state = _stacked(_drawn(make, members[:lanes].tolist(), width, dtype), rule)
    limit = jnp.asarray(steps)
    while any(occupant is not None for occupant in occupants):
        state = compiled(fixed, state, limit)
        over = np.asarray(state["over"])
        ended = [lane for lane, run in enumerate(occupants) if run is not None and over[lane]]
        if not ended or (not waiting and not over.all()):  # nobody waits: look at the results when all are done
            continue
        kept = {name: np.asarray(state[name]) for name in outcome.names}
        refilled = []
        for lane in ended:
            outcome.take(occupants[lane], lane, kept)
            occupants[lane] = waiting.pop(0) if waiting else None
            if occupants[lane] is not None:
                refilled.append((lane, occupants[lane]))
        advance(len(ended))
        loads = _drawn(make, [run for _, run in refilled], width, dtype)
        for (lane, _), load in zip(refilled, loads, strict=True):
            fixed, state = _refilled((fixed, state), _stacked([load], rule), jnp.asarray(lane))


@jax.jit
def _refilled(old: Any, new: Any, lane: Any) -> Any:
    return jax.tree.map(lambda before, after: before.at[lane].set(after[0]), old, new)


def _drawn(
    make: Callable[[int], Pair], runs: Sequence[int | None], width: int, dtype: np.dtype
) -> list[dict[str, np.ndarray]]:
    """The arrays of several runs, drawn side by side."""

    def draw(run: int | None) -> dict[str, np.ndarray]:
        assert run is not None
        with computing(None, "cpu"):  # what is drawn must not depend on the device, and precision is set by thread
            return _loaded(make(run), width, dtype)

    if len(runs) < 2:
        return [draw(run) for run in runs]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        return list(threads.map(draw, runs))


def _loaded(pair: Pair, width: int, dtype: np.dtype) -> dict[str, np.ndarray]:
    """The arrays of one run: its network in reduced coordinates, filled up to `width`, and the narrow network beside it."""
    problem, weights = pair.problem, pair.weights
    if not problem.whitened or problem.truth is None or problem.batch:
        raise ValueError("`problem` must be a single one made by `Problem.matrix`, with a `truth`.")
    small = reduce(problem, weights).weights
    empty = width - small.width
    first = np.pad(small.first, ((0, empty), (0, 0)))
    second = np.pad(small.second, ((0, 0), (0, empty)))
    narrow_first, narrow_second = _narrow(first, second, pair.threshold)
    arrays = {
        "first": first, "second": second, "narrow_first": narrow_first, "narrow_second": narrow_second,
        "target": problem.cross, "truth": problem.truth, "rate": np.asarray(pair.learning_rate),
    }  # fmt: skip
    return {name: np.asarray(array, dtype) for name, array in arrays.items()}


@jax.jit
def _narrow(first: Any, second: Any, threshold: Any) -> tuple[Any, Any]:
    r"""The network of width min(k, d) with the same product and the imbalance $\pm 2gI$, its stronger layer symmetric.

    That layer is the root of $g + \sqrt{A^T A + g^2}$ (or of $A A^T$ for fewer outputs than inputs); the other follows.
    """
    product = second @ first
    tall = product.shape[0] >= product.shape[1]
    values, vectors = jnp.linalg.eigh(product.T @ product if tall else product @ product.T)
    size = jnp.sqrt(threshold + jnp.sqrt(jnp.maximum(values, 0) + threshold**2))
    inverse = jnp.where(size > 0, 1 / jnp.where(size > 0, size, 1), 0)
    strong, weak = (vectors * size) @ vectors.T, (vectors * inverse) @ vectors.T
    return (strong, product @ weak) if tall else (weak @ product, strong)


def _stacked(loads: list[dict[str, np.ndarray]], rule: Rule) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stays fixed during the runs, and the state they start from."""
    stacked = {name: jnp.asarray(np.stack([load[name] for load in loads])) for name in loads[0]}
    layers = {name: stacked.pop(name) for name in ("first", "second", "narrow_first", "narrow_second")}
    size = len(loads)
    zero, infinite = jnp.zeros(size, dtype=jnp.int64), jnp.full(size, jnp.inf, dtype=jnp.float64)
    state = {
        "layers": layers, "over": zero > 0, "code": zero, "step": zero, "best_step": zero, "loss": infinite, "best_test": infinite,
        "distance": jnp.zeros(size, dtype=jnp.float64), "best_product": jnp.zeros_like(stacked["target"]),
        "rule": jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (size, *jnp.shape(leaf))), rule.start()),
    }  # fmt: skip
    stacked["ceiling"] = 1e8 * _square(stacked["target"])
    return stacked, state


def _square(matrices: Any) -> Any:
    """|.|_F^2 of each matrix; rows in the arithmetic of the run, their sum in float64."""
    return jnp.sum(jnp.sum(matrices * matrices, axis=-1).astype(jnp.float64), axis=-1)


@partial(jax.jit, static_argnames=("rule", "sequential"))
def _advance(
    fixed: dict[str, Any], state: dict[str, Any], limit: Any, *, rule: Rule, sequential: bool
) -> dict[str, Any]:
    """`CHUNK` steps of every slot; one that has stopped stands still."""

    def body(_: Any, state: dict[str, Any]) -> dict[str, Any]:
        layers = state["layers"]
        product = layers["second"] @ layers["first"]
        predicted = layers["narrow_second"] @ layers["narrow_first"]
        residual, pull = fixed["target"] - product, fixed["target"] - predicted
        loss, test = 0.5 * _square(residual), 0.5 * _square(product - fixed["truth"])
        going = ~state["over"]
        better = going & (test < state["best_test"])
        judged, code = jax.vmap(rule.update)(state["rule"], state["step"], loss, test)
        code = jnp.where(code > 0, code + 1, 0)
        code = jnp.where(loss <= fixed["ceiling"], code, 1).astype(state["code"].dtype)
        over = (code > 0) | (state["step"] >= limit)
        moving = going & ~over
        rate = jnp.where(moving, fixed["rate"], 0)[:, None, None]
        new = {
            "layers": _moved(layers, residual, pull, rate, sequential),
            "over": state["over"] | over,
            "code": jnp.where(going, code, state["code"]),
            "step": state["step"] + moving,
            "loss": jnp.where(going, loss, state["loss"]),
            "best_test": jnp.where(better, test, state["best_test"]),
            "best_step": jnp.where(better, state["step"], state["best_step"]),
            "best_product": jnp.where(better[:, None, None], product, state["best_product"]),
            "distance": jnp.where(
                going, jnp.maximum(state["distance"], _square(product - predicted)), state["distance"]
            ),
            "rule": jax.tree.map(lambda a, b: jnp.where(moving, a, b), judged, state["rule"]),
        }
        return new

    return jax.lax.fori_loop(0, CHUNK, body, state)


def _moved(layers: dict[str, Any], residual: Any, pull: Any, rate: Any, sequential: bool) -> dict[str, Any]:
    first = layers["first"] + rate * (jnp.swapaxes(layers["second"], 1, 2) @ residual)
    seen = first if sequential else layers["first"]
    second = layers["second"] + rate * (residual @ jnp.swapaxes(seen, 1, 2))
    narrow_first = layers["narrow_first"] + rate * (jnp.swapaxes(layers["narrow_second"], 1, 2) @ pull)
    narrow_second = layers["narrow_second"] + rate * (pull @ jnp.swapaxes(layers["narrow_first"], 1, 2))
    return {"first": first, "second": second, "narrow_first": narrow_first, "narrow_second": narrow_second}
