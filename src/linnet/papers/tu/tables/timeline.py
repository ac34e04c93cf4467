"""Appendix E.3: the stages T1 to T5 of networks of the active region, from the lazy start to the learned signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.descents import timeline_cells
from linnet.papers.tu.settings import GAMMAS
from linnet.reproduction import Columns, Table, Trial

if TYPE_CHECKING:
    import xarray as xr

SPECTRA = {"(1)": (1.0,), "(1, 1/2)": (1.0, 0.5)}
STEPS = 400
NEAR = 2.0  # a singular value between half the threshold and twice it is at the transition
ALIGNED = 1.01  # x within a hundredth of its later least: T4 as we read it
SETTLED = 0.02  # singular values so close to those of A* + E have arrived: T5 as we read it


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the tasks of one dimension and spectrum in a block."""
    dims, seeds = ([30, 90], 3) if trial.quick else ([50, 100, 200], 3)
    return ln.sweeps.Sweep(
        name="tu-timeline",
        function=timeline_cells,
        axes={"dim": dims, "spectrum": list(SPECTRA)},
        seeds=seeds,
        seed=trial.seed,
        fixed={"gammas": GAMMAS, "spectra": SPECTRA, "steps": STEPS},
        block=seeds,
        apart=["dim", "spectrum"],
    )


@dataclass(frozen=True)
class Stages:
    """The networks of one dimension and spectrum, one entry of every array for each of them.

    - `reached`: t1 (Lemma C.8), T1, T2, T3 and T5 on the paper's clock, over d
    - `growth`: T3 - T1, canonical; `start`: s_K at T1
    - `defect`: x at those times; `later`: its least and its largest from T1 on and from T3 on; `end`: the last one
    - `aligned`: T4 - T3 on the paper's clock over d, T4 being when x is within a hundredth of its later least
    - `noise`: s_(K+1) at T3 over the threshold, and the largest s_(K+1)/s_K from T3 on
    - `left`: how far the signal's singular values end from those of A* + E, relative to these
    - `linear`: s_1 at T1/2 over that at T1
    - `near`: the share of the time to T5 that the leading singular value is near the threshold
    """

    dim: int
    name: str
    reached: dict[str, np.ndarray]
    growth: np.ndarray
    start: np.ndarray
    defect: dict[str, np.ndarray]
    highest: np.ndarray
    least: np.ndarray
    end: np.ndarray
    aligned: np.ndarray
    noise: np.ndarray
    left: np.ndarray
    linear: np.ndarray
    near: np.ndarray

    @property
    def smallest(self) -> float:
        """The least singular value of A*."""
        return min(SPECTRA[self.name]) * self.dim

    @property
    def threshold(self) -> float:
        return threshold_of(self.dim)


def threshold_of(dim: int) -> float:
    """sigma^2 w of the networks."""
    return dim ** GAMMAS[0] * round(dim ** GAMMAS[1])


def read(networks: xr.Dataset) -> list[Stages]:
    """One row for every dimension and spectrum of the sweep."""
    return [
        read_row(networks.sel(dim=dim, spectrum=name))
        for dim in networks["dim"].values
        for name in networks["spectrum"].values
    ]


def read_row(networks: xr.Dataset) -> Stages:
    """The stages of the networks of one dimension and spectrum."""
    dim, name = int(networks["dim"]), str(networks["spectrum"].values)
    runs = [read_run(networks.sel(seed=seed), dim, SPECTRA[name]) for seed in networks["seed"].values]
    times, defect = (
        {stage: np.array([run[what][stage] for run in runs]) for stage in runs[0][what]} for what in ("times", "defect")
    )
    numbers = ("start", "highest", "least", "end", "aligned", "noise", "left", "linear", "near")
    return Stages(
        dim,
        name,
        reached={stage: dim * values for stage, values in times.items()},
        growth=times["T3"] - times["T1"],
        defect=defect,
        **{what: np.array([run[what] for run in runs]) for what in numbers},
    )


