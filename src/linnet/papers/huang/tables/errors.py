"""Huang et al.: how far equations (9), (10) and (11) are from trained neurons in each stage, over seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang.runs import (
    INGREDIENTS,
    SCALES,
    ingredients,
    once,
    relative_errors,
    section_six,
    separated,
    theory_of,
)
from linnet.reproduction.claim import Trial
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.milestones import first_of
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

    from linnet.theories.feature_learning import Stages

SETTINGS = ("section 6", "inside")  # the paper's synthetic run; unit-signal data inside Assumption 4.1
ENDS = (0.95, 1e-4)  # the share of the loss at which the first stage is over, and the second
EARLY, LATE = 32, 128  # states kept of each


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, width: int) -> dict[str, Any]:
    """The alignments of all neurons at `EARLY` + `LATE` states of the two stages, and what a theory needs to start
    from.

    A stage of fewer steps repeats some. `magnitudes` are those at the start of each stage; `ends` counts steps.
    """
    found: dict[str, list[Any]] = {}
    for setting, seed in zip(points["setting"].tolist(), seeds.tolist(), strict=True):
        if setting == "section 6":  # more steps than its figure has: some draws of a smaller network need them
            run = once(section_six, seed, dim=dim, width=width, steps=120)
        else:
            run = once(separated, seed, dim=dim, width=width)
        begin, end = (run.reached(share) for share in ENDS)
        early, late = np.linspace(1, begin, EARLY - 1), np.linspace(begin, end, LATE + 1)[1:]
        states = np.rint(np.concatenate([[0], early, late])).astype(int)
        cell = {
            "steps": run.steps[states],
            "loss": run.history.loss[states],
            "alignments": run.history.alignments[states],
            "magnitudes": run.history.magnitudes[[0, begin]],
            "overlaps": run.history.overlaps,
            "ends": run.steps[[begin, end]],
            **ingredients(run),
        }
        for name, value in cell.items():
            found.setdefault(name, []).append(value)
    dims = {
        "steps": ("state",),
        "loss": ("state",),
        "alignments": ("state", "neuron"),
        "magnitudes": ("stage", "neuron"),
        "overlaps": ("neuron",),
        "ends": ("stage",),
        **INGREDIENTS,
    }
    return {name: (dims[name], np.array(value)) for name, value in found.items()}


def equations(trial: Trial) -> ln.sweeps.Sweep:
    """Both settings with 8 draws of data and start; in quick mode 3, of smaller networks."""
    size = {"dim": 2000, "width": 256} if trial.quick else {"dim": 10_000, "width": 1024}
    return ln.sweeps.Sweep(
        name="huang-equations",
        function=cells,
        axes={"setting": list(SETTINGS)},
        seeds=3 if trial.quick else 8,
        seed=trial.seed,
        fixed=size,
        block=2,
        apart=["setting"],
        coords={"scale": list(SCALES), "stage": [1, 2]},
    )


@dataclass(frozen=True)
class Neurons:
    """One trained network of the table: its states without repeats, `begin` being where the second stage does."""

    steps: np.ndarray
    loss: np.ndarray
    alignments: np.ndarray
    magnitudes: np.ndarray
    overlaps: np.ndarray
    begin: int
    stages: Stages

    @property
    def share(self) -> np.ndarray:
        """The loss as a share of its start, (state,)."""
        return self.loss / self.loss[0]


def networks(dataset: xr.Dataset, setting: str) -> list[Neurons]:
    """The networks of one setting."""
    return [_neurons(dataset.sel(setting=setting, seed=seed)) for seed in dataset["seed"].values]


def _neurons(cell: xr.Dataset) -> Neurons:
    steps, kept = np.unique(cell["steps"].values.astype(int), return_index=True)
    alignments = cell["alignments"].transpose("state", "neuron").values[kept]
    magnitudes = cell["magnitudes"].transpose("stage", "neuron").values
    begin = int(np.searchsorted(steps, int(cell["ends"].values[0])))
    return Neurons(
        steps, cell["loss"].values[kept], alignments, magnitudes, cell["overlaps"].values, begin, theory_of(cell)
    )


@dataclass(frozen=True)
class Errors:
    """The largest distance of all alignments in each stage, relative to their size; and, where asked for, more of
    it."""

    first: float
    second: float
    loss: float = np.nan  # of the loss in stage 2, as a share of the first one
    late: tuple[int, float] = (0, np.nan)  # the step at which 5% is passed, and the share of the loss left there


def linear(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (9) from step 0."""
    rho, _ = run.stages.linear(run.overlaps, run.magnitudes[0], run.steps, printed=printed)
    errors = relative_errors(rho, run.alignments)
    late = first_of(errors > 0.05, "the linear stage is never off by 5%")
    return _errors(errors, run.begin, late=(int(run.steps[late]), float(run.share[late])))


