"""Regression problems with a given spectrum of the inputs and given overlaps of the target with its directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import (
    count,
    non_negative,
    none_negative,
    partly_representable,
    positive,
    real_array,
    refuse_infinite,
)
from linnet._memory import check_fits
from linnet._randomness import Key, generator, words
from linnet.problems.problem import Problem


@partly_representable
def spectrum(
    eigenvalues: ArrayLike,
    overlaps: ArrayLike,
    *,
    out_dim: int | None = None,
    samples: int | None = None,
    noise_std: float = 0.0,
    key: Key | None = None,
) -> Problem:
    r"""Make a regression problem with given variances of the inputs and given overlaps of the target with each input.

    Use it for any spectrum. For power laws and for spikes, `power_law` and `many_spikes` are shorter.

    $$ \Sigma = \mathrm{diag}(l_1, \dots, l_d), \qquad y = \beta^T x, \qquad (\beta\cdot u_i)^2 \text{ given} $$

    The eigenvectors $u_i$ of the covariance are the coordinate axes. This is no restriction, because the distribution
    of Gaussian initial weights does not change under rotations.

    **Arguments:**

    - `eigenvalues`: eigenvalues $l_i \ge 0$, (input,)
    - `overlaps`: squared projections $(\beta\cdot u_i)^2$ of the target, (input,), or (output, input)
    - `out_dim`: number of outputs, if overlaps have shape (input,); all outputs have these overlaps, with random signs
    - `samples`: number of samples $n$ to draw; the problem then has $\beta$ as `truth` and the covariance of the
      population as `test_cov`. By default no samples are drawn, and the problem has the moments of the population
    - `noise_std`: standard deviation of independent noise on each label. Without samples it adds a constant to the
      loss, half its variance for each output
    - `key`: an integer seed or a JAX key

    **Returns** a `Problem`.

    **Example:**

        >>> from linnet.problems import spectrum
        >>> problem = spectrum([4.0, 1.0], [1.0, 1.0], out_dim=3, key=0, noise_std=2.0)
        >>> float(problem.factor.floor)  # 3 outputs times 2^2/2
        6.0
    """
    values = none_negative("eigenvalues", real_array("eigenvalues", eigenvalues, ndim=1))
    squares = none_negative("overlaps", real_array("overlaps", overlaps, ndim=(1, 2)))
    if squares.shape[-1] != values.size:
        raise ValueError(
            f"`overlaps` must match the spectrum, one for each of its {values.size} eigenvalues: got "
            f"{squares.shape[-1]}."
        )
    noise = non_negative("noise_std", noise_std)
    _check_fits(values.size, samples)
    if key is not None:
        words(key)  # refused where it is none, though a population draws nothing
    target = _targets_of_outputs(np.sqrt(squares), out_dim, key)
    cov = np.diag(values)
    if samples is None:
        power = float((target**2 @ values).sum()) + len(target) * noise**2
        refuse_infinite(power, values * target)
        return Problem.from_moments(cov, values * target, output_power=power, truth=target)
    n = count("samples", samples)
    if key is None:
        raise ValueError("`key` must be given with `samples`: an integer seed or a JAX key.")
    random = generator(key)
    inputs = random.standard_normal((n, values.size)) * np.sqrt(values)
    labels = inputs @ target.T
    if noise:
        labels = labels + noise * random.standard_normal(labels.shape)
    refuse_infinite(inputs, labels)
    return Problem.from_data(inputs, labels, truth=target, test_cov=cov)


@partly_representable
def many_spikes(
    dim: int,
    *,
    spikes: ArrayLike,
    alignments: ArrayLike,
    variance: float = 1.0,
    out_dim: int | None = None,
    samples: int | None = None,
    noise_std: float = 0.0,
    key: Key | None = None,
) -> Problem:
    r"""Make a regression problem whose inputs have several spikes: directions of larger or smaller variance.

    For a single spike, use `spiked_covariance`; for any spectrum, `spectrum`.

    $$ \Sigma = \sigma^2\Big(I + \sum_j \rho_j \mu_j\mu_j^T\Big), \qquad |\beta| = 1, \quad \mu_j\cdot\beta = A_j $$

    $\mu_j$ is axis j of the inputs, and the rest of the target is along the axis after the last spike.

    **Arguments:**

    - `dim`: dimension $d$
    - `spikes`: strengths $\rho_j > -1$ of the spikes, (spike,)
    - `alignments`: alignments $A_j$ with $\sum_j A_j^2 \le 1$, (spike,)
    - `variance`: variance $\sigma^2$ of the inputs without spikes
    - `out_dim`: number of outputs, each with random signs
    - `samples`: number of samples; by default the moments of the population are used
    - `noise_std`: standard deviation of the noise on each label
    - `key`: an integer seed or a JAX key

    **Returns** a `Problem`, as `spectrum` makes it.

    **Example:**

        >>> from linnet.problems import many_spikes
        >>> many_spikes(4, spikes=[9.0, 3.0], alignments=[0.6, 0.0]).cov.diagonal().tolist()
        [10.0, 4.0, 1.0, 1.0]
    """
    rho, A = real_array("spikes", spikes, ndim=1), real_array("alignments", alignments, ndim=1)
    variance, dim = positive("variance", variance), count("dim", dim)
    if A.shape != rho.shape:
        raise ValueError(f"`alignments` must match `spikes`, one for each: got {A.size} for {rho.size}.")
    if (rho <= -1).any():
        raise ValueError(f"`spikes` must exceed -1, or the covariance is not positive definite: got {rho.min():.6g}.")
    if (A < 0).any() or (A > 1).any():
        raise ValueError(f"`alignments` must lie in [0, 1]: got {A.tolist()}.")
    rest = 1.0 - float(A @ A)
    if rest < -1e-12:
        raise ValueError(
            f"`alignments` must have squares that sum to at most 1, as |target| = 1: they sum to {1 - rest:.6g}."
        )
    if dim < rho.size + (rest > 1e-12):
        raise ValueError(f"`dim` must leave room for {rho.size} spikes and the rest of the target: got {dim}.")
    _check_fits(dim, samples)
    values, squares = np.full(dim, variance), np.zeros(dim)
    values[: rho.size] *= 1 + rho
    refuse_infinite(values)
    squares[: rho.size] = A**2
    if rest > 1e-12:
        squares[rho.size] = rest
    return spectrum(values, squares, out_dim=out_dim, samples=samples, noise_std=noise_std, key=key)


def power_law(
    dim: int,
    *,
    decay: float,
    target_decay: float,
    out_dim: int | None = None,
    samples: int | None = None,
    noise_std: float = 0.0,
    key: Key | None = None,
) -> Problem:
    r"""Make a regression problem in which variances of the inputs and overlaps of the target fall as power laws.

    For any other spectrum, use `spectrum`.

    $$ l_i = i^{-\alpha}, \qquad (\beta\cdot u_i)^2 \propto i^{-b}, \quad |\beta| = 1 $$

    **Arguments:**

    - `dim`: dimension $d$
    - `decay`: exponent $\alpha \ge 0$ of the eigenvalues
    - `target_decay`: exponent $b \ge 0$ of the overlaps
    - `out_dim`: number of outputs, each with random signs
    - `samples`: number of samples; by default the moments of the population are used
    - `noise_std`: standard deviation of the noise on each label
    - `key`: an integer seed or a JAX key

    **Returns** a `Problem`, as `spectrum` makes it.

    **Example:**

        >>> from linnet.problems import power_law
        >>> problem = power_law(4, decay=1.0, target_decay=0.0)
        >>> problem.cov.diagonal().round(3).tolist()
        [1.0, 0.5, 0.333, 0.25]
    """
    dim = count("dim", dim)
    _check_fits(dim, samples)
    ranks = np.arange(1, dim + 1, dtype=float)
    squares = ranks ** -non_negative("target_decay", target_decay)
    return spectrum(
        ranks ** -non_negative("decay", decay),
        squares / squares.sum(),
        out_dim=out_dim,
        samples=samples,
        noise_std=noise_std,
        key=key,
    )


def _targets_of_outputs(roots: np.ndarray, out_dim: int | None, key: Key | None) -> np.ndarray:
    """The target of every output, (output, input): `roots` themselves, or with separate signs for each output."""
    if out_dim is None:
        return np.atleast_2d(roots)
    outputs = count("out_dim", out_dim)
    if roots.ndim == 2:
        if len(roots) != outputs:
            raise ValueError(f"`out_dim` must be the number of rows of `overlaps`, {len(roots)}: got {outputs}.")
        return roots
    if outputs == 1:
        return roots[None, :]
    if key is None:
        raise ValueError("`key` must be given with `out_dim`: the signs of each output's target are drawn from it.")
    return roots * generator(key, 4).choice([-1.0, 1.0], size=(outputs, roots.size))


def _check_fits(dim: int, samples: int | None) -> None:
    """Refuse a problem whose covariance and samples memory would not hold."""
    rows = 0 if samples is None else count("samples", samples)
    check_fits(
        16 * dim * (dim + rows),
        f"a problem of {dim} inputs",
        "Take fewer inputs; `theories.ridge.risk` takes equal eigenvalues as `multiplicities`.",
    )
