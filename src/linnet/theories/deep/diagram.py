"""The phase diagram of wide deep networks without training: one SVD and a family of small flows."""

from __future__ import annotations

import numpy as np

from linnet._arguments import count, partly_representable, positive, refuse_infinite
from linnet.problems.problem import Problem
from linnet.theories.deep._family import family
from linnet.theories.lazy_active.predicted_diagrams import PredictedDiagram, check_axis, check_widths, spectrum_of
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

BULK_GROUPS = 48  # groups of the bulk's singular values
MAX_DEPTH = 6  # layers: beyond them the plateau of a small initialization is too long for the table of modes
TIMES_PER_CELL = 160  # times of each cell, next to those at which its modes pass a level
LEVELS_APART = 8  # fine levels: from one to the next a mode moves by 8% at most
REFINEMENTS = 3  # looks at the smallest error, each at so many times between the neighbors of the one before:
TIMES_PER_REFINEMENT = 17
# `.uncertainty`, fitted to trained networks: what remains at any width, what grows like the root of (inputs + outputs +
# 100) over width for each layer beyond the second (the 100: tasks of few modes scatter more), and the initialization's
# own product.
MIN_ERROR = 0.005
WIDTH_ERROR = 0.15
FEW_MODES = 100
MAX_COVERED_ERROR = 0.03  # of `.uncertainty`, up to which a cell is covered


@partly_representable
def deep_diagram(
    problem: Problem | TaskSpectrum,
    variances: object,
    widths: object,
    *,
    depth: int,
    points: int = BULK_GROUPS,
    limit: float = MAX_COVERED_ERROR,
) -> PredictedDiagram:
    r"""Compute the phase diagram of variance and width for wide deep networks, without training.

    `ln.phase_diagram(..., depth=)` calls it. For two layers, `lazy_active.predicted_diagram` is more accurate and also
    covers narrow networks.

    The result at a variance and a width depends only on $c = \sqrt{\sigma^2 w}$: every singular value of the target
    follows `gaussian_modes`. So one SVD of the target is enough for the whole diagram.

    **Arguments:**

    - `problem`: learning problem with whitened inputs and a signal (`truth`), or a `TaskSpectrum`
      (`lazy_active.task_spectrum`, `lazy_active.asymptotic_spectrum`)
    - `variances`: variances $\sigma^2 > 0$ of the entries of all layers, (variance,)
    - `widths`: widths $w \ge 1$ of all hidden layers, whole numbers of any size, (width,)
    - `depth`: number of layers $L$, 2 to 6; for deeper networks use `gaussian_modes`, one coupling at a time
    - `points`: number of groups into which bulk singular values are binned
    - `limit`: largest `uncertainty` of a covered cell

    **Returns** a `lazy_active.PredictedDiagram`. Its `.uncertainty` is the root of the sum of the squares of three
    parts: 0.5%, $0.15 \max(L - 2, 1)\sqrt{(d + k + 100)/w}$, and the squared norm $c^{2L} d k/w$ of the initial product
    over twice the minimum test loss.

    **Valid** for whitened inputs and Gaussian weights, in cells where `.covered` is true. The other cells hold the same
    formula. `.uncertainty` refers to one network. It was tested on 704 networks of depth 3 and 4, on 22 tasks to which
    it was not fitted, with widths of 8 (d + k) and more. Of these, 97% were within it, and none deviated by more than
    twice its value.

    **Reference:** own result.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.deep import deep_diagram
        >>> task = ln.problems.low_rank_plus_noise(30, rank=2, key=0)
        >>> diagram = deep_diagram(task, [1e-8, 1e-5], [10**6], depth=3)
        >>> bool(diagram.min_test_loss[0, 0] < diagram.min_test_loss[0, 1])  # a small initialization generalizes better
        True
    """
    spectrum = spectrum_of(problem, count("points", points), truth=True)
    if not spectrum.values.any():
        raise ValueError("`problem` must have a target that is not zero: there is nothing to be learned.")
    sizes, units = check_axis("variances", variances), check_widths(widths)
    L = count("depth", depth, least=2, most=MAX_DEPTH)
    coupling = np.sqrt(units[:, None] * sizes)
    refuse_infinite(coupling ** (2 * L), coupling ** (-2 * L))
    distinct, back = np.unique(np.round(np.log(coupling), 9), return_inverse=True)
    cells = np.array([_least_test_error(spectrum, float(np.exp(log)), L) for log in distinct])
    time, test, train, rank = (cells[:, i][back].reshape(coupling.shape) for i in range(4))
    own = coupling ** (2 * L) / units[:, None] * spectrum.outputs * spectrum.inputs
    narrow = WIDTH_ERROR * max(L - 2, 1) * np.sqrt((spectrum.outputs + spectrum.inputs + FEW_MODES) / units[:, None])
    uncertainty = np.sqrt(MIN_ERROR**2 + narrow**2 + (own / test) ** 2)
    refuse_infinite(test, time, rank, train, uncertainty)
    unknown = np.full(test.shape, np.nan)
    return PredictedDiagram(
        min_test_loss=test / 2,
        best_time=time,
        stable_rank=rank,
        train_at_best=train / 2,
        uncertainty=uncertainty,
        best_time_uncertainty=unknown,
        scatter=unknown,
        variances=sizes,
        widths=units,
        depth=L,
        limit=positive("limit", limit),
    )


def learning_time(value: float, coupling: float, depth: int) -> float:
    """About when a mode is learned: a plateau that ends at c^(2-L)/S, or the kernel's own time."""
    lazy = 1 / (depth * max(coupling ** (2 * depth - 2), value ** (2 - 2 / depth)))
    growth = np.log(2 + value / coupling**2) if depth == 2 else coupling ** (2 - depth)
    return float(lazy + growth / max(value, coupling**depth))


def _least_test_error(spectrum: TaskSpectrum, coupling: float, depth: int) -> tuple[float, float, float, float]:
    """Time of the smallest test error, twice the losses then, and the stable rank.

    A mode from a small initialization is learned within a small part of the time before it. So the error is evaluated
    on an even grid of times, and where single modes outside the bulk pass given levels. Around the smallest value the
    grid is then refined.
    """
    modes = family(depth).modes(spectrum.values[spectrum.values > 0], coupling)
    apart = max(spectrum.num_outliers, 1)
    early = 0.02 * learning_time(float(spectrum.values[0]), coupling, depth)
    late = 6 * learning_time(float(spectrum.values[apart - 1]), coupling, depth)
    passing = np.exp(modes.clocks[:apart, ::LEVELS_APART]).ravel()
    times = np.concatenate([np.geomspace(early, late, TIMES_PER_CELL), passing[(passing > early) & (passing < late)]])
    times.sort()
    for _ in range(REFINEMENTS):
        test, train, power, largest = _errors_of_modes(spectrum, modes.values(times))
        at = int(np.argmin(test))
        best = times[at], test[at], train[at], power[at] / max(largest[at] ** 2, np.finfo(float).tiny)
        times = np.geomspace(times[max(at - 1, 0)], times[min(at + 1, times.size - 1)], TIMES_PER_REFINEMENT)
    return best


def _errors_of_modes(spectrum: TaskSpectrum, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """Twice the test and training losses, the power and the largest of modes (time, mode)."""
    size = s.shape[1]  # the others are zero, and stay so
    many, values = spectrum.multiplicities[:size], spectrum.values[:size]
    power = s**2 @ many
    test = power - 2 * s @ (many * spectrum.overlaps[:size]) + spectrum.truth_power
    return test, (s - values) ** 2 @ many, power, s.max(axis=1)
