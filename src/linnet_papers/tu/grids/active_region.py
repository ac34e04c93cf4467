"""Tu et al., Theorem 2: how well networks of the active region have learned at T3, at their best, and at T*."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Numbers, Table, Trial
from linnet_papers.reproduction.datasets import DataArray, Dataset, cells_of, read_cells
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.settings import GAMMAS
from linnet_papers.tu.training.descents import active_cells
from linnet_papers.tu.training.starts import threshold_of

SPECTRA = {"(1)": (1.0,), "(1, 1)": (1.0, 1.0), "(1, 1/2)": (1.0, 0.5)}
SPANS = {"(1)": 3.0, "(1, 1)": 3.0, "(1, 1/2)": 18.0}  # how long to train, in units of log(d)/d


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over three tasks for every dimension and spectrum (two in quick mode), in a block."""
    dims, seeds = ([30, 100], 2) if trial.quick else ([50, 100, 200, 400], 3)
    axes = {"dim": dims, "spectrum": SPECTRA}
    fixed = {"gammas": GAMMAS, "spectra": SPECTRA, "spans": SPANS}
    return trial_sweep(trial, "tu-active-region", active_cells, axes, seeds=seeds, fixed=fixed, together="seed")


cells = trained(sweep)


def read(networks: Dataset) -> Dataset:
    """Return test errors of every network in units of the noise, (dim, spectrum, seed): `third` at T3, the `least`,
    `end` at T*, `short` at T* without its term for the alignment; and what lazy noise predicts at T*, `predicted`."""
    return read_cells(networks, ("dim", "spectrum", "seed"), read_network)


def read_network(network: Dataset) -> Numbers:
    """Return one curve at the times the theory names."""
    dim = int(network["dim"])
    spectrum = SPECTRA[network["spectrum"].item()]
    threshold = threshold_of(dim, GAMMAS)
    smallest = min(spectrum) * dim
    third = float(lazy_active.crossing_times(smallest, 0.0, threshold, level=0.5 * smallest)[0])
    end = lazy_active.stopping_time(spectrum, *GAMMAS, dim=dim)
    short = end - lazy_active.stage_lengths(spectrum, *GAMMAS, dim=dim)["alignment"]
    times, errors = network["times"].values, network["test_error"].values
    if max(third, end) > times[-1]:
        raise RuntimeError(
            f"T* = {end:.3g} is not reached at d = {dim}: the runs are too short for what is read off them"
        )
    at = dict(zip(("third", "end", "short"), np.interp([third, end, short], times, errors), strict=True))
    return {**at, "least": errors.min(), "predicted": predicted_error(dim, len(spectrum), threshold, end)}


def predicted_error(dim: float, rank: int, threshold: float, time: float) -> float:
    """Test error per entry once the signal is learned: noise on its K rows and columns, and what the lazy modes of E
    have learned.

    The singular values of E follow the quarter circle; each moves by the aligned equation from 0.
    """
    angles = (np.arange(2000) + 0.5) / 2000 * np.pi / 2
    edge = 2 * np.sin(angles) * np.sqrt(dim)
    weights = np.cos(angles) ** 2
    learned = lazy_active.aligned_modes(edge, np.zeros_like(edge), threshold, [time])[0] ** 2
    return float(2 * rank / dim + (learned * weights).sum() / weights.sum() / dim)


def errors(trial: Trial) -> Dataset:
    """Return what `read` returns of the networks."""
    return read(cells(trial))


def mean_and_std(errors: DataArray) -> str:
    """Return the mean and standard deviation of the errors of several tasks."""
    deviation = errors.std(ddof=1)
    return f"{errors.mean():.3f} ± " + (f"{deviation:.3f}" if deviation >= 5e-4 else "< 0.001")


TABLE = Table(
    name="active-region",
    title="Test error of networks of the active region at T3, at its least, and at T* of Theorem 2",
    sweep=sweep,
    read=lambda results: list(cells_of(read(results), "dim", "spectrum")),
    columns={
        "d": "{.dim:d}",
        "a": "{.spectrum:s}",
        "at T3": lambda row: mean_and_std(row.third),
        "at its least": lambda row: mean_and_std(row.least),
        "at T*": lambda row: mean_and_std(row.end),
        "at T* without alignment": lambda row: mean_and_std(row.short),
        "at T*, predicted": lambda row: f"{row.predicted[0]:.3f}",
    },
    note="Errors ‖A - A*‖²/‖E‖², mean ± standard deviation over the tasks; γ(σ²) = -1.85, γ(w) = 2.25.",
)
