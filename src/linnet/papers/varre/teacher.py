"""The ReLU teacher and students of figures 2 and 5 of Varre et al.

The paper gives 10 Gaussian points in 5 dimensions, a teacher with 2 neurons and a student with 20, started "at low
scale" and "at a larger scale". Fixed here, before looking at any seed: the teacher's weights are independent standard
normals; both layers of a student start with independent normals, of standard deviation 0.001 or 1; gradient flow is
followed by descent with small steps; a singular value counts towards the rank above a tenth of the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import linnet as ln
from linnet.papers.varre.regression import together
from linnet.reproduction.figure import Settings

if TYPE_CHECKING:
    from linnet.problems.problem import Problem
    from linnet.trajectories.trajectory import Trajectory

TEACHERS = 2


class Students(Settings):
    """Sizes of the teacher-student runs and how they are trained."""

    samples: int = 10
    inputs: int = 5
    width: int = 20
    small: float = 1e-3
    large: float = 1.0
    seeds: int = 20
    small_rate: float = 0.02
    large_rate: float = 0.005
    small_steps: int = 100_000
    large_steps: int = 100_000
    saves: int = 400


def teacher(settings: Students) -> Problem:
    """One teacher and its samples for each seed."""
    seeds = range(settings.seed, settings.seed + settings.seeds)
    shape = {"samples": settings.samples, "in_dim": settings.inputs, "neurons": TEACHERS}
    return together([ln.problems.relu_teacher(seed, **shape) for seed in seeds])


def student(settings: Students, *, large: bool) -> Trajectory:
    """A student of each teacher, trained from the small or the large start."""
    std = settings.large if large else settings.small
    shape: dict[str, Any] = {"in_dim": settings.inputs, "out_dim": 1, "width": settings.width}
    seeds = range(settings.seed, settings.seed + settings.seeds)
    starts = ln.Weights.stack(ln.inits.gaussian(seed, first_std=std, second_std=std, **shape) for seed in seeds)
    steps = settings.large_steps if large else settings.small_steps
    rate = settings.large_rate if large else settings.small_rate
    saving = ln.trajectories.log_spaced(settings.saves)
    return ln.relu_descent(teacher(settings), starts, learning_rate=rate, steps=steps, save_every=saving)
