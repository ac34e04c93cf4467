"""Descents from Gaussian starts of many widths and variances, drawn where they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, flag, one_or_each, shown, whole_numbers
from linnet._randomness import Key, key_data, words
from linnet.inits.compiled import diagonal_roots, padded_gaussian
from linnet.precision import resolve
from linnet.problems.problem import Problem
from linnet.trainers._compiling import jit_drawing
from linnet.trainers._states import Array, Arrays, Params
from linnet.trainers.diagrams import _slots
from linnet.trainers.diagrams._diagram import Diagram, DiagramSettings, RunStart
from linnet.trainers.diagrams._narrow_network import narrow_network
from linnet.trainers.diagrams._paired_step import bind, pair_params, run_result
from linnet.trainers.diagrams._runs import DiagramRuns, train_runs
from linnet.trainers.schedules import Rate, schedule_of
from linnet.trainers.stopping import Rule, rule_of

# Starts are squared, and their squares too: neither may underflow or overflow.
MIN_VARIANCE = 1e-100
MAX_THRESHOLD = 1e100  # variance times width


def gaussian_diagram(
    problems: Sequence[Problem],
    *,
    keys: Sequence[Key],
    widths: Sequence[int],
    variances: ArrayLike,
    learning_rates: Rate,
    tasks: Sequence[int] | None = None,
    steps: int,
    stop: Rule | float | None = None,
    update: str = "simultaneous",
    dtype: DTypeLike | None = None,
    tf32: bool = False,
    slots: int | None = None,
    device: str | None = None,
) -> DiagramRuns:
    r"""Train many two-layer Gaussian networks of different widths and variances, each together with its prediction.

    Use it to train all networks of a phase diagram; `ln.phase_diagram(..., method="train")` is shorter. To predict the
    diagram without training, use `theories.lazy_active.predicted_diagram`.

    The prediction of a run is computed by gradient descent, too, at the same learning rate: on a network of width
    $\min(k, d)$ that has the same initial product and the imbalance $\pm 2g I$, with $g = \sigma^2 w$. Its gradient
    flow is exactly `theories.lazy_active.self_consistent`. Initial weights have the distribution of
    `inits.reduced_gaussian`. A key gives the same weights on every device, up to rounding.

    **Arguments:**

    - `problems`: learning problems of one shape with whitened inputs and a `truth` (`Problem.from_target`)
    - `keys`: integer seeds or JAX keys, one for each run
    - `widths`: number of hidden units $w$ of each run, of any size
    - `variances`: variance $\sigma^2$ of the initial weights, one for each run or one for all
    - `learning_rates`: learning rate of each run, or one for all runs, which may be a `Schedule` or a function of the
      step. It is the same for both layers, because the self-consistent dynamics require this; for different rates use
      `layer_rates` of `gradient_descent`
    - `tasks`: index of the problem that each run learns; the first by default
    - `steps`: maximum number of steps of a run
    - `stop`: loss at which to stop early, or a rule of `linnet.trainers.stopping`
    - `update`: rule for one step, `"simultaneous"` or `"sequential"` as in `gradient_descent`; the prediction is always
      stepped simultaneously
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `tf32`: whether a GPU may round factors of products to 10 bits of mantissa, which is faster
    - `slots`: number of runs trained at once; by default as many as fill the device
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers

    **Returns** `DiagramRuns`, with one entry for each run. Losses of a run that diverged may be infinite or NaN.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import gaussian_diagram
        >>> task = ln.problems.low_rank_plus_noise(6, rank=1, key=0)
        >>> runs = gaussian_diagram([task], keys=[0], widths=[10_000], variances=9e-6, learning_rates=0.005, steps=100)
        >>> bool(runs.largest_distance[0] < 0.01 * (task.truth**2).sum())
        True
    """
    if not isinstance(problems, (list, tuple)) or not problems:
        raise ValueError(f"`problems` must be a list of one problem or more: got {shown(problems)}.")
    for problem in problems:
        if not isinstance(problem, Problem) or not problem.whitened or problem.truth is None or problem.batch:
            raise ValueError("`problems` must be single ones made by `Problem.from_target`, with a `truth`.")
        if (problem.in_dim, problem.out_dim) != (problems[0].in_dim, problems[0].out_dim):
            raise ValueError("`problems` must have one shape: their networks are trained in one batch.")
    widths = _widths_list(widths)
    total, limit = len(widths), count("steps", steps, most=2**62)
    task = np.zeros(total, dtype=int) if tasks is None else whole_numbers("tasks", tasks)
    float_widths = np.array([float(width) for width in widths])
    variance = _one_per_run("variances", variances, total)
    planned = schedule_of("learning_rates", learning_rates)
    schedule = None if planned is None else planned.over(limit)
    rates = _one_per_run("learning_rates", learning_rates if planned is None else 1.0, total)
    if not (variance.min() >= MIN_VARIANCE and (variance <= MAX_THRESHOLD / float_widths).all()):
        raise ValueError(
            f"`variances` must be such that starts can be squared: got {variance.min():.3g} to {variance.max():.3g} at "
            f"`widths` of {float_widths.min():.3g} to {float_widths.max():.3g}. Give them in other units, nearer to 1."
        )
    if not isinstance(keys, (list, tuple, np.ndarray, range)) or len(keys) != total:
        raise ValueError(f"`keys` must be one for each of the {total} runs: got {shown(keys)}.")
    if task.shape != (total,):
        raise ValueError(f"`tasks` must be one for each of the {total} runs: got {task.size}.")
    if (task < 0).any() or (task >= len(problems)).any():
        raise ValueError(f"`tasks` must be positions in the list of {len(problems)} problems: got {shown(tasks)}.")
    slots = None if slots is None else count("slots", slots)
    targets, truths = (np.stack([getattr(p, part) for p in problems]) for part in ("cross", "truth"))
    out_dim, in_dim = targets.shape[1:]
    key_words = np.stack([key_data(words(key, "keys")) for key in keys])
    run_dtype = resolve(dtype)
    several = len(problems) > 1
    shared = {"target": targets.astype(run_dtype), "truth": truths.astype(run_dtype)}
    if not several:
        shared = {name: array[0] for name, array in shared.items()}
    if schedule is not None:
        shared["schedule"] = schedule.astype(run_dtype)

    def specs(runs: list[int]) -> dict[str, np.ndarray]:
        """Return the numbers that describe these runs, stacked."""
        roots = [diagonal_roots(keys[run], in_dim=in_dim, out_dim=out_dim, width=widths[run]) for run in runs]
        numbers = {"key": key_words, "width": float_widths, "variance": variance, "rate": rates, "task": task}
        return {"roots": np.stack(roots), **{name: values[runs] for name, values in numbers.items()}}

    def start(run: int) -> RunStart:
        """Draw the network that a run starts from."""
        spec = {name: values[0] for name, values in specs([run]).items()}
        layers = _draw_layers(spec, in_dim=in_dim, out_dim=out_dim, rows=in_dim + out_dim)
        first, second = (np.asarray(layer) for layer in layers)
        own = min(widths[run], in_dim + out_dim)
        first, second = first[:own], np.asfortranarray(second[:, :own])  # by this order the bits were always made
        threshold = spec["variance"] * spec["width"]
        return RunStart(first, second, targets[task[run]], truths[task[run]], spec["rate"], threshold)

    settings = DiagramSettings(update, rule_of(stop), limit, run_dtype, schedule)
    plan = settings.plan
    # How long a run is: its modes grow to the target from the threshold, of a narrow network from that of a square one.
    scale = np.sqrt((targets**2).sum(axis=(1, 2)) / min(in_dim, out_dim))[task]
    expected = np.log1p(scale / (variance * np.maximum(float_widths, in_dim)))
    return train_runs(
        Diagram(settings, start, widths, in_dim, out_dim, expected),
        lambda rows: _slots.RunKind(plan, DrawPair(in_dim, out_dim, rows, run_dtype.name, several), bind, run_result),
        specs,
        shared=shared,
        slots=slots,
        device=device,
        tf32=flag("tf32", tf32),
    )


def _widths_list(widths: Sequence[int]) -> list[int]:
    """Return the widths as Python's integers, which may be of any size; refuse what is not a whole number from 1 on."""
    given = widths if isinstance(widths, (list, tuple, range)) else whole_numbers("widths", widths).tolist()
    return [count("widths", width) for width in given]


