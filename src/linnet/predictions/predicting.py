"""The front door of the theories: which formula describes a training, and how far to trust it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import of_kind, positive, times_array
from linnet.inits.weights import Weights, check_weights
from linnet.predictions import _deep, _two_layers
from linnet.predictions._task import Task
from linnet.predictions.prediction import Answer, Formula, NoFormulaError, Prediction
from linnet.problems.problem import Problem
from linnet.reductions.reduction import check_match, refuse_diverged

FORMULAS: tuple[Formula, ...] = (*_two_layers.FORMULAS, *_deep.FORMULAS)


def predict(
    problem: Problem, weights: Weights, times: ArrayLike, *, rtol: float = 0.01, formula: str | None = None
) -> Prediction:
    r"""Return what gradient flow will do, without training: the products over time, and how far to trust them.

    It looks at the problem and at the weights and takes the simplest formula whose estimated error is at most `rtol`;
    if there is none, the most accurate one that applies. The arguments are those of `ln.gradient_flow`.

    **Arguments:**

    - `problem`: what is to be learned, with a squared loss
    - `weights`: weights at time 0; a leading axis is a batch of networks
    - `times`: canonical, increasing, (time,)
    - `rtol`: uncertainty that is small enough for a simpler formula to be preferred
    - `formula`: name of the formula to use, one of `[one.name for one in ln.predictions.FORMULAS]`; chosen by default

    **Returns** a `Prediction`. Where nothing applies it raises `NoFormulaError`, which names what fails.

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
    clock, rtol = times_array("times", times), positive("rtol", rtol)
    if problem.cost is not None:
        raise NoFormulaError(
            "no formula applies: every formula needs a squared loss, and this problem has a general cost. Train it: "
            "`ln.gradient_flow` is exact at any width."
        )
    tasks = [Task(*pair, clock, rtol) for pair in _members(problem, weights)]
    best: tuple[Formula, list[Answer]] | None = None
    failed: list[str] = []
    for row in _asked(formula):
        answers = _answers(row, tasks)
        if answers[-1].products is None:
            failed.append(f"{row.name} needs " + "; ".join(str(one) for one in answers[-1].assumptions if not one.met))
            continue
        if best is None or _uncertainty(answers) < _uncertainty(best[1]):
            best = row, answers
        if _uncertainty(answers) <= rtol:
            break
    if best is None:
        raise NoFormulaError(
            f"no formula applies: {'. '.join(failed)}. Train it: `ln.gradient_flow` is exact at any width."
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


def _asked(name: str | None) -> Sequence[Formula]:
    """Return the formulas to try: all, or the one of a name."""
    if name is None:
        return FORMULAS
    asked = [one for one in FORMULAS if one.name == name]
    if not asked:
        names = ", ".join(repr(one.name) for one in FORMULAS)
        raise ValueError(f"`formula` must be one of {names}: got {name!r}.")
    return asked


def _answers(row: Formula, tasks: Sequence[Task]) -> list[Answer]:
    """Return what a formula predicts for every member of a batch, up to the first to which it does not apply."""
    answers: list[Answer] = []
    for task in tasks:
        answers.append(row.solve(task))
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
