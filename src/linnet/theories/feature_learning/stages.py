r"""The two stages of feature learning: a network with one output turns towards its feature, and then grows along it.

Symbols of Huang et al. 2025, for the network $f = \frac1m\sum_r v_r\, w_r\cdot x$ (canonical: $W_1 = W/\sqrt m$,
$W_2 = v^T/\sqrt m$):

| symbol | meaning |
|---|---|
| $\rho_r$ | alignment of neuron r, $\langle w_r(t) - w_r(0), X^T y\rangle$ |
| $v_r$ | its magnitude, the second-layer weight |
| $c_r$ | its overlap at initialization, $\langle w_r(0), X^T y\rangle$ |
| $\gamma$ | $y^T X X^T y$ |
| $\phi$ | $y^T (X X^T)^2 y$ |

The paper's step $\eta$ and the canonical one are related by $\mathrm{lr} = \eta/m$. Steps count both; times are
canonical, `steps * learning_rate`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet import _arguments as arguments
from linnet.theories.feature_learning.kernels import target_aligned_kernel

MAX_STEPS = 1_000_000  # of a recursion: half a second


class Stages:
    r"""Predicts both stages of feature learning of a network with one output, from data and initialization.

    In the first stage the hidden neurons turn towards the feature $X^T y$, in the second they grow along it. The
    methods return the neurons' alignments $\rho_r$ and magnitudes $v_r$, the loss, and the times of both stages. For
    the end of training alone, use `final_state`.

    **Arguments:**

    - `X`: inputs, (sample, input)
    - `y`: outputs, (sample,)
    - `width`: width $m$
    - `learning_rate`: learning rate of `gradient_descent`, $\eta/m$ in the paper's symbols
    - `first_std`: standard deviation $\sigma_0$ of the entries of $w_r(0)$
    - `magnitude`: scale $v_0 = |v_r(0)|$ of the second layer; both scales as `inits.signed` takes them

    **Attributes:** `gamma`, `phi`, `feature` ($X^T y$), `samples`, and

    - `rate`: growth rate $\sqrt\gamma/n$ of both stages
    - `trace`: estimate $|X|_F^2/n$ of $\mathrm{tr}\,\Sigma$, for the printed times
    - `signal`: estimate $|y|/\sqrt n$ of $|\bar\beta|$, for the printed times

    **Reference:** Huang et al. 2025, sections 4 and 5.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.feature_learning import Stages
        >>> X = np.random.default_rng(0).standard_normal((5, 2000))
        >>> small, tiny = (
        ...     Stages(X, X[:, 0], width=50, learning_rate=1e-4, first_std=0.0, magnitude=v0) for v0 in (1e-4, 1e-8)
        ... )
        >>> bool(tiny.first_time() > small.first_time()), bool(small.second_time(0.1) < small.second_time(0.01))
        (True, True)
    """

    def __init__(
        self, X: ArrayLike, y: ArrayLike, *, width: int, learning_rate: float, first_std: float, magnitude: float
    ) -> None:
        inputs = arguments.real_array("X", X, ndim=2)
        outputs = arguments.real_array("y", y, ndim=(1, 2))
        if outputs.size != inputs.shape[0]:
            raise ValueError(f"`y` must have one value per row of `X`, {inputs.shape[0]}: got shape {outputs.shape}.")
        self.width = arguments.count("width", width)
        self.learning_rate = arguments.positive("learning_rate", learning_rate)
        self.first_std = arguments.non_negative("first_std", first_std)
        self.magnitude = arguments.non_negative("magnitude", magnitude)
        self.outputs = outputs.reshape(-1)
        self.samples, self.in_dim = inputs.shape
        with np.errstate(over="ignore", invalid="ignore"):
            self.gram = inputs @ inputs.T
            self.feature = inputs.T @ self.outputs
            image = self.gram @ self.outputs
            self.gamma = float(self.outputs @ image)
            self.phi = float(image @ image)
            scale = np.float64(self.gamma) ** 2.5
        if not self.feature.any():
            raise ValueError("`X` and `y` must have a feature to learn: X^T y is zero.")
        if not all(0 < size < np.inf for size in (self.gamma, self.phi, scale)):
            raise ValueError(
                "`X` and `y` must be of a size whose powers are numbers: gamma = y^T X X^T y or gamma^(5/2)/phi "
                "overflows or underflows. Divide them by their standard deviations."
            )
        self.rate = math.sqrt(self.gamma) / self.samples
        self.trace = float((inputs**2).sum() / self.samples)
        self.signal = float(np.sqrt((self.outputs**2).mean()))

    @property
    def limit(self) -> float:
        r"""Limit of the mean of $\rho_r^2$: $\gamma^{5/2}/\phi$ (below eq. 11, printed for each neuron)."""
        return self.gamma**2.5 / self.phi

    def linear(
        self, overlaps: ArrayLike, magnitudes: ArrayLike, steps: ArrayLike | None
    ) -> tuple[Float[np.ndarray, "time neuron"], Float[np.ndarray, "time neuron"]]:
        r"""Alignments $\rho_r$ and magnitudes $v_r$ (time, neuron) in the first stage, where the output is negligible.

        $$ \rho_r \mathrel{+}= \tfrac{\eta}{nm}\gamma v_r, \qquad v_r \mathrel{+}= \tfrac{\eta}{nm}(\rho_r + c_r) $$

        solved exactly for the discrete steps: with $a = \eta\sqrt\gamma/(nm)$,
        $\rho_r + c_r = \tfrac12(1+a)^t(c_r + \sqrt\gamma v_r(0)) + \tfrac12(1-a)^t(c_r - \sqrt\gamma v_r(0))$, the
        powers being the discrete cosh and sinh. So $\rho_r - \sqrt\gamma v_r$ tends to $-c_r$, not to zero.

        **Arguments:** `overlaps` $c_r$ (neuron,), `magnitudes` $v_r(0)$ (neuron,), signed; `steps` (time,).

        **Valid when** the output is small compared with the targets: before `first_time`.

        **Reference:** eq. (9). Printed, the step of $v_r$ lacks the factor $\eta/(nm)$ before $\rho_r$.
        """
        t = _whole_steps(steps)[:, None]
        c, v0 = _check_neurons("overlaps", overlaps), _check_neurons("magnitudes", magnitudes)
        arguments.broadcast(overlaps=c, magnitudes=v0)
        a, root = self.learning_rate * self.rate, np.sqrt(self.gamma)
        with np.errstate(over="ignore", invalid="ignore"):
            # (1 +- a)^t without the rounding of 1 +- a, which t steps would multiply; (1 +- a)^t - 1 without
            # cancellation, since rho starts at zero
            up, down = t * np.log1p(a), t * np.log1p(-a) if a < 1 else None
            grow, fade = np.exp(up), (1 - a) ** t if down is None else np.exp(down)
            rise = np.expm1(up) * (c + root * v0)
            fall = (fade - 1 if down is None else np.expm1(down)) * (c - root * v0)
            rho, v = (rise + fall) / 2, (grow * (v0 + c / root) + fade * (v0 - c / root)) / 2
        if not (np.isfinite(rho).all() and np.isfinite(v).all()):
            raise ValueError(
                f"`steps` must end before the linear stage overflows, which by {t.max():g} it has, from these "
                f"`overlaps` and `magnitudes`: it grows by {a:.3g} of itself a step. `two_variable` saturates."
            )
        return rho, v

    @arguments.representable
    def two_variable(
        self,
        alignments: ArrayLike,
        magnitudes: ArrayLike,
        steps: ArrayLike | None,
        *,
        overlaps: ArrayLike | None = None,
    ) -> tuple[Float[np.ndarray, "time neuron"], Float[np.ndarray, "time neuron"]]:
        r"""Alignments $\rho_r$ and magnitudes $v_r$ (time, neuron) in both stages, from given values at step 0.

        $$ \rho_r \mathrel{+}= \tfrac{\eta\gamma}{nm} v_r\,g, \qquad v_r \mathrel{+}= \tfrac{\eta}{nm}\rho_r\,g, \qquad
           g = 1 - \tfrac{\phi}{\gamma^2}\,\mathrm{mean}_s(v_s\rho_s) $$

        **Arguments:** `alignments` and `magnitudes` (neuron,) at step 0. If `overlaps` $c_r$ are given, they are added
        to $\rho_r$ in $g$ and in the step of $v_r$, so that the system can begin at the weights of a network; the paper
        omits them.

        **Valid when** $w_r - w_r(0)$ is along $X^T y$ and $w_r(0)$ contributes nothing else, as for $X X^T$ near a
        multiple of the identity.

        **Reference:** eq. (10), printed with $v_r\rho_r$ of the same neuron in place of the mean.
        """
        wanted = _countable_steps(steps)
        rho, v = _check_neurons("alignments", alignments), _check_neurons("magnitudes", magnitudes)
        c = np.zeros_like(rho) if overlaps is None else _check_neurons("overlaps", overlaps)
        rho, v, c = arguments.broadcast(alignments=rho, magnitudes=v, overlaps=c)
        a, root, damping = self.learning_rate * self.rate, math.sqrt(self.gamma), self.phi / self.gamma**2
        # A step multiplies rho + c + sqrt(gamma) v of every neuron by 1 + a g and rho + c - sqrt(gamma) v by 1 - a g:
        # two numbers are followed, by how much more than 1 the products of these factors are.
        plus, minus = rho + c + root * v, rho + c - root * v
        start = float((v * (rho + c)).mean())
        of_plus, of_minus = (float((each**2).mean() / (4 * root)) for each in (plus, minus))

        def advance(state: tuple[float, float]) -> tuple[float, float]:
            up, down = state
            force = 1 - damping * (start + up * (2 + up) * of_plus - down * (2 + down) * of_minus)
            return up + (1 + up) * a * force, down - (1 + down) * a * force

        up, down = np.transpose(self._iterate_map(advance, (0.0, 0.0), wanted))[..., None]
        return rho + (up * plus + down * minus) / 2, v + (up * plus - down * minus) / (2 * root)

    @arguments.representable
    def one_variable(self, alignments: ArrayLike, steps: ArrayLike | None) -> Float[np.ndarray, "time neuron"]:
        r"""Alignments $\rho_r$ (time, neuron) in the second stage: `two_variable` with $v_r = \rho_r/\sqrt\gamma$.

        $$ \rho_r \mathrel{+}= \tfrac{\eta\sqrt\gamma}{nm}\rho_r
           \bigl(1 - \tfrac{\phi}{\gamma^{5/2}}\,\mathrm{mean}_s\rho_s^2\bigr) $$

        **Valid when** $\rho_r = \sqrt\gamma v_r$: after `first_time`.

        **Reference:** eq. (11), printed with $\rho_r^2$ in place of the mean.
        """
        wanted, rho = _countable_steps(steps), _check_neurons("alignments", alignments)
        a, share = self.learning_rate * self.rate, float((rho**2).mean() / self.limit)

        def advance(state: tuple[float]) -> tuple[float]:  # by what all alignments are multiplied
            (factor,) = state
            return (factor + a * factor * (1 - share * factor * factor),)

        return np.array(self._iterate_map(advance, (1.0,), wanted)) * rho

    def proxy(self, alignments: ArrayLike) -> np.float64 | Float[np.ndarray, " *batch"]:
        r"""Proxy $\tilde\rho = \sqrt{R/(1 - R\phi/\gamma^{5/2})}$, where $R$ is the mean of $\rho_r^2$ over the last
        axis.

        In the second stage it grows exactly as $e^{t\sqrt\gamma/n}$ for small steps. If $R$ exceeds its limit, the
        proxy does not exist and is NaN. Section 5 of the paper has $\rho_r^2$ of the same neuron in place of the mean.
        """
        rho = np.atleast_1d(arguments.real_array("alignments", alignments))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            square = (rho**2).mean(axis=-1)
            return np.sqrt(square / (1 - square / self.limit))

    @arguments.representable
    def loss(
        self, alignments: ArrayLike, magnitudes: ArrayLike, overlaps: ArrayLike | None = None
    ) -> Float[np.ndarray, " ..."]:
        r"""Loss $\frac1{2n}|y - \frac1\gamma\mathrm{mean}_r(v_r\rho_r)\,X X^T y|^2$ at these values."""
        rho = arguments.real_array("alignments", alignments)
        v = arguments.real_array("magnitudes", magnitudes)
        c = 0.0 if overlaps is None else _check_neurons("overlaps", overlaps)
        arguments.broadcast(alignments=rho, magnitudes=v, overlaps=np.asarray(c))
        scale = (v * (rho + c)).mean(axis=-1)[..., None] / self.gamma
        residual = self.outputs - scale * (self.gram @ self.outputs)
        return (residual**2).sum(axis=-1) / (2 * self.samples)

    @arguments.representable
    def first_time(self, *, level: float = 1.0) -> float:
        r"""Time $t_1$ at which the first stage ends: the median of $|\rho_r|$ over the neurons reaches `level`.

        In `linear`, each $\rho_r$ is Gaussian over random $w_r(0)$, with mean $\pm v_0\sqrt\gamma\sinh\tau$ and
        standard deviation $\sigma_0\sqrt\gamma(\cosh\tau - 1)$, where $\tau = t\sqrt\gamma/n$. The equation for the
        median of its absolute value is solved for the time. For $\sigma_0 = 0$ the solution is $t_1 =
        \mathrm{asinh}(\ell/(v_0\sqrt\gamma))\,n/\sqrt\gamma$.

        **Valid when** the output is still small at $t_1$, and for wide networks.

        **Reference:** Theorem 4.1 and Lemma 5.2, which print
        $C\log(1/v_0)\sqrt n/(\sqrt{\mathrm{tr}\Sigma}|\bar\beta|)$, without $\gamma$ in the logarithm and $\sigma_0$.
        """
        from scipy.optimize import bisect, brentq
        from scipy.special import ndtr

        level, root = arguments.positive("level", level), np.sqrt(self.gamma)
        if self.magnitude == 0 and self.first_std == 0:
            raise ValueError("`magnitude` and `first_std` must not both be zero: a network at zero never moves.")
        if self.first_std == 0:
            # asinh of a quotient that may overflow
            large = np.log(level) - np.log(self.magnitude) - np.log(root)
            return float((large + np.log(2) if large > 40 else np.arcsinh(np.exp(large))) / self.rate)

        def excess(tau: float) -> float:  # in logarithms, which neither overflow nor vanish
            ratio = self.magnitude / self.first_std / np.tanh(tau / 2)  # mean over deviation
            if ratio > 30:  # the fold is too far away to matter
                return float(np.log(self.magnitude) + np.log(root) + _log_sinh(tau) - np.log(level))
            # of the absolute value of a normal variable with this mean and deviation 1
            median = brentq(lambda x: ndtr(x - ratio) - ndtr(-x - ratio) - 0.5, 0, ratio + 1, xtol=1e-15)
            spread = np.log(2 * self.first_std) + np.log(root) + 2 * _log_sinh(tau / 2)
            return float(spread + np.log(median) - np.log(level))

        low, high = 1.0, 1.0
        while excess(low) > 0:
            low, high = low / 2, low  # as near to each other as they are to zero
        if low == 0:
            return high / self.rate  # the smallest of all numbers
        while excess(high) < 0:
            high *= 2

        def level_with(log: float) -> float:  # finite where the sinh of the smallest of all numbers is zero
            return float(np.clip(excess(np.exp(log)), -1e3, 1e3))

        solve = brentq if low > 1e-290 else bisect  # the last of all numbers are a staircase
        log = solve(level_with, np.log(low) - 1e-9, np.log(high) + 1e-9, xtol=1e-14, rtol=1e-14)
        return float(np.exp(log)) / self.rate

    @arguments.representable
    def second_time(self, share: float, *, initial_alignment: float = 1.0) -> float:
        r"""Time after $t_1$ at which the loss has fallen to the fraction `share` of its initial value.

        The proxy $\tilde\rho$ grows from its value at a root mean square `initial_alignment` of $\rho_r$ to
        $\sqrt{\gamma^{5/2}(1-\epsilon)/(\phi\,\epsilon)}$ with $\epsilon = \sqrt{\mathrm{share}}$. If $X X^T$ is a
        multiple of the identity, $1 - R\phi/\gamma^{5/2}$ is $\epsilon$ when that fraction of the loss remains.

        **Reference:** the proxy of section 5 with the mean over neurons. Theorem 4.1 and Lemma 5.3 print an order of
        magnitude, $\frac{\sqrt n}{|\bar\beta|\sqrt{\mathrm{tr}\Sigma}}\log(n|\bar\beta|\mathrm{tr}\Sigma/L)$.
        """
        share, initial_alignment = (
            arguments.positive("share", share),
            arguments.positive("initial_alignment", initial_alignment),
        )
        if share >= 1:
            raise ValueError(f"`share` must be below 1: got {share}.")
        remaining, end = np.sqrt(share), np.sqrt(self.limit)
        if initial_alignment >= end * np.sqrt(1 - remaining):
            raise ValueError(
                f"`initial_alignment` must be below {end * np.sqrt(1 - remaining):.4g}, where the loss has fallen to a "
                f"fraction of {share:g} already, and so below sqrt(limit) = {end:.4g}, where the second stage ends: "
                f"got {initial_alignment:g}."
            )
        low, high = self.proxy([initial_alignment]), np.sqrt(self.limit * (1 - remaining) / remaining)
        return float(np.log(high / low)) / self.rate

    @arguments.representable
    def kernel(self, square: ArrayLike = 1.0) -> Float[np.ndarray, "*batch sample sample"]:
        r"""Target-aligned kernel $v^2\,X(I + \frac1\gamma X^T y y^T X)X^T$ (sample, sample), $m$ times the kernel of
        the paper.

        `square` is $v^2$, the mean of $v_r^2$ over the neurons; an array of them gives leading axes.
        """
        return arguments.real_array("square", square)[..., None, None] * target_aligned_kernel(self.gram, self.outputs)

    @arguments.representable
    def network_kernel(
        self, alignments: ArrayLike, magnitudes: ArrayLike, overlaps: ArrayLike
    ) -> Float[np.ndarray, "*batch sample sample"]:
        r"""Neural tangent kernel (time, sample, sample) of a network with these alignments and magnitudes (time,
        neuron).

        $$ \Theta = \overline{v^2}\,K + \overline{(\rho + c)^2}\,\tfrac{1}{\gamma^2} K y y^T K
           + \sigma_0^2\,(K - \tfrac1\gamma K y y^T K), \qquad K = X X^T, $$

        where bars are means over the neurons. Each $w_r$ is its alignment along the feature plus a Gaussian part
        orthogonal to it.

        **Valid when** `two_variable` is valid, for wide networks: the last term is the mean over random
        initializations.
        """
        rho = np.atleast_2d(arguments.real_array("alignments", alignments, ndim=(0, 1, 2)))
        v = np.atleast_2d(arguments.real_array("magnitudes", magnitudes, ndim=(0, 1, 2)))
        c = _check_neurons("overlaps", overlaps)
        arguments.broadcast(alignments=rho, magnitudes=v, overlaps=c)
        along = target_aligned_kernel(self.gram, self.outputs) - self.gram  # K y y^T K / gamma
        squares = [(v**2).mean(axis=-1), ((rho + c) ** 2).mean(axis=-1) / self.gamma]
        weight, feature = (square[:, None, None] for square in squares)
        return weight * self.gram + feature * along + self.first_std**2 * (self.gram - along)

    def _iterate_map(self, advance: Any, state: tuple[float, ...], wanted: np.ndarray) -> list[tuple[float, ...]]:
        """The states at the wanted steps of the map `advance`, which is refused where it diverges."""
        kept, done = [], 0
        for step in wanted.tolist():
            for _ in range(step - done):
                state = advance(state)
            if not all(map(math.isfinite, state)):
                raise ValueError(
                    f"`learning_rate` is too large for these `alignments`: by step {step} the recursion has diverged. "
                    f"Got {self.learning_rate:g}, at which the first stage grows by "
                    f"{self.learning_rate * self.rate:.3g} of itself a step."
                )
            done = step
            kept.append(state)
        return kept


def _whole_steps(steps: object) -> np.ndarray:
    """Steps as whole numbers, non-negative and increasing; as floats, which a closed form may take at any size."""
    return arguments.whole_steps("steps", steps, most=10**300)


def _log_sinh(value: float) -> float:
    """ln sinh, also where sinh overflows."""
    return float(value + np.log(-np.expm1(-2 * value)) - np.log(2))


def _countable_steps(steps: object) -> np.ndarray:
    """Steps that a recursion can take one by one."""
    array = _whole_steps(steps)
    if array[-1] > MAX_STEPS:
        raise ValueError(
            f"`steps` must end by {MAX_STEPS}, as they are taken one by one: got {array[-1]:g}. With a larger "
            "learning rate fewer are needed."
        )
    return array.astype(np.int64)


def _check_neurons(name: str, value: object) -> np.ndarray:
    """Return one number for each neuron, checked."""
    return np.atleast_1d(arguments.real_array(name, value, ndim=(0, 1)))
