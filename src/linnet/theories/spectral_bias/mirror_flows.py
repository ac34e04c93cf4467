"""Mirror flows that describe training from the orthogonal initialization: of singular values, and of one output."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    broadcast,
    none_negative,
    partly_representable,
    positive,
    real_array,
    refuse_infinite,
    representable,
    times_array,
)


@representable
def potential(values: ArrayLike, gamma: float) -> Float[np.ndarray, " ..."]:
    r"""Return the quantity that training from the orthogonal initialization implicitly minimizes among equally good
    fits.

    It is the potential of a mirror flow of the singular values, the hyperbolic entropy. Compare it between matrices
    that fit the same data. For Bregman divergences, use `bregman`.


    $$ \Psi_\gamma(D) = \tfrac12 \sum_i \left( D_i \sinh^{-1}(D_i/\gamma) - \sqrt{D_i^2 + \gamma^2} \right) $$

    **Arguments:**

    - `values`: singular values $D$, (..., mode)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $\Psi_\gamma(D)$, summed over the last axis, (...).

    **Valid when** the initialization is `inits.orthogonal(scale=gamma)`; for any data covariance. As $\gamma \to 0$ it
    behaves like $\tfrac12 \ln(1/\gamma)$ times the nuclear norm.

    **Reference:** Varre et al. 2023, Theorem 3.2(a) and Lemma C.13; the printed potential lacks the 1/2 on its second
    term.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import potential
        >>> spread, sparse = np.full(4, 1.0), np.array([2.0, 0.0, 0.0, 0.0])  # equal Frobenius norms
        >>> bool(potential(sparse, 1e-3) < potential(spread, 1e-3))  # small scales prefer low rank
        True
    """
    gamma = positive("gamma", gamma)
    values = modes(values)
    _check_has_axis("values", values)
    return 0.5 * np.sum(values * _asinh_ratio(values, gamma) - np.hypot(values, gamma), axis=-1)


@representable
def mirror(values: ArrayLike, gamma: float) -> Float[np.ndarray, " ..."]:
    r"""Return the gradient of `potential`, which under training moves along minus the gradient of the loss.

    It applies to whitened data. For one output and any covariance, use `predictor_mirror`.

    $$ \nabla \Psi_\gamma(D) = \tfrac12 \sinh^{-1}(D/\gamma), \qquad
       \frac{d}{dt} \nabla \Psi_\gamma(D) = \mathrm{diag}(U^\top R V) $$

    where $U, V$ are the singular vectors of the predictor, and $R$ is minus the gradient of the loss in the predictor.

    **Arguments:**

    - `values`: singular values $D$, any shape
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $\nabla\Psi_\gamma(D)$, shaped like `values`.

    **Reference:** Varre et al. 2023, last line of the proof of Lemma C.13; other printed gradients lack the factor 1/2.

    **Example:**

        >>> from linnet.theories.spectral_bias import mirror
        >>> mirror([0.0, 1.0, 2.0], 0.1).round(4).tolist()
        [0.0, 1.4991, 1.8448]
    """
    gamma = positive("gamma", gamma)
    return 0.5 * _asinh_ratio(modes(values), gamma)


@representable
def bregman(values: ArrayLike, reference: ArrayLike, gamma: float) -> Float[np.ndarray, " ..."]:
    r"""Return the Bregman divergence of `potential` between two sets of singular values, summed over the last axis.

    Use it to measure how far two predictors are in the geometry of training. For one output and any covariance, use
    `predictor_bregman`.

    $$ \Psi(x) - \Psi(y) - \langle \nabla \Psi(y), x - y \rangle $$

    To avoid cancellation it is computed as $\tfrac12 \sum_i x \delta - (h(x) - h(y))$ with $h = \sqrt{\cdot^2 +
    \gamma^2}$ and $\delta = \sinh^{-1}(x/\gamma) - \sinh^{-1}(y/\gamma)$. If $x$ is close to $y$, it is computed as
    $\tfrac12 \sum_i 2 h(x) \sinh^2(\delta/2) - x (\sinh\delta - \delta)$.

    **Arguments:**

    - `values`: singular values $x$, (..., mode)
    - `reference`: reference $y$, (..., mode)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the divergence, (...).

    **Example:**

        >>> from linnet.theories.spectral_bias import bregman
        >>> float(bregman([1.0, 2.0], [1.0, 2.0], 0.1)), bool(bregman([1.0, 2.0], [2.0, 1.0], 0.1) > 0)
        (0.0, True)
    """
    gamma = positive("gamma", gamma)
    x, y = modes(values), modes(reference, "reference")
    _check_match("values", x, y)
    slope = _asinh_ratio(x, gamma) - _asinh_ratio(y, gamma)
    high, low = np.hypot(x, gamma), np.hypot(y, gamma)
    rise = (x - y) * ((x + y) / (high + low))
    unit = np.where(x + y > 0, np.maximum(np.maximum(x, y), gamma), 1.0)
    mixed = (x / unit) * (low / unit) + (y / unit) * (high / unit)
    delta = np.clip(np.arcsinh((x - y) / unit * ((x + y) / unit / np.where(mixed > 0, mixed, 1.0))), -1.0, 1.0)
    close = high * (2 * np.sinh(delta / 2) ** 2) - x * _sinh_excess(delta)
    return 0.5 * np.sum(np.where(np.abs(slope) < 0.5, close, x * slope - rise), axis=-1)


@representable
def predictor_mirror(beta: ArrayLike, gamma: float) -> Float[np.ndarray, "... input"]:
    r"""Return the gradient of the potential whose mirror flow describes a network with one output, at any covariance.

    The mirror flow runs in a rescaled time (`predictor_warp`). For several outputs and whitened data, use `mirror`.

    $$ \psi_\gamma(\beta) = \tfrac23 b^{3/2} - 2 \gamma b^{1/2}, \qquad
    \nabla\psi_\gamma(\beta) = \beta / \sqrt{b}, \qquad b = \sqrt{|\beta|^2 + \gamma^2} + \gamma $$

    Along gradient flow, $\frac{d}{dt} \nabla\psi_\gamma(\beta) = -\sqrt{b}\,\nabla L(\beta)$, and `predictor_warp`
    returns the factor $\sqrt b$.

    **Arguments:**

    - `beta`: coefficients $\beta$, (..., input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the gradient, (..., input).

    **Reference:** Varre et al. 2023, eq. (C.14).

    **Example:**

        >>> from linnet.theories.spectral_bias import predictor_mirror
        >>> predictor_mirror([3.0, 0.0], 4.0).tolist()
        [1.0, 0.0]
    """
    gamma = positive("gamma", gamma)
    beta = real_array("beta", beta)
    return beta / np.sqrt(_balance_of_norm(beta, gamma))[..., None]


@representable
def predictor_warp(beta: ArrayLike, gamma: float) -> Float[np.ndarray, " ..."]:
    r"""Return the factor $\sqrt{\gamma + \sqrt{|\beta|^2 + \gamma^2}}$ between training time and the time of the mirror
    flow.

    Use it together with `predictor_mirror`, whose mirror flow runs faster than training by this factor.

    **Arguments:**

    - `beta`: coefficients $\beta$, (..., input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the factor, (...).

    **Reference:** Varre et al. 2023, Theorem 3.2(b).

    **Example:**

        >>> from linnet.theories.spectral_bias import predictor_warp
        >>> float(predictor_warp([3.0, 0.0], 4.0))
        3.0
    """
    gamma = positive("gamma", gamma)
    return np.sqrt(_balance_of_norm(real_array("beta", beta), gamma))


@representable
def predictor_bregman(beta: ArrayLike, reference: ArrayLike, gamma: float) -> Float[np.ndarray, " ..."]:
    r"""Return the Bregman divergence between two vectors of coefficients, in the potential of `predictor_mirror`.

    It applies to one output and any covariance. For singular values, use `bregman`.

    **Arguments:**

    - `beta`: coefficients, (..., input)
    - `reference`: coefficients from which the divergence is measured, (..., input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the divergence, (...).

    **Example:**

        >>> from linnet.theories.spectral_bias import predictor_bregman
        >>> same, other = ([1.0, 2.0], [1.0, 2.0]), ([1.0, 0.0], [0.0, 1.0])
        >>> float(predictor_bregman(*same, 0.1)), bool(predictor_bregman(*other, 0.1) > 0)
        (0.0, True)
    """
    gamma = positive("gamma", gamma)
    x, y = real_array("beta", beta), real_array("reference", reference)
    _check_match("beta", x, y)
    # a sum of squares, in which nothing cancels: (p - q)^2 (2p + q)/6 + q |z_y - z_x|^2/2 between the mirrored points
    near, far = _balance_of_norm(x, gamma), _balance_of_norm(y, gamma)
    q, p = np.sqrt(near), np.sqrt(far)
    change = np.sum((y - x) * ((y + x) / (near + far - 2 * gamma)[..., None]), axis=-1) / (p + q)
    # z_y - z_x = y/p - x/q, over the larger root: over a root near zero, of a small gamma, two large terms cancel
    smaller = np.where((p < q)[..., None], y, x)
    moved = (y - x) / np.maximum(p, q)[..., None] - smaller * (change / (p * q))[..., None]
    return change**2 * (2 * p + q) / 6 + q * np.sum(moved**2, axis=-1) / 2


@partly_representable
def convergence_bound(beta: ArrayLike, gamma: float, times: ArrayLike) -> Float[np.ndarray, " time"]:
    r"""Return an upper bound on the training loss at each time, which does not depend on the conditioning of the data.

    Use it to guarantee convergence. For the loss itself, use `ln.gradient_flow`.

    $$ L(\beta(t)) \le \frac{D_{\psi_\gamma}(\beta_*, 0)}{\sqrt{2\gamma}\, t} $$

    **Arguments:**

    - `beta`: coefficients $\beta_*$ that interpolate the data, (input,)
    - `gamma`: scale $\gamma$ of the initialization
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** the bound, (time,).

    **Valid when** the initialization is `inits.orthogonal(scale=gamma)`, there is one output and the data can be
    interpolated.

    The divergence falls with $\gamma$, and the bound is at most $|\beta_*|^2/(4\gamma t)$, the $O(1/(\gamma t))$ of
    section 3.2.

    **Reference:** Varre et al. 2023, Lemma C.8, whose proof prints the convexity inequality in the wrong direction.

    **Example:**

        >>> from linnet.theories.spectral_bias import convergence_bound
        >>> convergence_bound([3.0, 4.0], 1.0, [0.5, 1.0]).round(3).tolist()
        [8.549, 4.275]
    """
    gamma = positive("gamma", gamma)
    times = times_array("times", times)
    beta = real_array("beta", beta, ndim=1)
    divergence = predictor_bregman(beta, np.zeros_like(beta), gamma)
    bound = divergence / (np.sqrt(2) * np.sqrt(gamma) * times)
    refuse_infinite(bound[times > 0])
    return bound


def modes(values: object, name: str = "values") -> np.ndarray:
    """Return singular values as an array; refuse negative ones."""
    return none_negative(name, real_array(name, values))


def _sinh_excess(small: np.ndarray) -> np.ndarray:
    """sinh(x) - x for |x| <= 1, by its series."""
    square = small**2
    series = 1 + square / 20 * (1 + square / 42 * (1 + square / 72 * (1 + square / 110 * (1 + square / 156))))
    return small * square / 6 * series


def _asinh_ratio(values: np.ndarray, gamma: float) -> np.ndarray:
    """arcsinh(values / gamma), also where the quotient overflows."""
    quotient = values / gamma
    fits = np.isfinite(quotient)
    logarithm = np.log(np.where(fits, 1.0, np.abs(values))) - np.log(gamma) + np.log(2)
    return np.where(fits, np.arcsinh(np.where(fits, quotient, 0.0)), np.sign(values) * logarithm)


def _balance_of_norm(beta: np.ndarray, gamma: float) -> np.ndarray:
    """b of `predictor_mirror`, with a norm whose squares neither overflow nor underflow."""
    _check_has_axis("beta", beta)
    size = np.abs(beta).max(axis=-1)
    unit = np.where(size > 0, size, 1.0)
    balance = np.hypot(size * np.linalg.norm(beta / unit[..., None], axis=-1), gamma) + gamma
    refuse_infinite(balance)
    return balance


def _check_has_axis(name: str, array: np.ndarray) -> None:
    """Refuse a number where a list is needed."""
    if array.ndim == 0:
        raise ValueError(f"`{name}` must have at least one axis: got the number {array}. Give a list, [{array}].")


def _check_match(name: str, array: np.ndarray, reference: np.ndarray) -> None:
    """Refuse a reference whose shape does not match."""
    _check_has_axis(name, array)
    broadcast(**{name: array, "reference": reference})
