"""How far equations (9), (10) and (11) are from trained neurons in each stage, over draws and start scales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang import misprints, settings
from linnet.papers.huang.networks.cells.equations import equations_cells
from linnet.papers.huang.networks.runs import SWEPT, theory_of
from linnet.reproduction import Columns, Table, Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.fits import first_index, highest, lowest
from linnet.reproduction.table import trial_sweep

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages

SECTION_SIX = "section 6"
INSIDE = tuple(f"{ratio:g}" for ratio in (0.03, 0.3, 1.0, 3.0, 10.0))  # v_0/(sigma_0 sqrt(log m)) inside the assumption
SETTINGS = (SECTION_SIX, *INSIDE)


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Section 6 and five ratios inside the assumption with 8 draws of data and start; in quick mode 3, smaller."""
    options = {"seeds": 3 if trial.quick else 8, "fixed": settings.size(trial.quick), "apart": ["setting"]}
    options |= {"block": SWEPT["block"], "coords": {**SWEPT["coords"], "stage": [1, 2]}}
    return trial_sweep(trial, "huang-equations", equations_cells, {"setting": SETTINGS}, **options)


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
    def later(self) -> np.ndarray:
        """The steps since the second stage began."""
        return self.steps[self.begin :] - self.steps[self.begin]

    @property
    def share(self) -> np.ndarray:
        """The loss as a share of its start, (state,)."""
        return self.loss / self.loss[0]


def read(dataset: Dataset) -> dict[str, list[Neurons]]:
    """Return the networks of every setting."""
    return {
        str(setting): [_neurons(dataset.sel(setting=setting, seed=seed)) for seed in dataset["seed"].values]
        for setting in dataset["setting"].values
    }


def _neurons(cell: Dataset) -> Neurons:
    """Read one trained network, its repeated states taken out."""
    steps, kept = np.unique(cell["steps"].values.astype(int), return_index=True)
    alignments = cell["alignments"].transpose("state", "neuron").values[kept]
    magnitudes = cell["magnitudes"].transpose("stage", "neuron").values
    begin = int(np.searchsorted(steps, int(cell["ends"].values[0])))
    return Neurons(
        steps, cell["loss"].values[kept], alignments, magnitudes, cell["overlaps"].values, begin, theory_of(cell)
    )


@dataclass(frozen=True)
class Errors:
    """The largest distance of all alignments in each stage, relative to their size; for Eq. (9) also the step at which
    5% is passed, and the share of the loss left there."""

    first: float
    second: float
    neuron: float  # of any one neuron in the stages that are predicted, relative to the root mean square of all
    late_step: int = 0
    late_share: float = np.nan


