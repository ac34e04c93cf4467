"""Where training is lazy and where it is active, how long the active region trains, and how well it must do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, count, non_negative, number, positive, real_array, representable

REGIONS = ("underparametrized", "infinite-noise", "lazy", "active")


@representable
def phase(gamma_variance: ArrayLike, gamma_width: ArrayLike) -> str | np.ndarray:
    r"""Return the name of the region of the phase diagram in which a variance and a width are, for a low-rank target.

    Variance and width are given by exponents, $\sigma^2 = d^{\gamma_{\sigma^2}}$ and $w = d^{\gamma_w}$, and the
    regions hold in the limit of large $d$. At a given size, compute losses with `ln.phase_diagram`. The first condition
    that holds decides:

    - `"underparametrized"` if $\gamma_w < 1$
    - `"infinite-noise"` if $2\gamma_{\sigma^2} + \gamma_w > 0$, because the entries of $A(0)$ have variance $\sigma^4
      w$
    - `"lazy"` if $\gamma_{\sigma^2} + \gamma_w > 1$
    - `"active"` otherwise

    **Arguments:**

    - `gamma_variance`: exponent $\gamma_{\sigma^2}$, a number or an array
    - `gamma_width`: exponent $\gamma_w$, a number or an array

    **Returns** the name of the region; an array of names for arrays.

    **Reference:** Tu et al. 2024, section 2.1. The introduction prints the second boundary with a superfluous $+1$.

    **Example:**

        >>> from linnet.theories.lazy_active import phase
        >>> phase(-1.8, 1.5), phase(-1.3, 2.5), phase(-0.5, 1.4), phase(-1.0, 0.5)
        ('active', 'lazy', 'infinite-noise', 'underparametrized')
    """
    variance, width = broadcast(
        gamma_variance=real_array("gamma_variance", gamma_variance), gamma_width=real_array("gamma_width", gamma_width)
    )
    conditions = [width < 1, 2 * variance + width > 0, variance + width > 1]
    region = np.select(conditions, REGIONS[:3], default=REGIONS[3])
    return str(region) if region.ndim == 0 else region


@representable
def phase_boundaries(
    gamma_width: ArrayLike, *, dim: int, rank: int, size: float | None = None
) -> dict[str, np.ndarray]:
    r"""Return the boundary lines of the phase diagram, for drawing them in a plane of exponents.

    They separate lazy from active training, and mark initial products that are too noisy and networks that are too
    narrow. To classify one network, use `phase`.

    **Arguments:**

    - `gamma_width`: exponent $\gamma_w$ with $w = d^{\gamma_w}$, (width,)
    - `dim`: dimension $d$
    - `rank`: rank $K$ of the target
    - `size`: operator norm $|B|_{op}$ of the target, which fixes the lazy boundary $\sigma^2 w = |B|_{op}$; by default
      $d$, as in the paper

    **Returns** a dictionary: for each name, $\gamma_{\sigma^2}$ along `gamma_width`, or the $\gamma_w$ of a vertical
    line.

    **Reference:** Tu et al. 2024, section 2.1 and Figure 2.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import phase_boundaries
        >>> found = phase_boundaries([1.0, 2.0], dim=100, rank=5)
        >>> {name: np.round(line, 3).tolist() for name, line in found.items()}
        {'lazy': [0.0, -1.0], 'infinite-noise': [-0.5, -1.0], 'width-dim': 1.0, 'width-rank': 0.349}
    """
    width = real_array("gamma_width", gamma_width)
    side = count("dim", dim, least=2)
    return {
        "lazy": lazy_boundary(float(side) if size is None else size, dim=side) - width,
        "infinite-noise": -width / 2,
        "width-dim": np.asarray(1.0),
        "width-rank": np.asarray(math.log(count("rank", rank)) / math.log(side)),
    }


@representable
def lazy_boundary(size: float, *, dim: int) -> float:
    r"""Return the sum of exponents $\gamma_{\sigma^2} + \gamma_w$ at which $\sigma^2 w$ reaches the norm of the target.

    Below it training is active, above it lazy. For all boundaries, use `phase_boundaries`.

    **Arguments:**

    - `size`: operator norm $|B|_{op}$ of the target
    - `dim`: dimension $d$

    **Returns** the sum of the exponents: 1 for the paper's target of low rank, 1/2 for full rank.

    **Reference:** Tu et al. 2024, last remark of section 2.1.

    **Example:**

        >>> from linnet.theories.lazy_active import lazy_boundary
        >>> lazy_boundary(100.0, dim=100), lazy_boundary(10.0, dim=100)
        (1.0, 0.5)
    """
    return math.log(positive("size", size)) / math.log(count("dim", dim, least=2))


@representable
def spectrum_constant(spectrum: Sequence[float]) -> float:
    r"""Return the constant $c(a_1, \dots, a_K)$ of Theorem 2 of Tu et al., which sets how fast singular vectors align.

    `stopping_time` uses it.

    $$ c = \frac{\min_{a_k \ne a_j} |a_k - a_j|\, a_K^2}{\max_{a_k \ne a_j} |a_k^2 - a_j^2|} $$

    The noise, $a_{K+1} = 0$, is one of the $a_j$. Otherwise the minimum would be over no values for $K = 1$ or for
    equal values. The paper does not specify this.

    **Reference:** Tu et al. 2024, Theorem 2 and A.1.

    **Arguments:**

    - `spectrum`: values $a_k = s_k(A^*)/d$, (mode,)

    **Returns** $c$, which is small if two of the values are close together.

    **Example:**

        >>> from linnet.theories.lazy_active import spectrum_constant
        >>> round(spectrum_constant([1.0, 0.5]), 4), round(spectrum_constant([1.0, 0.99]), 4)
        (0.125, 0.0098)
    """
    values = np.unique(real_array("spectrum", spectrum, ndim=1))
    if (values <= 0).any():
        raise ValueError(f"`spectrum` must be positive: the smallest is {values.min()}.")
    smallest = values[0]
    values = np.concatenate([[0.0], values])
    return float(np.diff(values).min() * (smallest / values[-1]) ** 2)  # a_{K+1} = 0: the widest gap is the largest


@representable
def stopping_time(
    spectrum: Sequence[float],
    gamma_variance: float,
    gamma_width: float,
    *,
    dim: int,
    clock: Literal["canonical", "paper"] = "canonical",
) -> float:
    r"""Return the stopping time $T^*$ of Theorem 2 of Tu et al. for the active region, to leading order in $d$.

    At $T^*$ the signal is learned and the noise is not. For dimensions that can be trained, $T^*$ is much too late:
    take the `best_time` of `ln.phase_diagram` instead.

    $$ T^* = \Big( \frac{\Delta}{2 a_K} + \frac{2 m}{c(a)} + \frac{m}{2 a_K} \Big) d \log d, \quad
       m = \min(1, 2\Delta), \quad \Delta = 1 - \gamma_{\sigma^2} - \gamma_w > 0 $$

    This is the paper's time, and $c(a)$ is `spectrum_constant`.

    **Arguments:**

    - `spectrum`: values $a_k = s_k(A^*)/d$, of order 1 at any $d$, (mode,). Values of $\sqrt d$ or more raise
      `ValueError`, because they were probably not divided by $d$
    - `gamma_variance`: exponent $\gamma_{\sigma^2}$
    - `gamma_width`: exponent $\gamma_w$
    - `dim`: dimension $d$
    - `clock`: time scale: `"canonical"` (learning rate times number of steps), or `"paper"` for the time of its
      appendices C to F, $d^2 \dot A = \dots$, which is $d^2$ times as long

    **Returns** $T^*$, a number.

    **Departs from the print**, which has $\max$ in place of $\min$ in $m$. It also has $\Delta/a_K$ for the growth from
    threshold to target, twice the time that follows from its own equation.

    **Reference:** Tu et al. 2024, Theorem 2, E.3, Theorem E.5.

    **Example:**

        >>> from linnet.theories.lazy_active import stopping_time
        >>> round(stopping_time([1.0, 0.5], -2.0, 1.5, dim=500), 3)
        0.23
        >>> round(stopping_time([1.0, 0.5], -1.0, 1.5, dim=500), 3)  # a larger initialization is closer to the target
        0.218
    """
    stages = stage_lengths(spectrum, gamma_variance, gamma_width, dim=dim)
    total = sum(stages.values())
    if clock == "paper":
        return total * float(dim) ** 2
    if clock == "canonical":
        return total
    raise ValueError(f"`clock` must be 'canonical' or 'paper': got {clock!r}.")


@representable
def stage_lengths(
    spectrum: Sequence[float], gamma_variance: float, gamma_width: float, *, dim: int
) -> dict[str, float]:
    r"""Return the durations of the stages of active training: growth (T1 to T3), alignment (T3 to T4), settling (T4 to
    T5).

    They are the leading order of the paper for large $d$. Trained networks spend hardly any time on alignment, so do
    not use the durations as predictions.

    **Arguments:**

    - `spectrum`: values $a_k = s_k(A^*)/d$, (mode,)
    - `gamma_variance`: exponent $\gamma_{\sigma^2}$
    - `gamma_width`: exponent $\gamma_w$
    - `dim`: dimension $d$

    **Returns** a dictionary of the durations, in units of learning rate times number of steps.

    **Valid in** the active region, for large d.

    **Reference:** Tu et al. 2024, E.3.

    **Example:**

        >>> from linnet.theories.lazy_active import stage_lengths
        >>> {name: round(length, 3) for name, length in stage_lengths([1.0, 0.5], -2.0, 1.5, dim=500).items()}
        {'growth': 0.019, 'alignment': 0.199, 'settling': 0.012}
    """
    values, side = real_array("spectrum", spectrum, ndim=1), count("dim", dim, least=2)
    if values.max() >= math.sqrt(side):
        raise ValueError(
            f"`spectrum` must be singular values divided by `dim`, of order 1: the largest is {values.max():.6g}, "
            "beyond "
            f"sqrt(dim) = {math.sqrt(side):.4g}. Give s/dim. (The time for c times these values is 1/c of theirs.)"
        )
    gap = 1 - number("gamma_variance", gamma_variance) - number("gamma_width", gamma_width)
    if gap <= 0:
        raise ValueError(f"`gamma_variance` + `gamma_width` must be below 1, the active region: got {1 - gap:g}.")
    constant, slowest = spectrum_constant(spectrum), values.min()
    tight = min(1.0, 2 * gap)
    unit = math.log(side) / side
    return {
        "growth": float(gap / (2 * slowest) * unit),
        "alignment": float(2 * tight / constant * unit),
        "settling": float(tight / (2 * slowest) * unit),
    }


@representable
def error_terms(gamma_variance: float, gamma_width: float, *, dim: int, step: float = 0.0) -> dict[str, float]:
    r"""Return the terms of Theorem 2's bound on the test error $|A - A^*|_F^2/d^2$ at $T^*$, without their constants.

    For test losses of networks, use `ln.phase_diagram`, which needs no constants.

    $$ \sigma^4 w + \frac{\sigma^4 w^2 \log^2 d}{d^2} + d^{-1/2} + \frac{\sigma^2 w}{d} + \eta^2 \frac{\log^2 d}{d^2} $$

    **Arguments:**

    - `gamma_variance`: exponent $\gamma_{\sigma^2}$ with $\sigma^2 = d^{\gamma_{\sigma^2}}$
    - `gamma_width`: exponent $\gamma_w$ with $w = d^{\gamma_w}$
    - `dim`: dimension $d$
    - `step`: learning rate $\eta$ of the paper, which is linnet's times $d^2/2$. The paper states its term without a
      complete proof: Lemma F.1 is applied with $k - 1$ in place of $k$, and its constant grows as $e^{C_1 T^*}$

    **Returns** a dictionary of the terms.

    **Valid in** the active region, up to constants that the theorem does not give. **Reference:** Tu et al. 2024,
    Theorem 2.

    **Example:**

        >>> from linnet.theories.lazy_active import error_terms
        >>> terms = error_terms(-2.0, 1.5, dim=10_000)
        >>> max(terms, key=terms.get), round(max(terms.values()), 4)
        ('alignment', 0.01)
    """
    side = count("dim", dim, least=2)
    variance, width = (
        float(side) ** number(name, power)
        for name, power in (("gamma_variance", gamma_variance), ("gamma_width", gamma_width))
    )
    step, log = non_negative("step", step), math.log(side)
    return {
        "start": float(variance**2 * width),
        "noise": float((variance * width * log / side) ** 2),
        "alignment": float(side**-0.5),
        "threshold": float(variance * width / side),
        "step": float((step * log / side) ** 2),
    }
