"""The tables of the process driven by noise alone: what paths do up to t = 6, and how they grow in the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.varre.networks import noise_process, volumes
from linnet.papers.varre.settings import BATCH, DIMS, MOMENTS, NOISE, STARTS
from linnet.reproduction import Trial
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

GROWTH_DIMS = (2, 3, 4, 5, 6)
# paths, step and time, quick or not: after t = 40 the angle of two neurons nears the last digit of some paths
GROWTH = {True: (4000, 0.05, 40.0), False: (24_000, 0.025, 40.0)}


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Every dimension from both starts, each in a block of its own."""
    paths, step = NOISE[trial.quick]
    return ln.sweeps.Sweep(
        name="varre-noise",
        function=noise_process.cells,
        axes={"dim": list(DIMS), "start": list(STARTS)},
        seed=trial.seed,
        fixed={"paths": paths, "step": step, "batch": BATCH},
        block=1,
        coords={"moment": list(MOMENTS)},
    )


def growth_sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Every dimension in a block of its own."""
    paths, step, time = GROWTH[trial.quick]
    return ln.sweeps.Sweep(
        name="varre-growth",
        function=volumes.cells,
        axes={"dim": list(GROWTH_DIMS)},
        seed=trial.seed,
        fixed={"paths": paths, "step": step, "time": time},
        block=1,
    )


def process(trial: Trial, dim: int, *, tilted: bool = False) -> xr.Dataset:
    """What is kept of the paths of one dimension, from a = 0 or from a of unit length."""
    return NOISE_PROCESS.results(trial).sel(dim=dim, start="tilted" if tilted else "zero")


def sampled(paths: xr.Dataset, name: str, moment: float | None = None) -> tuple[float, float]:
    """A mean over the paths and its standard error, at one time where it has several."""
    chosen = paths if moment is None else paths.sel(moment=moment)
    return float(chosen[name]), float(chosen[f"{name}_error"])


def rates(trial: Trial, name: str) -> dict[int, tuple[float, float]]:
    """A measured growth rate and its standard error, by dimension: of "length", "second" or "outgoing"."""
    found = GROWTH_RATES.results(trial)
    return {int(dim): sampled(found.sel(dim=dim), name) for dim in found["dim"].values}


def columns(results: xr.Dataset) -> Columns:
    """Growth, commutator, angle and lower singular values, each beside what is said of it."""
    from linnet.theories import noise

    names = {"zero": "0", "tilted": "unit length"}
    rows = [
        (int(d), str(s), results.sel(dim=d, start=s)) for d in results["dim"].values for s in results["start"].values
    ]
    start = [float(paths["area_start"]) for _, _, paths in rows]
    return {
        "d": [str(dim) for dim, _, _ in rows],
        "a(0)": [names[name] for _, name, _ in rows],
        "paths": [str(int(paths["paths"])) for _, _, paths in rows],
        "growth of ln ‖w‖² to t = 3": [_pair(*sampled(paths, "growth"), form="{:+.2f} ± {:.2f}") for *_, paths in rows],
        "(d - 2) times its clock": [f"{noise.scale_drift(dim) * float(paths['clock']):+.2f}" for dim, _, paths in rows],
        "mean size of [w1, a] at t = 3": [_pair(*sampled(paths, "area", 3.0), dim=dim) for dim, _, paths in rows],
        "printed": [
            f"{area * np.exp(-3.0):.3f}" if dim > 1 else "" for area, (dim, _, _) in zip(start, rows, strict=True)
        ],
        "its median, t = 1 to 6": [_course(paths["area_median"], dim) for dim, _, paths in rows],
        "mean sine of w1 and a, t = 1 to 6": [_course(paths["sine"], dim) for dim, _, paths in rows],
        "mean change of ln σ2, t = 3 to 6": [
            _pair(*sampled(paths.isel(value=1), "log_value_change"), dim=dim, form="{:+.3f} ± {:.3f}")
            for dim, _, paths in rows
        ],
    }


def growth_columns(results: xr.Dataset) -> Columns:
    """Measured growth rates beside the Lyapunov exponents."""
    from linnet.theories import noise

    dims = results["dim"].values.tolist()
    exponents = {dim: noise.lyapunov_exponents(dim) for dim in dims}
    form = "{:+.4f} ± {:.4f}"
    return {
        "d": [str(dim) for dim in dims],
        "rate of ln ‖w‖": [_pair(*sampled(results.sel(dim=dim), "length"), form=form) for dim in dims],
        "first exponent": [f"{exponents[dim][0]:+.4f}" for dim in dims],
        "rate of ln ‖a‖": [_pair(*sampled(results.sel(dim=dim), "outgoing"), form=form) for dim in dims],
        "rate of ln(area/length)": [_pair(*sampled(results.sel(dim=dim), "second"), form=form) for dim in dims],
        "second exponent": [f"{exponents[dim][1]:+.4f}" for dim in dims],
        "commutator (sum)": [f"{exponents[dim][:2].sum():+.4f}" for dim in dims],
        "alignment (difference)": [f"{exponents[dim][0] - exponents[dim][1]:+.4f}" for dim in dims],
    }


def _pair(mean: float, error: float, dim: int = 2, form: str = "{:.3f} ± {:.3f}") -> str:
    return form.format(mean, error) if dim > 1 else ""  # one input has neither angle nor second value


def _course(values: xr.DataArray, dim: int) -> str:
    return f"{float(values.sel(moment=1.0)):.2f} → {float(values.sel(moment=6.0)):.2f}" if dim > 1 else ""


NOISE_PROCESS = Table(
    name="noise",
    title="Noise alone: growth of the weights, commutator, angle, and the second singular value",
    sweep=sweep,
    columns=columns,
    note="Means ± standard errors over paths; the clock is the integral of a²/‖w‖²; printed: e^-3 of the start.",
)
GROWTH_RATES = Table(
    name="growth",
    title="Noise alone in the limit: growth rates of lengths and areas against the Lyapunov exponents",
    sweep=growth_sweep,
    columns=growth_columns,
    note="σ1 grows where the first exponent is positive, σ2 decays where the second is negative.",
)
