"""The variational problem that the trained layers solve, with certificates: a KKT residual and a duality gap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import partly_representable, positive, real_array, refuse_infinite, representable, symmetric


@representable
def variational_potential(first: ArrayLike, second: ArrayLike, gamma: float) -> float:
    r"""Return the quantity that gradient flow from the orthogonal initialization minimizes among all interpolating
    networks.

    Compare it between networks that fit the same data. To prove that a network is the minimum, use `duality_gap`.

    $$ \tfrac12 |W_2|_F^2 + \tfrac12 |W_1|_F^2 - \gamma \ln\det(W_1^\top W_1) $$

    **Arguments:**

    - `first`: first layer $W_1$, (hidden, input), of full column rank
    - `second`: second layer $W_2$, (output, hidden)
    - `gamma`: scale

    **Returns** the value, a number.

    **Reference:** Varre et al. 2023, eq. (3.1).

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import variational_potential
        >>> first, second = np.diag([3.0, np.sqrt(8.0)]), np.array([[1.0, 0.0]])  # of `final_singular_values`
        >>> minimum = variational_potential(first, second, 4.0)
        >>> minimum < variational_potential(2 * first, second / 2, 4.0)  # other layers with the same product
        True
    """
    gamma = positive("gamma", gamma)
    first, second = _check_layers(first, second)
    # a determinant of roots, not of the Gram matrix: its squares would overflow or vanish
    logdet = 2 * float(np.log(_nonzero_values(first)).sum())
    return float(0.5 * np.sum(second**2) + 0.5 * np.sum(first**2) - gamma * logdet)


@representable
def kkt_residual(first: ArrayLike, second: ArrayLike, cov: ArrayLike, cross: ArrayLike, gamma: float) -> float:
    r"""Return how far two layers are from a stationary point of `variational_potential` among interpolating networks.

    To prove a global minimum, use `duality_gap`. With the multiplier $a = W_2 W_1 (W_1^\top W_1)^{-1}$, a stationary
    point satisfies four conditions, each measured relative to the size of its terms:

    - $A \Sigma = \Gamma$, the constraint
    - $a$ is in the row space of $\Sigma$
    - $W_2 = a W_1^\top$
    - $W_1 - 2\gamma W_1 (W_1^\top W_1)^{-1} = W_2^\top a$

    **Arguments:**

    - `first`: first layer $W_1$, (hidden, input), of full column rank
    - `second`: second layer $W_2$, (output, hidden)
    - `cov`: covariance $\Sigma$, (input, input)
    - `cross`: cross moment $\Gamma$, (output, input)
    - `gamma`: scale

    **Returns** the norm by which the four conditions are violated at most; zero at a stationary point.

    **Reference:** Varre et al. 2023, Proposition C.5 and Lemma C.4.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import kkt_residual
        >>> first, second = np.diag([3.0, np.sqrt(8.0)]), np.array([[1.0, 0.0]])  # of `final_singular_values`
        >>> kkt_residual(first, second, np.diag([1.0, 0.0]), [[3.0, 0.0]], 4.0) < 1e-12
        True
        >>> kkt_residual(2 * first, second / 2, np.diag([1.0, 0.0]), [[3.0, 0.0]], 4.0) > 0.1  # the same product
        True
    """
    gamma = positive("gamma", gamma)
    first, second = _check_layers(first, second)
    cov, cross = moments(cov, cross, second.shape[0], first.shape[1])
    inverse = _transposed_inverse(first)
    multiplier = second @ inverse
    outside = multiplier - multiplier @ _range_projector(cov)
    parts = (
        _relative_norm(second @ first @ cov - cross, cross),
        _relative_norm(outside, multiplier),
        _relative_norm(second - multiplier @ first.T, second),
        _relative_norm(first - 2 * gamma * inverse - second.T @ multiplier, first),
    )
    return float(max(parts))


@partly_representable
def duality_gap(first: ArrayLike, second: ArrayLike, cov: ArrayLike, cross: ArrayLike, gamma: float) -> float:
    r"""Return how far `variational_potential` at these layers is above a proven lower bound of its global minimum.

    A gap of zero proves a global minimum; `kkt_residual` shows only that a point is stationary.

    With $S = W_1^\top W_1$ and $A = W_2 W_1$, the best $W_2$ costs $\tfrac12 \mathrm{tr}(A S^{-1} A^\top)$. So the
    problem is to minimize $\tfrac12 \mathrm{tr}(A S^{-1} A^\top) + \tfrac12 \mathrm{tr} S - \gamma \ln\det S$ over $S
    \succ 0$ and $A\Sigma = \Gamma$, which is jointly convex. Its Lagrange dual is

    $$ \langle G, A_* \rangle + \gamma d - \gamma d \ln(2\gamma) + \gamma \ln\det(I - G^\top G) $$

    for any $G$ with rows in the range of $\Sigma$ and $|G|_{op} < 1$, and any interpolating product $A_*$. The bound is
    evaluated at the multiplier of `kkt_residual`, projected. The gap is infinite if the multiplier is not feasible for
    the dual.

    **Arguments:**

    - `first`: first layer $W_1$, (hidden, input), of full column rank
    - `second`: second layer $W_2$, (output, hidden)
    - `cov`: covariance $\Sigma$, (input, input)
    - `cross`: cross moment $\Gamma$, (output, input)
    - `gamma`: scale

    **Returns** the gap, zero at a global minimum.

    **Reference:** Varre et al. 2023, Theorem 3.1(iii); the convex form and the dual are our own.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import duality_gap
        >>> first, second = np.diag([3.0, np.sqrt(8.0)]), np.array([[1.0, 0.0]])  # of `final_singular_values`
        >>> abs(duality_gap(first, second, np.diag([1.0, 0.0]), [[3.0, 0.0]], 4.0)) < 1e-12
        True
    """
    gamma = positive("gamma", gamma)
    first, second = _check_layers(first, second)
    cov, cross = moments(cov, cross, second.shape[0], first.shape[1])
    multiplier = second @ _transposed_inverse(first) @ _range_projector(cov)
    refuse_infinite(multiplier)
    lengths = np.linalg.svd(multiplier, compute_uv=False)
    if lengths.max() >= 1:
        return float("inf")
    interpolating = cross @ np.linalg.pinv(cov, rcond=1e-12, hermitian=True)
    dim = first.shape[1]
    linear = np.sum(multiplier * interpolating)
    dual = linear + gamma * dim * (1 - np.log(2 * gamma)) + gamma * np.sum(np.log1p(-(lengths**2)))
    gap = variational_potential(first, second, gamma) - float(dual)
    refuse_infinite(gap)
    return gap


def moments(cov: ArrayLike, cross: ArrayLike, out_dim: int, in_dim: int) -> tuple[np.ndarray, np.ndarray]:
    """The moments of the data as arrays, checked against the shapes of the network."""
    cov, cross = symmetric("cov", cov), real_array("cross", cross, ndim=2)
    for name, array, shape in (("cov", cov, (in_dim, in_dim)), ("cross", cross, (out_dim, in_dim))):
        if array.shape != shape:
            raise ValueError(
                f"`{name}` must have shape {shape} for {in_dim} inputs and {out_dim} outputs: got {array.shape}."
            )
    return cov, cross


def _check_layers(first: object, second: object) -> tuple[np.ndarray, np.ndarray]:
    """Return both layers, refused where they do not fit or are narrower than the inputs."""
    first, second = real_array("first", first, ndim=2), real_array("second", second, ndim=2)
    if first.shape[0] != second.shape[1]:
        raise ValueError(
            f"`first` (hidden, input) and `second` (output, hidden) disagree: got {first.shape} and {second.shape}."
        )
    if first.shape[0] < first.shape[1]:
        raise ValueError(
            f"`first` must be at least as wide as its inputs, or its determinant is zero: got {first.shape[0]} hidden "
            f"units for {first.shape[1]} inputs."
        )
    return first, second


def _nonzero_values(first: np.ndarray) -> np.ndarray:
    """The singular values of the first layer, refused where one is zero: the potential is infinite there."""
    return _full_rank_svd(first)[1]


def _transposed_inverse(first: np.ndarray) -> np.ndarray:
    """$W_1 (W_1^T W_1)^{-1}$ (hidden, input), by the SVD: solving with the squares would cost half the digits."""
    left, values, right = _full_rank_svd(first)
    return (left / values) @ right


def _full_rank_svd(first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the SVD of the first layer, refused where it has not full column rank."""
    left, values, right = np.linalg.svd(first, full_matrices=False)
    if values[-1] <= np.finfo(float).eps * max(first.shape) * values[0]:
        raise ValueError(
            f"`first` must have full column rank, for the determinant in the potential: its singular values go from "
            f"{values[0]:.3g} down to {values[-1]:.3g}."
        )
    return left, values, right


def _range_projector(cov: np.ndarray) -> np.ndarray:
    """Return the projector onto the range of a covariance."""
    values, vectors = np.linalg.eigh(cov)
    kept = vectors[:, values > 1e-12 * values[-1]]
    return kept @ kept.T


def _relative_norm(residual: np.ndarray, terms: np.ndarray) -> float:
    """Return the norm of a residual relative to the terms whose difference it is."""
    scale = np.linalg.norm(terms)
    return float(np.linalg.norm(residual) / scale) if scale > 0 else float(np.linalg.norm(residual))
