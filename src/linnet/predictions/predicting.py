"""The front door of the theories: which formula describes a training, and how far to trust it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import non_negative, of_kind, positive, times_array
from linnet.inits.weights import Weights, check_weights
from linnet.predictions import _deep, _two_layers, _updates
from linnet.predictions._task import Task
from linnet.predictions.prediction import Answer, Assumption, Formula, NoFormulaError, Prediction, UnmetError
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, refuse_diverged

FORMULAS: tuple[Formula, ...] = (*_two_layers.FORMULAS, *_deep.FORMULAS, *_updates.FORMULAS)
MAX_WEIGHT = 1e60  # formulas take fourth powers
NAMED = 3  # formulas whose failing assumptions a message names, from the fewest on
WORTH = 2  # how many times smaller the uncertainty of a less simple formula must be for it to be preferred


def predict(
    problem: Problem,
    weights: Weights,
    times: ArrayLike,
    *,
    weight_decay: float = 0.0,
    update: Any = None,
    learning_rate: float | None = None,
    rtol: float = 0.01,
    formula: str | None = None,
) -> Prediction:
    r"""Return what training will do, without training: the products over time, and how far to trust them.

    Of the formulas that apply to the problem and the weights, it takes the simplest one with an estimated error of at
    most `rtol`. If there is none, it takes the most accurate one. The arguments are those of `ln.gradient_flow`.

    **Arguments:**

    - `problem`: learning problem with a squared loss
    - `weights`: weights at time 0; a leading axis is a batch of networks
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `weight_decay`: coefficient $\lambda$ for all layers, as in `ln.gradient_flow`
    - `update`: optimizer, for two layers: `trainers.updates.SpectralDescent()` or `Muon(...)`; gradient flow by default
    - `learning_rate`: step size of the `update`, as in `ln.gradient_descent`; required with an update and only then
    - `rtol`: uncertainty that is small enough for a simpler formula to be preferred
    - `formula`: name of the formula to use, one of `[one.name for one in ln.predictions.FORMULAS]`; chosen by default

    **Returns** a `Prediction`. If no formula applies, it raises `NoFormulaError`, which names the failed assumption.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> problem = ln.Problem.from_target(np.diag([8.0, 1.0]))
        >>> weights = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**9, stds=1e-5)
        >>> prediction = ln.predict(problem, weights, [0.0, 0.5, 1.0])
        >>> run = ln.gradient_flow(problem, weights, times=prediction.times)
        >>> prediction.formula.name, prediction.uncertainty < 0.001, prediction.difference(run).covered
        ('self-consistent', True, True)
    """
    of_kind("problem", problem, Problem, "`ln.Problem.from_...`")
    weights = check_weights(weights)
    check_match(problem, weights, any_depth=True)
    refuse_diverged("weights", weights)
    largest = max(float(np.abs(layer).max()) for layer in weights.layers)
    if largest > MAX_WEIGHT:
        raise ValueError(f"`weights` must be at most {MAX_WEIGHT:g}: got {largest:.3g}. Give them in other units.")
    clock, rtol = times_array("times", times), positive("rtol", rtol)
    decay = non_negative("weight_decay", weight_decay)
    if (update is None) != (learning_rate is None):
        raise ValueError("`learning_rate` must be given together with `update`, and only then: got one of them.")
    rate = 0.0 if learning_rate is None else positive("learning_rate", learning_rate)
    if problem.cost is not None:
        raise NoFormulaError(
            "no formula applies to this `problem`: every formula needs a squared loss, and it has a general cost. "
            "Train it: `ln.gradient_flow` is exact at any width."
        )
    tasks = [Task(*pair, clock, rtol, decay, update, rate) for pair in _members(problem, weights)]
    best: tuple[Formula, list[Answer]] | None = None
    failed: list[tuple[int, str]] = []
    for row in _asked(formula, update):
        answers = _answers(row, tasks)
        if answers[-1].products is None:
            unmet = [str(one) for one in answers[-1].assumptions if not one.met]
            other_depth = any(one.name == "depth" and not one.met for one in answers[-1].assumptions)
            failed.append((len(unmet) + 100 * other_depth, f"{row.name} needs {'; '.join(unmet)}"))
            continue
        if best is None or _uncertainty(answers) < _uncertainty(best[1]) / WORTH:
            best = row, answers
        if _uncertainty(answers) <= rtol:
            break
    if best is None:
        failed.reverse()  # the later a formula stands, the more it applies to, and the more its failure says
        nearest = ". ".join(text for _, text in sorted(failed, key=lambda one: one[0])[:NAMED])
        trainer = "`ln.gradient_flow`" if update is None else "`ln.gradient_descent`"
        raise NoFormulaError(
            f"no formula applies to these `weights`: {nearest}. Train them: {trainer} is exact at any width."
        )
    chosen, answers = best
    products = [answer.products for answer in answers if answer.products is not None]
    batched = problem.batch is not None or weights.batch is not None
    worst = max(answers, key=lambda answer: answer.uncertainty)
    return Prediction(
        times=clock,
        products=np.stack(products, axis=1) if batched else products[0],
        formula=chosen,
        assumptions=worst.assumptions,
        uncertainty=worst.uncertainty,
        uncertainty_from=worst.uncertainty_from,
        problem=problem,
    )


def _asked(name: str | None, update: Any) -> Sequence[Formula]:
    """Return the formulas to try: all of gradient flow or of other updates, or the formula of this name."""
    if name is None:
        return [*_two_layers.FORMULAS, *_deep.FORMULAS] if update is None else _updates.FORMULAS
    asked = [one for one in FORMULAS if one.name == name]
    if not asked:
        names = ", ".join(repr(one.name) for one in FORMULAS)
        raise ValueError(f"`formula` must be one of {names}: got {name!r}.")
    return asked


def _answers(row: Formula, tasks: Sequence[Task]) -> list[Answer]:
    """Return what a formula predicts for every member of a batch, up to the first to which it does not apply."""
    answers: list[Answer] = []
    for task in tasks:
        with np.errstate(over="ignore"):  # of numbers that are refused later, or only printed
            try:
                answers.append(row.solve(task))
            except UnmetError as unmet:
                answers.append(Answer(unmet.args))
            except ArithmeticError as error:  # another formula may do
                answers.append(Answer((Assumption("numbers", "that can be computed", str(error), False),)))
        if answers[-1].products is None:
            break
    return answers


def _uncertainty(answers: Sequence[Answer]) -> float:
    return max(answer.uncertainty for answer in answers)


def _members(problem: Problem, weights: Weights) -> list[tuple[Problem, Weights]]:
    """Return the single problems and networks of a batch."""
    size = problem.batch or weights.batch
    if size is None:
        return [(problem, weights)]
    return [(_member(problem, at), weights if weights.batch is None else weights[at]) for at in range(size)]


def _member(problem: Problem, at: int) -> Problem:
    """Return one problem of a batch, without what only the losses need."""
    if problem.batch is None:
        return problem

    def chosen(array: np.ndarray | None) -> np.ndarray | None:
        return array[at] if array is not None and array.ndim == 3 else array

    parts: dict[str, np.ndarray | None] = {"inputs": chosen(problem.inputs), "outputs": chosen(problem.outputs)}
    if problem.inputs is None:
        parts = {"cov": None if problem.whitened else chosen(problem.cov), "cross": chosen(problem.cross)}
    return Problem(in_dim=problem.in_dim, out_dim=problem.out_dim, whitened=problem.whitened, **parts)  # type: ignore[arg-type]
