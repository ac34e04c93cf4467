"""The formulas for two layers, from the simplest on."""

from __future__ import annotations

import numpy as np

from linnet.predictions._task import ROUNDING, Task
from linnet.predictions.prediction import Answer, Assumption, Formula
from linnet.problems.problem import Problem
from linnet.reductions.reduction import reduce
from linnet.theories import lazy_active

FIRST_STEPS, MAX_STEPS = 8, 4096  # of a splitting
MAX_WORK = 2e9  # steps times the cube of the reduced width


def two_layers(task: Task) -> Assumption:
    """Whether the network has two layers."""
    depth = task.weights.depth
    return Assumption("layers", "2", str(depth), depth == 2)


def _from_gap(task: Task, assumptions: tuple[Assumption, ...], products: np.ndarray) -> Answer:
    """Half the gap of the way that is predicted, at most the whole way (MATH.md, section 17)."""
    moved, whole = task.shares(products)
    found = f"{task.gap:.2g} of the threshold {task.threshold:.3g} away"
    grams = Assumption("Gram matrices", "those of the self-consistent equation", found, task.gap <= 2 * task.rtol)
    if task.gap == 0:
        return Answer((*assumptions, grams), products, ROUNDING, "rounding, because the formula is exact here")
    uncertainty = max(min(task.gap / 2 * moved, whole), ROUNDING)
    source = "half the distance of the initial Gram matrices from those that the formula assumes"
    return Answer((*assumptions, grams), products, uncertainty, source)


def _self_consistent(task: Task) -> Answer:
    assumptions = (two_layers(task), task.whitened)
    if not all(one.met for one in assumptions):
        return Answer(assumptions)
    solution = lazy_active.self_consistent_solution(task.target, task.product, task.threshold, task.clock)
    settled = Assumption("path", "determined in float64", solution.reason, bool(solution.determined.all()))
    if not settled.met:
        return Answer((*assumptions, settled))
    return _from_gap(task, assumptions, solution.products)


def _splitting(task: Task) -> Answer:
    assumptions = (two_layers(task), task.whitened)
    if not all(one.met for one in assumptions):
        return Answer(assumptions)
    whitened = Problem.from_target(task.target)
    small = reduce(whitened, task.weights).weights
    rate = max(float(np.linalg.norm(task.target, 2)), float(np.linalg.norm(small.imbalance, 2)) / 2)
    steps = max(FIRST_STEPS, int(np.ceil(rate * task.clock[-1] / lazy_active.splitting.MOST_GROWTH)))
    most = int(min(MAX_STEPS, max(MAX_WORK / small.width**3, 8 * FIRST_STEPS)))
    length = Assumption("steps", f"at most {most}", f"at least {4 * steps}", 4 * steps <= most)
    if not length.met:
        return Answer((*assumptions, length))

    def run(number: int) -> np.ndarray:
        return lazy_active.split_flow(whitened, small, task.clock, steps=number)

    coarse, fine = run(steps), run(2 * steps)
    before = fine + (fine - coarse) / 3  # the error of a step falls with the square of its length
    while True:
        steps *= 2
        coarse, fine = fine, run(2 * steps)
        products = fine + (fine - coarse) / 3
        largest = max(float(np.abs(products).max()), 1e-300)
        # a fifteenth of the change where the error falls with the fourth power, which it does for many steps only
        uncertainty = max(float(np.abs(products - before).max()) / largest / 2, ROUNDING)
        if uncertainty <= task.rtol or 4 * steps > most:
            break
        before = products
    source = f"half the change from {steps} to {2 * steps} steps, both extrapolated"
    return Answer((*assumptions, length), products, uncertainty, source)


def _integrated(task: Task) -> Answer:
    assumptions: tuple[Assumption, ...] = (two_layers(task),)
    if not assumptions[0].met:
        return Answer(assumptions)
    tolerance = float(np.clip(1e-4 * task.gap, 1e-12, 1e-6))
    try:
        products = lazy_active.integrate(task.problem, task.product, task.threshold, task.times, rtol=tolerance)
    except ArithmeticError as error:
        return Answer((*assumptions, Assumption("covariance", "not too stiff to integrate", str(error), False)))
    return _from_gap(task, assumptions, products)


FORMULAS: tuple[Formula, ...] = (
    Formula("self-consistent", lazy_active.self_consistent, _self_consistent),
    Formula("splitting", lazy_active.split_flow, _splitting),
    Formula("self-consistent, integrated", lazy_active.integrate, _integrated),
)
