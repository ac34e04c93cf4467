"""The plane of variances and widths on which whole phase diagrams are trained: its border, the step, where runs end.

A cell is two exponents in d, of the variance of the weights and of the width. What is trained on the plane, what is
predicted for it and what the pages show of it all take these from here.

**Reference:** Tu et al. 2024, Figure 2, section G and the authors' public code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from linnet.problems.problem import Problem
    from linnet.trainers.diagrams import DiagramRuns
    from linnet.trainers.stopping import Rule

RANK = 5  # of the truth
NOISE_STD = 1.0
VARIANCE_EXPONENTS = (-3.0, 0.0)  # exponents, least and most
WIDTH_EXPONENTS = (0.0, 2.8)
STEP_C = 50.0  # c: the step is 1/(c |A*|)
MAX_STEPS = 750  # of a run

# Errors per entry of the matrix, without the half of the canonical loss
LEARNED_ERROR = 1e-3  # train error below which a run ends
STALLED_CHANGE = 2e-4  # change of the train error over a step below which it ends ...
STALLED_AFTER_FALL = 1e-2  # ... once the train error has fallen by more than this
RISING_STEPS = 2  # steps running over which the test error rises at the end of a run ...
RISING_AFTER_STEP = 3  # ... which is looked at after this step


def grid(
    points: int,
    *,
    widths: tuple[float, float] = WIDTH_EXPONENTS,
    variances: tuple[float, float] = VARIANCE_EXPONENTS,
) -> dict[str, list[float]]:
    """Return the exponents of a grid over the plane, or a part of it, `points` along each side."""
    return {
        "gamma_width": np.linspace(*widths, points).tolist(),
        "gamma_variance": np.linspace(*variances, points).tolist(),
    }


def width_of(dim: int, power: float) -> int:
    """Return the width at an exponent."""
    return max(1, round(float(dim) ** float(power)))


def is_lazy(gamma_variance: ArrayLike, gamma_width: ArrayLike) -> np.ndarray:
    r"""Whether cells lie above the lazy boundary, $\gamma_{\sigma^2} + \gamma_w > 1$."""
    return np.asarray(np.asarray(gamma_variance) + np.asarray(gamma_width) > 1)


def step_size(
    gamma_variance: ArrayLike, gamma_width: ArrayLike, *, dim: int, size: ArrayLike, c: float = STEP_C
) -> np.ndarray:
    r"""The step of each cell, $1/(c |A^*|)$, or $1/(c \sigma^2 w)$ above the lazy boundary; `size` is $|A^*|$.

    **Example:**

        >>> from linnet_papers.tu.plane import step_size
        >>> (1 / step_size([-2.0, -1.0], 2.5, dim=100, size=120.0)).round().tolist()
        [6000.0, 50000.0]
    """
    variances, powers = np.broadcast_arrays(gamma_variance, gamma_width)
    widths = np.reshape([float(width_of(dim, power)) for power in powers.ravel()], powers.shape)
    return 1 / (c * np.where(is_lazy(variances, powers), float(dim) ** variances * widths, size))


def task(dim: int, replicate: int, seed: int, *, rank: int = RANK, noise_std: float = NOISE_STD) -> Problem:
    """Return the task of a replicate, the same in every cell of the plane: a truth of low rank in noise."""
    from linnet.problems import low_rank_plus_noise

    return low_rank_plus_noise(dim, rank=rank, noise_std=noise_std, key=[seed, replicate])


def trained_cells(
    points: Mapping[str, np.ndarray],
    seeds: np.ndarray,
    *,
    dim: int,
    task_of: Callable[[int], Problem],
    c: float = STEP_C,
    **options: Any,
) -> tuple[DiagramRuns, np.ndarray]:
    """Train a block of cells of one dimension, each with the step of the plane.

    **Arguments:**

    - `points`: `gamma_variance`, `gamma_width` and `replicate` of each cell
    - `seeds`: of the starts, one for each cell
    - `dim`: of the tasks
    - `task_of`: from the number of a replicate to its task
    - `c`: of the step
    - `options`: those of `gaussian_diagram`: steps, stopping rule, update and how it runs

    **Returns** what the runs left behind, and the step of each.
    """
    from linnet.trainers.diagrams import gaussian_diagram

    numbers = [int(number) for number in points["replicate"]]
    replicates = sorted(set(numbers))
    problems, which = [task_of(number) for number in replicates], [replicates.index(number) for number in numbers]
    sizes = np.array([float(np.linalg.norm(np.asarray(problem.truth), 2)) for problem in problems])
    exponents = points["gamma_variance"], points["gamma_width"]
    rates = step_size(*exponents, dim=dim, size=sizes[which], c=c)
    runs = gaussian_diagram(
        problems,
        keys=[int(number) for number in seeds],
        widths=[width_of(dim, power) for power in exponents[1]],
        variances=float(dim) ** exponents[0],
        learning_rates=rates,
        tasks=which,
        **options,
    )
    return runs, rates


def learned_rule(dim: int) -> Rule:
    """Return the rule that ends a run whose train error is below 1e-3 per entry."""
    from linnet.trainers import stopping

    return stopping.LossBelow(LEARNED_ERROR * dim**2 / 2)


def published_rule(dim: int) -> Rule:
    """Return the rule by which the public loop ends a run, whatever comes first; `MAX_STEPS` bounds it besides.

    The test error rose two steps running (after step 3); the train error is below 1e-3; or it changed by less than
    2e-4 in a step and has fallen by more than 1e-2, so that the plateau a small initialization begins with is no end.
    """
    from linnet.trainers import stopping

    entry = dim**2 / 2
    return stopping.first_of(
        stopping.TestLossRising(RISING_STEPS, after=RISING_AFTER_STEP),
        learned_rule(dim),
        stopping.Stalled(absolute=STALLED_CHANGE * entry, fallen=STALLED_AFTER_FALL * entry),
    )
