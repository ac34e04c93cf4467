"""Training driven by noise: the stochastic equation (4.1) of Varre et al. and its version with drift, many paths at
once.
"""

from __future__ import annotations

from functools import partial
from functools import reduce as reduce_terms
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, flag, non_negative, positive, real_array, times_array
from linnet._memory import check_fits
from linnet._randomness import Key, jax_key
from linnet.inits.weights import Weights, check_two_layers
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, reduce
from linnet.trainers._compiling import jit_drawing
from linnet.trainers._objective import ProductObjective, training_objective
from linnet.trainers._states import Array
from linnet.trajectories.status import DivergedError, Status
from linnet.trajectories.trajectory import Trajectory

ROUNDING = 1e-12  # fraction of a gap between two times, below which nothing is left of it
MAX_STEPS = 20_000_000  # their sizes are kept, 160 MB
Carried = tuple[Array, Array, Array]  # from step to step: both layers, and the noise of the next step


class Decreasing(NamedTuple):
    """Steps of size `first` / sqrt(n), n = 1, 2, ..., as in the paper's simulations: n of them reach 2 `first`
    sqrt(n). Made by `decreasing`, which checks the number.
    """

    first: float


def decreasing(first: float) -> Decreasing:
    r"""Return a schedule of decreasing steps for `noise_sde`: the n-th step is the first one divided by $\sqrt n$.

    Without it, `noise_sde` takes equal steps. For decreasing learning rates of gradient descent, use a `Schedule`.

    **Arguments:**

    - `first`: size of the first step

    **Returns** a value for the argument `step` of `noise_sde`.

    **Example:**

        >>> from linnet.trainers import decreasing
        >>> decreasing(0.1)
        Decreasing(first=0.1)
    """
    return Decreasing(positive("first", first))


