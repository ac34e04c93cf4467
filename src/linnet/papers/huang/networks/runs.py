"""Single runs: section 6's own network, and networks inside Assumption 4.1, read neuron by neuron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet._randomness import Key, words
from linnet.papers.huang import settings
from linnet.reproduction.cells import Block
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.fits import first_index

if TYPE_CHECKING:
    from linnet.observables.features import FeatureHistory
    from linnet.theories.feature_learning import Stages

SCALES = ("width", "learning_rate", "first_std", "magnitude")
SWEPT: Any = {"block": 2, "coords": {"scale": list(SCALES)}}  # of sweeps whose cells keep their `theory_inputs`


@dataclass(frozen=True)
class Moment:
    """A network at one canonical time, interpolated between saved states: every neuron, and the canonical kernel."""

    time: float
    alignments: np.ndarray
    magnitudes: np.ndarray
    deviations: np.ndarray
    kernel: np.ndarray


@dataclass(frozen=True)
class FeatureRun:
    """One trained network: its data, start and scales, and the history of every neuron."""

    data: ln.problems.Regression
    start: ln.Weights
    scales: dict[str, float]
    trajectory: ln.Trajectory
    history: FeatureHistory

    @property
    def width(self) -> int:
        return self.start.width

    @property
    def stages(self) -> Stages:
        """The theory for its data and scales."""
        return ln.theories.feature_learning.Stages(self.data.inputs, self.data.outputs, width=self.width, **self.scales)

    @property
    def loss_share(self) -> np.ndarray:
        """The loss as a share of its start, (time,)."""
        return self.history.loss / self.history.loss[0]

    @property
    def steps(self) -> np.ndarray:
        """The saved steps."""
        assert self.history.steps is not None  # descent always counts them
        return self.history.steps

    @property
    def inverse_magnitude_unit(self) -> float:
        """sqrt(n tr(Sigma)) |beta|: one over the unit that the paper measures magnitudes by."""
        return float(np.sqrt(self.data.samples * self.data.trace) * self.data.signal)

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the network on its samples, (time, sample), from the reduced states alone."""
        reduced, basis = self.trajectory.reduced, self.trajectory.reduction.basis
        seen = self.data.inputs if basis is None else self.data.inputs @ basis
        return (reduced.second @ reduced.first)[:, 0] @ seen.T

    def first_state_at_share(self, share: float) -> int:
        """Return the index of the first saved state whose loss is at most `share` of that at the start; raise an error
        where there is none."""
        return first_index(self.loss_share <= share, f"the loss never falls to {share:g} of its start")

    def first_time(self) -> float:
        """Return t1 as measured, canonical: when the median over neurons of |rho_r| is 1; raise an error where it never
        is."""
        time = self.history.alignment_time()
        if time != time:
            raise RuntimeError("the median |rho| never reaches 1: the run is too short for what is measured on it")
        return time

    def first_state_at_t1(self) -> int:
        """Return the index of the first saved state at t1 or later."""
        return int(np.searchsorted(self.history.times, self.first_time()))

    def moment(self, time: float) -> Moment:
        """Return every neuron and the kernel at a canonical time within the run, linear between the saved states."""
        h = self.history
        later = int(np.clip(np.searchsorted(h.times, time), 1, len(h.times) - 1))
        weight = (time - h.times[later - 1]) / (h.times[later] - h.times[later - 1])

        def between(values: np.ndarray) -> np.ndarray:
            return (1 - weight) * values[later - 1] + weight * values[later]

        return Moment(time, *map(between, (h.alignments, h.magnitudes, h.deviations, h.kernels)))

    @property
    def relative_first_output(self) -> float:
        """The largest |f(x_i)| of the start over the least |y_i|."""
        return float(np.abs(self.outputs[0]).max() / np.abs(self.data.outputs).min())

    def kernel_after(self, time: float) -> Block:
        """Return what the kernel does after that time: its least cosine to the target-aligned one, the growth of its
        norm, and the share of saved states at which the norm has grown, until 1% of the loss is left."""
        h, later = self.history, self.history.times > time
        return {
            "kernel_cosine": h.kernel_cosine[later].min(),
            "kernel_growth": h.kernel_norm[-1] / np.interp(time, h.times, h.kernel_norm),
            "kernel_rising": (np.diff(h.kernel_norm[later & (self.loss_share > 0.01)]) > 0).mean(),
        }

    def second_stage(self, loss: float) -> list[Moment]:
        """Return the network at t1 and at every saved state after it, until the loss is at most `loss`."""
        first = self.first_time()
        end = first_index(self.history.loss <= loss, f"the loss never falls to {loss:g}")
        times = self.history.times[: end + 1]
        return [self.moment(first), *(self.moment(time) for time in times[times > first])]


def train_section_six(
    seed: Key = 0,
    *,
    samples: int = settings.SAMPLES,
    dim: int = settings.DIM,
    width: int = settings.WIDTH,
    eta: float = settings.ETA,
    first_std: float = settings.FIRST_STD,
    magnitude: float = settings.MAGNITUDE,
    noise_variance: float = settings.NOISE_VARIANCE,
    steps: int = 64,
) -> FeatureRun:
    """Train the network of section 6's synthetic experiment, in reduced coordinates, and keep every step."""
    data = ln.problems.gaussian_teacher(key=seed, samples=samples, dim=dim, noise_variance=noise_variance)
    return train(
        data, seed, width=width, steps=steps, first_std=first_std, magnitude=magnitude, learning_rate=eta / width
    )


