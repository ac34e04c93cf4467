"""The compiled loop behind every discrete trainer: steps, early stopping, divergence, saving, progress.

A trainer supplies `update(objective, hyper, params, index, A, R) -> params`, a module-level function written with jax.numpy;
`params` is a dictionary with `first`, `second`, `rest` (the factor left of the weights that the data never touch) and
whatever else the trainer carries; `hyper` a dictionary of numbers, each one for all or one for each member of the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from linnet.memory import check_fits
from linnet.progress import bar
from linnet.reductions.reduction import Reduction
from linnet.trainers.objective import batch_axes
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.status import Status
from linnet.trajectories.trajectory import Trajectory

KEEP = ("weights", "products", "losses")
DIVERGED = 1  # codes above it are the stopping rule's own
CHUNK = 64


@dataclass(frozen=True)
class Plan:
    """How a run is to be carried out: the static part of the compiled loop."""

    update: Callable[..., dict[str, Any]]
    rule: Rule
    keep: str


def run(
    objective: Any,
    test: Any,
    params: dict[str, Any],
    hyper: dict[str, Any],
    *,
    reduction: Reduction,
    plan: Plan,
    steps: int,
    saving: Saving,
    title: str,
    attributes: dict[str, Any],
) -> Trajectory:
    """Runs `steps` steps from `params` and returns what `saving` and `plan.keep` ask for."""
    if plan.keep not in KEEP:
        raise ValueError(f"`keep` must be one of {KEEP}: got {plan.keep!r}.")
    if plan.rule.needs_test and test is None:
        raise ValueError("`stop` looks at the test loss: it needs a problem with a `truth`.")
    wanted = saving.steps(steps)
    batched = params["first"].ndim == 3
    check_fits(
        _state_bytes(params, plan.keep) * len(wanted), f"keeping {len(wanted)} states",
        "Save less often (`save_every`), or ask for keep='products' or keep='losses'.",
    )  # fmt: skip
    state = _start(params, plan=plan)
    ceiling = _ceiling(objective, params)
    parts = [_observe(objective, test, state["params"], plan=plan)]
    stops, saved = _schedule(wanted)
    with bar(title, steps) as advance:
        done = 0
        for until, keep in zip(stops, saved, strict=True):
            state, seen = _sweep(objective, test, hyper, ceiling, state, jnp.asarray(until), plan=plan)
            count = int(keep.sum())
            if count:
                parts.append({name: np.asarray(value)[:count] for name, value in seen.items()})
            advance(int(until[-1]) - done)
            done = int(until[-1])
            if np.all(np.asarray(state["code"])):  # everything has stopped: the rest would repeat the last state
                if not count:
                    parts.append(_observe(objective, test, state["params"], plan=plan))
                break
    state = _judged(objective, test, ceiling, state, plan=plan)
    kept = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    codes, taken = np.asarray(state["code"]), np.asarray(state["step"])
    # Up to the state at which everything had stopped; one recorded at that very step before is not repeated.
    length = min(len(kept["loss"]), int(np.searchsorted(wanted, taken.max())) + 1)
    kept = {name: value[:length] for name, value in kept.items()}
    used = np.minimum(wanted[:length], int(taken.max()))
    rate = np.asarray(hyper["learning_rate"], dtype=np.float64)
    times = used * rate if rate.ndim == 0 else used[:, None] * rate
    reasons = np.array(["completed", "diverged", *plan.rule.reasons])[codes]
    status = Status(reasons if batched else str(reasons), taken if batched else int(taken))
    loss, rest = kept.pop("loss"), kept.pop("rest")
    return Trajectory(times, used, loss, status, reduction, kept, rest, attributes)


def _schedule(wanted: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The steps to run to, chunk by chunk, and which of them are kept.

    Many saves go in chunks of one length (one compilation), the last filled up with its own end. Between few saves there are
    pauses at which nothing is kept, for the progress bar and for Ctrl-C.
    """
    ahead = wanted[1:]
    if len(ahead) >= CHUNK:
        padded = np.concatenate([ahead, np.full(-len(ahead) % CHUNK, ahead[-1])])
        kept = np.arange(len(padded)) < len(ahead)
        return list(padded.reshape(-1, CHUNK)), list(kept.reshape(-1, CHUNK))
    pause = max(1, int(wanted[-1]) // 50)
    stops = np.unique(np.concatenate([ahead, np.arange(pause, int(wanted[-1]), pause)])) if len(ahead) else ahead
    return [stop[None] for stop in stops], [np.isin(stop, ahead)[None] for stop in stops]


def _state_bytes(params: dict[str, Any], keep: str) -> int:
    first, second = params["first"], params["second"]
    if keep == "losses":
        return 16 * max(1, first.size // (first.shape[-1] * first.shape[-2]))
    if keep == "products":
        return first.dtype.itemsize * (second.size + second.size // second.shape[-1] * first.shape[-1])
    return first.dtype.itemsize * (first.size + second.size)


def _mapped(
    function: Callable[..., Any], objective: Any, test: Any, batched: bool, *rest_axes: Any
) -> Callable[..., Any]:
    if not batched:
        return function
    return jax.vmap(function, in_axes=(batch_axes(objective), batch_axes(test), *rest_axes))


@partial(jax.jit, static_argnames=("plan",))
def _start(params: dict[str, Any], *, plan: Plan) -> dict[str, Any]:
    state = {"params": params, "rule": plan.rule.start(), "step": jnp.asarray(0), "code": jnp.asarray(0)}
    if params["first"].ndim == 3:
        size = params["first"].shape[0]
        extra = {name: value for name, value in state.items() if name != "params"}
        state.update(jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (size, *jnp.shape(leaf))), extra))
    return state


@jax.jit
def _ceiling(objective: Any, params: dict[str, Any]) -> Any:
    """A loss beyond which descent has certainly left: 1e8 times the larger of the first loss and the scale of the targets."""

    def one(objective: Any, test: Any, params: dict[str, Any]) -> Any:
        loss, _ = objective.evaluate(params["second"] @ params["first"])
        return 1e8 * (jnp.maximum(jnp.abs(loss), objective.size()) + jnp.finfo(loss.dtype).tiny)

    return _mapped(one, objective, None, params["first"].ndim == 3, 0)(objective, None, params)


@partial(jax.jit, static_argnames=("plan",))
def _observe(objective: Any, test: Any, params: dict[str, Any], *, plan: Plan) -> dict[str, Any]:
    look = partial(_look, plan=plan)
    seen = _mapped(look, objective, test, params["first"].ndim == 3, 0)(objective, test, params)
    return jax.tree.map(lambda leaf: leaf[None], seen)


def _look(objective: Any, test: Any, params: dict[str, Any], *, plan: Plan) -> dict[str, Any]:
    """What is kept of one state."""
    A = params["second"] @ params["first"]
    loss, _ = objective.evaluate(A)
    seen = {"loss": loss, "rest": params["rest"]}
    if test is not None:
        seen["test_loss"] = test.evaluate(A, params["second"], params["rest"])
    if plan.keep != "losses":
        seen["second"] = params["second"]
        seen["first" if plan.keep == "weights" else "product"] = params["first"] if plan.keep == "weights" else A
    return seen


def _judge(objective: Any, test: Any, ceiling: Any, state: dict[str, Any], *, plan: Plan) -> tuple[Any, Any, Any, Any]:
    """What the stopping rule and the ceiling say of a state: the rule's new state and the code, with A and R for the step."""
    params = state["params"]
    A = params["second"] @ params["first"]
    loss, residual = objective.evaluate(A)
    measured = test.evaluate(A, params["second"], params["rest"]) if plan.rule.needs_test else loss
    rule, code = plan.rule.update(state["rule"], state["step"], loss, measured)
    code = jnp.where(code > 0, code + DIVERGED, 0)
    inside = (loss <= ceiling) & (loss >= -ceiling)  # false for NaN too
    return rule, jnp.where(inside, code, DIVERGED).astype(state["code"].dtype), A, residual


@partial(jax.jit, static_argnames=("plan",))
def _judged(objective: Any, test: Any, ceiling: Any, state: dict[str, Any], *, plan: Plan) -> dict[str, Any]:
    """The last states of a run judged as all others were before their next step."""

    def one(objective: Any, test: Any, ceiling: Any, state: Any) -> Any:
        _, code, _, _ = _judge(objective, test, ceiling, state, plan=plan)
        return {**state, "code": jnp.where(state["code"] == 0, code, state["code"])}

    return _mapped(one, objective, test, state["params"]["first"].ndim == 3, 0, 0)(objective, test, ceiling, state)


@partial(jax.jit, static_argnames=("plan",))
def _sweep(
    objective: Any, test: Any, hyper: dict[str, Any], ceiling: Any, state: dict[str, Any], untils: Any, *, plan: Plan
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Runs to each of `untils` in turn and looks at the state there."""
    batched = state["params"]["first"].ndim == 3

    def one(objective: Any, test: Any, hyper: Any, ceiling: Any, state: Any) -> Any:
        def body(state: dict[str, Any]) -> dict[str, Any]:
            rule, code, A, residual = _judge(objective, test, ceiling, state, plan=plan)
            going = code == 0
            # A run that stops here keeps the state it was judged by: its step is scaled to nothing.
            active = {**hyper, "learning_rate": jnp.where(going, hyper["learning_rate"], 0)}
            new = plan.update(objective, active, state["params"], state["step"], A, residual)
            return {"params": new, "rule": rule, "step": state["step"] + going, "code": code}

        def to(state: dict[str, Any], until: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            state = jax.lax.while_loop(lambda s: (s["step"] < until) & (s["code"] == 0), body, state)
            return state, _look(objective, test, state["params"], plan=plan)

        return jax.lax.scan(to, state, untils)

    hyper_axes = {name: 0 if jnp.ndim(value) else None for name, value in hyper.items()}
    if not batched:
        return one(objective, test, hyper, ceiling, state)
    mapped = jax.vmap(
        one, in_axes=(batch_axes(objective), batch_axes(test), hyper_axes, 0, 0), out_axes=(0, 1)
    )  # fmt: skip
    return mapped(objective, test, hyper, ceiling, state)