def noise_sde(
    problem: Problem | None,
    weights: Weights,
    *,
    times: ArrayLike,
    step: float | Decreasing,
    key: Key,
    paths: int = 1,
    noise_std: float = 1.0,
    increments: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    throw: bool = True,
) -> Trajectory:
    r"""Simulate training with label noise as a stochastic differential equation; return independent paths.

    The exact moments of the process are in `theories.noise_process`. For discrete steps, use `label_noise_descent`.

    $$ dW_1 = W_2^\top (R\,dt + \delta\,dB\,\Sigma^{1/2}), \qquad dW_2 = (R\,dt + \delta\,dB\,\Sigma^{1/2})\,W_1^\top $$

    where $B$ is a Brownian motion of output x input matrices and $\delta$ = `noise_std`. If `problem` is None, there is
    noise but no drift, as in eq. (4.1): $R = 0$ and $\Sigma = I$. Descent with
    learning rate $\eta$ and fresh label noise of standard deviation $s$ at each step has $\delta = s\sqrt{\eta/n}$ in
    canonical time.

    **Arguments:**

    - `problem`: learning problem, which gives $R$ and $\Sigma$; None for $R = 0$ and $\Sigma = I$
    - `weights`: initial weights of every path, one network
    - `times`: canonical times at which the paths are saved, (time,)
    - `step`: largest step size, or `decreasing(first)`; steps are shortened to land on the times
    - `key`: seed, an integer or a JAX key
    - `paths`: number of independent paths; the trajectory always has this batch axis, even for one path
    - `noise_std`: strength of the noise, $\delta$
    - `increments`: increments of the Brownian motion, instead of random ones
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `throw`: whether a diverging run raises `DivergedError`; if not, `status` of the result holds the reason

    **Returns** a `Trajectory`, with the paths as its batch.

    **Scheme:** Euler-Maruyama, of strong order 1/2 and weak order 1. The noise does not commute, so Milstein's scheme
    would need Levy areas, and without them is no better than this one.

    **Sampling means:** second moments grow like $e^{\sqrt{d}\,t}$, but typical paths grow more slowly. After a time of
    about one, a few paths that are too rare to be sampled determine the mean square. Use medians or logarithms instead.

    **Reference:** Varre et al. 2023, eq. (4.1), section 4.1 and Appendix D (which has $\Sigma^{1/2}$ and counts time in
    steps).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import noise_sde
        >>> start = ln.Weights([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0]])
        >>> run = noise_sde(None, start, times=[0.0, 0.1], step=0.01, key=0, paths=400)
        >>> mean = (run.weights.second[-1] ** 2).sum(axis=(-2, -1)).mean()
        >>> exact = ln.theories.noise_process.second_moments(2.0, 0.0, [0.1], in_dim=2)[1][0]
        >>> bool(abs(mean / exact - 1) < 0.2)
        True
    """
    check_two_layers(weights)
    if problem is not None:
        if not isinstance(problem, Problem):
            raise ValueError(f"`problem` must be a linnet Problem, or None for no drift: got {type(problem).__name__}.")
        check_match(problem, weights)
    if weights.batch is not None:
        raise ValueError(f"`weights` must be one network, the start of every path: got a batch of {weights.batch}.")
    if problem is not None and (problem.cost is not None or problem.batch is not None):
        raise ValueError(
            "`problem` must be a single one with moments: label noise on a general cost or a batch is not defined."
        )
    times, throw = times_array("times", times), flag("throw", throw)
    noise, paths = non_negative("noise_std", noise_std), count("paths", paths)
    whole = problem if problem is not None else _zero_problem(weights)
    reduction = reduce(whole, weights, optimizer="sgd")
    start = reduction.weights
    scales = np.ones(start.in_dim) if problem is None else whole.factor.scales
    sizes, ends = step_sizes(times, step)
    _check_step(sizes, start, scales, noise, None if problem is None else whole.min_norm_solution())
    numbers = times.size * paths * (start.first.size + start.second.size)
    check_fits(16 * numbers, f"keeping {paths} paths at {times.size} times", "Keep fewer times or paths.")
    with computing(dtype, device) as run_dtype:
        cast = partial(jnp.asarray, dtype=run_dtype)
        objective = None if problem is None else training_objective(problem, reduction, run_dtype)
        first, second = (cast(np.repeat(layer[..., None], paths, axis=-1)) for layer in (start.first, start.second))
        given = None if increments is None else cast(_increments_by_path(increments, sizes, paths, start))
        padding = 2 ** int(np.ceil(np.log2(max(sizes.size, 1)))) - sizes.size  # few compiled lengths
        sizes = np.pad(sizes, (1, padding))  # an empty step in front, which draws the noise of the first
        bounds = np.stack([np.concatenate([[0], 1 + ends[:-1]]), 1 + ends], axis=1)
        out = _integrate(
            objective, first, second, cast(scales * noise), cast(sizes), jnp.asarray(bounds), jax_key(key), given
        )
        firsts, seconds, losses = (np.array(a) for a in out)
    taken = _repeat_last_finite(firsts, seconds, ends, start)
    failed = taken < ends[-1]
    status = Status(np.where(failed, "diverged", "completed"), taken)
    if throw and failed.any():
        raise DivergedError(
            f"{int(failed.sum())} of {paths} paths diverged, the first after step {int(taken[failed].min())} of "
            f"{ends[-1]}: use a smaller `step` (the largest was {sizes.max():.3g}), or `throw=False` for a status."
        )
    attributes = {
        "trainer": "noise_sde",
        "noise_std": noise,
        "paths": paths,
        "steps": int(ends[-1]),
        "dtype": run_dtype.name,
    }
    kept = {"first": np.moveaxis(firsts, -1, 1), "second": np.moveaxis(seconds, -1, 1)}
    if whole.truth is not None:
        kept["test_loss"] = np.asarray(reduction.test_loss(Weights.computed(kept["first"], kept["second"])), run_dtype)
    return Trajectory(times, ends, losses, status, reduction, kept, np.ones(losses.shape), attributes)


