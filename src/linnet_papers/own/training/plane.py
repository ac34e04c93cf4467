"""Tasks of many kinds and cells anywhere on the plane of variances and widths: trained to the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.own.training.flows import least_errors
from linnet_papers.reproduction.cells import Block, Points
from linnet_papers.reproduction.datasets import Dataset, fixed_of
from linnet_papers.tu import plane

RANKS = (1, 3, 6, 2, 10, 4)  # of the truths, one after another
NOISES = (0.3, 3.0)  # standard deviations of the noise, least and most
STRENGTHS = (1.5, 5.0)  # the largest signal, in units of the largest singular value of the noise
FEW_UNITS = 6
QUANTITIES = ("min_test_loss", "best_time", "stable_rank")


class Cell(NamedTuple):
    """A place on the plane: the width of a network, and the variance of its weights."""

    width: int
    variance: float


def task(number: int, seed: int, sides: tuple[int, int]) -> ln.Problem:
    """Return a truth of low rank in Gaussian noise; shape, signals and noise are drawn, ranks and spectra take turns.

    Every third task has signals of nearly equal size, every third 1/i, and every third 0.6^i; every second one is
    rectangular. `sides` are the fewest and the most inputs and outputs.
    """
    draw = generator([seed, number])
    outputs, inputs = draw.integers(sides[0], sides[1] + 1, size=2)
    inputs = outputs if number % 2 else inputs
    rank = min(RANKS[number % len(RANKS)], min(outputs, inputs) // 4)
    noise_std = float(np.exp(draw.uniform(*np.log(NOISES))))
    places = np.arange(rank)
    spectrum = (np.sort(draw.uniform(0.6, 1, rank))[::-1], 1 / (1 + places), 0.6**places)[number % 3]
    edge = noise_std * (np.sqrt(outputs) + np.sqrt(inputs))
    left, right = (np.linalg.qr(draw.normal(size=(side, rank)))[0] for side in (outputs, inputs))
    truth = (left * (draw.uniform(*STRENGTHS) * edge * spectrum)) @ right.T
    return ln.Problem.from_target(truth + noise_std * draw.normal(size=(outputs, inputs)), truth=truth)


def chosen_cells(number: int, seed: int, dim: int, cells: int) -> list[Cell]:
    """Return random cells of a task over the whole plane, their widths spread evenly over its exponents."""
    draw = generator([seed, number, 1])
    powers = plane.WIDTH_EXPONENTS[1] * (np.arange(cells) + draw.uniform(size=cells)) / cells
    variances = float(dim) ** draw.uniform(*plane.VARIANCE_EXPONENTS, size=cells)
    return [
        Cell(plane.width_of(dim, power), float(variance)) for power, variance in zip(powers, variances, strict=True)
    ]


def train_plane_cell(
    points: Points, seeds: np.ndarray, *, seed: int, sides: list[int], cells: int, starts: list[int]
) -> Block:
    """Train all starts of one cell of one task; `points` has `task`, `cell` and `start`, `seeds` are of the starts.

    `starts` are those of networks of up to six units, of up to as many units as inputs (half or all of the most that
    `sides` allow, whichever they fit in), and of wider ones; the others are NaN. Of each: the least test loss until the
    training loss is flat, its time, the stable rank then, and whether the run got that far.
    """
    number = int(points["task"][0])
    problem = task(number, seed, (sides[0], sides[1]))
    outputs, inputs = problem.cross.shape
    width, variance = chosen_cells(number, seed, max(outputs, inputs), cells)[int(points["cell"][0])]
    side = sides[1] // 2 if max(outputs, inputs) <= sides[1] // 2 else sides[1]
    runs = min(starts[int(np.searchsorted((FEW_UNITS, side), width))], len(seeds))
    shape = {"in_dim": inputs, "out_dim": outputs, "width": width}
    std = np.sqrt(variance)
    drawn = [ln.inits.reduced_gaussian(**shape, stds=std, key=int(key)) for key in seeds[:runs]]
    target, truth = np.asarray(problem.cross), np.asarray(problem.truth)
    values = np.linalg.svd(target, compute_uv=False)
    slowest = float(values[min(width, np.linalg.matrix_rank(truth)) - 1])
    fastest = max(values[0], np.linalg.norm(truth, 2), variance * (np.sqrt(width) + np.sqrt(max(outputs, inputs))) ** 2)
    least = least_errors(
        np.stack([start.first for start in drawn]),
        np.stack([start.second for start in drawn]),
        target,
        truth,
        speeds=np.full(runs, 2 * float(fastest)),
        horizon=float(np.log(2 + slowest / variance)) / slowest,
    )
    parts = {"min_test_loss": least.test / 2, "best_time": least.time, "stable_rank": least.stable_rank}
    ended = {"ended": least.ended.astype(float)}
    return {
        name: np.pad(part, (0, len(seeds) - runs), constant_values=np.nan) for name, part in (parts | ended).items()
    }


def tasks_of(networks: Dataset) -> dict[int, ln.Problem]:
    """Return the tasks of a sweep by their numbers."""
    least, most = fixed_of(networks)["sides"]
    return {
        number: task(number, int(networks.attrs["seed"]), (least, most)) for number in networks["task"].values.tolist()
    }
