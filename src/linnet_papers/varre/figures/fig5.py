"""Figure 5 of Varre et al.: the loss of a ReLU student falls in steps, and the first step learns one direction."""

from __future__ import annotations

import numpy as np

from linnet import style
from linnet_papers.reproduction import Figure, Rows, fact
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.reproduction.drawing import panel_axes
from linnet_papers.varre.figures.curves import draw_singular_values
from linnet_papers.varre.training.students import Students, first_plateau, train_figure_students

SHARE = 0.1


def compute(settings: Students, panels: tuple[str, ...]) -> Dataset:
    run = train_figure_students(settings, "small")
    values = np.linalg.svd(run.reduced.first, compute_uv=False)
    plateaus = np.array([first_plateau(run.times, run.loss[:, seed]) for seed in range(run.loss.shape[1])])
    return labeled(
        {
            "loss": (("time", "seed"), run.loss, "training loss"),
            "values": (("time", "seed", "mode"), values, "singular values of the hidden layer"),
            "plateau": ("seed", plateaus, "saved state at the first plateau, -1 for none"),
        },
        {"time": ("time", run.times, "time t", "canonical")},
        {"panels": ",".join(panels)},
    )


def plot(ds: Dataset) -> style.Picture:
    seed = int(np.argmax(ds["plateau"].values > 0))  # the first with a plateau, or the first if none has one
    at = int(ds["plateau"][seed])
    time = ds["time"].values
    with style.applied():
        picture, axes = panel_axes(ds.attrs["panels"].split(","), ratio=0.8)
        if "a" in axes:
            axes["a"].plot(time[1:], ds["loss"][1:, seed], color=style.LOSS, **style.ALONE)
            axes["a"].set(xscale="log", yscale="log", xlabel="time t (canonical)", ylabel="training loss")
            axes["a"].set_title("a  The loss falls from saddle to saddle")
            if at > 0:
                axes["a"].axvline(time[at], label="first plateau", **style.GUIDELINE)
                axes["a"].legend()
        if "b" in axes:
            stop = at + 1 if at > 0 else len(time)
            draw_singular_values(axes["b"], time[1:stop], ds["values"][1:stop, seed], **style.ALONE)
            axes["b"].set(xscale="log", yscale="log", xlabel="time t (canonical)")
            axes["b"].set_ylabel("singular values of the hidden layer")
            axes["b"].set_title("b  Phase 1 learns one direction")
            axes["b"].legend(loc="upper left")
        return picture


def check(ds: Dataset) -> Rows:
    plateaus = ds["plateau"].values
    seeds = np.flatnonzero(plateaus > 0)
    yield fact("fraction of seeds with a plateau between two falls of the loss", seeds.size / plateaus.size)
    if seeds.size:
        values = ds["values"].values[plateaus[seeds], seeds]
        ratios = values[:, 1] / values[:, 0]
        yield fact("fraction of these at which the plateau has rank one", np.mean(ratios < SHARE))
        yield fact("second over first singular value at the plateau, median", float(np.median(ratios)))
        yield fact("number of the seed that is drawn, the first with a plateau", int(seeds[0]))


FIGURE = Figure(
    name="fig5",
    title="The loss of a small ReLU student falls in steps, and the first step learns one direction",
    caption=(
        "a: training loss of the ReLU student of figure 2 from a small initialization, with its first plateau. b: "
        "singular values of its hidden layer up to that plateau: one of them has grown, and the others, on a "
        "logarithmic axis, stay near their start. The seed drawn is the first whose loss has a plateau; the scale of "
        "the initialization is ours."
    ),
    settings=Students,
    quick={"seeds": 8, "small_steps": 30_000, "saves": 200},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
