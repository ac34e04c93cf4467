"""Gradient descent of many networks of one shape, each on its own problem, of which only the ends are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from linnet.inits.weights import Weights
from linnet.precision import resolve
from linnet.reductions.reduction import Reduction
from linnet.trainers import _loop as loop
from linnet.trainers import lanes
from linnet.trainers._objective import Spectral
from linnet.trainers._states import Arrays, Hyper, State
from linnet.trainers.descent import UPDATES
from linnet.trainers.stopping import Rule, rule_of


@dataclass
class Run:
    """One network: its reduction, its step size and most steps; afterwards where it is and how it `ended`."""

    reduction: Reduction
    rate: float
    steps: int
    weights: Weights | None = None
    taken: int = 0
    ended: str = ""

    @property
    def shape(self) -> tuple[object, ...]:
        """What runs that are carried together have in common."""
        start = self.reduction.weights
        return self.reduction.full_problem.whitened, start.first.shape, start.second.shape


def descend(runs: Sequence[Run], *, slots: int, stop: Rule | float | None, dtype: DTypeLike | None) -> None:
    """Takes every run to its end, at most `slots` at a time: all its steps, a loss of at most `stop`, or divergence."""
    kind = _kind(stop)
    number = resolve(dtype)

    def orders(chosen: list[int]) -> dict[str, np.ndarray]:
        loads = [_order(runs[index], number) for index in chosen]
        return {name: np.stack([load[name] for load in loads]) for name in loads[0]}

    outcome = lanes.descend(kind, orders, [run.steps for run in runs], lanes=slots, shared={}, dtype=number)
    found = outcome.results
    for index, run in enumerate(runs):
        run.taken, run.ended = int(found["step"][index]), str(kind.plan.reasons[found["code"][index]])
        gone = run.ended == "diverged"
        first, second = (np.zeros_like(found[n][index]) if gone else found[n][index] for n in ("first", "second"))
        run.weights = Weights(first, second)


def _kind(stop: Rule | float | None) -> lanes.Kind:
    return lanes.Kind(loop.Plan(UPDATES["simultaneous"], rule_of(stop)), _draw, _bind, _ends)


def _order(run: Run, number: np.dtype) -> dict[str, np.ndarray]:
    problem, start = run.reduction.full_problem, run.reduction.weights
    factor = problem.factor
    arrays = {
        "first": start.first,
        "second": start.second,
        "target": problem.cross if problem.whitened else factor.target,
        "floor": factor.floor,
        "rate": run.rate,
        **({} if problem.whitened else {"scales": factor.scales}),
    }
    return {name: np.asarray(array, number) for name, array in arrays.items()}


def _draw(shared: Arrays, order: Arrays) -> tuple[Arrays, Arrays]:
    lane = {name: value for name, value in order.items() if name not in ("first", "second", "steps")}
    params = {"first": order["first"], "second": order["second"], "rest": order["rate"] * 0 + 1}
    return lane, params


def _bind(shared: Arrays, lane: Arrays) -> tuple[Spectral, None, Hyper]:
    return (
        Spectral(lane.get("scales"), lane["target"], lane["floor"]),
        None,
        {
            "learning_rate": lane["rate"],
            "weight_decay": 0.0,
        },
    )


def _ends(state: State) -> Arrays:
    return {name: state.params[name] for name in ("first", "second")}
