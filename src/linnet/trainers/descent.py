"""Gradient descent on all layers at once, at any width and depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, flag, non_negative, real_array, shown, within_scope
from linnet.inits.layers import Layers, check_layers
from linnet.inits.weights import Weights
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.reductions._trial_descent import MAX_STEPS, StepSizes
from linnet.reductions.deep import DeepReduction, reduced_layers
from linnet.reductions.reduction import Reduction, check_match, refuse_diverged
from linnet.reductions.reduction import reduce as reduction_of
from linnet.trainers import _loop as loop
from linnet.trainers._objective import testing_objective, training_objective
from linnet.trainers._states import Params
from linnet.trainers._updates import UPDATES, UserUpdate
from linnet.trainers._widths import pad_width
from linnet.trainers.schedules import Rate, Rates, rates_of
from linnet.trainers.stability import stable_learning_rate
from linnet.trainers.stopping import Rule, rule_of
from linnet.trainers.updates import Update
from linnet.trajectories.saving import Saving, policy
from linnet.trajectories.status import DivergedError
from linnet.trajectories.trajectory import Trajectory


@within_scope
def gradient_descent(
    problem: Problem,
    weights: Weights | Layers,
    *,
    learning_rate: Rate,
    steps: int,
    save_every: int | Saving = 1,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    update: str | Update = "simultaneous",
    stop: Rule | float | None = None,
    dtype: DTypeLike | None = None,
    reduce: bool = True,
    keep: str = "weights",
    device: str | None = None,
    throw: bool = True,
    layer_rates: ArrayLike | None = None,
) -> Trajectory:
    r"""Full-batch gradient descent on all layers at once.

    $$ W_1 \leftarrow W_1 + \eta (W_2^T R - \lambda W_1), \quad W_2 \leftarrow W_2 + \eta (R W_1^T - \lambda W_2), $$

    with $R = \Gamma - W_2 W_1 \Sigma$ (or minus the gradient of the cost); of deeper networks $W_l$ moves along
    $(W_L \cdots W_{l+1})^T R (W_{l-1} \cdots W_1)^T$.

    **Arguments:**

    - `problem`: what is to be learned
    - `weights`: the start, `Weights` or `Layers`; a leading axis is a batch of networks
    - `learning_rate`: $\eta$, one number, or one for each member of the batch; a `Schedule`, or a function of the step
    - `steps`: how many
    - `save_every`: an interval, or a policy of `linnet.trajectories`
    - `weight_decay`: $\lambda$
    - `momentum`: $\mu$ of $v \leftarrow \mu v + (\dots)$, $W \leftarrow W + \eta v$
    - `update`: `"simultaneous"`; `"sequential"` moves $W_1$ first and lets $W_2$ see the new $W_1$ (with the residual
      of the old one); or one
      of your own (`linnet.trainers.updates`)
    - `stop`: a loss threshold, or a rule of `linnet.trainers.stopping`
    - `dtype`: float64 by default, or `"float32"`
    - `reduce`: whether to run in reduced coordinates, at a cost that does not depend on the width; lifted back on
      demand
    - `keep`: what to keep of a saved state: its `"weights"`, its `"products"` or only its `"losses"`
    - `device`: `"cpu"` or `"gpu"`; by default the one that JAX prefers
    - `throw`: whether to raise `DivergedError` where the loss explodes, or to say so in the status
    - `layer_rates`: learning rates of the layers in units of `learning_rate`, one for each (see `inits.scaling`)

    **Returns** a `Trajectory`. That of `Layers` is exact where they reduce exactly, and to 1e-8 of the products
    elsewhere; `run.reduction.error` tells it.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import gradient_descent
        >>> problem = ln.Problem.from_target([[2.0, 0.0], [0.0, 0.5]])
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=100, first_std=0.01, second_std=0.01)
        >>> run = gradient_descent(problem, start, learning_rate=0.1, steps=200, save_every=20)
        >>> run.products[-1].diagonal().round(3).tolist(), run.steps[:3].tolist()
        ([2.0, 0.5], [0, 20, 40])
    """
    steps, throw = count("steps", steps, least=0, most=2**62), flag("throw", throw)
    rates = learning_rates(learning_rate, steps, problem, weights)
    hyper: dict[str, np.ndarray | float] = {
        **rates.hyper(),
        "weight_decay": non_negative("weight_decay", weight_decay),
    }
    momentum = hyper["momentum"] = non_negative("momentum", momentum)
    if momentum >= 1:
        raise ValueError(f"`momentum` must be below 1: got {momentum}.")
    step = _resolve_update(update, plain=momentum == 0 and hyper["weight_decay"] == 0, reduced=reduce)
    hyper |= layer_rates_of(layer_rates, weights, reduced=reduce, decays=hyper["weight_decay"] != 0)
    paths = _step_sizes(rates, min(steps, MAX_STEPS), hyper, layer_rates) if update == "simultaneous" else None
    reduction = prepare(problem, weights, reduce, paths=paths)
    with computing(dtype, device) as resolved:
        objective = training_objective(problem, reduced=reduction.basis is not None, dtype=resolved)
        run = pad_width(reduction) if reduce else reduction
        test = testing_objective(run, resolved)
        params = initial_params(run, resolved, velocity=momentum > 0)
        if isinstance(step, UserUpdate):
            params = jax.vmap(step.start)(params) if params["first"].ndim == 3 else step.start(params)
        trajectory = loop.run(
            objective,
            test,
            params,
            {name: jnp.asarray(value, resolved) for name, value in hyper.items()},
            reduction=reduction,
            plan=loop.Plan(step, rule_of(stop), keep),
            steps=steps,
            saving=policy(save_every),
            title="gradient descent",
            attributes={
                "trainer": "gradient_descent",
                "learning_rate": rates.described(),
                "steps": steps,
                "weight_decay": hyper["weight_decay"],
                "momentum": momentum,
                "update": update if isinstance(update, str) else type(update).__name__,
                "dtype": resolved.name,
                "device": device_name(),
            },
        )
    if throw and not trajectory.status.ok:
        raise divergence_error(trajectory, rates.constant, problem, weights)
    return trajectory


def _resolve_update(update: str | Update, *, plain: bool, reduced: bool) -> loop.Update:
    """Return the update of the loop that `update` names, or that wraps the user's own; refuse what a run cannot use."""
    if isinstance(update, str) and update in UPDATES:
        return UPDATES[update]
    if isinstance(update, (str, type)) or not isinstance(update, Update):
        names = ", ".join(sorted(UPDATES))
        raise ValueError(
            f"`update` must be one of {names}, or a rule of `linnet.trainers.updates`: got {shown(update)} "
            "(docs/scope.md)."
        )
    if not plain:
        raise ValueError("`weight_decay` and `momentum` are those of linnet's own updates: write them into yours.")
    if reduced and not update.equivariant:
        raise ValueError(
            f"`update` {type(update).__name__} does not commute with rotations (`equivariant`): give `reduce=False`."
        )
    return UserUpdate(update)


