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
PLACES = {str(gammas): gammas for gammas in (GAMMAS, (-1.7, 2.0), (-2.6, 2.8))}  # exponents, all in the active region
STEPS = 400
SECOND = 0.25  # T2: when the leading value is (w/d)^(1/4) times the threshold
NEAR = 2.0  # a singular value between half the threshold and twice it is at the transition
SETTLED = 0.02  # singular values so close to those of A* + E have arrived: T5 as we read it


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the tasks of one place, dimension and spectrum in a block."""
    dims, seeds = ([30, 90], 3) if trial.quick else ([50, 100, 200], 3)
    return ln.sweeps.Sweep(
        name="tu-timeline",
        function=timeline_cells,
        axes={"place": list(PLACES), "dim": dims, "spectrum": list(SPECTRA)},
        seeds=seeds,
        seed=trial.seed,
        fixed={"places": PLACES, "spectra": SPECTRA, "steps": STEPS},
        block=seeds,
        apart=["place", "dim", "spectrum"],
    )


@dataclass(frozen=True)
class Stages:
    """The networks of one place, dimension and spectrum, one entry of every array for each of them.

    - `reached`: t1 (Lemma C.8), T1, T2, T3 and T5 on the paper's clock, over d
    - `growth`: T3 - T1, canonical; `start`: s_K at T1; `second`: s_K at T2 over the threshold
    - `defect`: x at those times; `highest`: its largest from T1 on; `least`: its least from T3 on; `end`: the last one
    - `noise`: s_(K+1) at T3 over the threshold, over what it was at the start, and the largest s_(K+1)/s_K from T3 on
    - `rest`: the largest Frobenius norm of all that is beyond the signal, to T3, over the sum of its two bounds
    - `left`: how far the signal's singular values end from those of A* + E, relative to these
    - `settled`: from T3 until they are within log(d)/d of them, on the paper's clock over d log(d)
    - `linear`: s_1 at T1/2 over that at T1
    - `near`: the share of the time to T5 that the leading singular value is near the threshold
    """

    place: str
    dim: int
    name: str
    reached: dict[str, np.ndarray]
    defect: dict[str, np.ndarray]
    growth: np.ndarray
    start: np.ndarray
    second: np.ndarray
    highest: np.ndarray
    least: np.ndarray
    end: np.ndarray
    noise: np.ndarray
    rest: np.ndarray
    left: np.ndarray
    settled: np.ndarray
    linear: np.ndarray
    near: np.ndarray

    @property
    def gammas(self) -> tuple[float, float]:
        """Exponents of the variance and of the width."""
        return PLACES[self.place]

    @property
    def smallest(self) -> float:
        """The least singular value of A*."""
        return min(SPECTRA[self.name]) * self.dim

    @property
    def threshold(self) -> float:
        return threshold_of(self.dim, self.gammas)


def threshold_of(dim: int, gammas: tuple[float, float]) -> float:
    """sigma^2 w of the networks."""
    return dim ** gammas[0] * round(dim ** gammas[1])


def read(networks: xr.Dataset) -> list[Stages]:
    """One row for every place, dimension and spectrum of the sweep."""
    return [
        read_row(networks.sel(place=place, dim=dim, spectrum=name))
        for place in networks["place"].values
        for dim in networks["dim"].values
        for name in networks["spectrum"].values
    ]


def read_row(networks: xr.Dataset) -> Stages:
    """The stages of the networks of one place, dimension and spectrum."""
    place, dim, name = str(networks["place"].values), int(networks["dim"]), str(networks["spectrum"].values)
    runs = [read_run(networks.sel(seed=seed), dim, SPECTRA[name], PLACES[place]) for seed in networks["seed"].values]
    times, defect = (
        {stage: np.array([run[what][stage] for run in runs]) for stage in runs[0][what]} for what in ("times", "defect")
    )
    return Stages(
        place,
        dim,
        name,
        reached={stage: dim * values for stage, values in times.items()},
        defect=defect,
        growth=times["T3"] - times["T1"],
        **{what: np.array([run[what] for run in runs]) for what in runs[0] if what not in ("times", "defect")},
    )


def read_run(network: xr.Dataset, dim: int, spectrum: tuple[float, ...], gammas: tuple[float, float]) -> dict:
    """As `Stages`, of one network; times are canonical. Between saved states logarithms are taken as straight."""
    rank, ratio, threshold = len(spectrum), dim ** (gammas[1] - 1), threshold_of(dim, gammas)
    times, defect, goals, rest = (network[what].values for what in ("times", "defect", "goals", "rest"))
    values = network["singular_values"].transpose("state", "mode").values
    last, noise = values[:, rank - 1], values[:, rank]
    reached = {
        "t1": crossing(times, values[:, 0], threshold * ratio**-0.25),
        "T1": crossing(times, values[:, 0], threshold),
        "T2": crossing(times, values[:, 0], threshold * ratio**SECOND),
        "T3": crossing(times, last, 0.5 * min(spectrum) * dim),
    }
    apart = np.abs(values[:, :rank] / goals[:rank] - 1).max(axis=1)
    reached["T5"] = crossing(times, -apart, -SETTLED)
    from_first, from_third = times >= reached["T1"], times >= reached["T3"]

    def at(stage: str, values: np.ndarray) -> float:
        return float(np.interp(reached[stage], times, values))

    near = [crossing(times, values[:, 0], threshold * share) for share in (1 / NEAR, NEAR)]
    bounds = threshold * (dim / np.sqrt(round(dim ** gammas[1])) + np.log(dim))
    return {
        "times": reached,
        "defect": {stage: at(stage, defect) for stage in reached},
        "highest": float(defect[from_first].max()),
        "least": min(at("T3", defect), float(defect[from_third].min())),
        "end": float(defect[-1]),
        "noise": [
            at("T3", noise) / threshold,
            at("T3", noise) / noise[0],
            float((noise[from_third] / last[from_third]).max()),
        ],
        "rest": max(at("T3", rest), float(rest[~from_third].max())) / bounds,
        "left": float(apart[-1]),
        "settled": dim * (crossing(times, -apart, -np.log(dim) / dim) - reached["T3"]) / np.log(dim),
        "start": at("T1", last),
        "second": at("T2", last) / threshold,
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
        "γ(σ²), γ(w)": [row.place for row in rows],
        "d": [str(row.dim) for row in rows],
        "a": [row.name for row in rows],
        **{f"{stage}/d": [f"{row.reached[stage].mean():.2f}" for row in rows] for stage in ("T1", "T2", "T3", "T5")},
        "T3 - T1 over printed": [f"{row.growth.mean() / one:.2f}" for row, one in zip(rows, printed, strict=True)],
        "over its own equation": [f"{(row.growth / one).mean():.2f}" for row, one in zip(rows, own, strict=True)],
        "x at T1": [f"{row.defect['T1'].mean():.2f}" for row in rows],
        "x at T3": [f"{row.defect['T3'].mean():.3f}" for row in rows],
        "x later, at most": [f"{row.highest.mean():.3f}" for row in rows],
        "s(K+1) at T3 over its start": [f"{row.noise[:, 1].mean():.1f}" for row in rows],
        "s(K+1)/s(K) after T3": [f"{row.noise[:, 2].mean():.2f}" for row in rows],
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
