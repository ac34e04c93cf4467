"""What one reading of a pair is: r x r Gram matrices from where the weights are, and numbers from those."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import torch
from jaxtyping import Float

from linnet.observables.spectra import effective_rank
from linnet.torch.pairs import Pair


@dataclass
class Copies:
    """Copies of one parameter: before the last step, at the start, and its first gradient; None where there is none."""

    before: torch.Tensor | None = None
    start: torch.Tensor | None = None
    gradient: torch.Tensor | None = None


@dataclass(frozen=True)
class Grams:
    """Products (hidden, hidden) of the rows of one factor W (of $W_1$, or of $W_2^T$) with each other, with its last
    change D, its start S and its first gradient G; `before` is that of W before its last change."""

    now: np.ndarray
    before: np.ndarray
    change: np.ndarray
    now_start: np.ndarray
    now_gradient: np.ndarray
    start: np.ndarray
    start_gradient: np.ndarray
    gradient: np.ndarray


NAMES = tuple(field.name for field in fields(Grams))


@dataclass(frozen=True)
class Reading:
    """One pair at one step.

    - `share_first`: $|W_2 \\Delta W_1| / (|W_2 \\Delta W_1| + |\\Delta W_2\\, W_1|)$, the share of the last step's
      change of the product that the first factor carries, the other factor as it was before the step (NaN where
      nothing moved).
    - `imbalance`: eigenvalues (mode,) of $s\\sqrt{q}\\,W_1 W_1^T - s/\\sqrt{q}\\,W_2^T W_2$, with q the ratio of the
      rates.
    - `singular_values` (mode,) of $s W_2 W_1$ and their `effective_rank`.
    - `alignment`: cosine between the product's change since the start and the change that the first gradient asks for,
      $-(q\\,G_2 W_1 + W_2 G_1)$ at the start (NaN before anything moved).
    """

    share_first: float
    imbalance: Float[np.ndarray, " mode"]
    singular_values: Float[np.ndarray, " mode"]
    effective_rank: float
    alignment: float


def gram_tensors(
    rows: Callable[[torch.Tensor], torch.Tensor], weight: torch.Tensor, copies: Copies
) -> list[torch.Tensor]:
    """The matrices of `Grams` for one factor, on the weight's device; NaN for what has no copy."""
    # Squares of float32 numbers would halve the digits of small singular values; only Apple's devices have no float64.
    exact = torch.float32 if weight.device.type == "mps" else torch.float64

    def matrix(tensor: torch.Tensor | None) -> torch.Tensor | None:
        return None if tensor is None else rows(tensor.detach()).to(device=weight.device, dtype=exact)

    now = rows(weight.detach()).to(exact)
    before, start, gradient = matrix(copies.before), matrix(copies.start), matrix(copies.gradient)
    change = None if before is None else now - before
    nothing = torch.full((now.shape[0], now.shape[0]), torch.nan, device=weight.device, dtype=exact)
    products = (
        (now, now),
        (before, before),
        (change, change),
        (now, start),
        (now, gradient),
        (start, start),
        (start, gradient),
        (gradient, gradient),
    )
    return [nothing if a is None or b is None else a @ b.T for a, b in products]


def reading(pair: Pair, first: Grams, second: Grams, ratio: float) -> Reading:
    """The numbers of one pair from its Gram matrices; `ratio` is the second's learning rate over the first's."""
    s = pair.scale
    imbalance = s * np.sqrt(ratio) * first.now - s / np.sqrt(ratio) * second.now
    values = s * _product_values(first.now, second.now)
    by_first, by_second = (
        np.sqrt(max(_inner(second.before, first.change), 0)),
        np.sqrt(max(_inner(first.before, second.change), 0)),
    )
    moved = by_first + by_second
    return Reading(
        share_first=float(by_first / moved) if moved > 0 else float("nan"),
        imbalance=_eigenvalues(imbalance)[::-1],
        singular_values=values,
        effective_rank=float(effective_rank(np.diag(values))) if np.isfinite(values).all() else float("nan"),
        alignment=_alignment(first, second, ratio),
    )


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    """tr(a^T b), which is the inner product of two products whose Gram matrices these are."""
    value = float((a * b).sum())
    return value if np.isfinite(value) else 0.0


def _eigenvalues(matrix: np.ndarray) -> np.ndarray:
    if not np.isfinite(matrix).all():
        return np.full(matrix.shape[0], np.nan)
    return np.linalg.eigvalsh((matrix + matrix.T) / 2)


def _product_values(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Singular values, largest first, of W2 W1 from W1 W1^T and W2^T W2."""
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return np.full(first.shape[0], np.nan)
    values, vectors = np.linalg.eigh((first + first.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.sqrt(np.maximum(_eigenvalues(root.T @ second @ root), 0))[::-1]


def _alignment(first: Grams, second: Grams, ratio: float) -> float:
    q, a, b = ratio, first, second
    asked = {  # inner products with q G2 W1 + W2 G1, both factors at the start
        "now": q * (b.now_gradient * a.now_start).sum() + (b.now_start * a.now_gradient).sum(),
        "start": q * (b.start_gradient * a.start).sum() + (b.start * a.start_gradient).sum(),
        "asked": q**2 * (b.gradient * a.start).sum()
        + (b.start * a.gradient).sum()
        + 2 * q * (b.start_gradient.T * a.start_gradient).sum(),
    }
    moved = (b.now * a.now).sum() - 2 * (b.now_start * a.now_start).sum() + (b.start * a.start).sum()
    size = moved * asked["asked"]
    if not np.isfinite(size) or size <= 0:
        return float("nan")
    return float(-(asked["now"] - asked["start"]) / np.sqrt(size))
