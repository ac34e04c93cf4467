"""Figure 2 of Varre et al.: singular values of a ReLU student's hidden layer, from a small and from a large start."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, at_least, fact, printed
from linnet_papers.reproduction.datasets import Dataset, Described, labeled
from linnet_papers.varre.figures.curves import draw_singular_values
from linnet_papers.varre.settings import TEACHERS
from linnet_papers.varre.training.students import Students, train_figure_students

ALL = at_least(1.0, "students of one teacher are compared seed by seed: one exception would be worth a look")


def compute(settings: Students, panels: tuple[str, ...]) -> Dataset:
    variables: Described = {}
    coordinates: Described = {}
    for name in ("small", "large"):
        run = train_figure_students(settings, name)
        values = np.linalg.svd(run.reduced.first, compute_uv=False)
        time = f"{name}_time"
        coordinates[time] = (time, run.times, "time t", "canonical")
        variables[f"{name}_values"] = ((time, "seed", "mode"), values, "singular values of the hidden layer")
        variables[f"{name}_loss"] = ((time, "seed"), run.loss, "training loss")
    attributes = {"panels": ",".join(panels), "small": settings.small, "large": settings.large}
    return labeled(variables, coordinates, attributes)


def plot(ds: Dataset) -> style.Picture:
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.4))
        seed = _typical_seed(ds)
        for axis, name in zip(axes, ("small", "large"), strict=True):
            time = ds[f"{name}_time"]
            draw_singular_values(axis, time[1:], ds[f"{name}_values"][1:, seed], **style.ALONE)
            axis.set(xscale="log", xlabel="time t (canonical)", ylabel="singular values of the hidden layer")
            axis.set_title(f"{name.capitalize()} start, std {ds.attrs[name]:g}")
            if name == "large":
                axis.set_ylim(0, None)
        axes[0].set_yscale("log")  # three of the five never leave the size of their start
        axes[0].legend(loc="upper left")
        return picture


def _typical_seed(ds: Dataset) -> int:
    """Return the first seed whose small initialization ends at the teacher's rank, or the first seed if none does."""
    return int(np.argmax(ln.observables.numerical_rank(ds["small_values"][-1].values) == TEACHERS))


def check(ds: Dataset) -> Rows:
    small, large = (ln.observables.numerical_rank(ds[f"{name}_values"][-1].values) for name in ("small", "large"))
    yield fact(
        f"fraction of seeds with the teacher's rank {TEACHERS}, small initialization", np.mean(small == TEACHERS)
    )
    yield fact("seeds by rank, small initialization", {f"rank {r}": int((small == r).sum()) for r in np.unique(small)})
    yield fact("fraction of seeds with full rank, large initialization", np.mean(large == ds.sizes["mode"]))
    yield printed(
        "fraction of seeds at which the small initialization ends with lower rank", np.mean(small < large), ALL
    )
    yield fact("largest final training loss", float(max(ds["small_loss"][-1].max(), ds["large_loss"][-1].max())))
    yield fact(f"number of the seed that is drawn, the first of rank {TEACHERS}", _typical_seed(ds))


FIGURE = Figure(
    name="fig2",
    title="A ReLU student from a small initialization finds few directions, from a large initialization all of them",
    caption=(
        "Singular values of the hidden layer of a ReLU network with 20 hidden units, trained on 10 points in 5 "
        "dimensions labeled by a ReLU teacher with 2 neurons, sizes as in the paper. Teacher and students are "
        "Gaussian, with starts of standard deviation 0.001 and 1; these scales are ours, and descent with small steps "
        "stands for the flow. The seed drawn is the first at which the small initialization ends with the teacher's "
        "rank, and the checks say at which share of the seeds it does. The small initialization is drawn on a "
        "logarithmic axis, on which the singular values that do not grow are seen too."
    ),
    settings=Students,
    quick={"seeds": 8, "small_steps": 30_000, "large_steps": 20_000, "saves": 120},
    compute=compute,
    plot=plot,
    check=check,
)
