"""Exact results on training driven by noise alone: moments, growth rates, Lyapunov exponents, the commutator."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, none_negative, number, real_array, representable, times_array

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
    r"""Return the exact mean squared norms of both layers over time, in training driven by noise alone.

    Rare paths dominate these means. For typical paths, use `lyapunov_exponents`. The process is (4.1) of Varre et al.:

    $$ dW_1 = \delta\, W_2^\top dB, \quad dW_2 = \delta\, dB\, W_1^\top: \qquad
       \frac{d}{dt} E|W_1|^2 = \delta^2 d\, E|W_2|^2, \quad \frac{d}{dt} E|W_2|^2 = \delta^2 k\, E|W_1|^2 $$

    so both grow as $e^{\sqrt{dk}\,\delta^2 t}$. The equations hold for complete layers and for each neuron.

    **Arguments:**

    - `first_square`: squared norm $|W_1(0)|^2$ of the first layer, or of one neuron's incoming weights
    - `second_square`: squared norm $|W_2(0)|^2$ of the second layer, or of one neuron's outgoing weights
    - `times`: times (learning rate times number of steps), (time,)
    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `noise_std`: standard deviation $\delta$ of the noise

    **Returns** $(E|W_1|^2, E|W_2|^2)$, each (time,).

    **Valid when** the noise has identity covariance and there is no drift. A sampled mean (`linnet.trainers.noise_sde`)
    needs more and more paths as time goes on, because rarer and rarer paths dominate it.

    **Reference:** Varre et al. 2023, Proposition 4.1(a), for one output.

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
    r"""Return the exact mean squared norms of both layers after each step of the Euler-Maruyama scheme.

    Use it to separate the error of the time step from the sampling error of `trainers.noise_sde`. The continuous
    process follows `second_moments`.

    With $u = E|W_1|^2$ and $v = E|W_2|^2$, a step of size $h$ is

    $$ u \leftarrow u + h\,\delta^2 d\, v, \qquad v \leftarrow v + h\,\delta^2 k\, u. $$

    **Arguments:**

    - `first_square`: squared norm $|W_1(0)|^2$ of the first layer, or of one neuron's incoming weights
    - `second_square`: squared norm $|W_2(0)|^2$ of the second layer, or of one neuron's outgoing weights
    - `steps`: step sizes $h$, (step,)
    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `noise_std`: standard deviation $\delta$ of the noise

    **Returns** $(E|W_1|^2, E|W_2|^2)$, at the initialization and after each step, (step + 1,). The difference from
    `second_moments` is the weak error of the scheme, of order $h$.

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
    sizes = none_negative("steps", np.atleast_1d(real_array("steps", steps, ndim=(0, 1))))
    for h in sizes:
        u_now, v_now = u[-1], v[-1]
        u.append(u_now + h * scale * d * v_now)
        v.append(v_now + h * scale * k * u_now)
    return np.array(u), np.array(v)


@representable
def exponent_sum(clock: float, *, in_dim: int, columns: int = 1) -> float:
    r"""Return the sum of the k largest Lyapunov exponents of the first layer under noise of any invertible shape D.

    It needs the mean of $q_k$, for example from a simulation. For white noise, `lyapunov_exponents` returns each
    exponent.

    $$ \lambda_1 + \dots + \lambda_k = \frac{d - 1 - k}{2}\, E[q_k], \qquad q_k = a^\top (U^\top U)^{-1} a, \quad
       U = D^{-1} (w_1, \dots, w_k) $$

    **Why.** Noise of shape D moves the incoming and outgoing weights of neuron i by $dw_i = a_i D\,dB$ and
    $da_i = w_i \cdot D\,dB$. For $u_i = D^{-1} w_i$ the first equation is $du_i = a_i\,dB$, without D. So Ito's formula
    for $G = U^\top U$ does not contain D either: $d\ln\det G = (d - 1 - k)\,q_k\,dt + 2\sqrt{q_k}\,db$. Because D is
    constant, volumes spanned by u and by w grow at the same rate.

    **Consequences** for every invertible D, because $E[q_k] > 0$. For d = 3 and more, lengths grow, so mean powers
    diverge. For d = 2, typical lengths neither grow nor shrink. The d - 1 largest exponents add up to zero, and the
    last exponent is negative.

    **Arguments:**

    - `clock`: mean $E[q_k]$, the mean of $q_k$ over time
    - `in_dim`: number of inputs $d$
    - `columns`: number $k$ of exponents in the sum, at most $d$

    **Returns** the sum.

    **Valid when** there is one output and no drift.

    **Reference:** own result, for the process (4.1) of Varre et al. 2023 and the D of its Appendix D. Its proof of
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
    r"""Return the rates $\lambda_k$ at which the singular values of the first layer grow in training driven by noise
    alone.

    They describe typical paths, $\ln\sigma_k(W_1) \sim \lambda_k t$. For means over paths, use `second_moments`. For
    noise whose covariance is not the identity, only sums are known (`exponent_sum`).

    $$ \lambda_1 + \dots + \lambda_k = \delta^2\, \frac{d - 1 - k}{2}\, E_k[q], \qquad
       E_k[q] = \frac{\int \frac{z}{1+z}\, p_k(z)\, dz}{\int p_k(z)\, dz}, \quad
       p_k(z) = z^{k/2 - 1} (1 + z)^{(d-k-1)/2}\, e^{-(d-1) z/2} $$

    **Why.** The incoming weights $w_1, \dots, w_k \in R^d$ of k neurons and their outgoing weights $a \in R^k$ follow
    $dw_i = a_i\,dB$, $da_i = w_i \cdot dB$. Let $G = W^\top W$ and $q = a^\top G^{-1} a$. By Ito's formula, both are
    driven by the same Brownian motion b,

    $$ d\ln\det G = (d - 1 - k)\,q\,dt + 2\sqrt q\,db, \qquad
       dq = [k - 2(k+1)q + (3 + k - d)q^2]\,dt + 2\sqrt q\,(1 - q)\,db, $$

    and $z = q/(1 - q)$ follows $dz = [k + 2z - (d-1)z^2]\,dt + 2\sqrt{z(1+z)}\,db$, whose stationary density is
    $p_k$. The volume $\sqrt{\det G}$ of k vectors grows at the sum of the k largest exponents.

    **Arguments:**

    - `in_dim`: number of inputs $d$
    - `noise_std`: standard deviation $\delta$ of the noise

    **Returns** the $d$ exponents of $W_1$, largest first, for a network with $d$ hidden units or more, (mode,). The
    outgoing weights grow at the first rate.

    **Consequences.** $\lambda_1 = \frac{d-2}{2} E_1[q]$ is zero for d = 2 and positive for d = 3 and more. $\lambda_2$
    is negative up to d = 5 and positive for d = 6 and more. Areas, and therefore the commutators $[z_i, a]$, grow at
    the rate $\lambda_1 + \lambda_2$: they shrink for d = 2 and grow for d = 4 and more. Angles shrink at the rate
    $\lambda_1 - \lambda_2 > 0$ in every dimension.

    **Valid when** the noise has identity covariance, there is one output and no drift. For d = 1, $q \to 1$.

    **Reference:** own result, for the process (4.1) of Varre et al. 2023. It decides Proposition 4.1(b) and (c) for all
    times.

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
    r"""Return the limit of the mean commutator of two inputs and one output in training driven by noise alone.

    The limit is not zero. To compare it with simulated paths, use `trainers.noise_sde`. The limit of $E|[w_i, a]|$ is

    $$ \frac{2}{\pi}\, \frac{e^{-1/2}}{P(\chi^2_3 > 1)}\, |\det W_1(0)|, \qquad
       P(\chi^2_3 > 1) = \mathrm{erfc}(1/\sqrt2) + \sqrt{2/(\pi e)} $$

    where $|[w_i, a]|$ is the area spanned by row i of the input weights and the output weights.

    **Why.** The areas $e = ([w_1, a], [w_2, a])$ and $c = [w_1, w_2] = \det W_1$ follow a closed equation. With
    $r = |e|$ the same Brownian motion drives both, $dc = r\,db$, $dr = (c^2/2r - r)\,dt + c\,db$. So c is a martingale,
    and $x = |c|/r$ stays above 1 once it is above. Weighted by c, x is distributed in the stationary state as $\sqrt{1
    + z^2}/z$, where z > 0 has a density proportional to $z \sqrt{1+z^2}\, e^{-z^2/2}$. Hence $E\,r \to |c_0| \int z^2
    e^{-z^2/2} / \int z\sqrt{1+z^2}\, e^{-z^2/2}$. The direction of e becomes uniform.

    **Arguments:**

    - `determinant`: determinant $\det W_1(0)$

    **Returns** the limit, in the units of the determinant.

    **Valid when** d = 2 and the initial areas are at most the determinant ($r \le |c|$), for example if a = 0
    initially.

    **Reference:** own result. It contradicts Varre et al. 2023, Proposition 4.1(c), whose proof omits the local time at
    zero (Tanaka's formula).

    **Example:**

        >>> from linnet.theories.noise_process import commutator_mean_limit
        >>> round(commutator_mean_limit(), 4)
        0.4819
    """
    determinant = number("determinant", determinant)
    tail = math.erfc(1 / math.sqrt(2)) + math.sqrt(2 / (math.pi * math.e))
    return abs(determinant) * 2 / math.pi * math.exp(-0.5) / tail
