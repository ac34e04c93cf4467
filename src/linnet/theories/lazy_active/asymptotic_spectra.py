"""The spectrum of a low-rank matrix seen through noise, without any SVD: outliers, overlaps and bulk."""

from __future__ import annotations

import numpy as np

from linnet._arguments import count, non_negative, representable
from linnet._memory import check_fits
from linnet.theories.lazy_active.spectral_flows import modes_of
from linnet.theories.lazy_active.task_spectra import TaskSpectrum
from linnet.theories.noise_bulk import ratio_of


@representable
def asymptotic_spectrum(
    strengths: object, dim: int | tuple[int, int], noise_std: float, *, points: int = 64
) -> TaskSpectrum:
    r"""Return the singular modes of a noisy low-rank matrix $Y = A^* + E$ in the limit of large dimensions.

    It draws no matrix, so a million inputs cost no more than ten. For a given matrix, use `task_spectrum`.

    Strengths are in units of `noise_std` times the square root of the larger dimension, and $b$ is the smaller
    dimension divided by the larger one. A signal of strength $x > b^{1/4}$ gives an outlier

    $$ y = \sqrt{(x + 1/x)(x + b/x)}, \qquad (u^\top A^* v)^2 = x^2\,
       \Big(1 - \frac{b\,(1 + x^2)}{x^2 (x^2 + b)}\Big)\Big(1 - \frac{b + x^2}{x^2 (x^2 + 1)}\Big); $$

    A weaker signal is spread over the bulk, and so is the part of a stronger signal that is not in its outlier. In the
    bulk $s^2 = 1 + b + 2\sqrt b \cos\varphi$, and

    $$ \sum_i f(s_i)\, u_i^\top A^* v_i = \frac2\pi \int_0^\pi f(s)\,
       \frac{\kappa \sqrt b\, \sin^2\varphi}{s\,(1 + \kappa^2 - 2\kappa\cos\varphi)}\, d\varphi,
       \qquad \kappa = \sqrt b/x^2 $$

    **Arguments:**

    - `strengths`: singular values of the signal $A^*$, (rank,)
    - `dim`: dimension $d$ of a square matrix, or the pair (outputs, inputs)
    - `noise_std`: standard deviation of the entries of $E$
    - `points`: number of nodes for the bulk; each node stands for several modes (its multiplicity)

    **Returns** a `TaskSpectrum` (`.values`, `.overlaps`, `.multiplicities`), which `predicted_diagram` accepts in place
    of a problem.

    The bulk is scaled by $1 + O(1/d)$ so that the mean of $|Y|_F^2$ is exact.

    **Valid when** the rank is small compared with the dimensions. In a finite matrix, outliers fluctuate by about
    `noise_std`, and the edge of the bulk by a fraction $d^{-2/3}$.

    **Reference:** Benaych-Georges and Nadakuditi 2012 for outliers and overlaps; the part in the bulk is our own.

    **Example:**

        >>> from linnet.theories.lazy_active import asymptotic_spectrum
        >>> asymptotic_spectrum([90.0, 5.0], 200, 1.0).values[:2].round(2)
        array([92.22, 28.22])
    """
    outputs, inputs = _sides(dim)
    sizes = np.sort(modes_of(strengths, "strengths"))[::-1]
    noise, points = non_negative("noise_std", noise_std), count("points", points, least=2)
    check_fits(80 * points, f"a bulk of {points} nodes", "Ask for fewer `points`.")
    small = min(outputs, inputs)
    if sizes.size > small:
        raise ValueError(f"`strengths` must be at most {small} for a {outputs} x {inputs} matrix: got {sizes.size}.")
    power = float((sizes**2).sum())
    if noise == 0:
        rest = small - sizes.size
        values, counts = np.append(sizes, [0.0] * (rest > 0)), np.append(np.ones(sizes.size), [rest] * (rest > 0))
        return TaskSpectrum(values, values.copy(), counts, outputs, inputs, power, sizes.size)
    ratio, unit = ratio_of(outputs, inputs), noise * np.sqrt(float(max(outputs, inputs)))
    x = sizes / unit
    above = x[x > ratio**0.25]
    outliers = np.sqrt((above + 1 / above) * (above + ratio / above))
    narrow = 1 - ratio * (1 + above**2) / (above**2 * (above**2 + ratio))  # of the vectors of the smaller side
    wide = 1 - (ratio + above**2) / (above**2 * (above**2 + 1))
    angle = np.pi * (np.arange(points) + 0.5) / points  # from the upper edge down; trapezoidal, so spectrally accurate
    bulk = np.sqrt(np.maximum(1 + ratio + 2 * np.sqrt(ratio) * np.cos(angle), 0))
    mass = np.sin(angle) ** 2 / bulk**2
    number = (small - above.size) * mass / mass.sum()
    spread = np.zeros(points)
    for kappa in np.sqrt(ratio) / x[x > 0] ** 2:
        spread += kappa * np.sqrt(ratio) * np.sin(angle) ** 2 / (bulk * (1 + kappa**2 - 2 * kappa * np.cos(angle)))
    # what the outliers take from the bulk, to the next order: together they hold E|Y|^2 = |A*|^2 + k d noise^2 exactly
    left = small + (x**2).sum() - (outliers**2).sum()
    bulk = bulk * np.sqrt(left / (number * bulk**2).sum())
    return TaskSpectrum(
        unit * np.concatenate([outliers, bulk]),
        unit * np.concatenate([above * np.sqrt(narrow * wide), 2 / points * spread / number]),
        np.concatenate([np.ones(above.size), number]),
        outputs,
        inputs,
        power,
        above.size,
    )


def _sides(dim: object) -> tuple[int, int]:
    """Outputs and inputs, of one number or of two."""
    if isinstance(dim, (tuple, list, np.ndarray)) and np.ndim(dim) == 1:  # type: ignore[arg-type]
        if len(dim) != 2:
            raise ValueError(f"`dim` must be one number or a pair (outputs, inputs): got {len(dim)} of them.")
        return count("dim", dim[0]), count("dim", dim[1])
    return count("dim", dim), count("dim", dim)
