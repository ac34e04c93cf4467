"""Figure 3: the two stages of a ReLU network on real images."""

from __future__ import annotations

from pydantic import PositiveFloat, PositiveInt

from linnet_papers.huang import settings as paper
from linnet_papers.huang.figures import images, panels
from linnet_papers.reproduction import Figure, Rows, fact
from linnet_papers.reproduction.datasets import Dataset


class ReluSettings(images.ImageSettings):
    """Those of the linear network with a larger step: a ReLU network of this width cannot be reduced."""

    growth: PositiveFloat = paper.RELU_GROWTH
    steps: PositiveInt = 1600
    until: PositiveFloat = 0.02


def compute(settings: ReluSettings, chosen: tuple[str, ...]) -> Dataset:
    return images.train_for_figure(settings, chosen, relu=True)


def check(ds: Dataset) -> Rows:
    first = int(abs(ds.step.values - ds.attrs["first_time_loss"]).argmin())
    gated = ds.gated_cosine.values
    yield from images.stage_rows(ds)
    at = {"at initialization": gated[0], "at $t_1$": gated[first], "at the end": gated[-1]}
    yield fact("kernel cosine to the target-aligned kernel gated by the side of the feature", at)
    yield from images.convention_facts(ds)


FIGURE = Figure(
    name="fig3",
    title="Two stages of a ReLU network on photographs, a stand-in for CIFAR-10",
    caption=(
        "The same for a two-layer ReLU network, until 2% of the loss is left, with its own first-layer weights in the "
        "definition of rho_r. What the kernel turns to depends on conventions that the paper does not give. On "
        "centered pixels with targets +1 and -1, drawn here, its cosine to the linear network's target-aligned kernel "
        "stays near 0.7, and the kernel is closer to that one restricted to pairs of images on the same side of the "
        "feature, which is what neurons with gates see. On raw pixels all images lie on one side, the gates are open, "
        "and the cosine is near 1 at the random initialization already, as is that of XX' (lines under the figure, not "
        "in quick runs; huang-relu). There is no theory curve: the paper's equations are for linear networks. Data "
        "and settings are linnet's, as in Figure 2."
    ),
    settings=ReluSettings,
    quick={"width": 128, "steps": 1000, "samples": 100, "conventions": False},
    compute=compute,
    plot=panels.draw,
    check=check,
    panels=panels.PANELS,
    options=images.OPTIONS,
)
