"""Runs of a diagram from starts of one's own, for tests of what trains them: by workers on a CPU, or in slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from linnet.inits.weights import Weights
from linnet.precision import resolve
from linnet.problems.problem import Problem
from linnet.reductions.reduction import reduce
from linnet.trainers._states import Arrays, Params
from linnet.trainers.diagrams import DiagramRuns, _slots
from linnet.trainers.diagrams._diagram import Diagram, DiagramSettings, RunStart
from linnet.trainers.diagrams._narrow_network import narrow_network
from linnet.trainers.diagrams._paired_step import bind, pair_params, run_result
from linnet.trainers.diagrams._runs import train_runs
from linnet.trainers.stopping import rule_of


@dataclass(frozen=True)
class Pair:
    """One run: a whitened problem with a truth, a start, the threshold of its prediction, and its step size."""

    problem: Problem
    weights: Weights
    threshold: float
    learning_rate: float


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
) -> DiagramRuns:
    """Train the runs that `make` draws when their turn comes, as `gaussian_diagram` does its own."""
    settings = DiagramSettings(update, rule_of(stop), steps, resolve(dtype))

    def specs(runs: list[int]) -> dict[str, np.ndarray]:
        loads = [_arrays(make(run), in_dim + out_dim) for run in runs]
        return {name: np.stack([load[name] for load in loads]) for name in loads[0]}

    return train_runs(
        Diagram(
            settings,
            lambda run: RunStart(**_arrays(make(run))),  # type: ignore[arg-type]
            widths,
            in_dim,
            out_dim,
            np.ones(len(widths)),
        ),
        lambda rows: _slots.RunKind(settings.plan, partial(_draw, settings.dtype.name, rows), bind, run_result),
        specs,
        shared={},
        slots=slots,
        device=None,
    )


def _draw(dtype: str, rows: int, shared: Arrays, spec: Arrays) -> tuple[Arrays, Params]:
    first, second = spec["first"][:rows], spec["second"][:, :rows]
    params = pair_params((first, second), narrow_network(second @ first, spec["threshold"]))
    slot = {name: spec[name] for name in ("target", "truth", "rate")}
    return jax.tree.map(lambda array: array.astype(dtype), (slot, params))


def _arrays(pair: Pair, width: int = 0) -> dict[str, np.ndarray]:
    """The network in reduced coordinates, at least `width` wide, and what it is to learn."""
    small = reduce(pair.problem, pair.weights).weights
    empty = max(width - small.width, 0)
    return {
        "first": np.pad(small.first, ((0, empty), (0, 0))),
        "second": np.pad(small.second, ((0, 0), (0, empty))),
        "target": pair.problem.cross,
        "truth": np.asarray(pair.problem.truth),
        "rate": np.asarray(pair.learning_rate),
        "threshold": np.asarray(pair.threshold),
    }
