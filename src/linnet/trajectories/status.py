"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

FAILURES = ("diverged", "step limit", "not finite")


class DivergedError(ArithmeticError):
    """A run diverged: the message says where, and what to do (a step size that would have been stable)."""


class StepLimitError(ArithmeticError):
    """An adaptive solver needed more steps than it was allowed."""


@dataclass(frozen=True)
class Status:
    """`reason` is why the run ended ("completed", a stopping rule's word, or a failure), `steps` how many steps it
    took.

    Strings and whole numbers for one run, arrays of them for a batch.
    """

    reason: Any
    steps: Any

    @property
    def ok(self) -> bool:
        """Whether no run failed; stopping early by a rule is not a failure."""
        return not np.isin(np.asarray(self.reason), FAILURES).any()
