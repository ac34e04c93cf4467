"""What each neuron of a trained network has learned: alignment with the feature, magnitude, and the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from linnet import _arguments as arguments
from linnet.observables.crossings import crossing_time
from linnet.theories.feature_learning import target_aligned_kernel
from linnet.trajectories.trajectory import Trajectory, check_trajectory

ACTIVATIONS = ("linear", "relu")
_NUMBERS_TOGETHER = 2**16  # of lifted states that are looked at together: they stay in the processor's cache


@dataclass(frozen=True)
class FeatureHistory:
    r"""Feature learning along a run, in the paper's scaling $w_r = \sqrt m\,W_{1,r}$, $v_r = \sqrt m\,W_{2,r}$.

    | field | shape | meaning |
    |---|---|---|
    | `alignments` | (time, neuron) | $\rho_r = \langle w_r(t) - w_r(0), X^T y\rangle$ |
    | `magnitudes` | (time, neuron) | $v_r$ |
    | `deviations` | (time, neuron) | $|w_r(t) - w_r(0) - \rho_r X^T y/\gamma|$, what moved across the feature |
    | `overlaps` | (neuron,) | $\langle w_r(0), X^T y\rangle$ |
    | `kernels` | (time, sample, sample) | the NTK on the samples, canonical ($m$ times the paper's) |
    | `gamma` | | $y^T X X^T y$ |
    | `target` | (sample, sample) | the target-aligned kernel for $v^2 = 1$ |

    `measure_deviations` returns the `deviations`: it is called when they are asked for, as they take as long as all
    the rest.

    **Reference:** Huang et al. 2025, eq. (6), Definition 3.1 and Lemmas 5.2, 5.3.
    """

    times: np.ndarray
    steps: np.ndarray | None
    loss: np.ndarray
    alignments: np.ndarray
    magnitudes: np.ndarray
    measure_deviations: Callable[[], np.ndarray]
    overlaps: np.ndarray
    kernels: np.ndarray
    gamma: float
    target: np.ndarray

    def __getitem__(self, states: Any) -> FeatureHistory:
        """The history at some of the saved states, by their indices or a mask."""
        along = ("times", "loss", "alignments", "magnitudes", "kernels")
        return replace(
            self,
            steps=None if self.steps is None else self.steps[states],
            measure_deviations=lambda: self.deviations[states],
            **{name: getattr(self, name)[states] for name in along},
        )

    @cached_property
    def deviations(self) -> np.ndarray:
        r"""$|w_r(t) - w_r(0) - \rho_r X^T y/\gamma|$, (time, neuron): how far neurons have moved across the feature."""
        return self.measure_deviations()

    @property
    def median_ratio(self) -> np.ndarray:
        r"""The median over neurons of $\rho_r/(v_r\sqrt\gamma)$, (time,): the mean of these ratios is heavy-tailed.

        NaN where a magnitude is zero, as at a start without a second layer; so are the other ratios.
        """
        return np.median(_divide(self.alignments, self.magnitudes * np.sqrt(self.gamma)), axis=-1)

    @property
    def mean_ratio(self) -> np.ndarray:
        r"""The ratio of means $\mathrm{mean}|\rho_r|/(\sqrt\gamma\,\mathrm{mean}|v_r|)$, (time,)."""
        means = np.abs(self.alignments).mean(axis=-1), np.abs(self.magnitudes).mean(axis=-1)
        return _divide(means[0], means[1] * np.sqrt(self.gamma))

    @property
    def mean_square(self) -> np.ndarray:
        r"""The mean over neurons of $\rho_r^2$, (time,)."""
        return (self.alignments**2).mean(axis=-1)

    @property
    def layer_gaps(self) -> np.ndarray:
        r"""$|\rho_r - \sqrt\gamma v_r|/|\rho_r|$, (time, neuron)."""
        return np.abs(self.alignments - np.sqrt(self.gamma) * self.magnitudes) / np.abs(self.alignments)

    @property
    def keeps_sign(self) -> np.ndarray:
        r"""Whether $\rho_r$ and $v_r$ have the sign of $v_r(0)$ at every saved state, (neuron,)."""
        alike = (np.sign(values) == np.sign(self.magnitudes[0]) for values in (self.alignments[1:], self.magnitudes))
        return np.logical_and(*(each.all(axis=0) for each in alike))

    @property
    def kernel_norm(self) -> np.ndarray:
        """The operator norm of the kernel, (time,)."""
        return _operator_norms(self.kernels)

    @property
    def kernel_distance(self) -> np.ndarray:
        r"""$|\Theta - v^2 T|/|v^2 T|$ in operator norm; T is the target-aligned kernel, $v^2$ the mean of $v_r^2$."""
        squares = (self.magnitudes**2).mean(axis=-1)
        gaps = _operator_norms(self.kernels - squares[:, None, None] * self.target)
        return _divide(gaps, squares * _operator_norms(self.target))

    @property
    def kernel_cosine(self) -> np.ndarray:
        """The cosine (Frobenius) between the kernel and the target-aligned one, (time,): their directions alone."""
        inner = (self.kernels * self.target).sum(axis=(-2, -1))
        return inner / (np.linalg.norm(self.kernels, axis=(-2, -1)) * np.linalg.norm(self.target))

    def alignment_time(self, level: float = 1.0) -> float:
        r"""The empirical $t_1$ where the median over neurons of $|\rho_r|$ reaches `level`.

        Between saved states its logarithm is interpolated; NaN if it never does.
        """
        medians = np.median(np.abs(self.alignments), axis=-1)
        return crossing_time(self.times, _log_or_smallest(medians), np.log(arguments.positive("level", level)))

    def loss_time(self, share: float = 0.05) -> float:
        """The time at which the loss has lost `share` of its start, the other empirical $t_1$ (or, near 1, $t_2$).

        Between saved states the logarithm of what is left is interpolated; NaN if that much is never lost.
        """
        left = 1 - arguments.positive("share", share)
        if left <= 0:
            raise ValueError(f"`share` must be below 1: got {share}.")
        return crossing_time(self.times, -_log_or_smallest(self.loss / self.loss[0]), -np.log(left))


def feature_history(trajectory: Trajectory, *, activation: str = "linear") -> FeatureHistory:
    """Alignments, magnitudes and kernels of every neuron at every saved state of a run with one output.

    The run must have been made from data and have kept its weights. Nothing of the size of the full network is built:
    the states stay in reduced coordinates and only their products with the feature are lifted.

    **Arguments:**

    - `trajectory`: a run on data with one output that kept its weights
    - `activation`: `"linear"`, or `"relu"` for runs of `relu_descent`: the same definitions with that network's own
      weights, and its own kernel

    **Returns** a `FeatureHistory`, with arrays (time, neuron) and kernels at every saved state.

    **Example:**

        >>> import linnet as ln
        >>> from linnet_papers.huang.training.features import feature_history
        >>> data = ln.problems.gaussian_regression(key=0, samples=5, in_dim=20)
        >>> start = ln.inits.signed(key=0, in_dim=20, width=8, first_std=1e-4, magnitude=1e-3)
        >>> history = feature_history(ln.gradient_descent(data, start, learning_rate=0.01, steps=50))
        >>> history.alignments.shape
        (51, 8)
    """
    check_trajectory(trajectory)
    if activation not in ACTIVATIONS:
        raise ValueError(f"`activation` must be one of {', '.join(ACTIVATIONS)}: got {activation!r}.")
    problem, reduced, reduction = trajectory.reduction.full_problem, trajectory.reduced, trajectory.reduction
    if problem.inputs is None or problem.outputs is None or problem.out_dim != 1:
        raise ValueError("`trajectory` must be a run on data with one output: features are made of its samples.")
    if trajectory.loss.ndim == 2:
        raise ValueError(f"`trajectory` must be a single run: got a batch of {trajectory.loss.shape[1]}.")
    first, second, basis, frame = reduced.first, reduced.second, reduction.basis, reduction.frame
    inputs, outputs = problem.inputs, problem.outputs
    y, gram = outputs[:, 0], inputs @ inputs.T
    seen = inputs if basis is None else inputs @ basis  # the samples in the coordinates of the states
    images = first @ seen.T  # (time, hidden, sample)
    neurons, root = images @ y, np.sqrt(reduction.full_weights.width)
    seconds = second[:, 0, :]
    if frame is not None:
        neurons, seconds_lifted = neurons @ frame.T, seconds @ frame.T
    else:
        seconds_lifted = seconds
    kernels = _linear_kernels(gram, images, seconds) if activation == "linear" else _relu_kernels(gram, images, seconds)
    return FeatureHistory(
        times=trajectory.times,
        steps=trajectory.steps,
        loss=trajectory.loss,
        alignments=root * (neurons - neurons[0]),
        magnitudes=root * seconds_lifted,
        measure_deviations=partial(_distance_across, first, seen.T @ y, frame, root),
        overlaps=root * neurons[0],
        kernels=kernels,
        gamma=float(y @ gram @ y),
        target=target_aligned_kernel(gram, y),
    )


def _distance_across(first: np.ndarray, feature: np.ndarray, frame: np.ndarray | None, root: float) -> np.ndarray:
    """How far each neuron has moved across the feature, times `root`, (time, neuron); a few states at a time."""
    unit = feature / np.linalg.norm(feature)
    inputs, neurons = first.shape[-1], len(first[0] if frame is None else frame)
    together = max(1, _NUMBERS_TOGETHER // (inputs * neurons))
    lengths = np.empty((len(first), neurons))
    for start in range(0, len(first), together):
        moved = first[start : start + together] - first[0]
        moved = np.swapaxes(moved - (moved @ unit)[..., None] * unit, -1, -2)  # (time, input, neuron)
        if frame is not None:
            moved = (moved.reshape(-1, moved.shape[-1]) @ frame.T).reshape(-1, inputs, neurons)
        lengths[start : start + together] = np.sqrt((moved**2).sum(axis=1))
    return root * lengths


def _linear_kernels(gram: np.ndarray, images: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return the NTK (time, sample, sample) of linear networks, from their first layers' outputs and second layers."""
    squares = (seconds**2).sum(axis=-1)
    return squares[:, None, None] * gram + np.swapaxes(images, -1, -2) @ images


def _relu_kernels(gram: np.ndarray, images: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return the NTK (time, sample, sample) of ReLU networks, from their pre-activations and second layers."""
    kernels = []
    for image, second in zip(images, seconds):  # one state at a time: a ReLU network has its full width
        active = (image > 0) * second[:, None]  # each neuron's gate, times its weight
        outputs = np.maximum(image, 0)
        kernels.append(gram * (active.T @ active) + outputs.T @ outputs)
    return np.stack(kernels)


def _divide(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Divide; NaN where the divisor is zero."""
    return np.divide(upper, lower, out=np.full(np.shape(upper), np.nan), where=lower != 0)


def _operator_norms(symmetric: np.ndarray) -> np.ndarray:
    """Return the largest absolute eigenvalue of each symmetric matrix."""
    return np.abs(np.linalg.eigvalsh(symmetric)).max(axis=-1)


def _log_or_smallest(values: np.ndarray) -> np.ndarray:
    """The logarithm, of zero that of the smallest number: what starts at zero or ends there can be interpolated too."""
    return np.log(np.maximum(values, np.finfo(float).tiny))
