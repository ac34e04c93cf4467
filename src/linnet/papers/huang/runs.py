"""The runs that the feature-learning claims share: data, start, theory and what training did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import linnet as ln
from linnet.randomness import Key, words
from linnet.reproduction.milestones import first_of

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from linnet.inits.weights import Weights
    from linnet.observables.features import FeatureHistory
    from linnet.problems.subgaussian import Regression
    from linnet.theories.feature_learning import Stages

EPSILON = 0.01  # the loss that Assumption 4.1 is evaluated for
SCALES = ("width", "learning_rate", "first_std", "magnitude")
INGREDIENTS = {"values": ("mode",), "coefficients": ("mode",), "scales": ("scale",)}


@dataclass(frozen=True)
class FeatureRun:
    """One trained network: its data and start, the theory for them, and the history of every neuron."""

    data: Regression
    start: Weights
    scales: dict[str, float]
    stages: Stages
    history: FeatureHistory

    @property
    def share(self) -> np.ndarray:
        """The loss as a share of its start, (time,)."""
        return self.history.loss / self.history.loss[0]

    def reached(self, share: float) -> int:
        """The first saved state at which the loss is at most `share` of its start; an error where it never is."""
        return first_of(self.share <= share, f"the loss never falls to {share:g} of its start")

    @property
    def steps(self) -> np.ndarray:
        """The saved steps."""
        assert self.history.steps is not None  # descent always counts them
        return self.history.steps

    @property
    def width(self) -> int:
        return self.stages.width


@lru_cache(maxsize=8)
def section_six(
    seed: int = 0,
    *,
    samples: int = 10,
    dim: int = 10_000,
    width: int = 1024,
    eta: float = 0.1,
    first_std: float = 0.01,
    magnitude: float = 0.001,
    noise_variance: float = 0.01,
    steps: int = 64,
) -> FeatureRun:
    """The synthetic experiment of section 6, trained in reduced coordinates with every step kept; `eta` is the
    paper's."""
    data = ln.problems.gaussian_teacher(seed, samples=samples, dim=dim, noise_variance=noise_variance)
    scales = {"first_std": first_std, "magnitude": magnitude, "learning_rate": eta / width}
    return train(data, seed, width=width, steps=steps, **scales)


@lru_cache(maxsize=8)
def separated(
    seed: int = 0,
    *,
    samples: int = 10,
    dim: int = 10_000,
    width: int = 1024,
    signal: float = 1.0,
    margin: float = 10.0,
    growth_times: float = 10.0,
    states: int = 400,
    **changes: float,
) -> FeatureRun:
    """A run that satisfies Assumption 4.1, printed and corrected: a teacher of small signal and small enough scales.

    It goes on for `growth_times` times n/sqrt(gamma) after the predicted end of the first stage, keeping about `states`
    states. `changes` replaces `first_std`, `magnitude` or `learning_rate` by multiples of the admissible ones.
    """
    data = ln.problems.gaussian_teacher(seed, samples=samples, dim=dim, signal=signal)
    scales = ln.theories.feature_learning.assumptions.admissible(data, width=width, epsilon=EPSILON, margin=margin)
    scales = {name: value * changes.pop(name, 1.0) for name, value in scales.items()}
    if changes:
        raise ValueError(f"`changes` must be among {', '.join(scales)}: got {', '.join(changes)}.")
    stages = ln.theories.feature_learning.Stages(data.inputs, data.outputs, width=width, **scales)
    steps = int((stages.first_time("asinh") + growth_times / stages.rate) / stages.learning_rate)
    return train(data, seed, width=width, steps=steps, save_every=max(1, steps // states), **scales)


def once(run: Any, seed: int, **settings: Any) -> FeatureRun:
    """`section_six` or `separated` for a cell of a table: not remembered, as a start of full width takes 80 MB."""
    return run.__wrapped__(seed, **settings)


def train(
    data: Regression,
    key: Key,
    *,
    width: int,
    steps: int,
    first_std: float,
    magnitude: float,
    learning_rate: float,
    save_every: Any = 1,
) -> FeatureRun:
    """Descent from the signed start, and the history of every neuron."""
    # a key below that of the data: the start must not repeat their numbers
    start = ln.inits.signed([*words(key), 1], in_dim=data.in_dim, width=width, first_std=first_std, magnitude=magnitude)
    trajectory = ln.gradient_descent(
        ln.Problem.from_data(data.inputs, data.outputs),
        start,
        learning_rate=learning_rate,
        steps=steps,
        save_every=save_every,
    )
    stages = ln.theories.feature_learning.Stages(
        data.inputs, data.outputs, width=width, learning_rate=learning_rate, first_std=first_std, magnitude=magnitude
    )
    scales = {"first_std": first_std, "magnitude": magnitude, "learning_rate": learning_rate}
    return FeatureRun(data, start, scales, stages, ln.observables.feature_history(trajectory))


def spectrum(data: Regression) -> tuple[np.ndarray, np.ndarray]:
    """Singular values of the inputs and the outputs along them, (mode,) each: all of the data that the theory sees."""
    import numpy as np

    frame, values, _ = np.linalg.svd(data.inputs, full_matrices=False)
    return values, frame.T @ data.outputs


def stages(values: np.ndarray, coefficients: np.ndarray, **scales: Any) -> Stages:
    """The theory for data of that `spectrum`: as many samples as inputs, which have the same Gram matrix up to
    rotation."""
    import numpy as np

    return ln.theories.feature_learning.Stages(np.diag(values), coefficients, **scales)


def ingredients(run: FeatureRun) -> dict[str, Any]:
    """What a cell of a table keeps of a run for the theory to be applied to it later; `INGREDIENTS` names the
    dimensions."""
    values, coefficients = spectrum(run.data)
    scales = [run.width, *(run.scales[name] for name in SCALES[1:])]
    return {"values": values, "coefficients": coefficients, "scales": scales}


def theory_of(cell: xr.Dataset) -> Stages:
    """The theory for a cell that has kept its `ingredients`."""
    width, *scales = cell["scales"].values.tolist()
    named = dict(zip(SCALES[1:], scales, strict=True))
    return stages(cell["values"].values, cell["coefficients"].values, width=int(width), **named)


def relative_errors(predicted: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """The distance over all neurons, relative to the trained values, (time,); infinite where a prediction overflows."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.linalg.norm(predicted - trained, axis=-1)
    size = np.linalg.norm(trained, axis=-1)
    relative = np.divide(distance, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.isfinite(relative), relative, np.inf)