def step_sizes(times: ArrayLike, step: float | Decreasing) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of the steps that `noise_sde` takes to the last of `times`, and after how many of them each
    time is reached."""
    times = times_array("times", times)
    gaps = np.diff(times, prepend=0.0)
    if isinstance(step, Decreasing):
        most = (times[-1] / (2 * step.first) + 1) ** 2 + times.size
    else:
        step = positive("step", step)
        most = float(times[-1]) / max(step, np.finfo(float).tiny) + times.size
    if most > MAX_STEPS:
        raise ValueError(
            f"`step` must reach the last time in {MAX_STEPS:,} steps: got about {most:.2g}. Use a larger one."
        )
    sizes: list[np.ndarray] = []
    for gap in gaps:
        if isinstance(step, Decreasing):
            sizes.append(_decreasing_steps(gap, step.first, sum(s.size for s in sizes)))
        else:
            steps = int(np.ceil(gap / step * (1 - ROUNDING)))
            sizes.append(np.full(steps, gap / max(steps, 1)))
    return np.concatenate(sizes), np.cumsum([s.size for s in sizes])


def _decreasing_steps(gap: float, first: float, taken: int) -> np.ndarray:
    """Return steps first/sqrt(n) from n = taken + 1 on, the last cut short at the end of the gap."""
    if gap == 0:
        return np.zeros(0)
    # m steps from n on reach 2 first (sqrt(n + m) - sqrt(n)), solved for m; their sum is larger than this integral.
    most = int(gap / (2 * first) * (gap / (2 * first) + 2 * np.sqrt(taken + 1))) + 2
    steps = first / np.sqrt(taken + 1.0 + np.arange(most))
    last = int(np.searchsorted(np.cumsum(steps), gap * (1 - ROUNDING)))
    kept = steps[: last + 1].copy()
    kept[-1] += gap - kept.sum()
    return kept


def _increments_by_path(increments: ArrayLike, sizes: np.ndarray, paths: int, weights: Weights) -> np.ndarray:
    """Return the increments with the paths along the last axis; refuse another shape."""
    wanted = (sizes.size, paths, weights.out_dim, weights.in_dim)
    array = real_array("increments", increments)
    if array.shape != wanted:
        raise ValueError(f"`increments` must be (step, path, output, input) = {wanted}: got shape {array.shape}.")
    return np.moveaxis(array, 1, -1)


def _zero_problem(weights: Weights) -> Problem:
    """Return the problem of noise alone, for its trajectory: the cost is zero everywhere."""
    return Problem.from_cost(_zero_cost, in_dim=weights.in_dim, out_dim=weights.out_dim)


def _zero_cost(product: Array) -> Array:
    """Return zero, as a differentiable function of the product; it has a name, so that trajectories can be pickled."""
    return 0.0 * jnp.sum(product)


def _check_step(
    sizes: np.ndarray, weights: Weights, scales: np.ndarray, noise: float, solution: np.ndarray | None
) -> None:
    """Refuse steps so long that one would multiply the mean square by too much, or that make the drift unstable."""
    if sizes.size == 0:
        return
    top = float(np.max(scales) ** 2)
    with np.errstate(over="ignore"):
        growth = np.float64(noise) ** 2 * top * np.sqrt(weights.in_dim * weights.out_dim)
    if sizes.max() * growth > 0.5:
        raise ValueError(
            f"`step` must be at most {0.5 / growth:.3g} for this noise, or one step would multiply the mean square by "
            f"more than 3/2: got {sizes.max():.3g}."
        )
    if solution is None:
        return
    norms = [np.linalg.norm(layer, 2) ** 2 for layer in (weights.first, weights.second)]
    curvature = top * max(sum(norms), 2 * float(np.linalg.norm(solution, 2)))
    if sizes.max() * curvature >= 2:
        raise ValueError(f"`step` must be below {2 / curvature:.3g} for the drift to be stable: got {sizes.max():.3g}.")


@jit_drawing
def _integrate(
    objective: ProductObjective | None,
    first: Array,
    second: Array,
    scales: Array,
    sizes: Array,
    bounds: Array,
    key: Array,
    given: Array | None,
) -> tuple[Array, ...]:
    """Return both layers and the loss of every path after each segment: steps `bounds[i, 0]` to `bounds[i, 1]`.

    Paths are along the last axis, where the processor's lanes are.

    - `objective`: the drift, and the loss; None for noise alone, whose loss is zero
    - `scales`: the standard deviation of the noise in each input
    - `sizes`: sizes of all steps, the first of which is empty; those beyond the last of `bounds` are padding and not
      taken
    - `given`: increments of the Brownian motion, (step, output, input, path), in place of drawn ones
    """
    inputs, outputs, paths = first.shape[1], second.shape[0], first.shape[2]
    evaluate = None if objective is None else jax.vmap(objective.evaluate, in_axes=-1, out_axes=(0, -1))

    def noise_after(index: Array) -> Array:
        """Return the noise of the step after this one."""
        if given is not None:
            return scales[:, None] * given[index]
        draw = jax.random.normal(jax.random.fold_in(key, index), (outputs, inputs, paths), first.dtype)
        return jnp.sqrt(sizes[index + 1]) * scales[:, None] * draw

    # What a loop carries is computed once: drawn within its step, noise would be computed again for every hidden unit.
    def noisy_step(index: Array, state: Carried) -> Carried:
        first, second, increment = state
        if evaluate is not None:
            increment = increment + sizes[index] * evaluate(_path_products(second, first))[1]
        moved = _sum_of_terms([second[k, :, None, :] * increment[k, None, :, :] for k in range(outputs)])
        turned = _sum_of_terms([increment[:, None, j, :] * first[None, :, j, :] for j in range(inputs)])
        return first + moved, second + turned, noise_after(index)

    def run_segment(state: Carried, bound: Array) -> tuple[Carried, tuple[Array, Array, Array]]:
        state = jax.lax.fori_loop(bound[0], bound[1], noisy_step, state)
        loss = (
            evaluate(_path_products(state[1], state[0]))[0] if evaluate is not None else jnp.zeros(paths, first.dtype)
        )
        return state, (*state[:2], loss)

    no_noise = jnp.zeros((outputs, inputs, paths), first.dtype)
    return jax.lax.scan(run_segment, (first, second, no_noise), bounds)[1]


def _path_products(second: Array, first: Array) -> Array:
    """Return the products of all paths, with the paths along the last axis."""
    return _sum_of_terms([second[:, h, None, :] * first[None, h, :, :] for h in range(first.shape[0])])


def _sum_of_terms(terms: list[Array]) -> Array:
    """Add term by term: as a reduction over a short axis it would not be fused, and took eight times as long."""
    return reduce_terms(jnp.add, terms)


def _repeat_last_finite(firsts: np.ndarray, seconds: np.ndarray, ends: np.ndarray, weights: Weights) -> np.ndarray:
    """Replace the states (time, ..., path) that are not finite by the last finite one of their path, in place; by the
    start where no kept one is. Return the steps that each path took to its last finite state."""
    finite = np.isfinite(firsts).all(axis=(1, 2)) & np.isfinite(seconds).all(axis=(1, 2))
    taken = np.full(firsts.shape[-1], ends[-1])
    for path in np.flatnonzero(~finite.all(axis=0)):
        lost = int(np.argmin(finite[:, path]))
        if lost == 0:
            firsts[..., path], seconds[..., path], taken[path] = weights.first, weights.second, 0
            continue
        firsts[lost:, :, :, path], seconds[lost:, :, :, path] = (
            firsts[lost - 1, :, :, path],
            seconds[lost - 1, :, :, path],
        )
        taken[path] = ends[lost - 1]
    return taken
