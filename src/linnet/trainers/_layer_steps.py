"""One step of the layers, written once for compiled code: gradients, weight decay, momentum, step size.

NumPy's kernels (`diagrams/_numpy_run.py`, `torch/_affine_descent.py`) are tested against it. All steps here but
`step_along` are for linear networks: the residual is `seen[1]` of a `ProductObjective`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from linnet.trainers import updates
from linnet.trainers._states import Array, Hyper, Objective, Params, Seen, StepFunction, layer_names_in, layers_of


def negative_gradients(layers: Sequence[Array], residual: Array) -> list[Array]:
    """Return minus the gradients of all layers for the residual $R = -dL/dA$; of two, $W_2^T R$ and $R W_1^T$."""
    if len(layers) > 2 and residual.shape[0] < residual.shape[1]:  # fewer outputs: their columns are carried instead
        transposed = negative_gradients([layer.T for layer in reversed(layers)], residual.T)
        return [direction.T for direction in reversed(transposed)]
    below = [layers[0]]
    for layer in layers[1:-1]:
        below.append(layer @ below[-1])
    directions, pull = [], residual
    for index in range(len(layers) - 1, 0, -1):
        directions.append(pull @ below[index - 1].T)
        pull = layers[index].T @ pull
    return [pull, *directions[::-1]]


def residual_step(params: Params, hyper: Hyper, residual: Array) -> Params:
    """Return all layers after one step for the residual $R = -dL/dA$, each seeing the others as they were."""
    directions = negative_gradients(layers_of(params), residual)
    return step_along(params, hyper, dict(zip(layer_names_in(params), directions, strict=True)))


def step_along(params: Params, hyper: Hyper, directions: Params, *, also_rest: bool = True) -> Params:
    """Step the layers that `directions` names, with weight decay if `hyper` has any and momentum where `params` has
    velocities; the rest of `params` stays.

    `also_rest` says whether "rest", which moves by decay alone and at the rate of the first layer, is stepped too: of
    the calls of one step exactly one may do so.
    """
    new, decays = dict(params), "weight_decay" in hyper
    for name, direction in {**directions, **({"rest": 0.0} if also_rest and decays else {})}.items():
        if decays:
            direction = direction - hyper["weight_decay"] * params[name]
        if f"velocity_{name}" in params:
            direction = hyper["momentum"] * params[f"velocity_{name}"] + direction
            new[f"velocity_{name}"] = direction
        new[name] = params[name] + layer_rate(hyper, "first" if name == "rest" else name) * direction
    return new


def layer_rate(hyper: Hyper, layer: str) -> Array:
    """Return the learning rate of a layer, which may differ, in units of the common rate."""
    own = hyper.get(f"rate_{layer}")
    return hyper["learning_rate"] if own is None else hyper["learning_rate"] * own


def simultaneous(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Move all layers by one step of full-batch descent."""
    return residual_step(params, hyper, seen[1])


def sequential(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Move the first layer, then the next ones, each of which sees the new layers below it and the old residual."""
    for number, name in enumerate(layer_names_in(params)):
        direction = negative_gradients(layers_of(params), seen[1])[number]
        params = step_along(params, hyper, {name: direction}, also_rest=number == 0)
    return params


@dataclass(frozen=True)
class UserUpdate:
    """An update of the user's own as a loop takes it. Its memory travels with the parameters, which `start` puts there
    before the first step.

    An update with a method `remaining(rate)` shrinks what the data never touch by this factor, as decay does.
    """

    rule: updates.Update

    @property
    def reads_weights(self) -> bool:
        """Return whether the step of a layer depends on its weights: unless the update says that it does not."""
        return bool(getattr(self.rule, "reads_weights", True))

    @property
    def decays(self) -> bool:
        """Return whether the update shrinks what the data never touch."""
        return hasattr(self.rule, "remaining") and bool(getattr(self.rule, "weight_decay", 1.0))

    def start(self, params: Params) -> Params:
        """Return the parameters of a run, or of each of a batch, with what the update remembers as "memory"."""

        def with_memory(params: Params) -> Params:
            return {**params, "memory": self.rule.init({name: params[name] for name in layer_names_in(params)})}

        return jax.vmap(with_memory)(params) if params["first"].ndim == 3 else with_memory(params)

    def __call__(self, objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
        names = layer_names_in(params)
        layers = {name: params[name] for name in names}
        directions = negative_gradients(layers_of(params), seen[1])
        gradients = {name: -direction for name, direction in zip(names, directions, strict=True)}
        rates = {name: layer_rate(hyper, name) for name in names}
        new, memory = self.rule.step(layers, gradients, params["memory"], rates, index)
        moves = hyper["learning_rate"] != 0  # a run that has ended stands still, whatever the update does then
        after = {**{name: new[name] for name in names}, "memory": memory}
        before = {**layers, "memory": params["memory"]}
        if hasattr(self.rule, "remaining"):
            before["rest"] = params["rest"]
            after["rest"] = params["rest"] * self.rule.remaining(rates["first"])
        return {**params, **jax.tree.map(lambda a, b: jnp.where(moves, a, b), after, before)}


UPDATES: dict[str, StepFunction] = {"simultaneous": simultaneous, "sequential": sequential}
