"""Lazy or active, mode by mode: how far training moves the tangent kernel from its initial value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import partly_representable, real_array, representable
from linnet.inits.weights import Weights, check_two_layers
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match

if TYPE_CHECKING:
    from jaxtyping import Bool

ACTIVE_MOVEMENT = np.sqrt(2)  # of the kernel: a mode that grows from nothing to its threshold moves it by this factor
LARGEST_PRODUCT = 1e140  # whose squares are taken


@dataclass(frozen=True)
class Regimes:
    r"""Result of `regimes`; all arrays have one entry for each mode, strongest first.

    **Attributes:**

    - `strengths`: singular values of the cross-covariance $\Gamma = \sum_i c_i u_i v_i^T$, (mode,)
    - `left`: left singular vectors $u_i$ of the modes, (output, mode)
    - `right`: right singular vectors $v_i$ of the modes, (input, mode)
    - `sizes`: strengths of the modes of the learned product, computed from their kernels as
      $\sqrt{(\theta_i/2)^2 - g_i^2}$, (mode,)
    - `thresholds`: strengths $g_i$ at which a mode passes from lazy to active, (mode,)
    - `uncertainties`: uncertainties of the thresholds, in the same units, (mode,); they arise because modes share
      hidden units
    - `kernel`: tangent kernel $\theta_i$ along each mode at initialization, (mode,)
    - `movement`: predicted ratio of $\theta_i$ at the end and $\theta_i$ at initialization, (mode,)

    `.labels` holds "lazy" or "active" for each mode. `.certain` is true for a mode whose label does not change within
    the uncertainty.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import regimes
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**8, stds=1e-4)
        >>> by_mode = regimes(ln.Problem.from_target([[8.0, 0.0], [0.0, 0.1]]), start)
        >>> by_mode.thresholds.round(2).tolist(), by_mode.certain.tolist()
        ([1.0, 1.0], [True, True])
    """

    strengths: Float[np.ndarray, " mode"]
    left: Float[np.ndarray, "output mode"]
    right: Float[np.ndarray, "input mode"]
    sizes: Float[np.ndarray, " mode"]
    thresholds: Float[np.ndarray, " mode"]
    uncertainties: Float[np.ndarray, " mode"]
    kernel: Float[np.ndarray, " mode"]
    movement: Float[np.ndarray, " mode"]

    @property
    def labels(self) -> list[str]:
        """Label "lazy" or "active" of each mode."""
        return labels(self.movement)

    @property
    def uncertain_share(self) -> Float[np.ndarray, " mode"]:
        """Factor by which the movement is uncertain; it does not depend on the scale of the initialization."""
        return 1 + 2 * self.uncertainties / np.where(self.kernel > 0, self.kernel, 1.0)

    @property
    def spread(self) -> Float[np.ndarray, "2 mode"]:
        """Movement at both ends of its uncertainty."""
        return np.stack([self.movement / self.uncertain_share, self.movement * self.uncertain_share])

    @property
    def certain(self) -> Bool[np.ndarray, " mode"]:
        """Whether the label of each mode is the same within the whole uncertainty."""
        low, high = (np.array(labels(end)) for end in self.spread)
        return np.asarray(low == high)

    @partly_representable
    def measured(self, trained: Weights) -> Float[np.ndarray, " mode"]:
        """Return the measured movement: the kernel of `trained` weights relative to the initial kernel, mode by
        mode."""
        trained = check_two_layers(trained, "trained")
        if (trained.in_dim, trained.out_dim) != (len(self.right), len(self.left)):
            raise ValueError(
                f"`trained` must have {len(self.right)} inputs and {len(self.left)} outputs, as at initialization: got "
                f"{trained.in_dim} and {trained.out_dim}."
            )
        if not (np.isfinite(trained.first).all() and np.isfinite(trained.second).all()):
            raise ValueError(
                "`trained` must be finite weights: these have NaN or infinities, as of a run that diverged."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return mode_kernel(trained, self.left, self.right) / self.kernel


def labels(movement: ArrayLike) -> list[str]:
    """ "active" where the kernel moved by more than the square root of two, up or down, "lazy" elsewhere."""
    with np.errstate(divide="ignore"):
        far = np.abs(np.log(real_movement(movement))) > np.log(ACTIVE_MOVEMENT)
    return np.where(far, "active", "lazy").tolist()


def real_movement(movement: ArrayLike) -> np.ndarray:
    """Movements as an array; infinite where a kernel started at zero."""
    return np.atleast_1d(np.asarray(movement, dtype=np.float64))


@representable
def mode_kernel(weights: Weights, left: ArrayLike, right: ArrayLike) -> Float[np.ndarray, "... mode"]:
    r"""Return the tangent kernel along each mode: the rate at which the residual of the mode is learned.

    To label modes as lazy or active from this kernel, use `regimes`.

    $$ \theta_i = |W_2^T u_i|^2 + |W_1 v_i|^2 $$

    **Arguments:**

    - `weights`: weights of the network; leading axes are kept
    - `left`: left singular vectors $u_i$ of unit length, (output, mode)
    - `right`: right singular vectors $v_i$ of unit length, (input, mode)

    **Returns** $\theta_i$, (..., mode).

    **Example:**

        >>> import linnet as ln
        >>> ln.observables.mode_kernel(ln.Weights([[2.0, 0.0]], [[1.0]]), [[1.0]], [[1.0], [0.0]])
        array([5.])
    """
    weights = check_two_layers(weights)
    U, V = real_array("left", left, ndim=2), real_array("right", right, ndim=2)
    if U.shape[0] != weights.out_dim or V.shape[0] != weights.in_dim or U.shape[1] != V.shape[1]:
        raise ValueError(
            f"`left` must be ({weights.out_dim}, mode) and `right` ({weights.in_dim}, mode): got {U.shape} and "
            f"{V.shape}."
        )
    back = ((np.swapaxes(weights.second, -1, -2) @ U) ** 2).sum(axis=-2)
    return back + ((weights.first @ V) ** 2).sum(axis=-2)


def regimes(problem: Problem, weights: Weights, *, product: ArrayLike | None = None) -> Regimes:
    r"""Label each mode as lazy or active for these initial weights, and return the thresholds.

    The labels predict the end of training. For a run that you have trained, use `Regimes.measured`; for data in a
    table, `ln.forecast`.

    In a wide network, the conserved imbalance determines the layers from the product. At every time

    $$ W_1^T W_1 = \sqrt{A^T A + g^2} + \delta/2, \quad W_2 W_2^T = \sqrt{A A^T + g^2} - \delta/2, \qquad
       \theta(s) = 2\sqrt{s^2 + g^2} $$

    for a mode of strength s, for any covariance and for equal or unequal layers. The threshold $g_i$ is the value of g
    for which this holds along mode i at initialization. For Gaussian layers of standard deviations $\sigma_1, \sigma_2$
    and width w it is $(\sigma_1^2 + \sigma_2^2) w/2$. A mode that grows from zero to its threshold changes its kernel
    by a factor of $\sqrt2$. A mode is "active" if training changes its kernel by more than that, and "lazy" if by less.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights
    - `product`: product (output, input) that is learned. By default it is the end of gradient flow: the minimum-norm
      solution and, in directions without data, the initialization. If you stop early, give the product at that time.

    **Returns** a `Regimes`. The modes belong to the cross-covariance. For whitened inputs they are also the modes of
    the solution, and `sizes` are its singular values.

    **Valid when** the width exceeds the number of inputs and outputs together. The uncertainty is
    $\tfrac12|(C_1 - v_i^T C_1 v_i)v_i|$, and likewise for $C_2$. For Gaussian layers it is the fraction
    $\tfrac12\sqrt{(d+k)/w}$ of the threshold. In narrower networks `certain` is often false. The labels describe
    gradient flow; gradient descent near its largest stable rate changes kernels by a few percent less.

    **Reference:** Tu et al. 2024, section 3.1 and Theorem 1, for equal layers; the same argument holds for unequal
    ones.

    **Example:**

        >>> import linnet as ln
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**8, stds=1e-4)
        >>> ln.observables.regimes(ln.Problem.from_target([[8.0, 0.0], [0.0, 0.1]]), start).labels
        ['active', 'lazy']
    """
    check_match(problem, weights)
    if weights.batch or problem.batch:
        raise ValueError("`weights` must be one network on one problem: take a member of the batch, `weights[i]`.")
    weights = check_two_layers(weights)
    before = _finite_product(weights)
    cross = problem.cross if problem.cost is None else problem.residual(np.zeros_like(before))
    left, strengths, right = np.linalg.svd(cross, full_matrices=False)
    rank = max(1, int((strengths > strengths[0] * max(cross.shape) * np.finfo(float).eps).sum()))
    U, V = left[:, :rank], right[:rank].T
    after = _end_of_flow(problem, before) if product is None else problem._check_product("product", product)
    if after.ndim != 2:
        raise ValueError(f"`product` must be one matrix, (output, input): got shape {after.shape}.")
    if np.abs(after).max() > LARGEST_PRODUCT:
        raise ValueError(
            f"`product` must be below {LARGEST_PRODUCT:g} in size: the largest entry is {np.abs(after).max():.3g}."
        )
    kernel = mode_kernel(weights, U, V)
    g = _thresholds_of_kernel(kernel, before, U, V)
    end = tied_kernel(g, after, U, V)
    with np.errstate(divide="ignore", invalid="ignore"):
        movement = end / kernel
    return Regimes(
        strengths=strengths[:rank],
        left=U,
        right=V,
        sizes=np.sqrt(np.clip((end / 2) ** 2 - g**2, 0, None)),
        thresholds=g,
        uncertainties=_coupling_to_others(weights, U, V),
        kernel=kernel,
        movement=np.where(np.isnan(movement), 1.0, movement),
    )


def _finite_product(weights: Weights) -> np.ndarray:
    """The product, refused where it or a kernel of it is not a number: of a run that diverged, or beyond float64."""
    largest = max(float(np.abs(weights.first).max()), float(np.abs(weights.second).max()))
    if not largest < 1e70:  # fourth powers of the weights are taken
        raise ValueError(f"`weights` must be finite and below 1e70 in size: the largest is {largest:.3g}.")
    return weights.product


def _end_of_flow(problem: Problem, before: np.ndarray) -> np.ndarray:
    """Where gradient flow ends: the minimum-norm solution, and the initialization on directions that the data never
    touch."""
    if problem.cost is not None:
        raise ValueError(
            "`product` must be given for a general cost: the product at the end of a run, `run.products[-1]`."
        )
    basis = problem.factor.basis
    untouched = 0.0 if basis is None else before - (before @ basis) @ basis.T
    return problem.min_norm_solution() + untouched


def tied_kernel(g: np.ndarray, product: np.ndarray, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The kernel tied to a product by the imbalance: u^T sqrt(A A^T + g^2) u + v^T sqrt(A^T A + g^2) v, g by mode."""
    left, values, right = np.linalg.svd(product, full_matrices=False)
    beyond = values**2 / (np.hypot(values, g[:, None]) + g[:, None] + np.finfo(float).tiny)  # sqrt(s^2 + g^2) - g
    return 2 * g + ((U.T @ left) ** 2 * beyond).sum(axis=1) + ((V.T @ right.T) ** 2 * beyond).sum(axis=1)


def _thresholds_of_kernel(kernel: np.ndarray, product: np.ndarray, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The g of each mode at which the tied kernel is the initialization's own; zero where the product alone makes
    more."""
    low, high = np.zeros_like(kernel), kernel / 2
    for _ in range(60):  # bisection: the tied kernel rises with g, and at kernel/2 it is at least the kernel
        middle = (low + high) / 2
        above = tied_kernel(middle, product, U, V) > kernel
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


def _coupling_to_others(weights: Weights, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Half the length of what C1 and C2 send from a mode into others: hidden units that it shares with them."""
    parts = []
    for layer, vectors in ((weights.first, V), (weights.second.T, U)):
        hidden = layer @ vectors
        image = layer.T @ hidden
        parts.append((image**2).sum(axis=0) - ((hidden**2).sum(axis=0)) ** 2)
    return 0.5 * np.sqrt(np.clip(parts[0] + parts[1], 0, None))