def _one_per_run(name: str, values: object, total: int) -> np.ndarray:
    """Return one positive number for each run, from one for all or a list of them, as a read-only array."""
    array = np.broadcast_to(one_or_each(name, values, total, f"{total} runs"), total)
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive: got {array.min():g}.")
    return array


def _gaussian_layers(spec: Arrays, *, in_dim: int, out_dim: int, rows: int) -> tuple[Array, Array]:
    """Draw both layers of a run in float64 from the numbers that describe it, with units at zero up to `rows`: for CPUs
    (`_draw_layers`) and for slots (`DrawPair`), so that their runs start alike."""
    key = jax.random.wrap_key_data(spec["key"], impl="threefry2x32")
    roots, width, std = spec["roots"], spec["width"], jnp.sqrt(spec["variance"])
    return padded_gaussian(key, roots, in_dim=in_dim, out_dim=out_dim, rows=rows, width=width, std=std)


# For one run on a CPU, with all rows that any width can need: one compilation serves all.
_draw_layers = jit_drawing(_gaussian_layers, static_argnames=("in_dim", "out_dim", "rows"))


@dataclass(frozen=True)
class DrawPair:
    """Draws both networks of a run from the numbers that describe it; drawn and made narrow in float64.

    It is `draw` of a `RunKind`, and compiled into it: equal ones compare equal.

    - `rows`: hidden units of the network, padding included
    - `dtype`: precision of the run
    - `several`: whether there are several problems, of which a slot keeps that of its run
    """

    in_dim: int
    out_dim: int
    rows: int
    dtype: str
    several: bool

    def __call__(self, shared: Arrays, spec: Arrays) -> tuple[Arrays, Params]:
        first, second = _gaussian_layers(spec, in_dim=self.in_dim, out_dim=self.out_dim, rows=self.rows)
        narrow = narrow_network(second @ first, spec["variance"] * spec["width"])
        params = pair_params((first, second), narrow)
        slot = {"rate": spec["rate"]}
        if self.several:
            slot |= {name: shared[name][spec["task"]] for name in ("target", "truth")}
        return jax.tree.map(lambda array: array.astype(self.dtype), (slot, params))
