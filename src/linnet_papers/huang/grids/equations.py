"""How far equations (9), (10) and (11) are from trained neurons in each stage, over draws and start scales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import linnet as ln
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.training.cells.equations import equations_cells
from linnet_papers.huang.training.runs import theory_of
from linnet_papers.reproduction import Numbers, Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.grids import trained, trial_sweep

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages

SECTION_SIX = "section 6"
INSIDE = tuple(f"{ratio:g}" for ratio in (0.03, 0.3, 1.0, 3.0, 10.0))  # v_0/(sigma_0 sqrt(log m)) inside the assumption
SETTINGS = (SECTION_SIX, *INSIDE)


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train in section 6 and five ratios inside the assumption, 8 draws of data and start; in quick mode
    3, of smaller networks."""
    options = {"seeds": 3 if trial.quick else 8, "block": 2, "unbatched_axes": ["setting"], "coords": {"stage": [1, 2]}}
    fixed = settings.size(trial.quick)
    return trial_sweep(trial, "huang-equations", equations_cells, {"setting": SETTINGS}, fixed=fixed, **options)


@dataclass(frozen=True)
class Neurons:
    """One trained network: its states without repeats, `begin` being where the second stage does."""

    steps: np.ndarray
    loss_share: np.ndarray  # of the first loss
    alignments: np.ndarray
    start: np.ndarray  # magnitudes at step 0 ...
    at_first: np.ndarray  # ... and where the second stage begins
    overlaps: np.ndarray
    begin: int
    stages: Stages


def read(dataset: Dataset) -> dict[str, list[Neurons]]:
    """Return the networks of every setting, one for each draw."""
    return {
        str(setting): [_read_neurons(dataset.sel(setting=setting, seed=seed)) for seed in dataset["seed"].values]
        for setting in dataset["setting"].values
    }


def _read_neurons(cell: Dataset) -> Neurons:
    """Read one trained network, its repeated states taken out."""
    steps, kept = np.unique(cell["steps"].values.astype(int), return_index=True)
    loss = cell["loss"].values[kept]
    start, at_first = cell["magnitudes"].transpose("stage", "neuron").values
    return Neurons(
        steps=steps,
        loss_share=loss / loss[0],
        alignments=cell["alignments"].transpose("state", "neuron").values[kept],
        start=start,
        at_first=at_first,
        overlaps=cell["overlaps"].values,
        begin=int(np.searchsorted(steps, int(cell["ends"].values[0]))),
        stages=theory_of(cell),
    )


class Equation(NamedTuple):
    """An equation for the alignments: from which state it is followed, its solution by the network, by the alignments
    of that state and by the steps from there on, and whether it is one of the first stage alone."""

    start: str
    solution: Callable[[Neurons, np.ndarray, np.ndarray], np.ndarray]
    first_stage: bool = False


EQUATIONS = {
    "(9) printed": Equation("step 0", lambda n, _, t: misprints.linear(n.stages, n.overlaps, n.start, t)[0], True),
    "(9) corrected": Equation("step 0", lambda n, _, t: n.stages.linear(n.overlaps, n.start, t)[0], True),
    "(10) printed": Equation("t1", lambda n, rho, t: misprints.plane(n.stages, rho, n.at_first, t)[0]),
    "(10) corrected": Equation("t1", lambda n, rho, t: n.stages.two_variable(rho, n.at_first, t)[0]),
    "(10) corrected, overlaps dropped": Equation(
        "step 0", lambda n, rho, t: n.stages.two_variable(0 * rho, n.start, t)[0]
    ),
    "(10) corrected, overlaps kept": Equation(
        "step 0", lambda n, rho, t: n.stages.two_variable(0 * rho, n.start, t, overlaps=n.overlaps)[0]
    ),
    "(11) printed": Equation("t1", lambda n, rho, t: misprints.scalar(n.stages, rho, t)),
    "(11) corrected": Equation("t1", lambda n, rho, t: n.stages.one_variable(rho, t)),
    "(11) corrected, from the initialization": Equation("first state", lambda n, rho, t: n.stages.one_variable(rho, t)),
}


def errors(run: Neurons, name: str) -> Numbers:
    """Return how far one of the `EQUATIONS` is from the trained alignments, from the state on where it starts.

    `each` is the distance of all alignments at every state, relative to their size, (state,); `first` and `second` are
    the largest of each stage. `neuron` is the largest distance of any one neuron where the equation is meant, in units
    of the root mean square of all.
    """
    start, solution, first_stage = EQUATIONS[name]
    at = {"step 0": 0, "first state": 1, "t1": run.begin}[start]  # alignments are zero at step 0
    trained, begin = run.alignments[at:], run.begin - at
    rho = solution(run, trained[0], run.steps[at:] - run.steps[at])
    each = relative_errors(rho, trained)
    meant = slice(begin + 1 if first_stage else None)
    size = np.sqrt((trained[meant] ** 2).mean(axis=-1, keepdims=True))
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(rho[meant] - trained[meant])
        single = np.divide(apart, size, out=np.zeros_like(apart), where=size > 0)
    return {"each": each, "first": each[: begin + 1].max(), "second": each[begin:].max(), "neuron": single.max()}


def relative_errors(predicted: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """Return the distance over all neurons, relative to the trained values, (time,); infinite where a prediction
    overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.linalg.norm(predicted - trained, axis=-1)
    size = np.linalg.norm(trained, axis=-1)
    relative = np.divide(distance, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.isfinite(relative), relative, np.inf)


def rows(trial: Trial) -> dict[str, list[Neurons]]:
    """Return the networks of every setting, one for each draw."""
    return read(cells(trial))
