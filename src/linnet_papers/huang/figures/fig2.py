"""Figure 2: the two stages of a linear network on real images."""

from __future__ import annotations

from linnet_papers.huang.figures import images, panels
from linnet_papers.reproduction import Figure, Rows
from linnet_papers.reproduction.datasets import Dataset


def compute(settings: images.ImageSettings, chosen: tuple[str, ...]) -> Dataset:
    return images.train_for_figure(settings, chosen, relu=False)


def check(ds: Dataset) -> Rows:
    yield from images.stage_rows(ds)
    yield from panels.kernel_facts(ds)
    yield from images.convention_facts(ds)


FIGURE = Figure(
    name="fig2",
    title="Two stages of a linear network on photographs, a stand-in for CIFAR-10",
    caption=(
        "A linear network on two classes of images; the picture's heading says which data. Not CIFAR-10, which cannot "
        "be shipped: 32 x 32 color patches of two photographs have its 3072 inputs, and --data takes a local copy of "
        "it. The paper gives no settings; these are linnet's: pixels centered and of unit mean square, targets +1 and "
        "-1 (the lines under the figure give all four conventions of pixels and targets). Drawn until 0.5% of what can "
        "be lost is left, over the logarithm of the step, with a step that is stable at the end: with a larger one "
        "the loss oscillates once the kernel has grown. The stages are those of the synthetic data until the drop sets "
        "in. Then, since the Gram matrix of images is far from a multiple of the identity, the network goes on to "
        "other directions and leaves the feature: the ratio falls towards the value that the closed form has for these "
        "images (black line), the kernel goes away from its target, and eq. (10), which knows only the feature's "
        "direction, sees neither. Quick runs use a smaller width, fewer samples and the drawn convention alone: claims "
        "such as huang-images try all four."
    ),
    settings=images.ImageSettings,
    quick={"width": 256, "steps": 400, "samples": 100, "conventions": False},
    compute=compute,
    plot=panels.draw,
    check=check,
    panels=panels.PANELS,
    options=images.OPTIONS,
)
