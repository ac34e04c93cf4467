"""One output, any data, any initialization: the predictor over time, as a spectral filter with its own time scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import positive, refuse_infinite, representable, times_array
from linnet.problems.problem import Problem, squared_loss
from linnet.theories.one_output.clock import Clock

if TYPE_CHECKING:
    import xarray as xr


@representable
def product_over_time(problem: Problem, threshold: float, times: ArrayLike) -> Float[np.ndarray, "time input"]:
    r"""Return the coefficients $b(t) = W_1^T W_2^T$ that a network with one output has learned over time.

    It is exact for any data and takes one SVD. If you only need losses, `error_over_time` returns them directly.

    $$ \dot b = (q + g)\, G + (q - g)\, \frac{b b^T G}{|b|^2}, \qquad q = \sqrt{g^2 + |b|^2}, \quad G = c - S b, $$

    This is solved by $b = \sqrt{a}\, z$ with $a = 2g + |z|^2$. In the rescaled time T with $dT = a\,dt$, z follows the
    linear filter $dz/dT = c/\sqrt{a} - S z$. After one thin SVD of the data, each step costs as much as their rank.

    **Arguments:**

    - `problem`: learning problem with one output, covariance $S$ and cross moment $c$
    - `threshold`: threshold $g = (p + m)/2$, with $W_1(0)^T W_1(0) = p I$ and $m = |W_2(0)|^2$; for Gaussian weights of
      width w, $p = w \sigma_1^2$ and $m = w \sigma_2^2$
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $b(t)$, (time, input).

    **Valid when** the initial product is negligible and the singular values of the first layer are equal: an orthogonal
    layer, or a Gaussian one that is much wider than the number of inputs. The result is then exact for any covariance
    and any number of samples. For a small threshold it becomes `theories.aligned_flow.aligned_flow`, for a large one
    the lazy flow $\dot b = 2 g G$. For several outputs, use `theories.lazy_active.integrate`.

    **Reference:** own result; Varre et al. 2023, Theorem 3.2(b), is the mirror flow of the same predictor.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> problem = ln.Problem.from_moments(np.diag([4.0, 1.0]), [[2.0, 1.0]])
        >>> ln.theories.one_output.product_over_time(problem, 0.1, [0.0, 1.0, 50.0]).round(3).tolist()
        [[0.0, 0.0], [0.486, 0.447], [0.5, 1.0]]
    """
    modes = _modes(problem)
    values, lengths = modes.filtered(threshold, times)
    return (np.sqrt(lengths)[:, None] * values * modes.cross) @ modes.basis.T


@dataclass(frozen=True)
class ErrorOverTime:
    """Result of `error_over_time`: training and test loss over time.

    **Attributes:**

    - `times`: times (learning rate times number of steps), (time,)
    - `loss`: training loss, half the mean squared error, (time,)
    - `test_loss`: half the mean squared difference from the predictions of the signal, (time,); None without a signal
    - `threshold`: threshold of the initialization

    **Example:**

        >>> import linnet as ln
        >>> problem = ln.problems.spiked_covariance(40, spike=5.0, alignment=0.5, samples=30, noise_std=0.5, key=0)
        >>> curve = ln.theories.one_output.error_over_time(problem, 0.01)
        >>> bool(curve.min_test_loss < curve.test_loss[-1])  # label noise: early stopping helps
        True
    """

    times: Float[np.ndarray, " time"]
    loss: Float[np.ndarray, " time"]
    test_loss: Float[np.ndarray, " time"] | None
    threshold: float

    @property
    def best_time(self) -> float:
        """Time, among `times`, at which the test loss is minimal."""
        return float(self.times[int(np.argmin(self._tested))])

    @property
    def min_test_loss(self) -> float:
        """Minimum test loss over the times."""
        return float(self._tested.min())

    @property
    def _tested(self) -> np.ndarray:
        if self.test_loss is None:
            raise ValueError("the problem has no `truth`: there is no test error to minimize.")
        return self.test_loss

    def to_dataset(self) -> xr.Dataset:
        """An xarray dataset along `time`."""
        import xarray as xr

        losses = {"loss": self.loss} | ({} if self.test_loss is None else {"test_loss": self.test_loss})
        variables = {name: ("time", values) for name, values in losses.items()}
        return xr.Dataset(variables, {"time": self.times}, {"threshold": self.threshold, "units": "canonical"})


@representable
def error_over_time(problem: Problem, threshold: float, times: ArrayLike | None = None) -> ErrorOverTime:
    """Return training loss, test loss and the best stopping time of a network with one output, without training.

    It takes one SVD, so it is fast to vary noise, covariance and initialization. For several outputs, use
    `theories.lazy_active.integrate`; in the limit of many inputs and samples, `asymptotic` needs no data.

    **Arguments:**

    - `problem`: learning problem with one output; the test loss needs its `truth`
    - `threshold`: threshold $g$, as in `product_over_time`
    - `times`: times (learning rate times number of steps), (time,); by default 400 times that cover the whole run on a
      logarithmic scale

    **Returns** an `ErrorOverTime`.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> problem = ln.Problem.from_moments(np.diag([4.0, 1.0]), [[2.0, 1.0]])
        >>> ln.theories.one_output.error_over_time(problem, 0.1, [0.0, 1.0]).loss.round(3).tolist()
        [1.0, 0.153]
    """
    modes = _modes(problem)
    clock = _whole_run(modes, positive("threshold", threshold)) if times is None else times_array("times", times)
    products = product_over_time(problem, threshold, clock)[:, None, :]
    test = None if problem.truth is None else np.asarray(problem.test_loss(products))
    return ErrorOverTime(clock, np.asarray(problem.loss(products)), test, float(threshold))


class _Modes:
    """The data in the eigenbasis of the inputs: rates, cross moments, directions."""

    def __init__(self, problem: Problem):
        factor = problem.factor
        scales = np.asarray(factor.scales, dtype=float)
        order = np.argsort(-scales, kind="stable")
        self.rates = scales[order] ** 2
        self.cross = (np.asarray(factor.target).reshape(-1) * scales)[order]
        basis = np.eye(scales.size) if factor.basis is None else np.asarray(factor.basis)
        self.basis = basis[:, order]

    def filtered(self, threshold: float, times: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The integrals of `residual_filter` without their prefactor, and a, at the times."""
        g, clock = positive("threshold", threshold), times_array("times", times)
        squares = self.cross**2
        refuse_infinite(self.rates, squares)
        size = float(np.sqrt(squares.sum()))
        return Clock(self.rates, squares, g, size).at(clock)


def _modes(problem: Problem) -> _Modes:
    if squared_loss(problem).out_dim != 1:
        raise ValueError(
            f"`problem` must have one output: got {problem.out_dim}. Several outputs turn each other's directions, so "
            "no scalar clock exists; use `theories.lazy_active.integrate`, or one problem for each output."
        )
    return _Modes(problem)


def _whole_run(modes: _Modes, threshold: float) -> np.ndarray:
    """Times from the first growth to the end of the slowest mode, on a logarithmic scale."""
    size = float(np.linalg.norm(modes.cross))
    solution = float(np.linalg.norm(modes.cross / modes.rates)) if modes.rates.size else 0.0
    if not size or not np.isfinite(solution):
        return np.array([0.0, 1.0])
    speed = float(np.hypot(threshold, solution)) + threshold  # of b along G, at the end
    growth = np.arcsinh(solution / threshold) / size  # the time in which a small initialization grows
    last = growth + 12 / (modes.rates.min() * speed)
    first = 1e-3 * min(1 / size, 1 / (modes.rates.max() * speed))
    grid = np.geomspace(first, last, 200)
    return np.unique(np.concatenate([[0.0], grid, np.linspace(0, min(last, 3 * growth + 10 * first), 200)]))
