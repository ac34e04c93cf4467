"""Scalar output and a small initialization, any covariance: the network moves as one vector in input space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    OutOfRangeError,
    positive,
    real_array,
    refuse_infinite,
    relative_tolerance,
    representable,
    symmetric,
    times_array,
)
from linnet.inits.weights import Weights, check_two_layers
from linnet.problems.problem import Problem, squared_loss

MIN_START = 1e-290  # below it the integrator's tolerances are no longer numbers
MAX_EVALUATIONS = 600_000  # a start of 1e-200 takes most of them; about fifteen seconds
MAX_CONDITION = 1e18  # beyond it the two phases are too far apart for one clock of doubles


@representable
def aligned_flow(problem: Problem, u0: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "time input"]:
    r"""Return the vector w(t) that describes training of one output from a small initialization.

    A small network with one output quickly becomes $W_1 = r w^T$, $W_2 = |w| r^T$ with a fixed unit vector r. This
    function follows w in any data. For an initialization of any size, use `theories.one_output.error_over_time`.

    $$ \dot w = |w|\, \Gamma^T - |w|^2\, \Sigma w, \qquad A^T = |w|\, w $$

    **Arguments:**

    - `problem`: learning problem with one output
    - `u0`: size of the initialization along the cross moment, $w(0) = u_0 \Gamma^T/|\Gamma|$; or the vector $w(0)$,
      (input,)
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $w(t)$, (time, input). The coefficients that the network has learned are $|w|\, w$.

    **Valid when** the initialization is small, and exact if the initialization is aligned; for any covariance. If the
    covariance has one spike, w stays in the plane of the spike and the target, and follows (18)-(19) of Watanabe et al.
    If the covariance is estimated from samples, w leaves that plane.

    **Reference:** own result, which generalizes (18)-(19) of Watanabe et al. to any covariance.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.aligned_flow import aligned_flow
        >>> problem = ln.Problem.from_moments(np.diag([4.0, 1.0]), [[2.0, 1.0]])
        >>> w = aligned_flow(problem, 1e-3, [0.0, 50.0])
        >>> (np.linalg.norm(w[-1]) * w[-1]).round(4).tolist()  # it ends at the regression coefficients
        [0.5, 1.0]
    """
    cov, cross = _scalar_moments(problem)
    times = times_array("times", times)
    start = real_array("u0", u0, ndim=(0, 1))
    if start.ndim == 0:
        start = positive("u0", u0) * (cross / _safe_norm(cross))
    if start.shape != cross.shape or not start.any():
        raise ValueError(
            f"`u0` must be a positive number or a non-zero vector of {cross.size} entries: got shape {start.shape}."
        )
    return integrate(cov, cross, times, start)


@representable
def growth_direction(problem: Problem, weights: Weights) -> tuple[float, Float[np.ndarray, " hidden"]]:
    r"""Return the size $u(0) = |r_1|$ and the hidden direction $\hat r_1$ along which a small initialization begins to
    grow.

    Use it to prepare `aligned_flow`, which takes the size as `u0`.

    $$ r_1 = (W_1(0) v_1 + W_2(0)^T)/2, \qquad v_1 = \Gamma^T/|\Gamma| $$

    **Arguments:**

    - `problem`: learning problem with one output
    - `weights`: initial weights

    **Returns** the size $u(0)$ and the unit vector $\hat r_1$ (hidden,), along which both layers grow.

    **Reference:** Watanabe et al., (15).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.aligned_flow import growth_direction
        >>> start = ln.Weights([[1e-3, 0.0], [0.0, 0.0]], [[1e-3, 0.0]])
        >>> size, direction = growth_direction(ln.Problem.from_target([[1.0, 0.0]]), start)
        >>> size, direction.tolist()
        (0.001, [1.0, 0.0])
    """
    _, cross = _scalar_moments(problem)
    check_two_layers(weights)
    if weights.first.ndim != 2 or weights.in_dim != cross.size or weights.out_dim != 1:
        raise ValueError(
            f"`weights` must be one network of {cross.size} inputs and 1 output: got `first` of shape "
            f"{weights.first.shape} and `second` of shape {weights.second.shape}."
        )
    r1 = 0.5 * (weights.first @ (cross / _safe_norm(cross)) + weights.second[0])
    u0 = _safe_norm(r1)
    if u0 == 0:
        raise ValueError("`weights` must have something to grow from: W1 v1 + W2^T is zero.")
    return u0, r1 / u0


@representable
def integrate(
    cov: np.ndarray, cross: np.ndarray, times: np.ndarray, initial_product: np.ndarray, *, rtol: float = 1e-13
) -> Float[np.ndarray, "time input"]:
    r"""Integrate the aligned flow $\dot w = |w|\,\Gamma^T - |w|^2\,\Sigma w$ from any initialization, to about ten
    digits.

    `aligned_flow` calls it. Call it yourself if you have moments of the data but no `Problem`.

    The solver is explicit and of order 8, or implicit if the largest variance makes the equation stiff. By default it
    is accurate to about 1e-10. At times between its steps the explicit solver interpolates, and loses two or three
    digits.

    **Arguments:**

    - `cov`: covariance $\Sigma$, (input, input)
    - `cross`: cross moment $\Gamma$, (input,)
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `initial_product`: initial product $w(0)$, (input,)
    - `rtol`: relative tolerance

    **Returns** $w(t)$, (time, input).

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.aligned_flow import integrate
        >>> w = integrate(np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 20.0]), np.array([1e-3, 0.0]))
        >>> w[-1].round(6).tolist()
        [1.0, 0.0]
    """
    from scipy.integrate import solve_ivp

    cov, cross, initial_product = (
        symmetric("cov", cov),
        real_array("cross", cross, ndim=1),
        real_array("initial_product", initial_product, ndim=1),
    )
    times = times_array("times", times)
    rtol = relative_tolerance("rtol", rtol)
    if not cross.shape == initial_product.shape == cov.shape[:1]:
        raise ValueError(
            f"`cov` must be (d, d), `cross` and `initial_product` (d,): got shapes {cov.shape}, {cross.shape} and "
            f"{initial_product.shape}."
        )
    values, vectors = np.linalg.eigh(cov)
    cross, initial_product = cross @ vectors, initial_product @ vectors

    evaluations = 0

    def slope(time: float, w: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        if evaluations > MAX_EVALUATIONS:
            raise ArithmeticError(
                f"the aligned flow gave up at t = {time:g} of `times` up to {times[-1]:g} after {MAX_EVALUATIONS} "
                "evaluations: it has settled long before. Ask for earlier times."
            )
        norm = _safe_norm(w)
        return norm * cross - norm * (norm * values * w)

    def jacobian(_: float, w: np.ndarray) -> np.ndarray:
        norm = _safe_norm(w)
        slopes = np.outer(cross - 2 * norm * values * w, w / norm) - np.diag(norm * (norm * values))
        refuse_infinite(slopes)
        return slopes

    if times[-1] == 0:
        return (initial_product @ vectors.T)[None, :]
    size = _safe_norm(initial_product)
    refuse_infinite(size)
    if size < MIN_START:
        raise ValueError(
            f"the initialization (`initial_product`, `u0`) must have a norm of at least {MIN_START:g}: got {size:.3g}. "
            "Shift the time instead."
        )
    if values[-1] * times[-1] > MAX_CONDITION:
        raise ValueError(
            f"`times` must end before {MAX_CONDITION / values[-1]:.3g}, {MAX_CONDITION:g} over the largest variance of "
            f"`cov` {values[-1]:.3g}: got {times[-1]:g}. A smaller spike takes the same course."
        )
    # Near its end, |w| w = Sigma^-1 Gamma, the flow decays at rates up to |w|^2 times the largest variance.
    seen = values > max(1e-12 * values[-1], np.finfo(float).tiny)
    fastest = values[-1] * max(1.0, _safe_norm(cross[seen] / values[seen])) if seen.any() else 0.0
    if fastest * times[-1] < 2e4:
        options: dict[str, Any] = {"method": "DOP853", "rtol": rtol, "atol": 0.1 * rtol * size}
    else:  # far more steps than the solution needs: an implicit method takes them longer
        loose = max(rtol, 1e-11)
        options = {"method": "Radau", "rtol": loose, "atol": 0.1 * loose * size, "jac": jacobian}
    try:
        run = solve_ivp(slope, (0.0, times[-1]), initial_product, t_eval=times, **options)
    except ValueError:  # SciPy's, of steps whose inverse is no number
        raise OutOfRangeError("the flow is too fast for its clock.") from None
    if not run.success:
        raise ArithmeticError(
            f"the aligned flow could not be integrated to `times` {times[-1]:g} from a start of norm {size:.3g}: "
            f"{run.message}"
        )
    return run.y.T @ vectors.T


def _safe_norm(vector: np.ndarray) -> float:
    """The Euclidean norm, also where the squares underflow or overflow."""
    plain = math.sqrt(float(vector @ vector))
    if 1e-140 < plain < 1e140:
        return plain
    size = float(np.abs(vector).max())
    return size * float(np.linalg.norm(vector / size)) if size > 0 else 0.0


def _scalar_moments(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return covariance and cross moments of a single problem with one output; refuse any other."""
    cross = np.asarray(squared_loss(problem, outputs=1).cross).reshape(-1)
    if not cross.any():
        raise ValueError("`problem` must have inputs that correlate with the output: its cross moment is zero.")
    return np.asarray(problem.cov), cross
