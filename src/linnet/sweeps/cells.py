"""Ready-made cell functions: a sweep over them needs no Python code."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from linnet._arguments import count, did_you_mean, non_negative, positive
from linnet.inits.gaussian_weights import reduced_gaussian
from linnet.observables.spectra import stable_rank
from linnet.problems.low_rank import low_rank_plus_noise
from linnet.problems.problem import Problem
from linnet.problems.spiked import spiked_covariance
from linnet.reductions.reduction import reduce
from linnet.sweeps import _names as names
from linnet.sweeps.errors import ConfigurationError
from linnet.trainers.diagrams.independent_runs import IndependentRun, train_independent_runs
from linnet.trainers.stability import stable_learning_rate

SETTINGS: dict[str, Any] = {
    "problem": "low-rank",
    "dim": 20,
    "rank": 1,
    "noise_std": 1.0,
    "spike": 10.0,
    "alignment": 0.5,
    "variance": 1.0,
    "samples": 0,
    "problem_seed": -1,
    "width": 100,
    "first_std": 0.1,
    "second_std": 0.1,
    "threshold": 0.0,
    "learning_rate": 0.0,
    "relative_rate": 0.2,
    "steps": 1000,
    "stop": 0.0,
}


def train(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, batch: int = 16, dtype: str | None = None, **settings: object
) -> dict[str, Any]:
    """Gradient descent from Gaussian weights of any width, to its end.

    Each of the following is an axis or a fixed parameter.

    - `problem`: "low-rank" (see `problems.low_rank_plus_noise`, with `dim`, `rank`, `noise_std`) or "spiked" (see
      `problems.spiked_covariance`, with `dim`, `spike`, `alignment`, `variance`, and `samples`, 0 for the population);
      or any function that returns a `Problem`, as "module:function". It is called with the settings that are its
      arguments, further ones included, and with the `key` of the draw if it takes one.
    - `problem_seed`: 0 or more draws the problem from this seed for all cells; otherwise each cell draws its own.
    - `width`, `first_std`, `second_std`: the initialization. The width costs nothing: wide networks are drawn in
      reduced form. A `threshold` above 0 sets both to $\\sqrt{threshold/width}$: singular values below it train lazily.
    - `learning_rate`, canonical; where it is 0, `relative_rate` times a step that is certainly stable.
    - `steps` at most, and `stop`, the loss at which to leave earlier (0 for never).

    `batch` networks of one shape are trained together. Cells of different shapes (`dim`, `samples`, small `width`) may
    share a block, but waste less if their axes are named in the sweep's `unbatched_axes`.

    **Returns** for each cell `loss`, `test_loss` (against the truth, else on held-out samples, else NaN), `stable_rank`
    of the product, `steps` taken, the canonical `time`, and `unfinished`: whether the steps ran out before the loss
    came down to `stop`. A network that diverged is a failed cell.
    """
    known = [*SETTINGS, *_own_settings([settings.get("problem"), *points.get("problem", ())])]
    for name in [*points, *settings]:
        if name not in known:
            near = did_you_mean(name, known)
            raise TypeError(f"`{name}` is not a setting of `train`{near} Known are {', '.join(known)}")
    _, own, which = np.unique(seeds, return_index=True, return_inverse=True)  # a padded block repeats its last cell
    cells = [{**SETTINGS, **settings, **{name: values[i].item() for name, values in points.items()}} for i in own]
    runs = [_run_of_cell(cell, int(seeds[i])) for cell, i in zip(cells, own)]
    groups: dict[tuple[Any, ...], list[IndependentRun]] = {}
    for cell, run in zip(cells, runs):
        groups.setdefault((run.shape, non_negative("stop", cell["stop"])), []).append(run)
    for (_, stop), members in groups.items():
        train_independent_runs(members, slots=min(count("batch", batch), len(seeds)), stop=stop or None, dtype=dtype)
    measured = [_measure(run, cell["stop"]) for run, cell in zip(runs, cells)]
    results: dict[str, Any] = {name: np.array([row[name] for row in measured])[which] for name in measured[0]}
    results["failures"] = {
        position: f"descent diverged at step {runs[index].taken} with a learning rate of {runs[index].rate:g}"
        for position, index in enumerate(which)
        if runs[index].ended == "diverged"
    }
    return results


def _run_of_cell(cell: dict[str, Any], seed: int) -> IndependentRun:
    """Build the run of one cell: its problem, its initialization and its learning rate."""
    drawn = seed if cell["problem_seed"] < 0 else int(cell["problem_seed"])
    problem = _problem_of_cell(cell, [drawn, 0])
    stds = cell["first_std"], cell["second_std"]
    if cell["threshold"]:
        stds = (math.sqrt(positive("threshold", cell["threshold"]) / count("width", cell["width"])),) * 2
    weights = reduced_gaussian(
        key=[seed, 1], in_dim=problem.in_dim, out_dim=problem.out_dim, width=cell["width"], stds=stds
    )
    if cell["learning_rate"]:
        rate = positive("learning_rate", cell["learning_rate"])
    else:
        rate = positive("relative_rate", cell["relative_rate"]) * (stable_learning_rate(problem, weights) or math.nan)
    return IndependentRun(reduce(problem, weights), rate, count("steps", cell["steps"]))


def _problem_of_cell(cell: dict[str, Any], key: list[int]) -> Problem:
    """Build the problem of one cell."""
    if cell["problem"] == "low-rank":
        return low_rank_plus_noise(cell["dim"], rank=cell["rank"], noise_std=cell["noise_std"], key=key)
    if cell["problem"] == "spiked":
        samples = count("samples", cell["samples"], least=0) or None
        return spiked_covariance(
            cell["dim"],
            spike=cell["spike"],
            alignment=cell["alignment"],
            variance=cell["variance"],
            samples=samples,
            key=key,
        )
    make = _problem_function(cell["problem"])
    taken = {name: cell[name] for name in _parameters(make) if name in cell and name != "problem"}
    problem = make(**taken, **({"key": key} if "key" in _parameters(make) else {}))
    if not isinstance(problem, Problem) or problem.batch:
        raise ValueError(f"`problem` {cell['problem']!r} must return one linnet Problem: got {problem!r}.")
    return problem


def _problem_function(name: object) -> Callable[..., Any]:
    """The function that a problem is made by, from its name in Python."""
    if ":" not in str(name):
        raise ConfigurationError(f"`problem` must be 'low-rank', 'spiked' or 'module:function': got {name!r}.")
    try:
        return names.find(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"`problem`: {error}") from error


def _parameters(make: Callable[..., Any]) -> list[str]:
    """List the parameters of a function."""
    return list(inspect.signature(make).parameters)


def _own_settings(problems: list[Any]) -> list[str]:
    """Arguments that the functions among `problems` take beyond the settings known here."""
    named = {str(name) for name in problems if name is not None and ":" in str(name)}
    return sorted({argument for name in named for argument in _parameters(_problem_function(name))} - {"key"})


def _test_loss(problem: Problem, product: np.ndarray) -> float:
    """Return the test loss, else the validation loss, else NaN."""
    if problem.truth is not None:
        return float(problem.test_loss(product))
    return float(problem.validation_loss(product)) if problem.validation is not None else math.nan


def _measure(run: IndependentRun, stop: float) -> dict[str, Any]:
    """Return what is recorded of a finished run."""
    assert run.weights is not None  # every run has been taken to its end
    reduced, weights = run.reduction, run.weights
    product = reduced.products(weights.product, weights.second)
    loss = reduced.problem.loss(weights.product)
    return {
        "loss": loss,
        "test_loss": _test_loss(reduced.full_problem, product),
        "stable_rank": stable_rank(product) if product.any() else 0.0,
        "steps": run.taken,
        "time": run.taken * run.rate,
        "unfinished": bool(stop and run.ended == "completed" and loss > stop),
    }
