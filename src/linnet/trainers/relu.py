"""Full-batch gradient descent of a two-layer ReLU network, by automatic differentiation and at its full width."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet.arguments import count, positive
from linnet.inits.weights import Weights
from linnet.memory import check_fits
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction, check_match
from linnet.trajectories.saving import policy
from linnet.trajectories.status import DivergedError, Status
from linnet.trajectories.trajectory import Trajectory


def relu_descent(
    data: Any,
    weights: Weights,
    *,
    learning_rate: float,
    steps: int,
    save_every: Any = 1,
    stop: float | None = None,
    dtype: Any = None,
    throw: bool = True,
) -> Trajectory:
    r"""Gradient descent of $f(x) = W_2\,\mathrm{relu}(W_1 x)$ on $L = \frac{1}{2n} \sum_i |y_i - f(x_i)|^2$, both
    layers at once.

    `data` is a pair `(X, Y)` of samples, X (n, d) and Y (n, k) or (n,), or a problem made from data. `weights` may
    carry a leading batch axis: independent networks on the same samples (or on a batch of them), trained together.
    `save_every` is an interval or a policy of `linnet.trajectories`; `stop` is a training loss below which a network
    rests.

    A small learning rate follows the gradient flow, with time `learning_rate * step`. The width is never reduced: the
    activation does not commute with rotations of the hidden units. In the trajectory, `products` are $W_2 W_1$ and not
    the predictor.
    """
    problem = _samples(data)
    check_match(problem, weights)
    rate, total = positive("learning_rate", learning_rate), count("steps", steps)
    threshold = -np.inf if stop is None else positive("stop", stop)
    saved = policy(save_every).steps(total)
    kept = saved.size * (weights.first.size + weights.second.size)
    check_fits(8 * kept, f"keeping {saved.size} states", "Save fewer states with `save_every`.")
    with computing(dtype) as number:
        cast = partial(jnp.asarray, dtype=number)
        arrays = (cast(problem.inputs), cast(problem.outputs), cast(weights.first), cast(weights.second))
        batch = weights.batch or problem.batch
        axes = tuple(0 if a.ndim == 3 else None for a in arrays)
        out = _compiled(axes)(*arrays, cast(rate), cast(threshold), jnp.asarray(saved))
        first, second, loss, taken, failed = (np.asarray(a) for a in out)
    if batch is not None:
        first, second, loss = (np.moveaxis(a, 0, 1) for a in (first, second, loss))
    reason = np.where(failed, "diverged", np.where(taken < total, "loss below threshold", "completed"))
    status = Status(str(reason) if batch is None else reason, int(taken) if batch is None else taken)
    if throw and not status.ok:
        raise DivergedError(
            f"ReLU descent left the numbers at step {int(np.min(np.where(failed, taken, total)))} of {total} "
            f"with `learning_rate` {rate:g}: use a smaller one, or `throw=False` for a status."
        )
    return Trajectory(
        times=saved * rate,
        steps=saved,
        loss=loss.astype(np.float64),
        status=status,
        reduction=Reduction(problem, weights, weights, None, None),
        kept={"first": first, "second": second},
        rest=np.ones(loss.shape),
        attributes={"trainer": "relu_descent", "learning_rate": rate, "steps": total, "dtype": number.name},
    )


def _samples(data: Any) -> Problem:
    if not isinstance(data, Problem):
        if not isinstance(data, (tuple, list)) or len(data) != 2:
            kind = type(data).__name__
            raise ValueError(f"`data` must be a pair (X, Y) of samples or a problem made from them: got {kind}.")
        return Problem.from_data(*data)
    if data.inputs is None:
        raise ValueError("`data` must hold samples: this problem was not made by `Problem.from_data`.")
    return data


def _loss(layers: tuple[Any, Any], inputs: Any, outputs: Any) -> Any:
    first, second = layers
    error = outputs - jax.nn.relu(inputs @ first.T) @ second.T
    return 0.5 * jnp.sum(error**2) / inputs.shape[0]


@cache  # one compiled function per batching, so that a second run of the same shapes compiles nothing
def _compiled(axes: tuple[int | None, ...]) -> Any:
    batched = any(axis is not None for axis in axes)
    return jax.jit(jax.vmap(_run, in_axes=(*axes, None, None, None)) if batched else _run)


def _run(inputs: Any, outputs: Any, first: Any, second: Any, rate: Any, threshold: Any, saved: Any) -> Any:
    """The states at `saved` steps, the loss there, the steps taken, and whether the numbers ran out."""
    slope = jax.value_and_grad(_loss)

    def step(_: Any, state: Any) -> Any:
        layers, taken, resting, failed = state
        value, gradient = slope(layers, inputs, outputs)
        moved = jax.tree.map(lambda w, g: w - rate * g, layers, gradient)
        finite = jnp.isfinite(value) & jnp.isfinite(moved[0]).all() & jnp.isfinite(moved[1]).all()
        resting = resting | (value < threshold)
        go = finite & ~resting & ~failed
        layers = jax.tree.map(lambda new, old: jnp.where(go, new, old), moved, layers)
        return layers, taken + go, resting, failed | (~finite & ~resting)

    def segment(state: Any, bounds: Any) -> Any:
        state = jax.lax.fori_loop(bounds[0], bounds[1], step, state)
        layers = state[0]
        return state, (*layers, _loss(layers, inputs, outputs))

    state = ((first, second), jnp.zeros((), jnp.int64), jnp.zeros((), bool), jnp.zeros((), bool))
    bounds = jnp.stack([jnp.concatenate([saved[:1], saved[:-1]]), saved], axis=1)
    (_, taken, _, failed), (firsts, seconds, losses) = jax.lax.scan(segment, state, bounds)
    return firsts, seconds, losses, taken, failed
