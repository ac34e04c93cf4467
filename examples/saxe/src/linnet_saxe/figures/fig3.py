"""Mode strengths over time, trained from decoupled and from random weights, against the exact solution."""

import numpy as np
import xarray as xr

from linnet import style
from linnet_papers.reproduction import Figure, Rows, Settings, below, fact, printed
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS

DISTANCE = below(1e-7, "a hundred times the relative tolerance of the flow's integrator")


class ModesSettings(Settings):
    """Strengths of the modes, their common start, and the random start's standard deviation."""

    strengths: tuple[float, ...] = STRENGTHS
    start: float = START
    random_std: float = 0.01
    seeds: int = 10
    points: int = 300


def compute(settings: ModesSettings, panels: tuple[str, ...]) -> xr.Dataset:
    """Trains one decoupled network and several random ones on the same task."""
    problem, left, right = networks.task(settings.seed, settings.strengths)
    strengths = np.array(settings.strengths)
    times = np.linspace(0, 1.6 * theory.half_time(strengths.min(), settings.start), settings.points)
    layer = np.full(len(strengths), np.sqrt(settings.start))
    start = networks.decoupled(left, right, layer, layer, settings.seed)
    trained, rest = networks.mode_strengths(problem, left, right, start, times)
    scattered = np.stack(
        [
            networks.mode_strengths(
                problem, left, right, networks.random_start(settings.seed + 1 + i, settings.random_std), times
            )[0]
            for i in range(settings.seeds)
        ]
    )
    data = {
        "trained": (("time", "mode"), trained, {"long_name": "modes, decoupled start"}),
        "coupling": (("time",), rest, {"long_name": "largest entry outside the modes"}),
        "predicted": (
            ("time", "mode"),
            np.stack([theory.balanced(s, settings.start, times) for s in strengths], axis=1),
            {"long_name": "exact solution"},
        ),
        "random": (("seed", "time", "mode"), scattered, {"long_name": "modes, random initialization"}),
    }
    coords = {
        "time": ("time", times, {"long_name": "time t", "units": "canonical"}),
        "mode": ("mode", strengths, {"long_name": "singular value of the target"}),
    }
    return xr.Dataset(data, coords, attrs={"start": settings.start, "random_std": settings.random_std})


def plot(ds: xr.Dataset):
    """Two panels: from decoupled layers, where the solution is exact, and from small random weights."""
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.38), sharey=True)
        for index, strength in enumerate(ds.mode.values):
            color = style.colors[index]
            axes[0].plot(ds.time, ds.trained[:, index], color=color, **style.TRAINING)
            axes[0].plot(ds.time, ds.predicted[:, index], color=color, label=f"s = {strength:g}", **style.THEORY)
            for seed in range(ds.sizes["seed"]):
                axes[1].plot(ds.time, ds.random[seed, :, index], color=color, linewidth=0.9, alpha=0.5)
            axes[1].plot(ds.time, ds.predicted[:, index], color=style.BLACK, **style.THEORY)
        axes[0].set(
            xlabel="time t (canonical)", ylabel="mode strength u(t)", title="a  Decoupled start: solid is trained"
        )
        axes[1].set(xlabel="time t (canonical)", title=f"b  Random start, std {ds.attrs['random_std']:g}")
        axes[0].legend(loc="center right")
    return picture


def check(ds: xr.Dataset) -> Rows:
    """The exact solution against the decoupled network, and what a random initialization changes."""
    distance = np.abs(ds.trained - ds.predicted).max()
    yield printed("largest distance of the decoupled network from the solution", float(distance), DISTANCE)
    yield printed("largest coupling between its modes", float(ds.coupling.max()), DISTANCE)
    shift = np.abs(ds.random - ds.predicted).max()
    yield fact("largest distance from a random initialization, mostly a shift in time", float(shift))


FIGURE = Figure(
    name="fig3",
    title="Modes are learned one after the other, each along a sigmoid",
    caption=(
        "Modes of a network trained by gradient flow on a target of three singular values, and the exact solution. "
        "From "
        "decoupled layers the two are the same; from small random weights the curves have the same shape, shifted in "
        "time. "
        "Sizes and strengths are ours: the paper trains on a hierarchy of items."
    ),
    settings=ModesSettings,
    quick={"seeds": 3, "points": 120},
    compute=compute,
    plot=plot,
    check=check,
)
