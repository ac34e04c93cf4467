"""Exact results on training driven by noise alone: moments, growth of scales, Lyapunov exponents, the commutator."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, number, real_array, representable, times_array

MAX_DIMENSIONS = 2000  # of the Lyapunov exponents: about ten seconds


@representable
def second_moments(
    first_square: float,
    second_square: float,
    times: ArrayLike,
    *,
    in_dim: int,
    out_dim: int = 1,
    noise_std: float = 1.0,
) -> tuple[Float[np.ndarray, " time"], Float[np.ndarray, " time"]]:
    r"""Return the exact mean squared norms of both layers under the noise process (4.1).

    The mean is dominated by rare paths; `lyapunov_exponents` describe typical ones.

    $$ dW_1 = \delta\, W_2^\top dB, \quad dW_2 = \delta\, dB\, W_1^\top: \qquad
       \frac{d}{dt} E|W_1|^2 = \delta^2 d\, E|W_2|^2, \quad \frac{d}{dt} E|W_2|^2 = \delta^2 k\, E|W_1|^2 $$

    so both grow like $e^{\sqrt{dk}\,\delta^2 t}$. It holds for the whole layers and neuron by neuron.

    **Arguments:**

    - `first_square`: $|W_1(0)|^2$, or that of one neuron
    - `second_square`: $|W_2(0)|^2$
    - `times`: canonical, (time,)
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `noise_std`: $\delta$

    **Returns** $(E|W_1|^2, E|W_2|^2)$, each (time,).

    **Valid when** the noise has identity covariance and there is no drift. Sampling it is another matter: the mean is
    carried by ever rarer paths, see `linnet.trainers.noise_sde`.

    **Reference:** Varre et al. 2023, Proposition 4.1(a); one output there.

    **Example:**

        >>> from linnet.theories.noise_process import second_moments
        >>> first, second = second_moments(1.0, 0.0, [0.0, 1.0], in_dim=4)
        >>> first.round(3).tolist(), second.round(3).tolist()  # cosh(2) and sinh(2)/2
        ([1.0, 3.762], [0.0, 1.813])
    """
    d, k = count("in_dim", in_dim), count("out_dim", out_dim)
    u0, v0 = non_negative("first_square", first_square), non_negative("second_square", second_square)
    clock = math.sqrt(d * k) * non_negative("noise_std", noise_std) ** 2 * times_array("times", times)
    u = u0 * np.cosh(clock) + math.sqrt(d / k) * v0 * np.sinh(clock)
    return u, v0 * np.cosh(clock) + math.sqrt(k / d) * u0 * np.sinh(clock)


@representable
def euler_second_moments(
    first_square: float,
    second_square: float,
    steps: ArrayLike,
    *,
    in_dim: int,
    out_dim: int = 1,
    noise_std: float = 1.0,
) -> tuple[Float[np.ndarray, " time"], Float[np.ndarray, " time"]]:
    r"""Return the exact mean squared norms of the Euler-Maruyama recursion itself, after each of its steps.

    The continuous process has `second_moments`.

    $$ u \leftarrow u + h\,\delta^2 d\, v, \qquad v \leftarrow v + h\,\delta^2 k\, u $$

    **Arguments:**

    - `first_square`: $|W_1(0)|^2$, or that of one neuron
    - `second_square`: $|W_2(0)|^2$
    - `steps`: the step sizes $h$, (step,)
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `noise_std`: $\delta$

    **Returns** $(E|W_1|^2, E|W_2|^2)$, each one longer than `steps`, the initialization first.

    Its distance from `second_moments` is the weak error of the scheme, of order $h$.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.noise_process import euler_second_moments, second_moments
        >>> exact = second_moments(1.0, 1.0, [1.0], in_dim=2)[0][-1]
        >>> gaps = [exact - euler_second_moments(1.0, 1.0, np.full(n, 1 / n), in_dim=2)[0][-1] for n in (100, 200)]
        >>> round(float(gaps[0] / gaps[1]), 1)  # half the step, half the error
        2.0
    """
    d, k = count("in_dim", in_dim), count("out_dim", out_dim)
    u, v = [non_negative("first_square", first_square)], [non_negative("second_square", second_square)]
    scale = non_negative("noise_std", noise_std) ** 2
    sizes = np.atleast_1d(real_array("steps", steps, ndim=(0, 1)))
    if (sizes < 0).any():
        raise ValueError(f"`steps` are the sizes of steps and must not be negative: the smallest is {sizes.min():g}.")
    for h in sizes:
        u_now, v_now = u[-1], v[-1]
        u.append(u_now + h * scale * d * v_now)
        v.append(v_now + h * scale * k * u_now)
    return np.array(u), np.array(v)


@representable
def exponent_sum(clock: float, *, in_dim: int, columns: int = 1) -> float:
    r"""Return the sum of the k largest Lyapunov exponents of the first layer under noise of any invertible shape D.

    For white noise, `lyapunov_exponents` has each of them.

    $$ \lambda_1 + \dots + \lambda_k = \frac{d - 1 - k}{2}\, E[q_k], \qquad q_k = a^\top (U^\top U)^{-1} a, \quad
       U = D^{-1} (w_1, \dots, w_k) $$

    **Why.** Noise of shape D moves the incoming and outgoing weights of neuron i by $dw_i = a_i D\,dB$ and
    $da_i = w_i \cdot D\,dB$. In $u_i = D^{-1} w_i$ the first is $du_i = a_i\,dB$ whatever D is, and Ito's formula for
    $G = U^\top U$ sees D no more: $d\ln\det G = (d - 1 - k)\,q_k\,dt + 2\sqrt{q_k}\,db$. As D is fixed, volumes of
    u and of w grow at one rate.

    **What follows** for every invertible D, as $E[q_k] > 0$: lengths grow from d = 3 on, so that mean powers
    diverge; the d - 1 largest exponents add up to zero; for d = 2 typical lengths neither grow nor shrink; the last
    exponent is negative.

    **Arguments:**

    - `clock`: $E[q_k]$, the mean of $q_k$ over time
    - `in_dim`: $d$
    - `columns`: $k$, at most $d$

    **Returns** the sum.

    **Valid when** there is one output and no drift. For D = 1 the mean of $q_k$ is known: `lyapunov_exponents`.

    **Reference:** own result, for the process (4.1) of Varre et al. 2023 and the D of its Appendix D; its proof of
    Proposition 4.1(b) would need $\mathrm{tr}\,D^2 > 2 \max D_i^2$.

    **Example:**

        >>> from linnet.theories.noise_process import exponent_sum
        >>> [exponent_sum(0.5, in_dim=4, columns=k) for k in (1, 2, 3, 4)]
        [0.5, 0.25, 0.0, -0.25]
    """
    d, k = count("in_dim", in_dim), count("columns", columns)
    if k > d:
        raise ValueError(f"`columns` must be at most `in_dim` = {d}: got {k}.")
    return 0.5 * (d - 1 - k) * non_negative("clock", clock)


@representable
def lyapunov_exponents(in_dim: int, *, noise_std: float = 1.0) -> Float[np.ndarray, " mode"]:
    r"""Return the rates at which the singular values of the first layer grow under noise alone, $\ln\sigma_k(W_1) \sim
    \lambda_k t$.

    Noise of another shape has only a known sum, `exponent_sum`.

    $$ \lambda_1 + \dots + \lambda_k = \delta^2\, \frac{d - 1 - k}{2}\, E_k[q], \qquad
       E_k[q] = \frac{\int \frac{z}{1+z}\, p_k(z)\, dz}{\int p_k(z)\, dz}, \quad
       p_k(z) = z^{k/2 - 1} (1 + z)^{(d-k-1)/2}\, e^{-(d-1) z/2} $$

    **Why.** The incoming weights $w_1, \dots, w_k \in R^d$ of k neurons and their outgoing weights $a \in R^k$ follow
    $dw_i = a_i\,dB$, $da_i = w_i \cdot dB$. With $G = W^\top W$ and $q = a^\top G^{-1} a$, Ito's formula gives one
    Brownian motion b for both

    $$ d\ln\det G = (d - 1 - k)\,q\,dt + 2\sqrt q\,db, \qquad
       dq = [k - 2(k+1)q + (3 + k - d)q^2]\,dt + 2\sqrt q\,(1 - q)\,db, $$

    and $z = q/(1 - q)$ follows $dz = [k + 2z - (d-1)z^2]\,dt + 2\sqrt{z(1+z)}\,db$, whose stationary density is
    $p_k$. The volume $\sqrt{\det G}$ of k vectors grows at the sum of the k largest exponents.

    **Arguments:**

    - `in_dim`: $d$
    - `noise_std`: $\delta$

    **Returns** the $d$ exponents of $W_1$ from the largest on, for a network with $d$ hidden units or more,
    (mode,); the outgoing weights grow at the first.

    **What follows.** $\lambda_1 = \frac{d-2}{2} E_1[q]$ is zero for d = 2 and positive from d = 3 on. $\lambda_2$ is
    negative up to d = 5 and positive from d = 6 on. Areas, and with them the commutators $[z_i, a]$, grow at
    $\lambda_1 + \lambda_2$: they shrink for d = 2 and grow from d = 4 on. Angles fall at $\lambda_1 - \lambda_2 > 0$ in
    every dimension.

    **Valid when** the noise has identity covariance, there is one output and no drift. For d = 1, $q \to 1$.

    **Reference:** own result, for the process (4.1) of Varre et al. 2023; it settles Proposition 4.1(b) and (c) without
    a horizon.

    **Example:**

        >>> from linnet.theories.noise_process import lyapunov_exponents
        >>> lyapunov_exponents(2).round(4).tolist(), lyapunov_exponents(5).round(4).tolist()
        ([0.0, -0.2374], [0.341, -0.0077, -0.1338, -0.1995, -0.2403])
    """
    d = count("in_dim", in_dim)
    if d > MAX_DIMENSIONS:
        raise ValueError(f"`in_dim` must be at most {MAX_DIMENSIONS}, one integral for each of them: got {in_dim}.")
    sums = [exponent_sum(_mean_square_cosine(d, k), in_dim=d, columns=k) for k in range(1, d + 1)]
    return non_negative("noise_std", noise_std) ** 2 * np.diff(sums, prepend=0.0)


def _mean_square_cosine(d: int, k: int) -> float:
    """E_k[q] of `lyapunov_exponents`, by the trapezoidal rule in x = ln z, which converges exponentially here."""
    if d == 1:
        return 1.0
    step = min(0.02, 0.2 / math.sqrt(d))
    x = np.arange(-80.0 / k - 5.0, 8.0, step)  # p_k dz falls like exp(k x/2) to the left and faster to the right
    z = np.exp(x)
    logs = 0.5 * k * x + 0.5 * (d - k - 1) * np.log1p(z) - 0.5 * (d - 1) * z
    weights = np.exp(logs - logs.max())
    return float((weights * z / (1 + z)).sum() / weights.sum())


@representable
def commutator_mean_limit(determinant: float = 1.0) -> float:
    r"""Return the limit of the mean commutator $E|[w_i, a]|$ for two inputs and one output under noise alone, which is
    not zero.

    Simulate paths with `trainers.noise_sde` to compare.

    $$ \frac{2}{\pi}\, \frac{e^{-1/2}}{P(\chi^2_3 > 1)}\, |\det W_1(0)|, \qquad
       P(\chi^2_3 > 1) = \mathrm{erfc}(1/\sqrt2) + \sqrt{2/(\pi e)} $$

    $|[w_i, a]|$ is the area spanned by row i of the input weights and the output weights.

    **Why.** The areas $e = ([w_1, a], [w_2, a])$ and $c = [w_1, w_2] = \det W_1$ follow a closed equation: with
    $r = |e|$ one Brownian motion drives both, $dc = r\,db$, $dr = (c^2/2r - r)\,dt + c\,db$. So c is a martingale, and
    $x = |c|/r$ never falls below 1 once above it. Weighted by c, x has the stationary density of
    $x = \sqrt{1 + z^2}/z$ with $z \sqrt{1+z^2}\, e^{-z^2/2}$ on z > 0, hence
    $E\,r \to |c_0| \int z^2 e^{-z^2/2} / \int z\sqrt{1+z^2}\, e^{-z^2/2}$; the direction of e becomes uniform.

    **Arguments:**

    - `determinant`: $\det W_1(0)$

    **Returns** the limit, in the units of the determinant.

    **Valid when** d = 2 and the areas with a are at first no larger than the determinant ($r \le |c|$), as from a = 0.

    **Reference:** against Varre et al. 2023, Proposition 4.1(c), whose proof drops the local time at zero (Tanaka's
    formula).

    **Example:**

        >>> from linnet.theories.noise_process import commutator_mean_limit
        >>> round(commutator_mean_limit(), 4)
        0.4819
    """
    determinant = number("determinant", determinant)
    tail = math.erfc(1 / math.sqrt(2)) + math.sqrt(2 / (math.pi * math.e))
    return abs(determinant) * 2 / math.pi * math.exp(-0.5) / tail
