"""Alignment of a product's leading singular vectors with the singular vectors of the target."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, real_array, representable, same_shape

_LEAST_SQUARE = 1e-6  # of a leading singular value over that of the largest one: below it, squares cost digits


@representable
def alignment_defect(product: ArrayLike, truth: ArrayLike | None, rank: int) -> Float[np.ndarray, " ..."]:
    r"""Return how far the leading singular vectors of a product are from those of the signal; 0 means aligned.

    It compares subspaces, one for each set of equal singular values of the signal, so it is meaningful for repeated
    singular values too. If you only have the distance of the matrices, use `alignment_bound`.

    $$ x = 4K - \sum_k \mathrm{tr}\big(U_{kk}^\top U_{kk} + V_{kk}^\top V_{kk} + 2 U_{kk} V_{kk}^\top\big) $$

    where each block $k$ belongs to one value among the singular values of $A^*$, and $U, V$ are the singular vectors of
    $A$ in the singular basis of $A^*$. Leading axes of `product` are kept.

    **Arguments:**

    - `product`: product $A$, (..., output, input)
    - `truth`: signal $A^*$, (output, input)
    - `rank`: number $K$ of leading singular pairs that are compared

    **Returns** $x$, one number for each product, (...).

    It is at most $8K$, for pairs of opposite sign, and about $4K$ for unrelated matrices.

    **Reference:** Tu et al. 2024, Lemma A.4.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import alignment_defect
        >>> truth = np.diag([3.0, 1.0, 0.0])
        >>> float(alignment_defect(2 * truth, truth, 2)), float(alignment_defect(-truth, truth, 2))
        (0.0, 8.0)
    """
    matrix, known = real_array("product", product), real_array("truth", truth, ndim=2)
    if matrix.shape[-2:] != known.shape:
        raise ValueError(
            f"`product` must be (..., {known.shape[0]}, {known.shape[1]}) like `truth`: got {matrix.shape}."
        )
    size = _rank(rank, known)
    left0, values, right0 = np.linalg.svd(_unit(known))
    left, right = _leading_pairs(_unit(matrix), size)
    u, v = left0[:, :size].T @ left, right0[:size] @ right
    same = np.abs(values[:size, None] - values[:size]) <= 1e-9 * values[0]
    # traces of the diagonal blocks are sums over entries within equal singular values
    total = (np.where(same, u**2 + v**2 + 2 * u * v, 0.0)).sum(axis=(-2, -1))
    return 4 * size - total


@representable
def alignment_bound(product: ArrayLike, reference: ArrayLike, rank: int) -> float:
    r"""Return an upper bound on `alignment_defect`, from the distance of a product $X$ to a reference $\hat\Sigma$.

    It shows how a small distance forces alignment. If both matrices are known, compute `alignment_defect` itself.

    $$ x \le 4 K \frac{|X - \hat\Sigma|}{s_K} + \frac{4 m s_1}{s_K} \Big( \frac{2 \min(\sqrt K (|X| + |\hat\Sigma|),
       |X|_F + |\hat\Sigma|_F)}{\min_k (s_{n_k}^2 - s_{n_k+1}^2)} \Big)^2 |X - \hat\Sigma|^2 $$

    with $m$ blocks $k$ of equal singular values. Without the 4 it fails: for $\hat\Sigma = \mathrm{diag}(1, t)$
    and a product whose two values cross half-way, $x$ tends to 4 times the printed bound as $t$ tends to 1.

    **Why.** $\sum_k s_k\,\mathrm{tr}(I - U_{kk} V_{kk}^\top)$ is at most
    $\langle X - \hat\Sigma, U V^\top - P Q^\top\rangle \le 2 K |X - \hat\Sigma|$, with $P$ and $Q$ the vectors of
    $\hat\Sigma$, plus $s_1/2$ times the squares of the leading columns of $U$ and $V$ off their blocks. Either are, by
    Theorem A.3, at most $m$ brackets squared times $|X - \hat\Sigma|^2$; $x$ has these squares once, the traces twice.

    **Arguments:**

    - `product`: product $X$, (output, input)
    - `reference`: reference matrix $\hat\Sigma$ whose trailing singular values are equal, (output, input)
    - `rank`: number $K$ of leading singular pairs that are compared

    **Returns** the right side of the inequality, a number.

    **Valid when** the trailing singular values of the reference are equal. **Reference:** Tu et al. 2024, Lemma A.4,
    corrected.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import alignment_bound, alignment_defect
        >>> truth = np.diag([3.0, 1.0, 0.0])
        >>> turned = truth + 0.01 * np.ones((3, 3))
        >>> defect, bound = float(alignment_defect(turned, truth, 2)), alignment_bound(turned, truth, 2)
        >>> 0 < defect < bound
        True
    """
    matrix, known = real_array("product", product, ndim=2), real_array("reference", reference, ndim=2)
    same_shape(product=matrix, reference=known)
    size = _rank(rank, known)
    unit = np.abs(known).max()  # the bound is a pure number: in units in which no square overflows or vanishes
    matrix, known = matrix / unit, known / unit
    values = np.linalg.svd(known, compute_uv=False)
    rest = values[size] if values.size > size else 0.0
    signal = values[:size]
    gaps = signal**2 - np.append(signal[1:], rest) ** 2
    split = gaps > 1e-9 * values[0] ** 2
    distance = np.linalg.norm(matrix - known, 2)
    sizes = np.sqrt(size) * (np.linalg.norm(matrix, 2) + signal[0])
    reach = 2 * min(sizes, np.linalg.norm(matrix) + np.linalg.norm(known)) / gaps[split].min()
    return float(4 * (size * distance + split.sum() * signal[0] * (reach * distance) ** 2) / signal[-1])


def _leading_pairs(matrices: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    r"""The first singular vectors of each matrix, (..., output, pair) and (..., input, pair), the largest value first.

    They are eigenvectors of $A^\top A$, which take a third of the time of an SVD; if squares would cost digits, they
    come from the SVD.
    """
    from scipy.linalg import eigh

    last = matrices.shape[-1] - 1
    grams = (np.swapaxes(matrices, -1, -2) @ matrices).reshape(-1, last + 1, last + 1)
    pairs = [eigh(gram, subset_by_index=[last + 1 - number, last], check_finite=False) for gram in grams]
    squares = np.reshape([values[::-1] for values, _ in pairs], (*matrices.shape[:-2], number))
    if not (squares[..., -1] > _LEAST_SQUARE * squares[..., 0]).all():
        left, _, right = np.linalg.svd(matrices, full_matrices=False)
        return left[..., :number], np.swapaxes(right[..., :number, :], -1, -2)
    right = np.reshape([vectors[:, ::-1] for _, vectors in pairs], (*matrices.shape[:-2], last + 1, number))
    return matrices @ right / np.sqrt(squares)[..., None, :], right


def _unit(matrix: np.ndarray) -> np.ndarray:
    """The matrix over its largest entry."""
    largest = np.abs(matrix).max()
    return matrix / largest if largest > 0 else matrix


def _rank(rank: int, matrix: np.ndarray) -> int:
    """How many leading pairs are compared: no more than the matrix has."""
    size, most = count("rank", rank), int(np.linalg.matrix_rank(_unit(matrix)))
    if size > most:
        raise ValueError(f"`rank` must not exceed the rank of the reference matrix, {most}: got {size}.")
    return size
