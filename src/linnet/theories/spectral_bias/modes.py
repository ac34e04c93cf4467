"""Modes of the predictor from the orthogonal initialization: when each is learned, and how each layer ends."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, positive, real_array, representable, shown, symmetric, times_array
from linnet.theories.spectral_bias.mirror_flows import modes
from linnet.theories.spectral_bias.variational import moments

MAX_VALUES = 10**7  # singular values of one answer
MAX_MAGNITUDE = 1e300  # of singular values and scales: sums of a few of them are still numbers


@representable
def final_singular_values(
    values: ArrayLike, gamma: float, dim: int, *, second_gamma: float = 0.0
) -> tuple[Float[np.ndarray, "... input"], Float[np.ndarray, "... mode"]]:
    r"""Return the singular values of each layer after gradient flow from the orthogonal initialization.

    For the singular values of the product during training on whitened data, use `singular_values`.

    $$ \sigma_i(W_1)^2 = \sqrt{\beta_i^2 + (\gamma + \gamma_2)^2} + \gamma - \gamma_2, \qquad
       \sigma_i(W_2)^2 = \sqrt{\beta_i^2 + (\gamma + \gamma_2)^2} - \gamma + \gamma_2 $$

    **Arguments:**

    - `values`: singular values $\beta_i$ of the minimum-norm solution, (..., mode)
    - `gamma`: scale $\gamma$ of the initialization
    - `dim`: number of inputs $d$; the remaining `dim - mode` singular values of $W_1$ stay at $\sqrt{2\gamma}$
    - `second_gamma`: scale $\gamma_2$ of a second layer that is not zero at initialization

    **Returns** the singular values of $W_1$ (..., dim) and of $W_2$ (..., mode).

    **Valid when** the initialization is `inits.orthogonal(scale=gamma)` and the data can be interpolated, for any
    covariance. At any time t, the same formula holds with the singular values of the predictor at t.

    With `second_gamma`, the columns of $W_1(0)$ and $W_2(0)^\top$ together must be orthogonal, with squared lengths
    $2\gamma$ and $2\gamma_2$. Wide Gaussian layers of variances $s_1, s_2$ nearly satisfy this, with $\gamma = s_1 h/2$
    and $\gamma_2 = s_2 h/2$ for h hidden units.

    **Why.** The imbalance M is conserved, and has eigenvalues $2\gamma$ and $-2\gamma_2$ on the span of both layers. So
    $(M - 2\gamma)(M + 2\gamma_2) = 0$ there. For $C_1 = W_1^\top W_1$ this gives
    $C_1^2 - 2(\gamma - \gamma_2) C_1 = A^\top A + 4\gamma\gamma_2$.

    **Reference:** Varre et al. 2023, Corollary 3.1 and Lemma C.10; the second scale is our extension.

    **Example:**

        >>> from linnet.theories.spectral_bias import final_singular_values
        >>> first, second = final_singular_values([3.0], 4.0, dim=2)
        >>> first.round(4).tolist(), second.round(4).tolist()
        ([3.0, 2.8284], [1.0])
    """
    values, gamma = _check_scales(values, gamma)
    dim = count("dim", dim)
    modes = values.shape[-1]
    if modes > dim:
        raise ValueError(f"`dim` must be at least the number of singular values: got {dim} inputs for {modes} values.")
    wanted = values.size // modes * dim
    if wanted > MAX_VALUES:
        raise ValueError(
            f"`dim` must ask for at most {MAX_VALUES:.0e} singular values ({8 * MAX_VALUES / 2**30:.2g} GiB): got "
            f"{shown(wanted)}. All beyond the given `values` are sqrt(2 gamma): use dim = len(values)."
        )
    second_gamma = non_negative("second_gamma", second_gamma)
    _check_magnitudes(second_gamma=second_gamma)
    idle = np.full((*values.shape[:-1], dim - modes), np.sqrt(2 * gamma))
    return np.concatenate([_layer_values(values, gamma, second_gamma), idle], axis=-1), _layer_values(
        values, second_gamma, gamma
    )


@representable
def singular_values(values: ArrayLike, gamma: float, times: ArrayLike) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values of the product over time, from the orthogonal initialization, exact for whitened
    data.

    For Gaussian initializations use `theories.lazy_active.mode_values`, which solves the same equation.

    $$ \sigma(t) = \frac{s\,(1-E)(1 + rE)}{2\gamma/w + r(1 - E^2) + 2 v E/\gamma}, \qquad
       \rho = \sqrt{s^2+\gamma^2},\; w = \rho+\gamma,\; v = s^2/w,\; r = v/w,\; E = e^{-2\rho t} $$

    **Arguments:**

    - `values`: singular values $s$ of the target, (mode,)
    - `gamma`: scale $\gamma$ of the initialization
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $\sigma(t)$, (time, mode). Every term is positive, so the relative accuracy is kept for
    $\gamma \ge 10^{-300}$ and for any time.

    **Valid when** $\Sigma = I$ and the initialization is `inits.orthogonal(scale=gamma)`.

    **Reference:** Varre et al. 2023, Theorem C.12, rearranged.

    **Example:**

        >>> from linnet.theories.spectral_bias import singular_values
        >>> singular_values([2.0, 1.0], 1e-6, [0.0, 4.0, 8.0]).round(3).tolist()  # one mode after the other
        [[0.0, 0.0], [1.379, 0.001], [2.0, 0.816]]
    """
    s, rho, w, v, gamma = _riccati_constants(values, gamma)
    exponent, r = _decay_exponent(rho, times), v / w
    decayed, grown, half = np.exp(exponent), -np.expm1(exponent), np.exp(exponent / 2)
    numerator = s * grown * (1 + r * decayed)
    # E as a square of its root, which underflows later
    denominator = gamma * (2 * (gamma / w) - r * np.expm1(2 * exponent)) + 2 * (v * half) * half
    # gamma numerator / denominator, of which any two may overflow or underflow
    (a, i), (b, j), (c, k) = np.frexp(gamma), np.frexp(numerator), np.frexp(denominator)
    return np.ldexp(a * b / c, i + j - k)


