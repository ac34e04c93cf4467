"""Single runs: section 6's own network, and networks inside Assumption 4.1, read neuron by neuron."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

import linnet as ln
from linnet._randomness import Key, words
from linnet_papers.huang import settings
from linnet_papers.huang.training import features
from linnet_papers.reproduction.cells import Block
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.fits import first_index

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages
    from linnet_papers.huang.training.features import FeatureHistory


class Scales(TypedDict):
    """The width m of a network, its canonical step, and the scales sigma_0 and v_0 of its start."""

    width: int
    learning_rate: float
    first_std: float
    magnitude: float


@dataclass(frozen=True)
class FeatureRun:
    """One trained network: its data and scales, and the history of every neuron."""

    data: ln.problems.Regression
    scales: Scales
    trajectory: ln.Trajectory
    history: FeatureHistory

    @property
    def start(self) -> ln.Weights:
        """The weights that it started from."""
        return self.trajectory.reduction.full_weights

    @property
    def stages(self) -> Stages:
        """The theory for its data and scales."""
        return ln.theories.feature_learning.Stages(self.data.inputs, self.data.outputs, **self.scales)

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

    def history_at(self, times: float | np.ndarray) -> FeatureHistory:
        """Return the history at canonical times within the run, or at one, linear between the saved states."""
        from scipy.interpolate import make_interp_spline

        def at_times(name: str) -> np.ndarray:
            return make_interp_spline(self.history.times, getattr(self.history, name), k=1)(times)

        known: dict[str, Any] = {name: at_times(name) for name in ("loss", "alignments", "magnitudes", "kernels")}
        measure = partial(at_times, "deviations")
        return replace(self.history, times=np.asarray(times), steps=None, measure_deviations=measure, **known)

    @property
    def relative_first_output(self) -> float:
        """The largest |f(x_i)| of the initialization over the least |y_i|."""
        return relative_output(self.data, self.outputs[0])

    def kernel_after(self, time: float) -> Block:
        """Return what the kernel does after that time: its least cosine to the target-aligned one, the growth of its
        norm, and the share of saved states with growth until 1% of the loss is left (NaN: it is gone by then)."""
        times, norms = self.history.times, self.history.kernel_norm
        later = times >= time
        growth = np.diff(norms[later & (self.loss_share > 0.01)])
        return {
            "kernel_cosine": self.history.kernel_cosine[later].min(),
            "kernel_growth": norms[-1] / np.interp(time, times, norms),
            "kernel_rising": (growth > 0).mean() if growth.size else np.nan,
        }

    @property
    def growth_unit(self) -> float:
        """eta sqrt(gamma)/(mn), what rho grows by in a step."""
        return float(self.scales["learning_rate"] * np.sqrt(self.history.gamma) / self.data.samples)

    @cached_property
    def stage(self) -> FeatureHistory:
        """The second stage: the history from t1 until 8% of the loss is left."""
        return self.second_stage(settings.LEFT * self.history.loss[0])

    def second_stage(self, loss: float) -> FeatureHistory:
        """Return the history at t1 and at every saved state after it, until the loss is at most `loss`."""
        first = self.first_time()
        end = first_index(self.history.loss <= loss, f"the loss never falls to {loss:g}")
        times = self.history.times[: end + 1]
        return self.history_at(np.append(first, times[times > first]))


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
    scales: Scales = {"width": width, "learning_rate": eta / width, "first_std": first_std, "magnitude": magnitude}
    return train(data, seed, steps=steps, **scales)


def scales_inside(
    data: ln.problems.Regression, *, width: int, ratio: float | None = None, margin: float = settings.MARGIN
) -> Scales:
    """Return scales of the initialization and a step inside Assumption 4.1, as printed.

    `margin` says how far inside the conditions on the start are met, 1 at their limit; the step keeps its own.
    `ratio` is v_0/(sigma_0 sqrt(log m)): v_0 alone moves, down from the admissible one, so that every condition of the
    printed assumption goes on holding. Without it v_0 is the admissible one, where (7) holds as well.
    """
    admissible = ln.theories.feature_learning.admissible(data, width=width, epsilon=settings.EPSILON, margin=margin)
    first_std = admissible["first_std"]
    if ratio is None:
        magnitude = 1 / (margin * np.sqrt(data.samples * data.signal**2 * data.trace))  # (3), whatever (8) asks
    else:
        magnitude = ratio * first_std * np.sqrt(np.log(width))
    rate = admissible["learning_rate"] * (margin / settings.MARGIN)
    return {"width": width, "learning_rate": rate, "first_std": first_std, "magnitude": magnitude}


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
    scales["first_std"] *= smaller
    scales["magnitude"] *= smaller
    feature = float(np.linalg.norm(data.inputs.T @ data.outputs))
    # |rho| grows as e^(t |X'y|/n) from about the larger of v_0 and sigma_0, times |X'y|
    first = max(0.0, np.log(2 / (feature * max(scales["magnitude"], scales["first_std"]))))
    steps = int((first + growth_times) * data.samples / feature / scales["learning_rate"])
    return train(data, seed, steps=steps, save_every=max(1, steps // states), **scales)


def train(
    data: ln.problems.Regression, key: Key, *, steps: int, save_every: int = 1, **scales: Unpack[Scales]
) -> FeatureRun:
    """Train by descent from the signed start, and read the history of every neuron off it."""
    trajectory = descend(data, key, scales, steps=steps, save_every=save_every)
    return FeatureRun(data, scales, trajectory, features.feature_history(trajectory))


def descend(data: ln.problems.Regression, key: Key, scales: Scales, **options: Any) -> ln.Trajectory:
    """Return the descent from the signed start of these scales; `options` are those of `gradient_descent`."""
    problem, start = ln.Problem.from_data(data.inputs, data.outputs), signed_start(data, key, scales)
    return ln.gradient_descent(problem, start, learning_rate=scales["learning_rate"], **options)


def relative_output(data: ln.problems.Regression, outputs: np.ndarray) -> float:
    """Return the largest |f(x_i)| over the least |y_i|."""
    return float(np.abs(outputs).max() / np.abs(data.outputs).min())


def signed_start(data: ln.problems.Regression, key: Key, scales: Scales) -> ln.Weights:
    """Return the signed start of these scales."""
    return ln.inits.signed(
        key=[*words(key), 1],  # below that of the data: the start must not repeat their numbers
        in_dim=data.in_dim,
        width=scales["width"],
        first_std=scales["first_std"],
        magnitude=scales["magnitude"],
    )


def theory_inputs(run: FeatureRun, modes: int = settings.SAMPLES) -> Block:
    """Return what a cell keeps of a run for the theory to be applied later: its scales, and of its data the singular
    values of the inputs and the outputs along them, filled up with NaN to `modes`."""
    frame, values, _ = np.linalg.svd(run.data.inputs, full_matrices=False)
    of_data = {"values": values, "coefficients": frame.T @ run.data.outputs}
    filling = (0, modes - values.size)
    padded = {name: ("mode", np.pad(each, filling, constant_values=np.nan)) for name, each in of_data.items()}
    return {**padded, **run.scales}


def theory_of(cell: Dataset) -> Stages:
    """Return the theory for a cell that has kept its `theory_inputs`.

    Its data have as many samples as inputs and the Gram matrix of those of the run, up to a rotation.
    """
    values, coefficients = (cell[name].values for name in ("values", "coefficients"))
    known = np.isfinite(values)
    scales: Any = {name: cell[name].item() for name in Scales.__annotations__}
    return ln.theories.feature_learning.Stages(np.diag(values[known]), coefficients[known], **scales)


def theories_of(networks: Dataset, draw: str = "seed") -> list[Stages]:
    """Return the theory for each draw of networks that have kept their `theory_inputs`."""
    kept = networks[["values", "coefficients", *Scales.__annotations__]]
    return [theory_of(kept.isel({draw: at})) for at in range(networks.sizes[draw])]


def first_time_errors(theories: list[Stages], steps: np.ndarray) -> tuple[float, float]:
    """Return the largest relative error of `Stages.first_time` against t1, measured in `steps`, and that of asinh(1/(v0
    sqrt(gamma))) in growth times."""
    times = steps * np.array([t.learning_rate for t in theories])
    ours = np.array([t.first_time() for t in theories])
    alone = np.array([np.arcsinh(1 / (t.magnitude * np.sqrt(t.gamma))) / t.rate for t in theories])
    return float(np.abs(ours / times - 1).max()), float(np.abs(alone / times - 1).max())
