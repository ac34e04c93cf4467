"""A low-rank matrix seen through noise: the task of the phase diagram."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, partly_representable, real_array, refuse_infinite
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.problems.problem import Problem


@partly_representable
def low_rank_plus_noise(
    dim: int,
    *,
    rank: int,
    out_dim: int | None = None,
    noise_std: float = 1.0,
    key: Key,
    spectrum: ArrayLike | None = None,
) -> Problem:
    r"""Make the problem of learning a low-rank matrix from a noisy observation $Y = A^* + E$.

    It is the standard task of phase diagrams and of early stopping. The test loss is the distance to the signal $A^*$.
    For inputs with a covariance, use `spiked_covariance` or `spectrum`.

    $$ A^* = K^{-1/2} \sum_{i=1}^K u_i v_i^\top, \qquad u_i, v_i \sim N(0, I_d), \qquad E_{ij} \sim N(0,
    \mathrm{noise\_std}^2) $$

    **Arguments:**

    - `dim`: number of inputs $d$, and of outputs unless `out_dim` is given
    - `rank`: rank $K$ of the signal
    - `out_dim`: number of outputs $k$
    - `noise_std`: standard deviation of the entries of $E$
    - `key`: an integer seed or a JAX key
    - `spectrum`: values $(a_1, \dots, a_K)$ if the signal should have the exact singular values $a_i d$ ($a_i\sqrt{dk}$
      for k outputs), with random singular vectors

    **Returns** a `Problem` with whitened inputs whose `.truth` is $A^*$. The errors in the paper are $2/d^2$ times its
    losses.

    **Reference:** Tu et al. 2024, section G.

    **Example:**

        >>> import numpy as np
        >>> from linnet.problems import low_rank_plus_noise
        >>> task = low_rank_plus_noise(50, rank=2, spectrum=[1.0, 0.5], key=0)
        >>> np.linalg.svd(task.truth, compute_uv=False)[:3].round(6).tolist()
        [50.0, 25.0, 0.0]
    """
    side, size = count("dim", dim), count("rank", rank)
    outputs = side if out_dim is None else count("out_dim", out_dim)
    if size > min(side, outputs):
        what = "`dim`" if size > side else "`out_dim`"
        raise ValueError(f"`rank` must not exceed {what}: got rank {size} for {min(side, outputs)}.")
    scale = non_negative("noise_std", noise_std)
    check_fits(32 * outputs * side, f"a target of {outputs} x {side}", "Take a smaller `dim`.")
    draw = generator(key, 0)
    left, right = draw.standard_normal((outputs, size)), draw.standard_normal((side, size))
    if spectrum is None:
        truth = left @ right.T / np.sqrt(size)
    else:
        values = real_array("spectrum", spectrum, ndim=1)
        if values.size != size or (values <= 0).any():
            raise ValueError(f"`spectrum` must be {size} positive numbers, one per rank: got {spectrum!r}.")
        refuse_infinite(values * np.sqrt(outputs * side))
        truth = (np.linalg.qr(left)[0] * (values * np.sqrt(outputs * side))) @ np.linalg.qr(right)[0].T
    return Problem.from_target(truth + scale * generator(key, 1).standard_normal((outputs, side)), truth=truth)