def _step_sizes(rates: Rates, steps: int, hyper: dict[str, Any], layer_rates: ArrayLike | None) -> list[StepSizes]:
    """Return the step sizes of every run, by which a deep network is reduced."""
    own = None if layer_rates is None else np.asarray(layer_rates, dtype=float)
    each = np.ones(max(steps, 1)) if rates.schedule is None else rates.schedule[: max(steps, 1)]
    return [
        StepSizes(rate * each, hyper["momentum"], hyper["weight_decay"], own) for rate in np.atleast_1d(rates.constant)
    ]


def prepare(
    problem: Problem, weights: Weights | Layers, reduced: bool, *, paths: Sequence[StepSizes] | None = ()
) -> Reduction:
    """The coordinates a run is carried out in; the problem's own with `reduced=False`.

    `paths` are the descents of a deep network (see `reductions.deep.reduced_layers`).
    """
    if not isinstance(reduced, (bool, np.bool_)):
        raise ValueError(f"`reduce` must be True or False: got {reduced!r}.")
    if reduced and isinstance(weights, Layers):
        check_match(problem, weights, any_depth=True)
        refuse_diverged("weights", weights)
        return reduced_layers(problem, check_layers(weights), paths=paths)
    if reduced:
        return reduction_of(problem, weights)
    check_match(problem, weights, any_depth=True)
    refuse_diverged("weights", weights)
    kind = DeepReduction if isinstance(weights, Layers) else Reduction
    return kind(problem, weights, weights, None, None)


