"""Balanced initializations: each mode in closed form, at any depth."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    broadcast,
    count,
    non_negative,
    none_negative,
    real_array,
    refuse_infinite,
    relative_tolerance,
    representable,
    times_array,
)
from linnet.problems.problem import Problem, squared_loss

_MAX_HALVINGS = 200
MAX_EVALUATIONS = 50_000  # of the equation for the product: some seconds
_MAX_LOGIT = 700.0  # of log(x/(1 - x)): beyond it x or 1 - x is no number of float64
_MAX_START_OVER_TARGET = (
    1e8  # of an initialization over its target: farther above, the fall is too sudden to be integrated
)


@representable
def balanced_modes(
    values: ArrayLike, initial_values: ArrayLike, depth: int, times: ArrayLike
) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values of the product of a balanced network of any depth over time, for whitened inputs.

    Gaussian networks are not balanced; their modes are `gaussian_modes`.

    $$ \dot s = L\, s^{2 - 2/L} (S - s), \qquad s(0) = s_0 $$

    The time at which a mode reaches a given strength has a closed form (`balanced_times`), which is inverted here. At
    depth 2 the solution is the logistic curve. For $S = 0$ it is $s = (s_0^{-p} + L p t)^{-1/p}$ with $p = 2 - 2/L$.

    **Arguments:**

    - `values`: singular values $S \ge 0$ of the target, (mode,)
    - `initial_values`: initial values $s_0 \ge 0$, one number or one for each mode; 0 stays 0
    - `depth`: number of layers $L \ge 2$
    - `times`: times (learning rate times number of steps), increasing, (time,)

    **Returns** $s(t)$, (time, mode).

    **Valid when** the inputs are whitened, the layers are balanced, and the initial product has the singular vectors of
    the target. `inits.balanced` makes such weights.

    **Reference:** Saxe et al. 2014, eq. (14) and its solutions; Arora et al. 2019, Theorem 3.

    **Example:**

        >>> from linnet.theories.deep import balanced_modes
        >>> balanced_modes([2.0, 1.0], 0.01, depth=3, times=[0.0, 5.0, 500.0]).round(3).tolist()
        [[0.01, 0.01], [2.0, 0.968], [2.0, 1.0]]
    """
    S, s0, L = _check_modes(values, initial_values, depth)
    clock = times_array("times", times)
    out = np.empty((clock.size, S.size))
    p = 2 - 2 / L
    for mode, (top, first) in enumerate(zip(S, s0, strict=True)):
        if first == 0 or first == top:
            out[:, mode] = first
        elif top == 0:
            out[:, mode] = first * (1 + L * p * clock * first**p) ** (-1 / p)
        elif L == 2:
            out[:, mode] = _two_layer_modes(top, first, clock)
        elif first > _MAX_START_OVER_TARGET * top:
            raise ValueError(
                f"`initial_values` must be at most {_MAX_START_OVER_TARGET:g} times its entry of `values`: got "
                f"{first:g} for {top:g}. A target of 0 is that limit, and has a closed form."
            )
        else:
            out[:, mode] = top * _shares_from_below(first / top, top**p * clock, L)
    return out


@representable
def balanced_times(
    values: ArrayLike, initial_values: ArrayLike, reached: ArrayLike, depth: int
) -> Float[np.ndarray, " mode"]:
    r"""Return the times at which the modes of a balanced network reach given strengths.

    It is the inverse of `balanced_modes`, so use it to ask how long a mode takes to be learned.

    $$ t = S^{-(2 - 2/L)} \left[\frac{v^{2-L}}{2 - L} - \frac1L \sum_{k=0}^{L-1} \omega_k^2
       \log(1 - v/\omega_k)\right]_{v_0}^{v}, \qquad v = (s/S)^{1/L}, \quad \omega_k = e^{2\pi i k/L} $$

    (at depth 2 the first term is $\log v$).

    **Arguments:**

    - `values`: singular values $S > 0$, (mode,)
    - `initial_values`: initial values $s_0$, between 0 and $S$, one number or one for each mode
    - `reached`: strengths $s$ to be reached, between $s_0$ and $S$, one number or one for each mode
    - `depth`: number of layers $L \ge 2$

    **Returns** the times, (mode,).

    **Reference:** Saxe et al. 2014, eq. (14), integrated.

    **Example:**

        >>> from linnet.theories.deep import balanced_times
        >>> balanced_times([2.0, 1.0], 0.01, [1.0, 0.5], depth=3).round(2).tolist()  # half-way
        [1.98, 3.77]
    """
    S, s0, L = _check_modes(values, initial_values, depth)
    s = np.broadcast_to(real_array("reached", reached, ndim=(0, 1)), S.shape)
    if (S <= 0).any() or (s0 <= 0).any() or (s < s0).any() or (s >= S).any():
        raise ValueError(
            "`reached` must lie between `initial_values` > 0 and `values`, below them: it never gets there."
        )
    clock = np.empty(S.size)
    for mode, (top, first, last) in enumerate(zip(S, s0, s, strict=True)):
        z0, z = (np.log(part) - np.log(top - part) for part in (first, last))
        clock[mode] = (_clock(z, L) - _clock(z0, L)) / top ** (2 - 2 / L)
    return clock


