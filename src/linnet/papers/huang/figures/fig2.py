"""Figure 2: the two stages of a linear network on real images."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang.figures import images, panels
from linnet.papers.huang.networks import pictures
from linnet.reproduction import Check, Figure, Limit
from linnet.reproduction.datasets import Dataset

FLAT = 0.95  # of its first value: where the loss falls below it, the first stage ends
SETTLED = Limit(0.95, "the ratio is 1 when a neuron has turned to the feature; real images leave a few per cent aside")


def compute(settings: images.ImageSettings, chosen: tuple[str, ...]) -> Dataset:
    return images.train_for_figure(settings, pictures.linear_network, "Linear network", chosen)[0]


def check(ds: Dataset) -> list[Check]:
    return [*stage_checks(ds, settled=True), panels.kernel_check(ds), *images.convention_checks(ds, linear=True)]


def stage_checks(ds: Dataset, *, settled: bool) -> list[Check]:
    """Return the paper's three behaviours measured: loss flat then falling, ratio settled at t1, kernel turned.

    `settled` says whether the ratio must have settled at t1, as the equations of a linear network have it.
    """
    loss, ratio, cosine = ds.loss.values, ds.ratio.values, ds.kernel_cosine.values
    first = int(np.argmax(loss <= FLAT)) if (loss <= FLAT).any() else len(loss) - 1
    floor = ds.attrs["loss_floor"]
    dropped = int(np.argmax(loss <= max(floor + 0.1 * (1 - floor), loss[-1])))
    during = ratio[first : dropped + 1]
    spread = float(np.ptp(during) / during.mean())
    return [
        Check(
            f"data: {ds.attrs['data']}, {ds.attrs['convention_drawn']}; one mode holds {ds.attrs['dominance']:.0%} of "
            f"XX'. The loss has lost 5% at step {ds.attrs['first_time_loss']:.0f}, and 90% of what can be lost (or "
            f"all that was) by step {int(ds.step[dropped])}"
        ),
        Check(
            f"median rho/(v sqrt(gamma)) where the loss has lost 5%: {ratio[first]:.4f} (above {SETTLED:g}: settled)",
            float(ratio[first]),
            SETTLED,
            bool(ratio[first] > SETTLED) if settled else None,
        ),
        Check(f"its spread over the drop: {spread:.2%}, where a stable ratio is claimed", spread),
        Check(
            f"and at the last step, {int(ds.step[-1])}, where {ds.attrs['left']:.2%} of what can be lost is left: "
            f"{ratio[-1]:.3f}"
            + (f"; at the end of training, by the closed form, {ds.attrs['end_ratio']:.3f}" if settled else "")
        ),
        Check(
            f"kernel cosine to the target-aligned kernel: {cosine[0]:.4f} at the start, {cosine[first]:.4f} at t1, "
            f"{cosine[dropped]:.4f} after the drop, {cosine[-1]:.4f} at the end"
        ),
    ]


FIGURE = Figure(
    name="fig2",
    title="Two stages of a linear network on real images",
    caption=(
        "A linear network on two classes of images; the picture's heading says which data. Not CIFAR-10, which cannot "
        "be shipped: 32 x 32 colour patches of two photographs have its 3072 inputs, and --data takes a local copy of "
        "it. The paper gives no settings; these are linnet's: pixels centred and of unit mean square, targets +1 and "
        "-1 (the lines under the figure give all four conventions of pixels and targets). Drawn until 2% of what can "
        "be lost is left, over the logarithm of the step. The stages are those of the "
        "synthetic data until the drop sets in. Then, since the Gram matrix of images is far from a multiple of the "
        "identity, the network goes on to other directions and leaves the feature: the ratio falls towards the value "
        "that the closed form has for these images (black line), the kernel goes "
        "away from its target, and eq. (10), which knows only the feature's direction, sees neither. Quick runs use a "
        "smaller width and fewer samples."
    ),
    settings=images.ImageSettings,
    quick={"width": 256, "steps": 400, "samples": 100},
    compute=compute,
    plot=panels.draw,
    check=check,
    panels=panels.PANELS,
    options=images.OPTIONS,
)
