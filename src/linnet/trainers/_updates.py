"""The update of the layers, written once for compiled code: forces, weight decay, momentum, step size.

NumPy's kernels (`diagrams/_numpy_run.py`, `_self_consistent.py`, `torch/_affine_descent.py`) are tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from linnet.trainers import updates
from linnet.trainers._states import Array, Hyper, Objective, Params, Seen, Update, layer_names, layers_of


def forces(layers: Sequence[Array], residual: Array) -> list[Array]:
    """Minus the gradients of all layers for the residual $R = -dL/dA$; of two, $W_2^T R$ and $R W_1^T$."""
    if len(layers) > 2 and residual.shape[0] < residual.shape[1]:  # fewer outputs: their columns are carried instead
        return [push.T for push in forces([layer.T for layer in reversed(layers)], residual.T)[::-1]]
    below = [layers[0]]
    for layer in layers[1:-1]:
        below.append(layer @ below[-1])
    pushes, pull = [], residual
    for index in range(len(layers) - 1, 0, -1):
        pushes.append(pull @ below[index - 1].T)
        pull = layers[index].T @ pull
    return [pull, *pushes[::-1]]


def residual_step(params: Params, hyper: Hyper, residual: Array) -> Params:
    """All layers after one step for the residual, each seeing the others as they were."""
    pushes = forces(layers_of(params), residual)
    return push_step(params, hyper, dict(zip(layer_names(params), pushes, strict=True)))


def push_step(params: Params, hyper: Hyper, pushes: Params, *, also_rest: bool = True) -> Params:
    """One step along `pushes`, with weight decay if there is any and momentum where the state carries velocities.

    `rest`, the factor left of weights that the data never touch, moves by decay alone.
    """
    new, decays = dict(params), "weight_decay" in hyper
    for name, push in {**pushes, **({"rest": 0.0} if also_rest and decays else {})}.items():
        if decays:
            push = push - hyper["weight_decay"] * params[name]
        if f"velocity_{name}" in params:
            push = hyper["momentum"] * params[f"velocity_{name}"] + push
            new[f"velocity_{name}"] = push
        new[name] = params[name] + layer_rate(hyper, "first" if name == "rest" else name) * push
    return new


def layer_rate(hyper: Hyper, layer: str) -> Array:
    """The learning rate of a layer, which may have one of its own in units of the common one."""
    own = hyper.get(f"rate_{layer}")
    return hyper["learning_rate"] if own is None else hyper["learning_rate"] * own


def simultaneous(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Move all layers by one step of full-batch descent."""
    return residual_step(params, hyper, seen[1])


def sequential(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """The first layer moves, then the next ones, each of which sees the new layers below it and the old residual."""
    for number, name in enumerate(layer_names(params)):
        push = forces(layers_of(params), seen[1])[number]
        params = push_step(params, hyper, {name: push}, also_rest=number == 0)
    return params


@dataclass(frozen=True)
class UserUpdate:
    """An update of the user's own as a loop takes it. Its memory travels with the parameters."""

    rule: updates.Update

    def start(self, params: Params) -> Params:
        """The parameters of a run, or of each of a batch, with what the update remembers."""

        def one(params: Params) -> Params:
            return {**params, "memory": self.rule.init({name: params[name] for name in layer_names(params)})}

        return jax.vmap(one)(params) if params["first"].ndim == 3 else one(params)

    def __call__(self, objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
        names = layer_names(params)
        layers = {name: params[name] for name in names}
        gradients = {name: -push for name, push in zip(names, forces(layers_of(params), seen[1]), strict=True)}
        rates = {name: layer_rate(hyper, name) for name in names}
        new, memory = self.rule.step(layers, gradients, params["memory"], rates, index)
        moves = hyper["learning_rate"] != 0  # a run that has ended stands still, whatever the update does then
        after = {**{name: new[name] for name in names}, "memory": memory}
        before = {**layers, "memory": params["memory"]}
        return {**params, **jax.tree.map(lambda a, b: jnp.where(moves, a, b), after, before)}


UPDATES: dict[str, Update] = {"simultaneous": simultaneous, "sequential": sequential}
