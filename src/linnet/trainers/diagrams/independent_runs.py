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
from linnet.trainers._layer_steps import UPDATES
from linnet.trainers._objective import SpectralObjective
from linnet.trainers._states import Arrays, Hyper, Params, State
from linnet.trainers.diagrams import _slots
from linnet.trainers.stopping import Rule, rule_of


@dataclass
class IndependentRun:
    """One network: its reduction, step size and number of steps.

    `train_independent_runs` writes into it: the reduced `weights` at its end (zeros where it diverged), the steps
    `taken`, and how it `ended`, in the words of `Status.reason`.
    """

    reduction: Reduction
    rate: float
    steps: int
    weights: Weights | None = None
    taken: int = 0
    ended: str = ""

    @property
    def shape(self) -> tuple[object, ...]:
        """Return whether inputs are whitened, and the shapes of both layers: runs that agree are trained together."""
        start = self.reduction.weights
        return self.reduction.full_problem.whitened, start.first.shape, start.second.shape


def train_independent_runs(
    runs: Sequence[IndependentRun], *, slots: int, stop: Rule | float | None, dtype: DTypeLike | None
) -> None:
    """Train every run for all its steps, or until `stop` or divergence ends it; write into it where it ended.

    - `runs`: runs of one `shape`
    - `slots`: runs trained at once
    """
    kind = _run_kind(stop)
    run_dtype = resolve(dtype)

    def specs(chosen: list[int]) -> dict[str, np.ndarray]:
        """Return the arrays that describe the chosen runs, stacked."""
        each = [_run_spec(runs[index], run_dtype) for index in chosen]
        return {name: np.stack([spec[name] for spec in each]) for name in each[0]}

    limits = [run.steps for run in runs]
    results = _slots.train_in_slots(kind, specs, limits, slots=slots, shared={}, dtype=run_dtype).results
    for index, run in enumerate(runs):
        run.taken, run.ended = int(results["step"][index]), str(kind.plan.reasons[results["code"][index]])
        layers = results["first"][index], results["second"][index]
        run.weights = Weights(*map(np.zeros_like, layers)) if run.ended == "diverged" else Weights(*layers)


def _run_kind(stop: Rule | float | None) -> _slots.RunKind:
    """Return what all these runs share: plain descent with the stopping rule."""
    return _slots.RunKind(loop.Plan(UPDATES["simultaneous"], rule_of(stop)), _slot_and_params, _bind, _final_layers)


def _run_spec(run: IndependentRun, run_dtype: np.dtype) -> dict[str, np.ndarray]:
    """Return the arrays that describe a run, in the number type of the training."""
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
    return {name: np.asarray(array, run_dtype) for name, array in arrays.items()}


def _slot_and_params(shared: Arrays, spec: Arrays) -> tuple[Arrays, Params]:
    """Return what a slot keeps of a run, and the parameters it starts from: `draw` of its `RunKind`."""
    params = {"first": spec["first"], "second": spec["second"]}
    return {name: value for name, value in spec.items() if name not in (*params, "steps")}, params


def _bind(shared: Arrays, slot: Arrays) -> tuple[SpectralObjective, None, Hyper]:
    """Return objective, test loss (none) and step size of the run in a slot: `bind` of its `RunKind`."""
    objective = SpectralObjective(slot.get("scales"), slot["target"], slot["floor"])
    return objective, None, {"learning_rate": slot["rate"]}


def _final_layers(state: State) -> Arrays:
    """Return what is kept of a finished run: its layers, by the names that `train_independent_runs` reads."""
    return state.params