def plane(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (10) from the end of stage 1."""
    begin = run.begin
    rho, v = run.stages.plane(
        run.alignments[begin], run.magnitudes[1], run.steps[begin:] - run.steps[begin], printed=printed
    )
    loss = float(np.abs(run.stages.loss(rho, v) - run.loss[begin:]).max() / run.loss[0])
    return _errors(relative_errors(rho, run.alignments[begin:]), 0, loss=loss)


def plane_from_start(run: Neurons, *, overlaps: bool = True) -> Errors:
    """Eq. (10), corrected, from step 0, with what the start's overlaps add to it or without."""
    given = run.overlaps if overlaps else None
    rho, _ = run.stages.plane(0 * run.overlaps, run.magnitudes[0], run.steps, overlaps=given)
    return _errors(relative_errors(rho, run.alignments), run.begin)


def scalar(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (11) from the end of stage 1."""
    begin = run.begin
    rho = run.stages.scalar(run.alignments[begin], run.steps[begin:] - run.steps[begin], printed=printed)
    return _errors(relative_errors(rho, run.alignments[begin:]), 0)


def scalar_from_start(run: Neurons) -> Errors:
    """Eq. (11), corrected, from the first state after the start, where the alignments are zero."""
    rho = run.stages.scalar(run.alignments[1], run.steps[1:] - run.steps[1])
    return _errors(relative_errors(rho, run.alignments[1:]), run.begin - 1)


def _errors(errors: np.ndarray, begin: int, **more: Any) -> Errors:
    return Errors(float(errors[: begin + 1].max()), float(errors[begin:].max()), **more)


Row = Callable[[Neurons], Errors]
ROWS: dict[str, tuple[str, Row]] = {
    "(9) printed": ("step 0", lambda run: linear(run, printed=True)),
    "(9) corrected": ("step 0", linear),
    "(10) printed": ("t1", lambda run: plane(run, printed=True)),
    "(10) corrected": ("t1", plane),
    "(10) corrected, overlaps dropped": ("step 0", lambda run: plane_from_start(run, overlaps=False)),
    "(10) corrected, overlaps kept": ("step 0", plane_from_start),
    "(11) printed": ("t1", lambda run: scalar(run, printed=True)),
    "(11) corrected": ("t1", scalar),
    "(11) corrected, from the start": ("first state", scalar_from_start),
}


def columns(dataset: xr.Dataset) -> Columns:
    """The table as docs/errata.md has it: the median over the draws, and their range."""
    trained = {setting: networks(dataset, setting) for setting in SETTINGS}
    table: Columns = {"equation": list(ROWS), "from": [start for start, _ in ROWS.values()]}
    for setting, runs in trained.items():
        first, second = f"stage 1, {setting}", f"stage 2, {setting}"
        table[first], table[second] = [], []
        for start, row in ROWS.values():
            errors = [row(run) for run in runs]
            table[first].append("–" if start == "t1" else spread([e.first for e in errors]))
            table[second].append(spread([e.second for e in errors]))
    return table


def spread(errors: list[float]) -> str:
    """The median and the range of errors."""
    median = float(np.median(errors))
    return f"{''.join(_size(median))} ({span(errors)})" if np.isfinite(median) else "overflows"


def span(errors: list[float]) -> str:
    """The range of errors: percentages, or multiples of the size itself from two on."""
    (low, unit), (high, other) = _size(lowest(errors)), _size(highest(errors))
    return f"{low}{'' if unit == other else unit} to {high}{other}"


def _size(error: float) -> tuple[str, str]:
    """A number and its unit."""
    if not error < 2:
        return f"{error:.2g}" if error < 100 else f"{error:.0e}", " times"
    return f"{100 * error:.3g}" if error > 0.9 else f"{100 * error:.2g}", "%"


TABLES = [
    Table(
        name="equations",
        title="How far equations (9)-(11), printed and corrected, are from the trained alignments in each stage",
        sweep=equations,
        columns=columns,
        note="Relative error of all alignments, the largest in the stage: median and range over the draws.",
    ),
]
