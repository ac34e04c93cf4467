"""The ReLU teacher and students of figures 2 and 5.

The paper gives 10 Gaussian points in 5 dimensions, a teacher with 2 neurons and a student with 20, started "at low
scale" and "at a larger scale". Fixed here, before looking at any seed: the teacher's weights are independent standard
normals; both layers of a student start with independent normals, of standard deviation 0.001 or 1; gradient flow is
followed by descent with small steps; a singular value counts towards the rank above a tenth of the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction.cells import Block, Points, one_of_each
from linnet_papers.reproduction.figure import Settings
from linnet_papers.varre.settings import HIDDEN, POINT_INPUTS, POINTS, TEACHERS

SAVES = 400  # states in which plateaus are looked for
PLATEAU = 0.1  # a plateau is where the loss falls slower than this share of its fastest fall before


class Start(TypedDict):
    """Standard deviation of the weights at first, learning rate, and how many steps are made."""

    std: float
    rate: float
    steps: int


class Students(Settings):
    """Sizes of the teacher-student runs and how they are trained."""

    samples: PositiveInt = POINTS
    inputs: PositiveInt = POINT_INPUTS
    width: PositiveInt = HIDDEN
    small: PositiveFloat = 1e-3
    large: PositiveFloat = 1.0
    seeds: PositiveInt = 20
    small_rate: PositiveFloat = 0.02
    large_rate: PositiveFloat = 0.005
    small_steps: PositiveInt = 100_000
    large_steps: PositiveInt = 100_000
    saves: PositiveInt = SAVES


def train_figure_students(settings: Students, name: str) -> ln.Trajectory:
    """Train a student of each of the figures' teachers from the initialization of that name, "small" or "large"."""
    keys = range(settings.seed, settings.seed + settings.seeds)
    sizes = {name: getattr(settings, name) for name in ("samples", "inputs", "width", "saves")}
    rate, steps = (getattr(settings, f"{name}_{option}") for option in ("rate", "steps"))
    start: Start = {"std": getattr(settings, name), "rate": rate, "steps": steps}
    return train_students(keys, start, **sizes)


def train_students(
    keys: Sequence[int] | Sequence[list[int]],
    start: Start,
    *,
    samples: int = POINTS,
    inputs: int = POINT_INPUTS,
    width: int = HIDDEN,
    saves: int = SAVES,
) -> ln.Trajectory:
    """Train a student for each key, of the teacher and from the initialization that the key draws."""
    shape: dict[str, int] = {"in_dim": inputs, "out_dim": 1, "width": width}
    std = start["std"]
    return ln.relu_descent(
        ln.Problem.stack(
            [ln.problems.relu_teacher(key=key, samples=samples, in_dim=inputs, neurons=TEACHERS) for key in keys]
        ),
        ln.Weights.stack(ln.inits.gaussian(key=key, stds=std, **shape) for key in keys),
        learning_rate=start["rate"],
        steps=start["steps"],
        save_every=ln.trajectories.log_spaced(saves),
    )


def student_cells(points: Points, seeds: np.ndarray, *, starts: dict[str, Start], seed: int) -> Block:
    """Train students of one start, side by side, each with the teacher and from the start of its replicate.

    `values` are the singular values of the final first layer, `loss` is the final loss; `directions` the cosines of the
    hidden units with the teacher's neurons, one for each of these. `plateau` says
    whether the loss has a plateau between two falls, and `plateau_ratio` is the second over the first singular value
    there (NaN without one).
    """
    (name,) = one_of_each(points, "start")
    start = starts[name]
    keys = [[seed, replicate] for replicate in points["replicate"].tolist()]
    run = train_students(keys, start)
    values = np.linalg.svd(run.reduced.first, compute_uv=False)
    plateaus = [first_plateau(run.times, run.loss[:, index]) for index in range(len(keys))]
    ratios = [values[at, i, 1] / values[at, i, 0] if at > 0 else np.nan for i, at in enumerate(plateaus)]
    return {
        "values": (("value",), values[-1]),
        "loss": run.loss[-1],
        "directions": (("neuron",), np.stack([_learned_cosines(key, run, i) for i, key in enumerate(keys)])),
        "plateau": np.array([at > 0 for at in plateaus]),
        "plateau_ratio": np.array(ratios),
    }


def teacher_directions(key: list[int]) -> np.ndarray:
    """Return the unit vectors along the input weights of a teacher's neurons (neuron, input): the draw of
    `relu_teacher` again."""
    random = generator(key, 2)
    random.standard_normal((POINTS, POINT_INPUTS))  # its inputs come first
    first = random.standard_normal((TEACHERS, POINT_INPUTS))
    return first / np.linalg.norm(first, axis=1, keepdims=True)


def _learned_cosines(key: list[int], run: ln.Trajectory, index: int) -> np.ndarray:
    """Return, for each neuron of the teacher, the mean cosine to it of the student's units that are nearer to it than
    to the other neuron, weighted by |a_j||w_j| (neuron,)."""
    directions = teacher_directions(key)
    units, outgoing = run.reduced.first[-1, index], run.reduced.second[-1, index, 0]
    lengths = np.linalg.norm(units, axis=1)
    cosines = units @ directions.T / lengths[:, None]
    weights = np.abs(outgoing) * lengths
    nearest = cosines.argmax(axis=1)
    near_neuron = [weights * (nearest == j) for j in range(TEACHERS)]
    return np.array([part @ cosines[:, j] / part.sum() if part.any() else 0.0 for j, part in enumerate(near_neuron)])


def first_plateau(times: np.ndarray, loss: np.ndarray) -> int:
    """Return the index of the saved state at the first plateau, -1 if there is none.

    With the slope of the loss as drawn, in logarithms of both axes: after the first peak of the slope above 1, its
    first minimum is a plateau if it is below a tenth of that peak.
    """
    seen = np.maximum(loss[1:], 1e-30 * loss[0])  # some students reach a loss of zero
    slope = -np.gradient(np.log(seen), np.log(times[1:]))
    inner = np.arange(1, slope.size - 1)
    peaks = inner[(slope[inner] > 1) & (slope[inner] >= slope[inner - 1]) & (slope[inner] > slope[inner + 1])]
    if peaks.size == 0:
        return -1
    valleys = inner[(inner > peaks[0]) & (slope[inner] <= slope[inner - 1]) & (slope[inner] < slope[inner + 1])]
    if valleys.size == 0 or slope[valleys[0]] > PLATEAU * slope[peaks[0]]:
        return -1
    return 1 + int(valleys[0])