def linear(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (9) from step 0."""
    law = misprints.linear if printed else ln.theories.feature_learning.Stages.linear
    rho, _ = law(run.stages, run.overlaps, run.magnitudes[0], run.steps)
    late = first_index(relative_errors(rho, run.alignments) > 0.05, "the linear stage is never off by 5%")
    return _errors(
        rho,
        run.alignments,
        run.begin,
        last=run.begin,
        late_step=int(run.steps[late]),
        late_share=float(run.share[late]),
    )


def plane(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (10) from the end of stage 1."""
    law = misprints.plane if printed else ln.theories.feature_learning.Stages.plane
    rho, _ = law(run.stages, run.alignments[run.begin], run.magnitudes[1], run.later)
    return _errors(rho, run.alignments[run.begin :], 0)


def plane_from_start(run: Neurons, *, overlaps: bool = True) -> Errors:
    """Eq. (10), corrected, from step 0, with what the start's overlaps add to it, or without."""
    added = run.overlaps if overlaps else None
    rho, _ = run.stages.plane(0 * run.overlaps, run.magnitudes[0], run.steps, overlaps=added)
    return _errors(rho, run.alignments, run.begin)


def scalar(run: Neurons, *, printed: bool = False) -> Errors:
    """Eq. (11) from the end of stage 1."""
    law = misprints.scalar if printed else ln.theories.feature_learning.Stages.scalar
    rho = law(run.stages, run.alignments[run.begin], run.later)
    return _errors(rho, run.alignments[run.begin :], 0)


def scalar_from_start(run: Neurons) -> Errors:
    """Eq. (11), corrected, from the first state after the start, where the alignments are zero."""
    rho = run.stages.scalar(run.alignments[1], run.steps[1:] - run.steps[1])
    return _errors(rho, run.alignments[1:], run.begin - 1)


def relative_errors(predicted: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """Return the distance over all neurons, relative to the trained values, (time,); infinite where a prediction
    overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.linalg.norm(predicted - trained, axis=-1)
    size = np.linalg.norm(trained, axis=-1)
    relative = np.divide(distance, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.isfinite(relative), relative, np.inf)


def _errors(rho: np.ndarray, trained: np.ndarray, begin: int, *, last: int | None = None, **more: Any) -> Errors:
    """Return the errors before and from state `begin` on; those of single neurons until state `last`."""
    errors, until = relative_errors(rho, trained), None if last is None else last + 1
    size = np.sqrt((trained[:until] ** 2).mean(axis=-1, keepdims=True))
    with np.errstate(over="ignore", invalid="ignore"):
        each = np.divide(
            np.abs(rho[:until] - trained[:until]), size, out=np.zeros_like(trained[:until]), where=size > 0
        )
    return Errors(float(errors[: begin + 1].max()), float(errors[begin:].max()), float(each.max()), **more)


Row = Callable[..., Errors]
ROWS: dict[str, tuple[str, Row, dict[str, bool]]] = {
    "(9) printed": ("step 0", linear, {"printed": True}),
    "(9) corrected": ("step 0", linear, {}),
    "(10) printed": ("t1", plane, {"printed": True}),
    "(10) corrected": ("t1", plane, {}),
    "(10) corrected, overlaps dropped": ("step 0", plane_from_start, {"overlaps": False}),
    "(10) corrected, overlaps kept": ("step 0", plane_from_start, {}),
    "(11) printed": ("t1", scalar, {"printed": True}),
    "(11) corrected": ("t1", scalar, {}),
    "(11) corrected, from the start": ("first state", scalar_from_start, {}),
}


def columns(dataset: Dataset) -> Columns:
    """Return the table as docs/errata.md has it: the median over the draws, and their range."""
    table: Columns = {"equation": list(ROWS), "from": [start for start, *_ in ROWS.values()]}
    for setting, runs in read(dataset).items():
        name = setting if setting == SECTION_SIX else f"ratio {setting}"
        first, second = f"stage 1, {name}", f"stage 2, {name}"
        table[first], table[second] = [], []
        for start, row, options in ROWS.values():
            errors = [row(run, **options) for run in runs]
            table[first].append("–" if start == "t1" else spread([e.first for e in errors]))
            table[second].append(spread([e.second for e in errors]))
    return table


def spread(errors: list[float]) -> str:
    """Return the median and the range of errors."""
    median = float(np.median(errors))
    return f"{''.join(_size(median))} ({span(errors)})" if np.isfinite(median) else "overflows"


def span(errors: list[float]) -> str:
    """Return the range of errors: percentages, or multiples of the size itself from two on."""
    (low, unit), (high, other) = _size(lowest(errors)), _size(highest(errors))
    return f"{low}{'' if unit == other else unit} to {high}{other}"


def _size(error: float) -> tuple[str, str]:
    """Return a number and its unit."""
    if not error < 2:
        return f"{error:.2g}" if error < 100 else f"{error:.0e}", " times"
    return f"{100 * error:.3g}" if error > 0.9 else f"{100 * error:.2g}", "%"


TABLE = Table(
    name="equations",
    title="How far equations (9)-(11), printed and corrected, are from the trained alignments in each stage",
    sweep=sweep,
    read=read,
    columns=columns,
    note=(
        "Relative error of all alignments, the largest in the stage: median and range over the draws. Ratio: "
        "v₀/(σ₀ √log m), inside the printed assumption; there stage 2 begins where the median abs ρ is 1, in section 6 "
        "where the loss has lost 5%."
    ),
)
