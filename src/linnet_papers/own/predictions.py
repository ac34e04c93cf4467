"""What the theories say of the problems that our claims and figures try, beside what is trained in `networks`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import linnet as ln
from linnet.theories.one_output import ErrorOverTime
from linnet_papers.own.training.plane import QUANTITIES, chosen_cells, tasks_of
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.tu import plane
from linnet_papers.tu.published import phase_diagram_cells

SMALL, LARGE = 1e-4, 1e3  # thresholds far on either side of the solution's size
TIMES = np.append(0.0, np.geomspace(1e-4, 200, 150))  # over the larger of 1 and the threshold


def published_and_predicted(tasks: int, seed: int) -> Dataset:
    """Return the published cells with `predicted` and `predicted_train`, errors per entry at the same step, for each
    task.

    A step is $1/(c|A^*|)$ of canonical time, or $1/(c\\sigma^2 w)$ above the lazy boundary, $|A^*|$ that of the task.
    """
    cells = phase_diagram_cells()
    dim = int(cells.attrs["dim"])
    variances = float(dim) ** cells["gamma_variance"].values
    widths = float(dim) ** cells["gamma_width"].values
    test, train = np.zeros((2, tasks, variances.size, widths.size))
    for number in range(tasks):
        problem = plane.task(dim, number, seed)
        spectrum = ln.theories.lazy_active.task_spectrum(problem)
        size = float(np.linalg.norm(np.asarray(problem.truth), 2))
        powers = cells["gamma_variance"].values[:, None], cells["gamma_width"].values
        times = cells["last_step"].values * plane.step_size(*powers, dim=dim, size=size)
        for i, variance in enumerate(variances):
            for j, width in enumerate(widths):
                run = ln.theories.lazy_active.predicted_run(spectrum, variance, round(width), [float(times[i, j])])
                test[number, i, j] = run.test_loss[0]
                train[number, i, j] = run.loss[0]
    scale = 2 / dim**2  # the published errors are per entry and without the half
    axes = ("task", "gamma_variance", "gamma_width")
    return cells.assign(predicted=(axes, scale * test), predicted_train=(axes, scale * train))


def predicted_cells(networks: Dataset) -> dict[str, np.ndarray]:
    """Return the prediction for every cell of a sweep by the name of the quantity, (task, cell)."""
    rows = []
    for number, problem in tasks_of(networks).items():
        spectrum = ln.theories.lazy_active.task_spectrum(problem)
        places = chosen_cells(number, int(networks.attrs["seed"]), max(problem.cross.shape), networks.sizes["cell"])
        rows.append(
            [ln.theories.lazy_active.predicted_diagram(spectrum, [one.variance], [one.width]) for one in places]
        )
    names = (*QUANTITIES, "covered", "uncertainty", "best_time_uncertainty")
    return {name: np.array([[getattr(one, name)[0, 0] for one in row] for row in rows]) for name in names}


def predicted_min_test_loss(networks: Dataset, seed: int) -> np.ndarray:
    """Return the predicted minimum test loss of the cells of a sweep, (dim, gamma_width, gamma_variance, replicate)."""
    rows = []
    for dim in networks["dim"].values.tolist():
        widths = [plane.width_of(dim, power) for power in networks["gamma_width"].values]
        variances = float(dim) ** networks["gamma_variance"].values
        tasks = [plane.task(dim, int(number), seed) for number in networks["replicate"].values]
        predicted = [ln.theories.lazy_active.predicted_diagram(task, variances, widths).min_test_loss for task in tasks]
        rows.append(np.stack(predicted, axis=-1))
    return np.stack(rows)


def spiked_limit(
    spike: float, alignment: float, dim: int, samples: int, noise_variance: float, threshold: float, times: np.ndarray
) -> ErrorOverTime:
    """Return both errors over time of data with one spike, in the proportional limit."""
    return ln.theories.one_output.asymptotic(
        [1 + spike, 1.0],
        [alignment**2, 1 - alignment**2],
        samples,
        multiplicities=[1, dim - 1],
        noise_variance=noise_variance,
        threshold=threshold,
        times=times,
    )


def small_start(spike: float, alignment: float, samples_by_inputs: float, times: np.ndarray) -> np.ndarray:
    """Return the test error over time from a small initialization.

    With infinitely many samples by inputs, of the population; else in the proportional limit, with label noise.
    """
    if np.isinf(samples_by_inputs):
        problem = ln.problems.spiked_covariance(12, spike=spike, alignment=alignment)
        return np.asarray(ln.theories.one_output.error_over_time(problem, 1e-6, times).test_loss)
    samples = round(samples_by_inputs * 200)
    return np.asarray(spiked_limit(spike, alignment, 200, samples, 0.5, 1e-6, times).test_loss)


def late_rates(cov: np.ndarray, target: np.ndarray, scale: float) -> np.ndarray:
    """Return the rates at which what is left of the target decays at the end, smallest first: the eigenvalues of M
    Sigma, M the metric that the layers of one output give the predictor."""
    size = np.linalg.norm(target)
    q = np.hypot(scale, size)
    metric = (q + scale) * np.eye(len(target)) + (q - scale) * np.outer(target, target) / size**2
    return np.sort(np.linalg.eigvals(metric @ cov).real)


def gain_in_the_limit(spike: float, alignment: float, dim: int, samples: int, signal_to_noise: float) -> float:
    """Return the minimum test error of a large initialization over that of a small one, in the proportional limit."""
    noise = (1 + spike * alignment**2) / signal_to_noise
    return _gain_of_small_start(partial(spiked_limit, spike, alignment, dim, samples, noise))


def gain_on_data(
    spike: float, alignment: float, dim: int, samples: int, signal_to_noise: float, *, key: list[int]
) -> float:
    """Return what `gain_in_the_limit` does for one draw of the data, each start stopped at its own best time."""
    noise_std = np.sqrt((1 + spike * alignment**2) / signal_to_noise)
    problem = ln.problems.spiked_covariance(
        dim, spike=spike, alignment=alignment, samples=samples, noise_std=noise_std, key=key
    )
    return _gain_of_small_start(partial(ln.theories.one_output.error_over_time, problem))


def _gain_of_small_start(curve: Callable[[float, np.ndarray], ErrorOverTime]) -> float:
    """Return the minimum test error of a large initialization over that of a small one."""
    return _least_test_error(curve, LARGE) / _least_test_error(curve, SMALL)


def _least_test_error(curve: Callable[[float, np.ndarray], ErrorOverTime], threshold: float) -> float:
    """Return the minimum test error over time: on a coarse grid, then between the neighbors of its best time. From a
    small start modes are learned within a few hundredths of the time before: a grid that is not refined misses the
    least."""
    times = TIMES / max(1.0, threshold)
    best = int(np.argmin(np.asarray(curve(threshold, times).test_loss)))
    around = np.linspace(times[max(best - 1, 0)], times[min(best + 1, times.size - 1)], 60)
    return curve(threshold, around).min_test_loss
