"""How far the rows of the input weights are from the output weights: the commutator of the noise process."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import flag, representable
from linnet.inits.weights import Weights, check_two_layers


def commutator(weights: Weights, *, normalized: bool = False) -> Float[np.ndarray, "*batch input"]:
    r"""Return how far the weights of each input are from being aligned with the weights of the output.

    Zero means aligned. For the alignment of singular vectors of a product, use `theories.lazy_active.alignment_defect`.

    $$ |[z_i, a]| = |z_i a^\top - a z_i^\top|_{op} $$

    where $z_i$ are the weights from input i to the hidden units and $a$ the weights to the output. The value is the
    area that the two vectors span.

    **Arguments:**

    - `weights`: weights of a network with one output
    - `normalized`: whether to divide by $|z_i||a|$, which gives the sine of the angle; NaN if one of the vectors is
      zero

    **Returns** the values, (..., input), with the leading axes of the weights.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import commutator
        >>> weights = ln.Weights([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0]])
        >>> commutator(weights).tolist(), commutator(weights, normalized=True).tolist()
        ([0.0, 2.0], [0.0, 1.0])
    """
    weights = check_two_layers(weights)
    if weights.out_dim != 1:
        raise ValueError(f"`weights` must have one output for the commutator: got {weights.out_dim}.")
    rows, sizes = _scale_to_one(np.swapaxes(weights.first, -1, -2))  # (..., input, hidden)
    a, size = _scale_to_one(weights.second)
    lengths, length = np.linalg.norm(rows, axis=-1), np.linalg.norm(a, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = np.sum(rows * a, axis=-1) / lengths**2
        # the part of a across z_i, not sqrt(|z|^2 |a|^2 - (z.a)^2): that would lose half the digits of an aligned pair
        across = np.linalg.norm(a - along[..., None] * rows, axis=-1)
        sines = across / length
    return (
        sines if flag("normalized", normalized) else _commutator_sizes(weights, lengths * sizes, length * size, sines)
    )


def _scale_to_one(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors along the last axis over their largest entries, whose squares neither overflow nor vanish."""
    sizes = np.abs(vectors).max(axis=-1)
    safe = np.where(sizes > 0, sizes, 1.0)
    return vectors / safe[..., None], sizes


@representable
def _commutator_sizes(weights: Weights, lengths: np.ndarray, length: np.ndarray, sines: np.ndarray) -> np.ndarray:
    """Return the commutators' sizes from lengths and sines, zero where a vector is."""
    return np.where((lengths > 0) & (length > 0), lengths * length * sines, 0.0)
