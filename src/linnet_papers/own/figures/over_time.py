"""The test error of one output over time, by formula and trained; and its two phases from a small initialization."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.own.predictions import small_start, spiked_limit
from linnet_papers.own.settings import EXACT
from linnet_papers.reproduction import Figure, Rows, Settings, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, by_label, by_name, labeled

_BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "ncols": 2, "frameon": False}
SCATTER = below(0.35, "one data set of some hundred samples scatters by a tenth or two around the limit of many")


class OverTime(Settings):
    """Panel a: one spike, label noise, three thresholds. Panel b: another spike, samples over inputs."""

    dim: PositiveInt = 300
    samples: PositiveInt = 200
    spike: float = 20.0
    alignment: float = 0.5
    noise_std: float = 1.0
    thresholds: tuple[float, ...] = (1e-3, 1e-1, 10.0)
    points: PositiveInt = 240
    strong_spike: float = 100.0
    samples_over_inputs: tuple[float, ...] = (4.0, 2.0, 0.5)


def compute(settings: OverTime, panels: tuple[str, ...]) -> Dataset:
    problem = ln.problems.spiked_covariance(
        settings.dim,
        spike=settings.spike,
        alignment=settings.alignment,
        samples=settings.samples,
        noise_std=settings.noise_std,
        key=settings.seed,
    )
    model = settings.spike, settings.alignment, settings.dim, settings.samples, settings.noise_std**2

    def curves_from(threshold: float) -> dict[str, np.ndarray | None]:
        """Return the test loss over time from one initialization: trained, from one SVD, and in the limit."""
        times = np.append(0.0, np.geomspace(3e-3, 60, settings.points - 1)) / max(1.0, threshold)
        shape = {"in_dim": settings.dim, "out_dim": 1, "width": settings.dim}
        start = ln.inits.orthogonal(key=settings.seed, **shape, scale=threshold)
        return {
            "time": times,
            "trained": ln.gradient_flow(problem, start, times=times).test_loss,
            "one_svd": ln.theories.one_output.error_over_time(problem, threshold, times).test_loss,
            "limit": spiked_limit(*model, threshold, times).test_loss,
        }

    data = by_name(curves_from(threshold) for threshold in settings.thresholds)
    strong = settings.strong_spike
    alignment = (2 / strong) ** 0.5  # two thirds of the signal lie along the spike
    phases = np.linspace(0, 5, 2 * settings.points)
    ratios = (np.inf, *settings.samples_over_inputs)  # the population covariance first
    errors = np.stack([small_start(strong, alignment, ratio, phases) for ratio in ratios])
    curves, phase = ("threshold", "state"), ("samples_over_inputs", "phase_time")
    attributes = {name: getattr(settings, name) for name in ("spike", "alignment", "dim", "samples", "strong_spike")}
    return labeled(
        {
            "time": (curves, data["time"], "canonical time"),
            "trained": (curves, data["trained"], "test loss of the trained network"),
            "one_svd": (curves, data["one_svd"], "test loss from one SVD of the same data"),
            "limit": (curves, data["limit"], "test loss without data, in the proportional limit"),
            "phases": (phase, errors / errors[:, :1], "test loss from a small initialization over its initial value"),
        },
        {
            "threshold": ("threshold", list(settings.thresholds), "threshold of the initialization"),
            "samples_over_inputs": ("samples_over_inputs", list(ratios), "samples over inputs"),
            "phase_time": ("phase_time", phases, "time t", "canonical"),
        },
        attributes | {"early_share": ln.theories.spiked.TwoPhase(strong, alignment).early_loss},
    )


def plot(data: Dataset) -> style.Picture:
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.48))
        for color, g in zip(style.shades(data.sizes["threshold"]), data["threshold"].values, strict=True):
            one = data.sel(threshold=g)
            clock = one["time"] * max(1.0, float(g))
            axes[0].plot(clock, one["one_svd"], color=color, label=f"threshold {g:g}", **style.CURVE)
            axes[0].plot(clock, one["limit"], color=color, **style.THEORY)
            marked = slice(None, None, max(1, one.sizes["state"] // 20))
            axes[0].plot(clock[marked], one["trained"][marked], color=color, **style.MARKS)
        axes[0].set(title="a  Stopping early pays", xlabel="time × max(1, threshold)", ylabel="test loss")
        axes[0].set(xscale="log", yscale="log", yticks=(0.3, 1.0, 3.0), yticklabels=("0.3", "1", "3"))
        axes[0].set_yticks([], minor=True)
        for label, look in (("trained", style.MARKS), ("one SVD", style.CURVE), ("limit, no data", style.THEORY)):
            axes[0].plot([], [], color=style.GRAY, label=label, **look)
        axes[0].legend(**_BELOW)
        for color, one in zip(style.shades(data.sizes["samples_over_inputs"]), data["phases"], strict=True):
            ratio = float(one["samples_over_inputs"])
            name = "population" if np.isinf(ratio) else f"{ratio:g} samples per input"
            axes[1].plot(data["phase_time"], one, color=color, label=name, **style.CURVE)
        axes[1].axhline(data.attrs["early_share"], label="end of the first phase", **style.GUIDELINE)
        axes[1].set(title="b  Two phases", xlabel="time", ylabel="test loss / initial test loss")
        axes[1].set(yscale="log", ylim=(5e-3, 1.5))
        axes[1].legend(**_BELOW)
    return picture


def check(data: Dataset) -> Rows:
    exact = float(np.abs(data["trained"] / data["one_svd"] - 1).max())
    best = data["one_svd"].min("state")
    limit = float(np.abs(data["limit"].min("state") / best - 1).max())
    yield printed("largest relative difference of trained networks and one SVD", exact, EXACT)
    yield printed(
        "largest relative difference of the minimum test loss without data and of this data set", limit, SCATTER
    )
    yield fact("minimum test loss", by_label(best, "threshold {threshold:g}"))


FIGURE = Figure(
    name="over-time",
    title="Test error over time of a network with one output",
    caption="Panel a: one data set with a spiked covariance and label noise, three scales of the initialization. "
    "Marks: trained networks. Lines: the formula, from one SVD of the same data. Dashed: the proportional limit, "
    "without data. Panel b: a spike of 100 that holds two thirds of the signal, from a small initialization, with the "
    "population covariance and in the proportional limit with label noise. The error rests at the level of the "
    "early phase (dotted), and few samples limit the later phase.",
    settings=OverTime,
    quick={"dim": 60, "samples": 40, "thresholds": (1e-2, 10.0), "points": 40, "samples_over_inputs": (2.0,)},
    compute=compute,
    plot=plot,
    check=check,
)
