"""The test error of one output over time, by formula and trained; and how much the scale of the start matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveInt

import linnet as ln
from linnet import style
from linnet.papers.linnet.claims.over_time import limit_ratio
from linnet.reproduction import Check, Figure, Limit, Settings

EXACT = Limit(1e-6, "a hundred times the integrator's relative tolerance; the formula is exact for these starts")
SCATTER = Limit(0.35, "one data set of some hundred samples scatters by a tenth or two around the limit of many")


class OverTime(Settings):
    """One spike, label noise; the start's thresholds of panel a, and the axes of panel b."""

    dim: PositiveInt = 300
    samples: PositiveInt = 200
    spike: float = 20.0
    alignment: float = 0.5
    noise_std: float = 1.0
    thresholds: tuple[float, ...] = (1e-3, 1e-1, 10.0)
    points: PositiveInt = 80
    signal_to_noise: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
    alignments: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


def compute(settings: OverTime, panels: tuple[str, ...]) -> Any:
    import xarray as xr

    problem = ln.problems.spiked_covariance(
        settings.dim,
        spike=settings.spike,
        alignment=settings.alignment,
        samples=settings.samples,
        noise_std=settings.noise_std,
        key=settings.seed,
    )
    overlaps = [settings.alignment**2, 1 - settings.alignment**2]
    data: dict[str, list[np.ndarray]] = {"time": [], "trained": [], "one_svd": [], "limit": []}
    for g in settings.thresholds:
        times = np.append(0.0, np.geomspace(3e-3, 60, settings.points - 1)) / max(1.0, g)
        start = ln.inits.orthogonal(key=settings.seed, in_dim=settings.dim, out_dim=1, width=settings.dim, scale=g)
        limit = ln.theories.one_output.asymptotic(
            [1 + settings.spike, 1.0],
            overlaps,
            settings.samples,
            multiplicities=[1, settings.dim - 1],
            noise_variance=settings.noise_std**2,
            threshold=g,
            times=times,
        )
        data["time"].append(times)
        data["trained"].append(np.asarray(ln.gradient_flow(problem, start, times=times).test_loss))
        data["one_svd"].append(np.asarray(ln.theories.one_output.learning_curve(problem, g, times).test_loss))
        data["limit"].append(np.asarray(limit.test_loss))
    ratios = [
        [limit_ratio(settings.spike, alignment, 100, 200, power) for alignment in settings.alignments]
        for power in settings.signal_to_noise
    ]
    names = {
        "time": "canonical time",
        "trained": "test loss of the trained network",
        "one_svd": "test loss from one SVD of the same data",
        "limit": "test loss without data, in the proportional limit",
    }
    found = xr.Dataset(
        {name: (("threshold", "state"), np.array(rows), {"long_name": names[name]}) for name, rows in data.items()},
        {"threshold": list(settings.thresholds)},
        {"spike": settings.spike, "alignment": settings.alignment, "dim": settings.dim, "samples": settings.samples},
    )
    found["ratio"] = (
        ("signal_to_noise", "alignment"),
        np.array(ratios),
        {"long_name": "least test error of a large start over that of a small one"},
    )
    return found.assign_coords(signal_to_noise=list(settings.signal_to_noise), alignment=list(settings.alignments))


def plot(data: Any) -> Any:
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.4))
        for colour, g in zip(style.shades(data.sizes["threshold"]), data["threshold"].values, strict=True):
            one = data.sel(threshold=g)
            clock = one["time"] * max(1.0, float(g))
            axes[0].plot(clock, one["one_svd"], color=colour, label=f"threshold {g:g}", **style.CURVE)
            axes[0].plot(clock, one["limit"], color=colour, **style.THEORY)
            axes[0].plot(clock[::4], one["trained"][::4], color=colour, **style.MARKS)
        axes[0].set(
            title="a  Test error over time",
            xlabel="time t · max(1, threshold)",
            ylabel="test loss",
            xscale="log",
            yscale="log",
        )
        for label, look in (("trained", style.MARKS), ("one SVD", style.CURVE), ("no data", style.THEORY)):
            axes[0].plot([], [], color=style.GREY, label=label, **look)
        axes[0].legend()
        ratio = data["ratio"]
        most = 1 + 1.5 * max(float(np.abs(ratio - 1).max()), 0.01)  # so that no shade hides the numbers
        shades = axes[1].imshow(ratio, origin="lower", aspect="auto", cmap=style.DIVERGING, vmin=2 - most, vmax=most)
        picture.colorbar(shades, ax=axes[1])
        for (row, column), value in np.ndenumerate(ratio.values):
            axes[1].text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=6)
        axes[1].grid(False)
        axes[1].set(title="b  Large start / small start, least error", xlabel="alignment A", ylabel="signal to noise")
        axes[1].set_xticks(range(ratio.sizes["alignment"]), [f"{a:g}" for a in data["alignment"].values])
        axes[1].set_yticks(range(ratio.sizes["signal_to_noise"]), [f"{p:g}" for p in data["signal_to_noise"].values])
    return picture


def check(data: Any) -> list[Check]:
    exact = float(np.abs(data["trained"] / data["one_svd"] - 1).max())
    limit = float(np.abs(data["limit"].min("state") / data["one_svd"].min("state") - 1).max())
    best = data["one_svd"].min("state").values
    ratio = data["ratio"]
    where = ratio.where(ratio == ratio.max(), drop=True)
    return [
        Check(
            f"trained networks against one SVD: {exact:.1e} at most (limit {EXACT:.0e})", exact, EXACT, exact < EXACT
        ),
        Check(
            f"least test loss without data: {limit:.1%} at most from that of this data set (limit {SCATTER:.0%})",
            limit,
            SCATTER,
            limit < SCATTER,
        ),
        Check(f"least test loss by threshold: {', '.join(f'{value:.4f}' for value in best)}"),
        Check(
            f"the scale of the start is worth a factor {float(ratio.min()):.2f} to {float(ratio.max()):.2f} of the "
            f"least test error, most at alignment {float(where['alignment'][0]):g} and signal to noise "
            f"{float(where['signal_to_noise'][0]):g}",
            float(ratio.max()),
        ),
    ]


FIGURE = Figure(
    name="over-time",
    title="Test error over time of a network with one output",
    caption="Panel a: one data set with a spiked covariance and label noise, three scales of the start. Marks: trained "
    "networks; lines: the spectral filter with its own clock, from one SVD of the same data; dashed: the proportional "
    "limit, without data. Panel b: by how much the least test error of a large start exceeds that of a small one "
    "(spike 20, d/n = 1/2, proportional limit).",
    settings=OverTime,
    quick={
        "dim": 60,
        "samples": 40,
        "thresholds": (1e-2, 10.0),
        "points": 40,
        "signal_to_noise": (0.2,),
        "alignments": (0.3, 0.9),
    },
    compute=compute,
    plot=plot,
    check=check,
)
