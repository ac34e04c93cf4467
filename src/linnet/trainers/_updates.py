"""The update of the two layers, written once for compiled code: forces, weight decay, momentum, step size.

NumPy's kernels (`diagrams/_numpy_run.py`, `_self_consistent.py`, `torch/_affine_descent.py`) are tested against it.
"""

from __future__ import annotations

from linnet.trainers._states import Array, Hyper, Objective, Params, Seen, Update


def forces(first: Array, second: Array, residual: Array) -> tuple[Array, Array]:
    """Minus the gradients of both layers, $W_2^T R$ and $R W_1^T$, for the residual $R = -dL/dA$."""
    return second.T @ residual, residual @ first.T


def along(params: Params, hyper: Hyper, residual: Array) -> Params:
    """Both layers after one step for the residual, each seeing the other as it was."""
    first, second = forces(params["first"], params["second"], residual)
    return moved(params, hyper, {"first": first, "second": second})


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
        new[name] = params[name] + hyper["learning_rate"] * push
    return new


def simultaneous(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Full-batch descent."""
    return along(params, hyper, seen[1])


def sequential(objective: Objective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """The first layer moves, then the second one, which sees the new first layer and the old residual."""
    residual = seen[1]
    halfway = moved(params, hyper, {"first": forces(params["first"], params["second"], residual)[0]})
    second = forces(halfway["first"], halfway["second"], residual)[1]
    return moved(halfway, hyper, {"second": second}, also_rest=False)


UPDATES: dict[str, Update] = {"simultaneous": simultaneous, "sequential": sequential}
