"""What Figure 2 shows: the cells of the phase diagram, trained, and the regions and boundaries of the theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.figure import Settings
from linnet_papers.tu import plane
from linnet_papers.tu.figures.fig2 import predicted
from linnet_papers.tu.training.phase_diagram import REASONS, plane_cells

MAPS = ("a", "b", "c", "d", "g", "h")  # a to d are the paper's panels, the others ours

REGIONS = ("underparametrized", "infinite-noise", "lazy", "active")  # the numbers of `region` in the dataset
LONG = {
    "min_test_loss": "smallest test error per entry over the run",
    "stable_rank": "|A|_F^2/|A|_op^2 at the smallest test error",
    "best_step": "iterations until the smallest test error",
    "log_distance": "ln of the largest mean squared distance to the self-consistent dynamics over the run",
    "last_train": "train error per entry at the end of the run",
    "reason": "why the run ended, by its number in the attribute `reasons`",
    "taken": "steps taken",
    "region": "region of the phase diagram: 0 underparametrized, 1 infinite noise, 2 lazy, 3 active",
    "border_width": "width exponents of the boundaries",
    "border_lazy": "variance exponent of the lazy boundary",
    "border_noise": "variance exponent of the boundary of infinite noise",
    "width_dim": "width exponent of w = d",
    "width_rank": "width exponent of w = K",
    "predicted_test": "smallest test error per entry by formula, without training",
    "predicted_error": "relative error bar of that prediction",
    "covered": "whether that error bar is below 3%",
}


class TuFig2(Settings):
    """Defaults are the paper's grid; `seeds` tasks each, `side_*` the coarser grid of the panels e and f.

    `update="sequential"` is the published loop, whose second layer sees the new first one; eq. (2) moves both at once.
    """

    dim: PositiveInt = 200
    rank: PositiveInt = plane.RANK
    noise_std: float = plane.NOISE_STD
    grid: PositiveInt = 35
    least_variance: float = plane.VARIANCE_EXPONENTS[0]
    most_variance: float = plane.VARIANCE_EXPONENTS[1]
    most_width: float = plane.WIDTH_EXPONENTS[1]
    c: PositiveFloat = plane.STEP_C
    steps: PositiveInt = plane.MAX_STEPS
    update: Literal["simultaneous", "sequential"] = "simultaneous"
    seeds: PositiveInt = 1
    dtype: Literal["float32", "float64"] = "float32"
    workers: NonNegativeInt = 0
    side_dims: tuple[int, ...] = (25, 50, 100)
    side_grid: PositiveInt = 9
    side_seeds: PositiveInt = 5


def compute(settings: TuFig2, panels: tuple[str, ...]) -> Dataset:
    import jax
    import xarray as xr

    every = jax.default_backend() != "cpu"  # an accelerator takes all cells in one batch
    parts = []
    if set(panels) & set(MAPS) or not panels:
        block = settings.grid**2 * settings.seeds if every else max(1, settings.grid**2 // 7)
        axes = {"replicate": range(settings.seeds), **_axes(settings, settings.grid)}
        parts.append(_trained_cells("tu-fig2", settings, axes, block=block, dim=settings.dim))
    if set(panels) & {"e", "f"}:
        axes = {"replicate": range(settings.side_seeds), **_axes(settings, settings.side_grid)}
        block, axes = settings.side_grid**2 * settings.side_seeds, {"dim": settings.side_dims, **axes}
        sides = _trained_cells("tu-fig2-seeds", settings, axes, block=block, dim=None)
        parts.append(sides.rename({name: f"side_{name}" for name in sides.variables if name != "dim"}))
    data = xr.merge(parts)
    data = data.assign(_theory(settings, data))
    task = plane.task(settings.dim, 0, settings.seed, rank=settings.rank, noise_std=settings.noise_std)
    if "min_test_loss" in data:
        exponents = data["gamma_variance"].values, data["gamma_width"].values
        data = data.assign(predicted.predicted_variables(task, *exponents, settings.dim))
    for name in data.data_vars:
        data[name].attrs["long_name"] = LONG[str(name).removeprefix("side_")]
    truth = np.asarray(task.truth)
    data.attrs = {
        "panels": ",".join(panels),
        "rank": settings.rank,
        "dim": settings.dim,
        "reasons": ",".join(REASONS),
        "truth_size": float(np.linalg.norm(truth, 2)),
        "truth_power": float((truth**2).mean()),
        "noise_power": float(((task.cross - truth) ** 2).mean()),
        "truth_rank": float((truth**2).sum() / np.linalg.norm(truth, 2) ** 2),
        "scheme": "network: descent on the narrow network of the self-consistent dynamics, at the same step size",
    }
    return data


def _trained_cells(
    name: str, settings: TuFig2, axes: Mapping[str, Sequence[float]], *, block: int, dim: int | None
) -> Dataset:
    """Train a grid of cells as a sweep: resumable, and one block a batch."""
    names = ("rank", "noise_std", "c", "steps", "update", "seed")
    fixed = {name: getattr(settings, name) for name in names} | ({} if dim is None else {"dim": dim})
    grid = ln.sweeps.Sweep(
        name=name,
        function=plane_cells,
        axes={axis: list(values) for axis, values in axes.items()},
        seed=settings.seed,
        fixed=fixed,
        block=block,
        unbatched_axes=[] if dim else ["dim"],
        dtype=settings.dtype,
    )
    return ln.sweeps.run(grid, workers=settings.workers).drop_vars("cell_status").astype(float)


def _theory(settings: TuFig2, data: Dataset) -> dict[str, Any]:
    """Return what the theory says of the plane: the region of every cell (by its number) and the boundaries between
    them."""
    heights = np.linspace(0.0, settings.most_width, 50)
    lines = lazy_active.phase_boundaries(heights, dim=settings.dim, rank=settings.rank)
    variables = {
        "border_width": (("border",), heights),
        "border_lazy": (("border",), lines["lazy"]),
        "border_noise": (("border",), lines["infinite-noise"]),
        "width_dim": ((), float(lines["width-dim"])),
        "width_rank": ((), float(lines["width-rank"])),
    }
    for before in ("", "side_"):
        up, across = f"{before}gamma_width", f"{before}gamma_variance"
        if up in data.coords:
            region = lazy_active.phase(data[across].values[None, :], data[up].values[:, None])
            codes = np.select([region == name for name in REGIONS], range(len(REGIONS)))
            variables[f"{before}region"] = ((up, across), codes.astype(float))
    if "dim" in data.coords:
        dims = data["dim"].values.astype(int).tolist()
        ranks = [float(lazy_active.phase_boundaries(0.0, dim=d, rank=settings.rank)["width-rank"]) for d in dims]
        variables["side_width_rank"] = (("dim",), ranks)
    return variables


def _axes(settings: TuFig2, count: int) -> dict[str, Sequence[float]]:
    """Return the exponents of a grid of so many cells a side."""
    variances = settings.least_variance, settings.most_variance
    return {**plane.grid(count, widths=(0.0, settings.most_width), variances=variances)}
