"""Many descents, each beside its self-consistent prediction stepped at the same rate.

The two sides never have to be stored to be compared: the loop notes what a phase diagram shows of each run. Runs wait
for their turn, so that one that stops early makes room for the next: on an accelerator for a free lane of a compiled
batch (`lanes`), on a CPU for a free core (`crews`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet._arguments import count, shown, whole_numbers
from linnet._memory import check_fits
from linnet._progress import bar
from linnet.inits.weights import Weights
from linnet.precision import devices, resolve
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, reduce
from linnet.trainers import _loop as loop
from linnet.trainers import crew, crews, lanes
from linnet.trainers.beside import Best, Start, bind, noted_with_product, updates
from linnet.trainers.stopping import rule_of

# Floating-point operations of one step of the batch that keep a device busy.
CPU_OPERATIONS = 400_000_000
GPU_OPERATIONS = 20_000_000_000


@dataclass(frozen=True)
class Pair:
    """One run: a whitened problem with a truth, a start, the threshold of its prediction, and its step size."""

    problem: Problem
    weights: Weights
    threshold: float
    learning_rate: float


@dataclass(frozen=True)
class PairedRuns:
    """What is kept of each run, the runs along the first axis.

    `best_test` is the least test loss of the run, reached first at `best_step` with the product `best_product` (None
    where products are not kept), whose stable rank is `stable_rank`; `largest_distance` is the greatest
    $|A - \\hat A|_F^2$ between training and prediction at any step, `loss` the last train loss. `reason` and `steps`
    say how and when the run ended. Of the `executed` steps of all lanes `needed` were the runs' own; `plan` says how
    many were carried at once, and where.
    """

    reason: np.ndarray
    steps: np.ndarray
    loss: np.ndarray
    best_test: np.ndarray
    best_step: np.ndarray
    stable_rank: np.ndarray
    best_product: np.ndarray | None
    largest_distance: np.ndarray
    executed: int
    needed: int
    plan: str


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

    **Arguments:**

    - `make`: `make(i)` draws the i-th `Pair`, when its turn comes
    - `widths`: `widths[i]` is the width of its network (which is reduced first, so it costs no more than $d + k$)
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `steps`: at most so many
    - `stop`: a rule as in `gradient_descent`
    - `update`: `"sequential"` lets the network's second layer see the new first one; the prediction is always stepped
      simultaneously
    - `dtype`: float64 by default, or `"float32"`
    - `slots`: how many runs are carried at once
    - `device`: `"cpu"` or `"gpu"`; by default the one that JAX prefers

    **Returns** `PairedRuns`, one entry for each run.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import paired_descent
        >>> from linnet.trainers.pairs import Pair
        >>> task = ln.problems.low_rank_plus_noise(6, rank=1, key=0)
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=6, out_dim=6, width=10_000, first_std=3e-3, second_std=3e-3)
        >>> runs = paired_descent(lambda i: Pair(task, start, 0.09, 0.005), [10_000], in_dim=6, out_dim=6, steps=100)
        >>> bool(runs.largest_distance[0] < 0.01 * (task.truth**2).sum())
        True
    """
    limit, number = count("steps", steps, most=2**62), resolve(dtype)
    in_dim, out_dim = count("in_dim", in_dim), count("out_dim", out_dim)
    widths = [count("widths", width) for width in whole_numbers("widths", widths)]
    if not callable(make):
        raise ValueError(f"`make` must be a function that draws the i-th `Pair`: got {shown(make)}.")
    check_fits(
        24 * (in_dim + out_dim) ** 2, f"a network of {in_dim} inputs and {out_dim} outputs", "Take a smaller `in_dim`."
    )
    plan = loop.Plan(updates(update), rule_of(stop), record=Best())

    def orders(runs: list[int], rows: int) -> dict[str, np.ndarray]:
        return _drawn(fitting, runs, rows)

    def fitting(run: int) -> Pair:
        return _fitting(make(run), widths[run], in_dim, out_dim)

    return carried(
        lambda rows: lanes.Kind(plan, Start(number.name), bind, noted_with_product),
        orders,
        lambda run: crew.Start(**_loaded(fitting(run))),  # type: ignore[arg-type]
        widths,
        shared={},
        sequential=update == "sequential",
        products=True,
        in_dim=in_dim,
        out_dim=out_dim,
        steps=limit,
        slots=slots,
        dtype=number,
        device=device,
    )


def _fitting(pair: Pair, width: int, in_dim: int, out_dim: int) -> Pair:
    """What `make` drew, refused where it is not what was announced."""
    if not isinstance(pair, Pair):
        raise ValueError(f"`make` must return a `Pair` for each run: got {type(pair).__name__}.")
    check_match(pair.problem, pair.weights)
    if (pair.problem.in_dim, pair.problem.out_dim) != (in_dim, out_dim):
        raise ValueError(
            f"`in_dim` and `out_dim` must be those of the problems that `make` draws, {pair.problem.in_dim} and "
            f"{pair.problem.out_dim}: got {in_dim} and {out_dim}."
        )
    if min(pair.weights.width, in_dim + out_dim) > width:
        raise ValueError(
            f"`widths` must be those of the networks that `make` draws: got {width} for {pair.weights.width}."
        )
    return pair


