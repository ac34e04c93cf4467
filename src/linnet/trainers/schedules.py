"""Learning rates that change from step to step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, one_or_each, real_array

MAX_SCHEDULE_STEPS = 10**8  # the rate of every step is kept, 800 MB


@dataclass(frozen=True, eq=False)
class Schedule:
    """Learning rate that changes from step to step.

    Pass it to a trainer as `learning_rate`; a function of the step may also be passed directly. For different learning
    rates of the networks in a batch, pass a plain array instead.

    **Attributes:**

    - `values`: learning rates, (step,), or a function of the step, which is called once with all steps as an array

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import Schedule
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> run = ln.gradient_descent(problem, start, learning_rate=Schedule([0.3, 0.2, 0.1]), steps=3)
        >>> run.times.round(12).tolist()  # the sum of the rates so far
        [0.0, 0.3, 0.5, 0.6]
    """

    values: ArrayLike | Callable[[np.ndarray], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.values):
            object.__setattr__(self, "values", _non_negative_rates("values", self.values))
            return
        check_function_of_step("values", self.values)

    def over(self, steps: int) -> Float[np.ndarray, " step"]:
        """Learning rates of the first steps.

        **Arguments:**

        - `steps`: number of steps

        **Returns** the learning rates, (step,).

        **Example:**

            >>> from linnet.trainers import Schedule
            >>> Schedule(lambda step: 0.1 / (1 + step)).over(2).tolist()
            [0.1, 0.05]
        """
        steps = count("steps", steps, least=0)
        if steps > MAX_SCHEDULE_STEPS:
            raise ValueError(
                f"`steps` must be at most {MAX_SCHEDULE_STEPS:.0e} with a schedule of the learning rate: got {steps}."
            )
        if callable(self.values):
            given = self.values(np.arange(steps))
            rates = _non_negative_rates("learning_rate", np.full(steps, given) if np.ndim(given) == 0 else given)
        else:
            rates = np.asarray(self.values)
        if len(rates) < steps:
            raise ValueError(f"`learning_rate` must have one rate for each of the {steps} steps: got {len(rates)}.")
        return rates[:steps]


def check_function_of_step(name: str, function: Callable[[np.ndarray], ArrayLike]) -> None:
    """Refuse a function that returns one number which depends on how many steps it is asked for, as `len` does.

    It is called twice, with the first 2 and with the first 3 steps. `name` is what the message calls the function.
    """
    constants = [function(np.arange(steps)) for steps in (2, 3)]
    if all(np.ndim(rate) == 0 for rate in constants) and constants[0] != constants[1]:
        raise ValueError(
            f"`{name}` must be a function of the step: this one returns one number that depends on how many steps "
            f"there are ({constants[0]} for 2, {constants[1]} for 3)."
        )


def _non_negative_rates(name: str, values: ArrayLike) -> np.ndarray:
    """Return the learning rates of a schedule as an array; refuse a negative one."""
    rates = real_array(name, values, ndim=1)
    if (rates < 0).any():
        raise ValueError(f"`{name}` must not be negative: got {rates.min():g} at a step.")
    return rates


# What users give as `learning_rate`; `rates_of` reads it.
Rate = float | ArrayLike | Schedule | Callable[[np.ndarray], ArrayLike]


@dataclass(frozen=True, eq=False)
class Rates:
    """A checked learning rate: a `constant`, one for all or one for each member of a batch, or a `schedule` for all
    members. With a schedule the constant is 1: their product is the rate."""

    constant: Float[np.ndarray, " ..."]
    schedule: Float[np.ndarray, " step"] | None = None

    def hyper(self) -> dict[str, np.ndarray]:
        """Return the rates by the names they have in a compiled loop (`_states.Hyper`)."""
        return {"learning_rate": self.constant, **({} if self.schedule is None else {"schedule": self.schedule})}

    def to_attribute(self) -> object:
        """Return the rates as an attribute of a dataset."""
        if self.schedule is None:
            return self.constant.tolist()
        return f"{len(self.schedule)} steps from {self.schedule[0]:g} to {self.schedule[-1]:g}"


def schedule_of(name: str, rate: Rate) -> Schedule | None:
    """Return the schedule that a user gave, as such or as a function of the step; None for rates that do not change."""
    if callable(rate):
        check_function_of_step(name, rate)
        return Schedule(rate)
    return rate if isinstance(rate, Schedule) else None


def rates_of(learning_rate: Rate, steps: int, batch: int | None) -> Rates:
    """Return the learning rate that a user gave: for all, by member of the batch, or by step."""
    planned = schedule_of("learning_rate", learning_rate)
    if planned is not None:
        return Rates(np.asarray(1.0), planned.over(max(steps, 1)))
    hint = " A rate for each step is a `Schedule`."
    rates = one_or_each("learning_rate", learning_rate, batch, f"batch of {batch}", hint)
    if (rates <= 0).any():
        raise ValueError(f"`learning_rate` must be positive: got {learning_rate!r}.")
    return Rates(rates)
