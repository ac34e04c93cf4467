"""The compiled step of a run: a network, and the narrow network that predicts it, at the same learning rate.

On a CPU runs are stepped by NumPy: `_step_network` has its twin in `_numpy_run._Network.step`, `PairedObjective` in
`_PairedRun`, `TruthLoss` in `_NumpyTruthLoss` and `run_result` in `_run_result` there. Change both. The record alone
serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax.numpy as jnp
import numpy as np

from linnet._arguments import shown
from linnet.trainers._array_or_number import select
from linnet.trainers._layer_steps import negative_gradients
from linnet.trainers._states import Array, Arrays, Hyper, Params, Seen, State, StepFunction
from linnet.trainers.diagrams._largest_value import largest_singular_value

# What a run moves: the layers of the network, and of the narrow one next to it. First layers are kept transposed: of
# the layouts of the three products of a step, CPUs are fastest at these.
NAMES = ("first_transposed", "second", "narrow_first_transposed", "narrow_second")


def pair_params(network: tuple[Array, Array], narrow: tuple[Array, Array]) -> Params:
    """Return the parameters of a run, by `NAMES`, from (first, second) of the network and of the narrow one."""
    return dict(zip(NAMES, (network[0].T, network[1], narrow[0].T, narrow[1]), strict=True))


@dataclass(frozen=True)
class PairedObjective:
    """|G - A|^2/2 of the network; it sees its product, how far that of the narrow one is, and the residuals of both."""

    target: Array

    def at(self, params: Params) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        """Return the loss, and what was seen: product, squared distance from the narrow one's, both residuals.

        `BestRecord` reads the first two, which are all that `_numpy_run` has; `TruthLoss` reads the first, the step the
        residuals.
        """
        product = params["second"] @ params["first_transposed"].T
        predicted = params["narrow_second"] @ params["narrow_first_transposed"].T
        seen = (product, _squared_distance(product, predicted), self.target - product, self.target - predicted)
        return 0.5 * _squared_distance(self.target, product), seen

    def loss_scale(self) -> Array:
        """Return the loss of a network that is zero."""
        return 0.5 * _squared_distance(self.target, 0.0)


@dataclass(frozen=True)
class TruthLoss:
    """The test loss |A - T|^2/2."""

    truth: Array

    def at(self, params: Params, seen: Seen) -> Array:
        """Return the test loss at the product that was seen."""
        return 0.5 * _squared_distance(seen[0], self.truth)


@dataclass(frozen=True)
class BestRecord:
    """The smallest test loss, when and where it was, the last loss, and how far apart the two networks have been.

    Its keys are fields of `DiagramRuns`, but for "best_product", in whose place `run_result` has "stable_rank".
    """

    def start(self, params: Params) -> Arrays:
        """Return the record before the first state."""
        shape = params["second"].shape[0], params["first_transposed"].shape[0]
        return {
            "loss": np.float64(np.inf),
            "min_test_loss": np.float64(np.inf),
            "best_step": np.int64(0),
            "best_product": np.zeros(shape, params["second"].dtype),
            "largest_distance": np.float64(0),
        }

    def update(self, record: Arrays, step: Array, loss: Array, test_loss: Array, seen: Seen) -> Arrays:
        """Return the record after one more state.

        Given NumPy's numbers it holds the best product itself, not a copy, and no other: `_numpy_run` overwrites all
        products but that one.
        """
        (product, distance), farthest = seen[:2], record["largest_distance"]
        better = test_loss < record["min_test_loss"]
        return {
            "loss": loss,
            "min_test_loss": select(better, test_loss, record["min_test_loss"]),
            "best_step": select(better, step, record["best_step"]),
            "best_product": select(better, product, record["best_product"]),
            "largest_distance": select(distance <= farthest, farthest, distance),
        }


def bind(shared: Arrays, slot: Arrays) -> tuple[PairedObjective, TruthLoss, Hyper]:
    """Return objective, test loss and step size of a run: `bind` of its `RunKind`. Target and truth are those of its
    slot, or else shared by all runs."""
    task = slot if "target" in slot else shared
    schedule = {name: shared[name] for name in ("schedule",) if name in shared}
    return PairedObjective(task["target"]), TruthLoss(task["truth"]), {"learning_rate": slot["rate"], **schedule}


def run_result(state: State) -> Arrays:
    """Return what is kept of a run, by the names of `DiagramRuns`: its record, with the stable rank of the best product
    in place of the product. `_numpy_run` has the same in NumPy."""
    kept = {name: value for name, value in state.record.items() if name != "best_product"}
    product = state.record["best_product"].astype(jnp.float64)
    return {**kept, "stable_rank": jnp.sum(product**2) / largest_singular_value(product) ** 2}


def _squared_distance(one: Array, other: Array | float) -> Array:
    """Return |A - B|_F^2 in float64, whatever the run's arithmetic is.

    On the plateau of a small initialization a float32 loss changes by less than its rounding, and would end runs at
    random.
    """
    return jnp.sum((jnp.asarray(one, jnp.float64) - jnp.asarray(other, jnp.float64)) ** 2)


def paired_update(name: str) -> StepFunction:
    """Return the step of both networks, by the name of the network's own update; refuse other names."""
    if not isinstance(name, str) or name not in _PAIRED_UPDATES:
        own = " An update of one's own has no prediction next to it: train with `gradient_descent`."
        raise ValueError(
            f"`update` must be 'simultaneous' or 'sequential': got {shown(name)}.{'' if isinstance(name, str) else own}"
        )
    return _PAIRED_UPDATES[name]


def _step_pair(
    sequential: bool, objective: PairedObjective, hyper: Hyper, params: Params, index: Array, seen: Seen
) -> Params:
    """Step both networks by the residuals that `PairedObjective.at` has seen: both layers at once, or of the network
    the first layer, then the second."""
    # The rate goes to the residuals, the smallest matrices; then products are added to the layers they move.
    first, second, narrow_first, narrow_second = (params[name] for name in NAMES)
    residual, narrow_residual = (hyper["learning_rate"] * residual for residual in seen[2:])
    network = _step_network(first, second, residual, sequential=sequential)
    narrow = _step_network(narrow_first, narrow_second, narrow_residual, sequential=False)
    return dict(zip(NAMES, network + narrow, strict=True))


_PAIRED_UPDATES = {"simultaneous": partial(_step_pair, False), "sequential": partial(_step_pair, True)}


def _step_network(
    first_transposed: Array, second: Array, scaled_residual: Array, *, sequential: bool
) -> tuple[Array, Array]:
    """Return both layers of a network, the first one transposed, after a step for the residual times the rate.

    `sequential` moves the second layer along the first one as it is after this step, with the residual from before it;
    otherwise each sees the other as it was.
    """
    first_step, second_step = negative_gradients((first_transposed.T, second), scaled_residual)
    if sequential:
        moved = first_transposed + first_step.T
        return moved, second + negative_gradients((moved.T, second), scaled_residual)[1]
    return (
        first_transposed + _ordered_after(second_step, first_step.T),
        second + _ordered_after(first_step.T, second_step),
    )


def _ordered_after(earlier: Array, later: Array) -> Array:
    """Return the matrix `later`, of which XLA now knows that it comes after `earlier`: a zero made of that is added.

    A layer may be overwritten when the product that reads it has been taken. Without this order XLA copies all layers
    before every step, one twentieth of its time on a CPU. No bit of finite numbers changes.
    """
    return later + 0 * earlier[:1, :1]
