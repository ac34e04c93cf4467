r"""The learning curve without data, for many inputs and samples.

With $m(z)$ the Stieltjes transform of $X X^T/n$, $1/m = -z + \frac1n \sum_i l_i/(1 + m l_i)$, and
$R(z) = (S - z)^{-1}$:

$$ R \simeq -\frac1z (I + m \Sigma)^{-1}, \qquad
   R_1 \Sigma R_2 \simeq \frac{1}{z_1 z_2} \frac{(I + m_1 \Sigma)^{-1} \Sigma (I + m_2 \Sigma)^{-1}}{1 - D_{12}}, \quad
   D_{12} = \frac{m_1 m_2}{n} \mathrm{tr}\, \Sigma^2 (I + m_1 \Sigma)^{-1} (I + m_2 \Sigma)^{-1} $$
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import non_negative, positive, real_array, representable, times_array
from linnet.theories.one_output.clock import Clock
from linnet.theories.one_output.curves import ErrorOverTime

_HEIGHTS = (0.55, 1.2)  # of the two contours, in log z: below pi/2, so that no exponential grows
_NODES_PER_ASPECT = 34  # times the contour's width over its height: trapezia are then good to 1e-12 or so
_MAX_SIZE, _MAX_RANGE, _MAX_RATIO = 1e100, 1e30, 1e8  # of arguments; largest over least eigenvalue; n over the rank
_LOWEST = 1e-40  # of the largest eigenvalue: where n is the rank the spectrum reaches zero, and is cut there


@representable
def asymptotic(
    eigenvalues: ArrayLike,
    overlaps: ArrayLike,
    samples: float,
    *,
    threshold: float,
    times: ArrayLike,
    noise_variance: float = 0.0,
    multiplicities: ArrayLike | None = None,
) -> ErrorOverTime:
    r"""Return training and test loss over time for Gaussian inputs in the limit of many inputs and samples.

    It needs only the spectrum of the inputs and no samples. For a given data set, use `error_over_time`.

    In a rescaled time, the flow of `error_over_time` is a spectral filter of the sample covariance. The rescaled time
    depends on the data only through $c^T h(S)\, c$. So this time and both losses are integrals of one or two
    resolvents, for which deterministic equivalents are known.

    **Arguments:**

    - `eigenvalues`: eigenvalues of the inputs' covariance, (mode,)
    - `overlaps`: squared projections of the target on the eigenvectors, summed over equal ones, (mode,)
    - `samples`: number of samples $n$
    - `threshold`: threshold $g$, as in `product_over_time`
    - `times`: times (learning rate times number of steps), (time,)
    - `noise_variance`: variance of the noise on the labels
    - `multiplicities`: multiplicity of each eigenvalue, (mode,); 1 by default

    **Returns** an `ErrorOverTime`; `test_loss` is half the excess risk, which tends to half of `theories.ridge.risk`.

    **Valid when** there are many inputs, and a number of samples of the same order; the error for a finite problem is
    $O(1/n)$. If $n$ equals the rank, the spectrum of the limit reaches zero, so the limit never stops learning. A
    finite problem follows it until its smallest eigenvalue, about $1/n^2$ of the mean eigenvalue, is learned.

    **Reference:** own result; the equivalents are those behind the risk of ridge regression.

    **Example:**

        >>> import linnet as ln
        >>> curve = ln.theories.one_output.asymptotic(
        ...     [21.0, 1.0], [0.5, 0.5], 200, multiplicities=[1, 299], noise_variance=0.25, threshold=0.01,
        ...     times=[0.0, 0.3, 1.0, 1e4],
        ... )
        >>> risk = ln.theories.ridge.risk([21.0, 1.0], [0.5, 0.5], 200, multiplicities=[1, 299], noise_variance=0.25)
        >>> bool(abs(2 * curve.test_loss[-1] / risk - 1) < 1e-6)
        True
    """
    values, weights = real_array("eigenvalues", eigenvalues, ndim=1), real_array("overlaps", overlaps, ndim=1)
    counts = np.ones(values.size) if multiplicities is None else real_array("multiplicities", multiplicities, ndim=1)
    if not values.size == weights.size == counts.size:
        raise ValueError(
            "`eigenvalues`, `overlaps` and `multiplicities` must have the same length: got "
            f"{values.size}, {weights.size} and {counts.size}."
        )
    if (values < 0).any() or (weights < 0).any() or (counts <= 0).any() or not (values > 0).any():
        raise ValueError("`eigenvalues` and `overlaps` must not be negative, `multiplicities` must be positive.")
    n, g, clock = positive("samples", samples), positive("threshold", threshold), times_array("times", times)
    noise = non_negative("noise_variance", noise_variance)
    kept = values > 0
    _refuse_extremes(values[kept], weights, float(counts[kept].sum()), n, noise)
    population = _population(*(tuple(part[kept].tolist()) for part in (values, weights, counts)), n)
    signal = float(values @ weights)
    if signal == 0 and noise == 0:
        raise ValueError("`overlaps` must not all be zero without `noise_variance`: there is nothing to learn.")
    inner, outer = population.contours
    power = -outer.weights * outer.nodes * (outer.along - noise * outer.transform)
    size = float(np.sqrt(max(np.sum(power.real), np.finfo(float).tiny)))
    rates = np.concatenate([inner.nodes, outer.nodes])
    split = inner.nodes.size
    filtered, lengths = Clock(rates, np.append(np.zeros(split), power), g, size).at(clock)
    learned = np.sqrt(lengths)[:, None] * filtered * rates  # z F(z), which tends to 1
    left, learned = 1 - learned, learned[:, split:]
    fitted = -((outer.weights * outer.along) * left[:, split:] ** 2).sum(-1).real
    unfit = ((outer.weights * outer.transform) * left[:, split:] ** 2).sum(-1).real + max(population.excess, 0.0)
    variance = -((learned**2 * outer.weights) @ (1 / (outer.nodes**2 * outer.transform))).real
    test = population.test_bias(left[:, :split], left[:, split:]) + noise * variance
    return ErrorOverTime(clock, 0.5 * (fitted + noise * unfit), 0.5 * test, g)


def _refuse_extremes(values: np.ndarray, weights: np.ndarray, rank: float, samples: float, noise: float) -> None:
    """Refuses sizes whose contours would need too many nodes, or leave the range of numbers."""
    least, largest = values.min(), values.max()
    if largest > _MAX_SIZE or least < 1 / _MAX_SIZE:
        raise ValueError(
            f"`eigenvalues` must lie between {1 / _MAX_SIZE:g} and {_MAX_SIZE:g}, or be 0: got {least:.3g} to "
            f"{largest:.3g}. Choose other units of the inputs."
        )
    if largest > _MAX_RANGE * least:
        raise ValueError(
            f"`eigenvalues` must lie within a factor of {_MAX_RANGE:g} of each other: got {least:.3g} to "
            f"{largest:.3g}. Set the negligible ones to 0."
        )
    for name, size in (("overlaps", weights.max()), ("noise_variance", noise)):
        if size > _MAX_SIZE:
            raise ValueError(
                f"`{name}` must be at most {_MAX_SIZE:g}: got {size:.3g}. Choose other units of the labels."
            )
    if not 1 / _MAX_RATIO <= samples / rank <= _MAX_RATIO:
        raise ValueError(
            f"`samples` must be within a factor of {_MAX_RATIO:g} of the number of modes, {rank:g}: got {samples:.3g}."
        )


@lru_cache(maxsize=1)  # several thresholds are asked of one population in a row
def _population(
    values: tuple[float, ...], weights: tuple[float, ...], counts: tuple[float, ...], samples: float
) -> _Population:
    """Return the population, whose contours do not depend on the network."""
    return _Population(np.array(values), np.array(weights), np.array(counts), samples)


class _Contour:
    """Nodes on the upper half of a closed curve around the spectrum, and what the integrands need there.

    `weights` make a sum over nodes, real part taken, the integral $-\\frac{1}{2\\pi i} \\oint$ of a function that is
    real on the real axis.
    """

    def __init__(self, nodes: np.ndarray, weights: np.ndarray, transform: np.ndarray, population: _Population):
        self.nodes, self.weights, self.transform = nodes, weights, transform
        self.shrunk = 1 / (1 + transform[:, None] * population.values)  # (node, mode)
        self.along = self.shrunk @ population.weights  # -z beta^T R beta


class _Population:
    """Eigenvalues, squared overlaps, multiplicities and number of samples."""

    def __init__(self, values: np.ndarray, weights: np.ndarray, counts: np.ndarray, samples: float):
        self.values, self.weights, self.counts = values, weights, counts
        self.samples = samples
        self.excess = (
            float(samples - counts.sum()) / samples
        )  # the fraction of samples beyond the rank, or minus the lack

    def inverse(self, m: np.ndarray | float) -> np.ndarray:
        """z as a function of its Stieltjes transform m, without cancellation where n is near the rank."""
        m = np.asarray(m)
        return -(self.excess + (self.counts / (1 + m[..., None] * self.values)).sum(-1) / self.samples) / m

    @property
    def transform_at_zero(self) -> float:
        """m at z = 0 with fewer samples than the rank, by Newton's method from below: the function is convex."""
        m = 0.0
        for _ in range(400):
            shares = self.counts / (1 + m * self.values) / self.samples
            step = (self.excess + shares.sum()) / (shares * self.values / (1 + m * self.values)).sum()
            m += step
            if step <= 1e-15 * m:
                break
        return m

    def edges(self) -> tuple[float, float]:
        """The ends of the positive spectrum: extrema of z(m) on the real intervals of m next to it."""
        small, large = self.values.min(), self.values.max()

        from scipy.optimize import minimize_scalar

        def top(u: np.ndarray) -> np.ndarray | float:  # m from -1/large to 0
            return self.inverse(-1 / (large * (1 + np.exp(u))))

        def bottom(
            u: np.ndarray,
        ) -> np.ndarray | float:  # m below -1/small with more samples than modes, above 0 with fewer
            m = -(1 + np.exp(u)) / small if self.excess > 0 else np.exp(u) / small
            return -self.inverse(m)

        def extreme(function: Callable[[np.ndarray], np.ndarray | float]) -> float:
            grid = np.linspace(-33, 60, 400)  # beyond, the pole itself is hit
            best = int(np.argmin(function(grid)))
            around = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
            return float(minimize_scalar(function, bounds=around, method="bounded", options={"xatol": 1e-12}).fun)

        return max(-extreme(bottom), 0.0), extreme(top)

    @cached_property
    def contours(self) -> tuple[_Contour, _Contour]:
        """An inner contour and an outer one."""
        inner, outer = (self.contour(height) for height in _HEIGHTS)
        return inner, outer

    def contour(self, height: float) -> _Contour:
        """An ellipse around the spectrum in the plane of log z."""
        low, high = self.edges()
        low = max(low, _LOWEST * high)
        middle, half = (np.log(high) + np.log(low)) / 2, (np.log(high) - np.log(low)) / 2
        wide = np.hypot(half, height)  # the ends of the spectrum are the foci
        count = 2 * int(np.ceil(_NODES_PER_ASPECT * max(wide / height, 1.0) / 2)) + 16
        angles = np.pi * (np.arange(count) + 0.5) / count
        log_nodes = middle + wide * np.cos(angles) + 1j * height * np.sin(angles)
        nodes = np.exp(log_nodes)
        step = nodes * (-wide * np.sin(angles) + 1j * height * np.cos(angles)) * (np.pi / count)
        weights = 2 * (-1 / (2j * np.pi)) * step  # both halves, real part taken
        return _Contour(nodes, weights, self._transforms(nodes), self)

    def _transforms(self, nodes: np.ndarray) -> np.ndarray:
        """m at the nodes, followed from far away, where it is -1/z, by Newton's method."""
        far = 1e3 * (abs(nodes[0]) + self.values @ self.counts / self.samples + self.values.max())
        path = np.exp(np.linspace(np.log(far), np.log(nodes[0]), 40))
        m, result = -1 / path[0], []
        for z in np.concatenate([path, nodes]):
            m = self._newton(z, m)
            result.append(m)
        return np.array(result[path.size :])

    def _newton(self, z: complex, guess: complex) -> complex:
        """The root near the guess with a positive imaginary part, in the unknown 1/m, by damped steps."""
        for damping in (1.0, 0.5, 0.2):
            m, last = guess, np.inf
            for _ in range(200):
                shares = self.counts / (1 + m * self.values) / self.samples
                gap = z + (self.excess + shares.sum()) / m
                slope = -(gap - z + (shares * self.values / (1 + m * self.values)).sum()) / m
                step = gap / slope
                step *= min(1.0, 0.5 * abs(m) / abs(step)) if step else 1.0
                m = m - damping * step
                size = abs(step) / abs(m)
                if size <= 4e-16 or last <= size < 1e-13:  # rounding: it does not become smaller
                    break
                last = size
            if m.imag >= 0 or abs(z.imag) < 1e-12 * abs(z):
                return m
        raise ArithmeticError(f"no Stieltjes transform was found at z = {z:.6g}.")

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        r"""$\beta^T R_1 \Sigma R_2 \beta$, times $z_1 z_2$, between the nodes of both contours, (inner, outer).

        Conjugate pairs of both nodes are conjugate, pairs of one node alone are not: the outer nodes in both halves.
        With fewer samples than the rank each contour has one node more, the pole at zero of directions without data.
        """
        (m_one, shrunk_one), (m_two, shrunk_two) = ((each.transform, each.shrunk) for each in self.contours)
        if self.excess < 0:
            m = self.transform_at_zero
            rest = 1 / (1 + m * self.values)
            m_one, m_two = np.append(m_one, m), np.append(m_two, m)
            shrunk_one, shrunk_two = np.vstack([shrunk_one, rest]), np.vstack([shrunk_two, rest])

        def between(m_two: np.ndarray, shrunk_two: np.ndarray) -> np.ndarray:
            top = (shrunk_one * (self.weights * self.values)) @ shrunk_two.T
            shares = self.counts * self.values**2 / self.samples
            traces = (m_one[:, None] * shrunk_one * shares) @ (m_two[:, None] * shrunk_two).T
            np.subtract(1, traces, out=traces)
            return np.divide(top, traces, out=top)

        return between(m_two, shrunk_two), between(m_two.conj(), shrunk_two.conj())

    def test_bias(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        r"""$\beta^T f(S)\, \Sigma f(S)\, \beta$ of functions f given at the nodes, (time, node), with f(0) = 1."""
        inner, outer = self.contours
        left, right = -left * inner.weights / inner.nodes, -right * outer.weights / outer.nodes
        if self.excess < 0:
            left, right = (np.pad(part, ((0, 0), (0, 1)), constant_values=1) for part in (left, right))
        upper, lower = self.pairs
        return 0.5 * ((left @ upper) * right + (left @ lower) * right.conj()).sum(-1).real
