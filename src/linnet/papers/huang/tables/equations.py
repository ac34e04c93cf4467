"""How far equations (9), (10) and (11) are from trained neurons in each stage, over draws and start scales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang import misprints, settings
from linnet.papers.huang.networks import SCALES, cells, theory_of
from linnet.reproduction import Columns, Table, Trial
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.milestones import first_of

if TYPE_CHECKING:
    import xarray as xr

    from linnet.theories.feature_learning import Stages

SECTION_SIX = "section 6"
INSIDE = tuple(f"{ratio:g}" for ratio in (0.03, 0.3, 1.0, 3.0, 10.0))  # v_0/(sigma_0 sqrt(log m)) inside the assumption
SETTINGS = (SECTION_SIX, *INSIDE)


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Section 6 and five ratios inside the assumption with 8 draws of data and start; in quick mode 3, smaller."""
    return ln.sweeps.Sweep(
        name="huang-equations",
        function=cells.equations_cells,
        axes={"setting": list(SETTINGS)},
        seeds=3 if trial.quick else 8,
        seed=trial.seed,
        fixed=settings.size(trial.quick),
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


def read(dataset: xr.Dataset) -> dict[str, list[Neurons]]:
    """The networks of every setting."""
    return {
        str(setting): [_neurons(dataset.sel(setting=setting, seed=seed)) for seed in dataset["seed"].values]
        for setting in dataset["setting"].values
    }


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


def linear(run: Neurons) -> Errors:
    """Eq. (9), corrected, from step 0."""
    return _linear(run, run.stages.linear(run.overlaps, run.magnitudes[0], run.steps)[0])


def linear_printed(run: Neurons) -> Errors:
    """Eq. (9) from step 0."""
    return _linear(run, misprints.linear(run.stages, run.overlaps, run.magnitudes[0], run.steps)[0])


def _linear(run: Neurons, rho: np.ndarray) -> Errors:
    errors = relative_errors(rho, run.alignments)
    late = first_of(errors > 0.05, "the linear stage is never off by 5%")
    return _errors(errors, run.begin, late=(int(run.steps[late]), float(run.share[late])))


def plane(run: Neurons) -> Errors:
    """Eq. (10), corrected, from the end of stage 1."""
    begin = run.begin
    rho, v = run.stages.plane(run.alignments[begin], run.magnitudes[1], run.steps[begin:] - run.steps[begin])
    return _plane(run, rho, v)


def plane_printed(run: Neurons) -> Errors:
    """Eq. (10) from the end of stage 1."""
    begin = run.begin
    since = run.steps[begin:] - run.steps[begin]
    return _plane(run, *misprints.plane(run.stages, run.alignments[begin], run.magnitudes[1], since))


def _plane(run: Neurons, rho: np.ndarray, v: np.ndarray) -> Errors:
    loss = float(np.abs(run.stages.loss(rho, v) - run.loss[run.begin :]).max() / run.loss[0])
    return _errors(relative_errors(rho, run.alignments[run.begin :]), 0, loss=loss)


def plane_from_start(run: Neurons) -> Errors:
    """Eq. (10), corrected, from step 0, with what the start's overlaps add to it."""
    return _plane_from_start(run, run.overlaps)


def plane_without_overlaps(run: Neurons) -> Errors:
    """Eq. (10), corrected, from step 0, without the start's overlaps."""
    return _plane_from_start(run, None)


def _plane_from_start(run: Neurons, overlaps: np.ndarray | None) -> Errors:
    rho, _ = run.stages.plane(0 * run.overlaps, run.magnitudes[0], run.steps, overlaps=overlaps)
    return _errors(relative_errors(rho, run.alignments), run.begin)


def scalar(run: Neurons) -> Errors:
    """Eq. (11), corrected, from the end of stage 1."""
    begin = run.begin
    rho = run.stages.scalar(run.alignments[begin], run.steps[begin:] - run.steps[begin])
    return _errors(relative_errors(rho, run.alignments[begin:]), 0)


def scalar_printed(run: Neurons) -> Errors:
    """Eq. (11) from the end of stage 1."""
    begin = run.begin
    rho = misprints.scalar(run.stages, run.alignments[begin], run.steps[begin:] - run.steps[begin])
    return _errors(relative_errors(rho, run.alignments[begin:]), 0)


def scalar_from_start(run: Neurons) -> Errors:
    """Eq. (11), corrected, from the first state after the start, where the alignments are zero."""
    rho = run.stages.scalar(run.alignments[1], run.steps[1:] - run.steps[1])
    return _errors(relative_errors(rho, run.alignments[1:]), run.begin - 1)


def relative_errors(predicted: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """The distance over all neurons, relative to the trained values, (time,); infinite where a prediction overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.linalg.norm(predicted - trained, axis=-1)
    size = np.linalg.norm(trained, axis=-1)
    relative = np.divide(distance, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.isfinite(relative), relative, np.inf)


def _errors(errors: np.ndarray, begin: int, **more: Any) -> Errors:
    return Errors(float(errors[: begin + 1].max()), float(errors[begin:].max()), **more)


Row = Callable[[Neurons], Errors]
ROWS: dict[str, tuple[str, Row]] = {
    "(9) printed": ("step 0", linear_printed),
    "(9) corrected": ("step 0", linear),
    "(10) printed": ("t1", plane_printed),
    "(10) corrected": ("t1", plane),
    "(10) corrected, overlaps dropped": ("step 0", plane_without_overlaps),
    "(10) corrected, overlaps kept": ("step 0", plane_from_start),
    "(11) printed": ("t1", scalar_printed),
    "(11) corrected": ("t1", scalar),
    "(11) corrected, from the start": ("first state", scalar_from_start),
}


def columns(dataset: xr.Dataset) -> Columns:
    """The table as docs/errata.md has it: the median over the draws, and their range."""
    table: Columns = {"equation": list(ROWS), "from": [start for start, _ in ROWS.values()]}
    for setting, runs in read(dataset).items():
        name = setting if setting == SECTION_SIX else f"ratio {setting}"
        first, second = f"stage 1, {name}", f"stage 2, {name}"
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
