"""The page *Phase diagram*: every cell by formula, one of them trained, and maps that were trained before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.explorer.computing.padding import gradient_descent
from linnet_papers.tu import plane

if TYPE_CHECKING:
    import xarray as xr

AXES = ("gamma_width", "gamma_variance")  # of a map: exponents of width and variance in d
GRID = 25  # cells along each side
WIDTHS, VARIANCES = map(np.array, plane.grid(GRID).values())  # exponents in d
GROUPS = 16  # of the bulk's modes, each computed as one
DRAWS = 8  # starts of a cell that is not wide: one processor second for the map
LIMIT = 0.05  # relative error bar above which a cell is hatched
CELL_CAREFUL = 20.0  # c of a cell that is trained here, whatever the strength of its task: the step is 1/(c max(...))
CELL_POINTS = 80  # times of its run that are kept, about
CELL_MAX_STEPS = 3000  # of its run: a click is to be answered in a second or two
OWN_TASK = (0, 0)  # the key of the task behind our own maps, benchmarks/studies/trained_diagram.py
SMALL_DIM = 200  # up to which a whole spectrum is computed while somebody waits
PUBLISHED_DRAWS = 12  # tasks whose strengths are averaged to stand for the published one


def widths_of(dim: int, exponents: np.ndarray) -> np.ndarray:
    """Return whole widths, d to the power of the exponents."""
    return np.maximum(1, np.round(float(dim) ** np.asarray(exponents, dtype=float)))


def error_unit(dim: int) -> float:
    """Return the factor from a loss, half a sum of squares, to the error per entry of a matrix (dim, dim)."""
    return 2 / dim**2


def diagram(*, dim: int, rank: int, strength: float, ratio: float, noise_std: float) -> xr.Dataset:
    """Return least test error per entry, stable rank and steps to it, for every cell (gamma_width, gamma_variance).

    `error` is the relative error bar of the first; `covered` says that it is below 5%.
    """
    strengths = strength * dim * ratio ** np.arange(rank)  # singular values of the truth
    spectrum = ln.theories.lazy_active.asymptotic_spectrum(strengths, dim, noise_std)
    variances, widths = float(dim) ** VARIANCES, widths_of(dim, WIDTHS)
    predicted = ln.theories.lazy_active.predicted_diagram(
        spectrum, variances, widths, points=GROUPS, draws=DRAWS, coarse=True, limit=LIMIT
    )
    size = float(strengths[0])
    powers = VARIANCES[None, :], WIDTHS[:, None]
    return (
        predicted.to_dataset()[["best_time", "stable_rank", "uncertainty", "scatter", "covered"]]
        .assign_coords(width=WIDTHS, variance=VARIANCES)
        .rename(width="gamma_width", variance="gamma_variance")
        .assign(
            min_test_loss=(AXES, predicted.min_test_loss * error_unit(dim)),
            best_step=(AXES, predicted.best_time / plane.step_size(*powers, dim=dim, size=size)),
            region=(AXES, ln.theories.lazy_active.phase(*powers)),
        )
        .assign_attrs(dim=dim, rank=rank, size=size, units="errors per entry; times canonical")
    )


def trained_cell(
    *, cell: tuple[float, ...], cell_dim: int, rank: int, strength: float, ratio: float, noise_std: float, seed: int
) -> xr.Dataset:
    """Train one cell of the plane at the dimension `cell_dim`, and predict it by formula for the same task.

    Over `time`: `loss`, `test_loss` per entry and their predictions; `trained` and `predicted` are the product along
    the target's leading singular vectors, (time, mode).
    """
    import xarray as xr

    if len(cell) != 2:
        raise ValueError("A cell is two exponents, of the variance and of the width: click one in the map.")
    if rank > cell_dim:
        raise ValueError(
            f"A truth of rank {rank} does not fit into {cell_dim} dimensions: raise the trained dimension."
        )
    variance, width = float(cell_dim) ** cell[0], int(widths_of(cell_dim, np.array(cell[1])))
    task = ln.problems.low_rank_plus_noise(
        cell_dim, rank=rank, spectrum=strength * ratio ** np.arange(rank), noise_std=noise_std, key=seed
    )
    spectrum = ln.theories.lazy_active.task_spectrum(task)
    best = ln.theories.lazy_active.predicted_diagram(spectrum, [variance], [width], key=seed)
    rate = 1 / (CELL_CAREFUL * max(variance * width, strength * cell_dim))
    steps = int(np.clip(np.ceil(2.5 * float(best.best_time[0, 0]) / rate), CELL_POINTS, CELL_MAX_STEPS))
    start = ln.inits.reduced_gaussian(key=seed, in_dim=cell_dim, out_dim=cell_dim, width=width, stds=variance**0.5)
    run = gradient_descent(
        task, start, learning_rate=rate, steps=steps, save_every=max(1, steps // CELL_POINTS), keep="products"
    )
    predicted = ln.theories.lazy_active.predicted_run(spectrum, variance, width, run.times, key=seed)
    left, _, right = np.linalg.svd(task.cross)
    shown = min(rank + 3, cell_dim)  # the signal's modes and three of the noise
    along = np.einsum("ki,tkd,id->ti", left[:, :shown], run.products, right[:shown])
    unit = error_unit(cell_dim)
    least = int(np.argmin(run.test_loss))
    return xr.Dataset(
        {
            "trained": (("time", "mode"), along),
            "predicted": (("time", "mode"), predicted.values[:, :shown]),
            "loss": (("time",), run.loss * unit),
            "test_loss": (("time",), run.test_loss * unit),
            "predicted_loss": (("time",), predicted.loss * unit),
            "predicted_test_loss": (("time",), predicted.test_loss * unit),
            "threshold": ((), variance * width),
            "min_test_loss": ((), float(run.test_loss[least]) * unit),
            "predicted_min_test_loss": ((), float(best.min_test_loss[0, 0]) * unit),
        },
        coords={"time": run.times, "mode": np.arange(1, shown + 1)},
        attrs={
            "dim": cell_dim,
            "width": width,
            "variance": variance,
            "covered": int(best.covered[0, 0]),
            "learning_rate": rate,
            "steps": steps,
        },
    )


def trained_map(*, compare: str) -> xr.Dataset:
    """Return a map that was trained, and the formula on its cells: errors per entry, (gamma_width, gamma_variance).

    `compare` is "published" (300 cells, errors where their runs were stopped) or the dimension of one of our own maps
    (least errors; the formula only where it is claimed and where the run had gone past its least error when it was
    stopped). All tasks are of rank 5 in unit noise. Ours are known; the published one is not, and the formula takes the
    mean strengths of its kind, from which one draw differs by some percent.
    """
    maps = _published_map() if compare == "published" else _own_map(int(compare))
    return maps.assign(difference=100 * (maps["predicted"] / maps["trained"] - 1))


def task_strengths(dim: int, rank: int, key: int | tuple[int, ...]) -> np.ndarray:
    """Return the singular values of the truth of one drawn task, largest first."""
    from scipy.sparse.linalg import svds

    truth = np.asarray(ln.problems.low_rank_plus_noise(dim, rank=rank, key=key).truth)
    first = np.ones(dim)  # where the iteration starts: the same numbers every time
    return np.sort(svds(truth, rank, return_singular_vectors=False, v0=first))[::-1]


def _own_map(dim: int) -> xr.Dataset:
    """Return the map that was trained here at a dimension, and the formula for its task."""
    from linnet_papers.own.training.trained import trained_diagram

    cells = trained_diagram(dim)
    rank = int(cells.attrs["rank"])
    variances = float(dim) ** cells["gamma_variance"].values
    widths = widths_of(dim, cells["gamma_width"].values)
    if dim <= SMALL_DIM:
        spectrum = ln.theories.lazy_active.task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=rank, key=OWN_TASK))
    else:
        spectrum = ln.theories.lazy_active.asymptotic_spectrum(task_strengths(dim, rank, OWN_TASK), dim, 1.0)
    formula = ln.theories.lazy_active.predicted_diagram(spectrum, variances, widths, points=GROUPS, draws=0)
    claimed = formula.covered & (cells["best_step"] < cells["steps"]).values
    predicted = np.where(claimed, formula.min_test_loss * error_unit(dim), np.nan)
    made = cells[["min_test_loss"]].rename(min_test_loss="trained").assign(predicted=(AXES, predicted))
    return made.assign_attrs(dim=dim, rank=rank, what="least test error of our own networks")


def _published_map() -> xr.Dataset:
    """Return the published cells, and the formula where their runs were stopped."""
    from linnet_papers.tu.published import phase_diagram_cells

    cells = phase_diagram_cells().transpose(*AXES)
    dim, rank = int(cells.attrs["dim"]), int(cells.attrs["rank"])
    strengths = np.mean([task_strengths(dim, rank, key) for key in range(PUBLISHED_DRAWS)], axis=0)
    spectrum = ln.theories.lazy_active.asymptotic_spectrum(strengths, dim, 1.0).grouped(GROUPS)
    errors = np.zeros(cells["test_error"].shape)
    for i, power in enumerate(cells["gamma_width"].values):
        for j, other in enumerate(cells["gamma_variance"].values):
            variance, width = float(dim) ** other, round(float(dim) ** power)
            step = float(plane.step_size(other, power, dim=dim, size=strengths[0]))
            time = float(cells["last_step"].values[i, j]) * step
            run = ln.theories.lazy_active.predicted_run(spectrum, variance, width, [time], draws=1)
            errors[i, j] = run.test_loss[0] * error_unit(dim)
    made = cells[["test_error"]].rename(test_error="trained").assign(predicted=(AXES, errors))
    return made.assign_attrs(dim=dim, rank=rank, what="test error of the published networks where they were stopped")