@representable
def alpha(product: ArrayLike, gamma: float) -> Float[np.ndarray, "output input"]:
    r"""Return the variable $\alpha$ that has a closed equation under training from the orthogonal initialization.

    `alpha_velocity` is that equation, and `predictor` the inverse function.

    $$ \alpha^\top = A\,(W_1^\top W_1)^{-1} = U \frac{S}{\gamma + \sqrt{S^2+\gamma^2}} V^\top, \qquad A = U S V^\top $$

    Its operator norm is below one.

    **Arguments:**

    - `product`: product $A$, (output, input), the transpose of the paper's $\beta$
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $\alpha^\top$, (output, input).

    **Valid when** the initialization is `inits.orthogonal(scale=gamma)`; for any data covariance, at every time.

    **Reference:** Varre et al. 2023, Lemmas 3.3 and C.2.

    **Example:**

        >>> from linnet.theories.spectral_bias import alpha, predictor
        >>> alpha([[3.0, 0.0]], 4.0).round(4).tolist(), predictor(alpha([[3.0, 0.0]], 4.0), 4.0).round(10).tolist()
        ([[0.3333, 0.0]], [[3.0, 0.0]])
    """
    gamma, product = positive("gamma", gamma), real_array("product", product, ndim=2)
    _check_magnitudes(product=float(np.abs(product).max()), gamma=gamma)
    u, s, vt = np.linalg.svd(product, full_matrices=False)
    return (u * (s / (gamma + np.hypot(s, gamma)))) @ vt


@representable
def predictor(alpha: ArrayLike, gamma: float) -> Float[np.ndarray, "output input"]:
    r"""Return the product that belongs to a value of `alpha`: $A = 2\gamma\, \alpha^\top (I - \alpha\alpha^\top)^{-1}$.

    It is the inverse of `alpha`. If you have the weights, use `weights.product`.

    **Arguments:**

    - `alpha`: variable $\alpha^\top$, (output, input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $A$, (output, input).

    **Reference:** Varre et al. 2023, Lemma C.2. Lemma 3.3 as printed lacks the factor $2\gamma$.

    **Valid when** `alpha` is valid.

    **Example:**

        >>> from linnet.theories.spectral_bias import predictor
        >>> predictor([[1 / 3, 0.0]], 4.0).round(10).tolist()
        [[3.0, 0.0]]
    """
    gamma = positive("gamma", gamma)
    a = real_array("alpha", alpha, ndim=2)
    if np.linalg.norm(a, 2) >= 1:
        raise ValueError(f"`alpha` must have operator norm below 1: got {np.linalg.norm(a, 2):.6g}.")
    return np.linalg.solve(np.eye(a.shape[0]) - a @ a.T, 2 * gamma * a)  # push-through: the small k x k system


