"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

FAILURES = ("diverged", "step limit", "not finite")


class DivergedError(ArithmeticError):
    """Raised if a run diverged; the message names the step, and a step size that would have been stable.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trajectories import DivergedError
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[1.0]], [[2.0]])
        >>> try:
        ...     ln.gradient_descent(problem, start, learning_rate=10.0, steps=100)
        ... except DivergedError:
        ...     print("ten is too large a step")
        ten is too large a step
    """


class StepLimitError(ArithmeticError):
    """Raised if an adaptive solver needed more steps than allowed.

    **Example:**

        >>> from linnet.trajectories import DivergedError, StepLimitError
        >>> issubclass(StepLimitError, DivergedError)  # it may yet converge: allow more `max_steps`
        False
    """


@dataclass(frozen=True)
class Status:
    """End of a run: the reason, and the number of steps.

    **Attributes:**

    - `reason`: `"completed"`, the reason of a stopping rule, or a failure; for a batch an array of them
    - `steps`: number of steps taken
    - `uncertain_from`: first step at which rounding may change the run, reported by spectral descent; None if there
      is no such step. For a batch, an array with -1 for networks without one

    **Example:**

        >>> from linnet.trajectories import Status
        >>> Status("completed", 100).ok, Status("diverged", 7).ok
        (True, False)
    """

    reason: Any
    steps: Any
    uncertain_from: Any = None

    @property
    def ok(self) -> bool:
        """Whether no run failed; stopping early by a rule is not a failure."""
        return not np.isin(np.asarray(self.reason), FAILURES).any()
