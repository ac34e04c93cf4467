"""The parameters of a covariance with one spike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import real_array


def checked_model(spike: ArrayLike, alignment: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The spike and the alignment as arrays, refused outside the model."""
    rho, A = real_array("spike", spike), real_array("alignment", alignment)
    if (rho <= -1).any():
        raise ValueError(f"`spike` must exceed -1, or the covariance is not positive definite: got {rho.min():.6g}.")
    if (A < 0).any() or (A > 1).any():
        outside = A[(A < 0) | (A > 1)].ravel()[0]
        raise ValueError(
            f"`alignment` must lie in [0, 1], as the cosine between spike and target: got {outside:.6g}. "
            "A negative one is the same data with the spike's direction reversed."
        )
    return rho, A
