"""The self-consistent dynamics of wide networks, solved exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import non_negative, real_array, representable, same_shape, times_array
from linnet.problems.problem import Problem, squared_loss

# Relative size of the rounding errors that a determined answer may carry.
_TOLERANCE = 1e-6
# Singular values below this fraction of the largest one are taken for zero when a balanced initialization is factored.
_RANK = 1e-13
# The largest growth exponent over which the un-normalized formula keeps its digits.
_SPAN = 8.0
# Of the arrays of times that are computed together.
_ENTRIES_TOGETHER = 500_000
# Steps after which stepping gives up; a run from a saddle is decided, or lost to rounding, in fewer than a hundred.
_MOST_STEPS = 20_000
_DECAY_RTOL = 1e-12  # relative tolerance of the integration with weight decay


class UndeterminedError(ArithmeticError):
    """Raised if the result depends on digits of the initialization that float64 does not hold.

    This happens to a balanced network whose determinant has the opposite sign of the target's. The network approaches a
    saddle, and the last digits of the initialization decide how it leaves.

    **Example:**

        >>> from linnet.theories.lazy_active import UndeterminedError, self_consistent
        >>> try:
        ...     self_consistent([[1.0, 0.0], [0.0, 1.0]], [[1e-3, 0.0], [0.0, -1e-3]], 0.0, [200.0])
        ... except UndeterminedError:
        ...     print("the last digits of the initialization decide")
        the last digits of the initialization decide
    """


@dataclass(frozen=True)
class Solution:
    """Result of `self_consistent_solution`: products over time, and whether float64 determines them.

    **Attributes:**

    - `times`: times at which the products were requested, (time,)
    - `products`: products $A(t)$, (time, output, input); NaN where they are not determined
    - `determined`: whether float64 determines the product, (time,)
    - `reason`: reason in words if some products are not determined; otherwise `"completed"`

    **Example:**

        >>> from linnet.theories.lazy_active import self_consistent_solution
        >>> found = self_consistent_solution([[2.0]], [[0.1]], 0.5, [0.0, 1.0])
        >>> found.products[:, 0, 0].round(4).tolist(), found.reason
        ([0.1, 1.839], 'completed')
    """

    times: np.ndarray
    products: np.ndarray
    determined: np.ndarray
    reason: str = "completed"


@representable
def self_consistent_layers(
    initial_product: np.ndarray, threshold: float
) -> tuple[Float[np.ndarray, "hidden input"], Float[np.ndarray, "output hidden"]]:
    r"""Return a narrow network whose gradient flow is exactly `self_consistent`.

    Train it with `ln.gradient_flow` to check the closed form. It has the width $\min(k, d)$ for k outputs and d inputs,
    and

    $$ W_2 W_1 = A(0), \qquad W_1 W_1^\top - W_2^\top W_2 = \pm 2g I $$

    The sign is plus for $k \ge d$ and minus for $k < d$; a network of the opposite sign has a different flow. If $g =
    0$ and $A(0)$ has lower rank, the rank never changes, so the network is only as wide as that rank.

    **Arguments:**

    - `initial_product`: initial product $A(0)$, (output, input)
    - `threshold`: threshold $g \ge 0$

    **Returns** the layers $W_1$ (hidden, input) and $W_2$ (output, hidden).

    **Reference:** Tu et al. 2024, end of appendix B, with C1 and C2 exchanged. The paper has only $k \ge d$.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import self_consistent_layers
        >>> first, second = self_consistent_layers(np.array([[1.0, 0.0], [0.0, 0.5]]), 0.1)
        >>> np.round(second @ first, 12).tolist()
        [[1.0, 0.0], [0.0, 0.5]]
        >>> np.round(first @ first.T - second.T @ second, 12).tolist()
        [[0.2, 0.0], [0.0, 0.2]]
    """
    initial_product, threshold = (
        real_array("initial_product", initial_product, ndim=2),
        non_negative("threshold", threshold),
    )
    return _Start(initial_product, threshold).weights


class _Start:
    """Singular vectors of the initial product, and the sizes that its two layers give to them."""

    def __init__(self, product: np.ndarray, threshold: float):
        left, values, right = np.linalg.svd(product, full_matrices=False)
        if threshold == 0:
            kept = values > _RANK * max(values[0], np.finfo(float).tiny)
            left, values, right = left[:, kept], values[kept], right[kept]
        self.left, self.values, self.right = left, values, right
        self.big = np.sqrt(threshold + np.hypot(values, threshold))
        self.small = values / np.where(self.big > 0, self.big, 1.0)  # not sqrt(-g + hypot), which cancels

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        if self.left.shape[0] >= self.right.shape[1]:
            return self.big[:, None] * self.right, self.left * self.small
        return self.small[:, None] * self.right, self.left * self.big


def whitened_target(target: ArrayLike | Problem) -> np.ndarray:
    """The target matrix, given as it is or by a problem; a problem whose inputs are not whitened has none."""
    if isinstance(target, Problem):
        squared_loss(target)
        if not (target.whitened or np.allclose(target.cov, np.eye(target.in_dim), atol=1e-12)):
            raise ValueError(
                "`target` must be a problem with whitened inputs, whose covariance is the identity: this one's is not. "
                "Use `theories.lazy_active.integrate`, which takes any covariance."
            )
        target = target.cross
    return real_array("target", target, ndim=2)


def self_consistent(
    target: ArrayLike,
    initial_product: ArrayLike,
    threshold: float,
    times: ArrayLike,
    *,
    weight_decay: float = 0.0,
    throw: bool = True,
) -> Float[np.ndarray, "time output input"]:
    r"""Return the product of a wide two-layer network over time, in closed form.

    It takes no time steps, so a late time costs as much as an early one. If you have initial weights, use `ln.predict`,
    which computes their threshold and calls this function when it applies.

    $$ \dot A = \sqrt{A A^\top + g^2 I}\,(Y - A) + (Y - A)\sqrt{A^\top A + g^2 I}, \qquad A(0) = A_0 $$

    **Arguments:**

    - `target`: target $Y$, (output, input), or a `Problem` with whitened inputs
    - `initial_product`: initial product $A_0$, (output, input), for example `weights.product`
    - `threshold`: threshold $g = \sigma^2 w \ge 0$: modes above it are learned actively, modes below it lazily
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `weight_decay`: coefficient $\lambda$ of weight decay, zero by default. Otherwise $g$ decays as $g e^{-2\lambda
      t}$, the equation has the additional term $-2\lambda A$, and it is integrated to 1e-9
    - `throw`: whether times that float64 cannot determine raise `UndeterminedError`; if not, the result is NaN there

    **Returns** $A(t)$, (time, output, input).

    **Valid for** any shape, any initial product and any $t \ge 0$. It is a good approximation for wide Gaussian layers,
    and exact for the network of `self_consistent_layers`. For networks whose imbalance $W_1 W_1^\top - W_2^\top W_2$ is
    another multiple of the identity, use `balanced_solution`.

    **Not determined** is one case. At $g = 0$ the sign of $\det A$ is conserved. If a square $A_0$ has a determinant of
    the opposite sign of the target's, the flow ends in a saddle, and rounding errors decide how it leaves. Later times
    raise `UndeterminedError`. `self_consistent_solution` returns the times that are determined.

    **Reference:** Tu et al. 2024, eq. (1), for the cost $\tfrac12 |A - Y|_F^2$; the closed form is not in the paper.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import self_consistent
        >>> target = np.diag([4.0, 0.5])
        >>> path = self_consistent(target, np.zeros((2, 2)), 0.1, [0.0, 0.5, 1.0, 50.0])
        >>> np.diagonal(path, axis1=1, axis2=2).round(3)
        array([[0.   , 0.   ],
               [1.646, 0.049],
               [3.898, 0.103],
               [4.   , 0.5  ]])
    """
    decay = non_negative("weight_decay", weight_decay)
    solution = self_consistent_solution(target, initial_product, threshold, times)
    if throw and not solution.determined.all():
        first = solution.times[int(np.argmin(solution.determined))]
        raise UndeterminedError(
            f"the answer is not determined in float64 from t = {first:g} on: {solution.reason}. "
            "Ask for earlier times, a positive `threshold`, or pass `throw=False` to get NaN there."
        )
    products = solution.products.copy()
    if decay:
        from linnet.theories.lazy_active.integrated import flow_of_layers

        goal, layers = whitened_target(target), self_consistent_layers(np.asarray(initial_product, float), threshold)
        products = flow_of_layers(lambda product: goal - product, layers, solution.times, decay, _DECAY_RTOL)
    products[~solution.determined] = np.nan
    return products


@representable
def self_consistent_solution(
    target: ArrayLike, initial_product: ArrayLike, threshold: float, times: ArrayLike
) -> Solution:
    r"""Return the products of `self_consistent` together with a status, instead of raising an exception.

    Use it in loops over many initializations, which one undetermined case should not stop.

    **Arguments:**

    - `target`: target $Y$, (output, input), or a `Problem` with whitened inputs
    - `initial_product`: initial product $A_0$, (output, input)
    - `threshold`: threshold $g = \sigma^2 w \ge 0$
    - `times`: times (learning rate times number of steps), increasing, (time,)

    **Returns** a `Solution`, with `.times`, `.products`, `.determined` and `.reason`.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import self_consistent_solution
        >>> self_consistent_solution(np.diag([4.0, 0.5]), np.zeros((2, 2)), 0.1, [0.0, 1.0]).determined.tolist()
        [True, True]
    """
    goal, first = whitened_target(target), real_array("initial_product", initial_product, ndim=2)
    same_shape(target=goal, initial_product=first)
    g, clock = non_negative("threshold", threshold), times_array("times", times)
    begun = _Start(first, g)
    if begun.values.size == 0:  # a zero start of a balanced network never moves
        return Solution(clock, np.zeros((clock.size, *goal.shape)), np.ones(clock.size, dtype=bool))
    for turned in (False, True):
        modes = _Modes(goal, g, turned)
        shot = _OneShot(modes, *modes.split(begun))
        if shot.error < _TOLERANCE:
            products = shot.products(clock)
            return Solution(clock, products, np.ones(clock.size, dtype=bool))
        if g > 0 or modes.full:  # a target of lower rank leaves the sign of its null vectors free: try the other one
            break
    return _stepped(modes, begun.weights, clock)


class _Modes:
    """Eigenvectors of $F = [[gI, Y^T], [Y, -gI]]$ (g signed), from the SVD of Y: growing ones first, largest first."""

    def __init__(self, target: np.ndarray, threshold: float, turned: bool = False):
        outputs, inputs = target.shape
        self.inputs = inputs
        tall = outputs >= inputs
        left, values, right = np.linalg.svd(target, full_matrices=True)
        count = min(outputs, inputs)
        self.full = bool(values[-1] > _RANK * values[0])
        if turned:
            left[:, count - 1] *= -1
        rate = np.hypot(values, threshold)
        norm = np.hypot(values, rate + threshold)
        safe = np.where(norm > 0, norm, 1.0)
        near = np.where(norm > 0, (rate + threshold) / safe, np.sqrt(0.5))
        far = np.where(norm > 0, values / safe, np.sqrt(0.5))
        u, v = left[:, :count], right[:count].T
        self.values, self.threshold, self.near, self.far, self.norm = values, threshold, near, far, safe
        self.larger, self.lesser = (v, u) if tall else (u, v)  # singular vectors on the side of the larger layer
        # the layer with the larger Gram matrix carries `near`: inputs for k >= d (g > 0), outputs for k < d (g < 0)
        upper, lower = (near, far) if tall else (far, near)
        self.growing = np.vstack([v * upper, u * lower])
        decaying = np.vstack([v * lower, -u * upper])
        rest_out = np.vstack([np.zeros((inputs, outputs - count)), left[:, count:]])
        rest_in = np.vstack([right[count:].T, np.zeros((outputs, inputs - count))])
        self.others = np.hstack([decaying, rest_out, rest_in])
        self.rates = rate
        self.other_rates = np.concatenate([-rate, np.full(self.others.shape[1] - count, -threshold)])

    def split(self, start: _Start) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates of the initialization along one growing mode for each hidden unit, their errors, and the others.

        A start of the other sign than the target cancels along the growing modes, so what the two layers have in
        common is taken apart from what the larger one has more: (near big - far small) N + far small (N + M), with N
        and M the overlaps of the singular vectors on the two sides. Rounding of N + M is all that is left.
        """
        width = start.values.size
        if width < self.rates.size:  # a balanced start of lower rank: slower growing modes join the others
            self.others = np.hstack([self.growing[:, width:], self.others])
            self.other_rates = np.concatenate([self.rates[width:], self.other_rates])
            self.growing, self.rates = self.growing[:, :width], self.rates[:width]
        tall = start.left.shape[0] >= start.right.shape[1]
        sides = (start.right.T, start.left) if tall else (start.left, start.right.T)
        mine = slice(0, width)
        overlaps = self.larger[:, mine].T @ sides[0], self.lesser[:, mine].T @ sides[1]
        beyond, over = (_beyond(size, self.threshold) for size in (self.values[mine, None], start.values))
        big = np.where(start.big > 0, start.big, 1.0)
        more = self.values[mine, None] * over + beyond * start.values + beyond * over
        more /= self.norm[mine, None] * big
        common = self.far[mine, None] * start.small
        plus = more * overlaps[0] + common * (overlaps[0] + overlaps[1])
        vectors = (self.larger[:, mine], self.lesser[:, mine], *sides)
        signs = all(np.isin(np.abs(part), (0.0, 1.0)).all() for part in vectors)  # then their overlaps are exact
        eps = np.finfo(float).eps
        error = eps * np.abs(plus) + (0.0 if signs else eps) * common
        stacked = np.vstack([start.weights[0].T, start.weights[1]])
        return plus, error, self.others.T @ stacked


