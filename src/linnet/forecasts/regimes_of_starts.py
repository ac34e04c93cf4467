"""Lazy or active modes of a table, with the scale of the initialization that changes this."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from linnet._arguments import non_negative, of_kind, partly_representable, positive, refuse_infinite
from linnet.inits.weights import Weights, check_two_layers
from linnet.observables.mode_regimes import ACTIVE_MOVEMENT, LARGEST_PRODUCT, Regimes, labels, regimes, tied_kernel
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match

FACTOR_RANGE = (1e-8, 1e8)  # of the initialization, between which the boundaries are looked for
BISECTIONS = 60  # of that range in its logarithm: to all digits
BORDER_MARGIN = 1.02  # beyond the boundary, so that the printed digits do not fall back


@dataclass(frozen=True)
class StartRegimes:
    """Modes that an initialization learns lazily or actively from a table, and the scale that changes this.

    The regimes refer to the solution of ridge regression as the learned product. It does not depend on the
    initialization, so initializations of different scales can be compared.

    **Attributes:**

    - `regimes`: modes, thresholds and predicted movement of the kernels (`observables.regimes`)
    - `learned`: product of ridge regression, (output, input)
    - `untouched`: part of the initial product in directions without data, (output, input)

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.forecasts import start_regimes
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> problem = ln.Problem.from_data(X, 2 * X[:, :1])
        >>> begun = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=200, stds=0.3)
        >>> by_start = start_regimes(problem, begun, ridge=0.0)
        >>> by_start.labels, by_start.labels_at(by_start.advised_factor)
        (['lazy'], ['active'])
    """

    regimes: Regimes
    learned: Float[np.ndarray, "output input"]
    untouched: Float[np.ndarray, "output input"]

    @property
    def labels(self) -> list[str]:
        """Label "lazy" or "active" of each mode."""
        return self.regimes.labels

    @property
    def active(self) -> int:
        """Number of active modes."""
        return self.labels.count("active")

    @partly_representable
    def movement(self, factor: float) -> Float[np.ndarray, " mode"]:
        """Return the final kernel of each mode relative to its initial value, from the initialization times `factor`:
        thresholds and the initialization's own product and kernel are multiplied by its square."""
        r, square = self.regimes, positive("factor", factor) ** 2
        refuse_infinite(1 / square)
        end = tied_kernel(square * r.thresholds, self.learned + square * self.untouched, r.left, r.right)
        refuse_infinite(end)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = end / (square * r.kernel)
        return np.where(np.isnan(moved), 1.0, moved)

    @partly_representable
    def labels_at(self, factor: float) -> list[str]:
        """Labels of the modes if the initialization is multiplied by `factor`."""
        return labels(self.movement(factor))

    @cached_property
    def critical_factors(self) -> Float[np.ndarray, " mode"]:
        """Factor of the initialization below which each mode is active."""
        return self._factors_of_movement(np.full(len(self.labels), ACTIVE_MOVEMENT))

    @property
    def advised_factor(self) -> float | None:
        """The initialization factor at which all modes are certainly active (`Regimes.certain`) or, where they are
        active already, certainly lazy; None where no factor does it."""
        share = self.regimes.uncertain_share
        if self.active < len(self.labels):
            wanted = "active"
            edge = self._factors_of_movement(ACTIVE_MOVEMENT * share).min() / BORDER_MARGIN
        elif share.max() < ACTIVE_MOVEMENT:
            wanted = "lazy"
            edge = self._factors_of_movement(ACTIVE_MOVEMENT / share).max() * BORDER_MARGIN
        else:  # a kernel that does not move at all may, within its uncertainty, have moved by so much
            return None
        unit = 10.0 ** (np.floor(np.log10(edge)) - 1)
        digits = np.floor(edge / unit) if wanted == "active" else np.ceil(edge / unit)  # two, away from the edge
        factor = float(digits * unit)
        return factor if set(self.labels_at(factor)) == {wanted} else None

    def _factors_of_movement(self, moved: Float[np.ndarray, " mode"]) -> Float[np.ndarray, " mode"]:
        """Find for each mode the factor of the initialization below which its kernel moves by more than `moved`.

        It bisects, as kernels move less from larger starts; where there is no boundary, it ends near an end of
        `FACTOR_RANGE`.
        """
        low, high = np.full(len(moved), FACTOR_RANGE[0]), np.full(len(moved), FACTOR_RANGE[1])
        for _ in range(BISECTIONS):
            middle = np.sqrt(low * high)
            more = np.array([self.movement(c)[i] > moved[i] for i, c in enumerate(middle)])
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return low


@partly_representable
def start_regimes(problem: Problem, weights: Weights, *, ridge: float) -> StartRegimes:
    r"""Return which modes of a table are learned lazily or actively from an initialization.

    It takes the solution of ridge regression as the learned product. If you know the learned product, for example from
    a run, use `observables.regimes`.

    **Arguments:**

    - `problem`: learning problem made from data
    - `weights`: initial weights
    - `ridge`: penalty $\lambda$ in $(X^T X + \lambda n I)^{-1} X^T Y$

    **Returns** a `StartRegimes`.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.forecasts import start_regimes
        >>> problem = ln.problems.gaussian_regression(key=0, samples=40, in_dim=3)
        >>> begun = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=50, stds=1e-3)
        >>> start_regimes(problem, begun, ridge=0.01).labels
        ['active']
    """
    of_kind("problem", problem, Problem, "`ln.Problem.from_data`")
    weights, ridge = check_two_layers(weights), non_negative("ridge", ridge)
    check_match(problem, weights)
    if problem.cost is not None:
        raise ValueError("`problem` must have a squared loss: got one made by `from_cost`, which has no moments.")
    factor = problem.factor
    shrunk = np.asarray(factor.target) * (factor.scales / (factor.scales**2 + ridge))
    learned = shrunk if factor.basis is None else shrunk @ factor.basis.T
    before = weights.product
    untouched = np.zeros_like(before) if factor.basis is None else before - (before @ factor.basis) @ factor.basis.T
    end = learned + untouched
    if np.abs(end).max() > LARGEST_PRODUCT:
        raise ValueError(
            f"`problem` and `weights` must lead to a product below {LARGEST_PRODUCT:g} in size: its largest entry is "
            f"{np.abs(end).max():.3g}. Give them in other units, nearer to 1."
        )
    modes = regimes(problem, weights, product=end)
    if (np.isinf(modes.movement) & (modes.kernel == 0)).any():
        raise ValueError(
            "`weights` must not be zero along a mode of `problem`: no factor moves such an initialization, from "
            "which gradient descent never learns that mode. Start both layers, or one of them, from random weights."
        )
    refuse_infinite(modes.movement)
    return StartRegimes(modes, learned, untouched)
