"""The published cells of the phase diagram beside the formula, at the steps where their runs were stopped."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.reproduction import plane
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.published import phase_diagram_cells


def published_and_predicted(tasks: int, seed: int) -> Dataset:
    """Return the published cells with `predicted` and `predicted_train`, errors per entry at the same step, for each
    task.

    A step is $1/(c|A^*|)$ of canonical time, or $1/(c\\sigma^2 w)$ above the lazy border, $|A^*|$ that of the task.
    """
    cells = phase_diagram_cells()
    dim = int(cells.attrs["dim"])
    variances = float(dim) ** cells["gamma_variance"].values
    widths = float(dim) ** cells["gamma_width"].values
    test, train = np.zeros((2, tasks, variances.size, widths.size))
    for number in range(tasks):
        problem = plane.task(dim, number, seed)
        spectrum = ln.theories.mixed.task_spectrum(problem)
        size = float(np.linalg.norm(np.asarray(problem.truth), 2))
        powers = cells["gamma_variance"].values[:, None], cells["gamma_width"].values
        times = cells["last_step"].values * plane.step_size(*powers, dim=dim, size=size)
        for i, variance in enumerate(variances):
            for j, width in enumerate(widths):
                run = ln.theories.mixed.predicted_run(spectrum, variance, round(width), [float(times[i, j])])
                test[number, i, j] = run.test_loss[0]
                train[number, i, j] = run.loss[0]
    scale = 2 / dim**2  # the published errors are per entry and without the half
    axes = ("task", "gamma_variance", "gamma_width")
    return cells.assign(predicted=(axes, scale * test), predicted_train=(axes, scale * train))
