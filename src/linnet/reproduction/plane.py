"""The plane of variances and widths on which whole phase diagrams are trained: its border, the step, where runs end.

A cell is two exponents in d, of the variance of the weights and of the width. What is trained on the plane, what is
predicted for it and what the pages show of it all take these from here.

**Reference:** Tu et al. 2024, Figure 2, section G and the authors' public code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from linnet.trainers.stopping import Rule

RANK = 5  # of the truth
NOISE_STD = 1.0
VARIANCES = (-3.0, 0.0)  # exponents, least and most
WIDTHS = (0.0, 2.8)
CAREFUL = 50.0  # c, which sets the step
STEPS = 750  # a run is no longer

# Errors per entry of the matrix, without the half of the canonical loss
LEARNED = 1e-3  # train error below which a run ends
UNCHANGED = 2e-4  # change of the train error over a step below which it ends ...
BEGUN = 1e-2  # ... once the train error has fallen by more than this
RISEN = 2  # steps running over which the test error rises at the end of a run ...
SETTLED = 3  # ... which is looked at after this step


def grid(points: int) -> dict[str, list[float]]:
    """Exponents of a grid over the whole plane, `points` along each side."""
    return {
        "gamma_width": np.linspace(*WIDTHS, points).tolist(),
        "gamma_variance": np.linspace(*VARIANCES, points).tolist(),
    }


def width_of(dim: int, power: float) -> int:
    """The width at an exponent."""
    return max(1, round(float(dim) ** float(power)))


def is_lazy(gamma_variance: ArrayLike, gamma_width: ArrayLike) -> np.ndarray:
    r"""Whether cells lie above the lazy border, $\gamma_{\sigma^2} + \gamma_w > 1$."""
    return np.asarray(np.asarray(gamma_variance) + np.asarray(gamma_width) > 1)


def step_size(
    gamma_variance: ArrayLike, gamma_width: ArrayLike, *, dim: int, size: ArrayLike, c: float = CAREFUL
) -> np.ndarray:
    r"""The step of each cell, $1/(c |A^*|)$, or $1/(c \sigma^2 w)$ above the lazy border; `size` is $|A^*|$.

    **Example:**

        >>> from linnet.reproduction.plane import step_size
        >>> (1 / step_size([-2.0, -1.0], 2.5, dim=100, size=120.0)).round().tolist()
        [6000.0, 50000.0]
    """
    variances, powers = np.broadcast_arrays(gamma_variance, gamma_width)
    widths = np.reshape([float(width_of(dim, power)) for power in powers.ravel()], powers.shape)
    return 1 / (c * np.where(is_lazy(variances, powers), float(dim) ** variances * widths, size))


def learned(dim: int) -> Rule:
    """The end of a run whose train error is below 1e-3 per entry."""
    from linnet.trainers import stopping

    return stopping.LossBelow(LEARNED * dim**2 / 2)


def published_rule(dim: int) -> Rule:
    """Where the public loop ends a run, whatever comes first; `STEPS` bounds it besides.

    The test error rose two steps running (after step 3); the train error is below 1e-3; or it changed by less than
    2e-4 in a step and has fallen by more than 1e-2, so that the plateau a small start begins with is no end.
    """
    from linnet.trainers import stopping

    entry = dim**2 / 2
    return stopping.first_of(
        stopping.TestLossRising(RISEN, after=SETTLED),
        learned(dim),
        stopping.Stalled(absolute=UNCHANGED * entry, fallen=BEGUN * entry),
    )