def _beyond(size: np.ndarray, threshold: float) -> np.ndarray:
    """hypot(size, g) + g - size, without the difference."""
    total = np.hypot(size, threshold) + size
    return threshold * (1 + threshold / np.where(total > 0, total, 1.0))


def _integral(rates: np.ndarray, time: float | np.ndarray) -> np.ndarray:
    """The integral of e^(-2 rate s) from 0 to `time`, for rates of any sign."""
    safe = np.where(rates == 0, 1.0, rates)
    return np.where(rates == 0, time, -np.expm1(-2 * safe * time) / (2 * safe))


class _OneShot:
    """A(t) from the initialization alone. Everything is divided by the growing exponentials, so nothing overflows."""

    def __init__(self, modes: _Modes, plus: np.ndarray, error: np.ndarray, minus: np.ndarray):
        self.modes = modes
        scale = np.hypot(
            np.linalg.norm(plus, axis=0), np.linalg.norm(minus, axis=0)
        )  # of the initialization's own columns
        scaled = plus / scale
        values = np.linalg.svd(scaled, compute_uv=False)
        spread = values[0] / values[-1] if values[-1] > 0 else np.inf
        self.error = np.inf
        if spread * np.finfo(float).eps < _TOLERANCE:
            inverse = np.linalg.inv(scaled)
            self.error = float(np.linalg.norm((error / scale) @ np.abs(inverse)))
        if not self.error < _TOLERANCE:
            return
        self.ratio = (minus / scale) @ inverse
        self.origin = inverse / scale[:, None]  # the inverse of `plus`
        self.slow = modes.other_rates > 0
        self.falling = self.ratio[~self.slow]
        # squares of the rows cost digits: where there are enough of them, solving with the squares is faster
        self.plain = spread * scale.max() / scale.min() < 70
        if self.plain:
            self.gram = self.origin.T @ self.origin

    def products(self, times: np.ndarray) -> np.ndarray:
        """A at many times: together if squares keep enough digits, in groups that fit into memory."""
        if not self.plain:
            return np.stack([self.product(time) for time in times])
        together = max(1, _ENTRIES_TOGETHER // self.ratio.size)
        parts = [self._plain_products(times[at : at + together]) for at in range(0, times.size, together)]
        return np.concatenate(parts)

    def _plain_products(self, times: np.ndarray) -> np.ndarray:
        """A at some times, by T M^(-1) T' with M from squares."""
        modes, slow, t = self.modes, self.slow, times[:, None]
        decay = np.exp(-modes.rates * t)
        if slow.any():  # together, as the two exponentials alone would overflow
            grown = self.ratio * np.exp((modes.other_rates[:, None] - modes.rates) * t[:, :, None])
        else:
            grown = self.ratio * decay[:, None, :] * np.exp(modes.other_rates * t)[:, :, None]
        own, fallen = _integral(modes.rates, t), _integral(-modes.other_rates[~slow], t)
        rising = np.sqrt(_integral(modes.other_rates[slow], t))[:, :, None] * grown[:, slow]
        turned = np.swapaxes(modes.growing + modes.others @ grown, 1, 2)
        squares = (self.gram + (self.falling.T * fallen[:, None, :]) @ self.falling) * decay[:, :, None]
        squares = squares * decay[:, None, :] + np.swapaxes(rising, 1, 2) @ rising
        at = np.arange(squares.shape[1])
        squares[:, at, at] += own
        # not SciPy's triangular solve: its threads and NumPy's, two pools on the same cores, wait for each other
        solved = np.linalg.solve(squares, turned[:, :, : modes.inputs])
        return np.swapaxes(turned[:, :, modes.inputs :], 1, 2) @ solved

    def product(self, time: float) -> np.ndarray:
        """A at one time: T M^(-1) T', M = R' R, with R from the rows whose squares are I + Q0' int e^{2Fs} Q0."""
        modes, slow = self.modes, self.slow
        decay = np.exp(-modes.rates * time)
        if slow.any():  # together, as the two exponentials alone would overflow
            grown = self.ratio * np.exp((modes.other_rates[:, None] - modes.rates) * time)
        else:
            grown = self.ratio * decay * np.exp(modes.other_rates * time)[:, None]
        own, fallen = _integral(modes.rates, time), _integral(-modes.other_rates[~slow], time)
        rising = np.sqrt(_integral(modes.other_rates[slow], time))[:, None] * grown[slow]
        turned = (modes.growing + modes.others @ grown).T
        from scipy.linalg import qr, solve_triangular

        falling = np.sqrt(fallen)[:, None] * (self.falling * decay)
        rows = np.vstack([self.origin * decay, np.diag(np.sqrt(own)), rising, falling])
        # largest rows first, and columns pivoted: then rows of very different sizes all keep their digits
        ordered = rows[np.argsort(-np.abs(rows).max(axis=1), kind="stable")]
        triangle, order = qr(ordered, mode="r", pivoting=True, check_finite=False)
        width = triangle.shape[1]
        state = solve_triangular(triangle[:width], turned[order], trans="T", check_finite=False).T
        return _product(state, modes.inputs)


def _stepped(modes: _Modes, weights: tuple[np.ndarray, np.ndarray], times: np.ndarray) -> Solution:
    """A(t) by exact steps short enough for the undivided formula: for starts without a part along a growing mode.

    A twin that starts one rounding error away runs in parallel. Once the two differ, the computed solution is no longer
    exact but shaped by rounding, even if both end at the same place.
    """
    basis = np.hstack([modes.growing, modes.others])
    rates = np.concatenate([modes.rates, modes.other_rates])
    start = basis.T @ np.vstack([weights[0].T, weights[1]])
    nudge = np.random.default_rng(0).choice([-1.0, 1.0], size=start.shape) * np.finfo(float).eps
    twins = np.stack([start, start + nudge * np.linalg.norm(start, axis=0)])
    longest = _SPAN / max(rates.max(), np.finfo(float).tiny)
    now, lost, taken = 0.0, False, 0
    products, determined = [], []
    for goal in times:
        while now < goal and not lost and taken < _MOST_STEPS:
            step = min(longest, goal - now)
            taken += 1
            twins = np.stack([one_step(state, rates, step) for state in twins])
            now += step
            first, second = (_product(basis @ state, modes.inputs) for state in twins)
            lost = bool(np.linalg.norm(first - second) > _TOLERANCE * np.linalg.norm(first))
        products.append(_product(basis @ twins[0], modes.inputs))
        determined.append(now >= goal and not lost)
    reason = "completed"
    if lost:
        reason = (
            "the initialization has no part along a growing mode of the target (a square balanced one "
            "whose determinant has the other sign than the target's has none), so the exact solution ends in a "
            "saddle, which rounding escapes"
        )
    elif now < times[-1]:
        reason = (
            f"the initialization hardly has a part along a growing mode: {_MOST_STEPS} steps did not reach this time"
        )
    return Solution(times, np.stack(products), np.array(determined), reason)


def one_step(state: np.ndarray, rates: np.ndarray, time: float) -> np.ndarray:
    """One exact step of Q in the eigenbasis of F: e^{Ft} Q (I + Q' int e^{2Fs} Q)^(-1/2)."""
    gram = np.eye(state.shape[1]) + state.T @ (_integral(-rates, time)[:, None] * state)
    values, vectors = np.linalg.eigh(gram)
    return np.exp(rates * time)[:, None] * (state @ ((vectors / np.sqrt(values)) @ vectors.T))


def _product(stacked: np.ndarray, inputs: int) -> np.ndarray:
    return stacked[inputs:] @ stacked[:inputs].T