def carried(
    kind: Callable[[int], lanes.Kind],
    orders: Callable[[list[int], int], dict[str, np.ndarray]],
    start: Callable[[int], crew.Start],
    widths: Sequence[int],
    *,
    shared: dict[str, np.ndarray],
    sequential: bool,
    products: bool,
    in_dim: int,
    out_dim: int,
    steps: int,
    slots: int | None,
    dtype: np.dtype,
    device: str | None,
    expected: np.ndarray | None = None,
    tf32: bool = False,
) -> PairedRuns:
    """The runs of all widths: by crews on a CPU, elsewhere in lanes.

    - `kind(rows)`, `orders(runs, rows)`: for lanes, which hold runs of one padded width
    - `start(run)`, `sequential`, `products`: for crews
    """
    with bar("descent beside its prediction", len(widths)) as advance:
        if one_processor(device):
            outcome = crews.descend(
                start,
                widths,
                in_dim=in_dim,
                out_dim=out_dim,
                plan=kind(0).plan,
                steps=steps,
                sequential=sequential,
                products=products,
                dtype=dtype,
                place=devices(device)[0],
                slots=slots,
                expected=expected,
                advance=advance,
            )
            return _paired(kind(0).plan, outcome.results, outcome.executed, outcome.needed, outcome.plan)
        padded = np.array([padded_width(width, in_dim, out_dim, device) for width in widths], dtype=int)
        found: dict[str, np.ndarray] = {}
        executed, needed, plans = 0, 0, list[str]()
        for rows in np.unique(padded).tolist():
            members = np.flatnonzero(padded == rows)
            room = slots or lanes_at_once(rows, in_dim, out_dim, device)
            outcome = lanes.descend(
                kind(rows),
                lambda runs, of=members, rows=rows: orders(of[runs].tolist(), rows),  # type: ignore[misc]
                np.full(len(members), steps),
                lanes=min(len(members), room),
                refill=max(1, min(len(members), room) // 16),
                shared=shared,
                expected=None if expected is None else expected[members],
                dtype=dtype,
                device=device,
                tf32=tf32,
                advance=advance,
            )
            executed, needed = executed + outcome.executed, needed + outcome.needed
            plans.append(outcome.plan)
            for name, value in outcome.results.items():
                found.setdefault(name, np.zeros((len(widths), *value.shape[1:]), value.dtype))[members] = value
    return _paired(kind(0).plan, found, executed, needed, "; ".join(plans))


def one_processor(device: str | None = None) -> bool:
    """Whether runs are carried by the cores of a CPU; several CPU devices are for lanes, as those of a GPU are."""
    places = devices(device)
    return len(places) == 1 and places[0].platform == "cpu"


def _paired(plan: loop.Plan, found: dict[str, np.ndarray], executed: int, needed: int, told: str) -> PairedRuns:
    products = found.get("best_product")
    return PairedRuns(
        reason=plan.reasons[found["code"]],
        steps=found["step"],
        loss=found["loss"],
        best_test=found["best_test"],
        best_step=found["best_step"],
        stable_rank=found["stable_rank"],
        best_product=None if products is None else products.astype(np.float64),
        largest_distance=found["distance"],
        executed=executed,
        needed=needed,
        plan=told,
    )


def padded_width(width: int, in_dim: int, out_dim: int, device: str | None = None) -> int:
    """The width a network is trained at: reduced, then filled with silent units to one of few sizes."""
    whole = in_dim + out_dim
    # each size is another compilation, which networks this small do not earn back
    parts: tuple[int, ...] = (8,)
    if _large_on_cpu(whole, device):
        parts = (1, 2, 4, 6, 8)
    elif whole > 800:
        parts = (2, 8)
    return next(size for size in (-(-whole * part // 8) for part in parts) if size >= min(width, whole))


def lanes_at_once(rows: int, in_dim: int, out_dim: int, device: str | None = None) -> int:
    """Runs carried at once: enough to fill the device, and no more, as lanes idle when the last runs end."""
    operations = 6 * in_dim * out_dim * (rows + min(in_dim, out_dim))
    if _on_cpu(device):
        return int(np.clip(CPU_OPERATIONS // operations, 2, 32))
    return int(np.clip(GPU_OPERATIONS // operations, 16, 4096))


def _large_on_cpu(whole: int, device: str | None) -> bool:
    """Whether a step is long enough for several CPU devices to be worth more than one compilation."""
    return whole > 160 and _on_cpu(device)


def _on_cpu(device: str | None) -> bool:
    return devices(device)[0].platform == "cpu"


def _drawn(make: Callable[[int], Pair], runs: Sequence[int], width: int) -> dict[str, np.ndarray]:
    """The arrays of several runs, drawn side by side."""
    if len(runs) < 2:
        loads = [_loaded(make(run), width) for run in runs]
    else:
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
            loads = list(threads.map(lambda run: _loaded(make(run), width), runs))
    return {name: np.stack([load[name] for load in loads]) for name in loads[0]}


def _loaded(pair: Pair, width: int = 0) -> dict[str, np.ndarray]:
    """The arrays of one run: its network in reduced coordinates, at least `width` wide, and what it is to learn."""
    problem, weights = pair.problem, pair.weights
    if not problem.whitened or problem.truth is None or problem.batch:
        raise ValueError("`problem` must be a single one made by `Problem.from_target`, with a `truth`.")
    small = reduce(problem, weights).weights
    empty = max(width - small.width, 0)
    return {
        "first": np.pad(small.first, ((0, empty), (0, 0))),
        "second": np.pad(small.second, ((0, 0), (0, empty))),
        "target": problem.cross,
        "truth": problem.truth,
        "rate": np.asarray(pair.learning_rate),
        "threshold": np.asarray(pair.threshold),
    }
