"""Singular values and vectors, and measures of rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from linnet._arguments import non_negative, real_array, representable


@representable
def singular_values(matrix: ArrayLike) -> Float[np.ndarray, "*batch mode"]:
    """Return the singular values of a matrix, in decreasing order.

    For the product along a run, use `run.singular_values`.

    **Arguments:**

    - `matrix`: matrix or matrices, (..., row, column), for example `weights.first` or `weights.product`

    **Returns** the singular values, (..., mode).

    **Example:**

        >>> from linnet.observables import singular_values
        >>> singular_values([[0.0, 2.0], [1.0, 0.0]]).tolist()
        [2.0, 1.0]
    """
    return np.linalg.svd(_check_matrix(matrix), compute_uv=False)


@representable
def stable_rank(matrix: ArrayLike) -> float | Float[np.ndarray, " ..."]:
    r"""Return the stable rank: squared Frobenius norm divided by squared operator norm.

    Small singular values hardly change it. If they matter, use `effective_rank`.

    $$ |A|_F^2 / |A|_{op}^2 = \sum_i s_i^2/s_1^2 $$

    **Arguments:**

    - `matrix`: matrix or matrices, (..., row, column)

    **Returns** a number, or (...); zero for a zero matrix.

    **Example:**

        >>> import numpy as np
        >>> from linnet.observables import stable_rank
        >>> round(stable_rank(np.diag([2.0, 2.0, 1.0])), 6)
        2.25
    """
    values = _relative_values(matrix)
    top = values[..., :1]
    shares = np.divide(values, top, out=np.zeros_like(values), where=top > 0)  # first, as squares may leave the range
    return _scalar((shares**2).sum(axis=-1))


@representable
def effective_rank(matrix: ArrayLike) -> float | Float[np.ndarray, " ..."]:
    r"""Return the effective rank, the exponential of the entropy of the singular values.

    It is smooth, so it suits plots over time. `stable_rank` is less sensitive to small singular values. To count
    singular values above a limit, use `numerical_rank`.

    $$ \exp\Big(-\sum_i p_i \ln p_i\Big), \qquad p_i = s_i / \sum_j s_j $$

    **Arguments:**

    - `matrix`: matrix or matrices, (..., row, column)

    **Returns** a number, or (...); zero for a zero matrix.

    **Example:**

        >>> import numpy as np
        >>> from linnet.observables import effective_rank
        >>> round(effective_rank(np.eye(3)), 6), round(effective_rank(np.diag([1.0, 0.01])), 3)
        (3.0, 1.057)
    """
    return _scalar(effective_rank_of_values(_relative_values(matrix)))


def effective_rank_of_values(values: Float[np.ndarray, "*batch mode"]) -> Float[np.ndarray, "*batch"]:
    """`effective_rank` of matrices of which only the singular values are known."""
    total = values.sum(axis=-1, keepdims=True)
    shares = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.where(total[..., 0] > 0, np.exp(-(shares * logs).sum(axis=-1)), 0.0)


@representable
def numerical_rank(values: ArrayLike, *, share: float = 0.1) -> int | Int[np.ndarray, ...]:
    """Return the number of singular values above a fraction of the largest.

    The count depends on the fraction. For a smooth measure, use `effective_rank` or `stable_rank`.

    **Arguments:**

    - `values`: singular values, (..., mode)
    - `share`: fraction of the largest singular value

    **Returns** a whole number, or (...); zero where all are zero.

    **Example:**

        >>> from linnet.observables import numerical_rank
        >>> numerical_rank([5.0, 1.0, 0.1])
        2
    """
    s = np.atleast_1d(real_array("values", values))
    counted = (s > non_negative("share", share) * s.max(axis=-1, keepdims=True)).sum(axis=-1)
    return int(counted) if np.ndim(counted) == 0 else counted


def _relative_values(matrix: ArrayLike) -> np.ndarray:
    """Singular values of matrices over their largest entries."""
    array = _check_matrix(matrix)
    largest = np.abs(array).max(axis=(-2, -1), keepdims=True)
    return np.linalg.svd(np.divide(array, largest, out=np.zeros_like(array), where=largest > 0), compute_uv=False)


def _check_matrix(matrix: ArrayLike) -> np.ndarray:
    """Return the matrix or batch of matrices as an array; refuse what has fewer than two axes."""
    array = real_array("matrix", matrix)
    if array.ndim < 2:
        raise ValueError(f"`matrix` must have at least two axes: got shape {array.shape}.")
    return array


def _scalar(value: np.ndarray) -> Any:
    """Return a float for an array without axes, other arrays as they are."""
    return float(value) if np.ndim(value) == 0 else value
