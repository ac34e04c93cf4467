"""Two phases of learning under a covariance with one spike, from a small initialization."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, positive, real_array, representable, times_array
from linnet._memory import check_fits
from linnet.theories.spiked._model import checked_model


@dataclass(frozen=True)
class TwoPhase:
    r"""Predicts the two phases in which a network with one output learns if the inputs have one spike.

    The initialization is small. First the network learns the direction of the cross moment, then the remaining
    direction of the target. The methods return both components over time, the loss between the phases, and the times
    and rates of the phases. For any covariance, use `theories.aligned_flow.aligned_flow`.

    $$ \Sigma = \sigma^2 (I + \rho\, \mu\mu^T), \qquad y = \beta^T x, \quad |\mu| = |\beta| = 1, \quad A = \mu^T \beta
    $$

    In the adapted basis $v_1 = \Sigma\beta/|\Sigma\beta|$, $v_2 \perp v_1$ in the plane of $\mu$ and $\beta$, the
    first layer is $W_1 \approx r\,(w_1 v_1 + w_2 v_2)^T$ with a constant unit vector r, and

    $$ \dot w_1 = |\Sigma\beta|\,|w| - \lambda_1 w_1 |w|^2 + \nu w_2 |w|^2, \qquad
       \dot w_2 = \nu w_1 |w|^2 - \lambda_2 w_2 |w|^2 . $$

    **Attributes:**

    - `spike`: strength $\rho > -1$ of the spike
    - `alignment`: alignment $A \in [0, 1]$
    - `variance`: variance $\sigma^2$

    **Valid when** the initialization is small and the covariance is that of the population; exact for aligned
    initializations with $|W_2| = |w|$. The sign of $v_2$ is such that $\nu \ge 0$, for negative spikes too, which the
    paper does not treat.

    **Reference:** Watanabe et al., section 3.2 and Appendices A and B. The paper measures time in units of $\tau$: its
    time is $t\tau$.

    **Example:**

        >>> from linnet.theories.spiked import TwoPhase
        >>> model = TwoPhase(spike=10.0, alignment=0.5)
        >>> model.early_time(1e-3) < model.later_time(1e-3)
        True
        >>> model.reduced(1e-3, [0.0, 60.0])[-1].round(4), model.fixed_point.round(4)
        (array([0.6286, 0.7777]), array([0.6286, 0.7777]))
    """

    spike: float
    alignment: float
    variance: float = 1.0

    def __post_init__(self) -> None:
        spike, alignment = checked_model(self.spike, self.alignment)
        if spike.ndim or alignment.ndim:
            raise ValueError("`spike` and `alignment` must be single numbers: make one TwoPhase for each pair.")
        for name, value in (("spike", spike), ("alignment", alignment)):
            object.__setattr__(self, name, float(value))
        object.__setattr__(self, "variance", positive("variance", self.variance))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            constants = (self.correlation, self.lambda1, self.lambda2, self.nu)
        if not np.isfinite(constants).all() or self.correlation == 0 or self.lambda2 == 0:
            raise ValueError(
                f"`spike` or `variance` is too large or too small for the constants of the model to be numbers: got "
                f"{self.spike:g} and {self.variance:g}."
            )

    @property
    def _relative_correlation(self) -> float:
        """|Sigma beta| over the variance of the bulk."""
        return float(np.hypot((1 + self.spike) * self.alignment, self._orthogonal_part))

    @property
    def _orthogonal_part(self) -> float:
        """sqrt(1 - A^2), the part of the target that is orthogonal to the spike."""
        return float(np.sqrt((1 - self.alignment) * (1 + self.alignment)))

    @property
    def correlation(self) -> float:
        r"""Rate $|\Sigma_{xy}|$ of the early phase (28)."""
        return self.variance * self._relative_correlation

    @property
    def lambda1(self) -> float:
        r"""$v_1^T \Sigma v_1$ (31)."""
        return self.variance * (1 + self.spike * ((1 + self.spike) * self.alignment / self._relative_correlation) ** 2)

    @property
    def lambda2(self) -> float:
        r"""$v_2^T \Sigma v_2$ (32), computed without cancellation."""
        return (
            self.variance
            * ((1 + self.spike) / self._relative_correlation)
            * ((1 + self.spike * self.alignment**2) / self._relative_correlation)
        )

    @property
    def nu(self) -> float:
        r"""$-v_1^T \Sigma v_2 \ge 0$ (33), the coupling of the second component to the first."""
        along, across = (
            (1 + self.spike) * self.alignment / self._relative_correlation,
            self._orthogonal_part / self._relative_correlation,
        )
        return self.variance * abs(self.spike) * (along * across)

    @property
    def has_second_phase(self) -> bool:
        """Whether the second component grows: false at alignment 0 or 1, and without a spike."""
        return self.nu > 0

    @property
    def basis(self) -> Float[np.ndarray, "2 2"]:
        r"""Rows $v_1$, $v_2$ in the coordinates ($\mu$, $\mu_\perp$), with $\mu_\perp$ along $\beta - A\mu$.

        If $\Sigma\beta$ and $\beta$ are parallel (no second phase), $v_2$ is the remaining direction of the plane.
        """
        v1 = np.array([(1 + self.spike) * self.alignment, self._orthogonal_part]) / self._relative_correlation
        v2 = np.array([-v1[1], v1[0]])
        return np.stack([v1, -v2 if self.spike < 0 else v2])

    @property
    def plateau(self) -> float:
        r"""$\sqrt{|\Sigma_{xy}|/\lambda_1}$, the limit of `early`: the value of $w_1$ if $w_2$ stayed at zero."""
        return float(np.sqrt(self.correlation / self.lambda1))

    @property
    def fixed_point(self) -> Float[np.ndarray, " 2"]:
        r"""End point of $(w_1, w_2)$ (41): $\beta$ itself in the adapted basis, of norm 1."""
        return np.array([self.lambda2, self.nu]) / np.hypot(self.lambda2, self.nu)

    @property
    def early_loss(self) -> float:
        r"""Fraction of the loss that remains after the early phase, with $w_2 = 0$.

        $$ 1 - \frac{(\beta^T\Sigma^2\beta)^2}{(\beta^T\Sigma\beta)(\beta^T\Sigma^3\beta)}
           = \frac{\rho^2 (1+\rho) A^2 (1 - A^2)}{(1 + \rho A^2)(1 + ((1+\rho)^3 - 1) A^2)} $$

        It vanishes without a spike, at A = 0 and at A = 1. It falls with $\rho$ and with A only beyond its maximum.
        """
        large, square = 1 + self.spike, self.alignment**2
        signal, cube = square * large + self._orthogonal_part**2, square * large**3 + self._orthogonal_part**2
        return float(square * self._orthogonal_part**2 * (self.spike / signal) * (self.spike * large / cube))

    @property
    def late_rate(self) -> float:
        r"""Rate at which the predictor approaches its limit late in training.

        $$ \tfrac{\sigma^2}{2}\big[T - \sqrt{T^2 - 8(1 + \rho)}\big], \qquad T = 3 + \rho(1 + A^2), $$

        the smaller eigenvalue of $\Sigma(I + \beta\beta^T)$ in the plane of $\mu$ and $\beta$ (`late_rate`). For a
        strong spike it tends to $2\sigma^2/(1 + A^2)$. The paper has $\lambda_2$ for this rate, which tends to
        $\sigma^2$.
        """
        if not self.has_second_phase:
            return 2 * self.variance * (1 + self.spike * self.alignment**2)
        along = self.spike * (1 + self.alignment**2)
        gap = np.sqrt(max((along - 1) ** 2 + 8 * self.spike * self.alignment**2, 0.0))  # sqrt(T^2 - 8 (1 + rho))
        return float(self.variance * 4 * (1 + self.spike) / (3 + along + gap))

    @representable
    def vector_field(self, w: ArrayLike) -> Float[np.ndarray, "... 2"]:
        r"""Velocity of (18) and (19) at `w`, (..., 2)."""
        w = real_array("w", w)
        if w.shape[-1:] != (2,):
            raise ValueError(f"`w` must hold pairs (w1, w2) in its last axis: got shape {w.shape}.")
        w1, w2 = w[..., 0], w[..., 1]
        norm = np.hypot(w1, w2)
        first = norm * (self.correlation + norm * (self.nu * w2 - self.lambda1 * w1))
        return np.stack([first, norm * (norm * (self.nu * w1 - self.lambda2 * w2))], axis=-1)

    @representable
    def nullclines(
        self, points: int = 200, radius: float = 2.0
    ) -> tuple[Float[np.ndarray, "point 2"], Float[np.ndarray, "point 2"]]:
        r"""The curves $\dot w_1 = 0$ and $\dot w_2 = 0$ in $(w_1, w_2)$ within `radius`, each (point, 2).

        The first curve is $|w|^2 = |\Sigma\beta|/(\lambda_1\cos\theta - \nu\sin\theta)$ at the angle $\theta$. The
        second is the straight line $w_2 = (\nu/\lambda_2) w_1$.
        """
        radius, points = positive("radius", radius), count("points", points, least=2)
        check_fits(64 * points, f"nullclines of {points} points", "Ask for fewer `points`.")
        tilt = np.arctan2(self.nu, self.lambda1)  # lambda1 cos - nu sin = hypot cos(theta + tilt)
        least = self.correlation / np.hypot(self.lambda1, self.nu) / radius / radius
        if least >= 1:
            raise ValueError(
                f"`radius` must reach the nullcline, which is {np.sqrt(least) * radius:.3g} away: got {radius}."
            )
        angles = np.linspace(-np.arccos(least), np.arccos(least), points) - tilt
        lengths = np.sqrt(self.correlation / (self.lambda1 * np.cos(angles) - self.nu * np.sin(angles)))
        line = np.linspace(-radius, radius, points)[:, None] * self.fixed_point
        return np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=-1), line

    @representable
    def growth(self, u0: float, times: ArrayLike) -> Float[np.ndarray, " time"]:
        r"""$u_0 e^{|\Sigma_{xy}| t}$, the exponential growth at the beginning of the early phase (15)."""
        exponent = self.correlation * times_array("times", times) + np.log(positive("u0", u0))
        if exponent[-1] > 709:
            raise ValueError(
                f"`times` must end before {(709 - np.log(u0)) / self.correlation:.4g}, where the linear growth "
                f"overflows: got {np.max(times):g}. `early` saturates."
            )
        return np.exp(exponent)

    @representable
    def early(self, u0: float, times: ArrayLike) -> Float[np.ndarray, " time"]:
        r"""$w_1(t)$ of the early phase (17), which saturates at $\sqrt{c/\lambda_1}$, $c = |\Sigma_{xy}|$.

        $$ w_1(t)^2 = \frac{c/\lambda_1}{1 + (c/(\lambda_1 u_0^2) - 1)\,e^{-2ct}} $$

        **Valid when** the second component is still small. Once $w_1$ is of order 1, the error no longer falls with the
        initialization, whereas the paper prints an error of O(s) in (17).

        **Arguments:** `u0` is $u(0) = |W_1(0) v_1 + W_2(0)^T|/2$, see `theories.aligned_flow.growth_direction`.
        """
        times, u0 = times_array("times", times), positive("u0", u0)
        plateau = self.correlation / self.lambda1
        grown = np.log(-np.expm1(-2 * self.correlation * times))
        behind = np.log(plateau) - 2 * np.log(u0) - 2 * self.correlation * times
        return np.sqrt(plateau) * np.exp(-0.5 * np.logaddexp(grown, behind))

    @representable
    def early_second(self, u0: float, times: ArrayLike) -> Float[np.ndarray, " time"]:
        r"""$w_2(t)$ of the early phase to first order, driven by $w_1 = u$ of (17).

        $$ w_2 = \frac{\nu}{\lambda_1}\Big[p\,\mathrm{artanh}\frac{u}{p} - u\Big], \qquad p = \sqrt{c/\lambda_1} , $$

        from $\dot w_2 = \nu u^3$ and $\dot u = cu - \lambda_1 u^3$. It depends on the initialization only through u. So
        it is of order 1 when u is, however small the initialization; the paper has O(s).

        **Valid when** $w_2/w_1$ is small, and small compared with its limit $\nu/\lambda_2$. The relative error is
        at most $(w_2/w_1)(1 + \lambda_2/\nu)$. As u approaches its plateau, this $w_2$ grows without limit.

        **Arguments:** `u0` and `times` as for `early`.
        """
        u = self.early(u0, times)
        share = u / self.plateau
        # artanh(x) - x without its cancellation for small x
        small = share**3 * (1 / 3 + share**2 * (1 / 5 + share**2 / 7))
        full = np.arctanh(share) - share
        return self.nu / self.lambda1 * self.plateau * np.where(share < 1e-2, small, full)

    @representable
    def reduced(self, u0: ArrayLike, times: ArrayLike, *, rtol: float = 1e-13) -> Float[np.ndarray, "time 2"]:
        r"""$(w_1, w_2)$ over time in both phases, from the reduced dynamics (18)-(19).

        **Arguments:** `u0` is the size of the initialization along $v_1$: the flow begins at $(u_0, 0)$. This describes
        a trained network far better than its projected $w_2(0)$, because $|W_2|^2 = w_1^2 + w_2^2$ does not hold at
        that order. A pair $(w_1, w_2)$ is used as it is. `rtol` is the tolerance of the integrator: at 1e-8 the result
        is accurate to 1e-7, in a third of the time.
        """
        from linnet.theories.aligned_flow import integrate

        times, rtol = times_array("times", times), positive("rtol", rtol)
        start = real_array("u0", u0, ndim=(0, 1))
        if start.ndim == 0:
            start = np.array([positive("u0", u0), 0.0])
        if start.shape != (2,) or not start.any():
            raise ValueError(f"`u0` must be a positive number or a pair (w1, w2) other than the origin: got {u0!r}.")
        sigma = np.array([[self.lambda1, -self.nu], [-self.nu, self.lambda2]])
        return integrate(sigma, np.array([self.correlation, 0.0]), times, start, rtol=rtol)

    @representable
    def early_time(self, scale: float) -> float:
        r"""Time $t_1 = \log(|\Sigma_{xy}|/(\lambda_1 s^2))/(2|\Sigma_{xy}|)$ at which the first component has grown.

        **Arguments:** `scale` is s: the entries of $W_1$ have the variance $s^2/d$ and those of $W_2$ have $s^2/m$. The
        part of the initialization that grows is $u(0) \approx \frac{s}{2}\sqrt{1 + m/d}$. For wide networks, give that
        in place of s.
        """
        scale = positive("scale", scale)
        ratio = np.log(self.correlation / self.lambda1) - 2 * np.log(scale)
        if ratio <= 0:
            raise ValueError(
                f"`scale` must be small, below {self.plateau:.3g} here, for an early phase to exist: got {scale}."
            )
        return float(ratio / (2 * self.correlation))

    @representable
    def later_bound(self, delta: float = 3.0) -> float:
        r"""Bound (20) on $t_2 - t_1$, the time in which the second component reaches $(1 - e^{-\delta})$ of its limit.

        $$ \frac{1}{\lambda_2}\Big[q\arctan(q(1-e^{-\delta})) + \tfrac12\log(1 + q^2(1-e^{-\delta})^2) + \delta\Big],
           \quad q = \nu/\lambda_2 $$

        **Valid when** time is counted from a moment after which $w_1(t) \ge w_1(\infty)$ and $w_2(t) \le w_2(\infty)$.
        That moment is usually later than $t_1$. It does not exist for weak spikes, nor for strong spikes that are
        nearly orthogonal to the target, because $w_1$ then rises to its limit from below (page "Times of the two
        phases").
        """
        delta = positive("delta", delta)
        if not self.has_second_phase:
            raise ValueError(
                f"there is no later phase for spike {self.spike} and alignment {self.alignment}: the second component "
                "never grows unless the spike is non-zero and the alignment is strictly between 0 and 1."
            )
        q = self.nu / self.lambda2
        reach = q * -np.expm1(-delta)
        return float((q * np.arctan(reach) + 0.5 * np.log1p(reach**2) + delta) / self.lambda2)

    @representable
    def later_time(self, scale: float, delta: float = 3.0) -> float:
        r"""Time $t_1$ plus the bound (20), which the paper takes as the end of the later phase."""
        return self.early_time(scale) + self.later_bound(delta)

    @representable
    def strong_spike_length(self, delta: float = 3.0) -> float:
        r"""Duration $t_2 - t_1$ of the later phase in the limit of a strong spike.

        It is the time from half the plateau of $w_1^2$ until $w_2$ has $(1 - e^{-\delta})$ of its limit. In this limit
        the component of the predictor along the spike is A at once. The component x orthogonal to the spike has the
        target $B = \sqrt{1 - A^2}$, and follows

        $$ \dot x = \sigma^2\,\frac{(B - x)(A^2 + x^2)^{3/2}}{A^2 + x^2/2}, \qquad w_2 = x/(A^2 + x^2)^{1/4} , $$

        $$ \sigma^2 t = \tfrac12\Big((1 + A^2)\Big[\mathrm{artanh}\frac{A^2 + Bx}{R} - \mathrm{artanh}\,A\Big]
           + \frac{Bx - A^2}{R} + A\Big), \qquad R = \sqrt{A^2 + x^2} . $$

        **Valid when** $\rho A^2 \gg 1$; the error is within 2.5% at $\rho = 20$, $A \ge 0.3$. The paper has only the
        bound (20).
        """
        delta = positive("delta", delta)
        if not self.has_second_phase:
            raise ValueError(
                f"there is no later phase for spike {self.spike} and alignment {self.alignment}: the second component "
                "never grows unless the spike is non-zero and the alignment is strictly between 0 and 1."
            )
        A, B = self.alignment, self._orthogonal_part
        # w2 = share B with w2^4 = x^4/(A^2 + x^2): a quadratic in x^2
        power = (-np.expm1(-delta) * B) ** 4
        square = 0.5 * (power + np.sqrt(power**2 + 4 * power * A**2))
        x = float(np.sqrt(square))
        R = np.hypot(A, x)
        # artanh y - artanh A by logarithms; 1 - y^2 = (A (B - x)/R)^2 does not cancel
        rise = np.log1p((A**2 + B * x) / R) - np.log(A * (B - x) / R) - np.log1p(A) + np.log(B)
        return float(0.5 * ((1 + A**2) * rise + (B * x - A**2) / R + A) / self.variance)
