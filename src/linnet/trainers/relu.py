"""Full-batch gradient descent of a two-layer ReLU network, by automatic differentiation and at its full width."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet.arguments import count, positive
from linnet.inits.weights import Weights
from linnet.memory import check_fits
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.progress import bar
from linnet.reductions.reduction import Reduction, check_match
from linnet.trajectories.saving import policy
from linnet.trajectories.status import DivergedError, Status
from linnet.trajectories.trajectory import Trajectory

CHUNK = 64


def relu_descent(
    data: Any,
    weights: Weights,
    *,
    learning_rate: float,
    steps: int,
    save_every: Any = 1,
    stop: float | None = None,
    dtype: Any = None,
    device: str | None = None,
    throw: bool = True,
) -> Trajectory:
    r"""Gradient descent of $f(x) = W_2\,\mathrm{relu}(W_1 x)$ on $L = \frac{1}{2n} \sum_i |y_i - f(x_i)|^2$, both
    layers at once.

    `data` is a pair `(X, Y)` of samples, X (n, d) and Y (n, k) or (n,), or a problem made from data. `weights` may
    carry a leading batch axis: independent networks on the same samples (or on a batch of them), trained together.
    `save_every` is an interval or a policy of `linnet.trajectories`; `stop` is a training loss below which a network
    rests; `device` is "cpu" or "gpu".

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
    batch = weights.batch or problem.batch
    with computing(dtype, device) as number, bar("ReLU descent", total) as advance:
        samples = tuple(jnp.asarray(array, number) for array in (problem.inputs, problem.outputs))
        layers = tuple(_spread(jnp.asarray(layer, number), batch) for layer in (weights.first, weights.second))
        run = _compiled(tuple(0 if array.ndim == 3 else None for array in samples), batch is not None)
        state = (layers, *(_spread(jnp.zeros((), kind), batch, 1) for kind in (jnp.int64, bool, bool)))
        parts, done = [], 0
        for stops, keep in _chunks(saved):
            numbers = (jnp.asarray(value, number) for value in (rate, threshold))
            state, seen = run(*samples, state, *numbers, jnp.asarray(done), jnp.asarray(stops))
            parts.append([np.asarray(array)[keep] for array in seen])
            advance(int(stops[-1]) - done)
            done = int(stops[-1])
        first, second, loss = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        taken, failed = np.asarray(state[1]), np.asarray(state[3]) | ~np.isfinite(loss[-1])
        where = device_name()
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
        loss=loss,
        status=status,
        reduction=Reduction(problem, weights, weights, None, None),
        kept={"first": first, "second": second},
        rest=np.ones(loss.shape),
        attributes={
            "trainer": "relu_descent",
            "learning_rate": rate,
            "steps": total,
            "dtype": number.name,
            "device": where,
        },
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


def _spread(array: Any, batch: int | None, ndim: int = 3) -> Any:
    """The array once for each member of the batch."""
    return array if batch is None or array.ndim == ndim else jnp.broadcast_to(array, (batch, *array.shape))


def _chunks(saved: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The steps to run to, in chunks of one length (one compilation), and which of them are kept; the last is repeated.

    Pauses at which nothing is kept let a long run show its progress and be interrupted.
    """
    pauses = np.linspace(0, saved[-1], 51).astype(np.int64)[1:]
    stops = np.union1d(saved, pauses)
    length = min(CHUNK, stops.size)
    padded = np.concatenate([stops, np.full(-stops.size % length, stops[-1])])
    kept = np.isin(padded, saved) & (np.arange(padded.size) < stops.size)
    return list(zip(padded.reshape(-1, length), kept.reshape(-1, length), strict=True))


@cache  # one compiled function per batching, so that a second run of the same shapes compiles nothing
def _compiled(axes: tuple[int | None, ...], batched: bool) -> Any:
    return jax.jit(jax.vmap(_run, in_axes=(*axes, 0, None, None, None, None), out_axes=(0, 1)) if batched else _run)


def _run(inputs: Any, outputs: Any, state: Any, rate: Any, threshold: Any, done: Any, stops: Any) -> Any:
    """Runs from step `done` to each of `stops`; the state is (layers, steps taken, resting, failed)."""
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

    return jax.lax.scan(segment, state, jnp.stack([jnp.concatenate([done[None], stops[:-1]]), stops], axis=1))
