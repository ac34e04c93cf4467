"""Appendix E.3: the stages T1 to T5 of networks of the active region, from the lazy start to the learned signal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.descents import timeline_cells
from linnet.papers.tu.networks.starts import threshold_of
from linnet.papers.tu.settings import GAMMAS
from linnet.reproduction import Estimate, Table, Trial
from linnet.reproduction.datasets import Dataset, cells_of
from linnet.reproduction.fits import exponent
from linnet.reproduction.table import trial_sweep

SPECTRA = {"(1)": (1.0,), "(1, 1/2)": (1.0, 0.5)}
PLACES = {str(gammas): gammas for gammas in (GAMMAS, (-1.7, 2.0), (-2.6, 2.8))}  # exponents, all in the active region
STEPS = 400
SECOND_POWER = 0.25  # T2: when the leading value is (w/d)^(1/4) times the threshold
NEAR = 2.0  # a singular value between half the threshold and twice it is at the transition
SETTLED = 0.02  # singular values so close to those of A* + E have arrived: T5 as we read it

# What several claims try and assume
SPECTRUM = (1.0, 0.5)
EVERYWHERE = f"(gamma_sigma2, gamma_w) = {', '.join(PLACES)}"
FOLLOWED = f"descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1, 1/2), {EVERYWHERE}"
ACTIVE = "active region, d large"


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: the tasks of one place, dimension and spectrum in a block."""
    axes = {"place": PLACES, "dim": [30, 90] if trial.quick else [50, 100, 200], "spectrum": SPECTRA}
    fixed = {"places": PLACES, "spectra": SPECTRA, "steps": STEPS}
    return trial_sweep(trial, "tu-timeline", timeline_cells, axes, seeds=3, fixed=fixed, together="seed")


@dataclass(frozen=True)
class Stages:
    """The networks of one place, dimension and spectrum, one entry of every array for each of them.

    - `reached`: t1 (Lemma C.8), T1, T2, T3 and T5 on the paper's clock, over d
    - `growth`: T3 - T1, canonical; `start`: s_K at T1; `second`: s_K at T2 over the threshold
    - `defect`: x at those times; `highest`: its largest from T1 on; `end`: the last one
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

    @property
    def printed_share(self) -> float:
        """T3 - T1, mean over the networks, over the printed log(a_K d/sigma^2 w)/(a_K d)."""
        return float(self.growth.mean() / (np.log(self.smallest / self.threshold) / self.smallest))

    @property
    def own_share(self) -> float:
        """T3 - T1 over the time of its own equation, mean over the networks."""
        return float((self.growth / growth_of(self.smallest, self.start, self.threshold)).mean())


def read(networks: Dataset) -> list[Stages]:
    """Return one row for every place, dimension and spectrum of the sweep."""
    return [read_row(cell) for cell in cells_of(networks, "place", "dim", "spectrum")]


def read_row(networks: Dataset) -> Stages:
    """Return the stages of the networks of one place, dimension and spectrum."""
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


def read_run(network: Dataset, dim: int, spectrum: tuple[float, ...], gammas: tuple[float, float]) -> dict:
    """As `Stages`, of one network; times are canonical. Between saved states logarithms are taken as straight."""
    rank, ratio, threshold = len(spectrum), dim ** (gammas[1] - 1), threshold_of(dim, gammas)
    times, defect, goals, rest = (network[what].values for what in ("times", "defect", "goals", "rest"))
    values = network["singular_values"].transpose("state", "mode").values
    last, noise = values[:, rank - 1], values[:, rank]
    reached = {
        "t1": crossing(times, values[:, 0], threshold * ratio**-0.25),
        "T1": crossing(times, values[:, 0], threshold),
        "T2": crossing(times, values[:, 0], threshold * ratio**SECOND_POWER),
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
    """Return when values last below `level` reach it, straight between two states; never a silent 0."""
    below = np.flatnonzero(values < level)
    if not below.size or below[-1] + 1 == len(values):
        raise RuntimeError(f"{level:.3g} is not reached from below: the run is too short for what is measured on it")
    pair = slice(below[-1], below[-1] + 2)
    return float(np.interp(level, values[pair], times[pair]))


def growth_of(goal: float, starts: np.ndarray, threshold: float) -> np.ndarray:
    """Return how long the equation of E.3 takes from each start to half the goal, canonical."""
    return np.array(
        [float(ln.theories.mixed.crossing_times(goal, start, threshold, level=0.5 * goal)[0]) for start in starts]
    )


def reached(stage: str, row: Stages) -> str:
    """Return when the networks of a row reach a stage, over d."""
    return f"{row.reached[stage].mean():.2f}"


TABLE = Table(
    name="timeline",
    title="Stages of networks of the active region (paper's clock), length of the growth, and alignment",
    sweep=sweep,
    read=read,
    columns={
        "γ(σ²), γ(w)": "{.place}",
        "d": "{.dim}",
        "a": "{.name}",
        **{f"{stage}/d": partial(reached, stage) for stage in ("T1", "T2", "T3", "T5")},
        "T3 - T1 over printed": "{.printed_share:.2f}",
        "over its own equation": "{.own_share:.2f}",
        "x at T1": lambda row: f"{row.defect['T1'].mean():.2f}",
        "x at T3": lambda row: f"{row.defect['T3'].mean():.3f}",
        "x later, at most": lambda row: f"{row.highest.mean():.3f}",
        "s(K+1) at T3 over its start": lambda row: f"{row.noise[:, 1].mean():.1f}",
        "s(K+1)/s(K) after T3": lambda row: f"{row.noise[:, 2].mean():.2f}",
    },
    note="Means over the tasks; times are the paper's, d² times canonical; x is the measure of Lemma A.4, 0 where "
    "aligned.",
)


def rows_by_place(trial: Trial, *names: str) -> dict[str, list[Stages]]:
    """Return the rows of growing d by place and spectrum; (1, 1/2) where none is named."""
    rows, chosen = TABLE.rows(trial), names or ("(1, 1/2)",)
    label = "{0}" if len(chosen) == 1 else "{0}, a = {1}"
    return {
        label.format(place, name): [row for row in rows if row.place == place and row.name == name]
        for place in PLACES
        for name in chosen
    }


def in_last_rows(by_place: dict[str, list[Stages]], of: Callable[[Stages], float]) -> dict[str, float]:
    """Return what `of` says of the rows of the largest d, by place."""
    return {name: float(of(rows[-1])) for name, rows in by_place.items()}


def in_every_row(by_place: dict[str, list[Stages]], of: Callable[[Stages], float]) -> dict[str, float]:
    """Return what `of` says of each row, by place and d."""
    return {f"{name}, d = {row.dim}": float(of(row)) for name, rows in by_place.items() for row in rows}


def slope(rows: list[Stages], values: list[np.ndarray]) -> Estimate:
    """Return the exponent in d of what each network of each row has."""
    dims = np.repeat([float(row.dim) for row in rows], [len(array) for array in values])
    return Estimate(*exponent(dims, np.concatenate(values)))


def tasks_of(trial: Trial, dim: int, draws: int) -> list[ln.Problem]:
    """Tasks of rank 2 in unit noise."""
    return [
        ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, draw], spectrum=list(SPECTRUM))
        for draw in range(draws)
    ]
