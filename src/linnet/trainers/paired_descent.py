"""Many descents, each beside its self-consistent prediction stepped at the same rate, in one compiled loop.

The two sides never have to be stored to be compared: the loop notes what a phase diagram shows of each run. Runs wait
for a free lane of the batch, so that one that stops early makes room for the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet.arguments import count
from linnet.inits.weights import Weights
from linnet.precision import resolve
from linnet.problems.problem import Problem
from linnet.progress import bar
from linnet.reductions.reduction import reduce
from linnet.trainers import lanes, loop
from linnet.trainers.narrow import narrow_network
from linnet.trainers.stopping import rule_of


@dataclass(frozen=True)
class Pair:
    """One run: a problem with whitened inputs and a truth, a start, the threshold of its prediction, and its step
    size."""

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
    number = resolve(dtype)
    kind = lanes.Kind(
        loop.Plan(_sequential if update == "sequential" else _simultaneous, rule_of(stop), record=Best()),
        Start(number.name),
        _bind,
        _noted,
    )
    padded = np.array([padded_width(width, in_dim, out_dim) for width in widths], dtype=int)
    found: dict[str, np.ndarray] = {}
    with bar("descent beside its prediction", len(widths)) as advance:
        for size in np.unique(padded):
            members = np.flatnonzero(padded == size)

            def orders(runs: list[int], members: np.ndarray = members, width: int = int(size)) -> dict[str, np.ndarray]:
                return _drawn(make, members[runs].tolist(), width)

            outcome = lanes.descend(
                kind,
                orders,
                np.full(len(members), steps),
                lanes=min(len(members), slots or _lanes(in_dim, out_dim)),
                shared={},
                dtype=number,
                device=device,
                advance=advance,
            )
            for name, value in outcome.results.items():
                found.setdefault(name, np.zeros((len(widths), *value.shape[1:]), value.dtype))[members] = value
    return PairedRuns(
        reason=kind.plan.reasons[found["code"]],
        steps=found["step"],
        loss=found["loss"],
        best_test=found["best_test"],
        best_step=found["best_step"],
        best_product=found["best_product"].astype(np.float64),
        largest_distance=found["distance"],
    )


def padded_width(width: int, in_dim: int, out_dim: int) -> int:
    """The width a network is trained at: reduced, then filled with silent units to one of few sizes (one compilation
    each)."""
    whole = in_dim + out_dim
    # small networks, and any on an accelerator, cost less than their compilation
    parts = (1, 2, 4, 6, 8) if whole > 160 and jax.default_backend() == "cpu" else (8,)
    return next(size for size in (-(-whole * part // 8) for part in parts) if size >= min(width, whole))


def _lanes(in_dim: int, out_dim: int) -> int:
    """Runs carried at once: enough to fill the device; on a CPU few, so that no slot idles long at the end."""
    if jax.default_backend() != "cpu":
        return 4096
    return min(32, max(8, 160_000 // ((in_dim + out_dim) * max(in_dim, out_dim))))


def _drawn(make: Callable[[int], Pair], runs: Sequence[int], width: int) -> dict[str, np.ndarray]:
    """The arrays of several runs, drawn side by side."""
    if len(runs) < 2:
        loads = [_loaded(make(run), width) for run in runs]
    else:
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
            loads = list(threads.map(lambda run: _loaded(make(run), width), runs))
    return {name: np.stack([load[name] for load in loads]) for name in loads[0]}


def _loaded(pair: Pair, width: int) -> dict[str, np.ndarray]:
    """The arrays of one run: its network in reduced coordinates, filled up to `width`, and what it is to learn."""
    problem, weights = pair.problem, pair.weights
    if not problem.whitened or problem.truth is None or problem.batch:
        raise ValueError("`problem` must be a single one made by `Problem.matrix`, with a `truth`.")
    small = reduce(problem, weights).weights
    empty = width - small.width
    return {
        "first": np.pad(small.first, ((0, empty), (0, 0))),
        "second": np.pad(small.second, ((0, 0), (0, empty))),
        "target": problem.cross,
        "truth": problem.truth,
        "rate": np.asarray(pair.learning_rate),
        "threshold": np.asarray(pair.threshold),
    }


@dataclass(frozen=True)
class Start:
    """Both networks of a run, and what they learn, in the arithmetic of the run; the narrow one is found in float64."""

    dtype: str

    def __call__(self, shared: dict[str, Any], order: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        first, second = order["first"], order["second"]
        narrow_first, narrow_second = narrow_network(second @ first, order["threshold"])
        params = {"first": first, "second": second, "narrow_first": narrow_first, "narrow_second": narrow_second}
        lane = {name: order[name] for name in ("target", "truth", "rate")}
        return jax.tree.map(lambda array: array.astype(self.dtype), (lane, params))


@dataclass(frozen=True)
class Beside:
    """|G - A|^2/2 of the network; it sees the products and the residuals of the network and of the narrow one beside
    it."""

    target: Any

    def at(self, params: dict[str, Any]) -> tuple[Any, tuple[Any, Any, Any, Any]]:
        product, predicted = params["second"] @ params["first"], params["narrow_second"] @ params["narrow_first"]
        residual, pull = self.target - product, self.target - predicted
        return 0.5 * _square(residual), (product, residual, predicted, pull)

    def size(self) -> Any:
        return 0.5 * _square(self.target)


@dataclass(frozen=True)
class FromTruth:
    """The test loss |A - T|^2/2."""

    truth: Any

    def at(self, params: dict[str, Any], seen: Any) -> Any:
        return 0.5 * _square(seen[0] - self.truth)


@dataclass(frozen=True)
class Best:
    """The least test loss, when and where it was, the last loss, and how far apart the two networks have been."""

    def start(self, params: dict[str, Any]) -> dict[str, Any]:
        product = jnp.zeros((params["second"].shape[0], params["first"].shape[1]), params["first"].dtype)
        infinite = jnp.asarray(jnp.inf, jnp.float64)
        return {
            "loss": infinite,
            "best_test": infinite,
            "best_step": jnp.asarray(0),
            "best_product": product,
            "distance": jnp.asarray(0.0, jnp.float64),
        }

    def update(self, record: dict[str, Any], step: Any, loss: Any, test_loss: Any, seen: Any) -> dict[str, Any]:
        product, _, predicted, _ = seen
        better = test_loss < record["best_test"]
        return {
            "loss": loss,
            "best_test": jnp.where(better, test_loss, record["best_test"]),
            "best_step": jnp.where(better, step, record["best_step"]),
            "best_product": jnp.where(better, product, record["best_product"]),
            "distance": jnp.maximum(record["distance"], _square(product - predicted)),
        }


def _bind(shared: dict[str, Any], lane: dict[str, Any]) -> tuple[Beside, FromTruth, dict[str, Any]]:
    return Beside(lane["target"]), FromTruth(lane["truth"]), {"learning_rate": lane["rate"]}


def _noted(state: loop.State) -> dict[str, Any]:
    return state["record"]


def _square(matrix: Any) -> Any:
    """|.|_F^2 of a matrix; rows in the arithmetic of the run, their sum in float64."""
    return jnp.sum(jnp.sum(matrix * matrix, axis=-1).astype(jnp.float64), axis=-1)


def _simultaneous(objective: Any, hyper: Any, params: Any, index: Any, seen: Any) -> dict[str, Any]:
    return _moved(params, hyper["learning_rate"], seen, sequential=False)


def _sequential(objective: Any, hyper: Any, params: Any, index: Any, seen: Any) -> dict[str, Any]:
    return _moved(params, hyper["learning_rate"], seen, sequential=True)


def _moved(params: dict[str, Any], rate: Any, seen: Any, *, sequential: bool) -> dict[str, Any]:
    _, residual, _, pull = seen
    first = params["first"] + rate * (params["second"].T @ residual)
    second = params["second"] + rate * (residual @ (first if sequential else params["first"]).T)
    narrow_first = params["narrow_first"] + rate * (params["narrow_second"].T @ pull)
    narrow_second = params["narrow_second"] + rate * (pull @ params["narrow_first"].T)
    return {"first": first, "second": second, "narrow_first": narrow_first, "narrow_second": narrow_second}
