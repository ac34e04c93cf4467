"""Singular values of the whole first layer along a run, without lifting the run to full width."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet.trajectories.trajectory import Trajectory, check_trajectory


def first_layer_values(trajectory: Trajectory) -> Float[np.ndarray, "time *batch input"]:
    r"""Singular values of $W_1$ at every saved state, decreasing, (time, [batch,] input).

    $W_1^\top W_1$ is the sum of what training moves, in the directions of the data, and of what it never touches:

    $$ W_1 = Q w_1 V^\top + c\,Z, \qquad
       W_1^\top W_1 = V w_1^\top w_1 V^\top + c\,(V w_1^\top Q^\top Z + \text{transpose}) + c^2 Z^\top Z $$

    with $Z$ the start outside the data's directions. As roots of eigenvalues they are exact to $10^{-16}
    \sigma_1^2/\sigma$.
    """
    check_trajectory(trajectory)
    reduction, moved = trajectory.reduction, trajectory.reduced.first
    basis = reduction.basis
    turned = moved if basis is None else moved @ np.swapaxes(basis, -1, -2)
    gram = np.swapaxes(turned, -1, -2) @ turned
    if basis is not None and reduction.untouched is not None:
        start = reduction.full_weights.first
        outside = start - start @ basis @ np.swapaxes(basis, -1, -2)
        rest = trajectory.rest[..., None, None]
        mixed = np.swapaxes(turned, -1, -2) @ reduction.untouched
        gram = gram + rest * (mixed + np.swapaxes(mixed, -1, -2)) + rest**2 * (np.swapaxes(outside, -1, -2) @ outside)
    return np.sqrt(np.clip(np.linalg.eigvalsh(gram)[..., ::-1], 0, None))
