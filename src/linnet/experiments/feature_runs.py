"""The runs of the feature-learning paper that its figures and claims share: data, start, theory and what training did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import linnet as ln

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from linnet.inits.weights import Weights
    from linnet.observables.features import FeatureHistory
    from linnet.problems.subgaussian import Regression
    from linnet.theories.feature_learning import Stages

EPSILON = 0.01  # the loss that Assumption 4.1 is evaluated for


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
    """The synthetic experiment of section 6, trained in reduced coordinates with every step kept; `eta` is the paper's."""
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
    scales = ln.theories.feature_assumptions.admissible(data, width=width, epsilon=EPSILON, margin=margin)
    scales = {name: value * changes.pop(name, 1.0) for name, value in scales.items()}
    if changes:
        raise ValueError(f"`changes` must be among {', '.join(scales)}: got {', '.join(changes)}.")
    stages = ln.theories.feature_learning.Stages(data.inputs, data.outputs, width=width, **scales)
    steps = int((stages.first_time("asinh") + growth_times / stages.rate) / stages.learning_rate)
    return train(data, seed, width=width, steps=steps, save_every=max(1, steps // states), **scales)


def train(
    data: Regression,
    seed: int,
    *,
    width: int,
    steps: int,
    first_std: float,
    magnitude: float,
    learning_rate: float,
    save_every: Any = 1,
) -> FeatureRun:
    """Descent from the signed start, and the history of every neuron."""
    # the seed's second stream of its own: the start must not repeat the numbers of the data
    start = ln.inits.signed(
        [seed, 1], in_dim=data.in_dim, width=width, first_std=first_std, magnitude=magnitude
    )  # fmt: skip
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


def relative_errors(predicted: np.ndarray, trained: np.ndarray) -> np.ndarray:
    """The distance over all neurons, relative to the trained values, (time,); infinite where a prediction overflows."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.linalg.norm(predicted - trained, axis=-1)
    size = np.linalg.norm(trained, axis=-1)
    relative = np.divide(distance, size, out=np.zeros_like(size), where=size > 0)
    return np.where(np.isfinite(relative), relative, np.inf)


def summary(history: FeatureHistory, stages: Stages) -> xr.Dataset:
    """What the figures draw of a run: loss, ratio and kernel over the steps, as trained and as the stages predict."""
    import numpy as np
    import xarray as xr

    zero = np.zeros_like(history.overlaps)
    rho, v = stages.plane(history.steps, zero, history.magnitudes[0], overlaps=history.overlaps)
    root = np.sqrt(history.gamma)
    predicted = stages.network_kernel(rho, v, history.overlaps)
    # the same reading of the predicted alignments, magnitudes and kernels as of the trained ones
    theory = replace(history, alignments=rho, magnitudes=v, kernels=predicted)
    curves = {
        "loss": (history.loss / history.loss[0], "loss, share of its start"),
        "loss_theory": (stages.loss(rho, v, history.overlaps) / history.loss[0], "predicted loss, share of its start"),
        "ratio": (history.median_ratio, "median over neurons of rho/(v sqrt(gamma))"),
        "ratio_of_means": (history.mean_ratio, "mean |rho| over mean |v|, divided by sqrt(gamma)"),
        "ratio_theory": (theory.median_ratio, "predicted median of rho/(v sqrt(gamma))"),
        "alignment": (np.median(np.abs(history.alignments), axis=1), "median over neurons of |rho|"),
        "mean_square": (history.mean_square / stages.limit, "mean rho^2 over gamma^(5/2)/phi"),
        "kernel_distance": (history.kernel_distance, "relative operator-norm distance to the target-aligned kernel"),
        "kernel_distance_theory": (theory.kernel_distance, "predicted distance to the target-aligned kernel"),
        "kernel_cosine": (history.kernel_cosine, "cosine to the target-aligned kernel"),
        "kernel_norm": (history.kernel_norm, "operator norm of the kernel (canonical)"),
    }
    assert history.steps is not None
    dataset = xr.Dataset(
        {name: ("step", values, {"long_name": text, "units": "1"}) for name, (values, text) in curves.items()},
        coords={"step": ("step", history.steps, {"long_name": "training step"})},
    )
    dataset["time"] = ("step", history.times, {"long_name": "time t", "units": "canonical"})
    dataset.attrs.update(
        gamma=float(history.gamma), phi=float(stages.phi), learning_rate=float(stages.learning_rate),
        loss_start=float(history.loss[0]), root_gamma=float(root),
        first_time_alignment=history.alignment_time(1.0) / stages.learning_rate,
        first_time_loss=history.loss_time(0.05) / stages.learning_rate,
        first_time_asinh=stages.first_time("asinh") / stages.learning_rate,
        first_time_median=stages.first_time("median") / stages.learning_rate,
        neurons_of_one_sign=float((np.sign(history.alignments[-1]) == np.sign(history.magnitudes[-1])).mean()),
    )  # fmt: skip
    return dataset
