"""The update of the layers, written once for compiled code: forces, weight decay, momentum, step size.

NumPy's kernels (`diagrams/_numpy_run.py`, `_self_consistent.py`, `torch/_affine_descent.py`) are tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence

from linnet.trainers._states import Array, Hyper, Objective, Params, Seen, Update, layer_names, layers_of


def forces(layers: Sequence[Array], residual: Array) -> list[Array]:
    """Minus the gradients of all layers for the residual $R = -dL/dA$; of two, $W_2^T R$ and $R W_1^T$."""
    below = [layers[0]]
    for layer in layers[1:-1]:
        below.append(layer @ below[-1])
    pushes, pull = [], residual
    for index in range(len(layers) - 1, 0, -1):
        pushes.append(pull @ below[index - 1].T)
        pull = layers[index].T @ pull
    return [pull, *pushes[::-1]]


def along(params: Params, hyper: Hyper, residual: Array) -> Params:
    """All layers after one step for the residual, each seeing the others as they were."""
    pushes = forces(layers_of(params), residual)
    return moved(params, hyper, dict(zip(layer_names(params), pushes, strict=True)))


def moved(params: Params, hyper: Hyper, pushes: Params, *, also_rest: bool = True) -> Params:
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
        own = hyper.get("rate_first" if name == "rest" else f"rate_{name}")  # of layers that have a rate of their own
        rate = hyper["learning_rate"] if own is None else hyper["learning_rate"] * own
        new[name] = params[name] + rate * push
    return new


def simultaneous(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Full-batch descent."""
    return along(params, hyper, seen[1])


def sequential(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """The first layer moves, then the next ones, each of which sees the new layers below it and the old residual."""
    for index, name in enumerate(layer_names(params)):
        push = forces(layers_of(params), seen[1])[index]
        params = moved(params, hyper, {name: push}, also_rest=index == 0)
    return params


UPDATES: dict[str, Update] = {"simultaneous": simultaneous, "sequential": sequential}
