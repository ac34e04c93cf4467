"""A linear teacher on sub-Gaussian inputs of any covariance: the data of the feature-learning paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linnet import _arguments as arguments
from linnet._memory import check_fits
from linnet._randomness import Key, generator

if TYPE_CHECKING:
    from linnet.problems.problem import Problem

ENTRIES = ("gaussian", "rademacher", "uniform")


@dataclass(frozen=True)
class Regression:
    r"""Samples of a linear regression $y = \langle x, \beta\rangle + \epsilon$, with the distribution they were drawn
    from.

    `subgaussian_regression` and `gaussian_teacher` make it. `.problem()` returns it as a `Problem` for the trainers.

    **Attributes:**

    - `inputs`: inputs, (sample, input)
    - `outputs`: outputs, (sample,), or (sample, output)
    - `teacher`: coefficients $\beta$, (input,), or (output, input)
    - `eigenvalues`: eigenvalues of $\Sigma = E[x x^T]$, (input,)
    - `signal`: standard deviation $\sqrt{\beta^T \Sigma \beta}$ of the outputs without noise
    - `noise_variance`: variance of $\epsilon$

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import gaussian_teacher
        >>> data = gaussian_teacher(key=0, samples=5, dim=100, signal=1.0)
        >>> data.inputs.shape, round(float(np.linalg.norm(data.teacher)), 6)
        ((5, 100), 1.0)
    """

    inputs: np.ndarray
    outputs: np.ndarray
    teacher: np.ndarray
    eigenvalues: np.ndarray
    signal: float
    noise_variance: float

    @property
    def samples(self) -> int:
        """The number of samples."""
        return self.inputs.shape[0]

    @property
    def in_dim(self) -> int:
        """The number of inputs."""
        return self.inputs.shape[1]

    @property
    def trace(self) -> float:
        """The trace of the covariance."""
        return float(self.eigenvalues.sum())

    @property
    def operator_norm(self) -> float:
        """The largest eigenvalue of the covariance."""
        return float(self.eigenvalues.max())

    @property
    def frobenius_norm(self) -> float:
        """The Frobenius norm of the covariance."""
        return float(np.sqrt((self.eigenvalues**2).sum()))

    def problem(self) -> Problem:
        """The regression as a `Problem`, with the teacher as its truth."""
        from linnet.problems.problem import Problem

        return Problem.from_data(self.inputs, self.outputs, truth=np.atleast_2d(self.teacher))


@arguments.representable
def subgaussian_regression(
    *,
    samples: int,
    covariance: ArrayLike,
    teacher: ArrayLike,
    key: Key,
    noise_variance: float = 0.0,
    entries: str = "gaussian",
) -> Regression:
    r"""Draw samples of a noisy linear regression whose inputs may be non-Gaussian.

    The inputs are $x = U \Lambda^{1/2} z$, where $z$ has independent entries and $U \Lambda U^T$ is the covariance. For
    standard normal inputs, `gaussian_teacher` is shorter.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `samples`: number of samples $n$
    - `covariance`: covariance $\Sigma$: its eigenvalues (input,) for a diagonal one, or the matrix (input, input)
    - `teacher`: coefficients $\beta$, (input,), or (output, input) for many outputs
    - `noise_variance`: variance of the Gaussian noise on the labels
    - `entries`: distribution of the components of $z$: `"gaussian"`, `"rademacher"` or `"uniform"`

    **Returns** a `Regression`.

    **Reference:** Huang et al. 2025, section 3.2 and eq. (1).

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import subgaussian_regression
        >>> data = subgaussian_regression(key=0, samples=4, covariance=[4, 1], teacher=[1, 0], entries="rademacher")
        >>> np.abs(data.outputs).tolist()  # plus or minus the standard deviation along the teacher
        [2.0, 2.0, 2.0, 2.0]
    """
    n = arguments.count("samples", samples)
    sigma = arguments.real_array("covariance", covariance, ndim=(1, 2))
    beta = arguments.real_array("teacher", teacher, ndim=(1, 2))
    variance = arguments.non_negative("noise_variance", noise_variance)
    values, vectors = _eigen_decomposition(sigma)
    if beta.shape[-1] != values.size:
        raise ValueError(f"`teacher` must have one entry per input, {values.size}: got {beta.shape[-1]}.")
    _check_fits(n, values.size, beta.size // values.size)
    inputs = _draw_entries(generator(key, 0), (n, values.size), entries) * np.sqrt(values)
    rotated = beta
    if vectors is not None:
        inputs, rotated = inputs @ vectors.T, beta @ vectors
    noise = generator(key, 1).standard_normal((n, *beta.shape[:-1])) * np.sqrt(variance)
    signal = float(np.sqrt((values * rotated**2).sum()))
    return Regression(inputs, inputs @ beta.T + noise, beta, values, signal, variance)


@arguments.representable
def gaussian_teacher(
    *,
    key: Key,
    samples: int = 10,
    dim: int = 10_000,
    out_dim: int | None = None,
    noise_variance: float = 0.01,
    signal: float | None = None,
) -> Regression:
    r"""Draw samples of a linear regression with standard normal inputs and a standard normal teacher.

    It is the synthetic experiment of Huang et al., section 6. For other distributions or covariances, use
    `subgaussian_regression`.

    In section 6 the norm of the teacher is about $\sqrt{d}$. With the initialization of section 6, this violates
    conditions (2)-(4) of Assumption 4.1. `signal=1.0` and the scales of `theories.feature_learning.admissible` satisfy
    the whole assumption.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `samples`: number of samples $n$
    - `dim`: number of inputs $d$
    - `out_dim`: number of outputs
    - `noise_variance`: variance of the noise on the labels
    - `signal`: Frobenius norm to which the teacher is rescaled; by default it is not rescaled

    **Returns** a `Regression`.

    **Reference:** Huang et al. 2025, section 6.

    **Example:**

        >>> from linnet.problems import gaussian_teacher
        >>> data = gaussian_teacher(key=0, samples=10, dim=1000)
        >>> data.inputs.shape, data.outputs.shape
        ((10, 1000), (10,))
    """
    d = arguments.count("dim", dim)
    lead = () if out_dim is None else (arguments.count("out_dim", out_dim),)
    _check_fits(arguments.count("samples", samples), d, math.prod(lead))
    teacher = generator(key, 2).standard_normal((*lead, d))
    if signal is not None:
        teacher *= arguments.positive("signal", signal) / np.linalg.norm(teacher)
    return subgaussian_regression(
        key=key, samples=samples, covariance=np.ones(d), teacher=teacher, noise_variance=noise_variance
    )


def _check_fits(samples: int, dim: int, outputs: int) -> None:
    """Refuse a sample that memory would not hold."""
    check_fits(
        24 * (samples * dim + samples * outputs + dim * outputs + dim),
        f"{samples} samples of {dim} inputs and {outputs} outputs",
        "Take fewer `samples`, inputs or outputs.",
    )


def _eigen_decomposition(sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the eigenvalues of a covariance, and its eigenvectors where it is a matrix and not a list of variances."""
    if sigma.ndim == 1:
        values, vectors = sigma, None
    else:
        if sigma.shape[0] != sigma.shape[1] or not np.allclose(sigma, sigma.T, rtol=1e-10, atol=1e-12):
            raise ValueError(f"`covariance` must be symmetric: got a matrix of shape {sigma.shape} that is not.")
        values, vectors = np.linalg.eigh(sigma)
        values = np.where(np.abs(values) < 1e-12 * np.abs(values).max(), 0.0, values)
    if (values < 0).any() or values.max() == 0:
        raise ValueError(f"`covariance` must be positive: its smallest eigenvalue is {values.min():.3g}.")
    return values, vectors


def _draw_entries(random: np.random.Generator, shape: tuple[int, ...], entries: str) -> np.ndarray:
    """Draw independent entries of mean 0 and variance 1 from the law named `entries`."""
    if entries == "gaussian":
        return random.standard_normal(shape)
    if entries == "rademacher":
        return random.choice([-1.0, 1.0], size=shape)
    if entries == "uniform":
        return random.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=shape)
    raise ValueError(f"`entries` must be one of {', '.join(ENTRIES)}: got {entries!r}.")