@representable
def balanced_products(
    problem: Problem,
    initial_product: ArrayLike,
    depth: int,
    times: ArrayLike,
    *,
    weight_decay: float = 0.0,
    rtol: float = 1e-11,
) -> Float[np.ndarray, "time output input"]:
    r"""Return the products of a balanced network of any depth over time, from any product and with any covariance.

    If the inputs are whitened and the initial product has the singular vectors of the target, `balanced_modes` is
    faster.

    $$ \dot A = \sum_{l=1}^{L} (A A^\top)^{(L-l)/L}\, R\, (A^\top A)^{(l-1)/L}, \qquad R = \Gamma - A \Sigma $$

    Weight decay adds $-L \lambda A$. The equation contains only the product, because balanced layers are determined by
    it. The equation is integrated numerically.

    **Arguments:**

    - `problem`: learning problem with a squared loss and no batch axis
    - `initial_product`: initial product $A(0)$, (output, input)
    - `depth`: number of layers $L \ge 2$
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `weight_decay`: coefficient $\lambda$ of weight decay of all layers, zero by default
    - `rtol`: relative tolerance of the integration

    **Returns** $A(t)$, (time, output, input).

    **Valid when** $W_l W_l^\top = W_{l+1}^\top W_{l+1}$ for all layers (`inits.balanced`).

    **Reference:** Arora et al. 2018, Theorem 1.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.deep import balanced_modes, balanced_products
        >>> problem, times = ln.Problem.from_target(np.diag([2.0, 1.0])), [0.0, 5.0]
        >>> path = balanced_products(problem, 0.01 * np.eye(2), 3, times)
        >>> bool(np.abs(np.diagonal(path[1]) - balanced_modes([2.0, 1.0], 0.01, 3, times)[1]).max() < 1e-8)
        True
    """
    from scipy.integrate import solve_ivp

    problem = squared_loss(problem)
    initial, clock = real_array("initial_product", initial_product, ndim=2), times_array("times", times)
    L, decay = count("depth", depth, least=2, most=1000), non_negative("weight_decay", weight_decay)
    if initial.shape != (problem.out_dim, problem.in_dim):
        raise ValueError(f"`initial_product` must be {problem.out_dim} x {problem.in_dim}: got shape {initial.shape}.")

    rtol = relative_tolerance("rtol", rtol)
    asked = 0

    def velocity(time: float, state: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += 1
        if asked > MAX_EVALUATIONS:
            raise ArithmeticError(
                f"the balanced flow gave up at t = {time:g} of {clock[-1]:g} after {MAX_EVALUATIONS} evaluations: ask "
                "for earlier `times`."
            )
        product = state.reshape(initial.shape)
        pull = problem.residual(product)
        left, values, right = np.linalg.svd(product, full_matrices=False)
        powers = values[:, None] ** (2 * np.arange(L) / L)
        middle = (left.T @ pull @ right.T) * (powers[:, 1 : L - 1] @ powers[:, L - 2 : 0 : -1].T)
        ends = (left * powers[:, -1]) @ (left.T @ pull) + (pull @ right.T * powers[:, -1]) @ right
        return np.asarray(ends + left @ middle @ right - L * decay * product).ravel()

    size = float(np.abs(initial).max())
    refuse_infinite(size**2)
    if size < np.finfo(float).tiny or clock[-1] == 0:
        return np.broadcast_to(initial, (clock.size, *initial.shape)).copy()
    span = (0.0, float(clock[-1]))
    run = solve_ivp(
        velocity, span, initial.ravel(), "DOP853", t_eval=clock, rtol=rtol, atol=max(0.01 * rtol * size, 1e-300)
    )
    if not run.success:
        raise ArithmeticError(f"the balanced flow could not be integrated to t = {clock[-1]:g}: {run.message}")
    return np.asarray(run.y.T.reshape(-1, *initial.shape))


def _check_modes(values: ArrayLike, initial_values: ArrayLike, depth: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return singular values, their starts and the depth, checked."""
    S = none_negative("values", np.atleast_1d(real_array("values", values, ndim=(0, 1))))
    s0 = none_negative("initial_values", real_array("initial_values", initial_values, ndim=(0, 1)))
    if s0.ndim == 1 and s0.size != S.size:
        broadcast(values=S, initial_values=s0)
    return S, np.broadcast_to(s0, S.shape), count("depth", depth, least=2, most=1000)


def _two_layer_modes(top: float, first: float, clock: np.ndarray) -> np.ndarray:
    """Return the modes of two layers in closed form."""
    decay = np.exp(-2 * top * clock)
    return top / (1 + (top - first) / first * decay)


def _shares_from_below(first: float, clock: np.ndarray, depth: int) -> np.ndarray:
    """x(t) of x' = L x^(2 - 2/L) (1 - x): the clock of `_clock` inverted by Newton's method inside a bracket."""
    if first > 1:
        return _shares_from_above(first, clock, depth)
    z0 = np.log(first) - np.log1p(-first)
    begin = _clock(z0, depth)
    shares = np.empty(clock.size)
    low = z0
    for index, time in enumerate(clock):
        if time == 0:
            shares[index] = first
            continue
        wanted, high = begin + time, max(low, 0.0) + depth * time + 2.0  # dz/dt = L v^(L-2) is at most L
        low = z = _clock_inverse(wanted, low, high, depth)
        shares[index] = 1 / (1 + np.exp(-z)) if z > -_MAX_LOGIT else 0.0
    return shares


def _clock_inverse(wanted: float, low: float, high: float, depth: int) -> float:
    """Return the z between two bounds at which `_clock` has a value: Newton's method, halving where it leaves them."""
    z = 0.5 * (low + high)
    for _ in range(_MAX_HALVINGS):
        off = _clock(z, depth) - wanted
        low, high = (low, z) if off > 0 else (z, high)
        share = 1 / (1 + np.exp(-z))
        newton = z - off * depth * share ** ((depth - 2) / depth)
        nxt = newton if low < newton < high else 0.5 * (low + high)
        if abs(nxt - z) <= 2e-16 * max(1.0, abs(z)):
            return float(nxt)
        z = nxt
    return float(z)


def _clock(z: float, depth: int) -> float:
    """The antiderivative of dt = v^(1-L)/(1 - v^L) dv at z = log(x/(1 - x)), x = v^L."""
    log_share = -np.log1p(np.exp(-z)) if z > 0 else z - np.log1p(np.exp(z))
    v, missing = np.exp(log_share / depth), -np.expm1(log_share / depth)  # 1 - v without cancellation
    roots = np.exp(2j * np.pi * np.arange(1, depth) / depth)
    logs = np.log(missing) + (roots**2 * np.log(1 - v / roots)).sum().real
    first = np.log(v) if depth == 2 else np.exp((2 - depth) * log_share / depth) / (2 - depth)
    return float(first - logs / depth)


def _shares_from_above(first: float, clock: np.ndarray, depth: int) -> np.ndarray:
    """From above the target: y = x - 1 falls to 0; integrated, as nothing there is small or sudden."""
    from scipy.integrate import solve_ivp

    p = 2 - 2 / depth

    def slope(t: float, log: np.ndarray) -> np.ndarray:
        return -depth * (1 + np.exp(log)) ** p

    begin = np.log(first - 1)
    last = max(float(clock[-1]), np.finfo(float).tiny)
    solved = solve_ivp(slope, (0.0, last), [begin], "DOP853", t_eval=np.minimum(clock, last), rtol=1e-13, atol=1e-13)
    return 1 + np.exp(solved.y[0])
