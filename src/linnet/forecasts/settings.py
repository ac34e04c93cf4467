"""The choices of a diagnosis, checked once and handed on as one object."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet._arguments import count, positive
from linnet._randomness import Key, words
from linnet.forecasts.cross_validation import MAX_STEPS
from linnet.forecasts.rates import rate_or_none


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of `diagnose`: the network, its initialization, its steps and the cross-validation.

    **Attributes:**

    - `width`: number of hidden units; does not affect the cost
    - `init`: initialization: `"pytorch"`, `"gaussian"`, a pair of standard deviations, or `Weights`
    - `init_scale`: factor by which both initial layers are multiplied
    - `learning_rate`: learning rate: `"stable"` for a quarter of the largest at which no run diverges, or a number
    - `steps`: maximum number of gradient steps; None trains until the held-out error is past its minimum or flat
    - `folds`: number of folds of the cross-validation
    - `seeds`: number of random initializations in each fold
    - `preprocess`: treatment of the columns: `"standardize"`, `"center"` or `"whiten"`
    - `key`: seed of the splits and of the initial weights
    - `max_steps`: maximum number of steps if `steps` is None

    **Example:**

        >>> from linnet.forecasts import Settings
        >>> Settings(width=64).folds
        5
    """

    width: int = 512
    init: object = "pytorch"
    init_scale: float = 1.0
    learning_rate: float | str = "stable"
    steps: int | None = None
    folds: int = 5
    seeds: int = 3
    preprocess: str = "standardize"
    key: Key = 0
    max_steps: int = MAX_STEPS

    def __post_init__(self) -> None:
        words(self.key)  # refuses what is no key
        checked = {
            "width": count("width", self.width),
            "seeds": count("seeds", self.seeds),
            "folds": count("folds", self.folds, least=2),
            "init_scale": positive("init_scale", self.init_scale),
            "max_steps": count("max_steps", self.max_steps),
            "steps": None if self.steps is None else count("steps", self.steps),
            "learning_rate": rate_or_none(self.learning_rate) or "stable",
            "key": int(self.key) if isinstance(self.key, np.integer) else self.key,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def rate(self) -> float | None:
        """The learning rate as a number; None where it is to be found."""
        return rate_or_none(self.learning_rate)
