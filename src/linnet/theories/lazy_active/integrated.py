"""The self-consistent dynamics without a closed form (any cost or covariance): the flow of a narrow network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import flag, non_negative, of_kind, positive, real_array, relative_tolerance, times_array
from linnet.theories.lazy_active.closed_form import self_consistent_layers

if TYPE_CHECKING:
    from linnet.problems.problem import Problem

_MOST_EVALUATIONS = 200_000  # about ten seconds for a hundred inputs
_MOST_OF_A_COST = 50_000  # whose evaluations call compiled code
_TOLD_EARLY = 20_000  # evaluations after which one that is not at a thousandth of its way is given up
SMALLEST_SHARE = 3e-11  # of weights over those that are learned: rounding is then a millionth of a mode that waits
Gradient = Callable[[np.ndarray], np.ndarray]


def integrate(
    problem: Problem,
    initial_product: ArrayLike,
    threshold: float,
    times: ArrayLike,
    *,
    weight_decay: float = 0.0,
    rtol: float = 1e-9,
    atol: float | None = None,
    stiff: bool = False,
) -> Float[np.ndarray, "time output input"]:
    r"""Return the product of a wide two-layer network over time, for any covariance and any differentiable cost.

    It integrates the equation of lazy and active training numerically. For whitened inputs use `self_consistent`, which
    is exact.


    $$ \dot A = -\sqrt{A A^\top + g^2 I}\,\nabla C(A) - \nabla C(A)\sqrt{A^\top A + g^2 I} $$

    The result is computed as the flow of the network of `self_consistent_layers`, which needs no matrix square roots.
    Under weight decay $\lambda$ the threshold is $g e^{-2\lambda t}$, and $-2\lambda A$ is added.

    **Arguments:**

    - `problem`: learning problem with cost $C$
    - `initial_product`: initial product $A(0)$, (output, input)
    - `threshold`: threshold $g = \sigma^2 w$
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `weight_decay`: coefficient $\lambda$ of weight decay, zero by default
    - `rtol`: relative tolerance of the integration
    - `atol`: absolute tolerance; by default `rtol` times the scale of the initial weights
    - `stiff`: whether to take implicit steps (LSODA), for variances that differ by many orders of magnitude

    **Returns** $A(t)$, (time, output, input).

    **Reference:** Tu et al. 2024, eq. (1).

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import integrate, self_consistent
        >>> problem = ln.Problem.from_target(np.diag([4.0, 0.5]))
        >>> times, start = [0.0, 0.5, 1.0], np.zeros((2, 2))
        >>> exact = self_consistent(problem, start, 0.1, times)
        >>> bool(np.abs(integrate(problem, start, 0.1, times) - exact).max() < 1e-7)
        True
    """
    from linnet.problems.problem import Problem

    of_kind("problem", problem, Problem, "`ln.Problem.from_...`")
    first = real_array("initial_product", initial_product, ndim=2)
    shape = (problem.out_dim, problem.in_dim)
    if first.shape != shape:
        raise ValueError(f"`initial_product` must be {shape}, output x input of the problem: got shape {first.shape}.")
    if problem.batch is not None:
        raise ValueError("`problem` must be a single one: integrate the problems of a batch one by one.")
    g, clock = non_negative("threshold", threshold), times_array("times", times)
    rtol = relative_tolerance("rtol", rtol)
    floor = None if atol is None else positive("atol", atol)
    most = _MOST_EVALUATIONS if problem.cost is None else _MOST_OF_A_COST
    decay, weights = non_negative("weight_decay", weight_decay), self_consistent_layers(first, g)
    direction = _descent_direction(problem)
    products = flow_of_layers(direction, weights, clock, decay, rtol, floor, most, flag("stiff", stiff))
    _refuse_rounding(weights, clock, products)
    return products


def _refuse_rounding(weights: tuple[np.ndarray, np.ndarray], times: np.ndarray, products: np.ndarray) -> None:
    """Refuse products of several modes from weights so small that, while one is learned, its rounding takes the place
    of those that wait."""
    sizes = np.sqrt(np.abs(products).max(axis=(1, 2)))
    largest = max(np.abs(layer).max(initial=0.0) for layer in weights)
    lost = largest < SMALLEST_SHARE * sizes
    if min(products.shape[1:]) < 2 or not lost.any():
        return
    raise ArithmeticError(
        f"the integration depends on rounding from t = {times[int(np.argmax(lost))]:g} on: with weights of "
        f"{largest:.2g} other modes wait below the precision of what is learned. Take a larger `threshold`, ask for "
        "earlier `times`, or integrate the network itself (`ln.gradient_flow` from "
        "`inits.orthogonal(scale=threshold)`), which has no such limit."
    )


def _descent_direction(problem: Problem) -> Gradient:
    """$-\\nabla C$ as a function of the product."""
    if problem.cost is None:
        cov, cross = problem.cov, problem.cross
        return lambda product: cross - product @ cov
    import jax

    from linnet.precision import computing

    slope = jax.jit(jax.grad(problem.cost))

    def direction(product: np.ndarray) -> np.ndarray:
        with computing():
            return -np.asarray(slope(product))

    return direction


def flow_of_layers(
    direction: Gradient,
    weights: tuple[np.ndarray, np.ndarray],
    times: np.ndarray,
    decay: float,
    rtol: float,
    atol: float | None = None,
    most: int = _MOST_EVALUATIONS,
    stiff: bool = False,
) -> np.ndarray:
    """Return the products at the times of the flow of two layers along `direction`, with weight decay."""
    from scipy.integrate import solve_ivp

    one, two = weights
    size = one.size
    if size == 0 or times[-1] == 0:
        return np.broadcast_to(two @ one, (times.size, two.shape[0], one.shape[1])).copy()

    def unpack(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return state[:size].reshape(one.shape), state[size:].reshape(two.shape)

    asked = 0

    def velocity(time: float, state: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        if asked > most or (asked > _TOLD_EARLY and time < times[-1] / 1000):
            raise ArithmeticError(
                f"the integration gave up at t = {time:g} of {times[-1]:g} after {asked - 1} evaluations: the "
                "dynamics is stiff there. Ask for earlier times, or a smaller `threshold`."
            )
        w1, w2 = unpack(state)
        pull = direction(w2 @ w1)
        return np.concatenate([(w2.T @ pull).ravel(), (pull @ w1.T).ravel()]) - decay * state

    start = np.concatenate([one.ravel(), two.ravel()])
    floor = rtol * np.abs(start).max() if atol is None else atol
    method = "LSODA" if stiff else "DOP853"
    with np.errstate(over="ignore", invalid="ignore"):  # a step tried too far, which is then refused
        result = solve_ivp(velocity, (0.0, times[-1]), start, method, t_eval=times, rtol=rtol, atol=floor)
    if not result.success:
        raise ArithmeticError(
            f"the integration stopped at t = {result.t[-1] if len(result.t) else 0:g}: {result.message}"
        )
    return np.stack([w2 @ w1 for w1, w2 in map(unpack, result.y.T)])