@representable
def alpha_velocity(
    alpha: ArrayLike, cov: ArrayLike, cross: ArrayLike, gamma: float
) -> Float[np.ndarray, "output input"]:
    r"""Return the velocity of `alpha` under training, from its matrix Riccati equation.

    Integrate it to follow training in this variable, at any covariance.

    $$ \dot a = R - a R^\top a, \qquad R = \Gamma - A \Sigma, \qquad A = 2\gamma\, a (I - a^\top a)^{-1} $$

    **Arguments:**

    - `alpha`: variable $a$, (output, input)
    - `cov`: covariance $\Sigma$, (input, input)
    - `cross`: cross moment $\Gamma$, (output, input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $\dot a$, (output, input).

    **Valid when** the initialization is `inits.orthogonal(scale=gamma)`; for any data covariance.

    **Reference:** Varre et al. 2023, Lemma C.2.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import alpha_velocity
        >>> alpha_velocity([[0.0, 0.0]], np.eye(2), [[1.0, 2.0]], 0.1).tolist()  # initially it is the target
        [[1.0, 2.0]]
    """
    a = real_array("alpha", alpha, ndim=2)
    cov, cross = moments(cov, cross, *a.shape)
    residual = cross - predictor(a, gamma) @ cov
    return residual - a @ residual.T @ a


def activation_times(values: ArrayLike, gamma: float) -> Float[np.ndarray, "... mode"]:
    r"""Return the times at which modes are learned from a very small initialization: $\ln(1/\gamma)/(2s)$.

    It is the limit $\gamma \to 0$, and infinite for $s = 0$. For a finite $\gamma$, use `half_times`.

    **Arguments:**

    - `values`: singular values $s$ of the target, (..., mode)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the times, (..., mode).

    **Valid when** $\Sigma = I$ and $\gamma < 1$, in units of the largest singular value.

    **Reference:** Varre et al. 2023, after Theorem 3.2.

    **Example:**

        >>> from linnet.theories.spectral_bias import activation_times
        >>> activation_times([2.0, 1.0, 0.0], 1e-6).round(3).tolist()  # the strongest mode first
        [3.454, 6.908, inf]
    """
    gamma = positive("gamma", gamma)
    if gamma >= 1:
        raise ValueError(f"`gamma` must be below 1 for activation times, which are its limit at 0: got {gamma}.")
    with np.errstate(divide="ignore", over="ignore"):
        return -np.log(gamma) / (2 * _values_with_axis(values))


@representable
def half_times(values: ArrayLike, gamma: float) -> Float[np.ndarray, "... mode"]:
    r"""Return the exact time at which each mode reaches half of its final value, for whitened data.

    In the limit $\gamma \to 0$, use the simpler `activation_times`.

    With $\rho = \sqrt{s^2 + \gamma^2}$, $v = \rho - \gamma$ and $r = v/(\rho + \gamma)$, $E = e^{-2\rho t}$ solves
    $rE^2 + 2bE = 1$ where $b = 1 - r + v/\gamma$. As $\gamma \to 0$ the time approaches
    `activation_times` plus $\ln(2s)/(2s)$.

    **Arguments:**

    - `values`: singular values $s$ of the target, (..., mode)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** the times, (..., mode).

    **Reference:** derived from Varre et al. 2023, Theorem C.12; the constant is our own.

    **Valid when** $\Sigma = I$ and the initialization is `inits.orthogonal(scale=gamma)`.

    **Example:**

        >>> from linnet.theories.spectral_bias import half_times, singular_values
        >>> times = half_times([2.0, 1.0], 1e-6)
        >>> singular_values([2.0, 1.0], 1e-6, times).diagonal().round(6).tolist()
        [1.0, 0.5]
    """
    s, rho, w, v, gamma = _riccati_constants(values, gamma)
    if (s == 0).any():
        raise ValueError("`values` must be positive: a mode of height zero has no half height.")
    scaled = 2 * gamma * (gamma / w) + v  # gamma b, with 1 - r = 2 gamma / w
    return (np.log(scaled + np.hypot(scaled, gamma * np.sqrt(v / w))) - np.log(gamma)) / (2 * rho)


