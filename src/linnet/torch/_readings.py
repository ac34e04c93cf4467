"""One reading of a pair, from r x r products of the rows of its factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet.observables.spectra import effective_rank_of_values

Products = Mapping[str, Float[np.ndarray, "pair hidden hidden"]]


@dataclass(frozen=True)
class Reading:
    """One pair at one step.

    - `share_first`: $|W_2 \\Delta W_1| / (|W_2 \\Delta W_1| + |\\Delta W_2\\, W_1|)$, the fraction of the last step's
      change of the product that the first factor carries, the other factor as it was before the step (NaN where
      nothing moved).
    - `imbalance`: eigenvalues (mode,) of $s\\sqrt{q}\\,W_1 W_1^T - s/\\sqrt{q}\\,W_2^T W_2$, with q the ratio of the
      rates.
    - `singular_values` (mode,) of $s W_2 W_1$ and their `effective_rank`.
    - `alignment`: cosine between the product's change since the initialization and the change that the first gradient
      asks for, $-(q\\,G_2 W_1 + W_2 G_1)$ at initialization (NaN before anything moved).
    """

    share_first: float
    imbalance: Float[np.ndarray, " mode"]
    singular_values: Float[np.ndarray, " mode"]
    effective_rank: float
    alignment: float

    @property
    def scalars(self) -> dict[str, float]:
        """The reading in six numbers."""
        return {
            "share_first": self.share_first,
            "imbalance_max": float(self.imbalance[0]),
            "imbalance_min": float(self.imbalance[-1]),
            "singular_value_max": float(self.singular_values[0]),
            "effective_rank": self.effective_rank,
            "alignment": self.alignment,
        }


def readings(
    first: Products, second: Products, scales: Float[np.ndarray, " pair"], ratios: Float[np.ndarray, " pair"]
) -> list[Reading]:
    """The numbers of pairs of one width from the products of their factors.

    **Arguments**

    - `first`, `second`: as `linnet.torch._stacks.PRODUCTS` names them, of the rows of $W_1$ and of $W_2^T$.
    - `scales`: s of each pair. `ratios`: the second's learning rate over the first's.
    """
    with np.errstate(all="ignore"):  # of weights that diverge, readings are NaN or infinite, and training continues
        return _compute_readings(first, second, scales, ratios)


def _compute_readings(first: Products, second: Products, scales: np.ndarray, ratios: np.ndarray) -> list[Reading]:
    """Compute the readings; overflows are the caller's to silence."""
    s, q = scales[:, None, None], np.sqrt(ratios)[:, None, None]
    imbalance = _eigenvalues(s * q * first["nn"] - s / q * second["nn"])
    values = scales[:, None] * _product_values(first["nn"], second["nn"])
    by_first, by_second = _change_by_factor(first, second), _change_by_factor(second, first)
    shares = by_first / (by_first + by_second)
    seen = np.isfinite(values).all(axis=-1)
    ranks = np.where(seen, effective_rank_of_values(np.where(seen[:, None], values, 0.0)), np.nan)
    alignment = _alignment(first, second, ratios)
    return [
        Reading(float(shares[i]), imbalance[i, ::-1], values[i], float(ranks[i]), float(alignment[i]))
        for i in range(scales.size)
    ]


def _inner_product(a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, " pair"]:
    """tr(a^T b), which is the inner product of two products whose Gram matrices these are."""
    return np.einsum("pij,pij->p", a, b)


def _change_by_factor(moving: Products, other: Products) -> Float[np.ndarray, " pair"]:
    """The size of the change of the product that one factor carries, the other as it was before the step; 0 where not
    known."""
    if "cc" not in moving or "cc" not in other:
        return np.zeros(moving["nn"].shape[0])
    mixed = other["nc"]
    before = other["nn"] - mixed - mixed.swapaxes(1, 2) + other["cc"]
    size = _inner_product(before, moving["cc"])
    return np.sqrt(np.where(np.isfinite(size), np.maximum(size, 0), 0))


def _eigenvalues(matrices: np.ndarray) -> Float[np.ndarray, "pair mode"]:
    """Return the eigenvalues of each matrix, smallest first; NaN for one that is not finite."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    symmetric = np.where(finite[:, None, None], (matrices + matrices.swapaxes(1, 2)) / 2, 0.0)
    return np.where(finite[:, None], np.linalg.eigvalsh(symmetric), np.nan)


def _product_values(first: np.ndarray, second: np.ndarray) -> Float[np.ndarray, "pair mode"]:
    """Singular values, largest first, of W2 W1 from W1 W1^T and W2^T W2."""
    finite = np.isfinite(first).all(axis=(1, 2))
    symmetric = np.where(finite[:, None, None], (first + first.swapaxes(1, 2)) / 2, 0.0)
    try:
        root = np.linalg.cholesky(symmetric)  # a tenth of the time of the decomposition, which any rank has
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(symmetric)
        root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    squares = _eigenvalues(root.swapaxes(1, 2) @ second @ root)
    return np.where(finite[:, None], np.sqrt(np.maximum(squares, 0))[:, ::-1], np.nan)


def _alignment(first: Products, second: Products, ratios: np.ndarray) -> Float[np.ndarray, " pair"]:
    """Cosine of the change since the initialization and - (q G2 W1 + W2 G1) at initialization; NaN where it is not
    defined."""
    q, a, b = ratios, first, second
    if "sg" not in a or "sg" not in b:
        return np.full(q.shape, np.nan)
    now = q * _inner_product(b["ng"], a["ns"]) + _inner_product(b["ns"], a["ng"])
    start = q * _inner_product(b["sg"], a["ss"]) + _inner_product(b["ss"], a["sg"])
    norm = (
        q**2 * _inner_product(b["gg"], a["ss"])
        + _inner_product(b["ss"], a["gg"])
        + 2 * q * _inner_product(b["sg"].swapaxes(1, 2), a["sg"])
    )
    size = (
        _inner_product(b["nn"], a["nn"]) - 2 * _inner_product(b["ns"], a["ns"]) + _inner_product(b["ss"], a["ss"])
    ) * norm
    defined = np.isfinite(size) & (size > 0)
    return np.where(defined, (start - now) / np.sqrt(np.where(defined, size, 1.0)), np.nan)
