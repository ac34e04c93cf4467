"""A learning problem: the moments of the data, or any differentiable cost of the product."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, none_negative, of_kind, real_array, representable
from linnet.problems import _general_cost as general_cost
from linnet.problems import factor as factors
from linnet.problems._moments import checked_truth, covariance, moment_of
from linnet.problems._validation import Validation, samples, validation
from linnet.problems.factor import Factor


class Problem:
    r"""Learning problem for the product $A = W_2 W_1$ (output x input).

    $$ L(A) = \tfrac12 E|y - A x|^2, \qquad \Sigma = E[x x^T], \quad \Gamma = E[y x^T] $$

    Make one with `from_data`, `from_moments`, `from_target` or `from_cost`. With a leading batch axis, the arrays hold
    many problems of one shape. The test loss is the distance to `truth`, with the covariance `test_cov` (by
    default the training covariance).

    **Arguments:**

    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `cov`: covariance $\Sigma$, ([batch,] input, input)
    - `cross`: input-output correlation $\Gamma$, ([batch,] output, input)
    - `output_power`: power of the outputs, $E|y|^2$
    - `inputs`: inputs $X$, ([batch,] sample, input)
    - `outputs`: outputs $Y$, ([batch,] sample, output)
    - `truth`: signal with which the test loss compares, ([batch,] output, input)
    - `test_cov`: covariance of the inputs in the test loss; the training covariance by default
    - `cost`: general cost of the product, written with `jax.numpy`
    - `whitened`: whether $\Sigma$ is the identity and is not stored

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import Problem
        >>> problem = Problem.from_moments(np.diag([4.0, 1.0]), [[2.0, 1.0]])
        >>> problem.min_norm_solution().tolist(), problem.in_dim
        ([[0.5, 1.0]], 2)
    """

    def __init__(
        self,
        *,
        in_dim: int,
        out_dim: int,
        cov: np.ndarray | None = None,
        cross: np.ndarray | None = None,
        output_power: np.ndarray | None = None,
        inputs: np.ndarray | None = None,
        outputs: np.ndarray | None = None,
        truth: np.ndarray | None = None,
        test_cov: np.ndarray | None = None,
        cost: Callable[[Any], Any] | None = None,
        whitened: bool = False,
    ) -> None:
        self.in_dim, self.out_dim = in_dim, out_dim
        self.inputs, self.outputs = inputs, outputs
        self.output_power = output_power
        self.truth = truth
        self.cost = cost
        self.whitened = whitened
        self.validation: Validation | None = None
        self._cov, self._cross, self._test_cov = cov, cross, test_cov
        for array in (cov, cross, output_power, inputs, outputs, truth, test_cov):
            if array is not None:
                array.setflags(write=False)  # losses and factors are computed once, from these
        _ = self.batch  # refuses arrays of different batches now rather than later

    @classmethod
    def from_data(
        cls, X: ArrayLike, Y: ArrayLike, *, truth: ArrayLike | None = None, test_cov: ArrayLike | None = None
    ) -> Problem:
        r"""Make a learning problem from samples.

        The loss is half the mean squared error of the product $A$, $\frac{1}{2n} \sum_{i=1}^n |y_i - A x_i|^2$. The
        columns are used as they are, neither centered nor scaled. Because the model has no intercept, you should
        usually subtract the means first. If you know the covariance instead of samples, use `from_moments`; for
        whitened inputs, `from_target` needs only the target matrix.

        **Arguments:**

        - `X`: inputs, one sample per row, ([batch,] sample, input)
        - `Y`: outputs, one sample per row, ([batch,] sample, output); (sample,) for one output
        - `truth`: signal $A^*$ with which the test loss compares, (output, input); without it there is no test loss
        - `test_cov`: covariance of the inputs in the test loss, (input, input); the default is $\frac1n X^T X$

        **Returns** a `Problem`. Add held-out samples with `with_validation(X, Y)`.

        **Example:**

            >>> import linnet as ln
            >>> problem = ln.Problem.from_data([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
            >>> problem.min_norm_solution().round(6).tolist()
            [[1.0, 2.0]]
        """
        inputs, outputs = samples(X, Y)
        in_dim, out_dim = inputs.shape[-1], outputs.shape[-1]
        return cls(
            in_dim=in_dim,
            out_dim=out_dim,
            inputs=inputs,
            outputs=outputs,
            truth=checked_truth(truth, out_dim, in_dim),
            test_cov=covariance("test_cov", test_cov, in_dim),
        )

    @classmethod
    def from_moments(
        cls,
        cov: ArrayLike,
        cross: ArrayLike,
        *,
        output_power: ArrayLike | None = None,
        truth: ArrayLike | None = None,
        test_cov: ArrayLike | None = None,
    ) -> Problem:
        r"""Make a learning problem from moments, for a population or a theory. Samples are for `from_data`.

        **Arguments:**

        - `cov`: covariance of the inputs $E[x x^T]$, ([batch,] input, input)
        - `cross`: input-output correlation $E[y x^T]$, ([batch,] output, input)
        - `output_power`: power of the outputs $E|y|^2$; the default is the smallest that the moments allow, so that the
          loss of the minimum-norm solution is zero
        - `truth`: signal $A^*$ with which the test loss compares, (output, input)
        - `test_cov`: covariance of the inputs in the test loss; the default is `cov`

        **Returns** a `Problem`.
        """
        matrix = real_array("cross", cross, ndim=(1, 2, 3))
        matrix = matrix[None, :] if matrix.ndim == 1 else matrix
        out_dim, in_dim = matrix.shape[-2:]
        checked = covariance("cov", cov, in_dim)
        if checked is None:
            raise ValueError("`cov` must be given: the (d, d) second moment of the inputs.")
        power = None
        if output_power is not None:
            power = none_negative("output_power", real_array("output_power", output_power, ndim=(0, 1)))
        return cls(
            in_dim=in_dim,
            out_dim=out_dim,
            cov=checked,
            cross=matrix,
            output_power=power,
            truth=checked_truth(truth, out_dim, in_dim),
            test_cov=covariance("test_cov", test_cov, in_dim),
        )

    @classmethod
    def from_target(cls, target: ArrayLike, *, truth: ArrayLike | None = None) -> Problem:
        r"""Make a learning problem with whitened inputs, whose loss is $\tfrac12 |A - Y|_F^2$ for the target matrix
        $Y$.

        It is the problem of most closed forms. For inputs with a covariance, use `from_moments` or `from_data`.

        **Arguments:**

        - `target`: target matrix $Y$, ([batch,] output, input)
        - `truth`: signal $A^*$ with which the test loss compares, (output, input)

        **Returns** a `Problem`.
        """
        cross = real_array("target", target, ndim=(2, 3))
        out_dim, in_dim = cross.shape[-2:]
        return cls(
            in_dim=in_dim, out_dim=out_dim, cross=cross, whitened=True, truth=checked_truth(truth, out_dim, in_dim)
        )

    @classmethod
    def from_cost(
        cls, cost: Callable[[Any], Any], *, in_dim: int, out_dim: int, truth: ArrayLike | None = None
    ) -> Problem:
        """Make a problem from any differentiable cost of the product.

        `cost(A)` takes the product (k, d), is written with `jax.numpy` and returns a number. If `truth` is given, the
        test loss is |A - truth|^2 / 2. For the squared loss, use the other constructors, for which linnet has closed
        forms.
        """
        if not callable(cost):
            raise ValueError(f"`cost` must be a function of the product A: got {type(cost).__name__}.")
        in_dim, out_dim = count("in_dim", in_dim), count("out_dim", out_dim)
        general_cost.check(cost, (out_dim, in_dim))
        return cls(in_dim=in_dim, out_dim=out_dim, cost=cost, truth=checked_truth(truth, out_dim, in_dim))

    @classmethod
    def stack(cls, problems: Sequence[Problem]) -> Problem:
        """Stack problems of one kind and one shape as a batch along a new leading axis.

        All must come from data, all from moments, or all from targets; either all have a truth, or none.
        """
        if not isinstance(problems, Iterable):
            raise ValueError(f"`problems` must be a list of linnet Problems: got {type(problems).__name__}.")
        given = list(problems)
        if not given:
            raise ValueError("`problems` must be at least one problem: got an empty list.")
        for problem in given:
            if not isinstance(problem, Problem):
                raise ValueError(f"`problems` must be linnet Problems: got {type(problem).__name__}.")
            if problem.cost is not None or problem.batch is not None:
                raise ValueError("`problems` must be single ones with a squared loss: got a batch, or a general cost.")
        first = given[0]
        arrays = ("_cov", "_cross", "output_power", "inputs", "outputs", "truth", "_test_cov")
        stacked: dict[str, Any] = {}
        for name in arrays:
            values = [getattr(problem, name) for problem in given]
            shapes = {None if value is None else value.shape for value in values}
            if len(shapes) > 1:
                word = name.removeprefix("_")
                raise ValueError(
                    f"`problems` must all have the same `{word}`, in one shape or not at all: got {shapes}."
                )
            stacked[name.removeprefix("_")] = None if values[0] is None else np.stack(values)
        if len({problem.whitened for problem in given}) > 1:
            raise ValueError("`problems` must be of one kind: got targets together with moments.")
        whole = cls(in_dim=first.in_dim, out_dim=first.out_dim, whitened=first.whitened, **stacked)
        held = [problem.validation for problem in given if problem.validation is not None]
        if not held:
            return whole
        if len(held) < len(given) or len({samples.inputs.shape for samples in held}) > 1:
            raise ValueError(
                "`problems` must all have the same number of held-out samples, or none: their numbers differ."
            )
        return whole.with_validation(np.stack([v.inputs for v in held]), np.stack([v.outputs for v in held]))

    def with_validation(self, X: ArrayLike, Y: ArrayLike) -> Problem:
        """Return the same problem with held-out samples `X` (n, d) and `Y` (n, k) or (n,), with or without a batch
        axis.

        Runs then have a `Trajectory.validation_loss`, and stopping rules that use the test loss use this loss.

        >>> from linnet.problems import Problem
        >>> problem = Problem.from_data([[1.0], [2.0]], [1.0, 2.0]).with_validation([[3.0]], [2.0])
        >>> problem.validation_loss([[1.0]])
        0.5
        """
        held = copy.copy(self)  # with what was computed already: it does not depend on held-out samples
        held.validation = validation(X, Y, in_dim=self.in_dim, out_dim=self.out_dim)
        held.validation.inputs.setflags(write=False)
        held.validation.outputs.setflags(write=False)
        _ = held.batch
        return held

    def __repr__(self) -> str:
        kind = "cost" if self.cost else "data" if self.inputs is not None else "target" if self.whitened else "moments"
        batch = f", batch={self.batch}" if self.batch else ""
        return f"Problem({kind}, in_dim={self.in_dim}, out_dim={self.out_dim}{batch})"

    @property
    def batch(self) -> int | None:
        """Number of problems along the leading axis; None for a single problem."""
        arrays = [
            (self.inputs, 2),
            (self._cov, 2),
            (self._cross, 2),
            (self.truth, 2),
            (self._test_cov, 2),
            (self.output_power, 0),
        ]
        if self.validation is not None:
            arrays.append((self.validation.inputs, 2))
        sizes = {array.shape[0] for array, ndim in arrays if array is not None and array.ndim > ndim}
        if len(sizes) > 1:
            raise ValueError(f"the arrays of a problem must share one batch size: got {sorted(sizes)}.")
        return sizes.pop() if sizes else None

    @cached_property
    def cov(self) -> np.ndarray:
        """Covariance $\\Sigma$ (d, d). For a problem from data it is computed at first use."""
        if self._cov is not None:
            return self._cov
        if self.whitened:
            return np.eye(self.in_dim)
        inputs = self._inputs_of_moments()
        return moment_of(inputs, inputs)

    @cached_property
    def cross(self) -> np.ndarray:
        """Cross moment $\\Gamma$ (k, d)."""
        if self._cross is not None:
            return self._cross
        inputs = self._inputs_of_moments()
        assert self.outputs is not None
        return moment_of(self.outputs, inputs)

    @property
    def test_cov(self) -> np.ndarray:
        """Covariance of the inputs in the test loss: as given, or that of training."""
        return self.cov if self._test_cov is None else self._test_cov

    @property
    def has_own_test_cov(self) -> bool:
        """Whether the test covariance was given rather than taken from training."""
        return self._test_cov is not None

    @cached_property
    def factor(self) -> Factor:
        """The loss in the eigenbasis of the inputs (see `problems.factor`)."""
        if self.inputs is not None:
            assert self.outputs is not None
            return factors.of_data(self.inputs, self.outputs)
        if self.whitened:
            ones = np.ones(self.cross.shape[:-2] + (self.in_dim,))
            return Factor(ones, None, self.cross, np.zeros(self.cross.shape[:-2]))
        self._needs_square_loss()
        return factors.of_moments(self.cov, self.cross, self.output_power)

    @representable
    def loss(self, A: ArrayLike) -> float | Float[np.ndarray, " ..."]:
        """Training loss $\\tfrac12 E|y - A x|^2$ of `A` (..., k, d), including its constant part; or the cost."""
        A = self._check_product("A", A)
        if self.cost is not None:
            return _scalar(general_cost.values(self.cost, A))
        if self.inputs is not None:
            residual = self.outputs - self.inputs @ np.swapaxes(A, -1, -2)
            return _scalar(0.5 * (residual**2).sum(axis=(-1, -2)) / self.inputs.shape[-2])
        f = self.factor
        rotated = A if f.basis is None else A @ f.basis
        return _scalar(0.5 * ((f.target - rotated * f.scales[..., None, :]) ** 2).sum(axis=(-1, -2)) + f.floor)

    @representable
    def test_loss(self, A: ArrayLike) -> float | Float[np.ndarray, " ..."]:
        """Test loss $\\tfrac12 E|(A - A_{truth}) x|^2$ under the test covariance."""
        if self.truth is None:
            raise ValueError("`test_loss` needs a problem with a `truth`: none was given when the problem was made.")
        difference = self._check_product("A", A) - self.truth
        if self._test_cov is None and self.inputs is not None:
            return _scalar(
                0.5 * ((self.inputs @ np.swapaxes(difference, -1, -2)) ** 2).sum((-1, -2)) / self.inputs.shape[-2]
            )
        if self._test_cov is None and (self.whitened or self.cost is not None):
            return _scalar(0.5 * (difference**2).sum(axis=(-1, -2)))
        return _scalar(0.5 * ((difference @ self.test_cov) * difference).sum(axis=(-1, -2)))

    @representable
    def residual(self, A: ArrayLike) -> Float[np.ndarray, "*batch output input"]:
        r"""Residual $R = \Gamma - A\Sigma = -dL/dA$ of `A` (..., k, d); for a general cost, minus its gradient."""
        A = self._check_product("A", A)
        if self.cost is not None:
            return -general_cost.gradients(self.cost, A)
        if self.inputs is not None:
            left = self.outputs - self.inputs @ np.swapaxes(A, -1, -2)
            return np.swapaxes(left, -1, -2) @ self.inputs / self.inputs.shape[-2]
        return self.cross - (A if self.whitened else A @ self.cov)

    @representable
    def validation_loss(self, A: ArrayLike) -> float | Float[np.ndarray, " ..."]:
        """Held-out loss $\\tfrac12 E|y - A x|^2$ of `A` (..., k, d)."""
        if self.validation is None:
            raise ValueError("`validation_loss` needs held-out samples: give them by `problem.with_validation(X, Y)`.")
        return self.validation.loss(self._check_product("A", A))

    @representable
    def min_norm_solution(self) -> Float[np.ndarray, "*batch output input"]:
        """The minimizer of the loss with the smallest Frobenius norm, (k, d)."""
        f = self.factor
        safe = np.where(f.scales > 0, f.scales, 1.0)[..., None, :]
        solution = np.where(f.scales[..., None, :] > 0, f.target / safe, 0.0)
        return solution if f.basis is None else solution @ np.swapaxes(f.basis, -1, -2)

    def _check_product(self, name: str, value: object) -> np.ndarray:
        """Return the product (..., output, input) as an array, refused where it has another shape."""
        array = real_array(name, value)
        if array.shape[-2:] != (self.out_dim, self.in_dim):
            raise ValueError(
                f"`{name}` must be (..., {self.out_dim}, {self.in_dim}), output x input: got shape {array.shape}."
            )
        return array

    def _needs_square_loss(self) -> None:
        """Refuse a problem of a general cost, which has no moments."""
        if self.cost is not None:
            raise ValueError("a problem made by `from_cost` has no moments: use one from data, moments or a target.")

    def _inputs_of_moments(self) -> np.ndarray:
        """Return the inputs from which moments are formed; refuse a problem of a general cost."""
        self._needs_square_loss()
        assert self.inputs is not None
        return self.inputs


def squared_loss(problem: object, *, outputs: int | None = None) -> Problem:
    """Return a problem that is checked to be a single one with a squared loss, with so many outputs if a number is
    given."""
    of_kind("problem", problem, Problem, "`ln.Problem.from_...`")
    assert isinstance(problem, Problem)
    if problem.cost is not None or problem.batch is not None or outputs not in (None, problem.out_dim):
        with_outputs = "" if outputs is None else f" and {outputs} output"
        raise ValueError(f"`problem` must be a single one with a squared loss{with_outputs}: got {problem}.")
    return problem


def _scalar(value: np.ndarray) -> Any:
    """Return a float for an array without axes, other arrays as they are."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
