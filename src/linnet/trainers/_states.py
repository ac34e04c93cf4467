"""What compiled loops carry, by name: the types that trainers, objectives, stopping rules and records share.

Numbers and matrices are JAX's inside compiled code. Where a CPU carries runs by NumPy, the same functions are given
NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax

Array = jax.Array
Arrays = dict[str, Any]  # by name: JAX's arrays, or NumPy's on their way into compiled code
# What moves: "first", "second" (between them "inner_2", "inner_3" and so on, of deeper networks), "rest" (the factor
# left of the weights that the data never touch: 1 at initialization, less by weight decay), and whatever else a trainer
# carries: "velocity_first" and so on with momentum, "key" of random draws, "memory" of a user's update.
Params = Arrays
# Numbers by name, one for all or one for each member of a batch: "learning_rate", perhaps "weight_decay", "momentum",
# "noise", and "rate_first" and so on, the rates of layers in units of the common one. "schedule" (step,) is for all
# members and multiplies the learning rate; updates do not see it, but the rate of their step.
Hyper = Arrays
Seen = Any  # what an objective saw of a state: of linear networks the product A and the residual R = -dL/dA
Remembered = Any  # what a stopping rule or a record keeps from step to step: any tree of numbers


def layer_names_at_depth(depth: int) -> list[str]:
    """Return the names that the layers of a network of this depth have in a loop, from the first to the last."""
    return ["first", *(f"inner_{number}" for number in range(2, depth)), "second"]


def layer_names_in(params: Params) -> list[str]:
    """Return the names of the layers among what moves, from the first to the last, at whatever depth."""
    return layer_names_at_depth(2 + sum(name.startswith("inner_") for name in params))


def layers_of(params: Params) -> list[Array]:
    """Return the layers, from the first to the last."""
    return [params[name] for name in layer_names_in(params)]


class Objective(Protocol):
    """What a loop descends.

    Where `_loop.run` carries a batch, it is a dataclass that JAX knows, whose `NDIM` says which fields belong to single
    members (`_objective.batch_axes`). Slots (`diagrams/_slots`) bind one to each run, which needs neither.
    """

    def at(self, params: Params) -> tuple[Array, Seen]:
        """Return the loss at a state, and what else the update, the test loss and the record need of it."""

    def loss_scale(self) -> Array:
        """Return the size of usual losses, by which divergence is judged."""


class MonitoredLoss(Protocol):
    """A test loss that stopping rules and records look at."""

    def at(self, params: Params, seen: Seen) -> Array:
        """Return the test loss at a state of which the objective has `seen` the product.

        The product is `seen[0]`. An objective that sees something else (`relu.ReluObjective`) must run without a test
        loss.
        """


# A step of a run: from the objective, the hyperparameters of this step, the state's parameters, the number of the step
# and what the objective has seen to the moved parameters. It is a part of `Plan`, by which programs are compiled: equal
# ones must compare equal. With a learning rate of 0 the layers may not move: so runs stand still that have ended.
StepFunction = Callable[[Any, Hyper, Params, Array, Seen], Params]


@jax.tree_util.register_dataclass
@dataclass
class State:
    """One run on its way: its parameters, what its stopping rule and its record remember, the number of steps taken,
    and the code of why it has ended: 0 while it goes on, then the index into `Plan.reasons`."""

    params: Params
    rule: Remembered
    step: Array
    code: Array
    record: Remembered = None
