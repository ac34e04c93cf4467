"""Networks on pictures, linear and ReLU: what the image figures draw and their claims judge.

The paper gives no settings for CIFAR-10, neither of its pixels nor of its targets: both are options here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.training import features
from linnet_papers.reproduction.fits import first_index, relative_distance

if TYPE_CHECKING:
    from linnet.theories.feature_learning import FinalState, Stages
    from linnet_papers.huang.training.features import FeatureHistory

# (centered, targets): what is done to the pixels, and what is asked for
CONVENTIONS: tuple[tuple[bool, str], ...] = tuple(product((True, False), ("signs", "labels")))
MOMENTS = {"t1": settings.FIRST_SHARE, "half": 0.5, "fifth": 0.2}  # shares of what can be lost that are left there


def describe_convention(centered: bool, targets: str) -> str:
    """Return in words what is done to the pixels and what is asked for."""
    pixels = "centered" if centered else "raw"
    return f"{pixels} pixels, targets {'+1 and -1' if targets == 'signs' else 'the class numbers'}"


@dataclass(frozen=True)
class PictureRun:
    """A network trained on pictures: its history, the theory for it, and the share of the loss that cannot be lost."""

    history: FeatureHistory
    stages: Stages
    floor: float

    @property
    def remaining_share(self) -> np.ndarray:
        """The share of the loss that can be lost that is still left, (time,)."""
        return remaining_share(self.history.loss, self.floor)

    def moments(self, *names: str) -> list[int]:
        """Return the index of the first saved state at each of the `MOMENTS` of these names."""
        left = self.remaining_share
        return [
            first_index(left <= MOMENTS[name], f"the loss never falls to {MOMENTS[name]:g} of what can be lost")
            for name in names
        ]

    @property
    def end(self) -> FinalState:
        """Where a linear network ends from a vanishing start, by the closed form."""
        return ln.theories.feature_learning.final_state(self.stages.gram, self.stages.outputs)

    @property
    def end_distance(self) -> float:
        """The relative distance of that end's kernel from the target-aligned one."""
        return relative_distance(self.end.kernel, self.end.square * self.history.target, 2)

    @property
    def gated_cosine(self) -> np.ndarray:
        """The cosine to the target-aligned kernel between pictures on one side of the feature, (time,).

        That is what each half of a ReLU network's neurons can see once they lie along the feature.
        """
        side = np.sign(self.stages.gram @ self.stages.outputs)
        gates = np.where(np.outer(side, side) > 0, self.history.target, 0.0)
        sizes = np.linalg.norm(self.history.kernels, axis=(1, 2)) * np.linalg.norm(gates)
        return (self.history.kernels * gates).sum(axis=(1, 2)) / sizes

    @property
    def dominance(self) -> float:
        """The share of XX' in its first mode: 1/n for a multiple of the identity."""
        values = np.linalg.eigvalsh(self.stages.gram)
        return float(values[-1] / values.sum())


def remaining_share(loss: np.ndarray, floor: float) -> np.ndarray:
    """Return the share of what can be lost of the first loss that is still left, (time,)."""
    return (loss / loss[0] - floor) / (1 - floor)


def picture_network(
    X: np.ndarray,
    y: np.ndarray,
    *,
    relu: bool,
    seed: int,
    width: int,
    growth: float,
    steps: int,
    save_every: int | ln.trajectories.Saving,
    until: float,
    first_std: float = settings.IMAGE_FIRST_STD,
    magnitude: float = settings.IMAGE_MAGNITUDE,
    sharpness: float = float("inf"),
) -> PictureRun:
    """Train a linear or a ReLU network from the signed start; the step is the `growth` of the first stage per step.

    It goes on, twice as long each time, until no more than the share `until` of what can be lost is left. A ReLU
    network cannot be reduced in width: hence its larger step. Gradients of its first layer stay in the span of the
    pictures: in a basis of it, or of a space around it, the network is the same, and smaller.

    `sharpness` limits the step of a linear network to that over the largest curvature at the end, by the closed form:
    from 2 on descent is unstable there, and the loss oscillates.
    """
    rate = float(growth * len(y) / np.linalg.norm(X.T @ y))
    if not relu and np.isfinite(sharpness):
        end = ln.theories.feature_learning.final_state(X @ X.T, y)
        stable = float(sharpness * len(y) / np.linalg.norm(end.kernel, 2))
        rate, steps = min(rate, stable), int(steps * max(1.0, rate / stable))
    start = ln.inits.signed(key=seed, in_dim=X.shape[1], width=width, first_std=first_std, magnitude=magnitude)
    if relu:
        basis = np.linalg.qr(X.T)[0]  # one direction for each picture, whatever their rank: one program is compiled
        X, start = X @ basis, ln.Weights(start.first @ basis, start.second)
    problem = ln.Problem.from_data(X, y)
    theory = ln.theories.feature_learning.Stages(
        X, y, width=width, learning_rate=rate, first_std=first_std, magnitude=magnitude
    )
    descend: Any = ln.relu_descent if relu else ln.gradient_descent
    for longer in (1, 2, 4, 8, 16):
        spaced = save_every * longer if isinstance(save_every, int) else save_every  # as many states of a longer run
        run = descend(problem, start, learning_rate=rate, steps=steps * longer, save_every=spaced)
        floor = 0.0 if relu else float(problem.factor.floor / run.loss[0])
        if remaining_share(run.loss, floor)[-1] <= until:
            break
    history = features.feature_history(run, activation="relu" if relu else "linear")
    return PictureRun(history, theory, floor)
