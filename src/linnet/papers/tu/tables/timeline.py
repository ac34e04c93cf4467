"""Tu et al., appendix E.3: the stages T1 to T5 of networks of the active region, from the lazy start to the learned
signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.descents import timeline_cells
from linnet.papers.tu.settings import GAMMAS
from linnet.reproduction.claim import Trial
from linnet.reproduction.milestones import first_of
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

SPECTRA = {"(1)": (1.0,), "(1, 1/2)": (1.0, 0.5)}
STEPS = 400


def timeline(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table: the tasks of one dimension and spectrum in a block."""
    dims, seeds = ([40, 80], 2) if trial.quick else ([50, 100, 200], 3)
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
    """The networks of one dimension and spectrum, seeds in front.

    - `reached`: T1 to T5 on the paper's clock, over d.
    - `growth`: T3 - T1; beside it the printed length, and that of the paper's own equation from s_K at T1 on.
    - `defect`: x at T1, T2 and T3; `later`: its least and largest from T3 on.
    - `noise`: s_(K+1) at T3, over the threshold and over s_K.
    - `left`: how far the signal's singular values end from those of A* + E, relative to these.
    """

    dim: int
    name: str
    reached: dict[str, np.ndarray]
    growth: np.ndarray
    printed: float
    own: np.ndarray
    defect: dict[str, np.ndarray]
    later: np.ndarray
    noise: np.ndarray
    left: np.ndarray


def table(trial: Trial) -> list[Stages]:
    """The stages of trained networks, for every dimension and spectrum."""
    return read(TABLES[0].results(trial))


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
    smallest, threshold = min(SPECTRA[name]) * dim, dim ** GAMMAS[0] * round(dim ** GAMMAS[1])
    runs = [read_run(networks.sel(seed=seed), threshold) for seed in networks["seed"].values]
    times = {stage: np.array([run.times[stage] for run in runs]) for stage in runs[0].times}
    defects = {stage: np.array([run.defect[stage] for run in runs]) for stage in runs[0].defect}
    later, noise, left = (np.array([getattr(run, what) for run in runs]) for what in ("later", "noise", "left"))
    own = [
        float(ln.theories.mixed.crossing_times(smallest, run.start, threshold, level=0.5 * smallest)[0]) for run in runs
    ]
    printed = np.log(smallest / threshold) / smallest  # d log(a_K d / sigma^2 w)/a_K on the paper's clock
    clock = {stage: dim * values for stage, values in times.items()}
    return Stages(dim, name, clock, times["T3"] - times["T1"], printed, np.array(own), defects, later, noise, left)


class Run(NamedTuple):
    """As `Stages`, of one network; times are canonical, and `start` is s_K at T1."""

    times: dict[str, float]
    defect: dict[str, float]
    later: list[float]
    noise: list[float]
    left: float
    start: float


def read_run(network: xr.Dataset, threshold: float) -> Run:
    """When |A| is at the threshold, at (w/d)^(1/4) of it, s_K at half its target, x at twice its least, and all
    learned."""
    dim, name = int(network["dim"]), str(network["spectrum"].values)
    spectrum = SPECTRA[name]
    rank, width = len(spectrum), dim ** GAMMAS[1]
    times, defect, goals = (network[what].values for what in ("times", "defect", "goals"))
    values = network["singular_values"].transpose("state", "mode").values
    third = first_of(values[:, rank - 1] >= 0.5 * min(spectrum) * dim, "T3 is not reached")
    stages = {
        "T1": first_of(values[:, 0] >= threshold, "T1 is not reached"),
        "T2": first_of(values[:, 0] >= threshold * (width / dim) ** 0.25, "T2 is not reached"),
        "T3": third,
        "T4": third + first_of(defect[third:] <= 2 * defect[third:].min(), "T4 is not reached"),
    }
    apart = np.abs(values[:, :rank] / goals[:rank] - 1).max(axis=1)
    stages["T5"] = stages["T4"] + first_of(apart[stages["T4"] :] < 0.02, "T5 is not reached")
    defects = {stage: float(defect[stages[stage]]) for stage in ("T1", "T2", "T3")}
    return Run(
        {stage: float(times[i]) for stage, i in stages.items()},
        defects,
        later=[defect[third:].min(), defect[third:].max()],
        noise=[values[third, rank] / threshold, values[third, rank] / values[third, rank - 1]],
        left=float(apart[-1]),
        start=float(values[stages["T1"], rank - 1]),
    )


def columns(networks: xr.Dataset) -> Columns:
    """The stages, how long the growth takes beside its two formulas, and the alignment; means over the tasks."""
    rows = read(networks)
    return {
        "d": [str(row.dim) for row in rows],
        "a": [row.name for row in rows],
        **{f"{stage}/d": [f"{row.reached[stage].mean():.2f}" for row in rows] for stage in ("T1", "T2", "T3", "T5")},
        "T3 - T1 over printed": [f"{row.growth.mean() / row.printed:.2f}" for row in rows],
        "over its own equation": [f"{(row.growth / row.own).mean():.2f}" for row in rows],
        "x at T1": [f"{row.defect['T1'].mean():.2f}" for row in rows],
        "x at T3": [f"{row.defect['T3'].mean():.3f}" for row in rows],
        "x later, at most": [f"{row.later[:, 1].mean():.3f}" for row in rows],
        "s(K+1)/s(K) at T3": [f"{row.noise[:, 1].mean():.2f}" for row in rows],
    }


TABLES = [
    Table(
        name="timeline",
        title="Stages of networks of the active region (paper's clock), length of the growth, and alignment",
        sweep=timeline,
        columns=columns,
        note="Means over the tasks; times are the paper's, d² times canonical; x is the measure of Lemma A.4, 0 where "
        "aligned.",
    ),
]