def read_run(network: xr.Dataset, dim: int, spectrum: tuple[float, ...]) -> dict:
    """As `Stages`, of one network; times are canonical. Between saved states logarithms are taken as straight."""
    rank, ratio, threshold = len(spectrum), dim ** (GAMMAS[1] - 1), threshold_of(dim)
    times, defect, goals = (network[what].values for what in ("times", "defect", "goals"))
    values = network["singular_values"].transpose("state", "mode").values
    reached = {
        "t1": crossing(times, values[:, 0], threshold * ratio**-0.25),
        "T1": crossing(times, values[:, 0], threshold),
        "T2": crossing(times, values[:, 0], threshold * ratio**0.25),
        "T3": crossing(times, values[:, rank - 1], 0.5 * min(spectrum) * dim),
    }
    apart = np.abs(values[:, :rank] / goals[:rank] - 1).max(axis=1)
    reached["T5"] = crossing(times, -apart, -SETTLED)
    from_first, from_third = times >= reached["T1"], times >= reached["T3"]
    at_third = float(np.interp(reached["T3"], times, defect))
    least = min(at_third, float(defect[from_third].min()))
    # x may rise again later: the first time counts
    fourth = reached["T3"] if at_third <= ALIGNED * least else float(times[from_third & (defect <= ALIGNED * least)][0])
    near = [crossing(times, values[:, 0], threshold * share) for share in (1 / NEAR, NEAR)]
    return {
        "times": reached,
        "defect": {stage: float(np.interp(time, times, defect)) for stage, time in reached.items()},
        "highest": float(defect[from_first].max()),
        "least": least,
        "end": float(defect[-1]),
        "aligned": dim * (fourth - reached["T3"]),
        "noise": [
            float(np.interp(reached["T3"], times, values[:, rank])) / threshold,
            float((values[from_third, rank] / values[from_third, rank - 1]).max()),
        ],
        "left": float(apart[-1]),
        "start": float(np.interp(reached["T1"], times, values[:, rank - 1])),
        "linear": float(np.interp(reached["T1"] / 2, times, values[:, 0])) / threshold,
        "near": (near[1] - near[0]) / reached["T5"],
    }


def crossing(times: np.ndarray, values: np.ndarray, level: float) -> float:
    """When values last below `level` reach it, straight between two states; never a silent 0."""
    below = np.flatnonzero(values < level)
    if not below.size or below[-1] + 1 == len(values):
        raise RuntimeError(f"{level:.3g} is not reached from below: the run is too short for what is measured on it")
    pair = slice(below[-1], below[-1] + 2)
    return float(np.interp(level, values[pair], times[pair]))


def columns(networks: xr.Dataset) -> Columns:
    """The stages, how long the growth takes beside its two formulas, and the alignment; means over the tasks."""
    rows = read(networks)
    own = [growth_of(row.smallest, row.start, row.threshold) for row in rows]
    printed = [np.log(row.smallest / row.threshold) / row.smallest for row in rows]
    return {
        "d": [str(row.dim) for row in rows],
        "a": [row.name for row in rows],
        **{f"{stage}/d": [f"{row.reached[stage].mean():.2f}" for row in rows] for stage in ("T1", "T2", "T3", "T5")},
        "T3 - T1 over printed": [f"{row.growth.mean() / one:.2f}" for row, one in zip(rows, printed, strict=True)],
        "over its own equation": [f"{(row.growth / one).mean():.2f}" for row, one in zip(rows, own, strict=True)],
        "x at T1": [f"{row.defect['T1'].mean():.2f}" for row in rows],
        "x at T3": [f"{row.defect['T3'].mean():.3f}" for row in rows],
        "x later, at most": [f"{row.highest.mean():.3f}" for row in rows],
        "s(K+1)/s(K) after T3": [f"{row.noise[:, 1].mean():.2f}" for row in rows],
    }


def growth_of(goal: float, starts: np.ndarray, threshold: float) -> np.ndarray:
    """How long the equation of E.3 takes from each start to half the goal, canonical."""
    return np.array(
        [float(ln.theories.mixed.crossing_times(goal, start, threshold, level=0.5 * goal)[0]) for start in starts]
    )


TABLE = Table(
    name="timeline",
    title="Stages of networks of the active region (paper's clock), length of the growth, and alignment",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Means over the tasks; times are the paper's, d² times canonical; x is the measure of Lemma A.4, 0 where "
    "aligned.",
)
