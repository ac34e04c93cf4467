"""Gaussian starts, drawn in full or directly in their reduced form."""

from __future__ import annotations

import math

import numpy as np

from linnet._arguments import by_keyword, count, non_negative
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits.weights import Weights


@by_keyword
def gaussian(
    *, in_dim: int, out_dim: int, width: int, first_std: float, second_std: float, key: Key, batch: int | None = None
) -> Weights:
    """Independent centred Gaussian weights of standard deviation `first_std` and `second_std`.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `width`: $h$
    - `first_std`: standard deviation of the entries of $W_1$
    - `second_std`: of those of $W_2$
    - `batch`: how many networks, as a leading axis; none by default

    **Returns** `Weights`, $W_1$ ([batch,] hidden, input) and $W_2$ ([batch,] output, hidden).

    **Example:**

        >>> from linnet.inits import gaussian
        >>> start = gaussian(key=0, in_dim=3, out_dim=2, width=5, first_std=0.1, second_std=0.1)
        >>> start.first.shape, start.second.shape, start.product.shape
        ((5, 3), (2, 5), (2, 3))
    """
    d, k, h, lead = _checked_shape(in_dim, out_dim, width, batch)
    first_std, second_std = non_negative("first_std", first_std), non_negative("second_std", second_std)
    check_fits(
        16 * math.prod(lead) * h * (d + k),
        f"Gaussian weights of `width` = {h}",
        "`inits.reduced_gaussian` has the same law at any width.",
    )
    random = generator(key)
    first = random.standard_normal((*lead, h, d))
    second = random.standard_normal((*lead, k, h))
    return Weights(first_std * first, second_std * second)


@by_keyword
def reduced_gaussian(
    *, in_dim: int, out_dim: int, width: int, first_std: float, second_std: float, key: Key, batch: int | None = None
) -> Weights:
    r"""The law of `gaussian` after `reduce`, at a cost that does not depend on the width.

    For $h \ge d + k$ the triangular factor of the thin QR of $[W_1, W_2^T]$ (h x (d+k), standard normal) has
    independent entries, $N(0, 1)$ above the diagonal and $\sqrt{\chi^2_{h-j}}$ on it (Bartlett); its columns are
    scaled by the layers' standard deviations. A narrower network is drawn itself. Trained, it gives the same $A$,
    $W_1^T W_1$, $W_2 W_2^T$, losses and kernels as the wide network; there are no wide weights to lift back to.
    `Weights.full_width` remembers h.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `width`: $h$, as large as one likes
    - `first_std`: standard deviation of the entries of $W_1$
    - `second_std`: of those of $W_2$
    - `batch`: how many networks, as a leading axis; none by default

    **Returns** `Weights` of width $\min(h, d + k)$, which remember $h$.

    **Example:**

        >>> from linnet.inits import reduced_gaussian
        >>> start = reduced_gaussian(key=0, in_dim=3, out_dim=2, width=10**9, first_std=1e-5, second_std=1e-5)
        >>> start.first.shape, start.full_width
        ((5, 3), 1000000000)
    """
    d, k, h, lead = _checked_shape(in_dim, out_dim, width, batch)
    if h < d + k:
        return gaussian(key=key, in_dim=d, out_dim=k, width=h, first_std=first_std, second_std=second_std, batch=batch)
    first_std, second_std = non_negative("first_std", first_std), non_negative("second_std", second_std)
    q = d + k
    check_fits(
        24 * math.prod(lead) * q * q,
        f"a reduced network of `in_dim` = {d} and `out_dim` = {k}",
        "Use fewer inputs or outputs, or a smaller batch.",
    )
    random = generator(key)
    degrees = np.array([float(h - j) for j in range(q)])
    triangle = np.triu(random.standard_normal((*lead, q, q)), 1)
    triangle[..., np.arange(q), np.arange(q)] = np.sqrt(random.chisquare(degrees, size=(*lead, q)))
    second = second_std * np.swapaxes(triangle[..., d:], -1, -2)
    return Weights(first_std * triangle[..., :d], second, full_width=h)


def _checked_shape(in_dim: int, out_dim: int, width: int, batch: int | None) -> tuple[int, int, int, tuple[int, ...]]:
    """Return inputs, outputs, width and leading axes, each checked to be a positive whole number."""
    lead = () if batch is None else (count("batch", batch),)
    return count("in_dim", in_dim), count("out_dim", out_dim), count("width", width), lead