@representable
def loss_rate(cov: ArrayLike, gamma: float) -> float:
    r"""Return a rate at which the loss is guaranteed to decay from the orthogonal initialization.

    $dL/dt \le -4\gamma\lambda_{min}^+(\Sigma)\,L$. For a bound that does not depend on the conditioning, use
    `convergence_bound`.

    **Arguments:**

    - `cov`: covariance $\Sigma$, (input, input)
    - `gamma`: scale $\gamma$ of the initialization

    **Returns** $4\gamma\lambda_{min}^+(\Sigma)$, with the smallest eigenvalue that is not zero.

    **Valid when** the data can be interpolated (then $|R|^2 \ge 2\lambda_{min}^+ L$, and
    $W_1^\top W_1 \succeq 2\gamma I$ does the rest).

    **Reference:** own result, in place of eq. (C.13) of Varre et al. 2023. That equation bounds $|R|^2$, which can
    rise, by a false inequality for the trace of three positive matrices.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.spectral_bias import loss_rate
        >>> round(loss_rate(np.diag([2.0, 0.5, 0.0]), 0.1), 12)
        0.2
    """
    gamma = positive("gamma", gamma)
    eigenvalues = np.linalg.eigvalsh(symmetric("cov", cov))
    kept = eigenvalues[eigenvalues > 1e-12 * eigenvalues[-1]]
    if kept.size == 0:
        raise ValueError("`cov` must have a positive eigenvalue: got a matrix of zeros.")
    if eigenvalues[0] < -1e-10 * eigenvalues[-1]:
        raise ValueError(
            f"`cov` must be a covariance, without negative eigenvalues: the smallest is {eigenvalues[0]:.3g}."
        )
    return float(4 * gamma * kept[0])


def _layer_values(values: np.ndarray, own: float, other: float) -> np.ndarray:
    """sqrt(hypot(s, own + other) + own - other), without the cancellation where `other` is the larger."""
    balance = np.hypot(values, own + other)
    if own >= other:
        return np.sqrt(balance + (own - other))
    # (balance + own - other)(balance + other - own) = s^2 + 4 own other, as the square of a root that cannot overflow
    return np.hypot(values, 2 * np.sqrt(own) * np.sqrt(other)) / np.sqrt(balance + (other - own))


def _values_with_axis(values: object) -> np.ndarray:
    """Return singular values as an array with at least one axis."""
    return np.atleast_1d(modes(values))


def _riccati_constants(values: object, gamma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """s, rho, w = rho + gamma and v = rho - gamma (without its cancellation), the letters of Theorem C.12."""
    s, gamma = _check_scales(values, gamma)
    rho = np.hypot(s, gamma)
    w = rho + gamma
    return s, rho, w, s * (s / w), gamma


def _check_scales(values: object, gamma: float) -> tuple[np.ndarray, float]:
    """Singular values and the scale of the initialization, refused where their sums would overflow."""
    s, gamma = _values_with_axis(values), positive("gamma", gamma)
    _check_magnitudes(values=float(s.max()), gamma=gamma)
    return s, gamma


def _check_magnitudes(**sizes: float) -> None:
    """Refuse sizes whose sums might overflow."""
    for name, size in sizes.items():
        if size > MAX_MAGNITUDE:
            raise ValueError(f"`{name}` must be at most {MAX_MAGNITUDE:g}: got {size:.3g}. Give both in smaller units.")


def _decay_exponent(rho: np.ndarray, times: object) -> np.ndarray:
    """-2 rho t (time, mode), at most 1e300 in size: its exponential is zero long before."""
    with np.errstate(over="ignore"):
        return np.maximum(-2 * rho * times_array("times", times)[:, None], -MAX_MAGNITUDE)