def scales_inside(
    data: ln.problems.Regression, *, width: int, ratio: float | None = None, margin: float = settings.MARGIN
) -> dict[str, float]:
    """Return scales of the start and a step inside Assumption 4.1, as printed.

    `margin` says how far inside the conditions on the start are met, 1 at their limit; the step keeps its own.
    `ratio` is v_0/(sigma_0 sqrt(log m)): v_0 alone moves, down from the admissible one, so that every condition of the
    printed assumption goes on holding. Without it v_0 is the admissible one, where (7) holds as well.
    """
    scales = ln.theories.feature_learning.admissible(data, width=width, epsilon=settings.EPSILON, margin=margin)
    scales["learning_rate"] *= margin / settings.MARGIN
    scales["magnitude"] = 1 / (margin * np.sqrt(data.samples * data.signal**2 * data.trace))  # (3), whatever (8) asks
    if ratio is not None:
        scales["magnitude"] = ratio * scales["first_std"] * np.sqrt(np.log(width))
    return scales


def train_inside(
    seed: Key = 0,
    *,
    data: ln.problems.Regression | None = None,
    width: int = settings.WIDTH,
    ratio: float | None = None,
    margin: float = settings.MARGIN,
    smaller: float = 1.0,
    growth_times: float = 10.0,
    states: int = 400,
    **teacher: Any,
) -> FeatureRun:
    """Train a network inside Assumption 4.1: on a `gaussian_teacher` of unit signal with the options `teacher`, or on
    the given `data`, from small enough scales.

    It goes on for `growth_times` times n/sqrt(gamma) after about the end of the first stage, keeping about `states`
    states. `ratio` and `margin` as in `scales_inside`; `smaller` multiplies both v_0 and sigma_0.
    """
    if data is None:
        data = ln.problems.gaussian_teacher(key=seed, **{"signal": 1.0, **teacher})
    scales = scales_inside(data, width=width, ratio=ratio, margin=margin)
    scales = {name: value * (1.0 if name == "learning_rate" else smaller) for name, value in scales.items()}
    feature = float(np.linalg.norm(data.inputs.T @ data.outputs))
    # |rho| grows as e^(t |X'y|/n) from about the larger of v_0 and sigma_0, times |X'y|
    first = max(0.0, np.log(2 / (feature * max(scales["magnitude"], scales["first_std"]))))
    steps = int((first + growth_times) * data.samples / feature / scales["learning_rate"])
    return train(data, seed, width=width, steps=steps, save_every=max(1, steps // states), **scales)


def train(
    data: ln.problems.Regression, key: Key, *, width: int, steps: int, save_every: int = 1, **scales: float
) -> FeatureRun:
    """Train by descent from the signed start, and read the history of every neuron off it."""
    trajectory, start = descend(data, key, width=width, scales=scales, steps=steps, save_every=save_every)
    return FeatureRun(data, start, scales, trajectory, ln.observables.feature_history(trajectory))


def descend(
    data: ln.problems.Regression, key: Key, *, width: int, scales: dict[str, float], **options: Any
) -> tuple[ln.Trajectory, ln.Weights]:
    """Return the descent from the signed start of these scales, and that start; `options` are those of
    `gradient_descent`."""
    rate, sizes = scales["learning_rate"], {name: scales[name] for name in ("first_std", "magnitude")}
    # a key below that of the data: the start must not repeat their numbers
    start = ln.inits.signed(key=[*words(key), 1], in_dim=data.in_dim, width=width, **sizes)
    problem = ln.Problem.from_data(data.inputs, data.outputs)
    return ln.gradient_descent(problem, start, learning_rate=rate, **options), start


def spectrum(data: ln.problems.Regression) -> tuple[np.ndarray, np.ndarray]:
    """Return singular values of the inputs and the outputs along them, (mode,) each: all of the data that the theory
    sees."""
    frame, values, _ = np.linalg.svd(data.inputs, full_matrices=False)
    return values, frame.T @ data.outputs


def stages_of_spectrum(values: np.ndarray, coefficients: np.ndarray, *, width: int, **scales: float) -> Stages:
    """Return the theory for data of that `spectrum`: as many samples as inputs, with the same Gram matrix up to
    rotation."""
    return ln.theories.feature_learning.Stages(np.diag(values), coefficients, width=width, **scales)


def theory_inputs(run: FeatureRun) -> Block:
    """Return what a cell keeps of a run for the theory to be applied later."""
    values, coefficients = spectrum(run.data)
    scales = [run.width, *(run.scales[name] for name in SCALES[1:])]
    return {"values": ("mode", values), "coefficients": ("mode", coefficients), "scales": ("scale", scales)}


def theory_of(cell: Dataset) -> Stages:
    """Return the theory for a cell that has kept its `theory_inputs`."""
    width, *scales = cell["scales"].values.tolist()
    named = dict(zip(SCALES[1:], scales, strict=True))
    return stages_of_spectrum(cell["values"].values, cell["coefficients"].values, width=int(width), **named)


def theories_of(networks: Dataset) -> list[Stages]:
    """Return the theory for each draw of networks that have kept their `theory_inputs`."""
    return [theory_of(networks.sel(seed=seed)) for seed in networks["seed"].values]


AT_LIMIT = " at the limit"


def limit_label(label: str, margin: float) -> str:
    """Return the name of a row: its label, and whether the start is at the limit of its conditions."""
    return label + (AT_LIMIT if margin == 1 else "")


def first_time_errors(theories: list[Stages], steps: np.ndarray) -> tuple[float, float]:
    """Return the largest relative error of `Stages.first_time` against t1, measured in `steps`, and that of asinh(1/(v0
    sqrt(gamma))) in growth times."""
    times = steps * np.array([t.learning_rate for t in theories])
    ours = np.array([t.first_time() for t in theories])
    alone = np.array([np.arcsinh(1 / (t.magnitude * np.sqrt(t.gamma))) / t.rate for t in theories])
    return float(np.abs(ours / times - 1).max()), float(np.abs(alone / times - 1).max())