def initial_params(reduction: Reduction, dtype: np.dtype, *, velocity: bool = False) -> Params:
    """The state a loop starts from, with the batch of the problem or of the weights in front."""
    layers = reduction.weights.layers if isinstance(reduction.weights, Layers) else _two_layers(reduction.weights)
    batch = reduction.full_problem.batch
    if batch and layers[0].ndim == 2:
        layers = tuple(np.broadcast_to(layer, (batch, *layer.shape)) for layer in layers)
    names = ["first", "second", *(f"inner_{number}" for number in range(2, len(layers)))]
    ordered = (layers[0], layers[-1], *layers[1:-1])
    params = {name: jnp.asarray(layer, dtype) for name, layer in zip(names, ordered, strict=True)}
    params["rest"] = jnp.asarray(np.ones(layers[0].shape[:-2], dtype))
    if velocity:
        params |= {f"velocity_{name}": jnp.zeros_like(value) for name, value in params.items()}
    return params


def _two_layers(weights: Weights) -> tuple[np.ndarray, ...]:
    """Return both layers of a network."""
    return weights.first, weights.second


def layer_rates_of(
    rates: ArrayLike | None, weights: Weights | Layers, *, reduced: bool, decays: bool
) -> dict[str, float]:
    """The rate of each layer in units of the common one, by its name in the loop."""
    if rates is None:
        return {}
    depth = weights.depth if isinstance(weights, Layers) else 2
    each = real_array("layer_rates", rates, ndim=1)
    if each.size != depth:
        raise ValueError(f"`layer_rates` must be one for each of the {depth} layers: got {each.size}.")
    if (each < 0).any():
        raise ValueError(f"`layer_rates` must not be negative: the least is {each.min():g}.")
    if decays and reduced and depth > 2:
        raise ValueError(
            "`layer_rates` and `weight_decay` do not go together in reduced coordinates at depth 3 and more, as what "
            "the data never touch would shrink at a rate of its own in each layer. Use `reduce=False`."
        )
    names = ["first", *(f"inner_{number}" for number in range(2, depth)), "second"]
    return {f"rate_{name}": float(rate) for name, rate in zip(names, each, strict=True)}


def learning_rates(learning_rate: Rate, steps: int, problem: Problem, weights: Weights | Layers) -> Rates:
    """The learning rates of a run, checked."""
    check_match(problem, weights, any_depth=True)
    return rates_of(learning_rate, steps, weights.batch or problem.batch)


def divergence_error(
    trajectory: Trajectory, rates: np.ndarray, problem: Problem, weights: Weights | Layers
) -> DivergedError:
    """The error that says where a run diverged and what to do about it."""
    reasons = np.atleast_1d(trajectory.status.reason)
    first = int(np.argmax(reasons == "diverged"))
    step = int(np.atleast_1d(trajectory.status.steps)[first])
    rate = float(np.broadcast_to(rates, reasons.shape)[first])
    who = "descent" if reasons.size == 1 else f"descent of member {first} of the batch"
    if step == 0:
        return DivergedError(f"{who} cannot begin: the loss of the starting `weights` is not finite.")
    try:
        stable = stable_learning_rate(problem, weights)
    except ValueError:  # no number is: the curvature overflows
        return DivergedError(
            f"{who} diverged at step {step}: `weights` or `problem` are too large for any `learning_rate`. "
            "Give them in other units."
        )
    if stable is not None and rate <= stable and trajectory.attributes.get("dtype") == "float32":
        return DivergedError(
            f"{who} overflowed float32 at step {step}, though a `learning_rate` of {rate:g} is stable: numbers beyond "
            "3e38, or below 1e-38, appear on the way. Use `dtype` float64, or give `problem` in other units."
        )
    advice = "Use a smaller one." if stable is None else f"A step size of {stable:.3g} or less is stable here."
    return DivergedError(f"{who} diverged at step {step} with a `learning_rate` of {rate:g}. {advice}")
