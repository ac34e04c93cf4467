"""Description of a diagram for training: settings that all runs share, and the initialization of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linnet.trainers import _loop as loop
from linnet.trainers.diagrams._paired_step import BestRecord, paired_update
from linnet.trainers.stopping import Rule


@dataclass(frozen=True)
class RunStart:
    """Initial state of a run: a network in reduced coordinates, its problem, its step size, the threshold g."""

    first: np.ndarray
    second: np.ndarray
    target: np.ndarray
    truth: np.ndarray
    rate: float
    threshold: float


@dataclass(frozen=True)
class DiagramSettings:
    """What all runs of a diagram have in common, and every process that trains some of them receives.

    - `update`: `"sequential"` lets the second layer see the new first one
    - `rule`: when to stop early
    - `steps`: maximum number of steps
    - `dtype`: precision of the run's arithmetic
    - `schedule`: factor of the learning rate at each step, or None
    """

    update: str
    rule: Rule
    steps: int
    dtype: np.dtype
    schedule: np.ndarray | None = None

    @property
    def plan(self) -> loop.Plan:
        """Return the update, the stopping rule and the record, as a loop takes them."""
        return loop.Plan(paired_update(self.update), self.rule, record=BestRecord())


@dataclass(frozen=True)
class Diagram:
    """The runs of a diagram: their `settings`, the `start` of each by its number, and how large they are.

    `start(run)` draws the network; it is called by one thread at a time, in any order.

    - `widths`: widths of the networks
    - `in_dim`, `out_dim`: inputs and outputs of all of them
    - `expected`: about how long each run is; the longest begin first, so that none is left alone at the end
    """

    settings: DiagramSettings
    start: Callable[[int], RunStart]
    widths: Sequence[int]
    in_dim: int
    out_dim: int
    expected: np.ndarray
