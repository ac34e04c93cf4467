"""Small synthetic data: Gaussian or orthogonal inputs with a linear truth, and the labels of a ReLU teacher."""

from __future__ import annotations

import numpy as np

from linnet._arguments import count
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.problems.problem import Problem


def gaussian_regression(*, samples: int, in_dim: int, key: Key, out_dim: int = 1) -> Problem:
    """Make a problem with standard normal inputs and labels $y = A x$ without noise, with a standard normal signal A.

    To add noise, use `low_rank_plus_noise` or `spiked_covariance`.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `samples`: number of samples $n$
    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$

    **Returns** a `Problem` made from data, whose `.truth` is the signal.

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import gaussian_regression
        >>> problem = gaussian_regression(key=0, samples=50, in_dim=3)
        >>> bool(np.allclose(problem.min_norm_solution(), problem.truth))
        True
    """
    n, d, k = count("samples", samples), count("in_dim", in_dim), count("out_dim", out_dim)
    _check_fits((n + k) * (d + k), f"`samples` = {n}, `in_dim` = {d} and `out_dim` = {k}")
    random = generator(key, 0)
    inputs, truth = random.standard_normal((n, d)), random.standard_normal((k, d))
    return Problem.from_data(inputs, inputs @ truth.T, truth=truth)


def orthogonal_regression(*, in_dim: int, key: Key, out_dim: int = 1) -> Problem:
    r"""Make a regression problem from data that are whitened exactly, so that closed forms apply.

    It has as many samples as inputs. Inputs are orthogonal with $\Sigma = I$, and labels are those of a standard normal
    signal without noise. For random inputs, use `gaussian_regression`.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `in_dim`: number of inputs $d$, which is also the number of samples
    - `out_dim`: number of outputs $k$

    **Returns** a `Problem` made from data, whose `.truth` is the signal.

    **Example:**

        >>> from linnet.problems import orthogonal_regression
        >>> orthogonal_regression(key=0, in_dim=2).cov.round(12).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    d, k = count("in_dim", in_dim), count("out_dim", out_dim)
    _check_fits(3 * d * (d + k), f"`in_dim` = {d} and `out_dim` = {k}")
    random = generator(key, 1)
    frame, triangle = np.linalg.qr(random.standard_normal((d, d)))
    inputs, truth = np.sqrt(d) * frame * np.sign(np.diagonal(triangle)), random.standard_normal((k, d))
    return Problem.from_data(inputs, inputs @ truth.T, truth=truth)


def relu_teacher(*, samples: int, in_dim: int, neurons: int, key: Key, out_dim: int = 1) -> Problem:
    """Make a problem with standard normal inputs, labeled by a two-layer ReLU network with standard normal weights.

    It is for comparisons with `trainers.relu_descent`; a linear network cannot represent the teacher.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `samples`: number of samples $n$
    - `in_dim`: number of inputs $d$
    - `neurons`: number of neurons of the teacher
    - `out_dim`: number of outputs $k$

    **Returns** a `Problem` made from data; a linear network cannot fit it.

    **Example:**

        >>> from linnet.problems import relu_teacher
        >>> problem = relu_teacher(key=0, samples=200, in_dim=3, neurons=4)
        >>> bool(problem.loss(problem.min_norm_solution()) > 0)
        True
    """
    n, d, m = count("samples", samples), count("in_dim", in_dim), count("neurons", neurons)
    k = count("out_dim", out_dim)
    _check_fits((n + m) * (d + k + m), f"`samples` = {n}, `in_dim` = {d} and `neurons` = {m}")
    random = generator(key, 2)
    inputs = random.standard_normal((n, d))
    first, second = random.standard_normal((m, d)), random.standard_normal((k, m))
    return Problem.from_data(inputs, np.maximum(inputs @ first.T, 0) @ second.T)


def _check_fits(numbers: int, size: str) -> None:
    """Refuses samples that memory would not hold, before any is drawn."""
    check_fits(8 * numbers, f"a problem of {size}", "Use a smaller one.")
