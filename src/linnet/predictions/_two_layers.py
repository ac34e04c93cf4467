"""The formulas for two layers, from the simplest on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linnet.inits.weights import Weights
from linnet.predictions._task import ROUNDING, SENSITIVITY, Task, nudged
from linnet.predictions.prediction import Answer, Assumption, Formula, required
from linnet.problems.problem import Problem
from linnet.reductions.reduction import reduce
from linnet.theories import aligned_flow, lazy_active
from linnet.theories import one_output as one_output_theory
from linnet.theories.lazy_active.lambda_balanced import common_imbalance
from linnet.theories.lazy_active.splitting import MOST_GROWTH

EXACT = 1e-10  # of what is equal to rounding, relative to the squared weights
STIFF, STIFF_ERROR = 2e4, 1e-7  # steps that an explicit method would need; error of an implicit one
FIRST_STEPS, MAX_STEPS = 8, 4096  # of a splitting
MAX_WORK = 2e9  # steps times the cube of the reduced width


def _from_gap(task: Task, assumptions: tuple[Assumption, ...], products: np.ndarray) -> Answer:
    """Half the distance of the Gram matrices, of the way that is predicted; at most the whole way."""
    moved, whole = task.shares(products)
    found = f"{task.gap:.2g} of the threshold {task.threshold:.3g} away"
    grams = Assumption("Gram matrices", "those of the self-consistent equation", found, task.gap <= 2 * task.rtol)
    if task.gap == 0:
        return Answer((*assumptions, grams), products, ROUNDING, "rounding, because the formula is exact here")
    uncertainty = max(_of_the_truth(min(task.gap / 2 * moved, whole)), ROUNDING)
    source = "half the distance of the initial Gram matrices from those that the formula assumes"
    return Answer((*assumptions, grams), products, uncertainty, source)


def _of_the_truth(uncertainty: float) -> float:
    """The uncertainty over the largest entry of the exact product, which may be this much smaller than the predicted
    one; at most twice the whole way, because each of two paths goes no further."""
    return uncertainty / (1 - min(uncertainty, 0.5))


def _riccati(task: Task) -> Answer:
    assumptions = required(task.layers(2, 2), task.flow, task.no_decay, task.whitened)
    imbalance, apart = common_imbalance(task.weights.first, task.weights.second)
    multiple = Assumption("imbalance", "a multiple of the identity, not 0", f"{apart:.1g} off", apart <= EXACT)
    scale = max(float(np.abs(layer).max()) for layer in task.weights.layers) ** 2
    if not multiple.met or abs(imbalance) <= EXACT * scale:
        return Answer((*assumptions, multiple._replace(met=False)))
    products = lazy_active.balanced_solution(task.target, task.weights.first, task.weights.second, task.clock).products
    return Answer((*assumptions, multiple), products, ROUNDING, "rounding, because the formula is exact here")


def _self_consistent(task: Task) -> Answer:
    assumptions = required(task.layers(2, 2), task.flow, task.whitened)
    decay = task.weight_decay / (task.variance or 1.0)
    solution = lazy_active.self_consistent_solution(task.target, task.product, task.threshold, task.clock)
    settled = Assumption("path", "determined in float64", solution.reason, bool(solution.determined.all()))
    required(*assumptions, settled)
    products = solution.products
    if decay:
        products = lazy_active.self_consistent(
            task.target, task.product, task.threshold, task.clock, weight_decay=decay
        )
    return _from_gap(task, assumptions, products)


def _splitting(task: Task) -> Answer:
    assumptions = required(task.layers(2, 2), task.flow, task.whitened)
    whitened, decay = Problem.from_target(task.target), task.weight_decay / (task.variance or 1.0)
    small = reduce(whitened, task.weights).weights
    rate = max(float(np.linalg.norm(task.target, 2)), float(np.linalg.norm(small.imbalance, 2)) / 2, decay)
    most = int(min(MAX_STEPS, max(MAX_WORK / small.width**3, 8 * FIRST_STEPS)))
    longest = most / 4 * MOST_GROWTH / max(rate, 1e-300)
    clock = np.append(task.clock[task.clock < longest], min(task.clock[-1], longest))
    steps = max(FIRST_STEPS, int(np.ceil(rate * clock[-1] / MOST_GROWTH)))

    def run(parts: int, weights: Weights = small) -> np.ndarray:
        times = np.unique(clock)
        return np.asarray(
            lazy_active.split_flow(whitened, weights, times, steps=steps, parts=parts, weight_decay=decay)
        )

    coarse, fine, parts = run(1), run(2), 2
    balanced = task.gap == 0 and task.threshold == 0  # then rounding may decide how a saddle is left
    rounding = float(np.abs(run(1, _nudged(small)) - coarse).max()) if balanced else 0.0
    before = fine + (fine - coarse) / 3  # the error of a step falls with the square of its length
    while True:
        parts *= 2
        coarse, fine = fine, run(parts)
        products = fine + (fine - coarse) / 3
        largest = max(float(np.abs(products).max()), 1e-300)
        # a fifteenth of the change where the error falls with the fourth power, which it does for many steps only
        change = float(np.abs(products - before).max()) / 2
        if change <= task.rtol * largest or 2 * steps * parts > most:
            break
        before = products
    later = task.clock.size - products.shape[0]
    left = 0.0
    if later > 0 or task.clock[-1] > clock[-1]:  # the loss never rises: what is left then is the most that changes
        left = float(np.linalg.norm(products[-1] - task.target)) if decay == 0 else np.inf
        products = np.concatenate([products[:-1], np.repeat(products[-1:], later + 1, axis=0)])
    found = f"{left / largest:.2g} of the largest entry"
    arrived = Assumption(
        "left to learn after the last step", f"at most {task.rtol:g}", found, left <= task.rtol * largest
    )
    required(*assumptions, arrived)
    uncertainty = max((change + left + SENSITIVITY * rounding) / largest, ROUNDING)
    source = f"half the difference between {steps * parts // 2} and {steps * parts} integration steps"
    return Answer(assumptions, products, uncertainty, source)


def _nudged(weights: Weights) -> Weights:
    """Return the weights with errors of rounding."""
    return Weights(*(nudged(layer) for layer in weights.layers))


def _aligned(task: Task) -> Answer:
    one_output = Assumption("outputs", "1", str(task.problem.out_dim), task.problem.out_dim == 1)
    assumptions = required(task.layers(2, 2), task.flow, task.no_decay, one_output)
    problem, size = task.problem, max(float(np.linalg.norm(layer, 2)) for layer in task.weights.layers)
    try:
        growing = aligned_flow.growth_direction(problem, task.weights)[0]
        path = aligned_flow.aligned_flow(problem, growing, task.times)
    except (ArithmeticError, ValueError) as error:
        return Answer((*assumptions, Assumption("growth", "from the weights along the target", str(error), False)))
    products = (np.linalg.norm(path, axis=1)[:, None] * path)[:, None, :]
    reached = float(np.linalg.norm(products, axis=2).max())
    small = Assumption("weights", "small", f"{size**2 / reached:.2g} of what is learned", size**2 <= 0.01 * reached)
    uncertainty = max(min(size**2 / (growing * np.sqrt(reached)), task.shares(products)[1]), ROUNDING)
    source = "the size of the weights over the root of what is learned, and over their part that grows"
    return Answer((*assumptions, small), products, uncertainty, source)


def _integrated(task: Task) -> Answer:
    assumptions = required(task.layers(2, 2), task.flow)
    scales, tolerance = task.problem.factor.scales, float(np.clip(1e-4 * task.gap, 1e-12, 1e-6))
    kernel = np.hypot(task.threshold, np.linalg.norm(task.problem.min_norm_solution(), 2))
    stiff = bool(scales.max() ** 2 * kernel * task.times[-1] > STIFF)
    tolerance = max(tolerance, 1e-9) if stiff else tolerance

    def run(product: np.ndarray) -> np.ndarray:
        decay, g = task.weight_decay, task.threshold
        return np.asarray(
            lazy_active.integrate(task.problem, product, g, task.times, weight_decay=decay, rtol=tolerance, stiff=stiff)
        )

    try:
        products = run(task.product)
        answer = _from_gap(task, assumptions, products)
        if task.threshold == 0 and task.product.any():  # rounding may decide how a saddle is left
            change = float(np.abs(run(nudged(task.product)) - products).max() / np.abs(products).max())
            answer = replace(answer, uncertainty=answer.uncertainty + SENSITIVITY * change)
        if stiff:
            answer = replace(answer, uncertainty=answer.uncertainty + STIFF_ERROR)
    except ArithmeticError as error:
        return Answer((*assumptions, Assumption("covariance", "not too stiff to integrate", str(error), False)))
    return answer


def _one_output(task: Task) -> Answer:
    """For covariances that are too stiff to integrate, because its clock takes their exponentials exactly."""
    one_output = Assumption("outputs", "1", str(task.problem.out_dim), task.problem.out_dim == 1)
    assumptions = required(task.layers(2, 2), task.flow, task.no_decay, one_output)
    if task.threshold == 0:
        return Answer((*assumptions, Assumption("threshold", "positive", "0", False)))
    try:
        products = one_output_theory.product_over_time(task.problem, task.threshold, task.times)[:, None, :]
    except (ArithmeticError, ValueError) as error:
        return Answer((*assumptions, Assumption("clock", "accurate steps", str(error), False)))
    moved, whole = task.shares(products)
    initial = float(np.linalg.norm(task.product)) / task.threshold
    neglected = Assumption("initial product", "negligible", f"{initial:.2g} of the threshold", initial <= task.rtol)
    uncertainty = max(_of_the_truth(min((task.gap / 2 + initial) * moved, whole)), ROUNDING)
    source = "the initial product, and half the distance of the initial Gram matrices from those that it assumes"
    return Answer((*assumptions, neglected), products, uncertainty, source)


FORMULAS: tuple[Formula, ...] = (
    Formula("Riccati", lazy_active.balanced_solution, _riccati),
    Formula("self-consistent", lazy_active.self_consistent, _self_consistent),
    Formula("splitting", lazy_active.split_flow, _splitting),
    Formula("self-consistent, integrated", lazy_active.integrate, _integrated),
    Formula("aligned flow", aligned_flow.aligned_flow, _aligned),
    Formula("one output", one_output_theory.product_over_time, _one_output),
)
