"""What `ln.predict` returns: products over time, the formula, its assumptions, and an estimate of its error."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnet._arguments import of_kind
from linnet.problems.problem import Problem
from linnet.trajectories.datasets import provenance
from linnet.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


SMALL = 1e-8  # differences below it are those of two integrations


class NoFormulaError(ValueError):
    """Raised if no formula applies; the message names the assumption that fails, by how much, and an alternative.

    **Example:**

        >>> import linnet as ln
        >>> problem = ln.Problem.from_cost(lambda A: (A**4).sum(), in_dim=1, out_dim=1)
        >>> try:
        ...     ln.predict(problem, ln.Weights([[1.0]], [[1.0]]), [0.0, 1.0])
        ... except ln.predictions.NoFormulaError as error:
        ...     print(str(error).split(":")[0])
        no formula applies to this `problem`
    """


class Assumption(NamedTuple):
    """One assumption of a formula: the requirement, the value found, and whether it is met.

    **Example:**

        >>> from linnet.predictions import Assumption
        >>> print(Assumption("layers", "2", "3", False))
        layers: 2, found 3 (not met)
    """

    name: str
    required: str
    found: str
    met: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.required}, found {self.found}" + ("" if self.met else " (not met)")


class UnmetError(Exception):
    """Raised by a formula whose assumptions, all of them in its arguments, are not all met."""


def required(*assumptions: Assumption) -> tuple[Assumption, ...]:
    """Return the assumptions, or end the formula if one of them is not met."""
    if not all(one.met for one in assumptions):
        raise UnmetError(*assumptions)
    return assumptions


@dataclass(frozen=True)
class Answer:
    """Prediction of one formula for one network; without products if a necessary assumption is not met."""

    assumptions: tuple[Assumption, ...]
    products: np.ndarray | None = None
    uncertainty: float = np.inf
    uncertainty_from: str = ""


@dataclass(frozen=True)
class Formula:
    """A formula that `ln.predict` may choose.

    **Attributes:**

    - `name`: name of the formula in `ln.predict(..., formula=name)`
    - `function`: the public function of `linnet.theories` that computes it, to go on from there
    - `solve`: function that `ln.predict` calls

    **Example:**

        >>> import linnet as ln
        >>> formula = ln.predictions.FORMULAS[1]
        >>> formula.name, formula.function.__name__, formula.reference
        ('self-consistent', 'self_consistent', 'Tu et al. 2024, eq. (1)')
    """

    name: str
    function: Callable[..., Any]
    solve: Callable[[Any], Answer] = field(repr=False)

    @property
    def reference(self) -> str:
        """Source of the formula, with the number of its equation; its function has more."""
        found = re.search(r"\*\*Reference:\*\*(.*?)(\n\n|\Z)", inspect.getdoc(self.function) or "", re.DOTALL)
        return re.split(r"; |,? (?:for|whose|where) ", " ".join(found[1].split()))[0].rstrip(".") if found else "ours"


class Difference(NamedTuple):
    """The largest difference between a prediction and a run, over the run's largest entry, and where it occurs.

    **Attributes:**

    - `value`: the difference
    - `time`: time of the largest uncertainty
    - `entry`: uncertainty of each entry of the products, ([batch,] output, input)
    - `covered`: whether the uncertainty of the prediction is at least as large

    **Example:**

        >>> import linnet as ln
        >>> problem, weights = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> run = ln.gradient_flow(problem, weights, times=[0.0, 1.0])
        >>> difference = ln.predict(problem, weights, run.times).difference(run)
        >>> difference.value < 1e-8, difference.covered
        (True, True)
    """

    value: float
    time: float
    entry: tuple[int, ...]
    covered: bool


@dataclass(frozen=True)
class Prediction:
    r"""Result of `ln.predict`: a run that was predicted without training.

    **Attributes:**

    - `times`: times (learning rate times number of steps), (time,)
    - `products`: products $W_L \cdots W_1$, (time, [batch,] output, input)
    - `formula`: the `Formula` that was chosen: name, reference, function
    - `assumptions`: assumptions of the formula, each an `Assumption` with the requirement and the value found
    - `uncertainty`: estimate of the largest difference from exact training over all times and entries, divided by the
      largest entry of the product; designed to be at least as large as the difference in 95% of cases
    - `uncertainty_from`: source of the estimate of `uncertainty`
    - `problem`: learning problem

    `.loss`, `.test_loss` and `.modes` follow from the products.

    **Example:**

        >>> import linnet as ln
        >>> weights = ln.inits.orthogonal(key=0, in_dim=2, out_dim=2, width=5, scale=0.1)
        >>> prediction = ln.predict(ln.Problem.from_target([[2.0, 0.0], [0.0, 0.5]]), weights, [0.0, 1.0, 20.0])
        >>> prediction.modes.round(2).tolist(), prediction.formula.name
        ([[0.0, 0.0], [1.18, 0.1], [2.0, 0.5]], 'self-consistent')
    """

    times: np.ndarray
    products: np.ndarray
    formula: Formula
    assumptions: tuple[Assumption, ...]
    uncertainty: float
    uncertainty_from: str
    problem: Problem

    @cached_property
    def loss(self) -> np.ndarray:
        """The training loss, (time, [batch])."""
        return np.asarray(self.problem.loss(self.products))

    @cached_property
    def test_loss(self) -> np.ndarray | None:
        """The test loss, (time, [batch]); None for a problem without a ground truth."""
        return None if self.problem.truth is None else np.asarray(self.problem.test_loss(self.products))

    @cached_property
    def modes(self) -> np.ndarray:
        """The strengths of the modes: singular values of the product, decreasing, (time, [batch,] mode)."""
        return np.linalg.svd(self.products, compute_uv=False)

    def difference(self, run: Trajectory) -> Difference:
        """Return the largest difference from a run with the same times, relative to the run's largest entry."""
        of_kind("run", run, Trajectory, "a trainer, such as `ln.gradient_flow`")
        if run.products.shape != self.products.shape or not np.allclose(
            run.times.T, self.times, rtol=1e-9, atol=1e-12 * float(self.times[-1])
        ):
            raise ValueError(
                f"`run` must have the times of the prediction: got products of shape {run.products.shape} up to time "
                f"{float(np.max(run.times)):.6g}, predicted were {self.products.shape} up to {self.times[-1]:.6g}. "
                "Give `times=prediction.times` to the trainer."
            )
        apart = np.abs(self.products - run.products)
        largest = float(np.abs(run.products).max())
        time, *entry = (int(i) for i in np.unravel_index(int(np.argmax(apart)), apart.shape))
        value = float(apart.max()) / (largest if largest > 0 else 1.0)
        return Difference(value, float(self.times[time]), tuple(entry), value <= max(self.uncertainty, SMALL))

    def plot(self) -> Figure:
        """Losses and singular values over time (`linnet.draw`); needs matplotlib."""
        from linnet.draw import overview

        return overview(self)

    def to_dataset(self) -> xr.Dataset:
        """The prediction as an xarray dataset with the names of a trajectory's (docs/schema.md)."""
        import xarray as xr

        lead = ("time", "batch")[: self.loss.ndim]
        variables: dict[str, Any] = {"loss": (lead, self.loss)}
        if self.test_loss is not None:
            variables["test_loss"] = (lead, self.test_loss)
        variables["product"] = ((*lead, "output", "input"), self.products)
        clock = ("time", self.times, {"long_name": "time", "units": "canonical"})
        attributes = {
            "formula": self.formula.name,
            "reference": self.formula.reference,
            "uncertainty": self.uncertainty,
            "uncertainty_from": self.uncertainty_from,
        }
        return xr.Dataset(variables, {"time": clock}, attrs={**provenance(), **attributes})

    def __str__(self) -> str:
        lines = [
            f"{self.formula.name} ({self.formula.reference})",
            *(f"  {one}" for one in self.assumptions[:5]),
            f"uncertainty {self.uncertainty:.2g} of the largest entry, from {self.uncertainty_from}",
        ]
        return "\n".join(lines)
