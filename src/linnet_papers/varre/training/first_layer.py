"""Singular values of the whole first layer along a run, without lifting the run to full width."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet.trajectories.trajectory import Trajectory, check_trajectory


def first_layer_values(trajectory: Trajectory) -> Float[np.ndarray, "time *batch input"]:
    r"""Singular values of the first layer at every saved state of a run.

    $W_1^\top W_1$ is the sum of what training moves, in the directions of the data, and of what it never touches:

    $$ W_1 = Q w_1 V^\top + c\,Z, \qquad
       W_1^\top W_1 = V w_1^\top w_1 V^\top + c\,(V w_1^\top Q^\top Z + \text{transpose}) + c^2 Z^\top Z $$

    with $Z$ the start outside the data's directions. As roots of eigenvalues they are exact to $10^{-16}
    \sigma_1^2/\sigma$.

    **Arguments:**

    - `trajectory`: a run that kept its weights

    **Returns** decreasing along the last axis, (time, [batch,] input).

    **Example:**

        >>> import linnet as ln
        >>> from linnet_papers.varre.training.first_layer import first_layer_values
        >>> start = ln.inits.orthogonal(key=0, in_dim=2, out_dim=1, width=4, scale=0.5)
        >>> problem = ln.Problem.from_target([[3.0, 0.0]])
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=100, save_every=100)
        >>> first_layer_values(run).round(1).tolist()  # one direction grows, the other stays
        [[1.0, 1.0], [1.8, 1.0]]
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
